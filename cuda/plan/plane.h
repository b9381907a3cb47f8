/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The numbers of one plane and its terms. A plan fills them in, the CPU engine reads them, and kernels receive them
 * unchanged. plan.h states the arithmetic. Plain C without GLib.
 */
#pragma once

#include <convolve/border.h>
#include <convolve/format.h>

#define CNV_MAX_TERMS 16

/* Where a channel's samples are in a frame. */
typedef struct {
  uint8_t plane;        /* index in CnvFrame.data */
  uint8_t bytes;        /* bytes per read and write, little endian: 1, 2 or 4; 0: the component has no samples in a
                           frame */
  uint8_t shift, bits;  /* position and number of the value's bits in them */
  uint8_t sub_x, sub_y; /* log2 of the columns and rows of pixels whose mean is the value, cut off at the plane's edge.
                           Above 0 only for the weight of subsampled planes */
  uint16_t offset;      /* from the start of a row to its first sample, in bytes */
  uint16_t step;        /* bytes from pixel to pixel; if bytes is 4, other channels have bits in the same word */
} CnvComponent;

/* One convolution: a row times a column, or a dense array of taps. The float32 taps are elsewhere: in CnvPlan.taps, and
 * in constant memory for kernels. An axis of n taps is stored as its n taps and, only for renormalize, n + 1 prefix
 * sums (0, t0, t0+t1, ...). Equal axes are stored once. A dense array has no prefix sums. A plan stores it row by row,
 * constant memory column by column. */
typedef struct {
  int n[CNV_N_AXES];         /* taps along x and y, at least 1 */
  int anchor[CNV_N_AXES];    /* index of the tap on the output sample */
  int separable;             /* TRUE: a row times a column */
  int temporal_tap;          /* 3D kernel: index of the tap in time whose frame the term filters; else -1 */
  uint32_t taps[CNV_N_AXES]; /* index of the first tap; not separable: only taps[0] */
  float sum[CNV_N_AXES];     /* sum of the taps of an axis; not separable: of all taps, and 1 */
  float epsilon[CNV_N_AXES]; /* 1e-6 of the sum of the magnitudes: renormalize treats a sum up to this as 0 */
} CnvTerm;

enum { CNV_COMBINE_SUM, CNV_COMBINE_ABSOLUTE, CNV_COMBINE_MAGNITUDE };

struct CnvPlane {
  int width, height;             /* pixels */
  int format_plane;              /* the format's plane that it belongs to */
  int image_width, image_height; /* size of the frame; a subsampled weight is a mean over its pixels */
  int sub_x, sub_y;              /* log2 of the luma pixels per pixel along each axis */
  int channels;                  /* number of components, 1..4 */
  uint32_t filtered;             /* bit c: component c is filtered; 0: the whole plane is copied */
  uint32_t copied;               /* bit c: component c is copied. A component that is neither is not written */
  int plain;   /* TRUE: an array of samples of 1 or 2 bytes, each filtered or copied, none a weight, all with the same
                  mid and full. Engines have fast code for this case */
  int weight;  /* component that holds alpha or coverage, the weight of all other components; -1: none */
  int covered; /* TRUE: the weight is coverage (0..255) or, if its component has bytes, alpha times coverage */
  int border;  /* CnvBorder */
  uint32_t algorithm; /* CnvAlgorithm; AUTO only if nothing is filtered */
  CnvComponent component[CNV_MAX_CHANNELS];

  /* Mosaic: size of the cells whose means the terms read (cells.h), in luma samples, and log2 of the distance of the
   * plane's samples, in luma samples. 0: no mosaic. */
  int cell[CNV_N_AXES], cell_shift[CNV_N_AXES];

  int combine; /* one of CNV_COMBINE_SUM and so on */
  int joint;   /* TRUE: renormalize multiplies the sum of all terms by one factor, sum / found; FALSE: each term by its
                  own */
  int n_terms;
  CnvTerm term[CNV_MAX_TERMS];
  float sum, epsilon;              /* as in CnvTerm, for all terms added up */
  float alpha_norm, alpha_epsilon; /* like sum and epsilon, but with the weights in time, for premultiply */

  float mid[CNV_MAX_CHANNELS], full[CNV_MAX_CHANNELS]; /* mid is 0 for a weight */
  float gain[CNV_MAX_CHANNELS], fraction[CNV_MAX_CHANNELS];
  int base[CNV_MAX_CHANNELS];                                /* an even number, -2^20..2^20 */
  float lowest[CNV_MAX_CHANNELS], highest[CNV_MAX_CHANNELS]; /* -base and full - base: the values of 0 and full */
  float mid_bias[CNV_MAX_CHANNELS];     /* CNV_COMBINE_ABSOLUTE: the subtracted mid, times the sum of the taps */
  float border_value[CNV_MAX_CHANNELS]; /* value of a missing sample's component, if the mode has one */
};
typedef struct CnvPlane CnvPlane;

/* Returns where a channel of a plane of the format is in a frame. sub_x and sub_y are 0. */
CnvComponent cnv_format_component(const CnvFormat *format, int plane, int channel);
