/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "element/unused.h"

#include <string.h>

#include "messages.h"
#include "regions/analytics.h"
#include "regions/polygon.h"

#define IN(value) (1u << (value))
#define FILTER(name) IN(CNV_FILTER_##name)
#define CELLS (FILTER(MOSAIC) | FILTER(FILL))

#define MAX_NAMED 8    /* most rectangles, polygons and zones of each kind that a message names, */
#define MAX_POINTS 3   /* most points that it shows of a polygon, */
#define MAX_LETTERS 40 /* and most characters of a zone's name */

/* ---- conditions of rows ---- */

enum {
  ALWAYS,
  NO_KERNEL_T,
  KERNEL_T,
  ONE_FRAME,
  GRADIENT,
  NO_RADIUS,
  FIXED_RADIUS,
  FIXED_RADII,
  CUT_SIGMA,
  SATURATION,
  OTHER_PLANES,
  MISSING_PLANES,
  NO_CHROMA,
  NO_ALPHA,
  NO_ANALYTICS,
  MASK_ALONE,
  ZONES_ONLY,
  NO_TYPES,
  POLYGONS_ONLY,
  REGIONS,
  ONLY_RECTANGLES,
  ALL_OUTSIDE,
  ALL_CLEAR,
  N_CONDITIONS
};

static gboolean
takes_radius_of_sigma(const CnvFilter *filter)
{
  gboolean takes = FALSE;

  for (int axis = 0; axis < CNV_N_AXES; axis++)
    takes = takes || (filter->radius < 0 && filter->radius_axis[axis] < 0 &&
                      (filter->sigma > 0 || filter->sigma_axis[axis] > 0));
  return takes && cnv_filter_info(filter->type)->max_radius > CNV_APERTURE_MAX;
}

/* Returns TRUE if a radius cuts the filter off at less than one sigma. */
static gboolean
cuts_sigma(const CnvFilter *filter)
{
  gboolean cuts = FALSE;

  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    int radius = cnv_filter_radius(filter, axis);

    cuts = cuts || (radius > 0 && radius < cnv_filter_sigma(filter, axis));
  }
  return cuts && cnv_filter_uses(filter->type, "sigma");
}

static guint
planes_of(const CnvFormat *format)
{
  guint planes = 0;

  for (int p = 0; p < format->n_planes; p++)
    for (int c = 0; c < format->plane[p].channels; c++)
      planes |= cnv_role_planes[format->plane[p].role[c]];
  return planes;
}

static gboolean
is_in_frame(const double rect[4], const GstCudaConvolveRoi *roi, const CnvImage *image)
{
  double beside_x = roi->expand * rect[2] + roi->feather, beside_y = roi->expand * rect[3] + roi->feather;

  return rect[2] > 0 && rect[3] > 0 && rect[0] + rect[2] + beside_x > 0 && rect[1] + rect[3] + beside_y > 0 &&
         rect[0] - beside_x < image->width && rect[1] - beside_y < image->height;
}

/* A polygon that cannot be drawn counts as the rectangle around it. */
static gboolean
points_are_in_frame(const GstCudaConvolveRoi *roi, const GArray *points, const CnvImage *image)
{
  double bounds[4];
  gboolean shows;
  CnvRect rect;

  gst_cuda_convolve_polygon_bounds(points, bounds);
  rect = gst_cuda_convolve_polygon_rect(points, roi->expand * MAX(bounds[2], bounds[3]) + roi->feather, image);
  if (rect.width > CNV_SIZE_MAX)
    return TRUE;
  return rect.width > 0 && (!gst_cuda_convolve_polygon_draw(points, &rect, NULL, &shows) || shows);
}

static gboolean
polygon_is_in_frame(const GstCudaConvolveRoi *roi, guint i, const CnvImage *image)
{
  g_autoptr(GArray) points = gst_cuda_convolve_roi_polygon(roi, i, image);

  return points_are_in_frame(roi, points, image);
}

