/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A plan: everything that follows from a filter, a format and a size. A plan never changes, is shared by reference
 * between threads, and is replaced by another one when any of its sources changes.
 */
#pragma once

#include "filter.h"
#include "format.h"

#define CNV_SIZE_MAX 32768 /* width and height of a frame */

/* All of CnvAlgorithm in its order, for properties and messages. */
extern const CnvNick cnv_algorithm_nicks[];

/* The frames that a plan is for. */
typedef struct {
  const CnvFormat *format;
  int width, height;   /* luma pixels, 1..CNV_SIZE_MAX */
  double kr, kb;       /* luma coefficients of the YUV matrix, for the border colour: 0.2126 and 0.0722 for BT.709 */
  gboolean full_range; /* 0..full rather than 16..235 (16..240) scaled to the depth, for YUV and grey */
} CnvImage;

typedef struct CnvBackend CnvBackend;
typedef struct CnvPlan CnvPlan;
typedef struct CnvPlane CnvPlane; /* one of its planes */

/* Returns a plan (unref with cnv_plan_unref), or NULL with CNV_ERROR_SETTINGS, or CNV_ERROR_UNSUPPORTED where the
 * requested algorithm cannot do it: the message then names the reason and the choices. */
CnvPlan *cnv_plan_new(const CnvFilter *filter, const CnvImage *image, CnvAlgorithm requested, const CnvBackend *backend,
                      GError **error);
CnvPlan *cnv_plan_ref(CnvPlan *plan);
void cnv_plan_unref(CnvPlan *plan); /* NULL is allowed */

/* TRUE where output equals input by the taps themselves: one tap, gain 1, no offset on every filtered channel. */
gboolean cnv_plan_is_identity(const CnvPlan *plan);

/* TRUE where the bias is beyond what the taps can give, so that a channel comes out as 0 or full of any input. */
gboolean cnv_plan_saturates(const CnvPlan *plan);

/* FALSE with CNV_ERROR_SETTINGS if work.h's normalised convolution, which isolates regions of other shapes than
 * rectangles, masks and inverted ones, is not possible with the plan's taps. Any thread. */
gboolean cnv_plan_can_isolate(const CnvPlan *plan, GError **error);

const CnvBackend *cnv_plan_backend(const CnvPlan *plan);

/* Number of input frames of one output frame, 1 for a filter that is not over time. center, which may be NULL: index
 * among them of the frame that the output belongs to. */
int cnv_plan_frames(const CnvPlan *plan, int *center);

/* Appends to each string a list with one entry a plane, joined by commas: the nick of the plane's algorithm ("copy"
 * where nothing of it is filtered), the size of its largest taps ("17x17") and the number of terms ("1"). */
void cnv_plan_describe(const CnvPlan *plan, GString *algorithms, GString *taps, GString *terms);
