/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is done to a frame: all of it by one plan, or regions from the property or from the buffer's metas, each by the
 * plan that its size asks for.
 */
#include <math.h>
#include <string.h>

#include "gstcudaconvolve-private.h"

#define FAR (1 << 20) /* farther out than this a rectangle's edge is as good as there: 32 times the largest frame */
#define ROUNDING_SLACK 1e-6    /* 0.07 * 100 is 7 and a little, and no reason to take another pixel */
#define IN_PLACE_MAX_RECTS 4   /* regions: their jobs are copied by few launches */
#define IN_PLACE_MAX_AREA 0.25 /* of a frame */
#define LEAST_FREE 4 /* a filter that reaches no farther (a derivative) has no strength that could follow a size */

/* ---- settings ---- */

void
gst_cuda_convolve_roi_copy(GstCudaConvolveRoi *to, const GstCudaConvolveRoi *from)
{
  *to = *from;
  if (to->rects)
    g_array_ref(to->rects);
  to->types = g_strdup(from->types);
}

void
gst_cuda_convolve_roi_clear(GstCudaConvolveRoi *roi)
{
  g_clear_pointer(&roi->rects, g_array_unref);
  g_clear_pointer(&roi->types, g_free);
}

static gboolean
rects_equal(const GArray *a, const GArray *b)
{
  guint n = a ? a->len : 0;

  return n == (b ? b->len : 0) && (n == 0 || a == b || memcmp(a->data, b->data, n * sizeof(CnvRect)) == 0);
}

gboolean
gst_cuda_convolve_roi_equal(const GstCudaConvolveRoi *a, const GstCudaConvolveRoi *b)
{
  return a->source == b->source && rects_equal(a->rects, b->rects) && g_strcmp0(a->types, b->types) == 0 &&
         !a->invert == !b->invert && !a->isolated == !b->isolated && a->expand == b->expand &&
         a->feather == b->feather && a->strength == b->strength && a->relative_size == b->relative_size &&
         a->target_x == b->target_x && a->target_y == b->target_y;
}

gboolean
gst_cuda_convolve_roi_check(const GstCudaConvolveRoi *roi, const CnvFilter *filter, GError **error)
{
  const CnvFilterInfo *info = &cnv_filters[filter->type];
  gboolean relative = roi->strength == GST_CUDA_CONVOLVE_ROI_RELATIVE;
  gboolean x = roi->target_x >= 0, y = roi->target_y >= 0;

  if (roi->source == GST_CUDA_CONVOLVE_ROI_NONE)
    return TRUE;
  if (relative && info->max_radius < LEAST_FREE)
    g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS,
                "roi-strength=relative with filter=%s, whose radius is at most %d: choose a filter with a radius of at "
                "least %d, gaussian for example, or roi-strength=fixed",
                info->nick.nick, info->max_radius, LEAST_FREE);
  else if (relative && roi->invert)
    g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS,
                "roi-strength=relative with roi-invert=true: what lies around the regions has no size to follow; set "
                "roi-strength=fixed or roi-invert=false");
  else if (roi->isolated && roi->invert)
    g_set_error(
        error, CNV_ERROR, CNV_ERROR_SETTINGS,
        "roi-isolated=true with roi-invert=true: what lies around the regions has no edge of its own; set one of "
        "them to false");
  else if (x != y)
    g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS,
                "roi-target-x=%d and roi-target-y=%d: set both to 0 or more, or both to -1", roi->target_x,
                roi->target_y);
  else if (x && roi->invert)
    g_set_error(
        error, CNV_ERROR, CNV_ERROR_SETTINGS,
        "roi-target-x=%d and roi-target-y=%d with roi-invert=true: only a rectangle can be placed elsewhere; set "
        "both to -1 or roi-invert=false",
        roi->target_x, roi->target_y);
  else
    return TRUE;
  return FALSE;
}

/* ---- a frame's rectangles ---- */

/* The pixels that lie wholly or partly between two edges. */
static void
round_outwards(double from, double to, int *start, int *size)
{
  double first = floor(CLAMP(from, -FAR, FAR) + ROUNDING_SLACK), last = ceil(CLAMP(to, -FAR, FAR) - ROUNDING_SLACK);

  *start = (int)first;
  *size = (int)(last - first);
}

/* FALSE where nothing of the rectangle can show in the frame. A few pixels more than the feather, for subsampled planes
 * round outwards. */