/* Rectangles and ellipses of zones are always in the frame. A polygon may have no area. Zones that roi-types excludes
 * do not count. */
static gboolean
zone_is_in_frame(const GstCudaConvolveRoi *roi, const GstCudaConvolveZone *zone, const CnvImage *image)
{
  g_autoptr(GArray) points = NULL;

  if (!gst_cuda_convolve_roi_takes_zone(roi, zone))
    return FALSE;
  if (!zone->points)
    return TRUE;
  points = gst_cuda_convolve_roi_zone_points(zone, image);
  return points_are_in_frame(roi, points, image);
}

gboolean
gst_cuda_convolve_all_outside(const GstCudaConvolveRoi *roi, const CnvImage *image)
{
  gboolean outside = roi->source == CNV_ROI_PROPERTY && !roi->mask;
  double rect[4];

  for (guint i = 0; outside && i < gst_cuda_convolve_zones_n(roi->zones); i++)
    outside = !zone_is_in_frame(roi, gst_cuda_convolve_zones_get(roi->zones, i), image);

  for (guint i = 0; i < gst_cuda_convolve_roi_n_rects(roi); i++) {
    gst_cuda_convolve_roi_rect(roi, i, image, rect);
    outside = outside && !is_in_frame(rect, roi, image);
  }
  for (guint i = 0; outside && i < gst_cuda_convolve_roi_n_polygons(roi); i++)
    outside = !polygon_is_in_frame(roi, i, image);
  return outside;
}

static void
find_conditions(const GstCudaConvolveSettings *settings, const CnvImage *image, const CnvPlan *plan,
                gboolean holds[N_CONDITIONS])
{
  const CnvFilter *filter = &settings->filter;
  guint planes = planes_of(image->format);
  gboolean has_rects = gst_cuda_convolve_roi_n_rects(&settings->roi) > 0;
  gboolean has_polygons = gst_cuda_convolve_roi_n_polygons(&settings->roi) > 0;
  gboolean follows_size = settings->roi.source != CNV_ROI_NONE && settings->roi.strength == CNV_ROI_RELATIVE;

  holds[ALWAYS] = TRUE;
  holds[NO_KERNEL_T] = !filter->kernel_t;
  holds[KERNEL_T] = filter->kernel_t != NULL;
  holds[ONE_FRAME] = cnv_plan_frames(plan, NULL) == 1;
  holds[GRADIENT] = cnv_filter_info(filter->type)->is_gradient;
  holds[NO_RADIUS] = cnv_filter_info(filter->type)->max_radius == 0;
  holds[FIXED_RADIUS] = !takes_radius_of_sigma(filter);
  holds[FIXED_RADII] = holds[FIXED_RADIUS] && (filter->chroma_sigma == 0 || filter->chroma_radius >= 0);
  holds[CUT_SIGMA] = cuts_sigma(filter) && !follows_size;
  holds[SATURATION] = cnv_plan_saturates(plan);
  holds[OTHER_PLANES] = !(filter->planes & planes);
  holds[MISSING_PLANES] =
      filter->planes != CNV_PLANES_COLOR && filter->planes != CNV_PLANES_ALL && filter->planes & ~planes;
  holds[NO_CHROMA] = !(planes & CNV_PLANES_CHROMA);
  holds[NO_ALPHA] = !(planes & CNV_PLANES_ALPHA);
  holds[NO_ANALYTICS] = !gst_cuda_convolve_analytics_are_read;
  holds[MASK_ALONE] = settings->roi.mask && !settings->roi.zones && !has_rects && !has_polygons;
  holds[ZONES_ONLY] = settings->roi.zones && !has_rects && !has_polygons;
  holds[NO_TYPES] = !gst_cuda_convolve_zones_have_type(settings->roi.zones);
  holds[POLYGONS_ONLY] = has_polygons && !has_rects;
  holds[REGIONS] = settings->roi.source != CNV_ROI_NONE;
  holds[ONLY_RECTANGLES] = settings->roi.source == CNV_ROI_PROPERTY && has_rects && !settings->roi.invert &&
                           !gst_cuda_convolve_roi_has_shapes(&settings->roi);
  holds[ALL_OUTSIDE] = gst_cuda_convolve_all_outside(&settings->roi, image);
  holds[ALL_CLEAR] = holds[ALL_OUTSIDE] && !settings->roi.invert && settings->roi.missing == CNV_ROI_MISSING_COPY;
}

