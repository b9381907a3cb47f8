/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/frame_regions.h"

#include "messages.h"
#include "regions/analytics.h"
#include "regions/tracks.h"

#define SEARCH_TIME (5 * GST_SECOND) /* time without a region before a warning */

/* Adds the zones in force. If a zone's times depend on an unknown stream time, it is in force; with roi-invert it is
 * not. So nothing stays visible by mistake. */
static void
add_zones(GstCudaConvolveRegions *regions, GstClockTime time)
{
  const GstCudaConvolveRoi *roi = regions->roi;
  double rect[4];

  for (guint i = 0; i < gst_cuda_convolve_zones_n(roi->zones); i++) {
    const GstCudaConvolveZone *zone = gst_cuda_convolve_zones_get(roi->zones, i);

    if (!gst_cuda_convolve_roi_takes_zone(roi, zone) || !gst_cuda_convolve_zone_is_in_force(zone, time, !roi->invert))
      continue;
    if (zone->points) {
      g_autoptr(GArray) points = gst_cuda_convolve_roi_zone_points(zone, regions->image);

      gst_cuda_convolve_regions_add_polygon(regions, points);
    } else {
      gst_cuda_convolve_roi_zone_rect(zone, regions->image, rect);
      gst_cuda_convolve_regions_add_rect(regions, rect, zone->shape);
    }
  }
}

static void
add_property(GstCudaConvolveRegions *regions, GstClockTime time)
{
  const GstCudaConvolveRoi *roi = regions->roi;
  double rect[4] = {0, 0, regions->image->width, regions->image->height};

  if (roi->mask)
    gst_cuda_convolve_regions_add_mask(regions, roi->mask, NULL, rect);
  for (guint i = 0; i < gst_cuda_convolve_roi_n_rects(roi); i++) {
    gst_cuda_convolve_roi_rect(roi, i, regions->image, rect);
    gst_cuda_convolve_regions_add_rect(regions, rect, regions->roi->shape);
  }
  for (guint i = 0; i < gst_cuda_convolve_roi_n_polygons(roi); i++) {
    g_autoptr(GArray) points = gst_cuda_convolve_roi_polygon(roi, i, regions->image);

    gst_cuda_convolve_regions_add_polygon(regions, points);
  }
  add_zones(regions, time);
}

/* Returns the mask of a meta, or NULL: the field `buffer` of its parameter `mask`, with weights that are stretched
 * over the meta's rectangle. */
static GstBuffer *
mask_of(GstVideoRegionOfInterestMeta *meta)
{
  GstStructure *param = gst_video_region_of_interest_meta_get_param(meta, "mask");
  const GValue *value = param ? gst_structure_get_value(param, "buffer") : NULL;

  return value && GST_VALUE_HOLDS_BUFFER(value) ? gst_value_get_buffer(value) : NULL;
}

/* Adds what a detector wrote into a GstAnalyticsRelationMeta. The type has a name as soon as the process
 * has loaded the library of these metas. */
static void
add_analytics(GstCudaConvolveRegions *regions, GstBuffer *buffer)
{
  GType api = g_type_from_name("GstAnalyticsRelationMetaAPI");
  GstMeta *meta = api != 0 ? gst_buffer_get_meta(buffer, api) : NULL;
  const char *remedy = meta ? gst_cuda_convolve_analytics_add(regions, meta) : NULL;

  if (remedy)
    gst_cuda_convolve_warn_once(
        regions->element, regions->posted,
        "frames have a GstAnalyticsRelationMeta, which cannot be read: what a detector found %s; %s",
        regions->roi->invert                              ? "is filtered too"
        : regions->roi->missing == CNV_ROI_MISSING_FILTER ? "stays visible in frames that have another region"
                                                          : "stays visible",
        remedy);
}

static void
add_metas(GstCudaConvolveRegions *regions, GstBuffer *buffer)
{
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    GstVideoRegionOfInterestMeta *roi = (GstVideoRegionOfInterestMeta *)meta;
    const char *type = g_quark_to_string(roi->roi_type);
    const double rect[4] = {roi->x, roi->y, roi->w, roi->h};
    GstBuffer *mask = mask_of(roi);

    gst_cuda_convolve_regions_note_meta(regions, type ? type : "");
    if (!gst_cuda_convolve_regions_take_type(regions, type ? type : ""))
      continue;
    if (mask)
      gst_cuda_convolve_regions_add_mask(regions, mask, NULL, rect);
    else
      gst_cuda_convolve_regions_add_rect(regions, rect, regions->roi->shape);
  }
  add_analytics(regions, buffer);
}

