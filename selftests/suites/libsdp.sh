# SPDX-License-Identifier: GPL-2.0
# libsdp.so and sdp_run: what becomes of the sockets of programs that know nothing of SDP.
# topology: one
# time: 400
# needs: python3 curl socat busybox hey
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"

PROBE=(python3 -B "$LAB_TREE/selftests/libsdp_probe.py")
cd "$TMP" || exit

# plain, by OPTION VALUE, by_conf PROBE...: the probe without the library, by sdp_run, by rules
plain() { within 60 "${PROBE[@]}" "$@" 2>&1; }
by() { within 60 sdp_run "$1" "$2" "${PROBE[@]}" "${@:3}" 2>&1; }
by_conf() { by -f "$TMP/conf" "$@"; }
# conf LINE...: rules for the next program
conf() { printf '%s\n' "$@" >"$TMP/conf"; }
run_by_kernel() { sdp_run -k true 2>&1; }
# fetch PORT [COMMAND...]: curl, by COMMAND, gets the file, which is what was served
fetch() { rm -f got4; within 30 "${@:2}" curl -sS -o got4 "http://$LAB_IP:$1/file" && cmp file got4; }
# says NAME WANTED COMMAND...: that is its output, but for process ids
says() { equal "$1" "$("${@:3}" | sed -E 's/^(libsdp: [^[]*)\[[0-9]+\]/\1/')" "$2"; }

# ---- without sdp.ko ----

says "without sdp.ko: TCP, and not a word of it" "tcp tcp tcp" by -p both connection "$LAB_IP"
says "... also where it should be SDP only" "tcp tcp tcp" by -p sdp connection "$LAB_IP"
conf "log destination stderr min-level 8" "use sdp server * *:*" "use sdp client * *:*"
says "... but for who wants to know" \
"libsdp: python3: the kernel has no SDP (is sdp.ko installed?)
tcp tcp tcp" by_conf connection "$LAB_IP"

# Copying would take both blocks at once
grown() {
	within 60 env LD_PRELOAD="$BUILD/libsdp_malloc.so" python3 -c 'import ctypes, resource
c, size = ctypes.CDLL(None), 32 << 20
c.malloc.restype = c.realloc.restype = ctypes.c_void_p
p = ctypes.c_void_p(c.malloc(ctypes.c_size_t(size)))
ctypes.memset(p, 1, size)
p = ctypes.c_void_p(c.realloc(p, ctypes.c_size_t(size + 4096)))
print(resource.getrusage(0).ru_maxrss < 2 * size >> 10 and ctypes.string_at(p, size) == b"\1" * size)'
}
says "libsdp_malloc copies no large block that it can't have in a region" True grown

sdp_load || exit

# ---- sockets ----

says "which calls of socket() are for SDP, and what else they ask for" \
"inet sdp True 1
inet6 sdp True 1
inet,tcp sdp True 1
inet6,tcp sdp True 1
dgram udp True 2
unix none True 1
nonblock,cloexec sdp True True
$(plain sockets | tail -n 4)" by -p sdp sockets
says "policy tcp changes nothing" "$(plain sockets)" by -p tcp sockets

# ---- connections ----

stat_mark
for a in "$LAB_IP" "$LAB_IP6" 127.0.0.1 ::1; do
	says "a connection to $a" "sdp sdp sdp" by -p sdp connection "$a"
done
equal "... of which sdp.ko has seen both ends" "$(stat_delta ActiveOpens) $(stat_delta PassiveOpens)" "4 4"
equal "... and every byte" "$(stat_delta SendBytes)" 80000
says "descriptors inherited, passed on, used by another program" \
"fork 0 True
exec 257 257 257 b'z'
passed sdp b'w'" by -p sdp inherit "$LAB_IP"
says "a program started by vfork()" \
"sdp sdp sdp
status 0" by -p sdp spawned "$LAB_IP"
says "a plug-in" sdp by -p sdp plugin "$BUILD/plugin.so"
says "threads and signal handlers" "40 ('sdp', 'sdp', 'sdp')" by -p sdp threads "$LAB_IP"
says "refused" "sdp ECONNREFUSED" by -p sdp refused "$LAB_IP"

# ---- programs ----

