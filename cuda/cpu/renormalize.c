/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * CNV_BORDER_RENORMALIZE: taps that find no sample are left out, and the others scaled to the same sum (border.h).
 */
#include "cpu/cpu.h"

#include <math.h>

void
cnv_cpu_renormalize_prepare(CpuTerm *term, const CnvPlan *plan)
{
  const CnvTerm *from = term->from;

  term->sum = from->separable;
  for (int i = 0; !from->separable && i < from->n[CNV_X] * from->n[CNV_Y]; i++)
    term->sum += plan->taps[from->taps[0] + i];
  for (int axis = 0; axis < CNV_N_AXES && from->separable; axis++) {
    double *sums = term->sums[axis];

    sums[0] = 0;
    for (int i = 0; i < from->n[axis]; i++)
      sums[i + 1] = sums[i] + plan->taps[from->taps[axis] + i];
    term->sum *= sums[from->n[axis]];
  }
}

static double
sum_of(const double *prefix, CpuTapRange range)
{
  return prefix[range.first + range.n] - prefix[range.first];
}

static double
ratio(double sum, double found, gboolean all, float epsilon)
{
  return all ? 1 : fabs(found) > epsilon ? sum / found : 0;
}

/* Prefix sums over the columns of a term's taps, of those in the rows found. */
static void
sum_columns(const CpuPlane *plane, const CpuTerm *term, CpuTermState *state)
{
  const CnvTerm *from = term->from;
  const float *taps = plane->plan->taps + from->taps[0];
  CpuTapRange rows = state->rows_found;
  int width = from->n[CNV_X];

  state->sums[0] = 0;
  for (int x = 0; x < width; x++) {
    state->sums[x + 1] = state->sums[x];
    if (from->separable)
      state->sums[x + 1] += sum_of(term->sums[CNV_X], (CpuTapRange){x, 1}) * sum_of(term->sums[CNV_Y], rows);
    for (int y = rows.first; !from->separable && y < rows.first + rows.n; y++)
      state->sums[x + 1] += taps[(gsize)y * width + x];
  }
}

/* S/P of border.h at column x for a term by itself. */
static double
factor_of_term(const CpuTile *tile, const CpuTerm *term, const CpuTermState *state, int x)
{
  const CnvTerm *from = term->from;
  CpuTapRange found[CNV_N_AXES] = {cnv_cpu_taps_found(from, tile->job, CNV_X, x), state->rows_found};
  gboolean all[CNV_N_AXES] = {found[CNV_X].n == from->n[CNV_X], found[CNV_Y].n == from->n[CNV_Y]};
  double factor = 1;

  if (!from->separable)
    return ratio(term->sum, sum_of(state->sums, found[CNV_X]), all[CNV_X] && all[CNV_Y], from->epsilon[0]);
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    factor *=
        ratio(term->sums[axis][from->n[axis]], sum_of(term->sums[axis], found[axis]), all[axis], from->epsilon[axis]);
  return factor;
}

/* The same for all terms added up. Those that have frames of their own count as much as these. */
static double
factor_of_sum(const CpuTile *tile, const CpuWorker *worker, int x)
{
  const CpuPlane *plane = tile->plane;
  gboolean all = TRUE;
  double sum = 0, found = 0;

  for (int t = 0; t < plane->from->n_terms; t++) {
    const CnvTerm *from = plane->term[t].from;
    const CpuTermState *state = &worker->term[t];
    CpuTapRange columns = cnv_cpu_taps_found(from, tile->job, CNV_X, x);
    double share = plane->plan->not_time_separable ? state->temporal_sum : 1;

    all &= share == 0 || (columns.n == from->n[CNV_X] && state->rows_found.n == from->n[CNV_Y]);
    sum += share * plane->term[t].sum;
    found += share * sum_of(state->sums, columns);
  }
  return ratio(sum, found, all, plane->from->epsilon);
}

/* The factors of a tile's row for term t or, where they are joint, for all. What is divided by the weight has none. */
static void
make_factors(CpuWorker *worker, const CpuTile *tile, int t)
{
  const CnvPlane *plane = tile->plane->from;
  const CnvRectJob *job = tile->job;
  float *to = worker->term[t].factor;
  int before = 0, after = 0; /* taps left and right of the output sample */
  double factor = 1;

  for (const CnvTerm *term = &plane->term[t]; term < plane->term + (plane->joint ? plane->n_terms : t + 1); term++) {
    before = MAX(before, term->anchor[CNV_X]);
    after = MAX(after, term->n[CNV_X] - 1 - term->anchor[CNV_X]);
  }
  for (int x = tile->first; x < tile->last; x++) {
    /* Between the borders all columns have the same. */
    if (x == tile->first || x - before <= job->window_x || x + after >= job->window_x + job->window_width)
      factor = plane->joint ? factor_of_sum(tile, worker, x)
                            : factor_of_term(tile, &tile->plane->term[t], &worker->term[t], x);
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
    sum_columns(tile->plane, &tile->plane->term[t], state);
  }
  if (same)
    return;
  worker->scaled = FALSE;
  for (int t = 0; t < (plane->joint ? 1 : plane->n_terms); t++)
    make_factors(worker, tile, t);
}
