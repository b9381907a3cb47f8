/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Arithmetic on arrays of taps, private to the engine.
 */
#pragma once

#include <convolve/filter.h>

G_BEGIN_DECLS

/* Moves taps that lie one sample apart onto a grid of step samples (1, 2 or 4), about the anchor: a tap at offset o
 * goes to offset o/step, split linearly between its two neighbours there. Sum and first moment stay. Returns new taps.
 */
CnvTaps *cnv_taps_gather(const CnvTaps *taps, const int step[CNV_N_AXES]);

/* Where taps are the outer product of a row and a column to within 1e-9 of the largest, makes both and returns TRUE. */
gboolean cnv_taps_factor(const CnvTaps *taps, CnvTaps **row, CnvTaps **column);

gboolean cnv_taps_finite(const CnvTaps *taps);

G_END_DECLS
