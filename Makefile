# SPDX-License-Identifier: GPL-2.0
# AF_SDP.  `make help` lists what there is; everything built lands in build/.

PREFIX	?= /usr/local
DESTDIR	?=
bindir	?= $(PREFIX)/bin
libdir	?= $(PREFIX)/lib
mandir	?= $(PREFIX)/share/man
sysconfdir ?= /etc
T	?=
K	?=

MAKEFLAGS += --no-print-directory
top	:= $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
B	:= build
vm	:= selftests/vm

# --- which kernel -----------------------------------------------------------
# KVER is a full version or a name from selftests/vm/kernels (6.1, 6.12-debug ...);
# by default the running kernel's or, lacking its headers, the newest supported
# one's that has them.  KDIR, the kernel's build directory, follows from it.

lab	= $(shell . $(top)/$(vm)/lib.sh; $(1))
SHELL	:= /bin/bash

kdir_of	= $(firstword $(wildcard /lib/modules/$(1)/build/Makefile /usr/src/linux-headers-$(1)/Makefile) \
		$(call lab,lab_src $(1)))
supported := $(shell awk '!/^\#/ && NF { print $$2 }' $(vm)/kernels)

ifdef KVER
override KVER := $(call lab,lab_kv $(KVER))
else ifdef KDIR
KVER	:= $(shell $(MAKE) -s -C $(KDIR) kernelrelease 2>/dev/null || echo unknown)
else
KVER	:= $(lastword $(foreach k,$(supported) $(shell uname -r),$(if $(call kdir_of,$(k)),$(k))))
endif
KDIR	?= $(patsubst %/Makefile,%,$(call kdir_of,$(KVER)))

# --- all --------------------------------------------------------------------


.PHONY: all modules peer build-sdp build-peer build-az build-kuser build-delay build-tree modules-all tools tests unit fuzzers uring compat az
all: tools tests modules

.PHONY: kdir
kdir:
	@test -n "$(KVER)" || { echo "make: no kernel headers found; 'make setup' or: apt-get install $(addprefix linux-headers-,$(supported)); or name a build directory with KDIR=" >&2; exit 1; }
	@test -n "$(KDIR)" || { echo "make: no headers for kernel '$(KVER)': apt-get install linux-headers-$(KVER), or name its build directory with KDIR= (tested kernels: $(supported))" >&2; exit 1; }
	@test -e "$(KDIR)/Makefile" || { echo "make: KDIR=$(KDIR) is no kernel build directory" >&2; exit 1; }
	@test -e "$(KDIR)/Module.symvers" || { echo "make: $(KDIR) has no Module.symvers: that kernel was not built" >&2; exit 1; }

# The module is built in a farm of symlinks to the sources, so that objects of
# several kernels never meet and none lies among the sources.
M	 = $(B)/$(KVER)
farm	 = mkdir -p $(1) && find $(1) -xtype l -delete && cp -rsnT $(top)/$(2) $(1)
kbuild	 = $(MAKE) -C $(KDIR) M=$(top)/$(1) KCFLAGS="-fmacro-prefix-map=$(top)/$(M)/= $(2) $(KCFLAGS)" \
		$(if $(V),V=$(V)) $(kbuild_flags)

modules: kdir | $(B)
	@flock $(M).lock $(MAKE) build-sdp build-peer build-az build-kuser build-delay KVER=$(KVER) KDIR=$(KDIR)

# The test peer alone
peer: kdir | $(B)
	@flock $(M).lock $(MAKE) build-peer KVER=$(KVER) KDIR=$(KDIR)

build-sdp: build-tree
	@$(call kbuild,$(M)) modules

build-peer: build-tree
ifneq ($(wildcard selftests/peer/Kbuild),)
	@$(call farm,$(M)/selftests/peer,selftests/peer)
	@$(call kbuild,$(M)/selftests/peer,-I$(top)/$(M)/include -I$(top)/$(M)/include/uapi) modules
	@ln -sf selftests/peer/sdp_peer.ko $(M)/sdp_peer.ko
endif

# The page tracking alone, to be tested and broken
build-az: build-tree
ifneq ($(wildcard selftests/az/Kbuild),)
	@$(call farm,$(M)/selftests/az,selftests/az)
	@$(call kbuild,$(M)/selftests/az) modules
	@ln -sf selftests/az/sdp_az_test.ko $(M)/sdp_az_test.ko
