/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A plan: all that the engine derives from a filter, a format and a size. A plan never changes, so threads may share
 * references to it. If the filter, format or size changes, make a new plan.
 */
#pragma once

#include "filter.h"
#include "format.h"

#define CNV_SIZE_MAX 32768 /* width and height of a frame */

/* Nicks of CnvAlgorithm. */
extern const CnvNick cnv_algorithm_nicks[];

/* The frames that a plan is for. */
typedef struct {
  const CnvFormat *format;
  int width, height;   /* luma pixels, 1..CNV_SIZE_MAX */
  double kr, kb;       /* luma coefficients of the YUV matrix, to convert colours: 0.2126 and 0.0722 for BT.709 */
  gboolean full_range; /* YUV and grey: TRUE for 0..2^depth-1, FALSE for 16..235 (chroma 16..240) scaled to the depth */
} CnvImage;

typedef struct CnvBackend CnvBackend;
typedef struct CnvPlan CnvPlan;
typedef struct CnvPlane CnvPlane; /* one plane of a CnvPlan */

/* Returns a new plan, to be freed with cnv_plan_unref, or NULL with an error. CNV_ERROR_SETTINGS: the filter is not
 * valid. CNV_ERROR_UNSUPPORTED: the requested algorithm cannot run it; the message names the reason and the choices. */
CnvPlan *cnv_plan_new(const CnvFilter *filter, const CnvImage *image, CnvAlgorithm requested, const CnvBackend *backend,
                      GError **error);
CnvPlan *cnv_plan_ref(CnvPlan *plan);
void cnv_plan_unref(CnvPlan *plan); /* NULL is allowed */

/* Returns TRUE if the output equals the input: every filtered channel has one tap, gain 1 and no offset. */
gboolean cnv_plan_is_identity(const CnvPlan *plan);

/* Returns TRUE if the bias exceeds what the taps can produce, so that a channel is 0 or full scale for any input. */
gboolean cnv_plan_saturates(const CnvPlan *plan);

/* Returns TRUE if the plan's taps allow the normalised convolution of work.h, which isolates ellipses, masks and
 * inverted regions; else FALSE with CNV_ERROR_SETTINGS. Any thread. */
gboolean cnv_plan_can_isolate(const CnvPlan *plan, GError **error);

/* Returns the backend that the plan was made for. */
const CnvBackend *cnv_plan_backend(const CnvPlan *plan);

/* Returns the number of input frames for one output frame: 1 for a filter without taps in time. Stores in *center
 * (unless center is NULL) the index of the input frame that the output belongs to. */
int cnv_plan_frames(const CnvPlan *plan, int *center);

/* Appends a list with one entry per plane, separated by commas, to each string: the nick of the plane's algorithm, or
 * "copy" if the plane is not filtered; the size of its largest kernel ("17x17"); and its number of terms ("1"). */
void cnv_plan_describe(const CnvPlan *plan, GString *algorithms, GString *taps, GString *terms);
