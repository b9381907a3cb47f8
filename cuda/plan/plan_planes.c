/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Computes the taps of each plane, and the numbers of its arithmetic. Planes with the same subsampling share their
 * taps, because an engine may have memory for few taps.
 */
#include "plan/plan.h"

#include <math.h>
#include <string.h>

#include "plan/job.h"
#include "plan/kernel.h"

/* Limit of a base's magnitude. Engines round by adding a number near 2^23, which allows a base of up to 2^21. */
#define BASE_MAX 1048576.0

/* Sums of taps up to this fraction of the sum of their magnitudes count as 0. */
#define SUM_ZERO 1e-9

#define CHROMA_ROLES (1u << CNV_ROLE_U | 1u << CNV_ROLE_V)
#define IS_CHROMA(role) (CHROMA_ROLES >> (role)&1)

/* Sums of alpha up to this fraction of the sum for full alpha count as 0. */
#define ALPHA_ZERO 1e-6

/* ---- taps ---- */

/* Taps that several planes share: either those of chroma, if they differ, or those of all other planes. */
typedef struct {
  const CnvPlane *plane; /* the first plane with these taps; NULL: none yet */
  double sum;            /* sum of the taps after rounding to float32, in the picture and in time */
  gboolean cancel;       /* the taps add up to 0, before or after rounding, so there is no sum to divide by */
} PlanTaps;

/* Appends taps and, for an axis with renormalize, their prefix sums. If an axis of the plane's terms up to this one has
 * the same taps, appends nothing. Returns the index of the first tap. */
static guint
append(GArray *taps, const CnvPlane *plane, const CnvTerm *term, const CnvTaps *from)
{
  guint first = taps->len;
  int n = from->width * from->height;
  double sum = 0;

  for (int i = 0; i < n; i++)
    g_array_append_vals(taps, &(float){(float)from->value[i]}, 1);
  for (const CnvTerm *other = plane->term; other <= term && term->separable; other++)
    for (int axis = 0; axis < CNV_N_AXES; axis++)
      if (other->separable && other->n[axis] == n &&
          memcmp(&g_array_index(taps, float, other->taps[axis]), &g_array_index(taps, float, first),
                 n * sizeof(float)) == 0) {
        g_array_set_size(taps, first);
        return other->taps[axis];
      }
  for (int i = 0; i <= n && term->separable && cnv_border_renormalizes(plane->border); i++) {
    g_array_append_vals(taps, &(float){(float)sum}, 1);
    sum += i < n ? (float)from->value[i] : 0;
  }
  return first;
}

/* Stores array i of a term: the taps of an axis or, if dense, all taps. Rounds `from` to float32 as well: normalising
 * by the sum of the rounded taps keeps a flat frame flat. */
static void
store_array(GArray *taps, const CnvPlane *plane, CnvTerm *term, int i, CnvTaps *from)
{
  for (int k = 0; k < from->width * from->height; k++)
    from->value[k] = (float)from->value[k];
  term->taps[i] = append(taps, plane, term, from);
  term->n[i] = from->width;
  term->sum[i] = (float)cnv_taps_sum(from);
  term->epsilon[i] = (float)(CNV_FOUND_ZERO * cnv_taps_magnitude(from));
}

/* Stores a term of a plane. The terms before it are stored already. */
static void
store_term(GArray *taps, const CnvPlane *plane, CnvTerm *term, const CnvKernelTerm *from)
{
  *term = (CnvTerm){.n[CNV_Y] = from->dense ? from->dense->height : 0,
                    .anchor = {from->anchor[CNV_X], from->anchor[CNV_Y]},
                    .separable = !from->dense,
                    .temporal_tap = from->temporal_tap,
                    .sum = {1, 1}};
  for (int i = 0; i < (from->dense ? 1 : CNV_N_AXES); i++)
    store_array(taps, plane, term, i, from->dense ? from->dense : from->axis[i]);
}

