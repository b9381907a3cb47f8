/* You should see frames/s, that only faces have changed, how often faces were found, and how much of them is left.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Runs a pipeline in which a detector attaches a GstVideoRegionOfInterestMeta for each face, and cudaconvolve hides the
 * faces. Counts and measures them. The options are those of media.h:
 *
 *   faces OPTIONS -- videoconvert ! facedetect display=false ! cudaconvolve roi-source=meta ...
 */
#include <string.h>

#include "found.h"
#include "media.h"
#include "report.h"

#define MARGIN 3 /* pixels around a region that rounding may include */
#define MOST_MOVED                                                                                                     \
  0.25 /* most movement of the edge of a face between frames, as a fraction of its size; detectors jump */

typedef struct {
  double x, y, width, height;
  guint age; /* frames since it was last found */
} Face;

typedef struct {
  Report *report;
  double expand, feather; /* settings of the filter */
  guint smooth;
  int missing;    /* roi-missing: 1 if frames without faces are filtered completely */
  GArray *latest; /* of Face; includes faces that the filter keeps */
  Found found;
} Faces;

static gboolean
overlap(const Face *a, const Face *b)
{
  return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height && b->y < a->y + a->height;
}

/* Adds a face, and removes older faces that it overlaps. */
static void
add_face(GArray *latest, const GstVideoRegionOfInterestMeta *meta)
{
  Face face = {meta->x, meta->y, meta->w, meta->h, 0};

  for (guint i = latest->len; i-- > 0;) {
    const Face *other = &g_array_index(latest, Face, i);

    if (other->age > 0 && overlap(other, &face))
      g_array_remove_index_fast(latest, i);
  }
  g_array_append_val(latest, face);
}

static void
take_faces(Faces *faces, GstBuffer *buffer)
{
  g_autoptr(GArray) boxes = g_array_new(FALSE, FALSE, sizeof(GstVideoRectangle));
  GstMeta *meta;
  gpointer state = NULL;

  for (guint i = faces->latest->len; i-- > 0;)
    if (g_array_index(faces->latest, Face, i).age++ >= faces->smooth)
      g_array_remove_index_fast(faces->latest, i);
  while ((meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    const GstVideoRegionOfInterestMeta *face = (GstVideoRegionOfInterestMeta *)meta;
    const GstVideoRectangle box = {(int)face->x, (int)face->y, (int)face->w, (int)face->h};

    add_face(faces->latest, face);
    g_array_append_val(boxes, box);
  }
  found_add(&faces->found, (const GstVideoRectangle *)boxes->data, boxes->len);
}

/* Marks the pixels of the face's box, enlarged by `larger` on each side, or of the ellipse in it. */
static void
mark(guint8 *map, const GstVideoInfo *info, const Face *face, const double larger[2], ReportPixel value)
{
  double left = face->x - larger[0], top = face->y - larger[1];
  double width = face->width + 2 * larger[0], height = face->height + 2 * larger[1];
  int right = (int)MIN(left + width + 1, info->width), bottom = (int)MIN(top + height + 1, info->height);

  for (int y = (int)MAX(top, 0); y < bottom; y++)
    for (int x = (int)MAX(left, 0); x < right; x++) {
      double u = 2 * (x + 0.5 - left) / width - 1, v = 2 * (y + 0.5 - top) / height - 1;

      if (value == REPORT_MAY_CHANGE || u * u + v * v < 1)
        map[(gsize)y * info->width + x] = value;
    }
}

/* Marks the pixels that must be hidden: each face where it was last found. The filter may change pixels around the
 * face, because it lets a face that is not found grow by its movement. */
static void
map_faces(GstBuffer *buffer, guint8 *map, const GstVideoInfo *info, gpointer user_data)
{
  Faces *faces = user_data;
  const Face *face;

  take_faces(faces, buffer);
  if (faces->latest->len == 0 && faces->missing == 1)
    memset(map, REPORT_MAY_CHANGE, (gsize)info->width * info->height);
  face = (const Face *)faces->latest->data;
  for (guint i = 0; i < faces->latest->len; i++) {
    double fraction = faces->expand + face[i].age * MOST_MOVED, pixels = faces->feather + MARGIN + face[i].age;

    mark(map, info, &face[i], (double[2]){face[i].width * fraction + pixels, face[i].height * fraction + pixels},
         REPORT_MAY_CHANGE);
  }
  for (guint i = 0; i < faces->latest->len; i++)
    mark(map, info, &face[i], (double[2]){0, 0}, REPORT_FILTERED);
}

static void
prepare(GstElement *filter, gpointer user_data)
{
  Faces *faces = user_data;

  g_object_get(filter, "roi-expand", &faces->expand, "roi-feather", &faces->feather, "roi-smooth", &faces->smooth,
               "roi-missing", &faces->missing, NULL);
  faces->report = report_new(filter, map_faces, faces);
}

int
main(int argc, char **argv)
{
  Faces faces = {.latest = g_array_new(FALSE, FALSE, sizeof(Face))};
  int status;

  gst_init(NULL, NULL);
  status = media_main(argc, argv, TRUE, NULL, prepare, &faces);
  if (status == 0) {
    report_print(faces.report, "the faces");
    found_print(&faces.found, "face", "faces", report_left(faces.report), "the faces",
                faces.missing == 1 ? "every frame was filtered completely" : "nothing was hidden");
  }
  g_clear_pointer(&faces.report, report_free);
  g_array_unref(faces.latest);
  found_clear(&faces.found);
  return status;
}
