/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A launch as its kernel's code sees it.
 */
#pragma once

#include "samples.h"

G_BEGIN_DECLS

/* Kernels of wide gaussians. */
typedef enum { NO_DECIMATION, DECIMATES, DECIMATES_AGAIN, INTERPOLATES } Decimation;

/* The variant that a name ends in; what a kind of kernel has none of is 0. */
typedef struct {
  int bytes;    /* of a sample */
  int k_x, k_y; /* blur, of a ring k_x alone; dense: k_x */
  int groups;   /* of 16 samples, blur */
  int ring;     /* blur: 16 rows of a round, or 0 */
  int parts;    /* f16 numbers of a tap, blur */
  gboolean is_fused, is_one_tap;
  gboolean is_over_time; /* blur */
  gboolean is_plain;     /* no job has coverage */
  gboolean pixels;       /* blur: words of four channels */
  gboolean weighed;      /* blur: samples by their coverage */
  int terms;             /* dense */
  int digits, rows;      /* dense; rows of taps in registers, or 0 */
  int pairs;             /* dense: of frames, or 0 */
  Decimation decimation;
  int channels; /* decimate, interpolate: at most */
} Variant;

typedef struct {
  const char *name;
  Variant variant;
  const Op *op;
  const LaunchSize *size;
  const void *args;
  const float *taps; /* constant memory */
} KernelRun;

/* blocks.c: kernels with CnvBlockArgs. */
void blocks_sums(const KernelRun *run); /* naive, tiled */
void blocks_rows(const KernelRun *run);
void blocks_columns(const KernelRun *run);
void blocks_texture(const KernelRun *run);
void blocks_mosaic(const KernelRun *run);
void blocks_cells(const KernelRun *run);
void blocks_stage_in(const KernelRun *run);
void blocks_stage_out(const KernelRun *run);
void blocks_cover(const KernelRun *run); /* with CnvCoverArgs */

/* tiles.c: kernels with CnvTileArgs. */
void tiles_fused(const KernelRun *run);
void tiles_one_tap(const KernelRun *run);
void tiles_blur(const KernelRun *run);
void tiles_dense(const KernelRun *run);

/* decimated.c: kernels with CnvTileArgs. */
void tiles_decimate(const KernelRun *run);
void tiles_decimate_again(const KernelRun *run);
void tiles_interpolate(const KernelRun *run);

G_END_DECLS
