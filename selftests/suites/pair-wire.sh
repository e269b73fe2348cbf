# SPDX-License-Identifier: GPL-2.0
# A connection as the wire shows it: tshark, whose dissector nobody here wrote, finds Hello,
# HelloAck, Data and DisConn, with the fields they should have.
# topology: pair
# time: 150
# debug: no
# needs: tshark dumpcap python3
# shellcheck shell=bash disable=SC2119
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
sdp_load || exit

a4=$LAB_IP a6=$LAB_IP6
[ "$LAB_NODE" = a ] || { a4=$LAB_PEER a6=$LAB_PEER6; }

# talk NAME PORT SERVER... -- CLIENT...: a connection from b to a
talk() {
	local name=$1 port=$2 server=(); shift 2
	while [ "$1" != -- ]; do server+=("$1"); shift; done
	shift
	lab_barrier "wire-ready-$name"
	if [ "$LAB_NODE" = a ]; then
		bg server "${server[@]}"
		until_true 10 listening "$port"
		lab_barrier "wire-go-$name"
		check "a connection, $name" bg_wait server 30
	else
		lab_barrier "wire-go-$name"
		check "a connection, $name" within 30 "$@"
	fi
	lab_barrier "wire-done-$name"
}
# Expedited forwarding, as a program of its own would ask for it
tos=0xb8 tos_program=(python3 -B "$LAB_TREE/selftests/wire_tos.py")
talks() {
	local a
	for a in "$a4" "$a6"; do	# 3000 bytes there and back, b closes first
		talk "$a" 7472 sdp_cycle -s "$a" -- sdp_cycle -n 1 -b 3000 -e client "$a"
	done
	for a in "$a4" "$a6"; do
		talk "$a of service type $tos" 7474 "${tos_program[@]}" -s "$a" -- "${tos_program[@]}" "$a" $tos
	done
}

if [ "$LAB_NODE" = b ]; then
	talks
	exit
fi

bg dumpcap dumpcap -q -i "$LAB_DEV" -f 'udp port 4791' -w "$TMP/pcap"
bg_ready dumpcap 'File:'	# not 'Capturing', which it says before it does
talks
sleep 1
kill -INT "${bg_pid[dumpcap]}"
bg_wait dumpcap 20

# Twice over (-2): only then the dissector knows of a connection when it sees the request,
# and follows it from there. It calls a Data message without payload malformed, and the empty
# private data of RTU, DREQ and DREP a Hello; that is its mistake.
shark() { tshark -2 -n -r "$TMP/pcap" "$@" 2>/dev/null; }

# fields FILTER FIELD...: of the packets the filter passes, a line each
fields() {
	local filter=$1 f args=(); shift
	for f; do args+=(-e "$f"); done
	shark -Y "$filter" -T fields -E separator=' ' "${args[@]}"
}
shark >"$TMP/listing"

# shows FROM TO WHAT: a packet that is so called
shows() {
	local l
	l=$(grep -F "$1 → $2 " "$TMP/listing" | grep -m 1 -E "${3//[()]/.}$")
	if [ -n "$l" ]; then ok "tshark shows $3, $1 to $2"; note "$(tr -s ' ' <<<"$l")"; else
		note "$(cat "$TMP/listing")"; not_ok "tshark shows $3, $1 to $2"
	fi
}

b4=$LAB_PEER b6=$LAB_PEER6
for ab in "$a4 $b4" "$a6 $b6"; do
	read -r a b <<<"$ab"
	shows "$b" "$a" "CM: ConnectRequest(SDP Hello)"
	shows "$a" "$b" "CM: ConnectReply(SDP HelloAck)"
	shows "$b" "$a" "(SDP Data)"
	shows "$a" "$b" "(SDP Data)"
	shows "$b" "$a" "(SDP DisConn)"
	shows "$a" "$b" "(SDP DisConn)"
done

hello=infiniband_sdp.hh
request() { # ADDRESS: Hello's fields in the first request from there
	fields "infiniband.cm.req && $1" infiniband.cm.req.serviceid $hello.majv $hello.minv $hello.src_ip \
		$hello.dst_ip infiniband_sdp.bsdh.len | head -n 1
}
service=$(printf '0x%016x' $((0x10000 + 7472)))
equal "service, version, addresses and length of the Hello, IPv4" "$(request "ip.src == $b4")" \
	"$service 0x02 0x02 ::$b4 ::$a4 92"
equal "service, version, addresses and length of the Hello, IPv6" "$(request "ipv6.src == $b6")" \
	"$service 0x02 0x02 $b6 $a6 92"

# Messages to each queue pair: numbered from 1 without a gap, as long as they say
messages() {
	fields 'infiniband_sdp && infiniband.bth.destqp > 1' ip.dst ipv6.dst infiniband.bth.destqp infiniband.bth.psn \
		infiniband_sdp.bsdh.mseq infiniband_sdp.bsdh.len frame.len infiniband_sdp.bsdh.mseqack
}
messages | tr -s ' ' | sed 's/^ //' >"$TMP/messages"
numbered() {
	local to qp psn mseq rest n=0
	local -A last=()
	while read -r to qp psn mseq rest; do
		last[$to$qp]=$((${last[$to$qp]:-0} + 1)) n=$((n + 1))
		[ $((mseq)) = "${last[$to$qp]}" ] && continue
		echo "not ${last[$to$qp]}: $to $qp $psn $mseq $rest"
		return 1
	done <<<"$(awk '!seen[$1, $2, $3]++' "$TMP/messages")"	# a packet may be sent again
	[ $n -ge 20 ] || { echo "only $n messages"; return 1; }
}
lengths() {
	awk '{ head = (index($1, ":") ? 78 : 58); if ($6 - head != int(($5 + 3) / 4) * 4) { print; bad = 1 } }
		END { exit bad || NR < 10 }' "$TMP/messages"
}
check "messages are numbered from 1 without a gap" numbered
check "messages are as long as they say" lengths

# Each packet of the data says what service it is to have, those of a and those of b
fields 'infiniband_sdp && infiniband.bth.destqp > 1' ip.src ip.dsfield ipv6.src ipv6.tclass | tr -s ' ' |
	sed 's/^ //' | sort | uniq -c >"$TMP/classes"
note "$(cat "$TMP/classes")"
for from in "$a4" "$b4" "$a6" "$b6"; do
	check "packets from $from say so" grep -qE "^ *[1-9][0-9]* $from 0x0*b8" "$TMP/classes"
done
