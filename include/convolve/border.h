/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The samples outside a plane. For a row abcd:
 *
 *   constant     kkkk|abcd|kkkk    k: the border colour
 *   replicate    aaaa|abcd|dddd
 *   reflect      dcba|abcd|dcba
 *   reflect-101  .dcb|abcd|cba.    (SciPy and CuPy: "mirror")
 *   wrap         abcd|abcd|abcd
 *   renormalize  where samples are missing they are left out and the sum of the others is multiplied by S/P, S being
 *                the sum of all taps and P that of the taps that found a sample; by 0, which gives mid-grey, where P
 *                is 0 to within 1e-6 of the sum of all magnitudes. For separable taps axis by axis
 *
 * A mode is a branch of cnv_border_index and its answers to the questions below; no kernel or loop knows modes by
 * name. This header is plain C without GLib, shared by the CPU engine and the CUDA kernels.
 */
#pragma once

#include "enums.h"

#define CNV_N_BORDERS (CNV_BORDER_RENORMALIZE + 1)

#ifdef __CUDACC__
#define CNV_HOST_DEVICE __host__ __device__
#else
#define CNV_HOST_DEVICE
#endif

/* Returns the index in 0..n-1 of the sample that stands for index i, exact for any distance outside, or -1 where there
 * is none (constant and renormalize). n: at least 1. */
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

/* TRUE where a missing sample has a value of its own, the border colour. */
CNV_HOST_DEVICE static inline int
cnv_border_has_value(CnvBorder border)
{
  return border == CNV_BORDER_CONSTANT;
}

/* TRUE where missing samples are left out and the sum of the others is scaled. */
CNV_HOST_DEVICE static inline int
cnv_border_renormalizes(CnvBorder border)
{
  return border == CNV_BORDER_RENORMALIZE;
}

/* TRUE where all samples beyond an edge are alike. */
CNV_HOST_DEVICE static inline int
cnv_border_repeats(CnvBorder border)
{
  return border == CNV_BORDER_CONSTANT || border == CNV_BORDER_REPLICATE || border == CNV_BORDER_RENORMALIZE;
}

/* FALSE where index -d (d at least 1) never stands for one above d, and likewise at the other edge: a part of the frame
 * then needs no more than its own neighbourhood. A mode that is not listed needs the whole frame. */
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
