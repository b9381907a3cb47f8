/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the CPU engine's reference and its fast path share: an area of a patch, and which taps find a sample.
 */
#pragma once

#include "lane.h"

G_BEGIN_DECLS

extern const CnvBackend cnv_backend_cpu;

/* The taps that find a sample where the output sample is number at of size: first <= tap < last. at may lie outside. */
typedef struct {
  int first, last;
} CnvCpuSpan;

static inline CnvCpuSpan
cnv_cpu_span(int at, int size, int n, int anchor)
{
  int first = CLAMP(anchor - at, 0, n);

  return (CnvCpuSpan){first, CLAMP(size - at + anchor, first, n)};
}

/* Pixels of a patch to be filtered. */
typedef struct {
  const CnvPlan *plan;
  const CnvPlanePlan *plane;
  const CnvPatch *patch;
  const CnvSpot *spots; /* of all patches */
  const CnvFrame *in, *out;
  int first, last; /* columns */
  int top, bottom; /* rows; last and bottom are one beyond */
} CnvCpuArea;

/* The reference. Writes the filtered lanes alone. */
void cnv_cpu_naive(const CnvCpuArea *area);

G_END_DECLS
