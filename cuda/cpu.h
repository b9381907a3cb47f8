/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the CPU engine's reference and its fast path share: how a sample is read, and what renormalize multiplies by.
 */
#pragma once

#include <string.h>

#include <convolve/backend.h>

G_BEGIN_DECLS

extern const CnvBackend cnv_backend_cpu;

/* Value of sample i of a row that may begin at any address. */
static inline int
cnv_cpu_sample(const guint8 *row, int i, const CnvFormat *format)
{
  guint16 bits;

  if (format->sample_bytes == 1)
    return row[i];
  memcpy(&bits, row + 2 * (gsize)i, 2);
  return (GUINT16_FROM_LE(bits) >> format->shift) & ((1 << format->depth) - 1);
}

/* The taps that find a sample where the output sample is number at of size: first <= tap < last. */
typedef struct {
  int first, last;
} CnvCpuSpan;

static inline CnvCpuSpan
cnv_cpu_span(int at, int size, int n, int anchor)
{
  return (CnvCpuSpan){MAX(0, anchor - at), MIN(n, size - at + anchor)};
}

/* S/P of border.h for height rows of width taps of which those within x and y are present: 1 where that is all of
 * them, 0 where P is at most least. */
double cnv_cpu_renormalize(const float *taps, int width, int height, CnvCpuSpan x, CnvCpuSpan y, float least);

/* The same along an axis of separable taps, for output samples at column (x) or row (y) at. */
double cnv_cpu_axis_factor(const CnvPlan *plan, const CnvPlanePlan *plane, CnvAxis axis, int at);

/* The reference: rows first to last - 1 of a plane, channels that are not filtered included. */
void cnv_cpu_naive(const CnvPlan *plan, int p, const CnvFrame *in, const CnvFrame *out, int first, int last);

G_END_DECLS
