/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is done to one frame: a plan for all of it, or plans for regions of it while the rest is copied.
 *
 * A region's rectangle is given in luma pixels and may lie partly or wholly outside the frame. In a subsampled plane it
 * takes in every sample that it touches: x/s rounded down to (x + width)/s rounded up. Then, in samples of that plane
 * and with f = feather / s, a sample d columns (or rows) outside of it, 1 for the next one, weighs 1 - d / (f + 1) in
 * that direction, at least 0; inside it weighs 1; the weight is the product of both directions'. Where regions overlap
 * the one with the largest weight counts, with equal weights the one with the higher plan, then the later one. invert:
 * the weight is 1 minus the largest, by plan 0.
 *
 * Regions are told apart as long as a frame's work stays below CNV_CROWD_WORK times that of the whole frame (or is
 * small anyway). Where it would not, planes are cut into blocks of CNV_CROWD_WIDTH times CNV_CROWD_HEIGHT samples (as
 * many as the filter has taps, if those are more) up to twice that. Where several plans or, isolated, windows meet in a
 * block the highest of the plans does it all, in a window around theirs; of more than CNV_CROWD regions neighbours
 * count as the rectangle around them, as do those of one plan, or isolated, whose corner and size are the same in units
 * of a CNV_CROWD_FADE-th of the feather. So no sample weighs less than it would; with invert, where it is the other way
 * round, the smaller ones of such neighbours do not count. CnvSessionStats tells of it.
 *
 * In interlaced frames each field is filtered by itself, its border where its own rows end. Row y of a plane is row y/2
 * of field y % 2; of a rectangle a field has the rows that lie in the plane's part of it, and down a field f is half as
 * much.
 */
#pragma once

#include "plan.h"

G_BEGIN_DECLS

#define CNV_MAX_REGIONS 1024
#define CNV_MAX_PLANS 64

#define CNV_CROWD 8
#define CNV_CROWD_WIDTH 128
#define CNV_CROWD_HEIGHT 64
#define CNV_CROWD_FADE 8
#define CNV_CROWD_WORK 2

typedef struct {
  int x, y, width, height; /* luma pixels; empty where width or height is below 1 */
} CnvRect;

typedef struct {
  CnvRect rect;
  guint plan; /* index in CnvWork.plan */
} CnvRegion;

/* A frame of the session's history that counts, and how much. */
typedef struct {
  int slot;     /* -1: none; its taps are left out */
  float weight; /* times the term's taps */
} CnvTemporalTap;

/* What stands for frames before the first and behind the last. */
typedef enum { CNV_TEMPORAL_RENORMALIZE, CNV_TEMPORAL_REPLICATE, CNV_TEMPORAL_REFLECT } CnvTemporalBorder;

/* All of them in order, for properties. */
extern const CnvNick cnv_temporal_border_nicks[];

/* Settles which slots count. slot: for each of the plan's taps in time the slot of its frame, -1 where there is none;
 * those that are there are neighbours, plan->center among them. Missing ones are left out and the others scaled to the
 * same sum (by 0 where what is there has none), or are the nearest, or mirrored (dcba|abcd|dcba). temporal_tap: room
 * for plan->n_temporal_taps. Returns how many: for a not time-separable plan as many as its taps, in their order; else
 * each slot once. */
guint cnv_temporal_taps_make(const CnvPlan *plan, const int *slot, CnvTemporalBorder border,
                             CnvTemporalTap *temporal_tap);

/* A plain value that the caller owns; plans and regions are only read, during cnv_session_submit. */
typedef struct {
  CnvPlan *const *plan; /* of one image, backend and filter, save for its radius and sigma; the strongest last */
  guint n_plans;        /* 1..CNV_MAX_PLANS */
  gboolean everything;  /* the whole frame by plan 0; of the rest below only interlaced and overlaps count */
  const CnvRegion *region;
  guint n_regions;   /* 0..CNV_MAX_REGIONS */
  gboolean invert;   /* filter everything but the regions */
  gboolean isolated; /* for filtering a region nothing outside its rectangle is read: the border begins at its edge; not
                        with invert */
  double feather;    /* luma pixels, 0..1024 */
  gboolean moved;    /* one region, not inverted: what is filtered goes to where the rectangle's corner is at target; */
  int target_x,
      target_y; /* there it is blended, and at its old place the input is copied. What is outside is cut off */
  gboolean interlaced;
  const CnvTemporalTap
      *temporal_tap; /* of cnv_temporal_taps_make, the same for all plans; the input is a slot then. 0 of them: the */
  guint n_temporal_taps; /* input alone, with weight 1, for plans of one tap in time */
  /* Other frames are under way with this one: it goes between host and device in one piece, since they keep the bus
   * busy, and each piece takes the time of its start. The same samples either way. */
  gboolean overlaps;
} CnvWork;

G_END_DECLS
