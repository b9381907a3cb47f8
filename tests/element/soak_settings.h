/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The settings that the soak test draws, how they are set, and which of them the element should reject.
 */
#pragma once

#include <convolve/backend.h>
#include <gst/video/video.h>

#include <math.h>
#include <string.h>

typedef struct {
  const char *source, *rects, *polygons, *types;
  gboolean ellipse, invert, isolated, relative;
  guint smooth;
  int missing;
  double expand, feather, relative_size;
  int target_x, target_y;
} Regions;

typedef struct {
  int radius, kernel; /* kernel: row of the table below */
  double sigma, threshold, scene_change;
  gboolean causal, drains;
  CnvTemporalBorder border;
} OverTime;

typedef struct {
  CnvFilterType filter;
  int radius, radius_x, radius_y, chroma_radius;
  double sigma, chroma_sigma, amount, angle, scale, bias;
  CnvGradient gradient;
  CnvBorder border;
  guint border_color, fill_color, planes;
  gboolean chroma_same;
  CnvAlphaMode alpha_mode;
  CnvAlgorithm algorithm;
  gboolean normalize, absolute, flip, disable_passthrough;
  int kernel, kernel_axis[CNV_N_AXES]; /* rows of the tables below */
  int anchor[CNV_N_AXES];
  Regions regions;
  OverTime time;
} Settings;

#define NONE "<>"
#define SHIFT 1 /* row of the kernel that reads the sample to the right */

static const struct {
  const char *text;
  int n[CNV_N_AXES];
  gboolean full_rank; /* not a row times a column, or one of its frames is not */
  int frames;         /* number of frames of a 3D kernel; else 0 */
} kernel_rows[] = {
    {NONE},
    {"<0,0,1>", {3, 1}},
    {"<1,2,1>", {3, 1}},
    {"<0,1,0>", {3, 1}},
    {"<<1,2,1>,<2,4,2>,<1,2,1>>", {3, 3}},
    {"<<1,2>,<3,4>>", {2, 2}, TRUE},
    {"<<0,-1,0>,<-1,5,-1>,<0,-1,0>>", {3, 3}, TRUE},
    {"<<<1,2,1>>,<<2,4,2>>,<<1,2,1>>>", {3, 1}, FALSE, 3},
    {"<<<1,0>,<0,0>>,<<0,0>,<0,1>>>", {2, 2}, FALSE, 2},
    {"<<<1,2>,<3,4>>,<<0,1>,<1,0>>,<<4,3>,<2,1>>>", {2, 2}, TRUE, 3},
};

static const struct {
  const char *text;
  int n;
  gboolean zero_sum;
} axis_rows[] = {{NONE, 1}, {NONE, 1}, {"<-1,0,1>", 3, TRUE}, {"<1/3,1,1/3,0.5>", 4}},
  time_rows[] = {{NONE, 1}, {"<1,2,1>", 3}, {"<-1,0,1>", 3, TRUE}, {"<1/3,1>", 2}, {"<1,1,0,2,1>", 5}};

#define MAX_AHEAD 3 /* most frames that the drawn settings look ahead, and so the most that can wait */

/* Settings with a known result. */
static const Settings shift = {
    .filter = CNV_FILTER_CUSTOM,
    .radius = -1,
    .radius_x = -1,
    .radius_y = -1,
    .chroma_radius = -1,
    .scale = 1,
    .border = CNV_BORDER_WRAP,
    .planes = CNV_PLANES_COLOR,
    .normalize = TRUE,
    .kernel = SHIFT,
    .anchor = {-1, -1},
    .regions =
        {.source = "none", .rects = NONE, .polygons = NONE, .relative_size = 0.2, .target_x = -1, .target_y = -1},
    .time = {.drains = TRUE},
};

/* Returns TRUE one time in `times`. */
static gboolean
seldom(GRand *rng, int times)
{
  return g_rand_int_range(rng, 0, times) == 0;
}

#define PICK(rng, array) array[g_rand_int_range(rng, 0, G_N_ELEMENTS(array))]

static gboolean
needs_separable(CnvAlgorithm algorithm)
{
  return algorithm == CNV_ALGORITHM_SEPARABLE || algorithm == CNV_ALGORITHM_TEXTURE;
}

