/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Ranges on a profiler's time line (NVTX), in builds with -Dnvtx=enabled; else nothing.
 */
#pragma once

#include "config.h"

#ifdef HAVE_NVTX

#include <glib.h>
#include <nvtx3/nvToolsExt.h>

static inline void
cnv_range_end(int *range)
{
  nvtxRangePop();
}

/* Opens a range of that name, which ends with the block. At most one per block, after its other declarations. */
#define CNV_RANGE(name) __attribute__((unused, cleanup(cnv_range_end))) int cnv_range = nvtxRangePushA(name)

#else

#define CNV_RANGE(name)                                                                                                \
  do {                                                                                                                 \
  } while (0)

#endif
