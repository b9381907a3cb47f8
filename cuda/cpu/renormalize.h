/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * CNV_BORDER_RENORMALIZE: taps that find no sample are left out, and the others scaled to the same sum (border.h).
 */
#pragma once

#include "cpu/types.h"

G_BEGIN_DECLS

/* Sums up the taps of a term, which has room for them. */
void cnv_cpu_renormalize_prepare(CpuTerm *term, const CnvPlan *plan);

/* Makes the factors for row y of a tile. All rows between the borders have the same, so that they are seldom made. */
void cnv_cpu_renormalize(CpuWorker *worker, const CpuTile *tile, int y);

G_END_DECLS