/* ---- the table ---- */

#define NO_EFFECT "has no effect: "
#define BY_FILTER G_MAXUINT /* value of `used`: the filters that use a property (CnvFilterInfo.properties) */

typedef struct {
  const char *properties; /* names of properties; each gets a message of its own; NULL: see names_of */
  const char *beside; /* property whose value the message shows, or "format"; NULL: the value of the property itself */
  guint used;         /* bits of the values of `beside` with which the properties have an effect, or BY_FILTER */
  guint condition;    /* with all other values: the condition under which they have no effect */
  const char *text;   /* BY_FILTER: follows the list of filters */
  gboolean exposes;   /* something stays visible that should be hidden, or is hidden less than requested */
} Row;

static const Row rows[] = {
    {NULL, "filter", BY_FILTER, ALWAYS, ""},
    {"amount", "filter", BY_FILTER, ALWAYS, ", or set scale"},
    {"flip-kernel", "filter", FILTER(CUSTOM), NO_KERNEL_T, NO_EFFECT "set filter=custom, or kernel-t"},
    {"angle", "gradient", IN(CNV_GRADIENT_DIRECTIONAL), GRADIENT, NO_EFFECT "set gradient=directional"},
    {"radius radius-x radius-y", "filter", 0, NO_RADIUS,
     NO_EFFECT "choose a filter that has a radius, gaussian for example"},
    {"radius-x radius-y sigma-x sigma-y", "filter", ~FILTER(MOTION), ALWAYS,
     NO_EFFECT "set radius, which applies along the line"},
    {"sigma sigma-x sigma-y", "filter", BY_FILTER, FIXED_RADIUS,
     "; box, disk, motion and mosaic use sigma only if radius is -1"},
    {"truncate", NULL, 0, FIXED_RADII, NO_EFFECT "it computes the radius from sigma; set sigma, and radius=-1"},
    {"bias", NULL, 0, SATURATION,
     "saturates: samples become 0 or full scale, whatever the picture shows; bias is a fraction of full scale, "
     "0.5 for mid-grey"},
    {"absolute scale bias chroma-mode chroma-radius chroma-sigma temporal-radius kernel-t", "filter", ~FILTER(FILL),
     ALWAYS, NO_EFFECT "every filtered sample gets the fill-color; choose another filter, or reset it to its default"},
    {"border-mode border-color", "filter", ~CELLS, ALWAYS,
     NO_EFFECT "the filter reads nothing outside the frame or a region; reset it to its default"},
    {"roi-isolated", "filter", ~FILTER(FILL), ALWAYS,
     NO_EFFECT "the filter reads nothing outside a region anyway; reset it to its default"},
    {"roi-isolated", "filter", ~FILTER(MOSAIC), ONLY_RECTANGLES,
     NO_EFFECT "the filter reads nothing outside a rectangle anyway; reset it to its default"},
    {"border-color", "border-mode", IN(CNV_BORDER_CONSTANT), ALWAYS, NO_EFFECT "set border-mode=constant"},
    {"planes", "format", 0, OTHER_PLANES,
     "names none of the frames' planes: nothing is filtered, and the whole picture stays visible; choose luma and "
     "chroma for YUV, luma for grey, red, green and blue for RGB, or color",
     TRUE},
    {"planes", "format", 0, MISSING_PLANES,
     "names some planes that the frames do not have, without effect: choose luma and chroma for YUV, luma for grey, "
     "red, green and blue for RGB, or color"},
    {"chroma-mode chroma-radius chroma-sigma", "format", 0, NO_CHROMA,
     NO_EFFECT "the frames have no chroma; convert them to YUV, or reset it to its default"},
    {"alpha-mode", "format", 0, NO_ALPHA,
     NO_EFFECT "the frames have no alpha; convert them to a format with alpha, or set alpha-mode=copy"},
    {"temporal-radius temporal-sigma", NULL, 0, KERNEL_T,
     NO_EFFECT "kernel-t sets the weights of frames; set kernel-t=\"<>\", or reset it to 0"},
    {"temporal-sigma", "temporal-radius", ~IN(0), ALWAYS, NO_EFFECT "set temporal-radius"},
    {"temporal-threshold temporal-mode temporal-border scene-change-threshold drain-on-changes", "temporal-radius", 0,
     ONE_FRAME, NO_EFFECT "set temporal-radius or kernel-t"},
    {"roi roi-polygons roi-units roi-mask-location roi-location", "roi-source", ~IN(CNV_ROI_NONE), ALWAYS,
     NO_EFFECT "the whole frame is filtered; set roi-source=property to filter only the rectangles, polygons, zones "
               "and the mask"},
    {"roi", "roi-source", ~IN(CNV_ROI_META), ALWAYS,
     NO_EFFECT "regions come only from metas, and rectangles that no meta covers stay visible (with "
               "roi-invert=true they are filtered); set roi-source=property",
     TRUE},
    {"roi-polygons", "roi-source", ~IN(CNV_ROI_META), ALWAYS,
     NO_EFFECT "regions come only from metas, and polygons that no meta covers stay visible (with "
               "roi-invert=true they are filtered); set roi-source=property",
     TRUE},
    {"roi-units", "roi-source", ~IN(CNV_ROI_META), ALWAYS,
     NO_EFFECT "metas are in pixels; set roi-source=property, or roi-units=pixels"},
    {"roi-mask-location", "roi-source", ~IN(CNV_ROI_META), ALWAYS,
     NO_EFFECT "regions come only from metas, and what the mask covers stays visible unless a meta covers it (with "
               "roi-invert=true it is filtered); set roi-source=property",
     TRUE},
    {"roi-location", "roi-source", ~IN(CNV_ROI_META), ALWAYS,
     NO_EFFECT "regions come only from metas, and zones that no meta covers stay visible (with roi-invert=true they "
               "are filtered); set roi-source=property",
     TRUE},
    {"roi-units roi-shape", "roi-source", ~IN(CNV_ROI_PROPERTY), MASK_ALONE,
     NO_EFFECT "the mask is the only region; set roi to rectangles too, or reset it to its default"},
    {"roi-units roi-shape", "roi-source", ~IN(CNV_ROI_PROPERTY), ZONES_ONLY,
     NO_EFFECT "zones have their own units and shapes; set roi to rectangles too, or reset it to its default"},
    {"roi-shape", "roi-source", ~IN(CNV_ROI_PROPERTY), POLYGONS_ONLY,
     NO_EFFECT "polygons keep their shape; set roi to rectangles too, or reset it to its default"},
    {"roi-types roi-confidence roi-smooth", "roi-source", ~IN(CNV_ROI_NONE), ALWAYS,
     NO_EFFECT "the whole frame is filtered; set roi-source=meta"},
    {"roi-types", "roi-source", ~IN(CNV_ROI_PROPERTY), NO_TYPES,
     NO_EFFECT "regions come only from properties, and no zone of roi-location names a type; set roi-source=meta, or "
               "add types to the zones"},
    {"roi-confidence roi-smooth", "roi-source", ~IN(CNV_ROI_PROPERTY), ALWAYS,
     NO_EFFECT "regions from properties are in every frame and have no confidence; set roi-source=meta"},
    {"roi-confidence", NULL, 0, NO_ANALYTICS,
     NO_EFFECT "this build cannot read GstAnalyticsODMtd boxes, and others have no confidence: build the plugin with "
               "gstreamer-analytics-1.0 of GStreamer 1.24 or newer"},
    {"roi-missing roi-shape roi-invert roi-expand roi-feather roi-strength roi-relative-size roi-isolated roi-target-x "
     "roi-target-y",
     "roi-source", ~IN(CNV_ROI_NONE), ALWAYS, NO_EFFECT "the whole frame is filtered; set roi-source=property or meta"},
    {"roi-source", NULL, 0, ALL_CLEAR,
     "finds no rectangle or polygon in the frame: nothing is filtered, and the whole frame stays visible; set "
     "roi=\"<<x,y,width,height>>\" in pixels of the frame, or choose zones of roi-location with roi-types",
     TRUE},
    {"roi-source", NULL, 0, ALL_OUTSIDE,
     "finds no rectangle or polygon in the frame: with roi-invert=true or roi-missing=filter the whole frame is "
     "filtered; set roi=\"<<x,y,width,height>>\" in pixels of the frame"},
    {"roi-relative-size", "roi-strength", IN(CNV_ROI_RELATIVE), ALWAYS, NO_EFFECT "set roi-strength=relative"},
    {"radius radius-x radius-y sigma sigma-x sigma-y truncate chroma-radius chroma-sigma", "roi-strength",
     IN(CNV_ROI_FIXED), REGIONS,
     NO_EFFECT "radius and sigma follow each region's size; set roi-relative-size, or roi-strength=fixed"},
    {"sigma sigma-x sigma-y", NULL, 0, CUT_SIGMA,
     "is cut off by the radius: less than one sigma is left on each side, which weakens the filter; set radius, "
     "radius-x and radius-y to -1, so that the radius is truncate times sigma",
     TRUE},
    {"cuda-device-id frames-in-flight", "backend", ~IN(CNV_BACKEND_CPU), ALWAYS, NO_EFFECT "set backend=auto or cuda"},
    {"n-threads", "backend", ~IN(CNV_BACKEND_CUDA), ALWAYS, NO_EFFECT "set backend=auto or cpu"},
};