/* Stores the terms of a kernel in a plane whose border is set, and appends their taps (float). */
static void
store_kernel(CnvPlane *plane, GArray *taps, const CnvKernel *kernel, gboolean absolute)
{
  plane->n_terms = kernel->n_terms;
  plane->joint = kernel->n_terms > 1 && !kernel->magnitude;
  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    plane->cell[axis] = kernel->cell[axis];
    plane->cell_shift[axis] = kernel->cell[axis] ? g_bit_nth_lsf((gulong)kernel->cell_step[axis], -1) : 0;
  }
  plane->combine = kernel->magnitude ? CNV_COMBINE_MAGNITUDE : absolute ? CNV_COMBINE_ABSOLUTE : CNV_COMBINE_SUM;
  for (int t = 0; t < kernel->n_terms; t++)
    store_term(taps, plane, &plane->term[t], &kernel->term[t]);
}

/* Stores a kernel as the taps of a plane, and returns their sums. */
static PlanTaps
store_taps(const CnvPlan *plan, CnvPlane *plane, GArray *taps, const CnvKernel *kernel)
{
  double exact = cnv_kernel_total(kernel, cnv_taps_sum), sum, magnitude;
  double time_exact = 0, time_sum = 0, time_magnitude = 0;

  store_kernel(plane, taps, kernel, plan->filter.absolute);
  sum = cnv_kernel_total(kernel, cnv_taps_sum);
  magnitude = cnv_kernel_total(kernel, cnv_taps_magnitude);
  plane->sum = (float)sum;
  plane->epsilon = (float)(CNV_FOUND_ZERO * magnitude);
  for (int k = 0; k < plan->n_temporal_taps; k++) {
    time_exact += plan->temporal_sum[k];
    time_sum += plan->weight[k];
    time_magnitude += fabs(plan->weight[k]);
  }
  if (!plan->not_time_separable) {
    exact *= time_exact;
    sum *= time_sum;
    magnitude *= time_magnitude;
  }
  plane->alpha_norm = (float)sum;
  plane->alpha_epsilon = (float)(ALPHA_ZERO * magnitude);
  return (PlanTaps){plane, sum, sum == 0 || fabs(exact) <= SUM_ZERO * magnitude};
}

/* ---- planes ---- */

/* Returns the value of a sample of that colour. Limited range is as in ITU-R BT.709, section 3. */
static double
color_value(const CnvImage *image, guint32 argb, CnvRole role)
{
  const double r = (argb >> 16 & 255) / 255.0, g = (argb >> 8 & 255) / 255.0, b = (argb & 255) / 255.0;
  const double y = image->kr * r + (1 - image->kr - image->kb) * g + image->kb * b;
  const double color[] = {[CNV_ROLE_PADDING] = 0, /* copied, so its border is never read */
                          [CNV_ROLE_R] = r,
                          [CNV_ROLE_G] = g,
                          [CNV_ROLE_B] = b,
                          [CNV_ROLE_Y] = y,
                          [CNV_ROLE_U] = (b - y) / (2 * (1 - image->kb)), /* -0.5..0.5; others are 0..1 */
                          [CNV_ROLE_V] = (r - y) / (2 * (1 - image->kr)),
                          [CNV_ROLE_A] = (argb >> 24) / 255.0};
  double full = (1 << cnv_format_depth(image->format, role)) - 1, unit = 1 << (image->format->depth - 8), value;

  if (IS_CHROMA(role))
    value = (1 << (image->format->depth - 1)) + color[role] * (image->full_range ? full : 224 * unit);
  else if (role == CNV_ROLE_Y && !image->full_range)
    value = (16 + 219 * color[role]) * unit;
  else
    value = color[role] * full;
  return CLAMP(rint(value), 0, full); /* full-range chroma of a pure colour exceeds `full` by half a step */
}

static gboolean
role_is_filtered(const CnvFilter *filter, CnvRole role)
{
  return filter->planes & cnv_role_planes[role] || (role == CNV_ROLE_A && filter->alpha_mode != CNV_ALPHA_COPY);
}

/* Scales full and border_value of the weight to include coverage. Samples outside the frame have full coverage. */
static void
cover_weight(CnvPlane *plane)
{
  int w = plane->weight;
  gboolean alpha = plane->component[w].bytes > 0;

  plane->full[w] = CNV_WEIGHT_ONE * (alpha ? plane->full[w] : 1);
  plane->border_value[w] = CNV_WEIGHT_ONE * (alpha ? plane->border_value[w] : 1);
}

