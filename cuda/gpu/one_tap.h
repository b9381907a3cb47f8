/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the kinds one_tap and average share: one tap per frame, and no neighbours in the picture.
 */
#pragma once

#include "gpu/kinds.h"

/* The functions of CnvKernelKind. */
gboolean cnv_one_tap_fits(const CnvPlan *plan, const CnvPlane *plane, CnvNeeds *needs, GError **error);
void cnv_one_tap_set_job(CnvPlaneKernel *plane_kernel, GArray *words, const float *weight);
int cnv_one_tap_rows(const CnvVariant *variant, const CnvNeeds *needs, int rows);
