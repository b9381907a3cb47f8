/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which algorithms GPUs can run on a plane, and which of them is the fastest: `can` and `choose` of CnvBackend.
 */
#pragma once

#include "plan/plan.h"

gboolean cnv_cuda_can(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane, GError **error);
CnvAlgorithm cnv_cuda_choose(const CnvPlan *plan, const CnvPlane *plane);

/* The same for GPUs of a compute capability: ten times its major number, and its minor one. */
gboolean cnv_cuda_can_at(int capability, CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane,
                         GError **error);
CnvAlgorithm cnv_cuda_choose_at(int capability, const CnvPlan *plan, const CnvPlane *plane);
