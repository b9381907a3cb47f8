/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/region_list.h"

#include <math.h>
#include <string.h>

#include "messages.h"
#include "regions/polygon.h"
#include "regions/tracks.h"

#define FAR (1 << 20)       /* edges farther outside the frame are moved here: 32 times the largest frame */
#define ROUNDING_SLACK 1e-6 /* 0.07 * 100 is slightly more than 7, but must not cover another pixel */

void
gst_cuda_convolve_regions_init(GstCudaConvolveRegions *regions, GstElement *element, GHashTable *posted)
{
  *regions = (GstCudaConvolveRegions){.element = element,
                                      .posted = posted,
                                      .region = g_array_new(FALSE, FALSE, sizeof(CnvRegion)),
                                      .masks = gst_cuda_convolve_masks_new(),
                                      .tracks = gst_cuda_convolve_tracks_new(),
                                      .search.last = GST_CLOCK_TIME_NONE};
}

void
gst_cuda_convolve_regions_clear(GstCudaConvolveRegions *regions)
{
  g_array_unref(regions->region);
  g_array_unref(regions->masks);
  g_array_unref(regions->tracks);
  g_strfreev(regions->types);
}

void
gst_cuda_convolve_regions_forget(GstCudaConvolveRegions *regions)
{
  g_array_set_size(regions->region, 0);
  g_array_set_size(regions->masks, 0);
  g_array_set_size(regions->tracks, 0);
}

void
gst_cuda_convolve_regions_begin(GstCudaConvolveRegions *regions, const GstCudaConvolveRoi *roi, const CnvImage *image)
{
  g_array_set_size(regions->region, 0);
  gst_cuda_convolve_masks_next(regions->masks);
  regions->n_cells = 0;
  regions->roi = roi;
  regions->image = image;
  g_strfreev(regions->types);
  regions->types = gst_cuda_convolve_roi_types(roi, &regions->all);
}

gboolean
gst_cuda_convolve_regions_take_type(const GstCudaConvolveRegions *regions, const char *type)
{
  return regions->all || gst_cuda_convolve_types_hold(regions->types, type);
}

void
gst_cuda_convolve_regions_note_meta(GstCudaConvolveRegions *regions, const char *type)
{
  regions->search.type = type;
}

/* ---- rectangles and masks ---- */

/* Finds the pixels that lie wholly or partly between two edges. */
static void
round_outwards(double from, double to, int *start, int *size)
{
  double first = floor(CLAMP(from, -FAR, FAR) + ROUNDING_SLACK), last = ceil(CLAMP(to, -FAR, FAR) - ROUNDING_SLACK);

  *start = (int)first;
  *size = (int)(last - first);
}

static CnvRect
round_rect(const double rect[4], double grow_x, double grow_y)
{
  CnvRect round;

  round_outwards(rect[0] - grow_x, rect[0] + rect[2] + grow_x, &round.x, &round.width);
  round_outwards(rect[1] - grow_y, rect[1] + rect[3] + grow_y, &round.y, &round.height);
  return round;
}

/* Returns FALSE if no part of the rectangle can be visible in the frame. The margin is a few pixels larger than the
 * feather, because subsampled planes round outwards. */
static gboolean
reaches_frame(const GstCudaConvolveRegions *regions, const CnvRect *rect)
{
  int margin = (int)ceil(regions->roi->feather) + 8;

  return rect->width > 0 && rect->height > 0 && rect->x < regions->image->width + margin &&
         rect->y < regions->image->height + margin && rect->x + rect->width > -margin &&
         rect->y + rect->height > -margin;
}

static void
add_region(GstCudaConvolveRegions *regions, const CnvRect *rect, CnvShape shape)
{
  CnvRegion region = {.rect = *rect, .shape = shape};

  if (reaches_frame(regions, rect))
    g_array_append_val(regions->region, region);
}

void
gst_cuda_convolve_regions_add_rect(GstCudaConvolveRegions *regions, const double rect[4], CnvShape shape)
{
  const GstCudaConvolveRoi *roi = regions->roi;
  CnvRect round;

  if (!(rect[2] > 0 && rect[3] > 0))
    return;
  round = round_rect(rect, roi->expand * rect[2], roi->expand * rect[3]);
  add_region(regions, &round, shape);
}

/* Sets the region of a mask. Returns FALSE with an error if the mask cannot be used. Rejects rectangles whose edges
 * were moved (FAR), because the mask would be stretched over the wrong place. */
static gboolean
get_mask(GstCudaConvolveRegions *regions, GstCudaConvolveMask *mask, const double rect[4], GError **error)
{
  const CnvRect *at = &mask->rect;

  if (at->x != rect[0] || at->width != rect[2] || at->y != rect[1] || at->height != rect[3])
    return cnv_refuse(error,
                      "a mask is stretched over %.0fx%.0f pixels at (%.0f, %.0f), and no edge can lie more than %d "
                      "pixels outside the frame: correct its place",
                      rect[2], rect[3], rect[0], rect[1], FAR);
  return gst_cuda_convolve_masks_get(regions->masks, mask, &regions->n_cells, error);
}