endif

build-kuser: build-tree
	@$(call farm,$(M)/selftests/kuser,selftests/kuser)
	@$(call kbuild,$(M)/selftests/kuser,) modules
	@ln -sf selftests/kuser/sdp_kuser.ko $(M)/sdp_kuser.ko

build-delay: build-tree
	@$(call farm,$(M)/selftests/delay,selftests/delay)
	@$(call kbuild,$(M)/selftests/delay,) modules
	@ln -sf selftests/delay/sdp_delay.ko $(M)/sdp_delay.ko

build-tree:
	@$(call farm,$(M)/net,net) && $(call farm,$(M)/include,include) && ln -sf $(top)/Kbuild $(M)/Kbuild

# Every supported kernel, or those named by K=
kernels	 = $(if $(K),$(K),$(supported))
modules-all:
	@set -e; for k in $(kernels); do $(MAKE) modules KVER=$$k; done

# --- programs ---------------------------------------------------------------

CFLAGS	 ?= -O2 -g
cflags	 = $(CPPFLAGS) $(CFLAGS) -std=gnu11 -Wall -Wextra -D_GNU_SOURCE -Iinclude/uapi -Iinclude -Iselftests -Itools/libsdp
headers	:= $(wildcard include/*/*.h include/*/*/*.h selftests/*.h tools/libsdp/*.h)
# Where the library looks for its rules, and sdp_run for the library
paths	 = -DLIBSDP_CONF='"$(sysconfdir)/libsdp.conf"' -DLIBSDP_DIR='"$(libdir)/af-sdp"'
SAN	 = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

TOOLS	:= $(patsubst tools/bench/%.c,$(B)/%,$(wildcard tools/bench/*.c))
TESTS	:= $(patsubst selftests/%.c,$(B)/%,$(wildcard selftests/*.c))
PRELOADS := $(patsubst selftests/preload/%.c,$(B)/%.so,$(wildcard selftests/preload/*.c))
UNIT	:= $(patsubst selftests/unit/%.c,$(B)/unit/%,$(wildcard selftests/unit/*_test.c))
URING	:= $(patsubst selftests/uring/%.c,$(B)/%,$(wildcard selftests/uring/*.c))
HAMMER	:= $(B)/sdp_az
COMPAT	:= $(B)/sdp_contract32
AZ	:= $(addprefix $(B)/,az_rules az_stress az_cost)
LIBSDP	:= $(B)/libsdp.so $(B)/libsdp_malloc.so $(B)/sdp_run
BASIC	:= $(B)/sdp_basic
CONTRACT := $(B)/sdp_contract
FUZZ	:= $(patsubst selftests/fuzz/%.c,$(B)/fuzz/%,$(wildcard selftests/fuzz/*.c))
pure	:= net/sdp/proto.c tools/libsdp/config.c

# Each tool with a directory of its own
include $(wildcard tools/*/build.mk)

tools: $(TOOLS) $(LIBSDP)
tests: $(TESTS) $(PRELOADS) $(BASIC) $(CONTRACT)
unit: $(UNIT)
# These need more than a compiler and libc: liburing, libc for 32 bits
uring: $(URING) $(HAMMER)
compat: $(COMPAT)
az: $(AZ)
fuzzers: $(FUZZ)

$(TOOLS): $(B)/%: tools/bench/%.c $(headers) | $(B)
	$(CC) $(cflags) -o $@ $< $(LDFLAGS) -lpthread -lm
