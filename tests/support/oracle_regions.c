/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The oracle's regions: for every sample of a channel the region that counts there, how much, and the blend.
 */
#include "support/oracle_channel.h"

#include <math.h>

#include "support/masks.h"

/* Weights of two regions that are nearer than this are equal to within float32. */
#define WEIGHT_NEAR 1e-6

/* A region in one plane and field: the samples that weigh 1. */
typedef struct {
  CnvRect box;
  const CnvRegion *region;
} Spot;

/* What has been computed of a channel and field: by plan or, isolated, by region. */
typedef struct {
  CnvRect area;
  OracleSample *sample; /* NULL until it is asked for */
} Job;

typedef struct {
  const OracleWork *work;
  OracleField field;
  int plane, channel, width, height;
  double feather[CNV_N_AXES];
  Spot *spot;
  gboolean isolated; /* a region sees no more than itself; cells of a mosaic begin at its corner */
  int n_jobs;
  Job *job;
  int move[CNV_N_AXES];
} Regions;

/* From luma pixels along one axis to samples of a plane and field; what is far outside of any frame stays there. */
static void
spot_axis(int at, int size, int sub, OracleField field, int *from, int *count)
{
  const double s = 1 << sub, far = 1e6;
  const double first = ceil((floor(at / s) - field.first) / field.step);
  const double end = ceil((ceil(((double)at + size) / s) - field.first) / field.step);

  *from = (int)CLAMP(first, -far, far);
  *count = (int)CLAMP(end, -far, far) - *from;
}

static CnvRect
intersection(CnvRect a, int width, int height)
{
  const int x = MAX(a.x, 0), y = MAX(a.y, 0);

  return (CnvRect){x, y, MIN(a.x + a.width, width) - x, MIN(a.y + a.height, height) - y};
}

static gboolean
is_empty(CnvRect r)
{
  return r.width < 1 || r.height < 1;
}

static void
regions_init(Regions *r, const OracleWork *work, OracleField field, int plane, int channel)
{
  const CnvPlaneFormat *p = &work->image->format->plane[plane];
  const CnvWork *w = work->work;
  const OracleField columns = {0, 1};

  *r = (Regions){work, field, plane, channel};
  r->width = oracle_plane_width(work->image->format, plane, work->image->width);
  r->height = oracle_field_rows(field, oracle_plane_height(work->image->format, plane, work->image->height));
  r->feather[CNV_X] = w->feather / (1 << p->sub_x);
  r->feather[CNV_Y] = w->feather / (1 << p->sub_y) / field.step;
  r->isolated = !w->invert && (w->isolated || work->filter[0].type == CNV_FILTER_MOSAIC);
  r->n_jobs = w->everything ? 1 : MAX(w->n_regions, w->n_plans);
  r->job = g_new0(Job, r->n_jobs);
  if (w->everything)
    return;
  r->spot = g_new0(Spot, w->n_regions);
  for (guint i = 0; i < w->n_regions; i++) {
    CnvRect rect = w->region[i].rect, *box = &r->spot[i].box;

    r->spot[i].region = &w->region[i];
    if (is_empty(rect))
      continue;
    spot_axis(rect.x, rect.width, p->sub_x, columns, &box->x, &box->width);
    spot_axis(rect.y, rect.height, p->sub_y, field, &box->y, &box->height);
  }
  if (!w->moved)
    return;
  /* Fields keep their order: down them the move is rounded down to a whole number of field rows. */
  r->move[CNV_X] = (w->target_x >> p->sub_x) - (w->region[0].rect.x >> p->sub_x);
  r->move[CNV_Y] = (int)floor(((w->target_y >> p->sub_y) - (w->region[0].rect.y >> p->sub_y)) / (double)field.step);
}

static void
regions_clear(Regions *r)
{
  for (int i = 0; i < r->n_jobs; i++)
    g_free(r->job[i].sample);
  g_free(r->job);
  g_free(r->spot);
}

static double
fade(int at, int from, int count, double feather)
{
  const int away = at < from ? from - at : at >= from + count ? at - (from + count) + 1 : 0;

  return MAX(0, 1 - away / (feather + 1));
}

/* float32 holds such fades exactly, and with them ties between two. */
static gboolean
is_exact(double feather)
{
  int exponent;

  return frexp(feather + 1, &exponent) == 0.5;
}

