/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Cuts work into patches, private to the engine.
 */
#pragma once

#include <convolve/work.h>

#include "patch.h"

G_BEGIN_DECLS

/* Replaces the contents of both arrays (of CnvPatch and CnvSpot), which keep their memory. Patches of one plan, plane,
 * field and layer do not overlap, each has at least one sample, and none is of a plane that is only copied. Without
 * everything and invert they cover little more than the regions. Work for the whole frame gives one patch a plane and
 * field. */
void cnv_patches_make(const CnvWork *work, GArray *patches, GArray *spots);

G_END_DECLS
