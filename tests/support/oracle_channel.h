/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Between the oracle's two halves: what a filter does to a channel (oracle.c), and what regions do to a frame
 * (oracle_regions.c).
 */
#pragma once

#include "support/oracle.h"
#include "support/oracle_time.h"

/* A field: rows first, first + step, ... */
typedef struct {
  int first, step;
} OracleField;

int oracle_field_rows(OracleField field, int rows);

/* What one kernel in the picture is applied to: frames added up by their weights in time. alpha: what weighs samples,
 * which is alpha, or how much of them belongs to an isolated region, or the product of both. */
typedef struct {
  OracleKernel kernel;
  double weight;   /* all of them */
  double *in;      /* distances from mid */
  double *alpha;   /* where samples are weighted, as many; else NULL */
  double *product; /* of both, taken frame by frame */
} OracleSlice;

/* A channel of one field under one filter. */
typedef struct {
  const CnvFilter *filter;
  guint role;
  gboolean neutral; /* chroma under a gradient */
  int width, height, full, alpha_full;
  double mid, missing, missing_alpha, color; /* color: of a fill */
  double sum, magnitudes;                    /* of the taps */
  int corner[CNV_N_AXES];                    /* of the first cell of a mosaic */
  double *now;                               /* values of the output's frame */
  const double *doubt;                       /* how far each of `inside` may be off, or NULL */
  int n_slices; /* one, or where the kernel is not time-separable one for each tap in time; none for neutral */
  OracleSlice slice[CNV_MAX_TEMPORAL_TAPS];
} OracleChannel;

/* Values of a channel's samples; g_free. */
double *oracle_read(const OracleWork *work, OracleField field, int plane, int channel);

/* What may be read of each sample of a field, 0..1, and how far float32 may be off in it. */
typedef struct {
  double *part, *doubt;
} OracleInside;

/* inside: its parts are NULL if all may be read; the doubt has to outlive the channel. */
OracleChannel oracle_channel_new(const OracleWork *work, const CnvFilter *filter, OracleField field, int plane,
                                 int channel, OracleInside inside);
void oracle_channel_clear(OracleChannel *channel);

/* The filtered samples of area, seeing no others than window's, row by row; g_free. Both lie within the field, and
 * window has a sample. */
OracleSample *oracle_filter_area(const OracleChannel *channel, CnvRect window, CnvRect area);
