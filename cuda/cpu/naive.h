/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The reference that every faster engine is checked against: each output sample by itself, straight from the
 * definitions in plan.h, border.h and work.h, in double. It is meant to be read.
 */
#pragma once

#include "cpu/types.h"

G_BEGIN_DECLS

/* Writes the filtered components alone. */
void cnv_cpu_naive(const CpuTile *tile);

G_END_DECLS
