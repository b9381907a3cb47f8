/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Masks: images of weights, for both engines one behind the other in one array of bytes; and their parts in a plane.
 */
#pragma once

#include <convolve/work.h>

#include "plan/plane.h"
#include "plan/rect_job.h"

/* The masks of a frame's work, each once. */
typedef struct {
  GPtrArray *masks;  /* CnvMask, with references */
  GByteArray *bytes; /* their weights, one mask behind the other */
  GArray *places;    /* CnvMaskPlace: of the regions' masks in planes and fields, as cnv_mask_place adds them */
} CnvMaskBytes;

CnvMaskBytes cnv_mask_bytes_new(void);
void cnv_mask_bytes_clear(CnvMaskBytes *of);

/* Takes over the masks of the work. FALSE where they are those that it had. */
gboolean cnv_mask_bytes_set(CnvMaskBytes *of, const CnvWork *work);

/* Makes a rectangle in the plane and field of a job one of its region's mask. FALSE where that is not among the bytes.
 */
gboolean cnv_mask_place(CnvMaskBytes *masks, const CnvRegion *region, const CnvPlane *plane, const CnvRectJob *job,
                        CnvMaskRect *to);

/* Cuts a rectangle with its region's mask into parts: those of weight 1 throughout, or those of weight between, which
 * stay masks; what weighs 0 is left out. Adds at most `room` of both kinds together, at least 1; the more room, the
 * closer they follow the mask. Returns the number added. */
int cnv_mask_cut(const CnvMaskBytes *masks, const CnvRegion *region, const CnvMaskRect *rect, gboolean full, int room,
                 CnvMaskRect *to);
