/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "element/recipe.h"

#include <math.h>
#include <string.h>

#include "element/unused.h"
#include "messages.h"
#include "regions/frame_regions.h"

#define ROUNDING_SLACK 1e-6    /* 0.07 * 100 is slightly more than 7, but should give radius 7 */
#define IN_PLACE_MAX_RECTS 4   /* most regions for filtering in place, because each is copied */
#define IN_PLACE_MAX_AREA 0.25 /* most area for filtering in place, as a fraction of the frame */

static void
clear_radius_plans(GstCudaConvolveRecipe *recipe)
{
  for (guint i = 0; i < G_N_ELEMENTS(recipe->radius_plan); i++)
    g_clear_pointer(&recipe->radius_plan[i], cnv_plan_unref);
}

void
gst_cuda_convolve_recipe_init(GstCudaConvolveRecipe *recipe, GstElement *element, const GstCudaConvolveSettings *live,
                              const GstCudaConvolveCaps *caps)
{
  *recipe =
      (GstCudaConvolveRecipe){.element = element, .live = live, .caps = caps, .posted = g_hash_table_new(NULL, NULL)};
  gst_cuda_convolve_regions_init(&recipe->regions, element, recipe->posted);
}

void
gst_cuda_convolve_recipe_clear(GstCudaConvolveRecipe *recipe)
{
  gst_cuda_convolve_settings_clear(&recipe->wanted);
  gst_cuda_convolve_settings_clear(&recipe->in_force);
  cnv_plan_unref(recipe->plan);
  gst_cuda_convolve_regions_clear(&recipe->regions);
  g_hash_table_unref(recipe->posted);
  g_free(recipe->outside);
  clear_radius_plans(recipe);
}

/* ---- the plan in force ---- */

static gboolean
same_image(const CnvImage *a, const CnvImage *b)
{
  return a->format == b->format && a->width == b->width && a->height == b->height && a->kr == b->kr && a->kb == b->kb &&
         a->full_range == b->full_range;
}

/* Puts settings in force, with a new plan if needed. If that fails, changes nothing. */
static gboolean
use_settings(GstCudaConvolveRecipe *recipe, const GstCudaConvolveSettings *settings, gboolean same_target,
             GError **error)
{
  const CnvImage *image = &recipe->image;
  CnvPlan *plan = recipe->plan;

  if (!gst_cuda_convolve_roi_check(&settings->roi, &settings->filter, error))
    return FALSE;
  if (!recipe->plan || !same_target ||
      !gst_cuda_convolve_settings_equal(settings, &recipe->in_force, GST_CUDA_CONVOLVE_SETTINGS_PLAN)) {
    plan = cnv_plan_new(&settings->filter, image, settings->algorithm, recipe->backend, error);
    if (!plan)
      return FALSE;
  }
  if (!gst_cuda_convolve_roi_check_plan(&settings->roi, plan, error)) {
    if (plan != recipe->plan)
      cnv_plan_unref(plan);
    return FALSE;
  }
  if (plan != recipe->plan) {
    GST_DEBUG("new plan: %s, %dx%d %s%s", cnv_filter_info(settings->filter.type)->nick.nick, image->width,
              image->height, image->format->name, cnv_plan_is_identity(plan) ? ", identity" : "");
    clear_radius_plans(recipe);
    cnv_plan_unref(recipe->plan);
    recipe->plan = plan;
  }
  if (settings != &recipe->in_force) {
    gst_cuda_convolve_settings_clear(&recipe->in_force);
    gst_cuda_convolve_settings_copy(&recipe->in_force, settings);
  }
  return TRUE;
}

/* Keeps the settings in force for new caps or a new engine. */
static gboolean
keep_settings(GstCudaConvolveRecipe *recipe, gboolean same_target)
{
  GError *error = NULL;

  if (!recipe->plan || use_settings(recipe, &recipe->in_force, same_target, &error))
    return recipe->plan != NULL;
  gst_cuda_convolve_post(recipe->element, GST_MESSAGE_ERROR, error, "keeping the filter at new caps");
  g_clear_pointer(&recipe->plan, cnv_plan_unref);
  return FALSE;
}

