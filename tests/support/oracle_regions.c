/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The oracle's regions: for every sample of a channel the region that counts there, how much, and the blend.
 */
#include "support/oracle_channel.h"

#include <math.h>

/* Weights of two regions that are nearer than this are equal to within float32. */
#define WEIGHT_NEAR 1e-6

/* A region in one plane and field: the samples that weigh 1. */
typedef struct {
  CnvRect box;
  guint plan;
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
  r->n_jobs = w->everything ? 1 : MAX(w->n_regions, w->n_plans);
  r->job = g_new0(Job, r->n_jobs);
  if (w->everything)
    return;
  r->spot = g_new0(Spot, w->n_regions);
  for (guint i = 0; i < w->n_regions; i++) {
    CnvRect rect = w->region[i].rect, *box = &r->spot[i].box;

    r->spot[i].plan = w->region[i].plan;
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
  return is_empty(box) ||
         (r->work->work->isolated && !r->work->work->invert && is_empty(intersection(box, r->width, r->height)));
}

/* Returns the number of the region that counts at a sample, or -1. uncertain: another one is so near that float32 may
 * find it larger. */
static int
find_owner(const Regions *r, int x, int y, double *weight, gboolean *uncertain)
{
  const CnvWork *w = r->work->work;
  const gboolean exact = is_exact(r->feather[CNV_X]) && is_exact(r->feather[CNV_Y]);
  int owner = -1;

  *weight = 0;
  *uncertain = FALSE;
  for (guint i = 0; i < w->n_regions; i++) {
    const CnvRect b = r->spot[i].box;
    const double here =
        is_nowhere(r, b) ? 0 : fade(x, b.x, b.width, r->feather[CNV_X]) * fade(y, b.y, b.height, r->feather[CNV_Y]);

    if (here <= 0)
      continue;
    if (owner >= 0 && !exact && here < 1 && fabs(here - *weight) < WEIGHT_NEAR)
      *uncertain = TRUE;
    else if (here > *weight)
      *uncertain = FALSE;
    if (here > *weight || (here == *weight && r->spot[i].plan >= r->spot[owner].plan)) {
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
  const CnvWork *w = r->work->work;
  const gboolean isolated = w->isolated && region >= 0;
  Job *job = &r->job[isolated ? region : (int)plan];

  if (!job->sample) {
    OracleChannel c = oracle_channel_new(r->work, &r->work->filter[plan], r->field, r->plane, r->channel);
    CnvRect window = {0, 0, r->width, r->height};

    job->area = window;
    if (isolated) {
      const int dx = (int)ceil(r->feather[CNV_X]), dy = (int)ceil(r->feather[CNV_Y]);
      const CnvRect b = r->spot[region].box;

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
    plan = owner < 0 || w->invert ? 0 : r->spot[owner].plan;
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
