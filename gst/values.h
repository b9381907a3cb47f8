/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kernels, rectangles and polygons as property values: a GstValueArray of numbers is a row, a rectangle or a polygon,
 * one of rows a 2D kernel, one of those a kernel over time, one of rectangles the value of `roi`, one of polygons that
 * of `roi-polygons`.
 */
#pragma once

#include <convolve/work.h>
#include <gst/gst.h>

/* Reads an array into *taps (NULL for an empty one: no taps). what: the property's name, for messages. rows: an
 * array of arrays is allowed. Returns FALSE, with *taps as it was and a message that names the place, the limit and
 * the remedy (CNV_ERROR_SETTINGS), where the array is not a kernel. */
gboolean gst_cuda_convolve_taps_from_value(const GValue *array, const char *what, gboolean rows, CnvTaps **taps,
                                           GError **error);

/* The text that an array of characters spells, which is what bindings like Python's make of a string; NULL for all
 * other arrays. */
char *gst_cuda_convolve_text_from_value(const GValue *array);

/* Fills an array that is initialised and empty. taps: NULL leaves it empty. */
void gst_cuda_convolve_taps_to_value(const CnvTaps *taps, GValue *array);

/* Reads and writes a list of rectangles <x,y,width,height> in the same way, in whole pixels or in fractions. Refuses a
 * rectangle outside a list. *rects: double, four to a rectangle, in an array that is never changed again; NULL for
 * none. */
gboolean gst_cuda_convolve_rects_from_value(const GValue *array, const char *what, GArray **rects, GError **error);
void gst_cuda_convolve_rects_to_value(const GArray *rects, GValue *array);

/* Reads and writes a list of polygons <x,y,x,y,x,y> in the same way, in pixels or in fractions. *polygons: for each a
 * GArray of double as in polygon.h, and none of these is ever changed again; NULL for none. */
gboolean gst_cuda_convolve_polygons_from_value(const GValue *array, const char *what, GPtrArray **polygons,
                                               GError **error);
void gst_cuda_convolve_polygons_to_value(const GPtrArray *polygons, GValue *array);