/* Follows the tracks, and adds the regions that a detector missed. A discontinuity does not end a track, because it
 * also marks the frame after one that a slow detector dropped. With roi-invert regions do not grow, because that
 * would hide less. */
static void
smooth(GstCudaConvolveRegions *regions, gboolean is_next)
{
  if (is_next)
    gst_cuda_convolve_tracks_follow(regions->tracks, regions->region, regions->roi->smooth);
  gst_cuda_convolve_tracks_append(regions->tracks, regions->region, !regions->roi->invert);
}

/* ---- no regions at all ---- */

/* Posts the warning, and ends the search. */
static void
warn_of_none(GstCudaConvolveRegions *regions, const char *period)
{
  const GstCudaConvolveRoi *roi = regions->roi;
  g_autofree char *remedy = NULL;

  if (regions->search.type)
    remedy = g_strdup_printf("there are metas, the last of type \"%s\", but roi-types=%s or roi-confidence=%g excludes "
                             "them, or they lie outside the frame: change these settings",
                             regions->search.type, roi->types ? roi->types : "", roi->confidence);
  else
    remedy = g_strdup("put a detector that attaches GstVideoRegionOfInterestMeta before this element, or set "
                      "roi-source=property");
  gst_cuda_convolve_warn_once(
      regions->element, regions->posted, "roi-source=meta finds no region in %s: %s; %s", period,
      roi->invert                              ? "with roi-invert=true the whole picture is filtered"
      : roi->missing == CNV_ROI_MISSING_FILTER ? "with roi-missing=filter the whole picture is filtered"
                                               : "nothing is filtered, and the whole picture stays visible",
      remedy);
  regions->search.is_over = TRUE;
}

/* Adds up the time between frames, and warns after SEARCH_TIME. A gap or a seek counts as at most one second. */
static void
search(GstCudaConvolveRegions *regions, GstBuffer *buffer)
{
  GstClockTime time = GST_BUFFER_PTS(buffer), last = regions->search.last;

  regions->search.has_begun = TRUE;
  regions->search.is_over = regions->search.is_over || regions->region->len > 0;
  regions->search.last = time;
  if (GST_CLOCK_TIME_IS_VALID(time) && GST_CLOCK_TIME_IS_VALID(last) && time > last)
    regions->search.time += MIN(time - last, GST_SECOND);
  if (!regions->search.is_over && regions->search.time >= SEARCH_TIME)
    warn_of_none(regions, "the first 5 s");
}

void
gst_cuda_convolve_collect_end(GstCudaConvolveRegions *regions)
{
  if (regions->search.has_begun && !regions->search.is_over && regions->roi->source == CNV_ROI_META)
    warn_of_none(regions, "the whole stream");
}

/* ---- a frame ---- */

/* Keeps only the first region, because the target has room for one, and warns. */
static void
keep_first(GstCudaConvolveRegions *regions)
{
  gst_cuda_convolve_warn_once(
      regions->element, regions->posted,
      "a frame has %u regions, and roi-target-x=%d can place only one: the first is placed there, and the others are "
      "not filtered; set roi-target-x and roi-target-y to -1, or choose one region with roi-types",
      regions->region->len, regions->roi->target_x);
  g_array_set_size(regions->region, 1);
}

void
gst_cuda_convolve_collect(GstCudaConvolveRegions *regions, const GstCudaConvolveRoi *roi, const CnvImage *image,
                          GstBuffer *buffer, GstClockTime time, gboolean is_next)
{
  gst_cuda_convolve_regions_begin(regions, roi, image);
  if (roi->source == CNV_ROI_META)
    add_metas(regions, buffer);
  else
    add_property(regions, time);
  gst_cuda_convolve_regions_limit(regions);
  if (roi->source == CNV_ROI_META) {
    if (is_next)
      search(regions, buffer);
    smooth(regions, is_next);
    gst_cuda_convolve_regions_limit(regions);
  }
  if (roi->target_x >= 0 && regions->region->len > 1)
    keep_first(regions);
}
