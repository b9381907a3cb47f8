/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What tests and the benchmark may ask of a CUDA session beyond convolve/backend.h.
 */
#pragma once

#include "plan/plan.h"

#include "gpu/driver.h"

G_BEGIN_DECLS

/* The stream that all work of the session goes to. */
CUstream cnv_cuda_session_stream(CnvSession *session);

/* In how many slices the last frame's kernels ran. */
int cnv_cuda_session_slices(CnvSession *session);

/* Starts the copy kernel over all planes of the plan's frames, in one launch. Both frames in device memory. */
gboolean cnv_cuda_session_copy(CnvSession *session, const CnvPlan *plan, const CnvFrame *in, const CnvFrame *out,
                               GError **error);

G_END_DECLS
