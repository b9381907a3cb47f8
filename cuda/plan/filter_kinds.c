/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of filters. To add a filter, write a generate function and add a row where users should find it.
 * CONTRIBUTING.md says how.
 */
#include <math.h>

#include "plan/kernel.h"

/* Largest radius of a kernel that is not separable. */
#define DENSE_RADIUS ((CNV_DENSE_MAX - 1) / 2)

/* ---- taps of known shapes ----
 *
 * Each axis has an odd number of taps, with the anchor in the middle. step: distance of the plane's samples, in luma
 * samples: 1, 2 or 4. Radius and sigma are in luma samples. */

static CnvTaps *
single_taps(double value)
{
  return cnv_taps_new(1, 1, &value);
}

/* Returns a row of taps, moved from the grid of luma to the grid of a subsampled plane, and frees `taps`. */
static CnvTaps *
regrid(CnvTaps *taps, int step)
{
  int anchor[CNV_N_AXES] = {(taps->width - 1) / 2, 0};
  CnvTaps *out = cnv_taps_gather(taps, (const int[]){step, 1}, FALSE, anchor);

  cnv_taps_unref(taps);
  return out;
}

/* Returns the number of taps on each side of a box, in a plane whose samples are step luma samples apart. */
static int
box_reach(int radius, int step)
{
  return (int)ceil(((2.0 * radius + 1) / step - 1) / 2);
}

/* Returns a row of equal taps that covers 2 * radius + 1 luma samples. On a coarser grid, each outermost tap is the
 * fraction of its sample that the box covers. */
static CnvTaps *
box_taps(int radius, int step)
{
  const int reach = box_reach(radius, step);
  CnvTaps *taps = cnv_taps_new(2 * reach + 1, 1, NULL);

  for (int i = 0; i <= 2 * reach; i++)
    taps->value[i] = 1;
  if (reach > 0)
    taps->value[0] = taps->value[2 * reach] = ((2.0 * radius + 1) / step - (2 * reach - 1)) / 2;
  return taps;
}

static CnvTaps *
gaussian_taps(int radius, double sigma, int step)
{
  const int reach = (radius + step - 1) / step;
  CnvTaps *taps = cnv_taps_new(2 * reach + 1, 1, NULL);

  for (int i = -reach; i <= reach; i++)
    taps->value[i + reach] = exp(-0.5 * (i * step / sigma) * (i * step / sigma));
  return taps;
}

/* Points along each side of the grid that measures which fraction of a sample's cell lies in a disk. */
#define DISK_GRID 8

/* Returns the taps of an ellipse whose half axes reach the outer edges of the outermost samples. */
static CnvTaps *
disk_taps(const int radius[CNV_N_AXES], const int step[CNV_N_AXES])
{
  const int reach = box_reach(radius[CNV_X], step[CNV_X]);
  CnvTaps *taps = cnv_taps_new(2 * reach + 1, 2 * box_reach(radius[CNV_Y], step[CNV_Y]) + 1, NULL);

  for (int line = 0; line < taps->height * DISK_GRID; line++) {
    const double y = ((line + 0.5) / DISK_GRID - taps->height / 2.0) * step[CNV_Y] / (radius[CNV_Y] + 0.5);
    const double x = (radius[CNV_X] + 0.5) / step[CNV_X] * sqrt(fmax(1 - y * y, 0));
    const int half = (int)ceil(x * DISK_GRID - 0.5);

    for (int i = 0; i < taps->width; i++) {
      const int first = (i - reach) * DISK_GRID - DISK_GRID / 2;
      const int inside = MIN(first + DISK_GRID, half) - MAX(first, -half);

      taps->value[line / DISK_GRID * taps->width + i] += MAX(inside, 0) / (double)(DISK_GRID * DISK_GRID);
    }
  }
  return taps;
}

/* Returns a row of taps convolved with three taps, and frees `taps`. */
static CnvTaps *
convolved(CnvTaps *taps, double a, double b, double c)
{
  const double by[] = {a, b, c};
  CnvTaps *out = cnv_taps_new(taps->width + 2, 1, NULL);

  for (int i = 0; i < taps->width; i++)
    for (int k = 0; k < 3; k++)
      out->value[i + k] += taps->value[i] * by[k];
  cnv_taps_unref(taps);
  return out;
}