/* Returns TRUE if a BY_FILTER row names the property. */
static gboolean
has_row_by_filter(const char *property)
{
  gboolean has = FALSE;

  for (gsize i = 0; i < G_N_ELEMENTS(rows) && !has; i++)
    if (rows[i].properties && rows[i].used == BY_FILTER) {
      g_auto(GStrv) names = g_strsplit(rows[i].properties, " ", -1);

      has = g_strv_contains((const char *const *)names, property);
    }
  return has;
}

/* Returns the names of a row's properties. NULL stands for all properties that a filter uses and that no BY_FILTER row
 * names. */
static GStrv
names_of(const Row *row)
{
  g_autoptr(GStrvBuilder) names = g_strv_builder_new();
  g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

  if (row->properties)
    return g_strsplit(row->properties, " ", -1);
  for (const CnvFilterInfo *info = cnv_filters; info->nick.nick; info++) {
    g_auto(GStrv) own = g_strsplit(info->properties ? info->properties : "", " ", -1);

    for (char **name = own; *name; name++)
      if (!has_row_by_filter(*name) && g_hash_table_add(known, g_strdup(*name)))
        g_strv_builder_add(names, *name);
  }
  return g_strv_builder_end(names);
}

static guint
filters_with(const char *property)
{
  guint filters = 0;

  for (const CnvFilterInfo *info = cnv_filters; info->nick.nick; info++)
    if (cnv_filter_uses((CnvFilterType)info->nick.value, property))
      filters |= IN(info->nick.value);
  return filters;
}