static gboolean
reaches_frame(const GstCudaConvolve *self, const CnvRect *rect)
{
  int margin = (int)ceil(self->recipe.roi.feather) + 8;

  return rect->width > 0 && rect->height > 0 && rect->x < self->caps.image.width + margin &&
         rect->y < self->caps.image.height + margin && rect->x + rect->width > -margin &&
         rect->y + rect->height > -margin;
}

static void
join(CnvRect *to, const CnvRect *with)
{
  int right = MAX(to->x + to->width, with->x + with->width), bottom = MAX(to->y + to->height, with->y + with->height);

  to->x = MIN(to->x, with->x);
  to->y = MIN(to->y, with->y);
  to->width = right - to->x;
  to->height = bottom - to->y;
}

/* What is to be hidden stays hidden also where there are too many: the last region then takes in all others. */
static void
add_region(GstCudaConvolve *self, double x, double y, double width, double height)
{
  double grow_x = self->recipe.roi.expand * width, grow_y = self->recipe.roi.expand * height;
  CnvRegion region = {{0}};

  if (width < 1 || height < 1)
    return;
  round_outwards(x - grow_x, x + width + grow_x, &region.rect.x, &region.rect.width);
  round_outwards(y - grow_y, y + height + grow_y, &region.rect.y, &region.rect.height);
  if (!reaches_frame(self, &region.rect))
    return;
  if (self->recipe.regions->len < CNV_MAX_REGIONS) {
    g_array_append_val(self->recipe.regions, region);
    return;
  }
  if (!self->recipe.roi.invert)
    join(&g_array_index(self->recipe.regions, CnvRegion, CNV_MAX_REGIONS - 1).rect, &region.rect);
  gst_cuda_convolve_warn_once(GST_ELEMENT(self), &self->recipe.warned, GST_CUDA_CONVOLVE_WARNED_MANY,
                              "more than %d regions on a frame: %s; set roi-types, or merge regions upstream",
                              CNV_MAX_REGIONS,
                              self->recipe.roi.invert ? "those beyond it are filtered too"
                                                      : "those beyond it are filtered as one around them all");
}

/* Whether a type of region is in a comma-separated list. An empty list, and "all" in it, holds every type. */
static gboolean
type_counts(const char *types, const char *type)
{
  gboolean empty = TRUE;

  for (const char *at = types ? types : ""; *at; at += strcspn(at, ",")) {
    gsize length;

    at += strspn(at, ", \t");
    length = strcspn(at, ",");
    while (length > 0 && g_ascii_isspace(at[length - 1]))
      length--;
    if (length == 0)
      continue;
    empty = FALSE;
    if ((length == 3 && strncmp(at, "all", 3) == 0) || (strlen(type) == length && strncmp(at, type, length) == 0))
      return TRUE;
  }
  return empty;
}

static void
add_metas(GstCudaConvolve *self, GstBuffer *buffer)
{
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    const GstVideoRegionOfInterestMeta *roi = (const GstVideoRegionOfInterestMeta *)meta;
    const char *type = g_quark_to_string(roi->roi_type);

    if (type_counts(self->recipe.roi.types, type ? type : ""))
      add_region(self, roi->x, roi->y, roi->w, roi->h);
  }
}

static void
collect_regions(GstCudaConvolve *self, GstBuffer *buffer)
{
  const GArray *rects = self->recipe.roi.rects;

  g_array_set_size(self->recipe.regions, 0);
  if (self->recipe.roi.source == GST_CUDA_CONVOLVE_ROI_META)
    add_metas(self, buffer);
  else
    for (guint i = 0; rects && i < rects->len; i++) {
      const CnvRect *rect = &g_array_index(rects, CnvRect, i);

      add_region(self, rect->x, rect->y, rect->width, rect->height);
    }
  if (self->recipe.roi.target_x >= 0 && self->recipe.regions->len > 1) {
    gst_cuda_convolve_warn_once(
        GST_ELEMENT(self), &self->recipe.warned, GST_CUDA_CONVOLVE_WARNED_TARGET,
        "%u regions on a frame and roi-target-x=%d: only the first is placed there and the others are left as they "
        "are; set roi-target-x and -y to -1, or roi-types to what there is one of",
        self->recipe.regions->len, self->recipe.roi.target_x);
    g_array_set_size(self->recipe.regions, 1);
  }
}

/* ---- plans by size ---- */

