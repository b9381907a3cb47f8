/* You should see frames and frames/s each second, readable messages, and at the end the device that ran the filter.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Shows how a detector selects what cudaconvolve hides: it attaches a GstVideoRegionOfInterestMeta for each face to the
 * frames before cudaconvolve.
 *
 *   privacy [--region=X,Y,W,H[,TYPE]]... OPTIONS -- ELEMENT ! ELEMENT ...       with the options of media.h
 *
 * Each frame that reaches the first cudaconvolve of the pipeline gets the rectangles, by default of type "face".
 * Without rectangles, the program draws two moving faces and a moving number plate into the frames, which must be NV12
 * in system memory, and attaches metas for these.
 */
#include <gst/video/video.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "media.h"

#define MAX_REGIONS 16

typedef struct {
  int x, y, width, height;
  char type[32];
} Region;

typedef struct {
  Region region[MAX_REGIONS];
  int n_regions;     /* 0: draw faces */
  int width, height; /* size of the frames for which the regions were checked */
  int frame;
} Faces;

/* ---- drawing ---- */

typedef struct {
  guint8 y, u, v;
} Color;

static const Color skin = {170, 112, 154}, hair = {40, 124, 132}, white = {235, 128, 128}, black = {16, 128, 128},
                   lips = {90, 110, 190};

/* A box of a frame, in which positions are fractions, 0..1 along both axes. */
typedef struct {
  const Region *box;
  double x, y, width, height;
  gboolean round;
  Color color;
} Shape;

static gboolean
inside(const Shape *shape, int x, int y)
{
  double u = ((x + 0.5 - shape->box->x) / shape->box->width - shape->x) / shape->width;
  double v = ((y + 0.5 - shape->box->y) / shape->box->height - shape->y) / shape->height;

  if (shape->round)
    return (u - 0.5) * (u - 0.5) + (v - 0.5) * (v - 0.5) < 0.25;
  return u >= 0 && u < 1 && v >= 0 && v < 1;
}

static void
draw(GstVideoFrame *frame, const Shape *shape)
{
  const Region *box = shape->box;
  int right = MIN(box->x + box->width, GST_VIDEO_FRAME_WIDTH(frame));
  int bottom = MIN(box->y + box->height, GST_VIDEO_FRAME_HEIGHT(frame));

  for (int y = MAX(box->y, 0); y < bottom; y++) {
    guint8 *luma = (guint8 *)GST_VIDEO_FRAME_PLANE_DATA(frame, 0) + y * GST_VIDEO_FRAME_PLANE_STRIDE(frame, 0);
    guint8 *chroma = (guint8 *)GST_VIDEO_FRAME_PLANE_DATA(frame, 1) + y / 2 * GST_VIDEO_FRAME_PLANE_STRIDE(frame, 1);

    for (int x = MAX(box->x, 0); x < right; x++)
      if (inside(shape, x, y)) {
        luma[x] = shape->color.y;
        chroma[x / 2 * 2] = shape->color.u;
        chroma[x / 2 * 2 + 1] = shape->color.v;
      }
  }
}

static void
draw_face(GstVideoFrame *frame, const Region *box)
{
  const Shape shapes[] = {
      {box, 0, 0, 1, 0.9, TRUE, hair},           {box, 0.08, 0.1, 0.84, 0.9, TRUE, skin},
      {box, 0.22, 0.4, 0.2, 0.1, TRUE, white},   {box, 0.58, 0.4, 0.2, 0.1, TRUE, white},
      {box, 0.28, 0.4, 0.09, 0.1, TRUE, black},  {box, 0.64, 0.4, 0.09, 0.1, TRUE, black},
      {box, 0.2, 0.32, 0.24, 0.03, FALSE, hair}, {box, 0.56, 0.32, 0.24, 0.03, FALSE, hair},
      {box, 0.46, 0.5, 0.08, 0.14, TRUE, hair},  {box, 0.32, 0.74, 0.36, 0.08, TRUE, lips},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(shapes); i++)
    draw(frame, &shapes[i]);
}

/* Draws a number plate with characters of 3 x 5 dots. Each has five rows from the top, 3 bits per row. */
static void
draw_plate(GstVideoFrame *frame, const Region *box)
{
  static const guint16 text[] = {074447, 065555, 055552, 0, 074717, 026227, 071747}; /* octal: one digit per row */
  const double column = 1.0 / (4 * G_N_ELEMENTS(text) + 1), row = 1.0 / 7;

  draw(frame, &(Shape){box, 0, 0, 1, 1, FALSE, white});
  for (gsize i = 0; i < G_N_ELEMENTS(text); i++)
    for (int bit = 0; bit < 15; bit++)
      if (text[i] >> (14 - bit) & 1)
        draw(frame, &(Shape){box, (4 * i + 1 + bit % 3) * column, (1 + bit / 3) * row, column, row, FALSE, black});
}

/* ---- regions ---- */

/* Returns a box of that size, whose place in the frame swings with time. */
static Region
moving(const GstVideoFrame *frame, const char *type, int width, int height, double phase)
{
  Region region = {.width = width, .height = height};

  region.x = (int)((GST_VIDEO_FRAME_WIDTH(frame) - width) * (0.5 + 0.5 * sin(phase)));
  region.y = (int)((GST_VIDEO_FRAME_HEIGHT(frame) - height) * (0.5 + 0.4 * cos(1.7 * phase)));
  g_strlcpy(region.type, type, sizeof(region.type));
  return region;
}

