# SPDX-License-Identifier: GPL-2.0
# For suites that run programs nobody here wrote (apps*.sh), after lib.sh: how
# each is started and what shows that it works. $SERVER and $CLIENT, arrays, are
# put before the commands of either end: sdp_run and its options, or nothing.
# shellcheck shell=bash disable=SC2154,SC2016

cd "$TMP" || exit
SERVER=(sdp_run -p sdp)
CLIENT=(sdp_run -p sdp)
ROUND=1			# a port of its own for each server, as TCP keeps them in TIME_WAIT

# port: into $PORT, the next
port() { PORT=$((20000 + ROUND)); ROUND=$((ROUND + 1)); }

# serve NAME COMMAND...: a server that listens on $PORT
serve() {
	local name=$1; shift
	bg "$name" "${SERVER[@]}" "$@"
	if ! until_true 60 up "$PORT"; then
		note "$name doesn't listen on $PORT: $(tail -n 5 "$TMP/$name.log")"
		return 1
	fi
}

# client SECONDS COMMAND...
client() { within "$1" "${CLIENT[@]}" "${@:2}"; }

# moved NAME BYTES: since stat_mark, SDP has moved at least so many; or none, where TCP is to. How
# is told, not judged: what a program sends in small pieces is copied in any mode, and what it
# sends without waiting, but by AZ-SDP and sendfile().
BY=sdp
moved() {
	if [ $BY = sdp ]; then
		# apps-table.sh makes a table of these
		note "moved by ${FUNCNAME[1]#app_}${1#...}: $(stat_delta SendBytes) bytes," \
			"$(stat_delta SendCopied) copied, $(stat_delta SendZcopy) read by the peer," \
			"of which $(stat_delta AzBytes) by AZ-SDP"
		at_least "$1 by SDP" "$(stat_delta SendBytes)" "$2"
	else
		equal "$1 by TCP" "$(stat_delta SendBytes)" 0
	fi
}

# by_modes FUNCTION...: once for each way of moving data
by_modes() {
	local m names=(auto bcopy zcopy az)
	for m in 1 2 3 0; do
		sysctl -qw net.sdp.mode=$m
		"$@" ", ${names[m]}"
	done
}

# mixed FUNCTION...: once for each pair of ends that have SDP or not, and may fall back to TCP
mixed() {
	# A busy machine isn't one without SDP
	sysctl -qw net.sdp.fallback_timeout=10000
	SERVER=(sdp_run -p both) CLIENT=(sdp_run -p both)
	"$@" ", both ends SDP's"
	BY=tcp CLIENT=()
	"$@" ", a client without SDP"
	SERVER=() CLIENT=(sdp_run -p both)
	"$@" ", a server without SDP"
	BY=sdp SERVER=(sdp_run -p sdp) CLIENT=(sdp_run -p sdp)
}

# blob [MEGABYTES]: a file of that size
blob() {
	local size=$((${1:-4} << 20))
	[ "$(command stat -c %s "$TMP/blob" 2>/dev/null)" = $size ] ||
		head -c $size /dev/urandom >"$TMP/blob"
}

# ---- redis ----