/* The next of 1 2 3 4 5 6 7 8 10 12 14 16 20 24 28 32 40 ...: four to an octave, so that few plans serve all sizes. */
static int
step_up(int radius)
{
  int step = 1;

  while (radius > 8 * step)
    step *= 2;
  return (radius + step - 1) / step * step;
}

static int
step_down(int radius)
{
  do
    radius--;
  while (radius > 0 && step_up(radius) != radius);
  return radius;
}

static int
radius_of(GstCudaConvolve *self, const CnvRect *rect)
{
  const CnvFilterInfo *info = &cnv_filters[cnv_plan_filter(self->recipe.plan)->type];
  int longer = MAX(rect->width, rect->height);
  double radius = ceil(self->recipe.roi.relative_size * longer - ROUNDING_SLACK);

  if (radius > info->max_radius)
    gst_cuda_convolve_warn_once(
        GST_ELEMENT(self), &self->recipe.warned, GST_CUDA_CONVOLVE_WARNED_REACH,
        "a region of %dx%d asks for radius %.0f, and filter=%s reaches %d, with which it is filtered: choose "
        "gaussian or box, which reach %d, or lower roi-relative-size",
        rect->width, rect->height, radius, info->nick.nick, info->max_radius, CNV_RADIUS_MAX);
  return MIN(step_up((int)CLAMP(radius, 1, info->max_radius)), info->max_radius);
}

static CnvPlan *
plan_of_radius(const GstCudaConvolve *self, int radius, GError **error)
{
  const CnvPlan *base = self->recipe.plan;
  CnvFilter filter;
  CnvPlan *plan;

  cnv_filter_copy(&filter, cnv_plan_filter(base));
  filter.radius = radius;
  filter.sigma = radius / 2.0;
  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    filter.radius_axis[axis] = -1;
    filter.sigma_axis[axis] = 0;
  }
  filter.chroma_radius = -1;
  filter.chroma_sigma = 0;
  plan = cnv_plan_new(&filter, cnv_plan_image(base), cnv_plan_requested(base), cnv_plan_backend(base), error);
  cnv_filter_clear(&filter);
  return plan;
}

/* A radius that filter or algorithm cannot do (a slanted line has its own limit) gives way to the next that they can.
 */
static CnvPlan *
make_plan(GstCudaConvolve *self, int radius)
{
  GError *error = NULL;
  CnvPlan *plan = plan_of_radius(self, radius, &error);
  int smaller = radius;

  while (!plan && (smaller = step_down(smaller)) > 0)
    plan = plan_of_radius(self, smaller, NULL);
  if (error)
    gst_cuda_convolve_warn_once(GST_ELEMENT(self), &self->recipe.warned, GST_CUDA_CONVOLVE_WARNED_RADIUS,
                                "a region asks for radius %d: %s; it is filtered with radius %d", radius,
                                error->message,
                                plan ? smaller : cnv_filter_radius(cnv_plan_filter(self->recipe.plan), CNV_X));
  g_clear_error(&error);
  return plan ? plan : cnv_plan_ref(self->recipe.plan);
}

/* Place of a radius among the steps, which are in ascending order. */
static guint
find_step(const GstCudaConvolve *self, int radius)
{
  guint i = 0;

  while (i < self->recipe.radius_plans->len &&
         g_array_index(self->recipe.radius_plans, GstCudaConvolveRadiusPlan, i).radius < radius)
    i++;
  return i;
}

static void
ensure_step(GstCudaConvolve *self, int radius)
{
  guint i = find_step(self, radius);

  if (i == self->recipe.radius_plans->len ||
      g_array_index(self->recipe.radius_plans, GstCudaConvolveRadiusPlan, i).radius != radius) {
    GstCudaConvolveRadiusPlan step = {radius, make_plan(self, radius)};

    GST_DEBUG_OBJECT(self, "regions of radius %d", radius);
    g_array_insert_val(self->recipe.radius_plans, i, step);
  }
}

/* Gives each region the plan of its size. The list is of those that the frame uses, smallest first, so that where
 * regions overlap the stronger filter counts. */