/* Returns the row 1 2 1, convolved with itself until its radius is `radius`. */
static CnvTaps *
binomial_taps(int radius)
{
  CnvTaps *taps = single_taps(1);

  for (int i = 0; i < radius; i++)
    taps = convolved(taps, 1, 2, 1);
  return taps;
}

/* Returns the row -radius to radius. */
static CnvTaps *
prewitt_taps(int radius)
{
  CnvTaps *taps = cnv_taps_new(2 * radius + 1, 1, NULL);

  for (int i = -radius; i <= radius; i++)
    taps->value[i + radius] = i;
  return taps;
}

/* Returns the second derivative of a gaussian whose taps add up to 1. Sampling and truncation leave a sum other than 0,
 * which is subtracted in proportion to the gaussian. */
static CnvTaps *
second_derivative(const CnvTaps *gaussian, double sigma, int step)
{
  const int reach = (gaussian->width - 1) / 2;
  CnvTaps *taps = cnv_taps_new(gaussian->width, 1, NULL);
  double sum;

  for (int i = -reach; i <= reach; i++) {
    const double x = i * step / sigma;

    taps->value[i + reach] = (x * x - 1) / (sigma * sigma) * gaussian->value[i + reach];
  }
  sum = cnv_taps_sum(taps);
  for (int i = 0; i < taps->width; i++)
    taps->value[i] -= sum * gaussian->value[i];
  return taps;
}

/* ---- filters ---- */

/* Adds a separable term with the anchor in the middle, and takes ownership of the arrays. A term whose taps are all 0
 * is not added. */
static void
add_term(CnvKernel *kernel, CnvTaps *x, CnvTaps *y)
{
  if (cnv_taps_magnitude(x) == 0 || cnv_taps_magnitude(y) == 0) {
    cnv_taps_unref(x);
    cnv_taps_unref(y);
    return;
  }
  kernel->term[kernel->n_terms++] =
      (CnvKernelTerm){.axis = {x, y}, .anchor = {(x->width - 1) / 2, (y->width - 1) / 2}, .temporal_tap = -1};
}

static void
add_dense(CnvKernel *kernel, CnvTaps *dense)
{
  kernel->term[kernel->n_terms++] =
      (CnvKernelTerm){.dense = dense, .anchor = {(dense->width - 1) / 2, (dense->height - 1) / 2}, .temporal_tap = -1};
}

/* Generates one tap of 1. */
static gboolean
generate_point(const CnvResolvedFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel, GError **error)
{
  add_term(kernel, single_taps(1), single_taps(1));
  return TRUE;
}

/* Computes the unit vector of an angle. Multiples of 90 degrees give exact vectors. */
static void
direction(double angle, double unit[CNV_N_AXES])
{
  const double radians = fmod(angle, 360) * G_PI / 180;

  unit[CNV_X] = cos(radians);
  unit[CNV_Y] = sin(radians);
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    if (fabs(unit[axis]) < 1e-9) {
      unit[axis] = 0;
      unit[1 - axis] = copysign(1, unit[1 - axis]);
    }
}

/* Makes a row and a column: of a box for box and disk, else of a gaussian. */
static void
make_axes(const CnvResolvedFilter *filter, const int subsample[CNV_N_AXES], CnvTaps *taps[CNV_N_AXES])
{
  gboolean box = filter->settings->type == CNV_FILTER_BOX || filter->settings->type == CNV_FILTER_DISK;

  for (int axis = 0; axis < CNV_N_AXES; axis++)
    taps[axis] = box ? box_taps(filter->radius[axis], subsample[axis])
                     : gaussian_taps(filter->radius[axis], filter->sigma[axis], subsample[axis]);
}

static gboolean
generate_axes(const CnvResolvedFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel, GError **error)
{
  CnvTaps *taps[CNV_N_AXES];

  make_axes(filter, subsample, taps);
  add_term(kernel, taps[CNV_X], taps[CNV_Y]);
  return TRUE;
}

static gboolean
generate_disk(const CnvResolvedFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel, GError **error)
{
  if (filter->radius[CNV_X] == 0 || filter->radius[CNV_Y] == 0)
    return generate_axes(filter, subsample, kernel, error);
  add_dense(kernel, disk_taps(filter->radius, subsample));
  return TRUE;
}

