/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "roi.h"

#include <gst/video/video.h>
#include <math.h>
#include <string.h>

#include "messages.h"

#define FAR (1 << 20)       /* edges farther out are moved to here: 32 times the largest frame */
#define ROUNDING_SLACK 1e-6 /* 0.07 * 100 is slightly more than 7, and takes no further pixel */
#define LEAST_FREE 4        /* the largest radius of derivatives is smaller, and cannot follow a size */

gboolean
gst_cuda_convolve_roi_check(const GstCudaConvolveRoi *roi, const CnvFilter *filter, GError **error)
{
  const CnvFilterInfo *info = &cnv_filters[filter->type];
  gboolean relative = roi->strength == CNV_ROI_RELATIVE;
  gboolean x = roi->target_x >= 0, y = roi->target_y >= 0;

  if (roi->source == CNV_ROI_NONE)
    return TRUE;
  if (relative && info->max_radius < LEAST_FREE)
    return cnv_refuse(
        error,
        "roi-strength=relative with filter=%s, whose radius is at most %d: choose a filter with a radius of at "
        "least %d, gaussian for example, or roi-strength=fixed",
        info->nick.nick, info->max_radius, LEAST_FREE);
  if (relative && roi->invert)
    return cnv_refuse(
        error, "roi-strength=relative with roi-invert=true: what lies around the regions has no size to follow; set "
               "roi-strength=fixed or roi-invert=false");
  if (roi->isolated && roi->invert)
    return cnv_refuse(
        error,
        "roi-isolated=true with roi-invert=true: what lies around the regions has no edge of its own; set one of "
        "them to false");
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

/* ---- a frame's rectangles ---- */

/* The pixels that lie wholly or partly between two edges. */
static void
round_outwards(double from, double to, int *start, int *size)
{
  double first = floor(CLAMP(from, -FAR, FAR) + ROUNDING_SLACK), last = ceil(CLAMP(to, -FAR, FAR) - ROUNDING_SLACK);

  *start = (int)first;
  *size = (int)(last - first);
}

/* FALSE where nothing of the rectangle can show in the frame. The margin has a few pixels more than the feather, since
 * subsampled planes round outwards. */
static gboolean
reaches_frame(const GstCudaConvolveRoi *roi, const CnvImage *image, const CnvRect *rect)
{
  int margin = (int)ceil(roi->feather) + 8;

  return rect->width > 0 && rect->height > 0 && rect->x < image->width + margin && rect->y < image->height + margin &&
         rect->x + rect->width > -margin && rect->y + rect->height > -margin;
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

static void
add_region(GArray *regions, const GstCudaConvolveRoi *roi, const CnvImage *image, const double rect[4])
{
  double grow_x = roi->expand * rect[2], grow_y = roi->expand * rect[3];
  CnvRegion region = {{0}};

  if (rect[2] < 1 || rect[3] < 1)
    return;
  round_outwards(rect[0] - grow_x, rect[0] + rect[2] + grow_x, &region.rect.x, &region.rect.width);
  round_outwards(rect[1] - grow_y, rect[1] + rect[3] + grow_y, &region.rect.y, &region.rect.height);
  if (reaches_frame(roi, image, &region.rect))
    g_array_append_val(regions, region);
}

/* Too many faces must not uncover one: the last region that can be grows around all further ones. */
static void
join_last(GArray *regions, gboolean invert)
{
  CnvRegion *region = (CnvRegion *)regions->data;

  for (guint i = CNV_MAX_REGIONS; i < regions->len && !invert; i++)
    join(&region[CNV_MAX_REGIONS - 1].rect, &region[i].rect);
  g_array_set_size(regions, CNV_MAX_REGIONS);
}

/* A list without types, and "all" in it, holds every type. */
static gboolean
holds_type(char **list, const char *type)
{
  gboolean empty = TRUE;

  for (; *list; list++) {
    const char *entry = g_strstrip(*list);

    if (*entry && (g_ascii_strcasecmp(entry, "all") == 0 || g_ascii_strcasecmp(entry, type) == 0))
      return TRUE;
    empty = empty && *entry == '\0';
  }
  return empty;
}

static void
add_metas(GArray *regions, const GstCudaConvolveRoi *roi, const CnvImage *image, GstBuffer *buffer)
{
  g_auto(GStrv) types = g_strsplit(roi->types ? roi->types : "", ",", -1);
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    const GstVideoRegionOfInterestMeta *of = (const GstVideoRegionOfInterestMeta *)meta;
    const char *type = g_quark_to_string(of->roi_type);

    if (holds_type(types, type ? type : ""))
      add_region(regions, roi, image, (const double[]){of->x, of->y, of->w, of->h});
  }
}

void
gst_cuda_convolve_roi_collect(const GstCudaConvolveRoi *roi, GstBuffer *buffer, const CnvImage *image, GArray *regions,
                              GstElement *element, GHashTable *told)
{
  g_array_set_size(regions, 0);
  if (roi->source == CNV_ROI_META)
    add_metas(regions, roi, image, buffer);
  else
    for (guint i = 0; roi->rects && i < roi->rects->len; i++) {
      const CnvRect *rect = &g_array_index(roi->rects, CnvRect, i);

      add_region(regions, roi, image, (const double[]){rect->x, rect->y, rect->width, rect->height});
    }
  if (regions->len > CNV_MAX_REGIONS) {
    join_last(regions, roi->invert);
    gst_cuda_convolve_warn_once(
        element, told, "more than %d regions on a frame: %s; set roi-types, or merge regions upstream", CNV_MAX_REGIONS,
        roi->invert ? "those beyond it are filtered too" : "those beyond it are filtered as one around them all");
  }
  if (roi->target_x >= 0 && regions->len > 1) {
    gst_cuda_convolve_warn_once(
        element, told,
        "%u regions on a frame and roi-target-x=%d: only the first is placed there and the others are left as they "
        "are; set roi-target-x and -y to -1, or roi-types to what there is one of",
        regions->len, roi->target_x);
    g_array_set_size(regions, 1);
  }
}