static void
choose_plans(GstCudaConvolve *self)
{
  CnvRegion *region = (CnvRegion *)self->recipe.regions->data;
  guint number[CNV_MAX_PLANS] = {0}, n = 0;

  for (guint i = 0; i < self->recipe.regions->len; i++)
    ensure_step(self, radius_of(self, &region[i].rect));
  for (guint i = 0; i < self->recipe.regions->len; i++) {
    region[i].plan = find_step(self, radius_of(self, &region[i].rect));
    number[region[i].plan] = 1;
  }
  for (guint i = 0; i < self->recipe.radius_plans->len; i++)
    if (number[i]) {
      self->recipe.plans[n] = g_array_index(self->recipe.radius_plans, GstCudaConvolveRadiusPlan, i).plan;
      number[i] = n++;
    }
  for (guint i = 0; i < self->recipe.regions->len; i++)
    region[i].plan = number[region[i].plan];
  self->recipe.work.plan = self->recipe.plans;
  self->recipe.work.n_plans = n;
}

void
gst_cuda_convolve_forget_steps(GstCudaConvolve *self)
{
  for (guint i = 0; i < self->recipe.radius_plans->len; i++)
    cnv_plan_unref(g_array_index(self->recipe.radius_plans, GstCudaConvolveRadiusPlan, i).plan);
  g_array_set_size(self->recipe.radius_plans, 0);
}

/* ---- a frame's work ---- */

static gboolean
is_interlaced(const GstCudaConvolve *self, GstBuffer *buffer)
{
  GstVideoInterlaceMode mode = GST_VIDEO_INFO_INTERLACE_MODE(&self->caps.in_info);

  return mode == GST_VIDEO_INTERLACE_MODE_INTERLEAVED ||
         (mode == GST_VIDEO_INTERLACE_MODE_MIXED && GST_BUFFER_FLAG_IS_SET(buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED));
}

static void
make_regional(GstCudaConvolve *self, GstBuffer *buffer)
{
  const GstCudaConvolveRoi *roi = &self->recipe.roi;
  CnvWork *work = &self->recipe.work;

  collect_regions(self, buffer);
  work->region = (const CnvRegion *)self->recipe.regions->data;
  work->n_regions = self->recipe.regions->len;
  work->invert = roi->invert;
  work->isolated = roi->isolated;
  work->feather = roi->feather;
  work->moved = roi->target_x >= 0;
  work->target_x = roi->target_x;
  work->target_y = roi->target_y;
  work->everything = roi->invert && work->n_regions == 0;
  if (roi->strength == GST_CUDA_CONVOLVE_ROI_RELATIVE && work->n_regions > 0)
    choose_plans(self);
}

void
gst_cuda_convolve_make_work(GstCudaConvolve *self, GstBuffer *buffer)
{
  self->recipe.work = CNV_WORK_ALL(&self->recipe.plan);
  self->recipe.work.interlaced = is_interlaced(self, buffer);
  if (self->recipe.roi.source != GST_CUDA_CONVOLVE_ROI_NONE)
    make_regional(self, buffer);
}

gboolean
gst_cuda_convolve_leaves_frame(const GstCudaConvolve *self)
{
  const CnvWork *work = &self->recipe.work;

  if (!work->everything && !work->invert && work->n_regions == 0)
    return TRUE;
  for (guint i = 0; i < work->n_plans; i++)
    if (!cnv_plan_is_identity(work->plan[i]))
      return FALSE;
  return work->everything || !work->moved;
}

void
gst_cuda_convolve_warn_of_crowd(GstCudaConvolve *self)
{
  guint crowd = self->engine.session->stats.crowd;

  if (crowd > 0)
    gst_cuda_convolve_warn_once(
        GST_ELEMENT(self), &self->recipe.warned, GST_CUDA_CONVOLVE_WARNED_CROWD,
        "%u regions meet in one block of a frame, and to filter each by itself would take more than %d times as "
        "long as the whole frame: in crowded blocks the strongest filter serves all, with one border around "
        "them, and of more than %d neighbours are %s; merge regions upstream, set roi-types to fewer, lower "
        "roi-feather, or set roi-isolated=false or roi-strength=fixed",
        crowd, CNV_CROWD_WORK, CNV_CROWD,
        self->recipe.roi.invert ? "filtered too" : "filtered as the rectangle around them");
}

gboolean
gst_cuda_convolve_changes_little(const GstCudaConvolve *self)
{
  const CnvWork *work = &self->recipe.work;
  double pixels = 0;

  if (work->everything || work->invert || work->moved || work->n_regions > IN_PLACE_MAX_RECTS)
    return FALSE;
  for (guint i = 0; i < work->n_regions; i++)
    pixels += (work->region[i].rect.width + 2 * work->feather) * (work->region[i].rect.height + 2 * work->feather);
  return pixels <= IN_PLACE_MAX_AREA * self->caps.image.width * self->caps.image.height;
}
