/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The reference that every faster engine is checked against: each output sample by itself, straight from the
 * definitions in plan.h, border.h and work.h, in double. It is meant to be read.
 */
#include <math.h>

#include "cpu/engine.h"

static double
tap_at(const CnvPlan *plan, const CnvPlanTerm *set, int kx, int ky)
{
  if (set->separable)
    return (double)plan->taps[set->axis[CNV_X] + kx] * plan->taps[set->axis[CNV_Y] + ky];
  return plan->taps[set->dense + (gsize)ky * set->n[CNV_X] + kx];
}

/* What component c holds in a frame at x, y, which may lie outside the window. */
static double
held_in(const CnvCpuArea *area, const CnvFrame *frame, int c, int x, int y)
{
  const CnvPlanPlane *plane = area->plane;
  const CnvRectJob *job = area->job;
  const CnvImage *image = &area->plan->image;
  CnvBorder border = area->plan->filter.border;
  int from_x = cnv_border_index(border, x - job->window_x, job->window_width);
  int from_y = cnv_border_index(border, y - job->window_y, job->window_height);
  double value;

  if (from_x < 0 || from_y < 0)
    return cnv_border_has_value(border) ? plane->border[c] : 0;
  from_x += job->window_x;
  from_y += job->window_y;
  value = cnv_lane_value(frame, image, &plane->component[c], job, from_x, from_y) - plane->mid[c];
  if (plane->weight >= 0 && c != plane->weight)
    value *= cnv_lane_value(frame, image, &plane->component[plane->weight], job, from_x, from_y);
  return value;
}

/* x of plan.h for a term: the frames that count for it, added up. */
static double
held_at(const CnvCpuArea *area, const CnvPlanTerm *set, int c, int x, int y)
{
  CpuTemporalTaps temporal_taps = cnv_cpu_moments_of(area->temporal_taps, area->plan, set);
  double sum = 0;

  for (const CpuTemporalTap *temporal_tap = temporal_taps.temporal_tap;
       temporal_tap < temporal_taps.temporal_tap + temporal_taps.n; temporal_tap++)
    if (temporal_tap->frame)
      sum += temporal_tap->weight * held_in(area, temporal_tap->frame, c, x, y);
  return sum;
}

/* acc of term t for component c of the pixel at x, y. */
static double
convolve(const CnvCpuArea *area, int t, int c, int x, int y)
{
  const CnvPlanTerm *set = &area->plane->term[t];
  double sum = 0;

  for (int ky = 0; ky < set->n[CNV_Y]; ky++)
    for (int kx = 0; kx < set->n[CNV_X]; kx++)
      sum += tap_at(area->plan, set, kx, ky) *
             held_at(area, set, c, x + kx - set->anchor[CNV_X], y + ky - set->anchor[CNV_Y]);
  return sum;
}

/* Taps of a term that find a sample, and their sum beside that of all. */
typedef struct {
  double all, found;
  gboolean missing;
} Found;

static CnvCpuSpan
span_of(const CnvCpuArea *area, const CnvPlanTerm *set, CnvAxis axis, int at)
{
  const CnvRectJob *job = area->job;
  int from = axis == CNV_X ? job->window_x : job->window_y;
  int size = axis == CNV_X ? job->window_width : job->window_height;

  return cnv_cpu_span(at - from, size, set->n[axis], set->anchor[axis]);
}

static Found
find_axis(const CnvCpuArea *area, const CnvPlanTerm *set, CnvAxis axis, int at)
{
  CnvCpuSpan span = span_of(area, set, axis, at);
  Found found = {0, 0, span.last - span.first < set->n[axis]};

  for (int k = 0; found.missing && k < set->n[axis]; k++) {
    double tap = area->plan->taps[set->axis[axis] + k];

    found.all += tap;
    found.found += k >= span.first && k < span.last ? tap : 0;
  }
  return found;
}

/* share: what the term's taps are multiplied by. */
static void
find_term(const CnvCpuArea *area, const CnvPlanTerm *set, double share, int x, int y, Found *found)
{
  CnvCpuSpan columns = span_of(area, set, CNV_X, x), rows = span_of(area, set, CNV_Y, y);

  for (int ky = 0; ky < set->n[CNV_Y]; ky++)
    for (int kx = 0; kx < set->n[CNV_X]; kx++) {
      double tap = share * tap_at(area->plan, set, kx, ky);
      gboolean here = kx >= columns.first && kx < columns.last && ky >= rows.first && ky < rows.last;

      found->all += tap;
      found->found += here ? tap : 0;
      found->missing |= !here && share != 0;
    }
}