/* Sets the numbers of plan.h's arithmetic for one component, from the taps of its plane. */
static void
set_arithmetic(const CnvPlan *plan, CnvPlane *plane, int c, CnvRole role, const PlanTaps *taps)
{
  const CnvFilter *filter = &plan->filter;
  gboolean neutral = IS_CHROMA(role), alpha = role == CNV_ROLE_A, signless = plane->combine != CNV_COMBINE_SUM;
  gboolean divide = filter->normalize && !taps->cancel;
  double norm = plan->single_tap_gain / (divide ? taps->sum : 1), scale = alpha ? 1 : filter->scale;
  double mid = c == plane->weight ? 0 : 1 << (cnv_format_depth(plan->image.format, role) - 1);
  double taken_off = neutral ? 0 : taps->sum * mid, offset;

  plane->mid[c] = (float)mid;
  plane->full[c] = (1 << cnv_format_depth(plan->image.format, role)) - 1;
  plane->mid_bias[c] = (float)taken_off;
  plane->gain[c] = (float)(scale * (signless ? fabs(norm) : norm));
  offset = neutral ? mid : alpha ? 0 : filter->bias * plane->full[c];
  if (!signless)
    offset += scale * norm * taken_off;
  if (neutral && cnv_filter_info(filter->type)->is_gradient)
    plane->gain[c] = 0;
  if (filter->type == CNV_FILTER_FILL) {
    plane->gain[c] = 0;
    offset = color_value(&plan->image, filter->fill_color, role);
  }
  plane->base[c] = (int)CLAMP(2 * rint(offset / 2), -BASE_MAX, BASE_MAX);
  plane->fraction[c] = (float)(offset - plane->base[c]);
  plane->lowest[c] = -plane->base[c];
  plane->highest[c] = plane->full[c] - plane->base[c];
  plane->border_value[c] = (float)(color_value(&plan->image, filter->border_color, role) - mid);
}

/* Makes alpha the weight of premultiplied colours: the plane's own alpha, or one more component that is only read. */
static void
add_weight(const CnvPlan *plan, CnvPlane *plane, int p)
{
  const CnvFormat *format = plan->image.format;

  for (int q = 0; q < format->n_planes; q++)
    for (int c = 0; c < format->plane[q].channels; c++) {
      if (format->plane[q].role[c] != CNV_ROLE_A)
        continue;
      plane->weight = q == p && !plan->is_weighed ? c : plane->channels++;
      plane->component[plane->weight] = cnv_format_component(format, q, c);
      plane->component[plane->weight].sub_x = plane->sub_x;
      plane->component[plane->weight].sub_y = plane->sub_y;
      return;
    }
}

/* Keeps only the filtered components of a plane, and adds the weight: coverage or, with premultiply, alpha times
 * coverage. */
static void
add_coverage(const CnvPlan *plan, CnvPlane *plane, int p, CnvRole role[CNV_MAX_CHANNELS])
{
  int n = 0;

  for (int c = 0; c < plane->channels; c++)
    if (plane->filtered >> c & 1) {
      plane->component[n] = plane->component[c];
      role[n++] = role[c];
    }
  plane->channels = n;
  plane->filtered = (1u << n) - 1;
  plane->copied = 0;
  plane->covered = TRUE;
  if (plan->filter.alpha_mode == CNV_ALPHA_PREMULTIPLY && role[0] != CNV_ROLE_A)
    add_weight(plan, plane, p);
  if (plane->weight < 0) {
    plane->weight = plane->channels++;
    plane->component[plane->weight] = (CnvComponent){.plane = plane->component[0].plane};
  }
  role[plane->weight] = CNV_ROLE_A;
}

/* Sets the size and components of one plane of the format. Only channels whose role is in `roles` (bits) belong to this
 * plane. role: set to the role of each component. */
