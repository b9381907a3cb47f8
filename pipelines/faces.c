/* You should see frames/s, how many faces were found, what is left of their detail, and that nothing else has changed.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Runs a pipeline in which a detector attaches a GstVideoRegionOfInterestMeta for each face and cudaconvolve hides it,
 * and counts:
 *
 *   faces OPTIONS -- videoconvert ! facedetect display=false ! cudaconvolve roi-source=meta ...       with the options
 * of media.h
 */
#include "media.h"
#include "report.h"

#define MAX_COUNTED 8
#define MARGIN 3 /* pixels around a region that rounding may take in */

typedef struct {
  Report *report;
  double expand, feather;           /* of the filter */
  int frames_with[MAX_COUNTED + 1]; /* that many faces; the last: that many or more */
} Faces;

typedef struct {
  double x, y, width, height;
} Box;

static Box
grow(const GstVideoRegionOfInterestMeta *meta, double by_fraction, double by_pixels)
{
  double dx = meta->w * by_fraction + by_pixels, dy = meta->h * by_fraction + by_pixels;

  return (Box){meta->x - dx, meta->y - dy, meta->w + 2 * dx, meta->h + 2 * dy};
}

/* The pixels of the box or, where it is round, of the ellipse in it. */
static void
mark(guint8 *map, const GstVideoInfo *info, const Box *box, gboolean round, ReportPixel value)
{
  int right = (int)MIN(box->x + box->width + 1, info->width), bottom = (int)MIN(box->y + box->height + 1, info->height);

  for (int y = (int)MAX(box->y, 0); y < bottom; y++)
    for (int x = (int)MAX(box->x, 0); x < right; x++) {
      double u = 2 * (x + 0.5 - box->x) / box->width - 1, v = 2 * (y + 0.5 - box->y) / box->height - 1;

      if (!round || u * u + v * v < 1)
        map[(gsize)y * info->width + x] = value;
    }
}

static void
map_faces(GstBuffer *buffer, guint8 *map, const GstVideoInfo *info, gpointer user_data)
{
  Faces *faces = user_data;
  GType type = GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE;
  GstMeta *meta;
  gpointer state = NULL;
  int n = 0;

  for (; (meta = gst_buffer_iterate_meta_filtered(buffer, &state, type)); n++) {
    Box box = grow((GstVideoRegionOfInterestMeta *)meta, faces->expand, faces->feather + MARGIN);

    mark(map, info, &box, FALSE, REPORT_MAY_CHANGE);
  }
  for (state = NULL; (meta = gst_buffer_iterate_meta_filtered(buffer, &state, type));) {
    Box box = grow((GstVideoRegionOfInterestMeta *)meta, 0, 0);

    mark(map, info, &box, TRUE, REPORT_FILTERED);
  }
  faces->frames_with[MIN(n, MAX_COUNTED)]++;
}

static void
prepare(GstElement *filter, gpointer user_data)
{
  Faces *faces = user_data;

  g_object_get(filter, "roi-expand", &faces->expand, "roi-feather", &faces->feather, NULL);
  faces->report = report_new(filter, map_faces, faces);
}

static void
print_counts(const Faces *faces)
{
  g_print("faces found: 0 in %d frames", faces->frames_with[0]);
  for (int n = 1; n <= MAX_COUNTED; n++)
    if (faces->frames_with[n] > 0)
      g_print(", %d%s in %d frames", n, n == MAX_COUNTED ? " or more" : "", faces->frames_with[n]);
  g_print("\n");
  if (faces->frames_with[0] > 0)
    g_print("in frames without a face nothing is hidden: look at them before you give the video away\n");
}

int
main(int argc, char **argv)
{
  Faces faces = {0};
  int status;

  gst_init(NULL, NULL);
  status = media_main(argc, argv, NULL, prepare, &faces);
  if (status == 0) {
    print_counts(&faces);
    report_print(faces.report, "the faces");
  }
  g_clear_pointer(&faces.report, report_free);
  return status;
}
