/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kernels, rectangles and polygons as property values. A GstValueArray of numbers is a row, a rectangle or a polygon.
 * An array of these is a 2D kernel, the value of `roi` or the value of `roi-polygons`. An array of 2D kernels is a 3D
 * kernel.
 */
#pragma once

#include <convolve/work.h>
#include <gst/gst.h>

/* Reads an array into *taps; NULL for an empty array. what: name of the property, for messages. rows: an array of
 * arrays is allowed. If the array is not a valid kernel, returns FALSE with CNV_ERROR_SETTINGS and leaves *taps
 * unchanged. The message names the place, the limit and the fix. */
gboolean gst_cuda_convolve_taps_from_value(const GValue *array, const char *what, gboolean rows, CnvTaps **taps,
                                           GError **error);

/* Returns the text of an array of characters, or NULL for all other arrays. Bindings, for example of Python, convert
 * strings to such arrays. */
char *gst_cuda_convolve_text_from_value(const GValue *array);

/* Fills an initialised empty array. taps: NULL leaves it empty. */
void gst_cuda_convolve_taps_to_value(const CnvTaps *taps, GValue *array);

/* Read and write a list of rectangles <x,y,width,height>, in whole pixels or in fractions, like taps. A rectangle
 * outside a list is rejected. *rects: array of double, four per rectangle, which is never changed afterwards; NULL for
 * none. */
gboolean gst_cuda_convolve_rects_from_value(const GValue *array, const char *what, GArray **rects, GError **error);
void gst_cuda_convolve_rects_to_value(const GArray *rects, GValue *array);

/* Read and write a list of polygons <x,y,x,y,x,y>, in pixels or in fractions, like taps. *polygons: for each polygon a
 * GArray of double as in polygon.h, which is never changed afterwards; NULL for none. */
gboolean gst_cuda_convolve_polygons_from_value(const GValue *array, const char *what, GPtrArray **polygons,
                                               GError **error);
void gst_cuda_convolve_polygons_to_value(const GPtrArray *polygons, GValue *array);
