/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Polygons to weights, one per luma pixel: the part of the pixel's area that is inside, by the even-odd rule.
 *
 * Points are a GArray of double: x and y of each in luma pixels, all finite. The last is joined to the first.
 */
#pragma once

#include <convolve/work.h>

/* Most points of all polygons of a property. */
#define GST_CUDA_CONVOLVE_POLYGON_POINTS 1024

/* Returns the corners of a box turned clockwise about its centre, or points around the ellipse inscribed in it. box:
 * x, y, width and height before the turn. angle: radians, finite. shape: CNV_SHAPE_RECTANGLE or _ELLIPSE. */
GArray *gst_cuda_convolve_polygon_of_box(const double box[4], double angle, CnvShape shape);

/* Sets x, y, width and height of the upright rectangle around a polygon. */
void gst_cuda_convolve_polygon_bounds(const GArray *points, double bounds[4]);

/* Returns the pixels that a polygon can touch and that are at most `reach` pixels from the frame; a rectangle of
 * width or height 0 if there are none. */
CnvRect gst_cuda_convolve_polygon_rect(const GArray *points, double reach, const CnvImage *image);

/* Writes the weights of a rectangle's pixels, row by row, 255 for 1, and sets *shows to TRUE if a weight is above 0.
 * If `weights` is NULL, stops at the first such weight. Returns FALSE if there is no memory. */
gboolean gst_cuda_convolve_polygon_draw(const GArray *points, const CnvRect *rect, guint8 *weights, gboolean *shows);