static void
shape_plane(CnvPlan *plan, CnvPlane *plane, int p, guint roles, CnvRole role[CNV_MAX_CHANNELS])
{
  const CnvFormat *format = plan->image.format;
  const CnvPlaneFormat *from = &format->plane[p];

  plane->width = cnv_format_plane_width(format, p, plan->image.width);
  plane->format_plane = p;
  plane->height = cnv_format_plane_height(format, p, plan->image.height);
  plane->sub_x = from->sub_x;
  plane->sub_y = from->sub_y;
  plane->channels = from->channels;
  plane->image_width = plan->image.width;
  plane->image_height = plan->image.height;
  plane->filtered = plane->copied = 0;
  plane->weight = -1;
  plane->covered = FALSE;
  plane->border = plan->filter.type == CNV_FILTER_MOSAIC ? CNV_BORDER_REPLICATE : plan->filter.border;
  for (int c = 0; c < from->channels; c++) {
    plane->component[c] = cnv_format_component(format, p, c);
    role[c] = from->role[c];
    if (!(roles >> from->role[c] & 1))
      continue;
    if (role_is_filtered(&plan->filter, from->role[c]))
      plane->filtered |= 1 << c;
    else
      plane->copied |= 1 << c;
  }
  for (int c = from->channels; c < CNV_MAX_CHANNELS; c++)
    role[c] = CNV_ROLE_A;
  if (plane->filtered && plan->is_weighed)
    add_coverage(plan, plane, p, role);
  else if (plane->filtered && plan->filter.alpha_mode == CNV_ALPHA_PREMULTIPLY && plan->filter.type != CNV_FILTER_FILL)
    add_weight(plan, plane, p);
  plane->plain = !from->step && plane->weight < 0 && (plane->filtered | plane->copied) == (1u << plane->channels) - 1;
}

/* Returns TRUE if chroma has a radius or sigma of its own. */
static gboolean
chroma_is_apart(const CnvFilter *filter)
{
  return filter->chroma_radius >= 0 || filter->chroma_sigma > 0;
}

/* Returns the most taps with which a dense term costs less than several separable terms. */
static int
max_dense_taps(const CnvPlan *plan)
{
  if (plan->requested == CNV_ALGORITHM_AUTO)
    return plan->backend->dense_taps;
  return plan->requested == CNV_ALGORITHM_NAIVE || plan->requested == CNV_ALGORITHM_TILED ? G_MAXINT : 0;
}

static gboolean
make_kernel(const CnvPlan *plan, const CnvPlaneFormat *format, gboolean chroma, CnvKernel *kernel, GError **error)
{
  CnvFilter filter = plan->filter; /* shares the plan's references */
  int subsample[CNV_N_AXES] = {1 << format->sub_x, 1 << format->sub_y};

  if (chroma && (chroma_is_apart(&filter) || filter.chroma_same))
    subsample[CNV_X] = subsample[CNV_Y] = 1;
  if (chroma && chroma_is_apart(&filter)) {
    filter.radius = filter.chroma_radius;
    filter.sigma = filter.chroma_sigma;
    for (int axis = 0; axis < CNV_N_AXES; axis++) {
      filter.radius_axis[axis] = -1;
      filter.sigma_axis[axis] = 0;
    }
  }
  if (chroma && cnv_filter_info(filter.type)->is_gradient)
    filter.type = CNV_FILTER_IDENTITY;
  if (!cnv_filter_generate(&filter, subsample, kernel, error))
    return FALSE;
  cnv_kernel_merge(kernel, max_dense_taps(plan));
  cnv_kernel_factor(kernel, max_dense_taps(plan));
  return TRUE;
}

static gboolean
check_weights(const CnvPlan *plan, const CnvPlane *plane, const PlanTaps *taps, GError **error)
{
  const char *problem =
      plane->combine == CNV_COMBINE_MAGNITUDE ? "have no sum, because its result is a magnitude" : "add up to 0";

  if (plane->weight < 0 || (plane->combine != CNV_COMBINE_MAGNITUDE && !taps->cancel))
    return TRUE;
  if (plan->is_weighed)
    return cnv_refuse(error,
                      "roi-isolated=true on an ellipse, a polygon, a mask or with roi-invert=true divides by the taps "
                      "that remain, and the taps of filter=%s %s: set roi-isolated=false, or use rectangles "
                      "without roi-invert",
                      cnv_filter_info(plan->filter.type)->nick.nick, problem);
  return cnv_refuse(error,
                    "alpha-mode=premultiply divides by the filtered alpha, and the taps of filter=%s %s: set "
                    "alpha-mode to copy or filter",
                    cnv_filter_info(plan->filter.type)->nick.nick, problem);
}