/* Draws faces and a plate. Returns the number of regions. */
static int
draw_scene(GstVideoFrame *frame, double time, Region *region)
{
  int unit = GST_VIDEO_FRAME_HEIGHT(frame) / 24, small_face = 3 * unit,
      large_face = (int)((9 + 3 * sin(2 * time)) * unit);

  region[0] = moving(frame, "face", small_face, small_face * 5 / 4, 1.1 * time + 2);
  region[1] = moving(frame, "face", large_face, large_face * 5 / 4, 0.7 * time);
  region[2] = moving(frame, "plate", 6 * unit, 6 * unit / 4, 0.9 * time + 4);
  draw_face(frame, &region[1]);
  draw_face(frame, &region[0]);
  draw_plate(frame, &region[2]);
  return 3;
}

static int
draw_on_buffer(GstPad *pad, GstBuffer *buffer, double time, Region *region)
{
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  GstVideoInfo info;
  GstVideoFrame frame;
  int n;

  if (!caps || !gst_video_info_from_caps(&info, caps) || GST_VIDEO_INFO_FORMAT(&info) != GST_VIDEO_FORMAT_NV12 ||
      !gst_video_frame_map(&frame, &info, buffer, GST_MAP_READWRITE))
    return 0;
  n = draw_scene(&frame, time, region);
  gst_video_frame_unmap(&frame);
  return n;
}

/* Returns FALSE and posts an error if a rectangle lies outside the frame. It would hide nothing, and the user would not
 * notice. */
static gboolean
regions_are_inside(GstPad *pad, Faces *faces)
{
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  GstVideoInfo info;

  if (!caps || !gst_video_info_from_caps(&info, caps) || (info.width == faces->width && info.height == faces->height))
    return TRUE;
  for (int i = 0; i < faces->n_regions; i++) {
    const Region *region = &faces->region[i];

    if (region->x >= info.width || region->y >= info.height) {
      GST_ELEMENT_ERROR(
          GST_PAD_PARENT(pad), STREAM, FAILED,
          ("the rectangle %d,%d,%d,%d lies outside the frame, which is %dx%d, and would hide nothing; X must "
           "be less than %d and Y less than %d",
           region->x, region->y, region->width, region->height, info.width, info.height, info.width, info.height),
          (NULL));
      return FALSE;
    }
  }
  faces->width = info.width;
  faces->height = info.height;
  return TRUE;
}

/* Does the work of a detector: looks at a frame (here it draws into it) and attaches the regions. */
static GstPadProbeReturn
attach_regions(GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Faces *faces = user_data;
  GstBuffer *buffer = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
  Region drawn[3];
  const Region *region = faces->n_regions > 0 ? faces->region : drawn;
  int n = faces->n_regions;

  info->data = buffer;
  if (!regions_are_inside(pad, faces))
    return GST_PAD_PROBE_DROP;
  if (n == 0)
    n = draw_on_buffer(pad, buffer, faces->frame++ / 30.0, drawn);
  for (int i = 0; i < n; i++)
    gst_buffer_add_video_region_of_interest_meta(buffer, region[i].type, region[i].x, region[i].y, region[i].width,
                                                 region[i].height);
  return GST_PAD_PROBE_OK;
}

/* ---- arguments ---- */

static gboolean
parse_region(const char *text, Region *region)
{
  int end = 0;

  g_strlcpy(region->type, "face", sizeof(region->type));
  if (sscanf(text, "%5d,%5d,%5d,%5d%n", &region->x, &region->y, &region->width, &region->height, &end) != 4 ||
      region->x < 0 || region->y < 0 || region->width < 1 || region->height < 1)
    return FALSE;
  if (text[end] == ',' && text[end + 1])
    return g_strlcpy(region->type, text + end + 1, sizeof(region->type)) < sizeof(region->type);
  return !text[end];
}

static gboolean
add_region(const char *option, const char *value, gpointer user_data, GError **error)
{
  Faces *faces = user_data;

  if (faces->n_regions == MAX_REGIONS)
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "'%s' is one rectangle too many: the limit is %d",
                value, MAX_REGIONS);
  else if (!parse_region(value, &faces->region[faces->n_regions++]))
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                "'%s' is not a rectangle: write X,Y,W,H or X,Y,W,H,TYPE in pixels, for example 64,48,96,120,face",
                value);
  return !*error;
}

static void
prepare(GstElement *filter, gpointer user_data)
{
  g_autoptr(GstPad) pad = gst_element_get_static_pad(filter, "sink");

  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, attach_regions, user_data, NULL);
}

int
main(int argc, char **argv)
{
  Faces faces = {0};
  const GOptionEntry options[] = {
      {"region", 0, 0, G_OPTION_ARG_CALLBACK, add_region, "rectangle to hide", "X,Y,W,H[,TYPE]"},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
  };

  gst_init(NULL, NULL);
  return media_main(argc, argv, TRUE, options, prepare, &faces);
}
