/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The reference that every faster engine is checked against: each output sample by itself, straight from the
 * definitions in plan.h, border.h and work.h, in double. It is meant to be read.
 */
#include "cpu/cpu.h"

#include <math.h>

#include "plan/component.h"

/* Returns the weight of the pixel at x, y of the window. */
static double
weight_in(const CpuTile *tile, const CnvFrame *frame, int x, int y)
{
  const CnvPlane *plane = tile->plane->from;
  const CnvJob *weights = cnv_cpu_weights(tile);
  double weight =
      plane->component[plane->weight].bytes ? cnv_component_value(frame, plane, plane->weight, tile->job, x, y) : 1;

  if (!plane->covered)
    return weight;
  return weight * cnv_cpu_weight_at(tile, weights, x, y);
}

/* Returns component c of a frame at x, y, which may lie outside the window. */
static double
value_in(const CpuTile *tile, const CnvFrame *frame, int c, int x, int y)
{
  const CnvPlane *plane = tile->plane->from;
  const CnvJob *job = tile->job;
  int from_x = cnv_cpu_source(tile, CNV_X, x), from_y = cnv_cpu_source(tile, CNV_Y, y);
  double value;

  if (from_x < 0 || from_y < 0)
    return cnv_border_has_value(plane->border) ? plane->border_value[c] : 0;
  if (c == plane->weight)
    return weight_in(tile, frame, from_x, from_y);
  value = cnv_component_value(frame, plane, c, job, from_x, from_y) - plane->mid[c];
  if (plane->weight >= 0)
    value *= weight_in(tile, frame, from_x, from_y);
  return value;
}

/* Returns r of plan.h for frame i at a sample of the window. */
static double
closeness(const CpuTile *tile, int i, int c, int x, int y)
{
  const CpuFrame *frame = tile->frame;
  const CpuPlane *plane = tile->plane;
  const CnvJob *job = tile->job;
  const double threshold = frame->threshold[plane->from->format_plane];
  double difference = 0, weights = 0, s;

  for (int at_y = y - 1; at_y <= y + 1; at_y++)
    for (int at_x = x - 1; at_x <= x + 1; at_x++) {
      int from_x = CLAMP(at_x, job->window_x, job->window_x + job->window_width - 1);
      int from_y = CLAMP(at_y, job->window_y, job->window_y + job->window_height - 1);

      difference += value_in(tile, &frame->source[i], c, from_x, from_y) -
                    value_in(tile, &frame->source[frame->center], c, from_x, from_y);
      weights += plane->from->weight >= 0 ? weight_in(tile, &frame->in, from_x, from_y) : 1;
    }
  if (weights == 0)
    return 1;
  s = CLAMP(1.5 - fabs(difference) / weights / fmax(threshold * plane->from->full[c], CNV_THRESHOLD_LEAST), 0, 1);
  return s * s * (3 - 2 * s);
}

/* Returns x of plan.h with a threshold. */
static double
value_of_close_frames(const CpuTile *tile, int c, int x, int y)
{
  const CpuFrame *frame = tile->frame;
  int from_x = cnv_cpu_source(tile, CNV_X, x), from_y = cnv_cpu_source(tile, CNV_Y, y);
  double all = 0, found = 0, sum = 0;

  for (int i = 0; i < frame->n_sources; i++) {
    double weight = frame->weight[i];

    if (weight == 0)
      continue;
    all += weight;
    if (from_x >= 0 && from_y >= 0 && c != tile->plane->from->weight)
      weight *= closeness(tile, i, c, from_x, from_y);
    found += weight;
    sum += weight * value_in(tile, &frame->source[i], c, x, y);
  }
  return all * sum / found;
}