static gboolean
generate_motion(const CnvResolvedFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel, GError **error)
{
  const int radius = filter->radius[CNV_X];
  double unit[CNV_N_AXES]; /* from one point of the line to the next */
  int reach[CNV_N_AXES];
  CnvTaps *line;

  direction(filter->settings->angle, unit);
  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    unit[axis] /= subsample[axis];
    reach[axis] = (int)ceil(radius * fabs(unit[axis]) - 1e-10);
  }
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    if (reach[axis] > DENSE_RADIUS && reach[1 - axis] > 0)
      return cnv_refuse(error,
                        "with radius %d and angle %g reaches %d samples along %c, and a slanted line may only reach %d "
                        "(%d taps): lower the radius, or set an angle that is a multiple of 90",
                        radius, filter->settings->angle, reach[axis], "xy"[axis], DENSE_RADIUS, CNV_DENSE_MAX);
  line = cnv_taps_new(2 * reach[CNV_X] + 1, 2 * reach[CNV_Y] + 1, NULL);
  for (int t = -radius; t <= radius; t++)
    cnv_taps_add_point(line, t * unit[CNV_X] + reach[CNV_X], t * unit[CNV_Y] + reach[CNV_Y], 1);
  add_dense(kernel, line);
  return TRUE;
}

/* Generates the original minus amount times its Laplacian. */
static gboolean
generate_sharpen(const CnvResolvedFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel, GError **error)
{
  CnvTaps *second[CNV_N_AXES];

  for (int axis = 0; axis < CNV_N_AXES; axis++)
    second[axis] =
        regrid(cnv_taps_scale(convolved(single_taps(1), 1, -2, 1), -filter->settings->amount), subsample[axis]);
  second[CNV_X]->value[(second[CNV_X]->width - 1) / 2] += 1;
  add_term(kernel, second[CNV_X], single_taps(1));
  add_term(kernel, single_taps(1), second[CNV_Y]);
  return TRUE;
}

/* Generates the original plus amount times its difference from a gaussian blur. */
static gboolean
generate_unsharp(const CnvResolvedFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel, GError **error)
{
  CnvTaps *blur[CNV_N_AXES];

  make_axes(filter, subsample, blur);
  add_term(kernel, single_taps(1 + filter->settings->amount), single_taps(1));
  add_term(kernel, cnv_taps_scale(blur[CNV_X], -filter->settings->amount / cnv_taps_sum(blur[CNV_X])),
           cnv_taps_scale(blur[CNV_Y], 1 / cnv_taps_sum(blur[CNV_Y])));
  return TRUE;
}

/* Adds factor[CNV_X] times the derivative along x, smoothed along y, and likewise for y. Takes ownership of the
 * arrays. */
static void
add_derivatives(CnvKernel *kernel, CnvTaps *smooth, CnvTaps *derivative, const double factor[CNV_N_AXES],
                const int subsample[CNV_N_AXES])
{
  CnvTaps *across = cnv_taps_new(derivative->width, 1, derivative->value);

  add_term(kernel, regrid(cnv_taps_scale(across, factor[CNV_X]), subsample[CNV_X]),
           regrid(cnv_taps_ref(smooth), subsample[CNV_Y]));
  add_term(kernel, regrid(smooth, subsample[CNV_X]),
           regrid(cnv_taps_scale(derivative, factor[CNV_Y]), subsample[CNV_Y]));
}

static gboolean
generate_gradient(const CnvResolvedFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel, GError **error)
{
  double factor[CNV_N_AXES] = {filter->settings->gradient != CNV_GRADIENT_Y,
                               filter->settings->gradient != CNV_GRADIENT_X};
  gboolean sobel = filter->settings->type == CNV_FILTER_SOBEL;
  const int radius = filter->radius[CNV_X];
  CnvTaps *smooth;

  if (filter->settings->gradient == CNV_GRADIENT_DIRECTIONAL)
    direction(filter->settings->angle, factor);
  if (filter->settings->type == CNV_FILTER_SCHARR)
    smooth = cnv_taps_new(3, 1, (const double[]){3, 10, 3});
  else
    smooth = sobel ? binomial_taps(radius) : box_taps(radius, 1);
  add_derivatives(kernel, smooth, sobel ? convolved(binomial_taps(radius - 1), -1, 0, 1) : prewitt_taps(radius), factor,
                  subsample);
  kernel->magnitude = filter->settings->gradient == CNV_GRADIENT_MAGNITUDE;
  return TRUE;
}

/* Generates the second derivatives along both axes, smoothed across if the radius is at least 2. */
static gboolean
generate_laplacian(const CnvResolvedFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel, GError **error)
{
  static const double both[CNV_N_AXES] = {1, 1};
  const int radius = filter->radius[CNV_X];

  add_derivatives(kernel, binomial_taps(radius == 1 ? 0 : radius), convolved(binomial_taps(radius - 1), 1, -2, 1), both,
                  subsample);
  return TRUE;
}