/* Nothing of it lies in the plane, so that when isolated it has nothing to read. */
static gboolean
is_nowhere(const Regions *r, CnvRect box)
{
  return is_empty(box) || (r->isolated && is_empty(intersection(box, r->width, r->height)));
}

/* How far it is along the ray from an ellipse's centre through (x, y), as 1, to the ellipse of half axes a and b. */
static double
ray(double x, double y, double a, double b)
{
  return 1 / sqrt((x / a) * (x / a) + (y / b) * (y / b));
}

static double
ellipse_at(const Regions *r, CnvRect box, int x, int y)
{
  const double a = (box.width - 1) / 2.0, b = (box.height - 1) / 2.0, from_x = x - (box.x + a),
               from_y = y - (box.y + b);
  const double inner = ray(from_x, from_y, MAX(a, 0.01), MAX(b, 0.01));
  const double outer = ray(from_x, from_y, a + r->feather[CNV_X] + 1, b + r->feather[CNV_Y] + 1);

  return inner >= 1 ? 1 : MAX(0, 1 - (1 - inner) / (outer - inner));
}

/* The cells of an axis around a place, which is 0.5 in the middle of the first, and the second's share in steps. */
static void
cells_at(double place, int n, int cell[2], double *share)
{
  const double first = floor(place - 0.5);

  *share = floor((place - 0.5 - first) * 4096 + 0.0056) / 4096; /* as CNV_MASK_BIAS */
  for (int i = 0; i < 2; i++)
    cell[i] = (int)CLAMP(first + i, 0, n - 1);
}

static double
mask_at(const Regions *r, const CnvRegion *region, int x, int y)
{
  const CnvPlaneFormat *p = &r->work->image->format->plane[r->plane];
  const double luma_x = (x + 0.5) * (1 << p->sub_x);
  const double luma_y = (y * r->field.step + r->field.first + 0.5) * (1 << p->sub_y);
  double along, down, weight = 0;
  int column[2], row[2];

  cells_at((luma_x - region->rect.x) / region->rect.width * TEST_MASK_X, TEST_MASK_X, column, &along);
  cells_at((luma_y - region->rect.y) / region->rect.height * TEST_MASK_Y, TEST_MASK_Y, row, &down);
  for (int i = 0; i < 4; i++) /* of numbers that sum up to 1 but for rounding */
    weight += (i % 2 ? along : 1 - along) * (i / 2 ? down : 1 - down) * test_mask_cell(column[i % 2], row[i / 2]);
  return weight < 1e-9 ? 0 : weight > 255 - 1e-9 ? 1 : weight / 255;
}

/* The weight of a region at a sample. */
static double
weight_at(const Regions *r, const Spot *spot, int x, int y)
{
  const CnvRect b = spot->box;
  const double around = fade(x, b.x, b.width, r->feather[CNV_X]) * fade(y, b.y, b.height, r->feather[CNV_Y]);

  if (is_nowhere(r, b))
    return 0;
  if (spot->region->shape == CNV_SHAPE_ELLIPSE)
    return MIN(around, ellipse_at(r, b, x, y));
  if (spot->region->shape == CNV_SHAPE_MASK)
    return x < b.x || y < b.y || x >= b.x + b.width || y >= b.y + b.height ? 0 : mask_at(r, spot->region, x, y);
  return around;
}

/* Returns the number of the region that counts at a sample, or -1. uncertain: another one is so near that float32 may
 * find it larger. */
static int
find_owner(const Regions *r, int x, int y, double *weight, gboolean *uncertain)
{
  const CnvWork *w = r->work->work;
  const gboolean even = is_exact(r->feather[CNV_X]) && is_exact(r->feather[CNV_Y]);
  int owner = -1;

  *weight = 0;
  *uncertain = FALSE;
  for (guint i = 0; i < w->n_regions; i++) {
    const double here = weight_at(r, &r->spot[i], x, y);
    const gboolean shaped =
        w->region[i].shape != CNV_SHAPE_RECTANGLE || (owner >= 0 && w->region[owner].shape != CNV_SHAPE_RECTANGLE);

    if (here <= 0)
      continue;
    /* Which of two isolated ones of other shapes counts where both weigh 1 is left open, too. */
    if (owner >= 0 && (shaped ? here < 1 || r->isolated : !even && here < 1) && fabs(here - *weight) < WEIGHT_NEAR)
      *uncertain = TRUE;
    else if (here > *weight)
      *uncertain = FALSE;
    if (here > *weight || (here == *weight && r->spot[i].region->plan >= r->spot[owner].region->plan)) {
      *weight = here;
      owner = i;
    }
  }
  return owner;
}

