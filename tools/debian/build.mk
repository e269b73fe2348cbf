# SPDX-License-Identifier: GPL-2.0
# Debian packages, read by the Makefile at the top
.PHONY: deb check-deb
deb:
	@$(vm)/setup.sh deb
	@tools/debian/build.sh $(B)/deb

# On a fresh Debian in a chroot, which gets the headers of all supported kernels
check-deb:
	@$(vm)/fresh.sh "$(vm)/setup.sh build deb && make deb" tools/debian/test.sh
