/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/analytics.h"

#include <gmodule.h>
#include <gst/analytics/analytics.h>
#include <math.h>
#include <string.h>

const gboolean gst_cuda_convolve_analytics_are_read = TRUE;

/* ---- the library ---- */

#ifdef G_OS_WIN32
#define LIBRARY "gstanalytics-1.0-0.dll"
#elif defined(__APPLE__)
#define LIBRARY "libgstanalytics-1.0.0.dylib"
#else
#define LIBRARY "libgstanalytics-1.0.so.0"
#endif

#define ENTRIES_1_24(X)                                                                                                \
  X(gst_analytics_mtd_get_mtd_type)                                                                                    \
  X(gst_analytics_od_mtd_get_mtd_type)                                                                                 \
  X(gst_analytics_od_mtd_get_obj_type)                                                                                 \
  X(gst_analytics_relation_meta_iterate)

#if GST_CHECK_VERSION(1, 26, 0)
#define ENTRIES(X)                                                                                                     \
  ENTRIES_1_24(X)                                                                                                      \
  X(gst_analytics_cls_mtd_get_length)                                                                                  \
  X(gst_analytics_cls_mtd_get_mtd_type)                                                                                \
  X(gst_analytics_cls_mtd_get_quark)                                                                                   \
  X(gst_analytics_od_mtd_get_oriented_location)                                                                        \
  X(gst_analytics_relation_meta_get_direct_related)                                                                    \
  X(gst_analytics_segmentation_mtd_get_mask)                                                                           \
  X(gst_analytics_segmentation_mtd_get_mtd_type)                                                                       \
  X(gst_analytics_segmentation_mtd_get_region_count)                                                                   \
  X(gst_analytics_segmentation_mtd_get_region_id)
#else
#define ENTRIES(X)                                                                                                     \
  ENTRIES_1_24(X)                                                                                                      \
  X(gst_analytics_od_mtd_get_location)
#endif

/* Opened when the first meta arrives: the element that added it has loaded the library. Linking to the library would
 * install 41 packages of Debian 13, also for users whose frames have no such meta. */
static struct {
#define MEMBER(name) __typeof__(name) *name;
  ENTRIES(MEMBER)
#undef MEMBER
} library;

