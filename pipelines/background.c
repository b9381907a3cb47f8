/* You should see frames/s, in how many frames a person was found, what is left of the detail around them, and that
 * nothing of them has changed.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How a segmenter tells cudaconvolve what to leave sharp. Of each frame that comes to it, a small copy goes through
 * GStreamer's facedetect and grabcut, and what grabcut takes for people is the element's mask for that frame:
 *
 *   background OPTIONS -- cudaconvolve roi-invert=true ...       with the options of media.h
 */
#include <glib/gstdio.h>
#include <string.h>
#ifdef HAVE_MASK_META
#include <gst/analytics/analytics.h>
#endif

#include "media.h"
#include "report.h"
#include "segmenter.h"

#define FRAMES_KEPT 10 /* in which a mask is used again where no face is found */

typedef struct {
  Segmenter *segmenter;
  Report *report;
  GstElement *filter;
  double feather; /* of the filter */
  GstVideoInfo info;
  char *folder;            /* for masks as files; NULL where they are metas */
  int frames, found, kept; /* the last: with the mask of one before */
  int age;                 /* frames since a person was found */
} Background;

/* ---- a mask for the filter: a meta, or with GStreamer before 1.26 a file */

#ifdef HAVE_MASK_META

static void
prepare_masks(Background *background)
{
  gst_util_set_object_arg(G_OBJECT(background->filter), "roi-source", "meta");
}

/* Of the mask's values 1 stands for people; 0 is in no region. */
static void
show_mask(Background *background, GstBuffer *frame)
{
  const Segmenter *mask = background->segmenter;
  g_autoptr(GstBuffer) buffer = gst_buffer_new_memdup(mask->mask, (gsize)mask->width * mask->height);
  GstAnalyticsRelationMeta *meta = gst_buffer_add_analytics_relation_meta(frame);
  GstAnalyticsSegmentationMtd segmentation;

  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, (guint)mask->width,
                                 (guint)mask->height, 1, (gsize[4]){0}, (gint[4]){mask->width});
  gst_analytics_relation_meta_add_segmentation_mtd(meta, gst_buffer_ref(buffer), GST_SEGMENTATION_TYPE_SEMANTIC, 1,
                                                   (guint32[]){1}, 0, 0, (guint)background->info.width,
                                                   (guint)background->info.height, &segmentation);
}

static void
remove_masks(Background *background)
{
}

#else

static void
write_mask(Background *background, int width, int height, const guint8 *mask)
{
  g_autofree char *name = g_strdup_printf("%s/%d.pgm", background->folder, background->frames % 2);
  g_autoptr(GString) file = g_string_new(NULL);

  g_string_printf(file, "P5 %d %d 1\n", width, height);
  g_string_append_len(file, (const char *)mask, (gssize)width * height);
  if (g_file_set_contents(name, file->str, (gssize)file->len, NULL))
    g_object_set(background->filter, "roi-mask-location", name, NULL);
}

/* Nobody, until the first frame comes. */
static void
prepare_masks(Background *background)
{
  background->folder = g_dir_make_tmp("background-XXXXXX", NULL);
  gst_util_set_object_arg(G_OBJECT(background->filter), "roi-source", "property");
  write_mask(background, 1, 1, (guint8[]){0});
}

/* A property that is set before the frame reaches the element holds for that frame. The file is read at once; its name
 * changes, as the same again would be no change. */
static void
show_mask(Background *background, GstBuffer *frame)
{
  const Segmenter *mask = background->segmenter;

  write_mask(background, mask->width, mask->height, mask->mask);
}

static void
remove_masks(Background *background)
{
  for (int i = 0; i < 2; i++) {
    g_autofree char *name = g_strdup_printf("%s/%d.pgm", background->folder, i);

    g_unlink(name);
  }
  g_rmdir(background->folder);
  g_free(background->folder);
}

#endif

static gboolean
start_segmenter(Background *background, GstPad *pad)
{
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);

  if (gst_video_info_from_caps(&background->info, caps))
    background->segmenter = segmenter_new(caps);
  if (!background->segmenter)
    GST_ELEMENT_ERROR(background->filter, CORE, MISSING_PLUGIN,
                      ("there is no facedetect, or no grabcut: the package gstreamer1.0-opencv has both"), (NULL));
  return background->segmenter != NULL;
}

static GstPadProbeReturn
mask_frame(GstPad *pad, GstPadProbeInfo *probe, gpointer user_data)
{
  Background *background = user_data;

  if (!background->segmenter && !start_segmenter(background, pad))
    return GST_PAD_PROBE_DROP;
  background->frames++;
  if (segmenter_run(background->segmenter, GST_PAD_PROBE_INFO_BUFFER(probe))) {
    background->found++;
    background->age = 0;
  } else if (background->found > 0 && background->age++ < FRAMES_KEPT) {
    background->kept++;
  } else {
    memset(background->segmenter->mask, 0, (gsize)background->segmenter->width * background->segmenter->height);
  }
  probe->data = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(probe));
  show_mask(background, GST_PAD_PROBE_INFO_BUFFER(probe));
  return GST_PAD_PROBE_OK;
}

/* ---- the count */

/* A cell of the mask among cells that are all the same: nothing of a soft edge. */
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
  prepare_masks(background);
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, mask_frame, background, NULL);
  background->report = report_new(filter, map_person, background);
}

int
main(int argc, char **argv)
{
  Background background = {0};
  int status;

  gst_init(NULL, NULL);
  status = media_main(argc, argv, NULL, prepare, &background);
  if (status == 0) {
    g_print("a person found in %d frames; %d more with the mask of a frame before; %d without, all blurred\n",
            background.found, background.kept, background.frames - background.found - background.kept);
    report_print(background.report, "the background");
  }
  if (background.report)
    remove_masks(&background);
  g_clear_pointer(&background.segmenter, segmenter_free);
  g_clear_pointer(&background.report, report_free);
  return status;
}
