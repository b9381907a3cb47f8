/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Taps in time: the frames of a session's history that are summed up for one output frame.
 */
#pragma once

#include "plan.h"

/* A frame of the session's history, and its weight in the sum over frames. */
typedef struct {
  int slot;     /* with a frame; -1: none, and its taps are left out */
  float weight; /* times the term's taps */
} CnvTemporalTap;

/* All of CnvTemporalBorder in its order, for properties. */
extern const CnvNick cnv_temporal_border_nicks[];

/* Finds the slots to be summed up for one output frame, and their weights. slot: for each of the plan's frames
 * (cnv_plan_frames) its slot, -1 where it is missing; the others are consecutive, the center among them. A missing
 * frame is left out and the weights of the others are scaled to the same sum (by 0 where they cancel), or it is
 * replaced by the nearest, or mirrored (dcba|abcd|dcba). temporal_tap: room for as many as the plan has frames. Returns
 * the number filled in: for a 3D kernel that is not separable in time one a frame, in order; else one a slot. */
guint cnv_temporal_taps_make(const CnvPlan *plan, const int *slot, CnvTemporalBorder border,
                             CnvTemporalTap *temporal_tap);
