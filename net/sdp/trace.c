// SPDX-License-Identifier: GPL-2.0
/* Where the tracepoints of trace.h become code */
#include "sdp.h"
#define CREATE_TRACE_POINTS
#include "trace.h"
