/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan/kernel.h"

#include <math.h>
#include <string.h>

void
cnv_kernel_clear(CnvKernel *kernel)
{
  for (int t = 0; t < CNV_MAX_TERMS; t++) {
    g_clear_pointer(&kernel->term[t].dense, cnv_taps_unref);
    for (int axis = 0; axis < CNV_N_AXES; axis++)
      g_clear_pointer(&kernel->term[t].axis[axis], cnv_taps_unref);
  }
  kernel->n_terms = 0;
}

double
cnv_term_total(const CnvKernelTerm *term, double (*measure)(const CnvTaps *taps))
{
  return term->dense ? measure(term->dense) : measure(term->axis[CNV_X]) * measure(term->axis[CNV_Y]);
}

double
cnv_kernel_total(const CnvKernel *kernel, double (*measure)(const CnvTaps *taps))
{
  double sum = 0;

  for (int t = 0; t < kernel->n_terms; t++)
    sum += cnv_term_total(&kernel->term[t], measure);
  return sum;
}

/* Checks the numbers that every filter has, even if it does not use them. */
static gboolean
check_numbers(const CnvFilter *filter, GError **error)
{
#define NUMBER(name, member, least, most) {name, filter->member, least, most},
  const struct {
    const char *name;
    double value, least, most;
  } rows[] = {CNV_FILTER_NUMBERS(NUMBER)};

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
    if (!(rows[i].value >= rows[i].least && rows[i].value <= rows[i].most))
      return cnv_refuse(error, "%s %g is outside %g..%g: set it within these", rows[i].name, rows[i].value,
                        rows[i].least, rows[i].most);
  return TRUE;
}

/* Checks the arrays of taps that the user sets along x and y. */
static gboolean
check_given(const CnvFilter *filter, GError **error)
{
  return cnv_taps_check(filter->kernel, "kernel", error) &&
         cnv_taps_check(filter->kernel_axis[CNV_X], "kernel-x", error) &&
         cnv_taps_check(filter->kernel_axis[CNV_Y], "kernel-y", error);
}

/* Checks the products of rows, columns and taps in time, because engines add these up. */
static gboolean
check_products(const CnvFilter *filter, const CnvKernel *kernel, GError **error)
{
  const double time = filter->kernel_t ? cnv_taps_magnitude(filter->kernel_t) : 1;

  return cnv_taps_check_magnitude(cnv_kernel_total(kernel, cnv_taps_magnitude) * time,
                                  "taps along x, y and time together", error);
}

static gboolean
check_size(const CnvKernelTerm *term, GError **error)
{
  const int width = (term->dense ? term->dense : term->axis[CNV_X])->width;
  const int height = term->dense ? term->dense->height : term->axis[CNV_Y]->width;
  const int most = term->dense ? CNV_DENSE_MAX : 2 * CNV_RADIUS_MAX + 1;

  if (MAX(width, height) <= most)
    return TRUE;
  return cnv_refuse(error, "%dx%d taps that are %s row times a column exceed %dx%d: shorten them", width, height,
                    term->dense ? "no" : "a", most, most);
}

/* Generates the terms of one frame of a 3D kernel. frame: -1 if the filter has no frames. */
static gboolean
generate(const CnvFilter *filter, int frame, const int subsample[CNV_N_AXES], CnvKernel *kernel, GError **error)
{
  const CnvTaps *all = filter->kernel;
  const CnvFilterInfo *info = cnv_filter_info(filter->type);
  CnvResolvedFilter resolved;
  CnvTaps *flat = NULL;
  gboolean right = cnv_filter_resolve(filter, &resolved, error);

  if (frame >= 0)
    resolved.kernel = flat =
        cnv_taps_new(all->width, all->height, all->value + (gsize)frame * all->width * all->height);
  right = right && info->generate(&resolved, subsample, kernel, error);
  if (!right)
    g_prefix_error(error, "filter=%s ", info->nick.nick);
  g_clear_pointer(&flat, cnv_taps_unref);
  return right;
}

/* Generates a 3D kernel: one frame times weights, or one term per frame. */
static gboolean
generate_volume(const CnvFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel, GError **error)
{
  const int depth = filter->kernel->depth;
  double weight[CNV_MAX_TEMPORAL_TAPS];
  int frame;

  if (depth <= CNV_MAX_TEMPORAL_TAPS && cnv_taps_split_time(filter->kernel, weight, &frame))
    return generate(filter, frame, subsample, kernel, error);
  if (depth > CNV_MAX_TERMS)
    return cnv_refuse(error,
                      "a kernel of %d frames that are not one of them times weights exceeds %d: shorten it in time",
                      depth, CNV_MAX_TERMS);
  for (int k = 0; k < depth; k++) {
    if (!generate(filter, filter->flip ? depth - 1 - k : k, subsample, kernel, error))
      return FALSE;
    kernel->term[k].temporal_tap = k;
  }
  return TRUE;
}