/* Draws an algorithm that the filter supports. Disks and slanted lines get none that needs separable taps: whether they
 * are sums of a few rows times columns is not known here. */
static CnvAlgorithm
draw_algorithm(GRand *rng, CnvFilterType filter)
{
  CnvAlgorithm algorithm = g_rand_int_range(rng, CNV_ALGORITHM_NAIVE, CNV_ALGORITHM_SEPARABLE + 1);
  gboolean dense = filter == CNV_FILTER_DISK || filter == CNV_FILTER_MOTION;

  if (filter == CNV_FILTER_MOSAIC || filter == CNV_FILTER_FILL)
    return seldom(rng, 4) ? CNV_ALGORITHM_NAIVE : seldom(rng, 2) ? CNV_ALGORITHM_MOSAIC : CNV_ALGORITHM_AUTO;
  return g_rand_boolean(rng) || (dense && needs_separable(algorithm)) ? CNV_ALGORITHM_AUTO : algorithm;
}

static void
draw_kernels(GRand *rng, Settings *settings)
{
  settings->kernel = g_rand_int_range(rng, 0, G_N_ELEMENTS(kernel_rows));
  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    settings->kernel_axis[axis] = g_rand_int_range(rng, 0, G_N_ELEMENTS(axis_rows));
    settings->anchor[axis] = seldom(rng, 4) ? g_rand_int_range(rng, 0, 3) : -1;
  }
}

/* Returns the largest radius to draw. 2D taps and slow algorithms get small radii, so that a few frames do not take all
 * of the time. */
static int
largest_radius(const Settings *settings)
{
  const int largest = cnv_filter_info(settings->filter)->max_radius;

  if (settings->algorithm == CNV_ALGORITHM_NAIVE || settings->algorithm == CNV_ALGORITHM_TILED)
    return 1;
  if (settings->filter == CNV_FILTER_DISK || settings->filter == CNV_FILTER_MOTION)
    return 5;
  return largest <= CNV_APERTURE_MAX ? largest + 1 : 24; /* one above the limit is rejected */
}

static double
draw_sigma(GRand *rng, int radius)
{
  return g_rand_boolean(rng) ? 0 : g_rand_double_range(rng, 0.3, MAX(radius / 3.0, 0.4));
}

/* Draws radii, sigmas and the alpha mode. Settings that contradict a format are drawn only while frames have that
 * format: at new caps they would be an error. */
static void
draw_strength(GRand *rng, gboolean has_alpha, Settings *settings)
{
  const int limit = largest_radius(settings);
  const int least = cnv_filter_info(settings->filter)->default_radius > limit ? 0 : -1; /* -1: the default */

  settings->radius = g_rand_int_range(rng, least, limit + 1);
  settings->radius_x = settings->radius_y = -1;
  if (seldom(rng, 3)) {
    settings->radius_x = g_rand_int_range(rng, -1, limit + 1);
    settings->radius_y = g_rand_int_range(rng, -1, limit + 1);
  }
  settings->sigma = seldom(rng, 8) ? 200 : draw_sigma(rng, limit);
  settings->chroma_radius = !has_alpha && seldom(rng, 4) ? g_rand_int_range(rng, 0, limit + 1) : -1;
  settings->chroma_sigma = !has_alpha && seldom(rng, 4) ? draw_sigma(rng, limit) : 0;
  settings->alpha_mode = g_rand_int_range(rng, CNV_ALPHA_COPY, CNV_ALPHA_FILTER + has_alpha + 1);
}

static Regions
draw_regions(GRand *rng, int largest)
{
  static const char *const sources[] = {"none", "meta", "meta", "property"};
  /* Rectangles and polygons. A target has room for only one region. */
  static const char *const lists[][2] = {{NONE, NONE},
                                         {"<<20,30,64,48>>", NONE},
                                         {"<<-9,101,33,55>>", NONE},
                                         {NONE, "<<20,30,101.5,44,60,120,33,41,-9,99>>"}};
  static const char *const types[] = {NULL, "face", "plate,face"};
  const char *const *list = PICK(rng, lists);
  Regions regions = {
      .source = PICK(rng, sources),
      .rects = list[0],
      .polygons = list[1],
      .types = PICK(rng, types),
      .ellipse = seldom(rng, 4),
      .smooth = seldom(rng, 4) ? (guint)g_rand_int_range(rng, 1, 4) : 0,
      .missing = (int)seldom(rng, 4),
      .invert = seldom(rng, 4),
      .isolated = seldom(rng, 4),
      .relative = seldom(rng, 4),
      .expand = g_rand_boolean(rng) ? 0 : g_rand_double_range(rng, 0, 0.25),
      .feather = g_rand_boolean(rng) ? 0 : g_rand_double_range(rng, 0, 12),
      .relative_size = largest < 24 ? 0.01 : g_rand_double_range(rng, 0.01, 0.25),
      .target_x = -1,
      .target_y = -1,
  };

  if (seldom(rng, 4)) {
    regions.target_x = g_rand_int_range(rng, 0, 320);
    regions.target_y = g_rand_int_range(rng, -1, 240);
    regions.smooth = 0; /* likewise, only one region */
  }
  return regions;
}

