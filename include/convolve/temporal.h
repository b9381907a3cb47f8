/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Taps in time: which frames of a session's history contribute to one output frame, and with which weights.
 */
#pragma once

#include "plan.h"

/* A frame of the session's history, and its weight in the sum over frames. */
typedef struct {
  int slot;     /* slot of the frame; -1: no frame, so its taps are left out */
  float weight; /* factor on the term's taps */
} CnvTemporalTap;

/* Nicks of CnvTemporalBorder. */
extern const CnvNick cnv_temporal_border_nicks[];

/* Computes the slots and weights to sum up for one output frame.
 *
 * slot: for each of the plan's frames (cnv_plan_frames) its slot, or -1 if the frame is missing. The frames that are
 * present are consecutive, and the center is one of them. border says what replaces missing frames:
 *   - renormalize: nothing; the weights of the other frames are scaled to the same sum, or by 0 if they cancel out
 *   - replicate: the nearest frame
 *   - reflect: the mirrored frame (dcba|abcd|dcba)
 * temporal_tap: array with an entry for each of the plan's frames.
 *
 * Returns the number of entries filled in: one per frame, in order, for a 3D kernel that is not separable in time, else
 * one per distinct slot. */
guint cnv_temporal_taps_make(const CnvPlan *plan, const int *slot, CnvTemporalBorder border,
                             CnvTemporalTap *temporal_tap);