/* Reports settings without effect, after the caps or a property changed. */
static void
report_settings(GstCudaConvolveRecipe *recipe)
{
  const GstCudaConvolveSettings *settings = &recipe->wanted;
  char *outside = gst_cuda_convolve_name_outside(&settings->roi, &recipe->image);
  gboolean is_new = outside && g_strcmp0(outside, recipe->outside) != 0;

  if (is_new)
    gst_cuda_convolve_repeat_clear(recipe->element, recipe->posted);
  gst_cuda_convolve_report_unused(recipe->element, settings, &recipe->image, recipe->plan, !recipe->is_running,
                                  recipe->posted);
  if (is_new && !gst_cuda_convolve_all_outside(&settings->roi, &recipe->image))
    gst_cuda_convolve_post(recipe->element, GST_MESSAGE_WARNING,
                           g_error_new_literal(CNV_ERROR, CNV_ERROR_SETTINGS, outside), "checking the settings");
  g_free(recipe->outside);
  recipe->outside = outside;
}

gboolean
gst_cuda_convolve_recipe_update(GstCudaConvolveRecipe *recipe, const CnvBackend *backend)
{
  const GstCudaConvolveSettings *live = recipe->live;
  const CnvImage *image = &recipe->caps->image;
  gboolean same_target = recipe->backend == backend && same_image(&recipe->image, image), same_work, same;
  GError *error = NULL;

  GST_OBJECT_LOCK(recipe->element);
  same_work = gst_cuda_convolve_settings_equal(&recipe->wanted, live, GST_CUDA_CONVOLVE_SETTINGS_WORK);
  same = same_target && gst_cuda_convolve_settings_equal(&recipe->wanted, live, sizeof(*live));
  if (recipe->wanted.version != live->version) {
    gst_cuda_convolve_settings_clear(&recipe->wanted);
    gst_cuda_convolve_settings_copy(&recipe->wanted, live);
  }
  GST_OBJECT_UNLOCK(recipe->element);
  if (!same_image(&recipe->image, image))
    gst_cuda_convolve_recipe_forget(recipe);
  recipe->image = *image;
  recipe->backend = backend;
  if (!same_target || !same_work || !(recipe->plan || recipe->rejected))
    recipe->rejected = !use_settings(recipe, &recipe->wanted, same_target, &error);
  if (error) {
    gst_cuda_convolve_post(recipe->element, recipe->plan ? GST_MESSAGE_WARNING : GST_MESSAGE_ERROR, error,
                           recipe->plan ? "changing the filter; it stays as it was"
                                        : "making a plan of the properties");
    return keep_settings(recipe, same_target);
  }
  if (!same && !recipe->rejected)
    report_settings(recipe);
  return recipe->plan != NULL;
}

/* If the live filter is not valid, n is 0: the next frame reports that, and the old filter stays. */
gboolean
gst_cuda_convolve_recipe_must_drain(const GstCudaConvolveRecipe *recipe, guint n_slots, gboolean arriving)
{
  const GstCudaConvolveSettings *live = recipe->live;
  gboolean changed, drains;
  int n;

  GST_OBJECT_LOCK(recipe->element);
  changed =
      !gst_cuda_convolve_settings_equal(live, &recipe->in_force, GST_CUDA_CONVOLVE_SETTINGS_PLAN) &&
      !(recipe->rejected && gst_cuda_convolve_settings_equal(live, &recipe->wanted, GST_CUDA_CONVOLVE_SETTINGS_WORK));
  n = changed ? cnv_filter_frames(&live->filter) : 0;
  drains = arriving && live->drain_on_change;
  GST_OBJECT_UNLOCK(recipe->element);
  return n > 0 && (drains || n == 1 || n > (int)n_slots);
}

/* ---- plans by size ---- */

/* Returns the next larger radius of 1 2 3 4 5 6 7 8 10 12 14 16 20 24 28 32 40 ...: four per octave, so that a few
 * plans serve all sizes. */
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

/* Returns the nearest radius for which plans are made, at most the largest one of the filter. */
static int
limit_radius(const CnvFilterInfo *info, double radius)
{
  return MIN(step_up((int)CLAMP(radius, 1, info->max_radius)), info->max_radius);
}

