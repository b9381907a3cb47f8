/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A small copy of the frame goes through a pipeline of its own. facedetect finds faces. grabcut separates people from
 * background by colour, in the box around all people. The parts of its result that no person with such a face can cover
 * are ignored.
 */
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <string.h>

#include "segmenter.h"

#define ROWS 144 /* rows of the mask; for a megapixel grabcut needs about five seconds */
#define EDGE 4   /* cells at the edges that are always background, because grabcut needs some */
/* The cascade of the package opencv-data with the fewest false faces. */
#define PROFILE "/usr/share/opencv4/haarcascades/haarcascade_frontalface_alt2.xml"

typedef struct {
  Segmenter segmenter; /* must be first, for casts */
  GstElement *pipeline, *source, *sink;
} Cutter;

/* ---- where people are */

typedef enum { NOBODY, PERHAPS, SURELY } Presence;

static gboolean
in_ellipse(double u, double v, double half_width, double half_height)
{
  return u * u / (half_width * half_width) + v * v / (half_height * half_height) < 1;
}

/* Returns whether a person with this face covers a cell: head and neck for certain, hair and shoulders perhaps.
 * Distances are in sizes of the face from its middle. */
static Presence
presence_of(const GstVideoRectangle *face, int x, int y)
{
  double u = (x + 0.5 - face->x) / face->w - 0.5, v = (y + 0.5 - face->y) / face->h - 0.5, below = v - 0.5;

  if (in_ellipse(u, v + 0.13, 0.6, 0.75) || (below > 0 && ABS(u) < 0.3 + 0.7 * MIN(below, 1)))
    return SURELY;
  if (in_ellipse(u, v + 0.1, 0.9, 1.1) || (below > -0.1 && ABS(u) < 0.95 + 0.9 * CLAMP(below, 0, 1)))
    return PERHAPS;
  return NOBODY;
}

static Presence
presence(const Cutter *cutter, int x, int y)
{
  Presence most = NOBODY;

  for (int i = 0; i < cutter->segmenter.n_faces; i++)
    most = MAX(most, presence_of(&cutter->segmenter.face[i], x, y));
  return most;
}

/* Returns the box around everyone, down to the bottom. */
static GstVideoRectangle
box_of_all(const Cutter *cutter)
{
  int left = cutter->segmenter.width, right = 0, top = cutter->segmenter.height;

  for (int i = 0; i < cutter->segmenter.n_faces; i++) {
    const GstVideoRectangle *face = &cutter->segmenter.face[i];

    left = MIN(left, face->x - face->w * 3 / 2);
    right = MAX(right, face->x + face->w * 5 / 2);
    top = MIN(top, face->y - face->h * 3 / 4);
  }
  left = MAX(left, EDGE);
  top = MAX(top, EDGE);
  right = MIN(right, cutter->segmenter.width - EDGE);
  return (GstVideoRectangle){left, top, right - left, cutter->segmenter.height - top};
}

/* ---- the pipeline */

/* Called before grabcut, which uses one region, scales its width by 0.9 and its height by 1.1, and paints everything
 * outside black. So no pixel may be black before. */
static GstPadProbeReturn
prepare_cut(GstPad *pad, GstPadProbeInfo *probe, gpointer user_data)
{
  Cutter *cutter = user_data;
  GstBuffer *buffer = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(probe));
  GstVideoRegionOfInterestMeta *face;
  GstMapInfo map;

  probe->data = buffer;
  cutter->segmenter.n_faces = 0;
  while ((face = gst_buffer_get_video_region_of_interest_meta(buffer))) {
    if (cutter->segmenter.n_faces < MAX_FACES)
      cutter->segmenter.face[cutter->segmenter.n_faces++] =
          (GstVideoRectangle){(int)face->x, (int)face->y, (int)face->w, (int)face->h};
    gst_buffer_remove_meta(buffer, &face->meta);
  }
  if (cutter->segmenter.n_faces > 0) {
    GstVideoRectangle box = box_of_all(cutter);

    gst_buffer_add_video_region_of_interest_meta(buffer, "people", box.x, box.y, box.w * 10 / 9, box.h);
  }
  if (gst_buffer_map(buffer, &map, GST_MAP_READWRITE)) {
    for (gsize i = 0; i < map.size; i++)
      map.data[i] = MAX(map.data[i], 1);
    gst_buffer_unmap(buffer, &map);
  }
  return GST_PAD_PROBE_OK;
}

