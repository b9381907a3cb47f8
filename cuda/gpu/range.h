/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Ranges on a profiler's time line (NVTX), where the build has -Dnvtx=enabled; else nothing.
 */
#pragma once

#include "config.h"

#ifdef HAVE_NVTX

#include <glib.h>
#include <nvtx3/nvToolsExt.h>

typedef int CnvRange;

static inline void
cnv_range_end(CnvRange *range)
{
  nvtxRangePop();
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CnvRange, cnv_range_end)

/* A range of that name, from here to the end of the block; once a block, after its other declarations. */
#define CNV_RANGE(name) G_GNUC_UNUSED g_auto(CnvRange) cnv_range = nvtxRangePushA(name)

#else

#define CNV_RANGE(name)                                                                                                \
  do {                                                                                                                 \
  } while (0)

#endif