# Both ends of a program's own making; the server is up when its listener is
head -c 1000000 /dev/urandom >file
stat_mark
bg http sdp_run -p sdp python3 -m http.server -b "$LAB_IP" 8000
check "python3 serves files" until_true 30 listening 8000
check "... which curl gets" within 30 sdp_run -p sdp curl -s -o got "http://$LAB_IP:8000/file"
check "... unspoilt" cmp file got
at_least "... by SDP" "$(stat_delta RecvBytes)" 1000000
bg_stop http

stat_mark
bg socat sdp_run -p sdp socat -u "TCP-LISTEN:8001,reuseaddr,fork" OPEN:got2,creat,append
check "socat listens" until_true 30 listening 8001
check "... and forks" within 30 sdp_run -p sdp socat -u FILE:file "TCP:$LAB_IP:8001"
same() { cmp -s file got2; }
check "... for what it gets" until_true 20 same
at_least "... by SDP" "$(stat_delta RecvBytes)" 1000000
bg_stop socat

stat_mark
check "files by poll, mmap, sendfile, splice and MSG_PEEK" within 60 \
	sdp_run -p sdp sdp_file -f tcp --self -n 1 -b 300K "$LAB_IP"
at_least "... by SDP" "$(stat_delta RecvBytes)" 100000

# ---- without the library: static programs, by BPF ----

check_fails "who isn't root can't have it" 126 setpriv --reuid=65534 --clear-groups sdp_run -k true
cgroup2_mount
bg http sdp_run -p sdp python3 -m http.server -b "$LAB_IP" 8002
until_true 30 listening 8002
if grep -q ' update_socket_protocol$' /proc/kallsyms; then
	says "the policy is the namespace's, and told of if it has no TCP" \
		"sdp_run: SDP only: sysctl net.sdp.policy=2 is for TCP to peers without SDP" run_by_kernel
	sysctl -qw net.sdp.policy=2
	says "... which isn't so now" "" run_by_kernel
	stat_mark
	check "the kernel makes them SDP sockets" within 30 sdp_run -k busybox wget -q -O got3 "http://$LAB_IP:8002/file"
	check "... of a static program" cmp file got3
	at_least "... by SDP" "$(stat_delta RecvBytes)" 1000000
	stat_mark
	check "... and of one in Go, which asks no libc" \
		within 60 sdp_run -k hey -n 20 -c 4 "http://$LAB_IP:8002/file"
	equal "... all of it comes" "$(grep -oE '\[200\]\s+20 responses' "$TMP/check" | wc -l)" 1
	at_least "... by SDP" "$(stat_delta RecvBytes)" 20000000
	bg tcp python3 -m http.server -b "$LAB_IP" 8003
	until_true 30 up 8003
	check "... or TCP's, where the server has no SDP" within 30 sdp_run -k busybox wget -q -O got3 "http://$LAB_IP:8003/file"
	bg_stop tcp
	says "... of programs it starts" "sdp sdp sdp" within 60 sdp_run -k sh -c "${PROBE[*]} connection $LAB_IP"
	says "... and of no others" "tcp tcp tcp" plain connection "$LAB_IP"
	check_fails "the program's own status" 7 sdp_run -k sh -c 'exit 7'
	# A program that ends, and has left a process in a cgroup two below its own
	# shellcheck disable=SC2016
	bg below sdp_run -k sh -c 'd=/sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup)/a/b
		mkdir -p "$d"; sleep 1000 & echo $! >"$d/cgroup.procs"; echo ready'
	bg_ready below ready
	childless() { [ -z "$(pgrep -P "${bg_pid[below]}")" ]; }
	check "what it has left behind is waited for" until_true 10 childless
	kill "${bg_pid[below]}"
	check "... and gets signals, in cgroups below as well" bg_wait below 20
	# Before it has a cgroup, between that and the program, or when it waits already
	early() {
		for _ in $(seq 10); do
			bg early sdp_run -k sleep 1000
			sleep "0.$((RANDOM % 5))$((RANDOM % 10))"
			kill "${bg_pid[early]}"
			bg_wait early 20 || [ $? = 143 ] || return
		done
	}
	check "... at whatever moment" on_one_cpu early
	equal "no cgroup is left" "$(find /sys/fs/cgroup -name "sdp_run*")" ""
	sysctl -qw net.sdp.policy=0
