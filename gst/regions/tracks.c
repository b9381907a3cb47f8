/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/tracks.h"

#include <math.h>

#include "regions/mask.h"
#include "regions/roi_settings.h"

#define FAR (1 << 20)                    /* most pixels that an edge moves */
#define MAX_TRACKS (2 * CNV_MAX_REGIONS) /* limits the time, because each track is compared with each region */
#define TRIES 4                          /* most searches for a track, per region of a frame */

typedef struct {
  CnvRegion region;        /* when it was last seen, with a reference to its mask */
  CnvRect box;             /* of the region */
  double move_x, move_y;   /* luma pixels per frame, of the centre */
  double speed_x, speed_y; /* luma pixels per frame, of the edge that moved more */
  gboolean is_wider;       /* the region is a rectangle, larger than what was seen */
  guint missed;            /* frames since it was last seen */
  int found;               /* index of its region in the frame; -1: none */
  double likeness;         /* of that region to the track */
} Track;

static void
clear(gpointer data)
{
  Track *track = data;

  g_clear_pointer(&track->region.mask, cnv_mask_unref);
}

GArray *
gst_cuda_convolve_tracks_new(void)
{
  GArray *tracks = g_array_new(FALSE, FALSE, sizeof(Track));

  g_array_set_clear_func(tracks, clear);
  return tracks;
}

/* ---- matches ---- */

/* Returns a track's box after a number of frames without a region. Detectors round to whole pixels, so an edge can
 * move one pixel more. */
static CnvRect
grown(const Track *track, guint frames)
{
  int x = (int)ceil(MIN((track->speed_x + 1) * frames, FAR)), y = (int)ceil(MIN((track->speed_y + 1) * frames, FAR));
  CnvRect box = track->box;

  return (CnvRect){box.x - x, box.y - y, box.width + 2 * x, box.height + 2 * y};
}

/* Returns how alike two boxes are. 1 to 2: they overlap, more for a larger shared part. 0 to 1: they are near for
 * their size, more for a smaller distance. Below 0: they are far apart. */
static double
likeness(const CnvRect *a, const CnvRect *b)
{
  double width = MIN(a->x + a->width, b->x + b->width) - MAX(a->x, b->x);
  double height = MIN(a->y + a->height, b->y + b->height) - MAX(a->y, b->y);
  double shared = MAX(width, 0) * MAX(height, 0);
  double all = (double)a->width * a->height + (double)b->width * b->height - shared;
  double away = hypot(a->x + a->width / 2.0 - b->x - b->width / 2.0, a->y + a->height / 2.0 - b->y - b->height / 2.0);

  return shared > 0 ? 1 + shared / all : 1 - away / (2 * MAX(a->width, a->height));
}

/* Returns a track's box at the place where it would be if it had kept moving. */
static CnvRect
expected_box(const Track *track)
{
  CnvRect box = track->box;

  box.x += (int)CLAMP(track->move_x * track->missed, -FAR, FAR);
  box.y += (int)CLAMP(track->move_y * track->missed, -FAR, FAR);
  return box;
}

/* Returns the track that is most like a box, among the tracks that have no region yet or a less similar one; NULL if
 * there is none. */
static Track *
find_track(const GArray *tracks, const CnvRect *box, double *best)
{
  Track *found = NULL;

  *best = 0;
  for (guint t = 0; t < tracks->len; t++) {
    Track *track = &g_array_index(tracks, Track, t);
    CnvRect expected = expected_box(track);
    double like = likeness(&expected, box);

    if (like > *best && like > track->likeness) {
      *best = like;
      found = track;
    }
  }
  return found;
}

/* Gives each track at most one region. A region that loses its track to another region searches again. */
static void
match(GArray *tracks, const GArray *region)
{
  guint tries = TRIES * region->len;
  double like;

  for (guint i = 0; i < region->len; i++)
    for (int looking = (int)i, loser; looking >= 0 && tries > 0; looking = loser, tries--) {
      CnvRect box = cnv_region_box(&g_array_index(region, CnvRegion, looking));
      Track *track = find_track(tracks, &box, &like);

      loser = track ? track->found : -1;
      if (track) {
        track->found = looking;
        track->likeness = like;
      }
    }
}

