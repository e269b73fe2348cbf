#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# setup.sh SET...: install the Debian packages a set of tasks needs, if any is
# missing.  Sets: build, lab (guests), check (unit tests, fuzzing, lint, and
# the programs suites run), apps (programs of check-apps), plot, debug (building the
# debug kernel), fresh (a Debian without anything), deb (Debian packages).  Servers
# among them are not started.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

packages() {
	local s
	case $1 in
	build)
		echo build-essential kmod libmnl-dev
		for s in $(lab_series); do echo "linux-headers-$(lab_kv "$s")"; done ;;
	lab)
		echo qemu-system-x86 busybox-static cpio kmod xz-utils zstd iproute2 iputils-ping procps
		echo rdma-core rdmacm-utils ibverbs-utils perftest qperf ;;
	check)
		echo libcmocka-dev liburing-dev clang libclang-rt-dev shellcheck sparse
		echo python3 tshark socat strace curl iperf3 redis-server redis-tools
		echo nginx-light apache2-utils mandoc hey libc6-dev-i386 lib32gcc-12-dev ;;
	plot)
		echo gnuplot-nox ;;
	apps)
		echo wrk memcached libmemcached-tools sockperf ncat netpipe-tcp haproxy
		echo openssh-server openssh-client rsync postgresql postgresql-contrib
		echo openjdk-17-jdk-headless libpython3.11-testsuite
		echo openmpi-bin python3-mpi4py stress-ng ;;
	debug)
		echo linux-source-6.1 bc flex bison libelf-dev libssl-dev xz-utils cpio kmod ;;
	fresh)
		echo debootstrap ;;
	deb)
		echo build-essential debhelper dh-dkms libmnl-dev ;;
	*)
		lab_die "no such set: $1" ;;
	esac
}

missing() {
	local s p
	for s; do packages "$s"; done | tr ' ' '\n' | sort -u | while read -r p; do
		[ "$(dpkg-query -Wf '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || echo "$p"
	done
}

# What invoke-rc.d asks before it starts a service, unless the machine has its own
no_services() {
	[ ! -e /usr/sbin/policy-rc.d ] || return 0
	printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
	chmod 755 /usr/sbin/policy-rc.d
	trap 'rm -f "$log" /usr/sbin/policy-rc.d' EXIT
}

install() {
	export DEBIAN_FRONTEND=noninteractive
	no_services
	echo "installing: $*"
	apt-get -q update >/dev/null || echo "apt-get update failed; trying with the lists there are"
	apt-get -qy install --no-install-recommends "$@" >"$log" 2>&1 || {
		tail -n 15 "$log"
		lab_die "installing packages failed"
	}
}

[ $# -ge 1 ] || lab_die "usage: setup.sh SET..."
command -v dpkg-query >/dev/null || lab_die "this needs a Debian system"
read -r -a want <<<"$(missing "$@" | tr '\n' ' ')"
[ ${#want[@]} -gt 0 ] || exit 0
[ "$(id -u)" = 0 ] || lab_die "as root: apt-get install --no-install-recommends ${want[*]}"
log=$(mktemp); trap 'rm -f "$log"' EXIT
exec 9>/run/af-sdp-setup.lock; flock 9
install "${want[@]}" 9>&- >&2