/* Returns the text of a row for one of its properties. For BY_FILTER it lists the filters: "set filter=custom", or
 * "choose gaussian, unsharp or log". */
static char *
text_of(const Row *row, const char *property)
{
  guint left = filters_with(property);
  GString *text = g_string_new(NO_EFFECT);

  if (row->used != BY_FILTER) {
    g_string_assign(text, row->text);
    return g_string_free(text, FALSE);
  }
  g_string_append(text, (left & (left - 1)) == 0 ? "set filter=" : "choose ");
  for (const CnvFilterInfo *info = cnv_filters; info->nick.nick; info++)
    if (left & IN(info->nick.value)) {
      left &= ~IN(info->nick.value);
      g_string_append_printf(text, "%s%s", info->nick.nick,
                             left == 0                  ? row->text
                             : (left & (left - 1)) == 0 ? " or "
                                                        : ", ");
    }
  return g_string_free(text, FALSE);
}

/* ---- messages ---- */

static GValue
value_of(const GstCudaConvolveSettings *settings, GParamSpec *spec)
{
  GValue value = G_VALUE_INIT;

  g_value_init(&value, spec->value_type);
  gst_cuda_convolve_property_get(settings, spec->param_id, &value);
  return value;
}

/* Returns the value of a property as it is written in a pipeline description. */
static char *
describe(const GstCudaConvolveSettings *settings, GParamSpec *spec)
{
  GValue value = value_of(settings, spec);
  char *text =
      G_VALUE_HOLDS_DOUBLE(&value) ? g_strdup_printf("%g", g_value_get_double(&value)) : gst_value_serialize(&value);

  g_value_unset(&value);
  return text;
}

