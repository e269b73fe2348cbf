#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# build.sh: the kernel's own selftest of MSG_ZEROCOPY, from Debian's linux-source, for SDP
# sockets: build/msg_zerocopy. Does nothing when it is there. Its source stays in the cache.
set -euo pipefail
. "$(dirname "$0")/../vm/lib.sh"

series=6.1
src=$CACHE/kselftest-$series/msg_zerocopy.c
out=$lab_tree/build/msg_zerocopy
[ -e "$src" ] || "$lab_dir/source.sh" "$series" tools/testing/selftests/net msg_zerocopy.c "${src%/*}"
[ "$out" -nt "$src" ] && [ "$out" -nt "$lab_tree/selftests/kernel/as_sdp.h" ] && exit
mkdir -p "${out%/*}"
${CC:-cc} -O2 -w -D_GNU_SOURCE -I"$lab_tree/include/uapi" -include "$lab_tree/selftests/kernel/as_sdp.h" \
	-o "$out" "$src"
