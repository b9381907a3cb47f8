/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * From filter, format and size to a plan. Taps come first, since planes with the same subsampling share them and an
 * engine may have room for only so many; then each plane's arithmetic; then the algorithm.
 */
#include <math.h>
#include <string.h>

#include <convolve/backend.h>

/* Sum of taps at or below this part of the sum of their magnitudes counts as 0. */
#define SUM_ZERO 1e-9

/* The same for the taps that found a sample under renormalize: engines add those up in float32. */
#define FOUND_ZERO 1e-6

const CnvNick cnv_algorithm_nicks[] = {
    {CNV_ALGORITHM_AUTO, "auto", "The fastest that can do the work"},
    {CNV_ALGORITHM_NAIVE, "naive", "A thread a sample, straight from memory; on the CPU the plain reference"},
    {CNV_ALGORITHM_TILED, "tiled", "A tile with its apron in fast memory, all taps at once"},
    {CNV_ALGORITHM_SEPARABLE, "separable", "A row pass and a column pass, for taps that are a row times a column"},
    {0, NULL, NULL},
};

/* Engines round by adding a number near 2^23, which takes a base of up to 2^21. */
#define BASE_MAX 1048576.0

/* Sums of one tap set that arithmetic needs in double, while the plan is made. */
typedef struct {
  double sum, magnitude;
} TapSums;

/* Appends n floats to the plan's taps and returns the index of the first. */
static guint
append(GArray *taps, const double *value, int n)
{
  guint first = taps->len;

  for (int i = 0; i < n; i++) {
    float f = (float)value[i];

    g_array_append_val(taps, f);
  }
  return first;
}

static void
append_prefix_sums(GArray *taps, guint first, int n)
{
  double sum = 0;

  for (int i = 0; i <= n; i++) {
    float f = (float)sum;

    g_array_append_val(taps, f);
    if (i < n)
      sum += g_array_index(taps, float, first + i);
  }
}

/* Sums of the taps as rounded to float32: normalising by these keeps a flat frame flat. */
static TapSums
sums_of(const GArray *taps, guint first, int n)
{
  TapSums sums = {0, 0};

  for (int i = 0; i < n; i++) {
    double t = g_array_index(taps, float, first + i);

    sums.sum += t;
    sums.magnitude += fabs(t);
  }
  return sums;
}

static TapSums
store_axis(GArray *taps, CnvTapSet *set, CnvAxis axis, const CnvTaps *from)
{
  TapSums sums;

  set->n[axis] = from->width;
  set->anchor[axis] = (from->width - 1) / 2;
  set->axis[axis] = append(taps, from->value, from->width);
  append_prefix_sums(taps, set->axis[axis], from->width);
  sums = sums_of(taps, set->axis[axis], from->width);
  set->sum[axis] = (float)sums.sum;
  set->least[axis] = (float)(FOUND_ZERO * sums.magnitude);
  return sums;
}

static TapSums
store_dense(GArray *taps, CnvTapSet *set, const CnvTaps *from)
{
  TapSums sums;

  set->n[CNV_X] = from->width;
  set->n[CNV_Y] = from->height;
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    set->anchor[axis] = (set->n[axis] - 1) / 2;
  set->dense = append(taps, from->value, from->width * from->height);
  sums = sums_of(taps, set->dense, from->width * from->height);
  set->sum[0] = (float)sums.sum;
  set->least[0] = (float)(FOUND_ZERO * sums.magnitude);
  set->sum[1] = 1;
  return sums;
}

static TapSums
store_kernel(GArray *taps, CnvTapSet *set, const CnvKernel *kernel)
{
  TapSums x, y;

  memset(set, 0, sizeof(*set));
  set->separable = kernel->dense == NULL;
  if (kernel->dense)
    return store_dense(taps, set, kernel->dense);
  x = store_axis(taps, set, CNV_X, kernel->axis[CNV_X]);
  y = store_axis(taps, set, CNV_Y, kernel->axis[CNV_Y]);
  return (TapSums){x.sum * y.sum, x.magnitude * y.magnitude};
}

/* The border colour as a component of full range 0..1 (R, G, B, Y) or -0.5..0.5 (U, V). */
static double
color_component(const CnvImage *image, guint32 argb, CnvRole role)
{
  double r = (argb >> 16 & 255) / 255.0, g = (argb >> 8 & 255) / 255.0, b = (argb & 255) / 255.0;
  double y = image->kr * r + (1 - image->kr - image->kb) * g + image->kb * b;

  switch (role) {
  case CNV_ROLE_R:
    return r;
  case CNV_ROLE_G:
    return g;
  case CNV_ROLE_B:
    return b;
  case CNV_ROLE_Y:
    return y;
  case CNV_ROLE_U:
    return (b - y) / (2 * (1 - image->kb));
  case CNV_ROLE_V:
    return (r - y) / (2 * (1 - image->kr));
  default:
    return 0; /* alpha and padding are copied: no border is ever read */
  }
}

