/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "play.h"
#include "report.h"

typedef struct {
  GstBuffer *buffer;
  guint8 *map;
} Before;

/* Sums over the differences between neighbouring samples, before and after the filter. before, after: sums of the
 * magnitudes. square: of the squares before. product: of the products of the differences before and after; edges that
 * the filter adds do not increase it. */
typedef struct {
  guint64 pairs, before, after;
  double square, product;
} Detail;

struct Report {
  ReportMap *fill;
  gpointer user_data;
  GMutex lock; /* protects the queue: frames may leave in another thread */
  GQueue queue;
  Detail detail;
  guint64 staying, changed; /* in samples */
};

static void
before_free(gpointer data)
{
  Before *before = data;

  gst_buffer_unref(before->buffer);
  g_free(before->map);
  g_free(before);
}

/* A component of a frame, with samples of 8 or 16 bits. */
typedef struct {
  const guint8 *data;
  int stride, step, width, height, sub_x, sub_y;
  gboolean wide, big_endian;
} Samples;

static Samples
samples_of(GstVideoFrame *frame, int c)
{
  return (Samples){.data = GST_VIDEO_FRAME_COMP_DATA(frame, c),
                   .stride = GST_VIDEO_FRAME_COMP_STRIDE(frame, c),
                   .step = GST_VIDEO_FRAME_COMP_PSTRIDE(frame, c),
                   .width = GST_VIDEO_FRAME_COMP_WIDTH(frame, c),
                   .height = GST_VIDEO_FRAME_COMP_HEIGHT(frame, c),
                   .sub_x = frame->info.finfo->w_sub[c],
                   .sub_y = frame->info.finfo->h_sub[c],
                   .wide = GST_VIDEO_FRAME_COMP_DEPTH(frame, c) > 8,
                   .big_endian = !GST_VIDEO_FORMAT_INFO_IS_LE(frame->info.finfo)};
}

static int
sample_at(const Samples *samples, int x, int y)
{
  const guint8 *at = samples->data + (gsize)y * samples->stride + (gsize)x * samples->step;

  if (!samples->wide)
    return *at;
  return samples->big_endian ? GST_READ_UINT16_BE(at) : GST_READ_UINT16_LE(at);
}

/* Returns TRUE if a sample must stay unchanged. In a subsampled plane, all of its pixels must. */
static gboolean
stays(const Samples *samples, const guint8 *map, const GstVideoInfo *info, int x, int y)
{
  int right = MIN((x + 1) << samples->sub_x, info->width), bottom = MIN((y + 1) << samples->sub_y, info->height);

  for (int row = y << samples->sub_y; row < bottom; row++)
    for (int column = x << samples->sub_x; column < right; column++)
      if (map[(gsize)row * info->width + column] != REPORT_STAYS)
        return FALSE;
  return TRUE;
}

static void
compare_staying(Report *report, const Samples *before, const Samples *after, const guint8 *map,
                const GstVideoInfo *info)
{
  for (int y = 0; y < before->height; y++)
    for (int x = 0; x < before->width; x++)
      if (stays(before, map, info, x, y)) {
        report->staying++;
        report->changed += sample_at(before, x, y) != sample_at(after, x, y);
      }
}

static void
add_difference(Detail *detail, int before, int after)
{
  detail->pairs++;
  detail->before += abs(before);
  detail->after += abs(after);
  detail->square += (double)before * before;
  detail->product += (double)before * after;
}

static void
compare_filtered(Report *report, const Samples *before, const Samples *after, const guint8 *map, int width)
{
  for (int y = 0; y + 1 < before->height; y++)
    for (int x = 0; x + 1 < before->width; x++) {
      const guint8 *here = map + (gsize)y * width + x;
      int from = sample_at(before, x, y), to = sample_at(after, x, y);

      if (here[0] == REPORT_FILTERED && here[1] == REPORT_FILTERED)
        add_difference(&report->detail, sample_at(before, x + 1, y) - from, sample_at(after, x + 1, y) - to);
      if (here[0] == REPORT_FILTERED && here[width] == REPORT_FILTERED)
        add_difference(&report->detail, sample_at(before, x, y + 1) - from, sample_at(after, x, y + 1) - to);
    }
}