static gboolean
generate_log(const CnvResolvedFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel, GError **error)
{
  CnvTaps *blur[CNV_N_AXES], *second[CNV_N_AXES];

  make_axes(filter, subsample, blur);
  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    cnv_taps_scale(blur[axis], 1 / cnv_taps_sum(blur[axis]));
    second[axis] = second_derivative(blur[axis], filter->sigma[axis], subsample[axis]);
  }
  add_term(kernel, second[CNV_X], blur[CNV_Y]);
  add_term(kernel, blur[CNV_X], second[CNV_Y]);
  return TRUE;
}

/* Generates the original plus amount times its mean slope in the direction of the angle. */
static gboolean
generate_emboss(const CnvResolvedFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel, GError **error)
{
  const int radius = filter->radius[CNV_X];
  double factor[CNV_N_AXES];

  direction(filter->settings->angle, factor);
  for (int axis = 0; axis < CNV_N_AXES; axis++) /* divided by the sum of the smoothing taps, and by the sum of the
                                                   positive taps of the derivative */
    factor[axis] *= filter->settings->amount / ((2 * radius + 1) * (radius * (radius + 1) / 2));
  add_term(kernel, single_taps(1), single_taps(1));
  add_derivatives(kernel, box_taps(radius, 1), prewitt_taps(radius), factor, subsample);
  return TRUE;
}

/* Side of a cell of fill, in luma samples: a size that suits the engines. */
#define FILL_CELL 64

/* Sets the size of the cells, and generates one tap of 1, because a cell's mean is a mean of unfiltered samples. */
static gboolean
generate_cells(const CnvResolvedFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel, GError **error)
{
  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    int size = filter->settings->type == CNV_FILTER_FILL ? FILL_CELL : 2 * filter->radius[axis] + 1;

    kernel->cell_step[axis] = subsample[axis];
    kernel->cell[axis] = MAX(size, subsample[axis]);
  }
  return generate_point(filter, subsample, kernel, error);
}

static gboolean
generate_custom(const CnvResolvedFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel, GError **error)
{
  const CnvTaps *dense = filter->kernel;
  CnvTaps *const *axes = filter->settings->kernel_axis;
  CnvKernelTerm term = {.temporal_tap = -1};

  if (dense && (axes[CNV_X] || axes[CNV_Y]))
    return cnv_refuse(error, "has both kernel and kernel-x or kernel-y: set one of them to <> (none)");
  if (!dense && !axes[CNV_X] && !axes[CNV_Y] && !filter->settings->kernel_t)
    return cnv_refuse(error, "has no taps: set kernel, or kernel-x and kernel-y, for example kernel=\"<1,2,1>\"");
  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    const CnvTaps *given = dense ? dense : axes[axis];
    int n = !given ? 1 : dense && axis == CNV_Y ? given->height : given->width;

    term.anchor[axis] = filter->settings->anchor[axis] == -1 ? (n - 1) / 2 : filter->settings->anchor[axis];
    if (term.anchor[axis] < 0 || term.anchor[axis] >= n)
      return cnv_refuse(error, "with anchor-%c %d has taps 0..%d along %c: set one of these, or -1 (centre)",
                        "xy"[axis], term.anchor[axis], n - 1, "xy"[axis]);
  }
  if (dense)
    term.dense = cnv_taps_gather(dense, subsample, filter->settings->flip, term.anchor);
  for (int axis = 0; axis < CNV_N_AXES && !dense; axis++) {
    int anchor[CNV_N_AXES] = {term.anchor[axis], 0};

    term.axis[axis] =
        axes[axis] ? cnv_taps_gather(axes[axis], (const int[]){subsample[axis], 1}, filter->settings->flip, anchor)
                   : single_taps(1);
    term.anchor[axis] = anchor[0];
  }
  kernel->term[kernel->n_terms++] = term;
  return TRUE;
}