# app_redis [WHAT]: redis-server under redis-benchmark, with a snapshot on the way
app_redis() {
	port
	stat_mark
	redis_serve "$1"
	redis_use "$1"
	moved "...$1" $((redis_n * 300))
	redis_end "$1"
}
redis_n=$((4000 / (SLOW > 1 ? 8 : 1)))
redis_serve() {
	mkdir -p "$TMP/redis"
	check "redis-server starts$1" serve redis redis-server --bind "$LAB_IP" --port "$PORT" \
		--save "" --protected-mode no --enable-debug-command yes --dir "$TMP/redis"
}
redis_use() {
	check "redis-benchmark -P 4$1" redis_benchmark $redis_n
	check "... values of 64 KB$1" redis_large
	check "... with a BGSAVE meanwhile$1" redis_bgsave
}
redis_end() {
	client 30 redis-cli -h "$LAB_IP" -p "$PORT" shutdown nosave >/dev/null 2>&1
	check "... and ends$1" bg_wait redis 20
}
redis_benchmark() {
	client 80 redis-benchmark -h "$LAB_IP" -p "$PORT" -c 20 -n "$1" -P 4 -t set,get,lrange_100 --csv >"$TMP/bench" &&
		[ "$(wc -l <"$TMP/bench")" = 5 ] && ! grep -i error "$TMP/bench"
}
redis_large() {
	client 80 redis-benchmark -h "$LAB_IP" -p "$PORT" -c 4 -n 200 -d 65536 -t set,get --csv >"$TMP/bench" &&
		[ "$(wc -l <"$TMP/bench")" = 3 ] && ! grep -i error "$TMP/bench"
}
redis_ask() { client 20 redis-cli -h "$LAB_IP" -p "$PORT" "$@"; }
redis_saved() { [ "$(redis_ask lastsave)" != "$1" ]; }
redis_bgsave() {
	local last
	last=$(redis_ask lastsave) || return
	redis_ask debug populate 20000 key 100 && sleep 1.1 && redis_ask bgsave &&
		redis_benchmark 1000 && until_true 30 redis_saved "$last" && [ "$(redis_ask dbsize)" -ge 20000 ]
}

# ---- iperf3 ----

# app_iperf3 WHAT SECONDS BYTES OPTION...
app_iperf3() {
	local what=$1 t=$2 bytes=$3; shift 3
	port
	stat_mark
	serve iperf3 iperf3 -s -1 -B "$LAB_IP" -p "$PORT"
	check "iperf3 $*$what" client 60 iperf3 -c "$LAB_IP" -p "$PORT" -t "$t" "$@"
	grep -hE 'SUM.*receiver|receiver' "$TMP/check" | tail -n 1 | sed 's/^/# /'
	check "... and its server ends$what" bg_wait iperf3 20
	moved "...$what" "$bytes"
}

# ---- nginx ----

nginx_conf() {
	mkdir -p "$TMP/html"
	blob; cp "$TMP/blob" "$TMP/html/blob"
	echo hello >"$TMP/html/hello"
	chmod 755 "$TMP" "$TMP/html"
	cat >"$TMP/nginx.conf" <<-END
	daemon off; user root; worker_processes 4; pid $TMP/nginx.pid; error_log $TMP/nginx.err warn;
	events { worker_connections 512; }
	http {
		access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000;
		client_body_temp_path $TMP/body; proxy_temp_path $TMP/proxy; fastcgi_temp_path $TMP/f;
		uwsgi_temp_path $TMP/u; scgi_temp_path $TMP/s;
		server { listen $LAB_IP:$PORT $1; root $TMP/html; }
	}
	END
}
# app_nginx WHAT [LISTEN-OPTION]: files by sendfile(), and many small requests
app_nginx() {
	port
	stat_mark
	nginx_serve "$@"
	nginx_use "$1"
	equal "... unspoilt$1" "$(sha256sum <"$TMP/got")" "$(sha256sum <"$TMP/blob")"
	moved "...$1" $((4 << 20))
	nginx_content "$1"
}
nginx_serve() {
	nginx_conf "${2:-}"
	check "nginx starts$1" serve nginx nginx -c "$TMP/nginx.conf"
}
nginx_use() {
	check "... curl gets a file by sendfile()$1" client 30 curl -sS -o "$TMP/got" "http://$LAB_IP:$PORT/blob"
	check "... ab -k -c 10$1" ab_run 500 -k
	check "... ab -c 10$1" ab_run 200
	if command -v wrk >/dev/null; then check "... wrk -c 20$1" wrk_run 3; fi
}
nginx_content() {
	equal "... nginx has nothing to complain about$1" "$(cat "$TMP/nginx.err")" ""
}
nginx_stop() { kill -QUIT "$(cat "$TMP/nginx.pid")"; bg_wait nginx 20; }
ab_run() {
	local n=$(($1 / (SLOW > 1 ? 8 : 1))); shift
	client 60 ab -q "$@" -c 10 -n $n "http://$LAB_IP:$PORT/hello" >"$TMP/ab" || { cat "$TMP/ab"; return 1; }
	grep -q "^Complete requests: *$n$" "$TMP/ab" && grep -q '^Failed requests: *0$' "$TMP/ab" &&
		! grep '^Non-2xx' "$TMP/ab"
}
wrk_run() {
	client $(($1 + 40)) wrk -t2 -c20 -d"$1"s --timeout 20s "http://$LAB_IP:$PORT/hello" >"$TMP/wrk"
	cat "$TMP/wrk"
	grep -q 'Requests/sec' "$TMP/wrk" && ! grep -E 'Socket errors|Non-2xx' "$TMP/wrk"
}

