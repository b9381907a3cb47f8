/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The filter table and what a filter's settings mean. To add a filter: a generate function and its row below.
 */
#include <math.h>
#include <string.h>

#include "taps.h"

static const char axis_name[CNV_N_AXES] = {'x', 'y'};

void
cnv_filter_init(CnvFilter *filter)
{
  *filter = (CnvFilter){
      .type = CNV_FILTER_GAUSSIAN,
      .radius = -1,
      .radius_axis = {-1, -1},
      .truncate = CNV_TRUNCATE_DEFAULT,
      .normalize = TRUE,
      .scale = 1,
      .border = CNV_BORDER_REPLICATE,
      .border_color = 0xff000000,
  };
}

void
cnv_filter_copy(CnvFilter *to, const CnvFilter *from)
{
  *to = *from;
  if (to->kernel)
    cnv_taps_ref(to->kernel);
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    if (to->kernel_axis[axis])
      cnv_taps_ref(to->kernel_axis[axis]);
}

void
cnv_filter_clear(CnvFilter *filter)
{
  g_clear_pointer(&filter->kernel, cnv_taps_unref);
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    g_clear_pointer(&filter->kernel_axis[axis], cnv_taps_unref);
}

gboolean
cnv_filter_equal(const CnvFilter *a, const CnvFilter *b)
{
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    if (a->radius_axis[axis] != b->radius_axis[axis] || a->sigma_axis[axis] != b->sigma_axis[axis] ||
        !cnv_taps_equal(a->kernel_axis[axis], b->kernel_axis[axis]))
      return FALSE;
  return a->type == b->type && a->radius == b->radius && a->sigma == b->sigma && a->truncate == b->truncate &&
         !a->normalize == !b->normalize && a->scale == b->scale && a->bias == b->bias && a->border == b->border &&
         a->border_color == b->border_color && cnv_taps_equal(a->kernel, b->kernel);
}

static double
explicit_sigma(const CnvFilter *filter, CnvAxis axis)
{
  return filter->sigma_axis[axis] > 0 ? filter->sigma_axis[axis] : filter->sigma;
}

int
cnv_filter_radius(const CnvFilter *filter, CnvAxis axis)
{
  if (filter->radius_axis[axis] >= 0)
    return filter->radius_axis[axis];
  if (filter->radius >= 0)
    return filter->radius;
  if (explicit_sigma(filter, axis) > 0)
    return (int)ceil(filter->truncate * explicit_sigma(filter, axis));
  return CNV_RADIUS_DEFAULT;
}

double
cnv_filter_sigma(const CnvFilter *filter, CnvAxis axis)
{
  double sigma = explicit_sigma(filter, axis);

  return sigma > 0 ? sigma : 0.3 * (cnv_filter_radius(filter, axis) - 1) + 0.8;
}

static CnvTaps *
single_tap(void)
{
  return cnv_taps_new(1, 1, (const double[]){1});
}

static gboolean
generate_identity(const CnvFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel, GError **error)
{
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    kernel->axis[axis] = single_tap();
  return TRUE;
}

static gboolean
check_radius(const CnvFilter *filter, CnvAxis axis, GError **error)
{
  int radius = cnv_filter_radius(filter, axis);

  if (radius <= CNV_RADIUS_MAX)
    return TRUE;
  g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS,
              "radius %d along %c (truncate %g x sigma %g) exceeds %d: lower sigma or truncate, or set the radius",
              radius, axis_name[axis], filter->truncate, cnv_filter_sigma(filter, axis), CNV_RADIUS_MAX);
  return FALSE;
}

/* A filter made of a row and a column of the same kind. */
static gboolean
generate_axes(const CnvFilter *filter, const int subsample[CNV_N_AXES],
              CnvTaps *(*make)(int radius, double sigma, int step), CnvKernel *kernel, GError **error)
{
  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    int radius = cnv_filter_radius(filter, axis);

    if (!check_radius(filter, axis, error))
      return FALSE;
    kernel->axis[axis] = radius == 0 ? single_tap() : make(radius, cnv_filter_sigma(filter, axis), subsample[axis]);
  }
  return TRUE;
}

/* The mean over 2 * radius + 1 samples; on a coarser grid the two outermost taps count for the part that they cover. */
static CnvTaps *
make_box(int radius, double sigma, int step)
{
  double width = (2.0 * radius + 1) / step;
  int reach = (int)ceil((width - 1) / 2);
  CnvTaps *taps = cnv_taps_new(2 * reach + 1, 1, NULL);

  for (int i = 0; i <= 2 * reach; i++)
    taps->value[i] = 1;
  if (reach > 0)
    taps->value[0] = taps->value[2 * reach] = (width - (2 * reach - 1)) / 2;
  return taps;
}

static CnvTaps *
make_gaussian(int radius, double sigma, int step)
{
  int reach = (radius + step - 1) / step;
  CnvTaps *taps = cnv_taps_new(2 * reach + 1, 1, NULL);

  for (int i = -reach; i <= reach; i++)
    taps->value[i + reach] = exp(-0.5 * (i * step / sigma) * (i * step / sigma));
  return taps;
}