/* Returns x of plan.h for a term: the sum over the frames that it uses. */
static double
value_at(const CpuTile *tile, const CnvTerm *term, int c, int x, int y)
{
  const CpuFrame *frame = tile->frame;
  CpuTapRange frames = cnv_cpu_temporal_taps(tile, term);
  double sum = 0;

  if (tile->plane->plan->threshold != 0 && frame->n_sources > 1)
    return value_of_close_frames(tile, c, x, y);
  for (int i = frames.first; i < frames.first + frames.n; i++)
    if (frame->weight[i] != 0)
      sum += frame->weight[i] * value_in(tile, &frame->source[i], c, x, y);
  return sum;
}

/* Returns the mean of the cell that sets the value of the pixel at x, y. */
static double
cell_mean(const CpuTile *tile, const CnvTerm *term, int c, int x, int y)
{
  const CnvPlane *plane = tile->plane->from;
  int column = cnv_cell_of(plane, tile->job, CNV_X, x), row = cnv_cell_of(plane, tile->job, CNV_Y, y), n = 0;
  double sum = 0;

  for (int at_y = cnv_cell_edge(plane, tile->job, CNV_Y, row); at_y < cnv_cell_edge(plane, tile->job, CNV_Y, row + 1);
       at_y++)
    for (int at_x = cnv_cell_edge(plane, tile->job, CNV_X, column);
         at_x < cnv_cell_edge(plane, tile->job, CNV_X, column + 1); at_x++, n++)
      sum += value_at(tile, term, c, at_x, at_y);
  return sum / n;
}

/* Returns acc of term t for component c of the pixel at x, y. */
static double
convolve(const CpuTile *tile, int t, int c, int x, int y)
{
  const CnvTerm *term = &tile->plane->from->term[t];
  double sum = 0;

  if (cnv_cells_have_means(tile->plane->from))
    return cell_mean(tile, term, c, x, y);
  for (int ky = 0; ky < term->n[CNV_Y]; ky++)
    for (int kx = 0; kx < term->n[CNV_X]; kx++)
      sum += cnv_plan_tap(tile->plane->plan, term, kx, ky) *
             value_at(tile, term, c, x + kx - term->anchor[CNV_X], y + ky - term->anchor[CNV_Y]);
  return sum;
}

static gboolean
contains(CpuTapRange range, int tap)
{
  return tap >= range.first && tap < range.first + range.n;
}

static double
ratio(double all, double found, float epsilon)
{
  return fabs(found) > epsilon ? all / found : 0;
}

/* Returns S/P of border.h for an axis. */
static double
renormalize_axis(const CpuTile *tile, const CnvTerm *term, int axis, int at)
{
  CpuTapRange range = cnv_cpu_taps_found(term, tile->job, axis, at);
  double all = 0, found = 0;

  for (int k = 0; k < term->n[axis]; k++) {
    double tap = tile->plane->plan->taps[term->taps[axis] + k];

    all += tap;
    found += contains(range, k) ? tap : 0;
  }
  return range.n == term->n[axis] ? 1 : ratio(all, found, term->epsilon[axis]);
}

/* Returns S/P of border.h for terms first to last - 1 added up. */
static double
renormalize(const CpuTile *tile, int first, int last, int x, int y)
{
  const CnvPlane *plane = tile->plane->from;
  const CnvTerm *term = &plane->term[first];
  gboolean one = last - first == 1, missing = FALSE;
  double all = 0, found = 0;

  if (!cnv_border_renormalizes(plane->border))
    return 1;
  if (one && term->separable)
    return renormalize_axis(tile, term, CNV_X, x) * renormalize_axis(tile, term, CNV_Y, y);
  for (; term < plane->term + last; term++) {
    CpuTapRange columns = cnv_cpu_taps_found(term, tile->job, CNV_X, x);
    CpuTapRange rows = cnv_cpu_taps_found(term, tile->job, CNV_Y, y);
    /* If terms have frames of their own, each term is weighted like its frame. */
    double share = !one && tile->plane->plan->not_time_separable ? cnv_cpu_temporal_sum(tile, term) : 1;

    missing |= share != 0 && (columns.n < term->n[CNV_X] || rows.n < term->n[CNV_Y]);
    for (int ky = 0; ky < term->n[CNV_Y]; ky++)
      for (int kx = 0; kx < term->n[CNV_X]; kx++) {
        double tap = share * cnv_plan_tap(tile->plane->plan, term, kx, ky);

        all += tap;
        found += contains(columns, kx) && contains(rows, ky) ? tap : 0;
      }
  }
  return missing ? ratio(all, found, one ? plane->term[first].epsilon[0] : plane->epsilon) : 1;
}