else
	check_fails "an older kernel can't" 126 sdp_run -k true
	says "... and is named as the reason" \
		"sdp_run: -k needs a kernel that has update_socket_protocol(): 6.6 or newer" run_by_kernel
fi
bg_stop http

# ---- rules ----

conf "use sdp server * *:*" "use sdp client * *:*"
says "rules that say sdp" "sdp sdp sdp" by_conf connection "$LAB_IP"
conf "use tcp server python3* *:*" "use tcp client python3* *:*" "use sdp server * *:*" "use sdp client * *:*"
says "rules by program" "tcp tcp tcp" by_conf connection "$LAB_IP"
conf "# nothing"
says "no rules at all are SDP" "sdp sdp sdp" by_conf connection "$LAB_IP"
conf "use sdp server * *:*" "use udp client * *:*"
says "an error is told, and the program works" \
"libsdp: python3: $TMP/conf:2: 'udp' after 'use' is none of sdp, tcp, both
libsdp: python3: $TMP/conf is not used because of these errors: no SDP
tcp tcp tcp" by_conf connection "$LAB_IP"

export LD_PRELOAD=$BUILD/libsdp.so
for v in SIMPLE_LIBSDP ALWAYS_USE_SDP; do
	says "$v=1" "sdp sdp sdp" env $v=1 "${PROBE[@]}" connection "$LAB_IP"
done
unset LD_PRELOAD

# ---- rules that differ: the policy of each socket ----

says "both, where both ends have SDP" "sdp sdp sdp" by -p both connection "$LAB_IP"
says "... which is what is wanted without rules" "sdp sdp sdp" \
	within 60 sdp_run "${PROBE[@]}" connection "$LAB_IP"
conf "use tcp client * 127.0.0.0/8:*" "use tcp client * ::1:*"
says "a client's rule by address" "sdp tcp tcp" by_conf connection 127.0.0.1
says "... by an IPv6 one" "sdp tcp tcp" by_conf connection ::1
says "... of others" "sdp sdp sdp" by_conf connection "$LAB_IP"
conf "use tcp server * *:7001-7003"
says "a server's rule by port: its clients find TCP" "tcp tcp tcp" by_conf connection "$LAB_IP" 7002
says "... of others" "sdp sdp sdp" by_conf connection "$LAB_IP" 7004
conf "use tcp client curl $LAB_IP:8010" "use sdp server python3* $LAB_IP:8012" "use tcp server * *:8011"
for p in 8010 8011 8012; do
	bg http$p sdp_run -f "$TMP/conf" python3 -m http.server -b "$LAB_IP" $p
	until_true 30 up $p
done
stat_mark
check "a client's rule by program" fetch 8010 sdp_run -f "$TMP/conf"
equal "... moves nothing by SDP" "$(stat_delta SendBytes)" 0
check "a server's rule" fetch 8011 sdp_run -f "$TMP/conf"
equal "... moves nothing by SDP" "$(stat_delta SendBytes)" 0
check "a server of SDP only" fetch 8012 sdp_run -f "$TMP/conf"
at_least "... moves all by SDP" "$(stat_delta RecvBytes)" 1000000
check_fails "... and takes no TCP" 7 within 30 curl -s -o got4 "http://$LAB_IP:8012/file"
stat_mark
check "a server of both, a client that knows nothing of SDP" fetch 8010
equal "... move nothing by SDP" "$(stat_delta SendBytes)" 0
for p in 8010 8011 8012; do bg_stop http$p; done
bg http python3 -m http.server -b "$LAB_IP" 8013
until_true 30 up 8013
check "a client of both, a server that knows nothing of SDP" fetch 8013 sdp_run
check_fails "... but a client of SDP only is refused" 7 within 30 sdp_run -p sdp curl -s -o got4 "http://$LAB_IP:8013/file"
bg_stop http