/* Returns the bit of the value of an enum, or of a small number. */
static guint
bit_of(const GstCudaConvolveSettings *settings, GParamSpec *spec)
{
  GValue value = value_of(settings, spec);

  return IN(G_VALUE_HOLDS_ENUM(&value) ? g_value_get_enum(&value) : g_value_get_int(&value));
}

static void
report(GstElement *element, GstMessageType type, const char *name, const char *beside, const char *value,
       const char *text)
{
  g_autofree char *with = beside ? g_strdup_printf(" with %s", beside) : g_strdup("");

  gst_cuda_convolve_post(element, type,
                         g_error_new(CNV_ERROR, CNV_ERROR_SETTINGS, "%s%s=%s %s", name, with, value, text),
                         "checking the settings");
}

/* Returns TRUE if the value of `beside` is one with which the property has an effect. */
static gboolean
is_used(const Row *row, const char *property, const GstCudaConvolveSettings *settings, GParamSpec *beside)
{
  guint used = row->used == BY_FILTER ? filters_with(property) : row->used;

  return used && bit_of(settings, beside) & used;
}

/* Returns TRUE once per property, and a second time if it then leaves something visible. */
static gboolean
is_new(GHashTable *posted, GParamSpec *spec, gboolean exposes)
{
  gboolean first = g_hash_table_add(posted, GSIZE_TO_POINTER(gst_cuda_convolve_property_slot(spec->param_id)));

  return exposes ? g_hash_table_add(posted, spec) : first;
}

void
gst_cuda_convolve_repeat_clear(GstElement *element, GHashTable *posted)
{
  g_hash_table_remove(posted, g_object_class_find_property(G_OBJECT_GET_CLASS(element), "roi-source"));
}

void
gst_cuda_convolve_report_unused(GstElement *element, const GstCudaConvolveSettings *settings, const CnvImage *image,
                                const CnvPlan *plan, gboolean is_start, GHashTable *posted)
{
  GObjectClass *klass = G_OBJECT_GET_CLASS(element);
  gboolean holds[N_CONDITIONS];

  find_conditions(settings, image, plan, holds);
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_auto(GStrv) names = NULL;
    GParamSpec *beside = rows[i].beside ? g_object_class_find_property(klass, rows[i].beside) : NULL;

    if (!holds[rows[i].condition])
      continue;
    names = names_of(&rows[i]);
    for (char **name = names; *name; name++) {
      GParamSpec *spec = g_object_class_find_property(klass, *name);
      g_autofree char *value = NULL, *text = NULL;

      if (!gst_cuda_convolve_property_is_set(settings, spec->param_id) || is_used(&rows[i], *name, settings, beside) ||
          !is_new(posted, spec, rows[i].exposes))
        continue;
      value = rows[i].beside && !beside ? g_strdup(image->format->name) : describe(settings, beside ? beside : spec);
      text = text_of(&rows[i], *name);
      report(element, is_start || rows[i].exposes ? GST_MESSAGE_WARNING : GST_MESSAGE_INFO, *name, rows[i].beside,
             value, text);
    }
  }
}

