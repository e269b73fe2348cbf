# SPDX-License-Identifier: GPL-2.0
# RDMA devices come and go under listeners and connections; the module goes when no
# socket is left, and not before.
# topology: one
# time: 200
# needs: python3 depmod
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"

transfer() { within 30 sdp_try client "$1" 1002 both 1000000; }

unplug
check "the module loads without a device" sdp_load
bg server sdp_try server :: 1002
check "a socket listens without a device" bg_ready server ready
for addr in "$LAB_IP" 127.0.0.1 "$LAB_IP6" ::1; do
	outcome "there is no way to connect, $addr" "ENETUNREACH EHOSTUNREACH" "$addr" 1002
done
check "a device comes" plug
check "the listener is reachable over it" transfer "$LAB_IP"
check "the listener is reachable over it, IPv6 loopback" transfer ::1

# The device goes under traffic
for addr in "$LAB_IP" "$LAB_IP6" 127.0.0.1; do
	bg "c$addr" sdp_try client "$addr" 1002 both
	bg_ready "c$addr" going 40
done
start=$SECONDS
check "the device goes under traffic" unplug
at_most "... soon" $((SECONDS - start)) $((10 * SLOW))
for addr in "$LAB_IP" "$LAB_IP6" 127.0.0.1; do
	bg_wait "c$addr" 20
	note "$(grep '^fate' "$TMP/c$addr.log")"
	check "the program is told, $addr" grep -qE \
		'^fate( (send|recv):(ENETDOWN|ECONNRESET|EPIPE|eof))+$' "$TMP/c$addr.log"
done
outcome "there is no way again" "ENETUNREACH EHOSTUNREACH" "$LAB_IP" 1002
equal "only the listener is left" "$(awk 'NR > 1 { print $NF }' /proc/net/sdp)" A
check "the device comes again" plug
check "the same listener is reachable again" transfer "$LAB_IP"

# Connects under way when the device goes
echo 17 >/proc/sys/net/sdp/cm_timeout
for i in 1 2 3; do bg "w$i" sdp_try connect "${LAB_IP%.*}.79" 1002; done
connecting() { [ "$(awk '$NF == 2' /proc/net/sdp | wc -l)" = 3 ]; }
until_true 10 connecting
sleep 1
check "the device goes under connects" unplug
for i in 1 2 3; do
	bg_wait "w$i" 10
	check "a waiting connect is told" grep -qE '^(ENETDOWN|ENETUNREACH|EHOSTUNREACH) ' "$TMP/w$i.log"
done
check "the device comes once more" plug

# Addresses of this host that it doesn't have are this host's all the same
ip link add dummy9 type dummy && ip addr add 10.77.0.1/24 dev dummy9 && ip link set dummy9 up
check "an address of another interface" transfer 10.77.0.1
ip link del dummy9

# The device has no IPv4 address
ip addr del "$LAB_IP/24" dev "$LAB_DEV"
check "IPv4 loopback goes by IPv6 addresses" transfer 127.0.0.1
ip addr add "$LAB_IP/24" dev "$LAB_DEV"

# The module
in_use() { ! LC_ALL=C rmmod sdp >"$TMP/rmmod" 2>&1 && grep 'in use' "$TMP/rmmod"; }
check "the module can't go while a socket exists" in_use
bg_stop server
check "it can when none does" until_true 15 sdp_unload
# The kernel asks for it by the aliases that depmod finds in it, when somebody wants such a socket
mkdir -p "$TMP/root/lib/modules/$LAB_KV/updates"
cp "$BUILD/$LAB_KV/sdp.ko" "$TMP/root/lib/modules/$LAB_KV/updates/"
depmod -b "$TMP/root" "$LAB_KV" 2>/dev/null
printf '#!/bin/sh\nexec modprobe -d %s/root "$@"\n' "$TMP" >"$TMP/modprobe"
chmod 755 "$TMP/modprobe"
modprobe=$(cat /proc/sys/kernel/modprobe)
echo "$TMP/modprobe" >/proc/sys/kernel/modprobe
wanted() {
	local rc=0
	python3 -c 'import socket, sys; socket.socket(int(sys.argv[1]), 1, int(sys.argv[2]))' "$@" || rc=1
	sdp_unload || rc=1		# it was there
	return $rc
}
for s in "27 0" "28 0" "2 257" "10 257"; do
	# shellcheck disable=SC2086
	check "socket(${s/ /, SOCK_STREAM, }) loads it" wanted $s
done
echo "$modprobe" >/proc/sys/kernel/modprobe
check "it comes again" sdp_load
# The CM's timewait is two seconds; where all is slow it may be over before one looks
in_timewait() {
	local try
	for try in 1 2 3 4 5; do
		sdp_cycle --self -n 40 -j 4 -e both -w $((30 * SLOW)) "$LAB_IP" || return
		[ "$(rdma_count qp)" -lt 2 ] || return 0
	done
	echo "in $try attempts there was none"
	return $((SLOW > 1 ? 4 : 1))
}
for i in 1 2 3; do
	check "traffic leaves connections in timewait" in_timewait
	check "the module goes, timewait or not" until_true 5 sdp_unload
	equal "queue pairs went with it" "$(rdma_count qp)" 1
	check "and comes again" sdp_load
done
check "traffic" sdp_cycle --self -n 40 -j 4 -e both -w $((30 * SLOW)) "$LAB_IP"
check "the device goes, timewait or not" unplug
check "the module goes after the device" sdp_unload
check "a device for the next" plug