/* Value of a sample outside the frame, ITU-R BT.709 section 3 for the limited range. */
static double
border_value(const CnvImage *image, guint32 argb, CnvRole role)
{
  double c = color_component(image, argb, role), full = (1 << image->format->depth) - 1;
  double unit = 1 << (image->format->depth - 8), value;

  if (role == CNV_ROLE_U || role == CNV_ROLE_V)
    value = (1 << (image->format->depth - 1)) + c * (image->full_range ? full : 224 * unit);
  else if (role == CNV_ROLE_Y && !image->full_range)
    value = (16 + 219 * c) * unit;
  else
    value = c * full;
  return CLAMP(rint(value), 0, full); /* full-range chroma of a pure colour is half a step too large */
}

static gboolean
role_is_filtered(CnvRole role)
{
  return role != CNV_ROLE_PADDING && role != CNV_ROLE_A;
}

/* The arithmetic of plan.h for one plane, from its tap sums. */
static void
set_arithmetic(const CnvPlan *plan, CnvPlanePlan *plane, const CnvPlaneFormat *format, TapSums sums)
{
  const CnvFilter *filter = &plan->filter;
  gboolean divide = filter->normalize && fabs(sums.sum) > SUM_ZERO * sums.magnitude;
  double gain = filter->scale / (divide ? sums.sum : 1);

  plane->gain = (float)gain;
  for (int c = 0; c < format->channels; c++) {
    gboolean chroma = format->role[c] == CNV_ROLE_U || format->role[c] == CNV_ROLE_V;
    double offset = chroma ? plan->mid : filter->bias * plan->full + gain * sums.sum * plan->mid;

    plane->base[c] = (float)CLAMP(2 * rint(offset / 2), -BASE_MAX, BASE_MAX);
    plane->fraction[c] = (float)(offset - plane->base[c]);
    plane->border[c] = (float)border_value(&plan->image, filter->border_color, format->role[c]) - plan->mid;
    if (role_is_filtered(format->role[c]))
      plane->filtered |= 1 << c;
  }
}

/* The plane before this one that shares its taps, or -1. */
static int
same_subsampling(const CnvFormat *format, int p)
{
  for (int q = 0; q < p; q++)
    if (format->plane[q].sub_x == format->plane[p].sub_x && format->plane[q].sub_y == format->plane[p].sub_y)
      return q;
  return -1;
}

static gboolean
fill_planes(CnvPlan *plan, GArray *taps, GError **error)
{
  const CnvFormat *format = plan->image.format;
  TapSums sums[CNV_MAX_PLANES];

  for (int p = 0; p < format->n_planes; p++) {
    const CnvPlaneFormat *from = &format->plane[p];
    CnvPlanePlan *plane = &plan->plane[p];
    int twin = same_subsampling(format, p);

    plane->width = cnv_format_plane_width(format, p, plan->image.width);
    plane->height = cnv_format_plane_height(format, p, plan->image.height);
    plane->channels = from->channels;
    if (twin >= 0) {
      plane->taps = plan->plane[twin].taps;
      sums[p] = sums[twin];
    } else {
      CnvKernel kernel;

      if (!cnv_filter_generate(&plan->filter, (const int[]){1 << from->sub_x, 1 << from->sub_y}, &kernel, error))
        return FALSE;
      sums[p] = store_kernel(taps, &plane->taps, &kernel);
      cnv_kernel_clear(&kernel);
    }
    set_arithmetic(plan, plane, from, sums[p]);
  }
  return TRUE;
}

/* Adds to a refusal which other choices there are. */
static void
add_choices(const CnvPlan *plan, const CnvPlanePlan *plane, GError **error)
{
  GString *choices = g_string_new("auto");

  for (const CnvNick *nick = cnv_algorithm_nicks + 1; nick->nick; nick++)
    if (plan->backend->can(nick->value, plan, plane, NULL))
      g_string_append_printf(choices, ", %s", nick->nick);
  g_prefix_error(error, "algorithm=%s on %s: ", cnv_algorithm_nicks[plan->requested].nick, plan->backend->name);
  if (error && *error) {
    char *message = g_strdup_printf("%s; choices: %s", (*error)->message, choices->str);

    g_free((*error)->message);
    (*error)->message = message;
  }
  g_string_free(choices, TRUE);
}

