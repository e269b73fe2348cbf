#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# build.sh DIR: build the Debian packages in DIR, from a copy of this tree, since
# dpkg-buildpackage wants debian/ at the top.
set -euo pipefail
tree=$(cd "$(dirname "$0")/../.." && pwd)
[ $# = 1 ] || { echo "usage: build.sh DIR" >&2; exit 2; }
rm -rf "$1"
mkdir -p "$1/src"
out=$(cd "$1" && pwd)
tar -C "$tree" --exclude=./build --exclude='./.git*' -cf - . | tar -C "$out/src" -xf -
cd "$out/src"
mv tools/debian debian
rm debian/*.sh debian/build.mk
dpkg-buildpackage -b -us -uc >"$out/log" 2>&1 || { tail -n 30 "$out/log" >&2; exit 1; }
rm -rf "$out/src"
ls "$out"/*.deb
