# SPDX-License-Identifier: GPL-2.0
# PostgreSQL and memcached over SDP.
# topology: one
# set: apps
# time: 700
# needs: /usr/lib/postgresql/15/bin/postgres memcached memcslap
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
# shellcheck source=../apps.sh
. "$LAB_TREE/selftests/apps.sh"
sdp_load || exit

app_postgres ""
by_modes app_memcached