static double
sum_terms(const CpuTile *tile, int c, int x, int y)
{
  double sum = 0;

  for (int t = 0; t < tile->plane->from->n_terms; t++)
    sum += convolve(tile, t, c, x, y);
  return sum;
}

/* Computes a of plan.h. Returns FALSE if the weights add up to 0, and the sample keeps its input. */
static gboolean
combine(const CpuTile *tile, int c, int x, int y, double *a)
{
  const CnvPlane *plane = tile->plane->from;
  int w = plane->weight;

  if (plane->combine == CNV_COMBINE_MAGNITUDE) {
    *a = hypot(convolve(tile, 0, c, x, y) * renormalize(tile, 0, 1, x, y),
               convolve(tile, 1, c, x, y) * renormalize(tile, 1, 2, x, y));
    return TRUE;
  }
  *a = sum_terms(tile, c, x, y);
  if (w >= 0 && c != w) {
    double weight = sum_terms(tile, w, x, y);

    if (fabs(weight) <= (double)plane->alpha_epsilon * plane->full[w])
      return FALSE;
    *a *= plane->alpha_norm / weight;
  } else {
    *a *= renormalize(tile, 0, plane->n_terms, x, y);
  }
  if (plane->combine == CNV_COMBINE_ABSOLUTE)
    *a = fabs(*a + plane->mid_bias[c]);
  return TRUE;
}

static void
filter_sample(const CpuTile *tile, int c, int x, int y, double weight)
{
  const CnvPlane *plane = tile->plane->from;
  const CnvComponent *component = &plane->component[c];
  const CnvJob *job = tile->job;
  int to_x = x + job->move_x, to_y = y + job->move_y;
  double base = plane->base[c], a, v;

  if (combine(tile, c, x, y, &a))
    v = CLAMP(plane->gain[c] * a + plane->fraction[c], plane->lowest[c], plane->highest[c]);
  else
    v = cnv_component_value(&tile->frame->in, plane, c, job, x, y) - base;
  if (weight < 1)
    v += (1 - weight) * (cnv_component_value(&tile->frame->in, plane, c, job, to_x, to_y) - base - v);
  cnv_component_put(cnv_component_at(&tile->frame->out, component, job, to_x, to_y), component, component->bytes,
                    (int)(base + rint(v)));
}

static void
run(CpuWorker *worker, const CpuTile *tile)
{
  const CnvJob *job = tile->job;

  for (int y = tile->top; y < tile->bottom; y++)
    for (int x = tile->first; x < tile->last; x++) {
      double weight =
          job->coverage_pitch ? *cnv_job_weights(job, tile->frame->coverage, x, y) / (double)CNV_WEIGHT_ONE : 1;

      for (int c = 0; weight > 0 && c < tile->plane->from->channels; c++)
        if (tile->plane->from->filtered >> c & 1)
          filter_sample(tile, c, x, y, weight);
    }
}

/* Sets no rows of rings, because the reference needs no memory. */
static void
shape(CpuPlane *plane)
{
  plane->slots = 0;
}

const CpuMethod cnv_cpu_reference = {
    .name = "reference",
    .algorithms = 1 << CNV_ALGORITHM_NAIVE,
    .unit = 1000,
    .cost = cnv_cpu_cost_of_taps,
    .shape = shape,
    .run = run,
};