/* Adds a mask. The caller sets its source, place and expansion. rect: its place before rounding. around: the
 * rectangle to filter if the mask cannot be used. */
static void
add_mask(GstCudaConvolveRegions *regions, GstCudaConvolveMask *mask, const double rect[4], const CnvRect *around)
{
  const GstCudaConvolveRoi *roi = regions->roi;
  GError *error = NULL;

  mask->frame_width = regions->image->width;
  mask->frame_height = regions->image->height;
  mask->feather = roi->feather;
  mask->invert = roi->invert;
  if (regions->region->len >= CNV_MAX_REGIONS) {
    add_region(regions, around, CNV_SHAPE_RECTANGLE);
  } else if (get_mask(regions, mask, rect, &error)) {
    if (cnv_region_box(&mask->region).width > 0)
      g_array_append_val(regions->region, mask->region);
  } else {
    gst_cuda_convolve_warn_once(regions->element, regions->posted, "%s; in place of such a mask %s", error->message,
                                roi->invert ? "everything is filtered" : "its whole rectangle is filtered");
    g_error_free(error);
    if (!roi->invert)
      add_region(regions, around, CNV_SHAPE_RECTANGLE);
  }
}

void
gst_cuda_convolve_regions_add_mask(GstCudaConvolveRegions *regions, GstBuffer *mask, GBytes *weight_of,
                                   const double rect[4])
{
  double expand = regions->roi->expand * MAX(rect[2], rect[3]);
  GstCudaConvolveMask placed = {
      .buffer = mask, .weight_of = weight_of, .rect = round_rect(rect, 0, 0), .expand = expand};
  CnvRect around = round_rect(rect, expand, expand);

  if (rect[2] > 0 && rect[3] > 0 && reaches_frame(regions, &around))
    add_mask(regions, &placed, rect, &around);
}

/* ---- polygons ---- */

static void
add_polygon(GstCudaConvolveRegions *regions, GArray *points, double expand)
{
  CnvRect at = gst_cuda_convolve_polygon_rect(points, expand + regions->roi->feather, regions->image), around;
  GstCudaConvolveMask placed = {.polygon = points, .rect = at, .expand = expand};
  const double rect[] = {at.x, at.y, at.width, at.height};

  around = round_rect(rect, expand, expand);
  if (at.width > 0 && reaches_frame(regions, &around))
    add_mask(regions, &placed, rect, &around);
}

/* Expands the box before it is turned, so that each side moves out by a fraction of the box's own width or height. */
void
gst_cuda_convolve_regions_add_turned(GstCudaConvolveRegions *regions, const double rect[4], double angle)
{
  double x = regions->roi->expand * rect[2], y = regions->roi->expand * rect[3];
  const double larger[] = {rect[0] - x, rect[1] - y, rect[2] + 2 * x, rect[3] + 2 * y};
  g_autoptr(GArray) points = gst_cuda_convolve_polygon_of_box(larger, angle, regions->roi->shape);

  if (rect[2] > 0 && rect[3] > 0)
    add_polygon(regions, points, 0);
}

void
gst_cuda_convolve_regions_add_polygon(GstCudaConvolveRegions *regions, GArray *points)
{
  double bounds[4];

  gst_cuda_convolve_polygon_bounds(points, bounds);
  add_polygon(regions, points, regions->roi->expand * MAX(bounds[2], bounds[3]));
}

/* ---- the limit ---- */

/* Makes the last region that is allowed a rectangle around itself and all further regions: with too many faces, none
 * may be left visible. */
static void
join_last(GstCudaConvolveRegions *regions)
{
  CnvRegion *last = &g_array_index(regions->region, CnvRegion, CNV_MAX_REGIONS - 1);
  CnvRect around = cnv_region_box(last);

  for (guint i = CNV_MAX_REGIONS; i < regions->region->len; i++) {
    CnvRect box = cnv_region_box(&g_array_index(regions->region, CnvRegion, i));

    gst_cuda_convolve_rect_join(&around, &box);
  }
  *last = (CnvRegion){.rect = around};
}

void
gst_cuda_convolve_regions_limit(GstCudaConvolveRegions *regions)
{
  gboolean invert = regions->roi->invert;

  if (regions->region->len <= CNV_MAX_REGIONS)
    return;
  if (!invert)
    join_last(regions);
  g_array_set_size(regions->region, CNV_MAX_REGIONS);
  gst_cuda_convolve_warn_once(
      regions->element, regions->posted,
      "a frame has more than %d regions: %s; choose fewer with roi-types, or merge regions upstream", CNV_MAX_REGIONS,
      invert ? "the others are filtered too" : "one rectangle around the others is filtered");
}
