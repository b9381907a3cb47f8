/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Arithmetic on arrays of taps, private to the engine. Functions that return taps return new ones.
 */
#pragma once

#include <convolve/filter.h>

G_BEGIN_DECLS

/* Moves taps that lie one sample apart onto a grid of step samples (1, 2 or 4), about the anchor: a tap at offset o
 * goes to offset o/step, split linearly between its two neighbours there. Sum and first moment stay. flip: taps change
 * sides about the anchor. anchor: number of the tap on the output sample along each axis, before and after; after a
 * step above 1 it is the middle one. */
CnvTaps *cnv_taps_gather(const CnvTaps *taps, const int step[CNV_N_AXES], gboolean flip, int anchor[CNV_N_AXES]);

/* Adds a point at column x, row y, split linearly between the four taps around it. */
void cnv_taps_add_point(CnvTaps *taps, double x, double y, double value);

/* Takes taps apart into outer products of a row and a column, exact to within 1e-9 of the largest tap. Several are
 * orthogonal, with a row as long as its column: the singular vectors. Returns the number of products, at least 1; 0
 * where it would exceed max_rank (up to CNV_MAX_TERMS). */
int cnv_taps_factor(const CnvTaps *taps, int max_rank, CnvTaps *row[], CnvTaps *column[]);

/* TRUE where a volume is one of its frames times weights in time, to within 1e-9 of the largest tap; fills in the
 * number of that frame and a weight for each. */
gboolean cnv_taps_split_time(const CnvTaps *taps, double weight[], int *frame);

double cnv_taps_sum(const CnvTaps *taps);       /* of one frame */
double cnv_taps_magnitude(const CnvTaps *taps); /* sum of the taps' magnitudes */

/* Multiplies taps that are not shared yet, in place. */
CnvTaps *cnv_taps_scale(CnvTaps *taps, double factor);

/* FALSE with the error where a sum of magnitudes is beyond CNV_TAPS_MAX. what: the taps, for the message. */
gboolean cnv_taps_check_magnitude(double magnitude, const char *what, GError **error);

G_END_DECLS
