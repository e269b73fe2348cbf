// SPDX-License-Identifier: GPL-2.0
/* The wire codec is all the test peer has in common with the module under test. */
#include "../../net/sdp/proto.c"