gboolean
cnv_filter_generate(const CnvFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel, GError **error)
{
  const CnvFilterInfo *info = cnv_filter_info(filter->type);
  gboolean right;

  memset(kernel, 0, sizeof(*kernel));
  right = check_numbers(filter, error) && (filter->type != CNV_FILTER_CUSTOM || check_given(filter, error)) &&
          (cnv_filter_is_volume(filter) ? generate_volume(filter, subsample, kernel, error)
                                        : generate(filter, -1, subsample, kernel, error));
  if (right && kernel->n_terms == 0)
    right = cnv_refuse(error, "filter=%s has no tap but 0: set a radius of at least 1 and a sigma near it",
                       info->nick.nick);
  for (int t = 0; right && t < kernel->n_terms; t++) {
    CnvKernelTerm *term = &kernel->term[t];

    /* Every algorithm is faster with taps that are a row times a column. */
    if (term->dense && cnv_taps_factor(term->dense, 1, &term->axis[CNV_X], &term->axis[CNV_Y]))
      g_clear_pointer(&term->dense, cnv_taps_unref);
    right = check_size(term, error);
  }
  right = right && check_products(filter, kernel, error);
  if (!right)
    cnv_kernel_clear(kernel);
  return right;
}

void
cnv_kernel_factor(CnvKernel *kernel, int max_dense)
{
  CnvTaps *dense = kernel->n_terms == 1 ? kernel->term[0].dense : NULL;
  CnvTaps *row[CNV_MAX_RANK], *column[CNV_MAX_RANK];
  int rank;

  if (!dense || dense->width * dense->height <= max_dense || cnv_taps_magnitude(dense) == 0)
    return;
  rank = (dense->width * dense->height - 1) / (dense->width + dense->height); /* the largest rank that needs fewer
                                                                                 products */
  rank = cnv_taps_factor(dense, MIN(rank, CNV_MAX_RANK), row, column);
  if (rank == 0)
    return;
  for (int t = 0; t < rank; t++) {
    kernel->term[t] = kernel->term[0];
    kernel->term[t].dense = NULL;
    kernel->term[t].axis[CNV_X] = row[t];
    kernel->term[t].axis[CNV_Y] = column[t];
  }
  kernel->n_terms = rank;
  cnv_taps_unref(dense);
}

/* Adds a row times a column to dense taps. Their centres coincide. */
static void
add_product(CnvTaps *dense, const CnvTaps *row, const CnvTaps *column)
{
  int left = (dense->width - row->width) / 2, top = (dense->height - column->width) / 2;

  for (int y = 0; y < column->width; y++)
    for (int x = 0; x < row->width; x++)
      dense->value[(top + y) * dense->width + left + x] += row->value[x] * column->value[y];
}

void
cnv_kernel_merge(CnvKernel *kernel, int most)
{
  CnvKernelTerm merged = {.temporal_tap = -1};
  int n[CNV_N_AXES];

  if (kernel->n_terms < 2 || kernel->magnitude || kernel->term[0].temporal_tap >= 0)
    return;
  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    for (int t = 0; t < kernel->n_terms; t++)
      merged.anchor[axis] = MAX(merged.anchor[axis], kernel->term[t].anchor[axis]);
    n[axis] = 2 * merged.anchor[axis] + 1;
  }
  if (n[CNV_X] > CNV_DENSE_MAX || n[CNV_Y] > CNV_DENSE_MAX || n[CNV_X] * n[CNV_Y] > most)
    return;
  merged.dense = cnv_taps_new(n[CNV_X], n[CNV_Y], NULL);
  for (int t = 0; t < kernel->n_terms; t++)
    add_product(merged.dense, kernel->term[t].axis[CNV_X], kernel->term[t].axis[CNV_Y]);
  cnv_kernel_clear(kernel);
  kernel->term[0] = merged;
  kernel->n_terms = 1;
}

gboolean
cnv_filter_check(const CnvFilter *filter, GError **error)
{
  double weight[CNV_MAX_TEMPORAL_TAPS];
  CnvKernel kernel;
  int anchor;

  if (!cnv_filter_temporal_taps(filter, weight, &anchor, error) ||
      !cnv_filter_generate(filter, (const int[]){1, 1}, &kernel, error))
    return FALSE;
  cnv_kernel_clear(&kernel);
  return TRUE;
}

int
cnv_filter_frames(const CnvFilter *filter)
{
  double weight[CNV_MAX_TEMPORAL_TAPS];
  int anchor;

  return cnv_filter_temporal_taps(filter, weight, &anchor, NULL);
}
