# SPDX-License-Identifier: GPL-2.0
# "make install": everything is where it belongs, and finds each other there.
# topology: host
# time: 120
# needs: man
# shellcheck source=../lib.sh
. "$LAB_TREE/selftests/lib.sh"
cd "$TMP" || exit

# A build directory of its own, as the paths are compiled in
into() { "${MAKE:-make}" -C "$LAB_TREE" tools_install "B=$TMP/build" "DESTDIR=$TMP/root" "$@"; }
check "make tools_install" into PREFIX=/usr
while read -r mode file; do
	equal "$file" "$(command stat -c %a "root$file")" "$mode"
done <<-'EOT'
	644 /etc/libsdp.conf
	644 /etc/modprobe.d/af-sdp.conf
	755 /usr/bin/sdp_check
	755 /usr/bin/sdp_run
	755 /usr/bin/sdpbench
	755 /usr/bin/sdpstat
	644 /usr/include/linux/sdp.h
	644 /usr/include/linux/sdp_diag.h
	644 /usr/lib/af-sdp/libsdp.so
	644 /usr/lib/af-sdp/libsdp_malloc.so
	644 /usr/share/man/man1/sdp_run.1
	644 /usr/share/man/man1/sdpbench.1
	644 /usr/share/man/man5/libsdp.conf.5
	644 /usr/share/man/man7/libsdp.7
	644 /usr/share/man/man7/libsdp_malloc.7
	644 /usr/share/man/man7/af_sdp.7
	644 /usr/share/man/man8/sdp_check.8
	644 /usr/share/man/man8/sdpstat.8
EOT
compiled() { grep -qF "$2" "$1"; }
check "sdp_run knows where the library is" compiled root/usr/bin/sdp_run /usr/lib/af-sdp
check "... and the library its rules" compiled root/usr/lib/af-sdp/libsdp.so /etc/libsdp.conf
check "... and so do the man pages" compiled root/usr/share/man/man7/libsdp.7 /usr/lib/af-sdp/libsdp.so
shown() { { man --warnings -l "$1" >/dev/null; } 2>&1; }
equal "man pages are without warnings" "$(for p in root/usr/share/man/*/*; do shown "$p"; done)" ""
check "the rules installed are good ones" root/usr/bin/sdp_run --check root/etc/libsdp.conf
echo "# mine" >root/etc/libsdp.conf
check "make tools_install, into other directories" \
	into PREFIX=/usr libdir=/usr/lib/x86_64-linux-gnu sysconfdir=/etc
equal "rules that were changed stay" "$(cat root/etc/libsdp.conf)" "# mine"
check "the library is where it was wanted" compiled root/usr/bin/sdp_run \
	/usr/lib/x86_64-linux-gnu/af-sdp

# The first program of README.md, with what has been installed
readme_program >echo.c
check "README's first program" "${CC:-cc}" -Wall -Wextra -Werror -Iroot/usr/include -o echo echo.c
check "make help" "${MAKE:-make}" -C "$LAB_TREE" help
cleaned() { "${MAKE:-make}" -C "$LAB_TREE" clean "B=$TMP/build" && [ ! -e build ]; }
check "make clean" cleaned

# The module, for the newest kernel there is; built already
kernel() { "${MAKE:-make}" -C "$LAB_TREE" modules_install "DESTDIR=$TMP/root"; }
check "make modules_install" kernel
ko=$(echo root/lib/modules/*/updates/sdp.ko)
equal "... for that kernel" "$(modinfo -F vermagic "$ko" | cut -d ' ' -f 1)" \
	"$(basename "$(dirname "$(dirname "$ko")")")"
equal "... a module, and readable" "$(command stat -c %a "$ko") $(modinfo -F license "$ko")" "644 GPL"
