/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Runs of taps that are all alike along an axis, as a box has them: their sums hardly cost more for many taps than for
 * few.
 */
#pragma once

#include "cpu/types.h"

G_BEGIN_DECLS

/* The run of an axis that is worth summing; n 0: none. */
CpuTapRange cnv_cpu_run_of(const float *taps, int n);

/* Sums of a term that has a run down the rows, for CNV_CPU_ROWS rows of a tile from number y on, in order from 0 on.
 * rows: as for CpuSimd.column; n: samples of a row. */
void cnv_cpu_slide(const CpuTile *tile, const CpuTerm *term, CpuTermState *state, const float *const *rows, int y,
                   int n);

G_END_DECLS
