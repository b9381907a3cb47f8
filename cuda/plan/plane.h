/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The numbers of one plane and its terms: a plan fills them in, the CPU engine reads them, and kernels are passed them
 * as they are. Plain C without GLib. plan.h tells the arithmetic that they are for.
 */
#pragma once

#include <convolve/border.h>
#include <convolve/format.h>

#define CNV_MAX_TERMS 16

/* Place of a channel's samples in a frame. */
typedef struct {
  uint8_t plane;        /* of memory: index in CnvFrame.data */
  uint8_t bytes;        /* read and written at once, little endian: 1, 2 or 4; 0: it has no samples in a frame */
  uint8_t shift, bits;  /* of the value in them */
  uint8_t sub_x, sub_y; /* log2: the value is the mean over so many pixels and rows, cut off at the plane's edge. Not 0
                           for the weight of subsampled planes alone */
  uint16_t offset;      /* bytes to the row's first */
  uint16_t step;        /* bytes from pixel to pixel; with bytes 4 other channels' bits are in the same word */
} CnvComponent;

/* One convolution: a row times a column, or an array of taps. Its float32 taps are elsewhere: in a plan in
 * CnvPlan.taps, for kernels in constant memory. An axis of n taps is stored as its n taps and, for renormalize alone, n
 * + 1 prefix sums (0, t0, t0+t1, ...); equal axes are stored once. An array has no sums; a plan holds it row by row,
 * constant memory column by column. */
typedef struct {
  int n[CNV_N_AXES];         /* taps along x and y, at least 1 */
  int anchor[CNV_N_AXES];    /* index of the tap on the output sample */
  int separable;             /* a row times a column */
  int temporal_tap;          /* of a 3D kernel: number of the tap in time whose frame it is for; else -1 */
  uint32_t taps[CNV_N_AXES]; /* index of the first tap; not separable: taps[0] alone */
  float sum[CNV_N_AXES];     /* sum of the taps of an axis; not separable: of all, and 1 */
  float epsilon[CNV_N_AXES]; /* 1e-6 of the sum of magnitudes: renormalize takes a sum found up to it for 0 */
} CnvTerm;

enum { CNV_COMBINE_SUM, CNV_COMBINE_ABSOLUTE, CNV_COMBINE_MAGNITUDE };

struct CnvPlane {
  int width, height;             /* pixels */
  int image_width, image_height; /* of the frame; a subsampled weight is a mean over these */
  int sub_x, sub_y;              /* log2 of the luma pixels along each axis for one of this plane */
  int channels;                  /* 1..4 components */
  uint32_t filtered;             /* bit c: component c is filtered; 0: the whole plane is copied */
  uint32_t copied;               /* bit c: component c is copied. A component that is neither is not written */
  int plain;   /* an array of samples of 1 or 2 bytes, each filtered or copied, none a weight, with one mid and full:
                  the case that engines are fast at */
  int weight;  /* component that holds alpha or coverage, as the weight of the others; -1 none */
  int covered; /* the weight is coverage (0..255) or, if its component has bytes, alpha times coverage */
  int border;  /* CnvBorder */
  uint32_t algorithm; /* CnvAlgorithm, never AUTO but where nothing is filtered */
  CnvComponent component[CNV_MAX_CHANNELS];

  /* Mosaic: the cells whose means the terms take (cells.h), in luma samples, and log2 of those from one sample to the
   * next; 0: none. */
  int cell[CNV_N_AXES], cell_shift[CNV_N_AXES];

  int combine; /* CNV_COMBINE_SUM... */
  int joint;   /* renormalize multiplies the sum of all terms by one factor, sum / found; else each by its own */
  int n_terms;
  CnvTerm term[CNV_MAX_TERMS];
  float sum, epsilon;              /* as in CnvTerm, of all terms added up */
  float alpha_norm, alpha_epsilon; /* the same with the weights in time, for premultiply */

  float mid[CNV_MAX_CHANNELS], full[CNV_MAX_CHANNELS]; /* mid 0 for a weight */
  float gain[CNV_MAX_CHANNELS], fraction[CNV_MAX_CHANNELS];
  int base[CNV_MAX_CHANNELS];                                /* even, at most 2^20 either way */
  float lowest[CNV_MAX_CHANNELS], highest[CNV_MAX_CHANNELS]; /* -base and full - base: the values of 0 and full */
  float mid_bias[CNV_MAX_CHANNELS];     /* CNV_COMBINE_ABSOLUTE: the mid that was taken off, times the taps' sum */
  float border_value[CNV_MAX_CHANNELS]; /* a component of a missing sample, where the mode has a value */
};
typedef struct CnvPlane CnvPlane;

/* Place of a channel of a plane of the format, without a mean. */
CnvComponent cnv_format_component(const CnvFormat *format, int plane, int channel);