static int
radius_of(GstCudaConvolveRecipe *recipe, const CnvRect *rect)
{
  const CnvFilterInfo *info = cnv_filter_info(recipe->in_force.filter.type);
  int longer = MAX(rect->width, rect->height);
  double radius = ceil(recipe->in_force.roi.relative_size * longer - ROUNDING_SLACK);

  if (radius > info->max_radius)
    gst_cuda_convolve_warn_once(
        recipe->element, recipe->posted,
        "a region of %dx%d needs radius %.0f, and the limit of filter=%s is %d, which is used: choose gaussian or box, "
        "whose limit is %d, or lower roi-relative-size",
        rect->width, rect->height, radius, info->nick.nick, info->max_radius, CNV_RADIUS_MAX);
  return limit_radius(info, radius);
}

static CnvPlan *
plan_of_radius(const GstCudaConvolveRecipe *recipe, int radius, GError **error)
{
  const GstCudaConvolveSettings *settings = &recipe->in_force;
  CnvFilter filter = settings->filter; /* borrows the taps of the settings */

  filter.radius = radius;
  filter.sigma = radius / 2.0;
  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    filter.radius_axis[axis] = -1;
    filter.sigma_axis[axis] = 0;
  }
  filter.chroma_radius = -1;
  filter.chroma_sigma = 0;
  return cnv_plan_new(&filter, &recipe->image, settings->algorithm, recipe->backend, error);
}

/* Returns a plan for the largest radius, up to `radius`, that filter and algorithm support: slanted lines have a
 * smaller limit. */
static CnvPlan *
make_radius_plan(GstCudaConvolveRecipe *recipe, int radius)
{
  g_autoptr(GError) error = NULL;
  CnvPlan *plan = plan_of_radius(recipe, radius, &error);
  int smaller = radius;

  while (!plan && (smaller = step_down(smaller)) > 0)
    plan = plan_of_radius(recipe, smaller, NULL);
  if (error)
    gst_cuda_convolve_warn_once(recipe->element, recipe->posted,
                                "a region needs radius %d: %s; it is filtered with radius %d", radius, error->message,
                                plan ? smaller : cnv_filter_radius(&recipe->in_force.filter, CNV_X));
  return plan ? plan : cnv_plan_ref(recipe->plan);
}

/* Returns the plan for regions of that radius, which the recipe owns. */
static CnvPlan *
find_radius_plan(GstCudaConvolveRecipe *recipe, int radius)
{
  if (!recipe->radius_plan[radius])
    recipe->radius_plan[radius] = make_radius_plan(recipe, radius);
  return recipe->radius_plan[radius];
}

/* Gives each region the plan for its size. The list only has the plans of this frame, smallest first, so that the
 * stronger filter is used if regions overlap. */
static void
choose_plans(GstCudaConvolveRecipe *recipe)
{
  CnvRegion *region = (CnvRegion *)recipe->work.region;
  gboolean used[CNV_RADIUS_MAX + 1] = {FALSE};
  guint number[CNV_RADIUS_MAX + 1], n = 0;

  for (guint i = 0; i < recipe->work.n_regions; i++) {
    CnvRect box = cnv_region_box(&region[i]);
    int radius = radius_of(recipe, &box);

    find_radius_plan(recipe, radius);
    used[radius] = TRUE;
    region[i].plan = (guint)radius;
  }
  for (int radius = 0; radius <= CNV_RADIUS_MAX; radius++)
    if (used[radius]) {
      recipe->plans[n] = recipe->radius_plan[radius];
      number[radius] = n++;
    }
  for (guint i = 0; i < recipe->work.n_regions; i++)
    region[i].plan = number[region[i].plan];
  recipe->work.plan = recipe->plans;
  recipe->work.n_plans = n;
}

/* ---- a frame's work ---- */

/* Returns TRUE if a region has weight in the frame. A mask fades by itself, so feather does not count. */
static gboolean
shows(const CnvRegion *region, const CnvImage *image, double feather)
{
  CnvRect box = cnv_region_box(region);
  double beside = region->shape == CNV_SHAPE_MASK ? 0 : feather;

  return box.width > 0 && box.height > 0 && box.x - beside < image->width && box.y - beside < image->height &&
         box.x + box.width + beside > 0 && box.y + box.height + beside > 0;
}

/* Returns TRUE if nothing of the frame is in a region: there is none, or each lies outside or has a mask without
 * weight. */
