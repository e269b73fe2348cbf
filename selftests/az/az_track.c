// SPDX-License-Identifier: GPL-2.0
/* What is under test, with its rules breakable: -DSDP_AZ_SELFTEST comes from Kbuild. */
#include "../../net/sdp/az_track.c"