/* Sets the taps in time. temporal_sum gets their weights, which note_temporal_sums may replace. */
static gboolean
fill_temporal_taps(CnvPlan *plan, GError **error)
{
  plan->n_temporal_taps = cnv_filter_temporal_taps(&plan->filter, plan->temporal_sum, &plan->center, error);
  plan->single_tap_gain = 1;
  if (plan->n_temporal_taps == 1) {
    /* Dividing by the sum of all taps cancels a single tap. */
    plan->single_tap_gain = plan->filter.normalize && plan->temporal_sum[0] != 0 ? 1 : plan->temporal_sum[0];
    plan->temporal_sum[0] = 1;
  }
  for (int k = 0; k < plan->n_temporal_taps; k++) {
    plan->weight[k] = (float)plan->temporal_sum[k];
    plan->temporal_magnitude += fabs(plan->temporal_sum[k]);
  }
  return plan->n_temporal_taps > 0;
}

/* Sets temporal_sum to the sums of the taps of each frame, if the frames of a 3D kernel differ. */
static void
note_temporal_sums(CnvPlan *plan, const CnvKernel *kernel)
{
  if (kernel->term[0].temporal_tap < 0)
    return;
  plan->not_time_separable = TRUE;
  plan->temporal_magnitude = 0;
  for (int t = 0; t < kernel->n_terms; t++) {
    const CnvKernelTerm *term = &kernel->term[t];

    plan->temporal_sum[term->temporal_tap] = cnv_term_total(term, cnv_taps_sum);
    plan->temporal_magnitude += cnv_term_total(term, cnv_taps_magnitude);
  }
}

/* Sets the threshold. With a threshold, each sample is divided by the sum of its own weights in time, which must not be
 * 0. */
static gboolean
fill_threshold(CnvPlan *plan, GError **error)
{
  const double threshold = plan->filter.temporal_threshold;

  if (threshold == 0 || plan->n_temporal_taps == 1)
    return TRUE;
  if (plan->not_time_separable)
    return cnv_refuse(error,
                      "temporal-threshold=%g weighs frames, and each frame of kernel has taps of its own: set "
                      "temporal-threshold=0, or use kernel-t or temporal-radius instead of frames in kernel",
                      threshold);
  for (int k = 0; k < plan->n_temporal_taps; k++)
    if (!(plan->weight[k] >= 0 && (k != plan->center || plan->weight[k] > 0)))
      return cnv_refuse(error,
                        "temporal-threshold=%g divides by the taps in time that remain, and tap %d is %g: set "
                        "temporal-threshold=0, or taps that are not negative, and above 0 for the output's frame",
                        threshold, k, plan->weight[k]);
  for (int p = 0; p < plan->n_planes; p++)
    if (plan->plane[p].weight >= 0 && plan->plane[p].component[plan->plane[p].weight].bytes > 0)
      return cnv_refuse(error,
                        "temporal-threshold=%g weighs each channel by itself, and alpha-mode=premultiply needs one "
                        "weight for all: set temporal-threshold=0, or alpha-mode to copy or filter",
                        threshold);
  plan->threshold = threshold;
  return TRUE;
}

