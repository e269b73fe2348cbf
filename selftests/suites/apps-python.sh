# SPDX-License-Identifier: GPL-2.0
# Python's own tests of what uses sockets, over SDP.
# topology: one
# set: apps
# time: 1500
# needs: python3
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
# shellcheck source=../apps.sh
. "$LAB_TREE/selftests/apps.sh"
sdp_load || exit

python3 -c 'import test.test_socket' 2>/dev/null || skip_all "not installed: libpython3.11-testsuite"
for m in test_socket test_select test_poll test_epoll test_selectors test_socketserver \
	test_httpservers test_httplib test_ftplib test_xmlrpc test_ssl test_asyncore test_asynchat test_smtpd \
	test_asyncio.test_streams test_asyncio.test_server test_asyncio.test_sock_lowlevel \
	test_asyncio.test_sendfile; do
	app_python $m
done