# A pointer to nowhere is the kernel's to complain of, though the address is looked at here
conf "use tcp client * 127.0.0.0/8:*" "use sdp client * *:*"
bad_pointer() {
	within 60 sdp_run -f "$TMP/conf" python3 -c 'import ctypes, errno, socket
c, s = ctypes.CDLL(None, use_errno=True), socket.socket()
print(s.getsockopt(1, 38), c.connect(s.fileno(), ctypes.c_void_p(8), 16),
	errno.errorcode[ctypes.get_errno()])' 2>&1
}
says "connect() with a bad pointer" "257 -1 EFAULT" bad_pointer
# The port is a listener's in TCP already, and this socket has it in SDP only
conf "use tcp server * *:7005"
no_policy() {
	within 60 sdp_run -f "$TMP/conf" python3 -c 'import errno, socket, sys
first, s = socket.create_server((sys.argv[1], 7005)), socket.socket()
s.setsockopt(1025, 84, 0)
s.bind((sys.argv[1], 7005))
try:
	s.listen()
except OSError as e:
	print(first.getsockopt(1, 38), s.getsockopt(1, 38), errno.errorcode[e.errno])' "$LAB_IP" 2>&1
}
says "a socket that can't be what its rule says is nothing else instead" \
"libsdp: python3: listen on $LAB_IP:7005: policy tcp can't be set: Address already in use
6 257 EADDRINUSE" no_policy

# ---- messages ----

# root's are in /var/log, whatever directory is named
log=/var/log/libsdp-suite.log
rm -f $log
conf "log destination file $TMP/libsdp-suite.log min-level 4" "use sdp server * *:*" "use sdp client * *:*"
says "messages in a file" "sdp sdp sdp" by_conf connection "$LAB_IP" 7000
says "... tell of listen() and connect(), and by which rule" \
"libsdp: python3: listen on $LAB_IP:7000: sdp
libsdp: python3: ... by $TMP/conf:2: use sdp server * *:*
libsdp: python3: connect to $LAB_IP:7000: sdp
libsdp: python3: ... by $TMP/conf:3: use sdp client * *:*" cat $log
equal "... which is the user's alone" "$(command stat -c %a:%u $log)" 600:0
mv $log log.old
ln -s "$TMP/log.old" $log
: >log.old
says "... and isn't where a link leads" "sdp sdp sdp" by_conf connection "$LAB_IP"
equal "... nor when others may write to it" \
	"$(rm $log; touch $log; chmod 666 $log; by_conf connection "$LAB_IP"; cat $log log.old)" "sdp sdp sdp"
rm -f $log
nobody() { within 60 setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
chmod 755 "$TMP"
conf "log destination file libsdp.log min-level 7" "use sdp server * *:*" "use sdp client * *:*"
by_nobody() { nobody sdp_run -f "$TMP/conf" "${PROBE[@]}" "$@" 2>&1; }
says "another user" "sdp sdp sdp" by_nobody connection "$LAB_IP"
equal "... has a log in a directory of his own" "$(command stat -c '%a:%u' /tmp/libsdp.log.65534 /tmp/libsdp.log.65534/log; wc -l </tmp/libsdp.log.65534/log)" \
"700:65534
600:65534
2"
says "who has closed descriptor 2 gets no messages in what is there now" "b''" \
	env LIBSDP_LOG="min-level 1" sdp_run -p sdp "${PROBE[@]}" stderr_is_a_socket "$LAB_IP"

# Names that are written over, as servers do for their titles; descriptors before and after
conf "log destination syslog min-level 4" "use sdp server * *:*" "use sdp client * *:*"
titled() {
	within 60 sdp_run -f "$TMP/conf" python3 -c 'import ctypes, os, socket, sys
c = ctypes.CDLL(None)
c.getenv.restype = ctypes.c_void_p
fds = os.listdir("/proc/self/fd")
for p in (ctypes.c_void_p.in_dll(c, "program_invocation_short_name").value,
	  c.getenv(b"LIBSDP_CONFIG_FILE")):
	ctypes.memset(p, ord("X"), len(ctypes.string_at(p)))
socket.create_server((sys.argv[1], 7000)).close()
print(os.listdir("/proc/self/fd") == fds)' "$LAB_IP" 2>&1
}
says "nobody to take messages by syslog" True titled
bg syslogd python3 -c 'import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("/dev/log")
print("ready", flush=True)
while True:
	print(s.recv(2000).decode(), flush=True)'
bg_ready syslogd ready
says "... and somebody: no descriptor stays open" True titled
got_both() { [ "$(wc -l <"$TMP/syslogd.log")" = 3 ]; }
check "... and they arrive" until_true 10 got_both
equal "... with their names as they were at the start" \
	"$(sed -E '/^ready/d; s/\[[0-9]+\]//' "$TMP/syslogd.log")" \
"<14>python3: libsdp: listen on $LAB_IP:7000: sdp
<15>python3: libsdp: ... by $TMP/conf:2: use sdp server * *:*"
bg_stop syslogd
rm -f /dev/log

# ---- sdp_run ----

cp "$(readlink -f "$(command -v python3)")" suid
cp suid capable
chmod 4755 suid
as_suid() { nobody sdp_run -p sdp "$TMP/suid" "${PROBE[@]:1}" "$@" 2>&1; }
says "a set-user-ID program is left alone, and sdp_run says so" \
"sdp_run: $TMP/suid gets other rights by its mode: the loader ignores libsdp.so
tcp tcp tcp" as_suid connection "$LAB_IP"
# cap_net_bind_service+ep
python3 -c 'import os, struct, sys; os.setxattr(sys.argv[1], "security.capability",
	struct.pack("<IIIII", 0x2000001, 1 << 10, 0, 0, 0))' "$TMP/capable" 2>/dev/null || :