/* ---- tracks ---- */

/* Returns by how many pixels the edge that moved more has moved. */
static int
moved(int from, int size_from, int to, int size_to)
{
  return MAX(abs(to - from), abs(to + size_to - from - size_from));
}

static void
see(Track *track, const CnvRegion *region)
{
  CnvRect box = cnv_region_box(region);
  CnvMask *last = track->region.mask;
  double frames = track->missed;

  track->move_x = (box.x + box.width / 2.0 - track->box.x - track->box.width / 2.0) / frames;
  track->move_y = (box.y + box.height / 2.0 - track->box.y - track->box.height / 2.0) / frames;
  track->speed_x = moved(track->box.x, track->box.width, box.x, box.width) / frames;
  track->speed_y = moved(track->box.y, track->box.height, box.y, box.height) / frames;
  track->region = *region;
  track->is_wider = FALSE;
  track->box = box;
  track->missed = 0;
  if (region->mask)
    cnv_mask_ref(region->mask);
  g_clear_pointer(&last, cnv_mask_unref);
}

/* Makes a track's region its whole box. */
static void
widen(Track *track)
{
  clear(track);
  track->region = (CnvRegion){.rect = track->box};
  track->is_wider = TRUE;
}

/* Begins a track. At the limit, makes the last track a rectangle around itself and the region. */
static void
begin(GArray *tracks, const CnvRegion *region)
{
  Track track = {.region = *region, .box = cnv_region_box(region)};
  Track *last = tracks->len == MAX_TRACKS ? &g_array_index(tracks, Track, MAX_TRACKS - 1) : NULL;

  if (last) {
    gst_cuda_convolve_rect_join(&last->box, &track.box);
    widen(last);
    last->missed = 0;
    return;
  }
  if (region->mask)
    cnv_mask_ref(region->mask);
  g_array_append_val(tracks, track);
}

/* Limits the masks of missed tracks to the number of samples allowed for one frame. Further tracks become their boxes.
 */
static void
limit_masks(GArray *tracks)
{
  gsize n_cells = 0;

  for (guint t = 0; t < tracks->len; t++) {
    Track *track = &g_array_index(tracks, Track, t);
    gsize n = track->missed > 0 && track->region.mask ? cnv_mask_n_cells(track->region.mask) : 0;

    if (n_cells + n > GST_CUDA_CONVOLVE_MASK_CELLS)
      widen(track);
    else
      n_cells += n;
  }
}

void
gst_cuda_convolve_tracks_follow(GArray *tracks, const GArray *region, guint n_frames)
{
  g_autofree gboolean *taken = g_new0(gboolean, region->len + 1);

  for (guint t = 0; t < tracks->len; t++) {
    Track *track = &g_array_index(tracks, Track, t);

    track->missed++;
    track->found = -1;
    track->likeness = 0;
  }
  match(tracks, region);
  for (guint t = tracks->len; t-- > 0;) {
    Track *track = &g_array_index(tracks, Track, t);

    if (track->found >= 0) {
      taken[track->found] = TRUE;
      see(track, &g_array_index(region, CnvRegion, track->found));
    } else if (track->missed > n_frames) {
      g_array_remove_index_fast(tracks, t);
    }
  }
  for (guint i = 0; i < region->len && n_frames > 0; i++)
    if (!taken[i])
      begin(tracks, &g_array_index(region, CnvRegion, i));
  limit_masks(tracks);
}

void
gst_cuda_convolve_tracks_append(const GArray *tracks, GArray *region, gboolean grow)
{
  for (guint t = 0; t < tracks->len; t++) {
    const Track *track = &g_array_index(tracks, Track, t);
    gboolean still = track->speed_x == 0 && track->speed_y == 0;
    CnvRegion larger = {.rect = grown(track, track->missed),
                        .shape = still ? track->region.shape : CNV_SHAPE_RECTANGLE};

    if (track->missed == 0 || (track->is_wider && !grow))
      continue;
    if (!grow || larger.shape == CNV_SHAPE_MASK)
      larger = track->region;
    g_array_append_val(region, larger);
  }
}
