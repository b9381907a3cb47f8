/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Chooses algorithms and kernel kinds for GPUs: `can` and `choose` of CnvBackend, and the kinds that filter the planes
 * of a plan. Among the kinds that fit (kinds.h), the cheapest is chosen.
 */
#pragma once

#include "gpu/kinds.h"

gboolean cnv_cuda_can(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane, GError **error);
CnvAlgorithm cnv_cuda_choose(const CnvPlan *plan, const CnvPlane *plane);

/* Do the same for GPUs of a given compute capability: ten times its major number plus its minor one. */
gboolean cnv_cuda_can_at(int capability, CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane,
                         GError **error);
CnvAlgorithm cnv_cuda_choose_at(int capability, const CnvPlan *plan, const CnvPlane *plane);

/* Returns the cheapest algorithm whose kinds have block jobs. */
CnvAlgorithm cnv_choose_blocks(const CnvPlan *plan, const CnvPlane *plane);

/* Chooses the kinds with tile jobs for those planes of a plan whose algorithms have such kinds, so that the frame costs
 * least. Planes of one kind share a launch. Fills in `kernel` and `needs` of each plane; kernel is CNV_N_KERNELS if
 * there is none. has_windows: jobs may have windows smaller than the plane. */
void cnv_choose_kinds(const CnvPlan *plan, gboolean has_windows, CnvPlaneKernel chosen[CNV_MAX_PLANES]);
