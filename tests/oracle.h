/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the engine should compute, in float64, written from the specification without any code of the engine: its own
 * taps, borders, chroma scaling and rounding. Of the engine it uses the format table (how samples lie in memory) and
 * the plain values of a filter.
 */
#pragma once

#include "convolve/plan.h"

/* Bytes of a row of the plane's samples, and its size in pixels. */
int oracle_plane_width(const CnvFormat *format, int plane, int width);
int oracle_plane_height(const CnvFormat *format, int plane, int height);
int oracle_row_bytes(const CnvFormat *format, int plane, int width);

/* Bit c: channel c is filtered; the others are copied. */
guint oracle_filtered(const CnvFormat *format, int plane);

/* The raw number (value and padding bits) of sample i of a row, at any address. */
guint oracle_raw(const CnvFormat *format, const guint8 *row, int i);
int oracle_value(const CnvFormat *format, const guint8 *row, int i);

/* To nearest, ties to even, limited to 0..full. */
int oracle_round(double value, int full);

/* The value of each sample of the plane before rounding and clamping, in memory order; g_free. */
double *oracle_plane(const CnvFilter *filter, const CnvImage *image, int plane, const guint8 *data, int stride);
