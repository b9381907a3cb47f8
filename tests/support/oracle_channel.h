/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The interface between the oracle's two halves: what a filter does to a channel (oracle.c), and what regions do to a
 * frame (oracle_regions.c).
 */
#pragma once

#include "support/oracle.h"
#include "support/oracle_time.h"

/* A field: rows first, first + step, and so on. */
typedef struct {
  int first, step;
} OracleField;

int oracle_field_rows(OracleField field, int rows);

/* The input of one kernel in the picture: frames added up by their weights in time. alpha: the weights of samples. They
 * are alpha, or the part of a sample that belongs to an isolated region, or the product of both. */
typedef struct {
  OracleKernel kernel;
  double weight;   /* sum of the weights in time */
  double *in;      /* distances from mid */
  double *alpha;   /* as many numbers if samples are weighted; else NULL */
  double *product; /* of both, computed frame by frame */
} OracleSlice;

/* A channel of one field under one filter. */
typedef struct {
  const CnvFilter *filter;
  guint role;
  gboolean neutral; /* chroma under a gradient */
  int width, height, full, alpha_full;
  double mid, missing, missing_alpha, color; /* color: of a fill */
  double sum, magnitudes;                    /* of the taps */
  int corner[CNV_N_AXES];                    /* corner of a mosaic's first cell */
  double *now;                               /* values of the output's frame */
  const double *doubt;                       /* how far each of OracleInside.part may be off, or NULL */
  /* With temporal-threshold: the values of each frame that counts, its weight, and which one is the output's. */
  int n_frames, own;
  double *frame[CNV_MAX_TEMPORAL_TAPS], frame_weight[CNV_MAX_TEMPORAL_TAPS];
  int n_slices; /* 1; one per tap in time if the kernel is not time-separable; 0 for neutral */
  OracleSlice slice[CNV_MAX_TEMPORAL_TAPS];
} OracleChannel;

/* Returns the values of a channel's samples. Free with g_free. */
double *oracle_read(const OracleWork *work, OracleField field, int plane, int channel);

/* The part of each sample of a field that may be read, 0..1, and how far float32 may be off in it. */
typedef struct {
  double *part, *doubt;
} OracleInside;

/* Returns a channel, to be cleared with oracle_channel_clear. inside: its arrays are NULL if everything may be read;
 * doubt must outlive the channel. */
OracleChannel oracle_channel_new(const OracleWork *work, const CnvFilter *filter, OracleField field, int plane,
                                 int channel, OracleInside inside);
void oracle_channel_clear(OracleChannel *channel);

/* Computes the slice of a channel with temporal-threshold, for the samples of a window. */
void oracle_average(const OracleChannel *channel, CnvRect window);

/* Returns the filtered samples of area, row by row, computed only from samples of window. Free with g_free. Both lie
 * within the field, and window has at least one sample. */
OracleSample *oracle_filter_area(const OracleChannel *channel, CnvRect window, CnvRect area);