$(B)/libsdp.so: $(wildcard tools/libsdp/*.c) $(headers) $(B)/paths | $(B)
	$(CC) $(cflags) $(paths) -fPIC -shared -fvisibility=hidden -Wl,-z,defs -o $@ $(filter %.c,$^) $(LDFLAGS)
# What it interposes, the compiler is to take for functions as any other
$(B)/libsdp_malloc.so: tools/libsdp_malloc/libsdp_malloc.c $(headers) | $(B)
	$(CC) $(cflags) -fno-builtin -fPIC -shared -Wl,-z,defs,-z,initfirst -o $@ $< $(LDFLAGS)
$(B)/sdp_run: $(wildcard tools/sdp_run/*.[ch]) tools/libsdp/config.c $(headers) $(B)/paths | $(B)
	$(CC) $(cflags) $(paths) -o $@ $(filter %.c,$^) $(LDFLAGS)
# Newer only when the paths have changed
$(B)/paths: FORCE | $(B)
	@echo "$(paths)" | cmp -s - $@ || echo "$(paths)" >$@
.PHONY: FORCE
$(TESTS): $(B)/%: selftests/%.c $(headers) | $(B)
	$(CC) $(cflags) -o $@ $< $(LDFLAGS) -lpthread
$(PRELOADS): $(B)/%.so: selftests/preload/%.c | $(B)
	$(CC) $(cflags) -fno-builtin -fPIC -shared -o $@ $< $(LDFLAGS)
$(BASIC): $(wildcard selftests/basic/*.[ch]) $(headers) | $(B)
	$(CC) $(cflags) -Iselftests/basic -o $@ $(filter %.c,$^) $(LDFLAGS) -lpthread
$(CONTRACT) $(COMPAT): $(wildcard selftests/contract/*.[ch]) $(headers) | $(B)
	$(CC) $(cflags) -Iselftests/contract -o $@ $(filter %.c,$^) $(LDFLAGS) -lpthread
# The same for 32 bits; <asm/...> is there for both, but not where such a compiler looks
$(COMPAT): cflags += -m32 -idirafter /usr/include/$(shell $(CC) -print-multiarch)
$(HAMMER): $(wildcard selftests/hammer/*.[ch] selftests/trouble/*.[ch]) $(headers) | $(B)
	$(CC) $(cflags) -Iselftests/hammer -o $@ $(filter %.c,$^) $(LDFLAGS) -luring -lpthread
$(URING): $(B)/%: selftests/uring/%.c $(headers) | $(B)
	$(CC) $(cflags) -o $@ $< $(LDFLAGS) -luring -lpthread
$(AZ): $(B)/%: selftests/az/%.c selftests/az/az.c $(wildcard selftests/az/*.h) net/sdp/az_track.h | $(B)
	$(CC) $(cflags) -o $@ $< selftests/az/az.c $(az_srcs) $(LDFLAGS) $(az_libs) -lpthread
$(B)/az_rules $(B)/az_stress: az_libs = -luring
$(B)/az_stress: az_srcs = selftests/trouble/trouble.c
$(B)/az_stress: $(wildcard selftests/trouble/*.[ch])
$(UNIT): $(B)/unit/%: selftests/unit/%.c $(wildcard selftests/unit/*.h) $(pure) $(headers) | $(B)/unit
	$(CC) $(cflags) $(SAN) -Iselftests/unit -o $@ $< $(pure) $(LDFLAGS) -lcmocka
$(FUZZ): $(B)/fuzz/%: selftests/fuzz/%.c $(wildcard selftests/fuzz/*.h) $(pure) $(headers) | $(B)/fuzz
	clang $(cflags) $(SAN) -fsanitize=fuzzer -Iselftests/fuzz -o $@ $< $(pure) $(LDFLAGS)
$(B) $(B)/unit $(B)/fuzz:
	@mkdir -p $@

# --- install ----------------------------------------------------------------

.PHONY: install modules_install tools_install
MAN	:= $(wildcard tools/*/*.[1-8] Documentation/*.[1-8])
# Pages name the places where a plain "make install" puts things. A package that is there once for
# each architecture has the same page in all of them.
man_libdir ?= $(libdir)
man_paths = sed 's|/usr/local/lib/af|$(man_libdir)/af|g; s|/etc/libsdp|$(sysconfdir)/libsdp|g'

install: modules_install tools_install

tools_install: tools
	@for t in $(TOOLS) $(B)/sdp_run; do install -D -m 755 $$t $(DESTDIR)$(bindir)/$$(basename $$t); done
	install -D -m 644 -t $(DESTDIR)$(libdir)/af-sdp $(B)/libsdp.so $(B)/libsdp_malloc.so
	install -D -m 644 include/uapi/linux/sdp.h $(DESTDIR)$(PREFIX)/include/linux/sdp.h
	install -D -m 644 tools/libsdp/modprobe.conf $(DESTDIR)$(sysconfdir)/modprobe.d/af-sdp.conf
	@# Rules an administrator has changed stay
	@test -e $(DESTDIR)$(sysconfdir)/libsdp.conf || \
		install -D -m 644 tools/libsdp/libsdp.conf $(DESTDIR)$(sysconfdir)/libsdp.conf
	@for m in $(MAN); do \
		d=$(DESTDIR)$(mandir)/man$${m##*.}; \
		install -d $$d && $(man_paths) $$m >$$d/$$(basename $$m) && chmod 644 $$d/$$(basename $$m) || exit; \
	done

modules_install: modules
	install -D -m 644 $(M)/sdp.ko $(DESTDIR)/lib/modules/$(KVER)/updates/sdp.ko
	@if test -z "$(DESTDIR)"; then depmod $(KVER); fi

# --- tests ------------------------------------------------------------------

.PHONY: check check-apps check-debug soak bench bench-az fuzz vm demo lint setup debug-kernel
check check-apps check-debug soak demo vm bench bench-az: export MAKE := $(MAKE)

check:
	@$(vm)/setup.sh build lab check
	@selftests/check.sh

check-apps:
	@$(vm)/setup.sh build lab check apps
	@selftests/check.sh --apps

check-debug:
	@$(vm)/setup.sh build lab check debug
	@$(vm)/debug-kernel.sh >/dev/null
	@selftests/check.sh --debug

soak:
	@$(vm)/setup.sh build lab check
	@selftests/check.sh --soak

demo:
	@$(vm)/setup.sh build lab
	@selftests/demo.sh

vm:
	@$(vm)/shell.sh

bench:
	@$(vm)/setup.sh build lab check plot
	@tools/bench/bench.sh
	@tools/bench/bench.sh zcopy
	@tools/bench/bench.sh az-track
	@tools/bench/bench.sh fallback
	@tools/bench/bench.sh conns

bench-az:
	@$(vm)/setup.sh build lab plot
	@tools/bench/bench-az.sh

FUZZ_TIME ?= 600
fuzz: fuzzers
	@selftests/fuzz.sh $(FUZZ_TIME) $(FUZZ)

lint:
	@selftests/lint.sh

setup:
	@$(vm)/setup.sh build lab check

debug-kernel:
	@$(vm)/debug-kernel.sh

# --- the rest ---------------------------------------------------------------

.PHONY: clean help
clean:
	rm -rf $(B)

help:
	@echo 'make                   sdp.ko for one kernel, tools and test programs, all in build/'
	@echo 'make demo              everything from nothing: install, build, boot a guest, move data'
	@echo 'make check             all tests, on every supported kernel; T=SUITE and K=6.1 choose'
	@echo 'make check-apps        servers, databases, ... under load over SDP; T= and K= as well'
	@echo 'make check-debug       the same as check on a kernel with KASAN, lockdep, kmemleak ...'
	@echo 'make soak              suites that have a long variant, at length; LONG=60, T= and K= choose'
	@echo 'make vm                a shell in a guest with the module loaded; K=6.1 chooses'
	@echo 'make bench             measure beside verbs, rsockets, SMC and TCP'
	@echo 'make bench-az          AZ-SDP over a slow link, with plots'
	@echo 'make fuzz              fuzz the wire codec and libsdp.conf; FUZZ_TIME=SECONDS'
	@echo 'make lint              sparse, W=1, checkpatch, kernel-doc, shellcheck, mandoc'
	@echo 'make modules           sdp.ko and the modules of tests; KVER=VERSION (or 6.1, 6.12) or KDIR=DIR'
	@echo 'make modules-all       the same for every supported kernel; K= chooses'
	@echo 'make tools tests unit fuzzers uring compat az'
	@echo 'make install           module, libsdp, tools, man pages, header; DESTDIR=, PREFIX=/usr/local'
	@echo 'make modules_install   the module only'
	@echo 'make tools_install     all but the module'
	@echo 'make deb               Debian packages, in build/deb: sdp-dkms, libsdp1, sdp-tools'
	@echo 'make check-deb         the same on a fresh Debian in a chroot; install, try, remove them'
	@echo 'make setup             install the packages building, make check and fuzz need (as root)'
	@echo 'make debug-kernel      build the kernel for check-debug'
	@echo 'make clean'
	@echo
	@echo 'kernels tested: $(supported)'
	@echo 'this build:     KVER=$(KVER) KDIR=$(KDIR)'