/* Draws the settings over time. Frames of noise differ by a third of full scale. */
static OverTime
draw_time(GRand *rng)
{
  OverTime time = {
      .sigma = g_rand_boolean(rng) ? 0 : g_rand_double_range(rng, 0.3, 4),
      .scene_change = g_rand_boolean(rng) ? 0 : g_rand_double_range(rng, 0, 0.66),
      .causal = seldom(rng, 3),
      .drains = g_rand_boolean(rng),
      .border = g_rand_int_range(rng, CNV_TEMPORAL_RENORMALIZE, CNV_TEMPORAL_REFLECT + 1),
  };

  if (seldom(rng, 3))
    time.radius = g_rand_int_range(rng, 0, MAX_AHEAD + 1);
  if (seldom(rng, 4))
    time.kernel = g_rand_int_range(rng, 0, G_N_ELEMENTS(time_rows));
  return time;
}

/* Returns TRUE if the taps, in the picture or in time, add up to 0 or are combined to a magnitude. */
static gboolean
has_no_sum(const Settings *settings)
{
  CnvFilterType filter = settings->filter;
  const int *axis = settings->kernel_axis;

  if (time_rows[settings->time.kernel].zero_sum)
    return TRUE;
  if (filter == CNV_FILTER_CUSTOM)
    return axis_rows[axis[CNV_X]].zero_sum || axis_rows[axis[CNV_Y]].zero_sum;
  return cnv_filter_info(filter)->is_gradient || filter == CNV_FILTER_LAPLACIAN || filter == CNV_FILTER_LOG;
}

static Settings
draw_settings(GRand *rng, gboolean has_alpha)
{
  static const guint planes[] = {CNV_PLANES_COLOR, CNV_PLANES_COLOR, CNV_PLANES_ALL, CNV_PLANES_LUMA | CNV_PLANES_RED,
                                 CNV_PLANES_CHROMA | CNV_PLANES_BLUE | CNV_PLANES_ALPHA};
  Settings settings = {
      .filter = g_rand_int_range(rng, CNV_FILTER_IDENTITY, CNV_FILTER_CUSTOM + 1),
      .amount = g_rand_double_range(rng, 0, 3),
      .angle = g_rand_boolean(rng) ? 90 : g_rand_double_range(rng, -360, 360),
      .gradient = g_rand_int_range(rng, CNV_GRADIENT_MAGNITUDE, CNV_GRADIENT_DIRECTIONAL + 1),
      .border = g_rand_int_range(rng, CNV_BORDER_CONSTANT, CNV_N_BORDERS),
      .border_color = g_rand_int(rng),
      .fill_color = g_rand_int(rng),
      .planes = PICK(rng, planes),
      .chroma_same = g_rand_boolean(rng),
      .normalize = g_rand_boolean(rng),
      .absolute = seldom(rng, 4),
      .flip = g_rand_boolean(rng),
      .disable_passthrough = g_rand_boolean(rng),
      .scale = g_rand_boolean(rng) ? 1 : g_rand_double_range(rng, -3, 3),
      .bias = g_rand_boolean(rng) ? 0 : g_rand_double_range(rng, -1, 1),
  };

  settings.algorithm = draw_algorithm(rng, settings.filter);
  draw_strength(rng, has_alpha, &settings);
  draw_kernels(rng, &settings);
  settings.regions = draw_regions(rng, largest_radius(&settings));
  settings.time = draw_time(rng);
  /* A threshold needs taps in time that are not negative, and no alpha as a weight. */
  if (settings.time.kernel == 0 && settings.filter != CNV_FILTER_CUSTOM &&
      settings.alpha_mode != CNV_ALPHA_PREMULTIPLY && seldom(rng, 2))
    settings.time.threshold = g_rand_boolean(rng) ? -1 : g_rand_double_range(rng, 0, 1);
  if (has_no_sum(&settings)) /* with a mask from a meta it would be an error */
    settings.regions.isolated = FALSE;
  /* With only chroma, a kernel of full rank may become separable. */
  if (needs_separable(settings.algorithm) && kernel_rows[settings.kernel].full_rank)
    settings.planes = CNV_PLANES_COLOR;
  return settings;
}

