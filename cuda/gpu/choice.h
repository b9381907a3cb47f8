/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which algorithms GPUs can run on a plane, and which of them is the fastest: `can` and `choose` of CnvBackend; and
 * which kinds of kernels filter the planes. Both follow from the rows of kinds.h: of the kinds that fit, the cheapest
 * is chosen.
 */
#pragma once

#include "gpu/kinds.h"

gboolean cnv_cuda_can(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane, GError **error);
CnvAlgorithm cnv_cuda_choose(const CnvPlan *plan, const CnvPlane *plane);

/* Does the same for GPUs of a given compute capability: ten times its major number plus its minor one. */
gboolean cnv_cuda_can_at(int capability, CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane,
                         GError **error);
CnvAlgorithm cnv_cuda_choose_at(int capability, const CnvPlan *plan, const CnvPlane *plane);

/* Returns the cheapest algorithm whose kinds have block jobs. */
CnvAlgorithm cnv_choose_blocks(const CnvPlan *plan, const CnvPlane *plane);

/* Chooses the kinds with tile jobs for those planes of a plan whose algorithms have such kinds, so that the frame costs
 * least. Planes of one kind share a launch. Fills in `kernel` and `needs` of each plane; kernel is CNV_N_KERNELS if
 * there is none. has_windows: jobs may have windows smaller than the plane. */
void cnv_choose_kinds(const CnvPlan *plan, gboolean has_windows, CnvPlaneKernel chosen[CNV_MAX_PLANES]);
