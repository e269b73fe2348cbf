# SPDX-License-Identifier: GPL-2.0
# kill -9 in the middle of a transfer: the other end learns of it, a listener goes on,
# nothing is left.
# topology: one
# time: 200
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit

serve() { bg server sdp_try server "$LAB_IP" 1001 && bg_ready server ready; }

# under_way MODE: a transfer is going, MODE is the client's part
under_way() {
	bg client sdp_try client "$LAB_IP" 1001 "$1"
	bg_ready client going 30
}

# learns NAME WHO MODE: WHO's stream has come to an end as it may
learns() {
	until_true 20 grep -q '^fate' "$TMP/$2.log"
	note "$(grep '^fate' "$TMP/$2.log")"
	if grep -qE '^fate( send:(EPIPE|ECONNRESET)| recv:(eof|ECONNRESET))+$' "$TMP/$2.log"; then ok "$1"; else
		tail -n 5 "$TMP/$2.log" | sed 's/^/# /'; not_ok "$1"
	fi
}

echo_works() { within 20 sdp_try client "$LAB_IP" 1001 both 1000000; }

for mode in send recv both; do
	serve
	under_way $mode
	bg_kill client
	learns "client killed while it does $mode: the server learns of it" server
	check "... and serves on" echo_works
	bg_stop server
done
for mode in send recv both; do
	serve
	under_way $mode
	bg_kill server
	learns "server killed while the client does $mode: the client learns of it" client
	bg_stop client
	check "... and a new server has the port" serve
	check "... and serves" echo_works
	bg_stop server
done

# Many at a time, with what they have in flight
serve
for i in 1 2 3 4; do bg "c$i" sdp_try client "$LAB_IP" 1001 both; done
for i in 1 2 3 4; do bg_ready "c$i" going 40; done
bg_kill server
for i in 1 2 3 4; do learns "server of 4 killed: client $i learns of it" "c$i"; done

check "nothing is left of them" until_true 20 none_left