# ---- PostgreSQL ----

pg_bin() { echo /usr/lib/postgresql/*/bin/postgres | awk '{ sub(/\/postgres$/, "", $NF); print $NF }'; }
as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups "$@"; }
postgres_init() {
	PG=$(pg_bin)
	rm -rf "$TMP/pg"; mkdir -p "$TMP/pg" /run/postgresql && chown postgres "$TMP/pg" /run/postgresql && chmod 755 "$TMP" &&
		as_postgres "$PG/initdb" -A trust -D "$TMP/pg" --no-sync &&
		echo "host all all 0.0.0.0/0 trust" >>"$TMP/pg/pg_hba.conf"
}
# app_postgres WHAT: a process for each connection; -C makes one for each transaction
app_postgres() {
	port
	stat_mark
	postgres_serve "$1"
	postgres_use "$1"
	moved "...$1" $((6 << 20))
	postgres_end "$1"
}
postgres_serve() {
	check "PostgreSQL: initdb" postgres_init
	check "PostgreSQL starts$1" serve postgres setpriv --reuid=postgres --regid=postgres --init-groups \
		"$PG/postgres" -D "$TMP/pg" -p "$PORT" -c listen_addresses="$LAB_IP" -c fsync=off
}
postgres_use() {
	local t=$((SLOW > 1 ? 10 : 4))
	PG=$(pg_bin)
	until_true 30 pg_answers
	check "... pgbench -i$1" client 120 "$PG/pgbench" -q -i -s 1 "${pg[@]}"
	check "... pgbench -c 8 -j 2$1" pg_bench -c 8 -j 2 -T $t
	check "... pgbench -C -S -c 4$1" pg_bench -C -S -c 4 -j 2 -T $t
	equal "... a row of 5 MB$1" "$(client 60 "$PG/psql" -At "${pg[@]}" \
		-c "select string_agg(repeat('x', 1000), '') from generate_series(1, 5000)" | tr -d '\n' | wc -c)" 5000000
}
postgres_end() {
	kill -INT "${bg_pid[postgres]}"
	check "... and ends$1" bg_wait postgres 40
	equal "... with nothing to complain about$1" "$(grep -E 'WARNING|ERROR|FATAL|PANIC|could not' "$TMP/postgres.log" |
		grep -v -e 'starting up' -e 'terminating connection due to administrator')" ""
}
pg_answers() { pg=(-h "$LAB_IP" -p "$PORT" -U postgres postgres); client 20 "$PG/psql" -At "${pg[@]}" -c 'select 1'; } >/dev/null 2>&1
pg_bench() {
	client 90 "$PG/pgbench" -n "$@" "${pg[@]}" >"$TMP/pgbench" 2>&1
	grep -E '^(tps|number of failed)' "$TMP/pgbench"
	grep -q '^number of failed transactions: 0 ' "$TMP/pgbench" && ! grep -iE 'error|aborted' "$TMP/pgbench"
}

# ---- memcached ----

app_memcached() {
	port
	head -c 900000 /dev/urandom >"$TMP/big"
	stat_mark
	check "memcached starts$1" serve memcached memcached -u root -l "$LAB_IP" -p "$PORT" -t 4
	check "... memcslap, 16 connections$1" client 90 memcslap -s "$LAB_IP:$PORT" --concurrency=16 --execute-number=$((100 / SLOW))
	check "... a value of 900 KB goes$1" client 20 memccp --servers="$LAB_IP:$PORT" "$TMP/big"
	check "... and comes back$1" memcached_get
	moved "...$1" $((2 << 20))
	bg_stop memcached
}
memcached_get() { client 20 memccat --servers="$LAB_IP:$PORT" --file="$TMP/big2" big; cmp -n 900000 "$TMP/big" "$TMP/big2"; }

# ---- ssh ----

# app_ssh WHAT: forks, runs itself anew, gives up its rights and chroots; ssh, scp, rsync and a
# forwarded port through it
app_ssh() {
	local o
	port
	blob 8
	export HOME=$TMP/home
	mkdir -p /run/sshd "$HOME"
	[ -e "$TMP/hk" ] || { ssh-keygen -q -t ed25519 -N '' -f "$TMP/hk"; ssh-keygen -q -t ed25519 -N '' -f "$TMP/key"; }
	cp "$TMP/key.pub" "$TMP/auth"
	o=(-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -i "$TMP/key")
	stat_mark
	check "sshd starts$1" serve sshd "$(command -v sshd)" -D -e -h "$TMP/hk" -p "$PORT" -o ListenAddress="$LAB_IP" \
		-o UsePAM=no -o StrictModes=no -o PermitRootLogin=yes -o AuthorizedKeysFile="$TMP/auth"
	equal "... ssh$1" "$(client 60 ssh "${o[@]}" -p "$PORT" "$LAB_IP" 'echo "$SSH_CONNECTION"' 2>&1 | cut -d' ' -f3-)" \
		"$LAB_IP $PORT"
	equal "... ssh, 8 MB through it$1" "$(client 60 ssh "${o[@]}" -p "$PORT" "$LAB_IP" cat <"$TMP/blob" | sha256sum)" \
		"$(sha256sum <"$TMP/blob")"
	check "... scp$1" client 60 scp -q "${o[@]}" -P "$PORT" "$TMP/blob" "$LAB_IP:$TMP/scp"
	check "... unspoilt$1" cmp "$TMP/blob" "$TMP/scp"
	mkdir -p "$TMP/tree"; split -n 16 "$TMP/blob" "$TMP/tree/"
	check "... rsync$1" client 60 rsync -a -e "ssh ${o[*]} -p $PORT" "$TMP/tree/" "$LAB_IP:$TMP/tree2/"
	check "... unspoilt$1" diff -r "$TMP/tree" "$TMP/tree2"
	moved "...$1" $((24 << 20))
	bg_stop sshd
	rm -rf "$TMP/tree2" "$TMP/scp"
}
app_rsyncd() {
	port
	blob 8
	mkdir -p "$TMP/tree"; split -n 16 "$TMP/blob" "$TMP/tree/"
	printf '%s\n' uid=0 gid=0 'use chroot=no' "address=$LAB_IP" '[m]' "path=$TMP/tree" >"$TMP/rsyncd.conf"
	stat_mark
	check "rsync --daemon starts$1" serve rsyncd rsync --daemon --no-detach --config="$TMP/rsyncd.conf" --port="$PORT"
	check "... rsync -c$1" client 60 rsync -ac "rsync://$LAB_IP:$PORT/m/" "$TMP/tree3/"
	check "... unspoilt$1" diff -r "$TMP/tree" "$TMP/tree3"
	moved "...$1" $((8 << 20))
	bg_stop rsyncd
	rm -rf "$TMP/tree3"
}

# ---- haproxy ----

app_haproxy() {
	local web
	blob 8
	port; web=$PORT
	stat_mark
	check "a web server starts$1" serve web python3 -m http.server -b "$LAB_IP" -d "$TMP" "$PORT"
	port
	cat >"$TMP/haproxy.cfg" <<-END
	global
		maxconn 200
	defaults
		mode tcp
		timeout connect 10s
		timeout client 30s
		timeout server 30s
		option splice-auto
	listen l
		bind $LAB_IP:$PORT
		server s $LAB_IP:$web
	END
	check "haproxy starts$1" serve haproxy haproxy -db -f "$TMP/haproxy.cfg"
	check "... curl through it, spliced$1" client 60 curl -sS -o "$TMP/got" "http://$LAB_IP:$PORT/blob"
	check "... unspoilt$1" cmp "$TMP/got" "$TMP/blob"
	rm -f "$TMP"/g[123]
	check "... curl, 3 transfers on connections kept$1" client 60 curl -sS --parallel \
		-o "$TMP/g1" "http://$LAB_IP:$PORT/blob" -o "$TMP/g2" "http://$LAB_IP:$PORT/blob" -o "$TMP/g3" "http://$LAB_IP:$PORT/blob"
	for g in g1 g2 g3; do check "... unspoilt$1" cmp "$TMP/$g" "$TMP/blob"; done
	moved "...$1, twice" $((64 << 20))
	bg_stop haproxy
	bg_stop web
}

# ---- small ones ----

app_sockperf() {
	local how
	for how in r e p s; do
		port
		echo "T:$LAB_IP:$PORT" >"$TMP/feed"
		[ $how = r ] || echo "T:$LAB_IP:$((PORT + 1000))" >>"$TMP/feed"
		stat_mark
		if [ $how = r ]; then
			check "sockperf server starts$1" serve sockperf sockperf sr --tcp -i "$LAB_IP" -p "$PORT"
		else
			check "sockperf server starts, -F $how$1" serve sockperf sockperf sr -f "$TMP/feed" -F $how
		fi
		check "... sockperf ping-pong$1" sockperf_run ping-pong --msg-size 64
		check "... sockperf throughput$1" sockperf_run throughput --msg-size 1400
		moved "...$1" 100000
		bg_stop sockperf
	done
}
sockperf_run() {
	client 60 sockperf "$1" --tcp -i "$LAB_IP" -p "$PORT" -t 2 "${@:2}" >"$TMP/sockperf" 2>&1
	cat "$TMP/sockperf"
	grep -qE 'Summary: (Latency|BandWidth)' "$TMP/sockperf" && ! grep -i 'error' "$TMP/sockperf"
}

app_netpipe() {
	stat_mark
	PORT=5002
	check "NPtcp starts$1" serve netpipe NPtcp -i
	# The server ends by an error of its own, with TCP as well
	check "... NPtcp -i: 30 sizes up to 96 KB, looked at$1" netpipe_run
	moved "...$1" $((1 << 20))
	bg_stop netpipe
}
netpipe_run() {
	client 100 NPtcp -h "$LAB_IP" -i -u 131072 -n 2 >"$TMP/np" 2>&1
	tail -n 5 "$TMP/np"
	[ "$(grep -c 'Integrity check passed' "$TMP/np")" -ge 30 ] && ! grep -i fail "$TMP/np"
}

app_ncat() {
	blob
	port
	stat_mark
	check "ncat listens$1" serve ncat sh -c "exec ncat -l $LAB_IP $PORT >$TMP/ncat.got"
	check "... and gets what another sends$1" ncat_send
	check "... and ends$1" bg_wait ncat 20
	check "... unspoilt$1" cmp "$TMP/blob" "$TMP/ncat.got"
	port
	rm -f "$TMP/pong"
	check "ncat -k -e starts$1" serve ncat ncat -l -k -e /bin/cat "$LAB_IP" "$PORT"
	check "... what goes there comes back$1" ncat_ping
	moved "...$1" $((4 << 20))
	bg_stop ncat
}
# The server ends a connection at the end of what comes, whatever its command still has to say
ncat_ping() {
	{ echo ping; until_true 40 ponged; } | client 60 ncat "$LAB_IP" "$PORT" >"$TMP/pong"
	ponged
}
ponged() { grep -qsx ping "$TMP/pong"; }
ncat_send() { client 60 ncat --send-only "$LAB_IP" "$PORT" <"$TMP/blob"; }

# app_socat WHAT [OPTION...]
app_socat() {
	local what=$1; shift
	socat=(socat "$@")
	blob
	port
	stat_mark
	check "socat EXEC:cat starts$what" serve socat "${socat[@]}" "TCP-LISTEN:$PORT,bind=$LAB_IP,reuseaddr,fork" EXEC:/bin/cat
	check "... half-closed by the client, all comes back$what" socat_echo
	check "... unspoilt$what" cmp "$TMP/blob" "$TMP/socat.got"
	moved "...$what" $((8 << 20))
	bg_stop socat
}
socat_echo() { client 60 "${socat[@]}" -t 30 - "TCP:$LAB_IP:$PORT" <"$TMP/blob" >"$TMP/socat.got"; }

# native_socat WHAT: without libsdp.so, on sockets of family 27, whose addresses it takes as bytes
native_socat() {
	local hex
	blob
	port
	stat_mark
	# shellcheck disable=SC2086
	hex=$(printf '%04x' "$PORT")$(printf '%02x' ${LAB_IP//./ })0000000000000000
	bg socat socat -u "SOCKET-LISTEN:27:0:x$hex" "CREATE:$TMP/socat.got"
	check "socat SOCKET-LISTEN:27$1" until_true 20 listening "$PORT"
	check "... SOCKET-CONNECT:27$1" within 60 socat -u "OPEN:$TMP/blob" "SOCKET-CONNECT:27:0:x$hex"
	check "... ends$1" bg_wait socat 20
	check "... unspoilt$1" cmp "$TMP/blob" "$TMP/socat.got"
	moved "...$1" $((4 << 20))
}

# ---- OpenMPI ----

# app_mpi WHAT: ranks that talk by TCP, as they suppose, and look at what they get
app_mpi() {
	stat_mark
	check "OpenMPI, btl tcp, 4 ranks$1" mpi_run
	moved "...$1" $((20 << 20))
}
mpi_run() {
	client 120 mpirun --allow-run-as-root --oversubscribe -np 4 --mca pml ob1 --mca btl tcp,self \
		--mca btl_tcp_if_include "$LAB_DEV" python3 -B "$LAB_TREE/selftests/mpi_check.py" \
		>"$TMP/mpi" 2>&1
	cat "$TMP/mpi"
	[ "$(tail -n 1 "$TMP/mpi")" = 'all right' ]
}

# ---- stress-ng ----

app_stress_ng() {
	stat_mark
	check "stress-ng --sock, IPv4$1" stress --sock 2 --sock-ops 500 --sock-domain ipv4
	check "... IPv6$1" stress --sock 2 --sock-ops 500 --sock-domain ipv6
	check "... --sockmany$1" stress --sockmany 1 --sockmany-ops 50
	moved "...$1" 1000000
}
stress() {
	client 100 stress-ng --verify --timeout 60s "$@" >"$TMP/stress" 2>&1 || { cat "$TMP/stress"; return 1; }
	cat "$TMP/stress"
	! grep -E 'fail|error' "$TMP/stress"
}

# ---- Java ----

# app_java WHAT MODE [OPTION...]: MODE is none, or the client's; the classes are compiled once;
# the JVM has no time to be clever
app_java() {
	local what=$1 mode=$2; shift 2
	[ -d "$TMP/java" ] || javac -d "$TMP/java" "$LAB_TREE/selftests/java/SdpEcho.java" || return
	java=(java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto "$@" -cp "$TMP/java" SdpEcho)
	port
	stat_mark
	check "Java: a server with a selector starts$what" serve java "${java[@]}" server "$LAB_IP" "$PORT"
	equal "... and a client's streams and channels get back what they send$what" \
		"$(client 90 "${java[@]}" client "$LAB_IP" "$PORT" ${mode:+"$mode"} 2>&1)" same
	moved "...$what" $((4 << 20))
	bg_stop java
}

# ---- Python's own tests ----

# python_failures FILE COMMAND...: what fails in a module of tests, a line each
python_failures() {
	within 400 "${@:2}" >"$1.log" 2>&1
	grep -aoE '^(FAIL|ERROR): .*' "$1.log" | sort -u >"$1"
	grep -aqE '^Ran [0-9]+ tests' "$1.log"
}
# app_python MODULE: what fails by SDP fails by TCP as well. Left out is a test that wants what
# two ends have sent to be at both within 10 ms, and for the same epoll_wait() to tell: only what
# never leaves the machine always is.
app_python() {
	local t=(python3 -m test -u network -v --timeout 200 -i test_control_and_wait "$1")
	check "python3 -m test $1, without SDP" python_failures "$TMP/plain" "${t[@]}"
	stat_mark
	check "... by SDP" python_failures "$TMP/sdp" "${CLIENT[@]}" "${t[@]}"
	note "$(grep -aE '^Ran ' "$TMP/sdp.log"), SDP moved $(stat_delta SendBytes) bytes"
	equal "... nothing fails that doesn't fail without" "$(comm -13 "$TMP/plain" "$TMP/sdp")" ""
}