as_capable() { nobody sdp_run -p sdp "$TMP/capable" "${PROBE[@]:1}" "$@" 2>&1; }
says "so it does of one with capabilities" \
"sdp_run: $TMP/capable gets other rights by its capabilities: the loader ignores libsdp.so
tcp tcp tcp" as_capable connection "$LAB_IP"
run_busybox() { sdp_run busybox true 2>&1; }
says "so it does of a static program" "sdp_run: $(command -v busybox) is statically linked: libsdp.so can't reach it" \
	run_busybox
check_fails "no such program" 127 sdp_run no-such-program
check_fails "no program that can be run" 126 sdp_run "$TMP/conf"
check_fails "no such policy" 2 sdp_run -p udp true
check_fails "no such rules" 2 sdp_run -f "$TMP/none" true
check_fails "the program's own status" 7 sdp_run -p sdp -- sh -c 'exit 7'

explain() { sdp_run --check "$TMP/conf" "$@" 2>&1; }
conf "use tcp server ssh* *:22" "" "use sdp client * 10.1.2.3/8:1-1023 # all" "use both server * ::1:*"
says "sdp_run --check lists rules" \
"$TMP/conf:3: address bits beyond the prefix don't count
$TMP/conf:1: use tcp server ssh* *:22
$TMP/conf:3: use sdp client * 10.1.2.3/8:1-1023
$TMP/conf:4: use both server * ::1:*
otherwise: both" explain
says "... those for a program" \
"$TMP/conf:3: address bits beyond the prefix don't count
$TMP/conf:3: use sdp client * 10.1.2.3/8:1-1023
$TMP/conf:4: use both server * ::1:*
otherwise: both" explain ls
conf "use tcp server ssh* *:22" "" "use sdp client * 10.0.0.0/8:1-1023 # all" "use both server * ::1:*"
says "... the one that counts" \
"listen(): tcp, $TMP/conf:1: use tcp server ssh* *:22
connect(): sdp, $TMP/conf:3: use sdp client * 10.0.0.0/8:1-1023" explain /usr/sbin/sshd 10.9.0.1 22
says "... or that there is none" \
"listen(): both, $TMP/conf:4: use both server * ::1:*
connect(): both, as no rule fits" explain sshd ::1 2222
conf "log min-level 77# all" "use tcp server * *:22#"
says "... a level that there isn't" \
"$TMP/conf:1: min-level is 1 to 9, the nearest counts
$TMP/conf:2: use tcp server * *:22
otherwise: both" explain
conf "use" "" "use sdp both * *:*"
check_fails "errors of rules" 1 explain
says "... are told by line" \
"$TMP/conf:1: 'use' needs 'sdp', 'tcp' or 'both'
$TMP/conf:3: role 'both' is none of server, listen, client, connect
$TMP/conf: with errors, this file is not used at all" explain
