/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the engine should compute, in float64, written from the specification without code of the engine: it has its own
 * taps, borders, chroma scaling, regions and rounding. From the engine it uses the table of formats (how samples are
 * stored) and the plain values of a filter and of work.
 */
#pragma once

#include "convolve/backend.h"

/* Where a channel's samples are: x * step + offset bytes from the start of a row, in little-endian numbers of `bytes`
 * bytes. */
typedef struct {
  int plane, offset, step, bytes, shift, depth;
} OracleComponent;

OracleComponent oracle_component(const CnvFormat *format, int plane, int channel);

/* Return the width and height of a plane in pixels; a format's number of planes of memory; and the bytes per row and
 * the number of rows of a plane of memory. */
int oracle_plane_width(const CnvFormat *format, int plane, int width);
int oracle_plane_height(const CnvFormat *format, int plane, int height);
int oracle_n_frame_planes(const CnvFormat *format);
int oracle_row_bytes(const CnvFormat *format, int memory, int width);
int oracle_rows(const CnvFormat *format, int memory, int height);

/* Return the whole number that contains sample x of a row, with padding and other channels' bits; and the sample's
 * value. */
guint oracle_raw(const OracleComponent *component, const guint8 *row, int x);
int oracle_value(const OracleComponent *component, const guint8 *row, int x);

/* Returns TRUE if a filter filters that channel; else the channel is copied. */
gboolean oracle_filters(const CnvFilter *filter, const CnvFormat *format, int plane, int channel);

/* Returns the value rounded to nearest, ties to even, and clamped to 0..full. */
int oracle_round(double value, int full);

/* Returns the index of the sample that replaces the one at index i of n, or -1 if none does. */
int oracle_border_index(CnvBorder border, int i, int n);

typedef struct {
  double value; /* before rounding and clamping */
  enum {
    ORACLE_FILTERED,
    ORACLE_COPIED, /* equal to the input's sample */
    ORACLE_OPEN,   /* not tested: too close to a place where the result jumps */
  } rule;
} OracleSample;

/* The frames around the output's frame, as far as they exist. */
typedef struct {
  const CnvFrame *frame; /* in host memory, by number */
  int first, end;        /* first: the clip's first frame or the first after a cut; end: the next cut, or the end of the
                            clip */
  int now;               /* number of the output's frame */
  CnvTemporalBorder border;
} OracleClip;

/* The values that a sample may have. Both are equal, unless float32 may round a region's weight up or down. */
typedef struct {
  OracleSample either[2];
} OracleExpected;

/* The work on a frame. */
typedef struct {
  const CnvImage *image;
  const CnvFilter *filter; /* one per plan */
  const CnvWork *work;     /* its plans are not used */
  const CnvFrame *in;      /* in host memory; in a clip, the output's frame */
  const OracleClip *clip;  /* for filters with taps in time; else NULL */
} OracleWork;

/* Returns the expected samples of a channel of the output, row by row. Free with g_free. */
OracleExpected *oracle_channel(const OracleWork *work, int plane, int channel);