Segmenter *
segmenter_new(GstCaps *caps)
{
  Cutter *cutter = g_new0(Cutter, 1);
  Segmenter *segmenter = &cutter->segmenter;
  g_autofree char *elements = NULL;
  g_autoptr(GstElement) cut = NULL;
  g_autoptr(GstPad) pad = NULL;
  GstVideoInfo info;

  if (!gst_video_info_from_caps(&info, caps))
    info.width = info.height = ROWS;
  segmenter->height = ROWS;
  segmenter->width = MAX(ROWS * info.width / info.height / 4 * 4, 4 * EDGE);
  segmenter->mask = g_malloc0((gsize)segmenter->width * segmenter->height);
  elements = g_strdup_printf("appsrc name=source format=time ! videoscale ! videoconvert "
                             "! video/x-raw,format=RGB,width=%d,height=%d,pixel-aspect-ratio=1/1 "
                             "! facedetect display=false profile=" PROFILE
                             " scale-factor=1.1 min-neighbors=4 min-size-width=18 min-size-height=18 "
                             "! videoconvert ! video/x-raw,format=RGBA ! grabcut name=cut scale=1 test-mode=true "
                             "! appsink name=sink sync=false",
                             segmenter->width, segmenter->height);
  cutter->pipeline = gst_parse_launch(elements, NULL);
  cutter->source = gst_bin_get_by_name(GST_BIN(cutter->pipeline), "source");
  cutter->sink = gst_bin_get_by_name(GST_BIN(cutter->pipeline), "sink");
  cut = gst_bin_get_by_name(GST_BIN(cutter->pipeline), "cut");
  if (!cut) {
    segmenter_free(segmenter);
    return NULL;
  }
  pad = gst_element_get_static_pad(cut, "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, prepare_cut, cutter, NULL);
  gst_app_src_set_caps(GST_APP_SRC(cutter->source), caps);
  gst_element_set_state(cutter->pipeline, GST_STATE_PLAYING);
  return segmenter;
}

void
segmenter_free(Segmenter *segmenter)
{
  Cutter *cutter = (Cutter *)segmenter;

  gst_element_set_state(cutter->pipeline, GST_STATE_NULL);
  g_clear_pointer(&cutter->source, gst_object_unref);
  g_clear_pointer(&cutter->sink, gst_object_unref);
  gst_object_unref(cutter->pipeline);
  g_free(segmenter->mask);
  g_free(cutter);
}

/* ---- the mask */

/* Returns TRUE if more than half of the nine pixels around are a person, because grabcut also draws the lines of its
 * box. */
static gboolean
is_person(const Cutter *cutter, const GstVideoFrame *cut, int x, int y)
{
  const guint8 *pixels = GST_VIDEO_FRAME_PLANE_DATA(cut, 0);
  int n = 0;

  for (int i = 0; i < 9; i++) {
    int column = CLAMP(x + i % 3 - 1, 0, cutter->segmenter.width - 1);
    int row = CLAMP(y + i / 3 - 1, 0, cutter->segmenter.height - 1);

    n += pixels[row * GST_VIDEO_FRAME_PLANE_STRIDE(cut, 0) + 4 * column] > 0;
  }
  return n > 4;
}

static void
fill_mask(Cutter *cutter, const GstVideoFrame *cut)
{
  guint8 *mask = cutter->segmenter.mask;

  for (int y = 0; y < cutter->segmenter.height; y++)
    for (int x = 0; x < cutter->segmenter.width; x++) {
      Presence there = presence(cutter, x, y);

      *mask++ = there == SURELY || (there == PERHAPS && is_person(cutter, cut, x, y)) ? 255 : 0;
    }
}

gboolean
segmenter_run(Segmenter *segmenter, GstBuffer *frame)
{
  Cutter *cutter = (Cutter *)segmenter;
  g_autoptr(GstSample) sample = NULL;
  GstVideoInfo info;
  GstVideoFrame cut;

  if (gst_app_src_push_buffer(GST_APP_SRC(cutter->source), gst_buffer_ref(frame)) != GST_FLOW_OK)
    return FALSE;
  sample = gst_app_sink_try_pull_sample(GST_APP_SINK(cutter->sink), 20 * GST_SECOND);
  if (!sample || cutter->segmenter.n_faces == 0 || !gst_video_info_from_caps(&info, gst_sample_get_caps(sample)) ||
      !gst_video_frame_map(&cut, &info, gst_sample_get_buffer(sample), GST_MAP_READ))
    return FALSE;
  fill_mask(cutter, &cut);
  gst_video_frame_unmap(&cut);
  return TRUE;
}
