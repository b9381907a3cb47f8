/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Masks: images of weights, for both engines one behind the other in one array of bytes; and their parts in a plane.
 */
#pragma once

#include <convolve/work.h>

#include "plan/rect_job.h"

/* The masks of a frame's work, each once. */
typedef struct {
  GPtrArray *masks;  /* CnvMask, with references */
  GByteArray *bytes; /* their weights, one mask behind the other */
} CnvMaskBytes;

CnvMaskBytes cnv_mask_bytes_new(void);
void cnv_mask_bytes_clear(CnvMaskBytes *of);

/* Takes over the masks of the work. FALSE where they are those that it had. */
gboolean cnv_mask_bytes_set(CnvMaskBytes *of, const CnvWork *work);

/* Makes a rectangle in a plane's field one of the mask of its region. FALSE where the mask is not among the bytes.
 * sub_x and sub_y: log2 of the plane's subsampling. */
gboolean cnv_mask_place(const CnvMaskBytes *masks, const CnvRegion *region, int sub_x, int sub_y, int field, int fields,
                        CnvMaskRect *mask);

/* Cuts a rectangle with a mask into parts: those of weight 1 throughout, or those of weight between, which stay masks;
 * what weighs 0 is left out. Adds at most `room` of both kinds together, at least 1; the more room, the closer they
 * follow the mask. Returns the number added. */
int cnv_mask_cut(const CnvRegion *region, const CnvMaskRect *mask, gboolean full, int room, CnvMaskRect *to);
