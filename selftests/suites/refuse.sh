# SPDX-License-Identifier: GPL-2.0
# Connects that can't succeed fail as TCP's do, at the time TCP's do; those that are too
# many for a listener wait.
# topology: one
# time: 150
# needs: python3
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit

# outcome NAME "WORDS" MIN-MS MAX-MS ADDRESS: what connect() says, and when
outcome() {
	local name=$1 want=$2 min=$3 max=$4 got ms
	read -r got ms <<<"$(within 60 sdp_try connect "$5" 999)"
	note "$5: $got after $ms ms"
	case " $want " in
	*" $got "*)
		if [ "$ms" -ge "$min" ] && [ "$ms" -le $((max * SLOW)) ]; then
			ok "$name"
		else
			note "wanted: after $min to $max ms"; not_ok "$name"
		fi ;;
	*) note "wanted: $want"; not_ok "$name" ;;
	esac
}

for addr in "$LAB_IP" 127.0.0.1 "$LAB_IP6" ::1; do
	outcome "a closed port refuses at once, $addr" ECONNREFUSED 0 1000 "$addr"
done
outcome "an address of no use" "ENETUNREACH EHOSTUNREACH" 0 1000 192.0.2.1

# Nobody answers: the device doesn't ask who has an address, so the request itself goes unanswered
echo 17 >/proc/sys/net/sdp/cm_timeout
echo 1 >/proc/sys/net/sdp/connect_retries
outcome "nobody answers the request" ETIMEDOUT 1000 12000 "${LAB_IP%.*}.77"
echo 0 >/proc/sys/net/sdp/connect_retries
outcome "... sooner with fewer retries" ETIMEDOUT 500 6000 "${LAB_IP%.*}.77"
echo 15 >/proc/sys/net/sdp/connect_retries

# Nobody answers ARP or neighbour discovery
ip link set "$LAB_DEV" arp on
outcome "a dead host is unreachable" EHOSTUNREACH 500 4500 "${LAB_IP%.*}.78"
outcome "a dead host is unreachable, IPv6" EHOSTUNREACH 500 4500 "${LAB_IP6%::*}::78"
ip link set "$LAB_DEV" arp off

equal "all of those are counted" "$(stat AttemptFails)" "$(stat ActiveOpens)"

full_backlog() {
	PYTHONPATH=$LAB_TREE/selftests/peer python3 -B - "$LAB_IP" <<-'EOF'
	import select, socket, sys, time
	from sdpsock import sdp_listen, sdp_socket

	backlog, clients = 2, 12
	listener = sdp_listen((sys.argv[1], 1000), backlog)
	socks = []
	for i in range(clients):
	    s = sdp_socket(sys.argv[1])
	    s.setblocking(False)
	    s.connect_ex((sys.argv[1], 1000))
	    socks.append(s)
	time.sleep(3)
	waiting = select.select([], socks, [], 0)[1]
	print('connected before accept:', len(waiting))
	assert backlog <= len(waiting) <= backlog + 1, len(waiting)
	assert not any(s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) for s in socks)
	listener.settimeout(30)
	accepted = [listener.accept()[0] for _ in range(clients)]
	for i, s in enumerate(accepted):
	    s.sendall(bytes([i]))
	got = []
	for s in socks:
	    s.settimeout(30)
	    got.append(s.recv(2)[0])
	assert sorted(got) == list(range(clients)), got
	EOF
}
stat_mark
check "connects beyond the backlog wait for accept(), all get their turn" full_backlog
at_least "counted: the full queue" "$(stat_delta RejBacklog)" 1