/* Opens the library. Returns NULL, or a text that says what to install or update. */
static gpointer
open_library(gpointer unused)
{
  GModule *module = g_module_open(LIBRARY, G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
  const char *missing = NULL;

  if (!module)
    return (gpointer)("install " LIBRARY ", which cannot be opened");
#define LOAD(name)                                                                                                     \
  if (!g_module_symbol(module, #name, (gpointer *)&library.name))                                                      \
    missing = "update " LIBRARY ", which has no " #name;
  ENTRIES(LOAD)
#undef LOAD
  return (gpointer)missing;
}

/* ---- boxes ---- */

/* Reads a box. angle: radians, clockwise about the centre; 0 before GStreamer 1.26. */
static gboolean
read_box(const GstAnalyticsODMtd *od, double rect[4], float *angle, float *confidence)
{
  int x, y, width, height;

#if GST_CHECK_VERSION(1, 26, 0)
  if (!library.gst_analytics_od_mtd_get_oriented_location(od, &x, &y, &width, &height, angle, confidence))
    return FALSE;
#else
  *angle = 0;
  if (!library.gst_analytics_od_mtd_get_location((GstAnalyticsODMtd *)od, &x, &y, &width, &height, confidence))
    return FALSE;
#endif
  rect[0] = x;
  rect[1] = y;
  rect[2] = width;
  rect[3] = height;
  return width > 0 && height > 0;
}

/* Adds a square that contains the box at every angle. Called if the angle is not a finite number. */
static void
add_any_turn(GstCudaConvolveRegions *regions, const double rect[4])
{
  double size = hypot(rect[2], rect[3]);
  const double square[] = {rect[0] + (rect[2] - size) / 2, rect[1] + (rect[3] - size) / 2, size, size};

  gst_cuda_convolve_regions_add_rect(regions, square, regions->roi->shape);
}

static const char *
name_of(GQuark quark)
{
  const char *name = g_quark_to_string(quark);

  return name ? name : "";
}

/* Adds a box if it is chosen. A confidence of NaN is below every limit except 0, which means no limit. */
static void
add_box(GstCudaConvolveRegions *regions, GstAnalyticsODMtd *od)
{
  const char *type = name_of(library.gst_analytics_od_mtd_get_obj_type(od));
  double least = regions->roi->confidence, rect[4];
  float confidence, angle;

  gst_cuda_convolve_regions_note_meta(regions, type);
  if (!read_box(od, rect, &angle, &confidence) || !(least == 0 || confidence >= least) ||
      !gst_cuda_convolve_regions_take_type(regions, type))
    return;
  if (angle == 0)
    gst_cuda_convolve_regions_add_rect(regions, rect, regions->roi->shape);
  else if (isfinite(angle))
    gst_cuda_convolve_regions_add_turned(regions, rect, angle);
  else
    add_any_turn(regions, rect);
}

/* ---- segmentation ---- */

#if GST_CHECK_VERSION(1, 26, 0)

#define BACKGROUND "background"

/* The weights of the values of a mask, which follow from the labels of its regions. */
typedef struct {
  const GstCudaConvolveRegions *regions;
  const GstAnalyticsSegmentationMtd *masks;
  gsize n_regions;
  guint8 *weight; /* array of n_values */
  guint n_values;
} Labels;

/* Sets the weight of a region's value by its label. roi-types chooses the labels that count; without it all count
 * except the background. */
static void
label_region(const Labels *labels, gsize region, const char *name)
{
  guint id = library.gst_analytics_segmentation_mtd_get_region_id(labels->masks, region);

  if (id >= labels->n_values)
    return;
  if (!labels->regions->all && gst_cuda_convolve_regions_take_type(labels->regions, name))
    labels->weight[id] = 255;
  if (labels->regions->all && strcmp(name, BACKGROUND) == 0)
    labels->weight[id] = 0;
}

/* Reads a classification, which has the label of each region at the region's index. */
static void
read_classes(const Labels *labels, GstAnalyticsClsMtd *classes)
{
  gsize n = MIN(library.gst_analytics_cls_mtd_get_length(classes), labels->n_regions);

  for (gsize i = 0; i < n; i++)
    label_region(labels, i, name_of(library.gst_analytics_cls_mtd_get_quark(classes, i)));
}

/* Labels all regions except those of value 0 with the name of a box. */
static void
label_all(const Labels *labels, const char *name)
{
  for (gsize i = 0; i < labels->n_regions; i++)
    if (library.gst_analytics_segmentation_mtd_get_region_id(labels->masks, i) != 0)
      label_region(labels, i, name);
}

/* Reads the labels of a mask. Each related meta is read once, so the time is linear in the number of labels. If
 * several boxes are related, the first one whose label matters counts. */
static void
read_labels(const Labels *labels)
{
  const GstAnalyticsSegmentationMtd *masks = labels->masks;
  const char *counts = NULL;
  GstAnalyticsMtd mtd;
  gpointer state = NULL;

  while (library.gst_analytics_relation_meta_get_direct_related(masks->meta, masks->id, GST_ANALYTICS_REL_TYPE_ANY,
                                                                GST_ANALYTICS_MTD_TYPE_ANY, &state, &mtd)) {
    GstAnalyticsMtdType type = library.gst_analytics_mtd_get_mtd_type(&mtd);

    if (type == library.gst_analytics_cls_mtd_get_mtd_type()) {
      read_classes(labels, &mtd);
    } else if (type == library.gst_analytics_od_mtd_get_mtd_type() && !counts) {
      const char *name = name_of(library.gst_analytics_od_mtd_get_obj_type(&mtd));

      if (labels->regions->all ? strcmp(name, BACKGROUND) == 0
                               : gst_cuda_convolve_regions_take_type(labels->regions, name))
        counts = name;
    }
  }
  if (counts)
    label_all(labels, counts);
}

/* Returns the weight of each value of a mask. Without roi-types all regions count except the background, which is 0
 * or the region of that name. */
static GBytes *
choose_values(const GstCudaConvolveRegions *regions, const GstAnalyticsSegmentationMtd *masks, guint n_values)
{
  guint8 *weight = g_malloc(n_values);
  const Labels labels = {regions, masks, library.gst_analytics_segmentation_mtd_get_region_count(masks), weight,
                         n_values};

  memset(weight, regions->all ? 255 : 0, n_values);
  if (regions->all)
    weight[0] = 0;
  for (char **type = regions->types; *type; type++) {
    guint64 number;

    if (g_ascii_string_to_unsigned(*type, 10, 0, n_values - 1, &number, NULL))
      weight[number] = 255;
  }
  read_labels(&labels);
  return g_bytes_new_take(weight, n_values);
}

/* Adds the masks of a segmentation. Masks without a size cover the whole frame. */
static void
add_masks(GstCudaConvolveRegions *regions, GstAnalyticsSegmentationMtd *masks)
{
  int x, y;
  guint width, height, n_values;
  g_autoptr(GstBuffer) buffer = library.gst_analytics_segmentation_mtd_get_mask(masks, &x, &y, &width, &height);
  g_autoptr(GBytes) weight_of = NULL;
  double rect[4] = {x, y, width, height};

  if (!buffer)
    return;
  gst_cuda_convolve_regions_note_meta(regions, "segmentation");
  if (width == 0 || height == 0) {
    rect[0] = rect[1] = 0;
    rect[2] = regions->image->width;
    rect[3] = regions->image->height;
  }
  n_values = gst_cuda_convolve_mask_n_values(buffer);
  if (n_values > 0)
    weight_of = choose_values(regions, masks, n_values);
  gst_cuda_convolve_regions_add_mask(regions, buffer, weight_of, rect);
}

#endif

const char *
gst_cuda_convolve_analytics_add(GstCudaConvolveRegions *regions, GstMeta *meta)
{
  static GOnce once = G_ONCE_INIT;
  const char *missing = g_once(&once, open_library, NULL);
  gpointer state = NULL;
  GstAnalyticsMtd mtd;

  if (missing)
    return missing;
  while (library.gst_analytics_relation_meta_iterate((GstAnalyticsRelationMeta *)meta, &state,
                                                     GST_ANALYTICS_MTD_TYPE_ANY, &mtd)) {
    GstAnalyticsMtdType type = library.gst_analytics_mtd_get_mtd_type(&mtd);

    if (type == library.gst_analytics_od_mtd_get_mtd_type())
      add_box(regions, &mtd);
#if GST_CHECK_VERSION(1, 26, 0)
    else if (type == library.gst_analytics_segmentation_mtd_get_mtd_type())
      add_masks(regions, &mtd);
#endif
  }
  return NULL;
}
