#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# source.sh SERIES DIRECTORY FILES TO: files (a pattern) of a directory of Debian's
# linux-source-SERIES, put into the directory TO, which is made.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

[ $# = 4 ] || lab_die "usage: source.sh SERIES DIRECTORY FILES TO"
series=$1 sub=$2 files=$3 to=$4

extract() {	# TARBALL
	local parts=${sub//[^\/]/}
	tar -xf "$1" --strip-components=$((${#parts} + 2)) -C "$to" --wildcards "*/$sub/$files"
}

# The package is some 140 MB and not needed any longer than this
fetch() {
	lab_need apt-get dpkg-deb
	t=$(mktemp -d "$CACHE/source.XXXXXX"); trap 'rm -rf "$t"' EXIT
	echo "fetching linux-source-$series"
	(cd "$t" && apt-get -q -o APT::Sandbox::User=root download "linux-source-$series") ||
		lab_die "cannot download linux-source-$series"
	dpkg-deb --fsys-tarfile "$t"/*.deb | tar -x -C "$t" "./usr/src/linux-source-$series.tar.xz"
	extract "$t/usr/src/linux-source-$series.tar.xz"
}

mkdir -p "$to"
tar=/usr/src/linux-source-$series.tar.xz
if [ -e "$tar" ]; then extract "$tar"; else fetch; fi