static gboolean
choose_algorithms(CnvPlan *plan, GError **error)
{
  for (int p = 0; p < plan->image.format->n_planes; p++) {
    CnvPlanePlan *plane = &plan->plane[p];

    if (!plane->filtered)
      continue;
    if (plan->requested == CNV_ALGORITHM_AUTO)
      plane->algorithm = plan->backend->choose(plan, plane);
    else
      plane->algorithm = plan->requested;
    if (!plan->backend->can(plane->algorithm, plan, plane, error)) {
      add_choices(plan, plane, error);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
check_size(const CnvImage *image, GError **error)
{
  if (image->width >= 1 && image->height >= 1 && image->width <= CNV_SIZE_MAX && image->height <= CNV_SIZE_MAX)
    return TRUE;
  g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS, "a frame of %dx%d is outside 1x1 to %dx%d: scale or crop it first",
              image->width, image->height, CNV_SIZE_MAX, CNV_SIZE_MAX);
  return FALSE;
}

CnvPlan *
cnv_plan_new(const CnvFilter *filter, const CnvImage *image, CnvAlgorithm requested, const CnvBackend *backend,
             GError **error)
{
  CnvPlan *plan;
  GArray *taps;
  gboolean ok;

  if (!check_size(image, error))
    return NULL;
  plan = g_new0(CnvPlan, 1);
  g_atomic_ref_count_init(&plan->refs);
  cnv_filter_copy(&plan->filter, filter);
  plan->image = *image;
  plan->requested = requested;
  plan->backend = backend;
  plan->mid = 1 << (image->format->depth - 1);
  plan->full = (1 << image->format->depth) - 1;

  taps = g_array_new(FALSE, FALSE, sizeof(float));
  ok = fill_planes(plan, taps, error);
  plan->n_taps = taps->len;
  plan->taps = (float *)g_array_free(taps, FALSE);
  if (!ok || !choose_algorithms(plan, error)) {
    cnv_plan_unref(plan);
    return NULL;
  }
  return plan;
}

CnvPlan *
cnv_plan_ref(CnvPlan *plan)
{
  g_atomic_ref_count_inc(&plan->refs);
  return plan;
}

void
cnv_plan_unref(CnvPlan *plan)
{
  if (!plan || !g_atomic_ref_count_dec(&plan->refs))
    return;
  cnv_filter_clear(&plan->filter);
  g_free(plan->taps);
  g_free(plan);
}

gboolean
cnv_plan_matches(const CnvPlan *plan, const CnvFilter *filter, const CnvImage *image, CnvAlgorithm requested,
                 const CnvBackend *backend)
{
  const CnvImage *own = &plan->image;

  return plan->backend == backend && plan->requested == requested && own->format == image->format &&
         own->width == image->width && own->height == image->height && own->kr == image->kr && own->kb == image->kb &&
         !own->full_range == !image->full_range && cnv_filter_equal(&plan->filter, filter);
}

/* The product of the taps at the anchor, and TRUE, where all others are 0. */
static gboolean
only_anchor(const float *taps, guint first, int n, int anchor, double *product)
{
  for (int i = 0; i < n; i++)
    if (i != anchor && taps[first + i] != 0)
      return FALSE;
  *product *= taps[first + anchor];
  return TRUE;
}

static gboolean
plane_is_identity(const CnvPlan *plan, const CnvPlanePlan *plane)
{
  const CnvTapSet *set = &plane->taps;
  double product = plane->gain;

  if (set->separable) {
    for (int axis = 0; axis < CNV_N_AXES; axis++)
      if (!only_anchor(plan->taps, set->axis[axis], set->n[axis], set->anchor[axis], &product))
        return FALSE;
  } else {
    int n = set->n[CNV_X] * set->n[CNV_Y], anchor = set->anchor[CNV_Y] * set->n[CNV_X] + set->anchor[CNV_X];

    if (!only_anchor(plan->taps, set->dense, n, anchor, &product))
      return FALSE;
  }
  /* Closer than half a level at full scale, so that rounding gives the input back. */
  if (fabs(product - 1) * plan->full > 0.25)
    return FALSE;
  for (int c = 0; c < plane->channels; c++)
    if (plane->filtered >> c & 1 && fabs((double)plane->base[c] + plane->fraction[c] - plan->mid) > 0.125)
      return FALSE;
  return TRUE;
}

gboolean
cnv_plan_is_identity(const CnvPlan *plan)
{
  for (int p = 0; p < plan->image.format->n_planes; p++)
    if (plan->plane[p].filtered && !plane_is_identity(plan, &plan->plane[p]))
      return FALSE;
  return TRUE;
}