static gboolean
has_no_region(const CnvWork *work, const CnvImage *image)
{
  for (guint i = 0; i < work->n_regions; i++)
    if (shows(&work->region[i], image, work->feather))
      return FALSE;
  return TRUE;
}

/* Makes the work filter the whole frame. With roi-strength=relative, the frame counts as one region. */
static void
filter_all(GstCudaConvolveRecipe *recipe)
{
  const CnvImage *image = &recipe->image;
  const GstCudaConvolveSettings *settings = &recipe->in_force;
  double radius = settings->roi.relative_size * MAX(image->width, image->height);

  recipe->work.whole_frame = TRUE;
  if (settings->roi.strength != CNV_ROI_RELATIVE)
    return;
  recipe->plans[0] = find_radius_plan(recipe, limit_radius(cnv_filter_info(settings->filter.type), radius));
  recipe->work.plan = recipe->plans;
}

/* Returns TRUE if the rows of a buffer belong to two fields. */
static gboolean
is_interlaced(const GstVideoInfo *info, GstBuffer *buffer)
{
  GstVideoInterlaceMode mode = GST_VIDEO_INFO_INTERLACE_MODE(info);

  return mode == GST_VIDEO_INTERLACE_MODE_INTERLEAVED ||
         (mode == GST_VIDEO_INTERLACE_MODE_MIXED && GST_BUFFER_FLAG_IS_SET(buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED));
}

void
gst_cuda_convolve_recipe_make_work(GstCudaConvolveRecipe *recipe, GstBuffer *buffer, GstClockTime time,
                                   gboolean is_next)
{
  const GstCudaConvolveRoi *roi = &recipe->in_force.roi;
  CnvWork *work = &recipe->work;

  recipe->is_running = TRUE;
  *work = CNV_WORK_ALL(&recipe->plan);
  work->interlaced = is_interlaced(&recipe->caps->in_info, buffer);
  if (roi->source == CNV_ROI_NONE) {
    gst_cuda_convolve_recipe_forget(recipe);
    return;
  }
  gst_cuda_convolve_collect(&recipe->regions, roi, &recipe->image, buffer, time, is_next);
  work->region = (const CnvRegion *)recipe->regions.region->data;
  work->n_regions = recipe->regions.region->len;
  work->invert = roi->invert;
  work->isolated = roi->isolated;
  work->feather = roi->feather;
  work->moved = roi->target_x >= 0;
  work->target_x = roi->target_x;
  work->target_y = roi->target_y;
  work->whole_frame = roi->invert && work->n_regions == 0;
  if (roi->missing == CNV_ROI_MISSING_FILTER && !roi->invert && has_no_region(work, &recipe->image))
    filter_all(recipe);
  else if (roi->strength == CNV_ROI_RELATIVE && work->n_regions > 0)
    choose_plans(recipe);
}

void
gst_cuda_convolve_recipe_end(GstCudaConvolveRecipe *recipe)
{
  gst_cuda_convolve_collect_end(&recipe->regions);
}

void
gst_cuda_convolve_recipe_forget(GstCudaConvolveRecipe *recipe)
{
  gst_cuda_convolve_regions_forget(&recipe->regions);
}

gboolean
gst_cuda_convolve_recipe_leaves_frame(const GstCudaConvolveRecipe *recipe)
{
  const CnvWork *work = &recipe->work;

  if (!work->whole_frame && !work->invert && work->n_regions == 0)
    return TRUE;
  for (guint i = 0; i < work->n_plans; i++)
    if (!cnv_plan_is_identity(work->plan[i]))
      return FALSE;
  return work->whole_frame || !work->moved;
}

gboolean
gst_cuda_convolve_recipe_changes_little(const GstCudaConvolveRecipe *recipe)
{
  const CnvWork *work = &recipe->work;
  double pixels = 0;

  if (work->whole_frame || work->invert || work->moved || work->n_regions > IN_PLACE_MAX_RECTS)
    return FALSE;
  for (guint i = 0; i < work->n_regions; i++)
    pixels += (work->region[i].rect.width + 2 * work->feather) * (work->region[i].rect.height + 2 * work->feather);
  return pixels <= IN_PLACE_MAX_AREA * recipe->image.width * recipe->image.height;
}
