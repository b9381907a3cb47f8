/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the CPU engine's reference and its fast path share: an area of a job, and which taps find a sample.
 */
#pragma once

#include "cpu/component.h"

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

/* A frame and what its samples are multiplied by; frame is NULL where there is none. */
typedef struct {
  const CnvFrame *frame;
  float weight;
} CpuTemporalTap;

/* Frames that are added up to what a term convolves. */
typedef struct {
  const CpuTemporalTap *temporal_tap;
  guint n;
} CpuTemporalTaps;

/* Those of all that count for a term. */
static inline CpuTemporalTaps
cnv_cpu_moments_of(CpuTemporalTaps all, const CnvPlan *plan, const CnvPlanTerm *set)
{
  if (plan->not_time_separable && set->temporal_tap >= 0)
    return (CpuTemporalTaps){all.temporal_tap + set->temporal_tap, 1};
  return all;
}

/* What a sample that is the same in each of them is multiplied by. */
static inline double
cnv_cpu_moments_weight(CpuTemporalTaps temporal_taps)
{
  double sum = 0;

  for (guint i = 0; i < temporal_taps.n; i++)
    sum += temporal_taps.temporal_tap[i].frame ? temporal_taps.temporal_tap[i].weight : 0;
  return sum;
}

/* Pixels of a job to be filtered. */
typedef struct {
  const CnvPlan *plan;
  const CnvPlanPlane *plane;
  const CnvRectJob *job;
  const CnvMaskRect *spots;      /* of all jobs */
  CpuTemporalTaps temporal_taps; /* what is filtered */
  const CnvFrame *in, *out;      /* in: what filtered samples are blended with */
  int first, last;               /* columns */
  int top, bottom;               /* rows; last and bottom are one beyond */
} CnvCpuArea;

/* The reference. Writes the filtered lanes alone. */
void cnv_cpu_naive(const CnvCpuArea *area);

G_END_DECLS
