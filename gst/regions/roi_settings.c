/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/roi_settings.h"

#include <math.h>

#define LEAST_FREE 4 /* derivatives have smaller radii, which cannot follow a region's size */

guint
gst_cuda_convolve_roi_n_rects(const GstCudaConvolveRoi *roi)
{
  return roi->rects ? roi->rects->len / 4 : 0;
}

void
gst_cuda_convolve_roi_rect(const GstCudaConvolveRoi *roi, guint i, const CnvImage *image, double rect[4])
{
  gboolean fraction = roi->units == CNV_ROI_FRACTION;
  int size[] = {fraction ? image->width : 1, fraction ? image->height : 1};

  for (guint n = 0; n < 4; n++)
    rect[n] = g_array_index(roi->rects, double, 4 * i + n) * size[n % 2];
}

guint
gst_cuda_convolve_roi_n_polygons(const GstCudaConvolveRoi *roi)
{
  return roi->polygons ? roi->polygons->len : 0;
}

GArray *
gst_cuda_convolve_roi_polygon(const GstCudaConvolveRoi *roi, guint i, const CnvImage *image)
{
  GArray *points = g_array_copy(g_ptr_array_index(roi->polygons, i));

  for (guint n = 0; roi->units == CNV_ROI_FRACTION && n < points->len; n++)
    g_array_index(points, double, n) *= n % 2 ? image->height : image->width;
  return points;
}

char **
gst_cuda_convolve_roi_types(const GstCudaConvolveRoi *roi, gboolean *all)
{
  char **types = g_strsplit(roi->types ? roi->types : "", ",", -1);
  gboolean is_empty = TRUE;

  for (char **type = types; *type; type++)
    is_empty = *g_strstrip(*type) == '\0' && is_empty;
  *all = is_empty || gst_cuda_convolve_types_hold(types, "all");
  return types;
}

gboolean
gst_cuda_convolve_types_hold(char **types, const char *type)
{
  for (; *types; types++)
    if (**types && g_ascii_strcasecmp(*types, type) == 0)
      return TRUE;
  return FALSE;
}

gboolean
gst_cuda_convolve_roi_takes_zone(const GstCudaConvolveRoi *roi, const GstCudaConvolveZone *zone)
{
  g_auto(GStrv) types = NULL;
  gboolean all;

  if (!zone->type || !roi->types)
    return TRUE;
  types = gst_cuda_convolve_roi_types(roi, &all);
  return all || gst_cuda_convolve_types_hold(types, zone->type);
}

GArray *
gst_cuda_convolve_roi_zone_points(const GstCudaConvolveZone *zone, const CnvImage *image)
{
  GArray *points = g_array_copy(zone->points);

  for (guint n = 0; n < points->len; n++)
    g_array_index(points, double, n) *= n % 2 ? image->height : image->width;
  return points;
}

void
gst_cuda_convolve_roi_zone_rect(const GstCudaConvolveZone *zone, const CnvImage *image, double rect[4])
{
  for (guint n = 0; n < 4; n++)
    rect[n] = zone->rect[n] * (n % 2 ? image->height : image->width);
}

void
gst_cuda_convolve_rect_join(CnvRect *to, const CnvRect *with)
{
  int right = MAX(to->x + to->width, with->x + with->width), bottom = MAX(to->y + to->height, with->y + with->height);

  to->x = MIN(to->x, with->x);
  to->y = MIN(to->y, with->y);
  to->width = right - to->x;
  to->height = bottom - to->y;
}

static gboolean
check_units(const GstCudaConvolveRoi *roi, GError **error)
{
  gboolean fraction = roi->units == CNV_ROI_FRACTION;

  for (guint i = 0; i < 4 * gst_cuda_convolve_roi_n_rects(roi); i++) {
    double number = g_array_index(roi->rects, double, i);

    if (fraction && fabs(number) > 1)
      return cnv_refuse(error,
                        "roi: rectangle %u has %g with roi-units=fraction: write fractions of the frame, 0 to 1, or "
                        "set roi-units=pixels",
                        i / 4 + 1, number);
    if (!fraction && number != floor(number))
      return cnv_refuse(error,
                        "roi: rectangle %u has %g with roi-units=pixels: write whole numbers, or set "
                        "roi-units=fraction",
                        i / 4 + 1, number);
  }
  return TRUE;
}