/* Returns the number of later frames that a frame waits for. */
static int
count_ahead(const Settings *settings)
{
  const OverTime *time = &settings->time;
  int frames = settings->filter == CNV_FILTER_CUSTOM ? kernel_rows[settings->kernel].frames : 0;
  int n = frames > 0 ? frames : time->kernel > 0 ? time_rows[time->kernel].n : 2 * time->radius + 1;

  return time->causal || settings->filter == CNV_FILTER_FILL ? 0 : n / 2;
}

/* ---- what the element must reject, by the README ---- */

static int
radius_along(const CnvFilterInfo *info, int along, int radius, double sigma)
{
  if (along >= 0 || radius >= 0)
    return along >= 0 ? along : radius;
  return sigma > 0 && info->max_radius > CNV_APERTURE_MAX ? (int)ceil(3 * sigma) : info->default_radius;
}

/* Returns TRUE for a radius above the filter's limit; for a derivative also if the two radii differ or are 0; for log
 * if both are 0. */
static gboolean
radius_is_refused(CnvFilterType filter, int radius, int radius_x, int radius_y, double sigma)
{
  const CnvFilterInfo *info = cnv_filter_info(filter);
  gboolean motion = filter == CNV_FILTER_MOTION; /* has no axes */
  int x = radius_along(info, motion ? -1 : radius_x, radius, sigma);
  int y = radius_along(info, motion ? -1 : radius_y, radius, sigma);

  if (info->max_radius == 0)
    return FALSE;
  if (x > info->max_radius || y > info->max_radius)
    return TRUE;
  if (info->max_radius <= CNV_APERTURE_MAX)
    return x != y || x == 0;
  return filter == CNV_FILTER_LOG && x == 0 && y == 0;
}

/* Returns TRUE if chroma's own radius is rejected, provided that there is chroma and it is filtered. Chroma of a
 * gradient is neutral. */
static gboolean
chroma_is_refused(const Settings *settings, gboolean has_chroma)
{
  if (!has_chroma || cnv_filter_info(settings->filter)->is_gradient || !(settings->planes & CNV_PLANES_CHROMA))
    return FALSE;
  return (settings->chroma_radius >= 0 || settings->chroma_sigma > 0) &&
         radius_is_refused(settings->filter, settings->chroma_radius, -1, -1, settings->chroma_sigma);
}

/* Returns TRUE if there are no taps, or two kinds of them, in time, too; if the anchor is outside them; or if a
 * separable algorithm is set and they are not a row times a column. */
static gboolean
kernel_is_refused(const Settings *settings)
{
  const int *axis = settings->kernel_axis, *anchor = settings->anchor;
  gboolean axes = axis_rows[axis[CNV_X]].n > 1 || axis_rows[axis[CNV_Y]].n > 1;
  int kernel = settings->kernel;

  if (settings->filter != CNV_FILTER_CUSTOM)
    return FALSE;
  if (axes && kernel > 0)
    return TRUE;
  if (!axes && kernel == 0 && settings->time.kernel == 0)
    return TRUE;
  if (kernel == 0)
    return anchor[CNV_X] >= axis_rows[axis[CNV_X]].n || anchor[CNV_Y] >= axis_rows[axis[CNV_Y]].n;
  if (kernel_rows[kernel].frames > 0 && (settings->time.kernel > 0 || settings->time.radius > 0))
    return TRUE;
  return anchor[CNV_X] >= kernel_rows[kernel].n[CNV_X] || anchor[CNV_Y] >= kernel_rows[kernel].n[CNV_Y] ||
         (kernel_rows[kernel].full_rank && needs_separable(settings->algorithm));
}

