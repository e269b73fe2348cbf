# SPDX-License-Identifier: GPL-2.0
# sdpstat, read by the Makefile at the top
pure	+= tools/sdpstat/filter.c

tools: $(B)/sdpstat
$(B)/sdpstat: $(wildcard tools/sdpstat/*.c tools/sdpstat/*.h tools/*.h include/*/*/*.h) | $(B)
	$(CC) $(cflags) -o $@ $(filter %.c,$^) $(LDFLAGS) -lmnl

.PHONY: install-sdpstat
tools_install: install-sdpstat
install-sdpstat: $(B)/sdpstat
	install -D -m 755 $< $(DESTDIR)$(bindir)/sdpstat
	install -D -m 644 include/uapi/linux/sdp_diag.h $(DESTDIR)$(PREFIX)/include/linux/sdp_diag.h