/* ---- lists for programs ---- */

/* Returns TRUE if the row's properties have an effect as soon as they are set: sigma then computes the radius. */
static gboolean
works_once_set(guint condition, const CnvFilter *filter)
{
  return condition == FIXED_RADIUS && filter->radius < 0 &&
         cnv_filter_info(filter->type)->max_radius > CNV_APERTURE_MAX;
}

GstStructure *
gst_cuda_convolve_list_unused(GstElement *element, const GstCudaConvolveSettings *settings, const CnvImage *image,
                              const CnvPlan *plan)
{
  GstStructure *unused = gst_structure_new_empty("cudaconvolve-unused");
  GObjectClass *klass = G_OBJECT_GET_CLASS(element);
  gboolean holds[N_CONDITIONS];

  find_conditions(settings, image, plan, holds);
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    GParamSpec *beside = rows[i].beside ? g_object_class_find_property(klass, rows[i].beside) : NULL;
    g_auto(GStrv) names = NULL;
    g_autofree char *value = NULL;

    if (!holds[rows[i].condition] || works_once_set(rows[i].condition, &settings->filter))
      continue;
    value = beside ? describe(settings, beside) : g_strdup(image->format->name);
    names = names_of(&rows[i]);
    for (char **name = names; *name; name++) {
      g_autofree char *text = text_of(&rows[i], *name), *reason = NULL;

      if (is_used(&rows[i], *name, settings, beside) || !g_str_has_prefix(text, NO_EFFECT) ||
          gst_structure_has_field(unused, *name))
        continue;
      reason = rows[i].beside ? g_strdup_printf("%s=%s: %s", rows[i].beside, value, text + strlen(NO_EFFECT))
                              : g_strdup(text + strlen(NO_EFFECT));
      gst_structure_set(unused, *name, G_TYPE_STRING, reason, NULL);
    }
  }
  return unused;
}

static void
set_axes(GstStructure *to, const CnvFilter *filter)
{
  static const char *const radius_names[] = {"radius-x", "radius-y"}, *const sigma_names[] = {"sigma-x", "sigma-y"};

  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    if (filter->radius_axis[axis] < 0)
      gst_structure_set(to, radius_names[axis], G_TYPE_INT, cnv_filter_radius(filter, axis), NULL);
    if (filter->sigma_axis[axis] == 0 && cnv_filter_uses(filter->type, "sigma"))
      gst_structure_set(to, sigma_names[axis], G_TYPE_DOUBLE, cnv_filter_sigma(filter, axis), NULL);
  }
}

GstStructure *
gst_cuda_convolve_list_effective(const GstCudaConvolveSettings *settings)
{
  GstStructure *effective = gst_structure_new_empty("cudaconvolve-effective");
  CnvFilter filter = settings->filter; /* borrows the taps */

  set_axes(effective, &filter);
  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    filter.radius_axis[axis] = -1;
    filter.sigma_axis[axis] = 0;
  }
  if (filter.radius < 0)
    gst_structure_set(effective, "radius", G_TYPE_INT, cnv_filter_radius(&filter, CNV_X), NULL);
  if (filter.sigma == 0 && cnv_filter_uses(filter.type, "sigma"))
    gst_structure_set(effective, "sigma", G_TYPE_DOUBLE, cnv_filter_sigma(&filter, CNV_X), NULL);
  if (filter.temporal_sigma == 0 && filter.temporal_radius > 0)
    gst_structure_set(effective, "temporal-sigma", G_TYPE_DOUBLE, 0.3 * (filter.temporal_radius - 1) + 0.8, NULL);
  if (settings->n_threads == 0)
    gst_structure_set(effective, "n-threads", G_TYPE_UINT, g_get_num_processors(), NULL);
  return effective;
}