static void
compare(Report *report, GstVideoFrame *before, GstVideoFrame *after, const guint8 *map)
{
  const GstVideoInfo *info = &before->info;

  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS(before); c++) {
    Samples from = samples_of(before, c), to = samples_of(after, c);

    compare_staying(report, &from, &to, map, info);
    if (c == (GST_VIDEO_INFO_IS_RGB(info) ? GST_VIDEO_COMP_G : GST_VIDEO_COMP_Y))
      compare_filtered(report, &from, &to, map, info->width);
  }
}

static gboolean
get_info(GstPad *pad, GstVideoInfo *info)
{
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);

  return caps && gst_caps_features_is_equal(gst_caps_get_features(caps, 0), GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY) &&
         gst_video_info_from_caps(info, caps);
}

/* Copies the frame, because the element may filter it in place. */
static GstPadProbeReturn
keep_frame(GstPad *pad, GstPadProbeInfo *probe, gpointer user_data)
{
  Report *report = user_data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(probe);
  GstVideoInfo info;
  Before *before;

  if (!get_info(pad, &info))
    return GST_PAD_PROBE_OK;
  before = g_new(Before, 1);
  before->buffer = gst_buffer_copy_deep(buffer);
  before->map = g_malloc0((gsize)info.width * info.height);
  report->fill(buffer, before->map, &info, report->user_data);
  g_mutex_lock(&report->lock);
  g_queue_push_tail(&report->queue, before);
  g_mutex_unlock(&report->lock);
  return GST_PAD_PROBE_OK;
}

/* Finds the input of an output frame. Skips frames that the element dropped. */
static Before *
find_before(Report *report, GstClockTime time)
{
  Before *before;

  g_mutex_lock(&report->lock);
  while ((before = g_queue_pop_head(&report->queue)) && GST_BUFFER_PTS(before->buffer) != time)
    before_free(before);
  g_mutex_unlock(&report->lock);
  return before;
}

static GstPadProbeReturn
compare_frame(GstPad *pad, GstPadProbeInfo *probe, gpointer user_data)
{
  Report *report = user_data;
  Before *before = find_before(report, GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(probe)));
  GstVideoFrame from, to;
  GstVideoInfo info;

  if (!before)
    return GST_PAD_PROBE_OK;
  if (get_info(pad, &info) && gst_video_frame_map(&from, &info, before->buffer, GST_MAP_READ)) {
    if (gst_video_frame_map(&to, &info, GST_PAD_PROBE_INFO_BUFFER(probe), GST_MAP_READ)) {
      compare(report, &from, &to, before->map);
      gst_video_frame_unmap(&to);
    }
    gst_video_frame_unmap(&from);
  }
  before_free(before);
  return GST_PAD_PROBE_OK;
}

Report *
report_new(GstElement *element, ReportMap *fill, gpointer user_data)
{
  Report *report = g_new0(Report, 1);
  g_autoptr(GstPad) sink = gst_element_get_static_pad(element, "sink"),
                    source = gst_element_get_static_pad(element, "src");

  report->fill = fill;
  report->user_data = user_data;
  g_mutex_init(&report->lock);
  g_queue_init(&report->queue);
  gst_pad_add_probe(sink, GST_PAD_PROBE_TYPE_BUFFER, keep_frame, report, NULL);
  gst_pad_add_probe(source, GST_PAD_PROBE_TYPE_BUFFER, compare_frame, report, NULL);
  return report;
}

void
report_free(Report *report)
{
  g_queue_clear_full(&report->queue, before_free);
  g_mutex_clear(&report->lock);
  g_free(report);
}

double
report_left(const Report *report)
{
  const Detail *detail = &report->detail;

  return detail->square > 0 ? 100 * fabs(detail->product) / detail->square : -1;
}

void
report_print(const Report *report, const char *filtered)
{
  const Detail *detail = &report->detail;

  if (report->changed > 0)
    g_print("%" G_GUINT64_FORMAT " samples changed that should have stayed unchanged\n", report->changed);
  if (!play_is_verbose())
    return;
  if (detail->square > 0)
    g_print("mean difference between neighbours in %s: %.2f before, %.2f after, including edges that the filter adds\n",
            filtered, (double)detail->before / detail->pairs, (double)detail->after / detail->pairs);
  g_print("samples outside: %" G_GUINT64_FORMAT ", of which changed: %" G_GUINT64_FORMAT "\n", report->staying,
          report->changed);
}
