/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The part of schedule.h that is about strips: kernels that do a job in one launch. One variant of each kind takes
 * all planes of the work that are done by it, so that they share a launch; a plane that it cannot take along with the
 * others goes to another rung, as do jobs that ask for more than strips know.
 */
#pragma once

#include "gpu/schedule.h"

G_BEGIN_DECLS

/* Returns FALSE with the reason (CNV_ERROR_UNSUPPORTED) where fused, or tensor, cannot do the plane. */
gboolean cnv_strips_fit(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlanPlane *plane, GError **error);

/* Settles variants and bands; the plans and planes of the table are set. */
void cnv_strips_set_plans(CnvSchedule *table);

/* The rung for a job: that of its plane, or SEPARABLE or TILED. */
CnvAlgorithm cnv_strips_algorithm(const CnvSchedule *table, const CnvRectJob *job);

/* The name of the variant, or NULL where no plane is done by that kind. */
const CnvKernelName *cnv_strips_kernel(const CnvSchedule *table, CnvKernelKind kind);

/* Appends the launches for jobs first to last - 1, of one batch. */
void cnv_strips_add(CnvSchedule *table, guint batch, guint first, guint last);

G_END_DECLS