/* Returns TRUE if premultiplied colours would be divided by filtered alpha without a sum. */
static gboolean
alpha_is_refused(const Settings *settings)
{
  return settings->alpha_mode == CNV_ALPHA_PREMULTIPLY && settings->filter != CNV_FILTER_FILL && has_no_sum(settings);
}

static gboolean
regions_are_refused(const Regions *regions, CnvFilterType filter)
{
  gboolean moved = regions->target_x >= 0;

  if (strcmp(regions->source, "none") == 0)
    return FALSE;
  if (regions->relative && cnv_filter_info(filter)->max_radius <= CNV_APERTURE_MAX)
    return TRUE;
  return (regions->invert && (regions->relative || moved)) || moved != (regions->target_y >= 0);
}

static gboolean
is_refused(const Settings *settings, const char *backend, const GstVideoInfo *info)
{
  if (settings->algorithm == CNV_ALGORITHM_TEXTURE && strcmp(backend, "cpu") == 0)
    return TRUE;
  return radius_is_refused(settings->filter, settings->radius, settings->radius_x, settings->radius_y,
                           settings->sigma) ||
         chroma_is_refused(settings, GST_VIDEO_INFO_IS_YUV(info)) || kernel_is_refused(settings) ||
         (GST_VIDEO_INFO_HAS_ALPHA(info) && alpha_is_refused(settings)) ||
         regions_are_refused(&settings->regions, settings->filter);
}

/* ---- the element's properties ---- */

static void
set_text(GstElement *element, const char *property, const char *text)
{
  gst_util_set_object_arg(G_OBJECT(element), property, text);
}

static void
set_regions(GstElement *element, const Regions *regions)
{
  set_text(element, "roi-source", regions->source);
  set_text(element, "roi", regions->rects);
  set_text(element, "roi-polygons", regions->polygons);
  set_text(element, "roi-strength", regions->relative ? "relative" : "fixed");
  set_text(element, "roi-shape", regions->ellipse ? "ellipse" : "rectangle");
  g_object_set(element, "roi-types", regions->types, "roi-smooth", regions->smooth, "roi-missing", regions->missing,
               "roi-invert", regions->invert, "roi-isolated", regions->isolated, "roi-expand", regions->expand,
               "roi-feather", regions->feather, "roi-relative-size", regions->relative_size, "roi-target-x",
               regions->target_x, "roi-target-y", regions->target_y, NULL);
}

static void
set_time(GstElement *element, const OverTime *time)
{
  set_text(element, "kernel-t", time_rows[time->kernel].text);
  set_text(element, "temporal-mode", time->causal ? "causal" : "centered");
  g_object_set(element, "temporal-radius", time->radius, "temporal-sigma", time->sigma, "temporal-threshold",
               time->threshold, "temporal-border", time->border, "scene-change-threshold", time->scene_change,
               "drain-on-changes", time->drains, NULL);
}

static void
set_settings(GstElement *element, const Settings *settings)
{
  g_object_set(element, "filter", settings->filter, "radius", settings->radius, "radius-x", settings->radius_x,
               "radius-y", settings->radius_y, "sigma", settings->sigma, "chroma-radius", settings->chroma_radius,
               "chroma-sigma", settings->chroma_sigma, "amount", settings->amount, "angle", settings->angle, "gradient",
               settings->gradient, "scale", settings->scale, "bias", settings->bias, "absolute", settings->absolute,
               "normalize", settings->normalize, "flip-kernel", settings->flip, "anchor-x", settings->anchor[CNV_X],
               "anchor-y", settings->anchor[CNV_Y], "border-mode", settings->border, "border-color",
               settings->border_color, "fill-color", settings->fill_color, "planes", settings->planes, "chroma-mode",
               settings->chroma_same, "alpha-mode", settings->alpha_mode, "algorithm", settings->algorithm,
               "disable-passthrough", settings->disable_passthrough, NULL);
  set_text(element, "kernel", kernel_rows[settings->kernel].text);
  set_text(element, "kernel-x", axis_rows[settings->kernel_axis[CNV_X]].text);
  set_text(element, "kernel-y", axis_rows[settings->kernel_axis[CNV_Y]].text);
  set_regions(element, &settings->regions);
  set_time(element, &settings->time);
}
