/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How samples outside a plane are obtained.
 *
 * A mode is defined by its row of CNV_BORDERS, its branch of cnv_border_index, and the functions after it. No kernel or
 * loop knows modes by name. This header is plain C without GLib, because the CPU engine and the CUDA kernels share it.
 *
 * For renormalize, the factor is S/P: S is the sum of all taps, and P is the sum of the taps that met a sample. If |P|
 * is at most 1e-6 of the sum of the magnitudes of the taps, the factor is 0, which gives mid-grey. Separable taps are
 * renormalized axis by axis. SciPy and CuPy call reflect-101 mirror.
 */
#pragma once

#include "enums.h"

/* All modes in the order of their values: value, nick, and the samples outside a row abcd. */
#define CNV_BORDERS(B)                                                                                                 \
  B(CONSTANT, "constant", "kkkk|abcd|kkkk: k is the border-color")                                                     \
  B(REPLICATE, "replicate", "aaaa|abcd|dddd: the edge sample is repeated")                                             \
  B(REFLECT, "reflect", "dcba|abcd|dcba: mirrored, with the edge sample repeated")                                     \
  B(REFLECT_101, "reflect-101", "edcb|abcde|dcba: mirrored about the edge sample")                                     \
  B(WRAP, "wrap", "abcd|abcd|abcd: continued from the opposite edge")                                                  \
  B(RENORMALIZE, "renormalize", "Missing samples are left out; the remaining taps are scaled to the same sum")

#define CNV_COUNT_BORDER(id, nick, text) +1
#define CNV_N_BORDERS (CNV_BORDERS(CNV_COUNT_BORDER))

#ifdef __CUDACC__
#define CNV_HOST_DEVICE __host__ __device__
#else
#define CNV_HOST_DEVICE
#endif

/* Returns the index, 0..n-1, of the sample that replaces the one at index i, or -1 if none does (constant and
 * renormalize). i may be any distance outside. n: number of samples, at least 1. */
CNV_HOST_DEVICE static inline int
cnv_border_index(CnvBorder border, int i, int n)
{
  int period, m;

  if (i >= 0 && i < n)
    return i;
  switch (border) {
  case CNV_BORDER_REPLICATE:
    return i < 0 ? 0 : n - 1;
  case CNV_BORDER_REFLECT:
    period = 2 * n;
    m = (i % period + period) % period;
    return m < n ? m : period - 1 - m;
  case CNV_BORDER_REFLECT_101:
    if (n == 1)
      return 0;
    period = 2 * n - 2;
    m = (i % period + period) % period;
    return m < n ? m : period - m;
  case CNV_BORDER_WRAP:
    return (i % n + n) % n;
  default:
    return -1;
  }
}

/* Returns TRUE if a sample outside has a value of its own: the border colour. */
CNV_HOST_DEVICE static inline int
cnv_border_has_value(CnvBorder border)
{
  return border == CNV_BORDER_CONSTANT;
}

/* Returns TRUE if samples outside are left out, and the sum over the remaining samples is scaled. */
CNV_HOST_DEVICE static inline int
cnv_border_renormalizes(CnvBorder border)
{
  return border == CNV_BORDER_RENORMALIZE;
}

/* Returns TRUE if all samples beyond an edge have one value. */
CNV_HOST_DEVICE static inline int
cnv_border_repeats(CnvBorder border)
{
  return border == CNV_BORDER_CONSTANT || border == CNV_BORDER_REPLICATE || border == CNV_BORDER_RENORMALIZE;
}

/* Returns TRUE if a part of the frame may need samples from anywhere in the frame. FALSE: index -d (d at least 1) is
 * never replaced by an index above d, and likewise at the opposite edge. A part then needs only its own
 * neighbourhood. */
CNV_HOST_DEVICE static inline int
cnv_border_reads_far(CnvBorder border)
{
  switch (border) {
  case CNV_BORDER_CONSTANT:
  case CNV_BORDER_REPLICATE:
  case CNV_BORDER_REFLECT:
  case CNV_BORDER_REFLECT_101:
  case CNV_BORDER_RENORMALIZE:
    return 0;
  default:
    return 1;
  }
}
