/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * CNV_BORDER_RENORMALIZE: taps that meet no sample are left out, and the remaining taps are scaled to the same sum
 * (border.h).
 */
#include "cpu/cpu.h"

#include <math.h>

/* Returns the sum of the taps of an axis in a range, from the plan's prefix sums. */
static double
axis_sum(const CpuPlane *plane, const CnvTerm *term, int axis, CpuTapRange range)
{
  const float *prefix = plane->plan->taps + term->taps[axis] + term->n[axis];

  return (double)prefix[range.first + range.n] - prefix[range.first];
}

static double
ratio(double sum, double found, gboolean all, float epsilon)
{
  return all ? 1 : fabs(found) > epsilon ? sum / found : 0;
}

/* Computes prefix sums over the columns of a term's taps, in the rows that meet samples. */
static void
sum_columns(const CpuPlane *plane, const CnvTerm *term, CpuTermState *state)
{
  const float *taps = plane->plan->taps + term->taps[0];
  CpuTapRange rows = state->rows_found;
  double down = term->separable ? axis_sum(plane, term, CNV_Y, rows) : 0;

  state->sums[0] = 0;
  for (int x = 0; x < term->n[CNV_X]; x++) {
    state->sums[x + 1] = state->sums[x] + (term->separable ? taps[x] * down : 0);
    for (int y = rows.first; !term->separable && y < rows.first + rows.n; y++)
      state->sums[x + 1] += taps[(gsize)y * term->n[CNV_X] + x];
  }
}

/* Returns S/P of border.h at column x for one separable term. */
static double
factor_of_axes(const CpuTile *tile, const CnvTerm *term, CpuTapRange rows, int x)
{
  CpuTapRange found[CNV_N_AXES] = {cnv_cpu_taps_found(term, tile->job, CNV_X, x), rows};
  double factor = 1;

  for (int axis = 0; axis < CNV_N_AXES; axis++)
    factor *= ratio(term->sum[axis], axis_sum(tile->plane, term, axis, found[axis]), found[axis].n == term->n[axis],
                    term->epsilon[axis]);
  return factor;
}

/* Returns S/P for terms first to last - 1 added up. Terms with frames of their own are weighted like these frames. */
static double
factor_of_terms(const CpuTile *tile, const CpuWorker *worker, int first, int last, int x)
{
  const CnvPlane *plane = tile->plane->from;
  gboolean all = TRUE, shared = last - first > 1 && tile->plane->plan->not_time_separable;
  double sum = 0, found = 0;

  if (last - first == 1 && plane->term[first].separable)
    return factor_of_axes(tile, &plane->term[first], worker->term[first].rows_found, x);
  for (int t = first; t < last; t++) {
    const CnvTerm *term = &plane->term[t];
    const CpuTermState *state = &worker->term[t];
    CpuTapRange columns = cnv_cpu_taps_found(term, tile->job, CNV_X, x);
    double share = shared ? state->temporal_sum : 1;

    all &= share == 0 || (columns.n == term->n[CNV_X] && state->rows_found.n == term->n[CNV_Y]);
    sum += share * term->sum[CNV_X] * term->sum[CNV_Y];
    found += share * (state->sums[columns.first + columns.n] - state->sums[columns.first]);
  }
  return ratio(sum, found, all, last - first == 1 ? plane->term[first].epsilon[0] : plane->epsilon);
}

/* Computes the factors of a tile's row for term t or, if terms are joint, for all terms. Channels that are divided by
 * the weight have factor 1. */
static void
make_factors(CpuWorker *worker, const CpuTile *tile, int t)
{
  const CnvPlane *plane = tile->plane->from;
  const CnvJob *job = tile->job;
  float *to = worker->term[t].factor;
  int before = 0, after = 0; /* taps left and right of the output sample */
  int last = plane->joint ? plane->n_terms : t + 1;
  double factor = 1;

  for (const CnvTerm *term = &plane->term[t]; term < plane->term + last; term++) {
    before = MAX(before, term->anchor[CNV_X]);
    after = MAX(after, term->n[CNV_X] - 1 - term->anchor[CNV_X]);
  }
  for (int x = tile->first; x < tile->last; x++) {
    /* All columns between the borders have the same factor. */
    if (x == tile->first || x - before <= job->window_x || x + after >= job->window_x + job->window_width)
      factor = factor_of_terms(tile, worker, t, last, x);
    worker->scaled |= factor != 1;
    for (int c = 0; c < plane->channels; c++)
      *to++ = plane->weight < 0 || c == plane->weight ? (float)factor : 1;
  }
}

void
cnv_cpu_renormalize(CpuWorker *worker, const CpuTile *tile, int y)
{
  const CnvPlane *plane = tile->plane->from;
  gboolean same = TRUE;

  for (int t = 0; t < plane->n_terms; t++) {
    CpuTermState *state = &worker->term[t];
    CpuTapRange found = cnv_cpu_taps_found(&plane->term[t], tile->job, CNV_Y, y);

    if (found.first == state->rows_found.first && found.n == state->rows_found.n)
      continue;
    same = FALSE;
    state->rows_found = found;
    sum_columns(tile->plane, &plane->term[t], state);
  }
  if (same)
    return;
  worker->scaled = FALSE;
  for (int t = 0; t < (plane->joint ? 1 : plane->n_terms); t++)
    make_factors(worker, tile, t);
}