static gboolean
generate_box(const CnvFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel, GError **error)
{
  return generate_axes(filter, subsample, make_box, kernel, error);
}

static gboolean
generate_gaussian(const CnvFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel, GError **error)
{
  return generate_axes(filter, subsample, make_gaussian, kernel, error);
}

static gboolean
custom_axes(const CnvFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel)
{
  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    const int step[CNV_N_AXES] = {subsample[axis], 1};

    kernel->axis[axis] = filter->kernel_axis[axis] ? cnv_taps_gather(filter->kernel_axis[axis], step) : single_tap();
  }
  return TRUE;
}

static gboolean
generate_custom(const CnvFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel, GError **error)
{
  gboolean axes = filter->kernel_axis[CNV_X] || filter->kernel_axis[CNV_Y];

  if (filter->kernel && axes) {
    g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS,
                "filter=custom has both kernel and kernel-x or kernel-y: set one of them to <> (none)");
    return FALSE;
  }
  if (axes)
    return custom_axes(filter, subsample, kernel);
  if (!filter->kernel) {
    g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS,
                "filter=custom has no taps: set kernel, or kernel-x and kernel-y, for example kernel=\"<1,2,1>\"");
    return FALSE;
  }
  kernel->dense = cnv_taps_gather(filter->kernel, subsample);
  return TRUE;
}

const CnvFilterInfo cnv_filters[] = {
    {{CNV_FILTER_IDENTITY, "identity", "One tap of 1: the picture as it is, for scale and bias"}, generate_identity},
    {{CNV_FILTER_BOX, "box", "Mean of the samples within the radius"}, generate_box},
    {{CNV_FILTER_GAUSSIAN, "gaussian", "Gaussian blur by radius and sigma"}, generate_gaussian},
    {{CNV_FILTER_CUSTOM, "custom", "The taps of kernel, or of kernel-x and kernel-y"}, generate_custom},
    {{0, NULL, NULL}, NULL},
};

const CnvNick cnv_border_nicks[] = {
    {CNV_BORDER_CONSTANT, "constant", "kkkk|abcd|kkkk: the border-color"},
    {CNV_BORDER_REPLICATE, "replicate", "aaaa|abcd|dddd: the edge sample repeated"},
    {CNV_BORDER_REFLECT, "reflect", "dcba|abcd|dcba: mirrored, the edge sample twice"},
    {CNV_BORDER_REFLECT_101, "reflect-101", "edcb|abcde|dcba: mirrored about the edge sample"},
    {CNV_BORDER_WRAP, "wrap", "abcd|abcd|abcd: the other side"},
    {CNV_BORDER_RENORMALIZE, "renormalize", "Missing samples left out, the other taps scaled to the same sum"},
    {0, NULL, NULL},
};

void
cnv_kernel_clear(CnvKernel *kernel)
{
  g_clear_pointer(&kernel->dense, cnv_taps_unref);
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    g_clear_pointer(&kernel->axis[axis], cnv_taps_unref);
}

static gboolean
check_taps(const CnvTaps *taps, const char *what, int max_width, int max_height, const char *remedy, GError **error)
{
  if (!cnv_taps_finite(taps)) {
    g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS, "%s holds a tap that is not a finite number: correct it", what);
    return FALSE;
  }
  if (taps->width <= max_width && taps->height <= max_height)
    return TRUE;
  g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS, "%s of %dx%d taps exceeds %dx%d: %s", what, taps->width,
              taps->height, max_width, max_height, remedy);
  return FALSE;
}

/* Taps that are a row times a column are kept so: every algorithm is faster on them. */
static void
factor(CnvKernel *kernel)
{
  if (cnv_taps_factor(kernel->dense, &kernel->axis[CNV_X], &kernel->axis[CNV_Y]))
    g_clear_pointer(&kernel->dense, cnv_taps_unref);
}

gboolean
cnv_filter_generate(const CnvFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel, GError **error)
{
  const int longest = 2 * CNV_RADIUS_MAX + 1;

  memset(kernel, 0, sizeof(*kernel));
  if (!isfinite(filter->scale) || !isfinite(filter->bias) || fabs(filter->scale) > 1e6 || fabs(filter->bias) > 1e3) {
    g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS,
                "scale %g, bias %g: the limits are 1e6 and 1e3 either way; lower them", filter->scale, filter->bias);
    return FALSE;
  }
  if (!cnv_filters[filter->type].generate(filter, subsample, kernel, error))
    goto refused;
  if (kernel->dense)
    factor(kernel);
  if (kernel->dense) {
    if (!check_taps(kernel->dense, "a kernel that is not separable", CNV_DENSE_MAX, CNV_DENSE_MAX, "shorten it", error))
      goto refused;
  } else {
    for (int axis = 0; axis < CNV_N_AXES; axis++)
      if (!check_taps(kernel->axis[axis], axis == CNV_X ? "a row" : "a column", longest, 1, "shorten it", error))
        goto refused;
  }
  return TRUE;

refused:
  cnv_kernel_clear(kernel);
  return FALSE;
}