/* Adds plane p of the format. Only channels whose role is in `roles` (bits) belong to this plane. */
static gboolean
add_plane(CnvPlan *plan, GArray *stored, PlanTaps taps[2], int p, guint roles, GError **error)
{
  const CnvPlaneFormat *format = &plan->image.format->plane[p];
  gboolean chroma = !(roles & ~CHROMA_ROLES), apart = chroma_is_apart(&plan->filter);
  gboolean differs = apart || cnv_filter_info(plan->filter.type)->is_gradient || format->sub_x || format->sub_y;
  PlanTaps *stored_taps = &taps[chroma && differs];
  CnvPlane *plane = &plan->plane[plan->n_planes];
  CnvRole role[CNV_MAX_CHANNELS];
  CnvKernel kernel;

  plan->n_planes++;
  if (stored_taps->plane) /* shares the taps; everything else is set again below */
    *plane = *stored_taps->plane;
  shape_plane(plan, plane, p, roles, role);
  if (!plane->filtered && chroma && apart)
    return TRUE; /* chroma's own settings have no effect, so they may be invalid */
  if (!stored_taps->plane) {
    if (!make_kernel(plan, format, chroma, &kernel, error))
      return FALSE;
    note_temporal_sums(plan, &kernel);
    *stored_taps = store_taps(plan, plane, stored, &kernel);
    cnv_kernel_clear(&kernel);
  }
  for (int c = 0; c < plane->channels; c++)
    set_arithmetic(plan, plane, c, role[c], stored_taps);
  if (plane->covered)
    cover_weight(plane);
  for (int c = 0; c < plane->channels && plane->weight >= 0; c++)
    if (c != plane->weight) /* components hold the colour times the weight */
      plane->border_value[c] *= plane->border_value[plane->weight];
  return check_weights(plan, plane, stored_taps, error);
}

/* Returns TRUE if alpha is among the roles, but needs a plane of its own for normalised convolution. Three colours
 * and alpha leave no channel for the weight, and with premultiply the weight of alpha is not the weight of the
 * colours. */
static gboolean
alpha_is_apart(const CnvPlan *plan, guint roles)
{
  return plan->is_weighed && roles & 1u << CNV_ROLE_A && roles & ~(1u << CNV_ROLE_A) &&
         role_is_filtered(&plan->filter, CNV_ROLE_A);
}

/* Makes a plane for each plane of the format. Packed YUV gets two if chroma has its own taps, and alpha may get a plane
 * of its own. */
gboolean
cnv_plan_fill(CnvPlan *plan, GError **error)
{
  const CnvFormat *format = plan->image.format;
  GArray *stored = g_array_new(FALSE, FALSE, sizeof(float));
  PlanTaps taps[2] = {{NULL}};
  gboolean ok = fill_temporal_taps(plan, error);

  for (int p = 0; p < format->n_planes && ok; p++) {
    guint roles = 0;

    for (int c = 0; c < format->plane[p].channels; c++)
      roles |= 1u << format->plane[p].role[c];
    if (roles & CHROMA_ROLES && roles & ~CHROMA_ROLES && chroma_is_apart(&plan->filter)) {
      ok = add_plane(plan, stored, taps, p, roles & CHROMA_ROLES, error);
      roles &= ~CHROMA_ROLES;
    }
    if (ok && alpha_is_apart(plan, roles)) {
      ok = add_plane(plan, stored, taps, p, 1u << CNV_ROLE_A, error);
      roles &= ~(1u << CNV_ROLE_A);
    }
    ok = ok && add_plane(plan, stored, taps, p, roles, error);
  }
  ok = ok && fill_threshold(plan, error);
  plan->n_taps = stored->len;
  plan->taps = (float *)g_array_free(stored, FALSE);
  return ok;
}

/* Returns TRUE if a channel is 0 or full scale for any input. The sum of the taps' magnitudes bounds the result for
 * samples about mid. */
static gboolean
channel_saturates(const CnvPlane *plane, int c)
{
  double from_mid = plane->mid[c] * plane->alpha_epsilon / ALPHA_ZERO;
  double taken_off = plane->combine == CNV_COMBINE_SUM ? 0 : fabs(plane->mid_bias[c]);
  double reach = fabs(plane->gain[c]) * (from_mid + taken_off);

  return plane->fraction[c] - reach >= plane->highest[c] || plane->fraction[c] + reach <= plane->lowest[c];
}

gboolean
cnv_plan_saturates(const CnvPlan *plan)
{
  for (int p = 0; p < plan->n_planes && plan->filter.type != CNV_FILTER_FILL; p++)
    for (int c = 0; c < plan->plane[p].channels; c++)
      if (plan->plane[p].filtered >> c & 1 && channel_saturates(&plan->plane[p], c))
        return TRUE;
  return FALSE;
}