/* ---- regions outside the frame ---- */

static guint
name_rects(GString *names, const GstCudaConvolveRoi *roi, const CnvImage *image)
{
  const double *number = roi->rects ? (const double *)roi->rects->data : NULL;
  guint n = 0;

  for (guint i = 0; i < gst_cuda_convolve_roi_n_rects(roi); i++, number += 4) {
    double rect[4];

    gst_cuda_convolve_roi_rect(roi, i, image, rect);
    if (!is_in_frame(rect, roi, image) && ++n <= MAX_NAMED)
      g_string_append_printf(names, "%s rectangle %u <%g,%g,%g,%g>", n > 1 ? "," : "", i + 1, number[0], number[1],
                             number[2], number[3]);
  }
  return n;
}

static void
name_polygon(GString *names, const GArray *points, guint i)
{
  g_string_append_printf(names, " polygon %u <", i + 1);
  for (guint p = 0; p < MIN(points->len / 2, MAX_POINTS); p++)
    g_string_append_printf(names, "%s%g,%g", p > 0 ? "," : "", g_array_index(points, double, 2 * p),
                           g_array_index(points, double, 2 * p + 1));
  g_string_append(names, points->len / 2 > MAX_POINTS ? ",...>" : ">");
}

static guint
name_polygons(GString *names, const GstCudaConvolveRoi *roi, const CnvImage *image)
{
  guint n = 0;

  for (guint i = 0; i < gst_cuda_convolve_roi_n_polygons(roi); i++) {
    if (polygon_is_in_frame(roi, i, image) || ++n > MAX_NAMED)
      continue;
    if (names->len > 0)
      g_string_append_c(names, ',');
    name_polygon(names, g_ptr_array_index(roi->polygons, i), i);
  }
  return n;
}

static guint
name_zones(GString *names, const GstCudaConvolveRoi *roi, const CnvImage *image)
{
  guint n = 0;

  for (guint i = 0; i < gst_cuda_convolve_zones_n(roi->zones); i++) {
    const GstCudaConvolveZone *zone = gst_cuda_convolve_zones_get(roi->zones, i);
    g_autofree char *name = g_utf8_substring(zone->name, 0, MIN(g_utf8_strlen(zone->name, -1), MAX_LETTERS));

    if (gst_cuda_convolve_roi_takes_zone(roi, zone) && !zone_is_in_frame(roi, zone, image) && ++n <= MAX_NAMED)
      g_string_append_printf(names, "%s zone [%s]", names->len > 0 ? "," : "", name);
  }
  return n;
}

char *
gst_cuda_convolve_name_outside(const GstCudaConvolveRoi *roi, const CnvImage *image)
{
  static const struct {
    const char *property;
    guint (*name_all)(GString *names, const GstCudaConvolveRoi *roi, const CnvImage *image);
  } lists[] = {{"roi", name_rects}, {"roi-polygons", name_polygons}, {"roi-location", name_zones}};
  g_autoptr(GString) names = g_string_new(NULL), properties = g_string_new(NULL);
  guint n, all = 0, named = 0;

  if (roi->source != CNV_ROI_PROPERTY)
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS(lists); i++) {
    n = lists[i].name_all(names, roi, image);
    if (n > 0)
      g_string_append_printf(properties, "%s%s", properties->len > 0 ? ", " : "", lists[i].property);
    all += n;
    named += MIN(n, MAX_NAMED);
  }
  if (all == 0)
    return NULL;
  if (all > named)
    g_string_append_printf(names, " and %u more", all - named);
  return g_strdup_printf("%s: outside the frame of %dx%d, or empty, so without effect:%s; correct or remove them",
                         properties->str, image->width, image->height, names->str);
}