/* What a term counts among those that are added up: where terms have frames of their own, as much as its frame. */
static double
share_of(const CnvCpuArea *area, const CnvPlanTerm *set, gboolean one)
{
  if (one || !area->plan->not_time_separable)
    return 1;
  return cnv_cpu_moments_weight(cnv_cpu_moments_of(area->temporal_taps, area->plan, set));
}

static double
ratio(Found found, float epsilon)
{
  if (!found.missing)
    return 1;
  return fabs(found.found) > epsilon ? found.all / found.found : 0;
}

/* S/P of border.h for terms first to last - 1 added up. */
static double
renormalize(const CnvCpuArea *area, int first, int last, int x, int y)
{
  const CnvPlanTerm *set = &area->plane->term[first];
  Found found = {0, 0, FALSE};

  if (!cnv_border_renormalizes(area->plan->filter.border))
    return 1;
  if (last - first == 1 && set->separable)
    return ratio(find_axis(area, set, CNV_X, x), set->epsilon[CNV_X]) *
           ratio(find_axis(area, set, CNV_Y, y), set->epsilon[CNV_Y]);
  for (int t = first; t < last; t++)
    find_term(area, &area->plane->term[t], share_of(area, &area->plane->term[t], last - first == 1), x, y, &found);
  return ratio(found, last - first == 1 ? set->epsilon[0] : area->plane->epsilon);
}

static double
sum_terms(const CnvCpuArea *area, int c, int x, int y)
{
  double sum = 0;

  for (int t = 0; t < area->plane->n_terms; t++)
    sum += convolve(area, t, c, x, y);
  return sum;
}

/* a of plan.h. Returns FALSE where there is no weight, and the input's sample stands. */
static gboolean
combine(const CnvCpuArea *area, int c, int x, int y, double *a)
{
  const CnvPlanPlane *plane = area->plane;
  int w = plane->weight;

  if (plane->combine == CNV_COMBINE_MAGNITUDE) {
    *a = hypot(convolve(area, 0, c, x, y) * renormalize(area, 0, 1, x, y),
               convolve(area, 1, c, x, y) * renormalize(area, 1, 2, x, y));
    return TRUE;
  }
  *a = sum_terms(area, c, x, y);
  if (w >= 0 && c != w) {
    double weight = sum_terms(area, w, x, y);

    if (fabs(weight) <= (double)plane->alpha_epsilon * plane->full[w])
      return FALSE;
    *a *= plane->alpha_norm / weight;
  } else {
    *a *= renormalize(area, 0, plane->n_terms, x, y);
  }
  if (plane->combine == CNV_COMBINE_ABSOLUTE)
    *a = fabs(*a + plane->mid_bias[c]);
  return TRUE;
}

static void
filter_sample(const CnvCpuArea *area, int c, int x, int y, double weight)
{
  const CnvPlanPlane *plane = area->plane;
  const CnvComponent *component = &plane->component[c];
  const CnvRectJob *job = area->job;
  const CnvImage *image = &area->plan->image;
  int to_x = x + job->move_x, to_y = y + job->move_y;
  double base = plane->base[c], a, v;

  if (combine(area, c, x, y, &a))
    v = CLAMP(plane->gain[c] * a + plane->fraction[c], -base, plane->full[c] - base);
  else
    v = cnv_lane_value(area->in, image, component, job, x, y) - base;
  if (weight < 1)
    v += (1 - weight) * (cnv_lane_value(area->in, image, component, job, to_x, to_y) - base - v);
  cnv_lane_put(cnv_lane_at(area->out, component, job, to_x, to_y), component, component->bytes, (int)(base + rint(v)));
}

void
cnv_cpu_naive(const CnvCpuArea *area)
{
  const CnvRectJob *job = area->job;

  for (int y = area->top; y < area->bottom; y++)
    for (int x = area->first; x < area->last; x++) {
      double weight = job->n_mask_rects ? cnv_rect_job_weight(job, area->spots, x, y) : 1;

      for (int c = 0; weight > 0 && c < area->plane->channels; c++)
        if (area->plane->filtered >> c & 1)
          filter_sample(area, c, x, y, weight);
    }
}