/* Rejects polygons that seem to be in the other unit. With pixels, which may have decimals, rejects polygons within one
 * pixel of the corner of the frame. With fractions, rejects points below -1 or above 2, the limit for corners of
 * rectangles. */
static gboolean
check_polygon_units(const GstCudaConvolveRoi *roi, GError **error)
{
  gboolean fraction = roi->units == CNV_ROI_FRACTION;

  for (guint i = 0; i < gst_cuda_convolve_roi_n_polygons(roi); i++) {
    const GArray *points = g_ptr_array_index(roi->polygons, i);
    double farthest = 0;

    for (guint n = 0; n < points->len; n++) {
      double number = g_array_index(points, double, n);

      if (fraction && !(number >= -1 && number <= 2))
        return cnv_refuse(error,
                          "roi-polygons: polygon %u has %g with roi-units=fraction: write fractions of the frame, -1 "
                          "to 2, or set roi-units=pixels",
                          i + 1, number);
      farthest = MAX(farthest, fabs(number));
    }
    if (!fraction && farthest <= 1)
      return cnv_refuse(error,
                        "roi-polygons: polygon %u has no number above %g with roi-units=pixels: write pixels, or set "
                        "roi-units=fraction",
                        i + 1, farthest);
  }
  return TRUE;
}

/* Zones that roi-types excludes, or that are not in force now, count too, because both can change. */
static gboolean
has_zone_shapes(const GstCudaConvolveRoi *roi)
{
  for (guint i = 0; i < gst_cuda_convolve_zones_n(roi->zones); i++) {
    const GstCudaConvolveZone *zone = gst_cuda_convolve_zones_get(roi->zones, i);

    if (zone->points || zone->shape != CNV_SHAPE_RECTANGLE)
      return TRUE;
  }
  return FALSE;
}

gboolean
gst_cuda_convolve_roi_has_shapes(const GstCudaConvolveRoi *roi)
{
  gboolean property = roi->source == CNV_ROI_PROPERTY;
  gboolean has_rects = !property || gst_cuda_convolve_roi_n_rects(roi) > 0;

  return (has_rects && roi->shape != CNV_SHAPE_RECTANGLE) ||
         (property && (roi->mask || gst_cuda_convolve_roi_n_polygons(roi) > 0 || has_zone_shapes(roi)));
}

gboolean
gst_cuda_convolve_roi_check_plan(const GstCudaConvolveRoi *roi, const CnvPlan *plan, GError **error)
{
  gboolean shaped = roi->invert || gst_cuda_convolve_roi_has_shapes(roi);

  return roi->source == CNV_ROI_NONE || !roi->isolated || !shaped || cnv_plan_can_isolate(plan, error);
}

gboolean
gst_cuda_convolve_roi_check(const GstCudaConvolveRoi *roi, const CnvFilter *filter, GError **error)
{
  const CnvFilterInfo *info = cnv_filter_info(filter->type);
  gboolean relative = roi->strength == CNV_ROI_RELATIVE;
  gboolean x = roi->target_x >= 0, y = roi->target_y >= 0;

  if (roi->source == CNV_ROI_NONE)
    return TRUE;
  if (roi->source == CNV_ROI_PROPERTY && !(check_units(roi, error) && check_polygon_units(roi, error)))
    return FALSE;
  if (relative && info->max_radius < LEAST_FREE)
    return cnv_refuse(
        error,
        "roi-strength=relative with filter=%s, whose radius is at most %d: choose a filter whose radius can be %d or "
        "more, for example gaussian, or set roi-strength=fixed",
        info->nick.nick, info->max_radius, LEAST_FREE);
  if (relative && roi->invert)
    return cnv_refuse(
        error, "roi-strength=relative with roi-invert=true: the area around the regions has no size to follow; set "
               "roi-strength=fixed or roi-invert=false");
  if (x != y)
    return cnv_refuse(error, "roi-target-x=%d and roi-target-y=%d: set both to 0 or more, or both to -1", roi->target_x,
                      roi->target_y);
  if (x && roi->invert)
    return cnv_refuse(
        error,
        "roi-target-x=%d and roi-target-y=%d with roi-invert=true: only a rectangle can be placed elsewhere; set "
        "both to -1 or roi-invert=false",
        roi->target_x, roi->target_y);
  return TRUE;
}