/* The sample at (x, y) filtered by a plan; seeing no more than a region where that is isolated. */
static OracleSample
filtered_at(Regions *r, guint plan, int region, int x, int y)
{
  const gboolean isolated = r->isolated && region >= 0;
  Job *job = &r->job[isolated ? region : (int)plan];

  if (!job->sample) {
    OracleChannel c = oracle_channel_new(r->work, &r->work->filter[plan], r->field, r->plane, r->channel);
    CnvRect window = {0, 0, r->width, r->height};

    job->area = window;
    if (isolated) {
      const int dx = (int)ceil(r->feather[CNV_X]), dy = (int)ceil(r->feather[CNV_Y]);
      const CnvRect b = r->spot[region].box;

      c.corner[CNV_X] = b.x;
      c.corner[CNV_Y] = b.y;
      window = intersection(b, r->width, r->height);
      job->area = intersection((CnvRect){b.x - dx, b.y - dy, b.width + 2 * dx, b.height + 2 * dy}, r->width, r->height);
    }
    job->sample = oracle_filter_area(&c, window, job->area);
    oracle_channel_clear(&c);
  }
  return job->sample[(gsize)(y - job->area.y) * job->area.width + x - job->area.x];
}

/* Blends the filtered sample into `out`, which holds the input's. */
static void
blend(OracleSample *out, OracleSample filtered, double weight, int full)
{
  if (filtered.rule == ORACLE_COPIED && filtered.value == out->value)
    return;
  if (weight < 1)
    filtered.value = weight * CLAMP(filtered.value, 0, full) + (1 - weight) * out->value;
  if (filtered.rule == ORACLE_COPIED && weight < 1)
    filtered.rule = ORACLE_FILTERED;
  *out = filtered;
}

static void
blend_at(Regions *r, int x, int y, OracleSample *out, int full)
{
  const OracleWork *work = r->work;
  const CnvWork *w = work->work;
  gboolean uncertain = FALSE;
  double weight = 1;
  int owner = -1;
  guint plan = 0;

  x -= r->move[CNV_X];
  y -= r->move[CNV_Y];
  if (x < 0 || y < 0 || x >= r->width || y >= r->height)
    return;
  if (!w->everything) {
    owner = find_owner(r, x, y, &weight, &uncertain);
    plan = owner < 0 || w->invert ? 0 : r->spot[owner].region->plan;
    weight = w->invert ? 1 - weight : weight;
    uncertain = uncertain && !w->invert;
  }
  if (weight <= 0 || !oracle_filters(&work->filter[plan], work->image->format, r->plane, r->channel))
    return;
  blend(out, filtered_at(r, plan, w->invert ? -1 : owner, x, y), weight, full);
  if (uncertain)
    out->rule = ORACLE_OPEN;
}

OracleSample *
oracle_channel(const OracleWork *work, int plane, int channel)
{
  const CnvFormat *format = work->image->format;
  const int width = oracle_plane_width(format, plane, work->image->width), step = work->work->interlaced ? 2 : 1;
  const int full = (1 << oracle_component(format, plane, channel).depth) - 1;
  OracleSample *out = g_new(OracleSample, (gsize)width * oracle_plane_height(format, plane, work->image->height));

  for (int first = 0; first < step; first++) {
    const OracleField field = {first, step};
    double *in = oracle_read(work, field, plane, channel);
    Regions r;

    regions_init(&r, work, field, plane, channel);
    for (int i = 0; i < width * r.height; i++) {
      OracleSample *to = &out[(gsize)(first + i / width * step) * width + i % width];

      *to = (OracleSample){in[i], ORACLE_COPIED};
      blend_at(&r, i % width, i / width, to, full);
    }
    regions_clear(&r);
    g_free(in);
  }
  return out;
}