/* clang-format off */
const CnvFilterInfo cnv_filters[] = {
    {.nick = {CNV_FILTER_IDENTITY, "identity", "One tap of 1, for scale, bias, absolute and filters over time"},
     .generate = generate_point, .is_positive = TRUE},
    {.nick = {CNV_FILTER_BOX, "box", "Mean of the samples within the radius"},
     .generate = generate_axes, .default_radius = 8, .max_radius = CNV_RADIUS_MAX, .is_positive = TRUE},
    {.nick = {CNV_FILTER_GAUSSIAN, "gaussian", "Gaussian blur, set by radius or sigma"},
     .generate = generate_axes, .properties = "sigma sigma-x sigma-y",
     .default_radius = 8, .max_radius = CNV_RADIUS_MAX, .is_positive = TRUE},
    {.nick = {CNV_FILTER_DISK, "disk", "Mean over a disk, like a lens out of focus; radius at most 63"},
     .generate = generate_disk, .default_radius = 8, .max_radius = DENSE_RADIUS, .is_positive = TRUE},
    {.nick = {CNV_FILTER_MOTION, "motion", "Mean along a line at angle, radius samples both ways"},
     .generate = generate_motion, .properties = "angle",
     .default_radius = 8, .max_radius = CNV_RADIUS_MAX, .is_positive = TRUE},
    {.nick = {CNV_FILTER_SHARPEN, "sharpen", "The picture minus amount times its Laplacian"},
     .generate = generate_sharpen, .properties = "amount"},
    {.nick = {CNV_FILTER_UNSHARP, "unsharp", "The picture plus amount times its difference from its gaussian blur"},
     .generate = generate_unsharp, .properties = "amount sigma sigma-x sigma-y",
     .default_radius = 8, .max_radius = CNV_RADIUS_MAX},
    {.nick = {CNV_FILTER_SOBEL, "sobel", "Sobel derivative, see gradient; radius 1 to 3"},
     .generate = generate_gradient, .properties = "gradient angle",
     .default_radius = 1, .max_radius = 3, .is_gradient = TRUE, .sums_to_0 = TRUE},
    {.nick = {CNV_FILTER_SCHARR, "scharr", "Scharr derivative, see gradient; radius 1"},
     .generate = generate_gradient, .properties = "gradient angle",
     .default_radius = 1, .max_radius = 1, .is_gradient = TRUE, .sums_to_0 = TRUE},
    {.nick = {CNV_FILTER_PREWITT, "prewitt", "Prewitt derivative, see gradient; radius 1 to 3"},
     .generate = generate_gradient, .properties = "gradient angle",
     .default_radius = 1, .max_radius = 3, .is_gradient = TRUE, .sums_to_0 = TRUE},
    {.nick = {CNV_FILTER_LAPLACIAN, "laplacian", "Sum of the second derivatives; radius 1 to 3"},
     .generate = generate_laplacian, .default_radius = 1, .max_radius = 3, .sums_to_0 = TRUE},
    {.nick = {CNV_FILTER_LOG, "log", "Laplacian of a gaussian, set by radius or sigma"},
     .generate = generate_log, .properties = "sigma sigma-x sigma-y",
     .default_radius = 8, .max_radius = CNV_RADIUS_MAX, .sums_to_0 = TRUE},
    {.nick = {CNV_FILTER_EMBOSS, "emboss", "The picture plus amount times its slope at angle; radius 1 to 3"},
     .generate = generate_emboss, .properties = "amount angle",
     .default_radius = 1, .max_radius = 3},
    {.nick = {CNV_FILTER_MOSAIC, "mosaic", "Cells of 2*radius+1 samples, each filled with its mean"},
     .generate = generate_cells, .default_radius = 8, .max_radius = CNV_RADIUS_MAX, .is_positive = TRUE},
    {.nick = {CNV_FILTER_FILL, "fill", "The fill-color in every filtered sample"},
     .generate = generate_cells, .properties = "fill-color", .is_positive = TRUE},
    {.nick = {CNV_FILTER_CUSTOM, "custom", "The taps of kernel, kernel-location, or kernel-x and kernel-y"},
     .generate = generate_custom, .properties = "kernel-location kernel kernel-x kernel-y anchor-x anchor-y"},
    {.nick = {0, NULL, NULL}},
};
/* clang-format on */

const CnvFilterInfo *
cnv_filter_info(CnvFilterType type)
{
  const CnvFilterInfo *info = cnv_filters;

  while (info->nick.nick && info->nick.value != (int)type)
    info++;
  return info;
}

gboolean
cnv_filter_uses(CnvFilterType type, const char *property)
{
  const char *properties = cnv_filter_info(type)->properties;
  g_auto(GStrv) names = g_strsplit(properties ? properties : "", " ", -1);

  return g_strv_contains((const char *const *)names, property);
}
