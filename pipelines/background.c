/* You should see frames/s, that people are unchanged, how often they were found, and how much of the detail around them
 * is left.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Shows how a segmenter selects what cudaconvolve leaves sharp. A small copy of each frame goes through GStreamer's
 * facedetect and grabcut, and the people that grabcut finds are attached to the frame as a mask:
 *
 *   background OPTIONS -- cudaconvolve roi-source=meta roi-invert=true ...       with the options of media.h
 */
#include <string.h>

#include "found.h"
#include "media.h"
#include "play.h"
#include "report.h"
#include "segmenter.h"

#define FRAMES_KEPT 10 /* most frames for which the last mask is used again if no face is found */

typedef struct {
  Segmenter *segmenter;
  Report *report;
  GstElement *filter;
  double feather; /* roi-feather of the filter */
  GstVideoInfo info;
  Found found;
  int kept; /* frames with the mask of an earlier frame */
  int age;  /* frames since a person was found */
} Background;

/* ---- the mask of a frame */

/* Attaches a region of interest with a mask over the whole frame: 255 is a person, 0 is background. */
static void
attach_mask(GstBuffer *frame, const GstVideoInfo *info, const Segmenter *people)
{
  g_autoptr(GstBuffer) mask = gst_buffer_new_memdup(people->mask, (gsize)people->width * people->height);
  GstVideoRegionOfInterestMeta *region =
      gst_buffer_add_video_region_of_interest_meta(frame, "people", 0, 0, (guint)info->width, (guint)info->height);

  gst_buffer_add_video_meta_full(mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, (guint)people->width,
                                 (guint)people->height, 1, (gsize[4]){0}, (gint[4]){people->width});
  gst_video_region_of_interest_meta_add_param(region, gst_structure_new("mask", "buffer", GST_TYPE_BUFFER, mask, NULL));
}

/* Makes a segmenter for the caps of the pad. */
static gboolean
choose_segmenter(Background *background, GstPad *pad)
{
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  GstVideoInfo info;

  if (!gst_video_info_from_caps(&info, caps))
    return FALSE;
  if (background->segmenter && gst_video_info_is_equal(&info, &background->info))
    return TRUE;
  g_clear_pointer(&background->segmenter, segmenter_free);
  background->info = info;
  background->segmenter = segmenter_new(caps);
  if (!background->segmenter)
    GST_ELEMENT_ERROR(background->filter, CORE, MISSING_PLUGIN,
                      ("facedetect or grabcut is missing: install gstreamer1.0-opencv, which has both"), (NULL));
  return background->segmenter != NULL;
}

static GstPadProbeReturn
mask_frame(GstPad *pad, GstPadProbeInfo *probe, gpointer user_data)
{
  Background *background = user_data;
  gboolean is_found;

  if (!choose_segmenter(background, pad))
    return GST_PAD_PROBE_DROP;
  is_found = segmenter_run(background->segmenter, GST_PAD_PROBE_INFO_BUFFER(probe));
  found_add(&background->found, background->segmenter->face, is_found ? (guint)background->segmenter->n_faces : 0);
  if (is_found) {
    background->age = 0;
  } else if (background->found.with > 0 && background->age++ < FRAMES_KEPT) {
    background->kept++;
  } else {
    memset(background->segmenter->mask, 0, (gsize)background->segmenter->width * background->segmenter->height);
  }
  probe->data = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(probe));
  attach_mask(GST_PAD_PROBE_INFO_BUFFER(probe), &background->info, background->segmenter);
  return GST_PAD_PROBE_OK;
}

/* ---- the report */

/* Returns TRUE if all cells around a cell of the mask are equal, so that it is not part of a soft edge. */
static gboolean
is_uniform(const Segmenter *segmenter, int x, int y, int reach)
{
  guint8 value = segmenter->mask[y * segmenter->width + x];
  int right = MIN(x + reach, segmenter->width - 1), bottom = MIN(y + reach, segmenter->height - 1);

  for (int row = MAX(y - reach, 0); row <= bottom; row++)
    for (int column = MAX(x - reach, 0); column <= right; column++)
      if (segmenter->mask[row * segmenter->width + column] != value)
        return FALSE;
  return TRUE;
}

static guint8 *
map_cells(const Segmenter *segmenter, int reach)
{
  guint8 *cells = g_malloc((gsize)segmenter->width * segmenter->height);

  for (int y = 0; y < segmenter->height; y++)
    for (int x = 0; x < segmenter->width; x++) {
      int i = y * segmenter->width + x;

      cells[i] = segmenter->mask[i] ? REPORT_STAYS : REPORT_FILTERED;
      if (!is_uniform(segmenter, x, y, reach))
        cells[i] = REPORT_MAY_CHANGE;
    }
  return cells;
}

static void
map_person(GstBuffer *buffer, guint8 *map, const GstVideoInfo *info, gpointer user_data)
{
  const Background *background = user_data;
  const Segmenter *segmenter = background->segmenter;
  g_autofree guint8 *cells = map_cells(segmenter, 2 + (int)(background->feather * segmenter->height / info->height));

  for (int y = 0; y < info->height; y++)
    for (int x = 0; x < info->width; x++)
      map[(gsize)y * info->width + x] =
          cells[y * segmenter->height / info->height * segmenter->width + x * segmenter->width / info->width];
}

static void
prepare(GstElement *filter, gpointer user_data)
{
  Background *background = user_data;
  g_autoptr(GstPad) pad = gst_element_get_static_pad(filter, "sink");

  background->filter = filter;
  g_object_get(filter, "roi-feather", &background->feather, NULL);
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, mask_frame, background, NULL);
  background->report = report_new(filter, map_person, background);
}

int
main(int argc, char **argv)
{
  Background background = {0};
  int status;

  gst_init(NULL, NULL);
  status = media_main(argc, argv, FALSE, NULL, prepare, &background);
  if (status == 0) {
    if (play_is_verbose())
      g_print("%d frames without a person have the mask of an earlier frame; %d are blurred completely\n",
              background.kept, background.found.frames - background.found.with - background.kept);
    report_print(background.report, "the background");
    found_print(&background.found, "person", "people", report_left(background.report), "the background",
                "every frame was blurred completely");
  }
  g_clear_pointer(&background.segmenter, segmenter_free);
  g_clear_pointer(&background.report, report_free);
  found_clear(&background.found);
  return status;
}
