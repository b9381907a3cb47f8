/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the engine should compute, in float64, written from the specification without any code of the engine: its own
 * taps, borders, chroma scaling, regions and rounding. Of the engine it uses the format table (how samples lie in
 * memory) and the plain values of a filter and of work.
 */
#pragma once

#include "convolve/backend.h"

/* Where a channel's samples lie: x * step + offset bytes from a row's first, in little-endian numbers of so many bytes.
 */
typedef struct {
  int plane, offset, step, bytes, shift, depth;
} OracleComponent;

OracleComponent oracle_component(const CnvFormat *format, int plane, int channel);

/* Size of a plane in pixels; number of planes of memory, and of each the bytes of a row's samples and the rows. */
int oracle_plane_width(const CnvFormat *format, int plane, int width);
int oracle_plane_height(const CnvFormat *format, int plane, int height);
int oracle_n_frame_planes(const CnvFormat *format);
int oracle_row_bytes(const CnvFormat *format, int memory, int width);
int oracle_rows(const CnvFormat *format, int memory, int height);

/* The whole number that holds sample x of a row, padding and other channels' bits too; and the sample's value. */
guint oracle_raw(const OracleComponent *component, const guint8 *row, int x);
int oracle_value(const OracleComponent *component, const guint8 *row, int x);

/* TRUE where a filter changes that channel; else it is copied. */
gboolean oracle_filters(const CnvFilter *filter, const CnvFormat *format, int plane, int channel);

/* To nearest, ties to even, limited to 0..full. */
int oracle_round(double value, int full);

typedef struct {
  double value; /* before rounding and clamping */
  enum {
    ORACLE_FILTERED,
    ORACLE_COPIED, /* equal to the input's */
    ORACLE_OPEN,   /* too near to where the result jumps: not to be tested */
  } rule;
} OracleSample;

/* The frames around the output's, and which of them there are. */
typedef struct {
  const CnvFrame *frame; /* in host plane, by their numbers */
  int first, end;        /* those from a cut, or the clip's first, up to the next one */
  int now;               /* number of the output's frame */
  CnvTemporalBorder border;
} OracleClip;

/* What a sample may be. Both are the same, unless float32 may round a region's weight up or down. */
typedef struct {
  OracleSample either[2];
} OracleExpected;

/* What is done to a frame. */
typedef struct {
  const CnvImage *image;
  const CnvFilter *filter; /* one a plan */
  const CnvWork *work;     /* its plans are not looked at */
  const CnvFrame *in;      /* in host plane; of a clip the output's frame */
  const OracleClip *clip;  /* for filters with taps in time; else NULL */
} OracleWork;

/* A channel of the output, row by row; g_free. */
OracleExpected *oracle_channel(const OracleWork *work, int plane, int channel);
