# SPDX-License-Identifier: GPL-2.0
# sdp_check, read by the Makefile at the top
tools: $(B)/sdp_check
$(B)/sdp_check: $(wildcard tools/sdp_check/*.c tools/sdp_check/*.h tools/*.h include/*/*/*.h) | $(B)
	$(CC) $(cflags) -o $@ $(filter %.c,$^) $(LDFLAGS) -lmnl

.PHONY: install-sdp_check
tools_install: install-sdp_check
install-sdp_check: $(B)/sdp_check
	install -D -m 755 $< $(DESTDIR)$(bindir)/sdp_check
