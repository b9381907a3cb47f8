/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The oracle's regions: for every sample of a channel, the region that counts there, its weight, and the blend.
 */
#include "support/oracle_channel.h"

#include <math.h>

#include "support/masks.h"

/* Added to 255 times a weight before it is rounded down: a half is rounded up, even if float32 finds slightly less. */
#define ROUNDING (0.5 + 8 / 65536.0)

/* Bounds float32's error in 255 times a rectangle's weight. A ramp is 1 - away * fade. With u = 2^-24, fade, the
 * product and the difference have relative errors of at most u, so a ramp r is off by at most u (2 - r). The product of
 * two ramps is then off by at most 3 u, and its product with 255 rounds once more: 3.5 * 255 u < 4 / 65536. This is
 * less than 8 / 65536, so halves are certain. */
#define RECTANGLE_ERROR (4 / 65536.0)

/* Bounds the error of a point's distance from the centre, relative to a point on an ellipse. The engine truncates both
 * coordinates to 2^-20, so the distance is off by at most 1.5 * 2^-20. A few roundings of float32 add less than 4 *
 * 2^-24. */
#define DISTANCE_ERROR 2e-6

/* The engine may limit distances above this one, which occur around an ellipse that is one sample wide or high. The
 * limit, 1024, changes a weight by at most 0.25 / 1024, and 255 times the weight by less than DISTANCE_MAX_ERROR. */
#define DISTANCE_MAX 1000
#define DISTANCE_MAX_ERROR 0.07

/* A region in one plane and field. box: the samples of weight 1. */
typedef struct {
  CnvRect box;
  const CnvRegion *region;
} Spot;

/* The filtered samples of a channel and field: one job per plan or, if isolated, per region. */
typedef struct {
  CnvRect area;
  OracleSample *sample; /* NULL until needed */
} Job;

/* The weights that float32 may compute for a region, in steps of 1/255. */
typedef struct {
  int least, most;
} Steps;

/* A region that may count at a sample, or -1 for none, and its weight in steps. */
typedef struct {
  int region, steps;
} Choice;

#define MAX_CHOICES 2

typedef struct {
  const OracleWork *work;
  OracleField field;
  int plane, channel, width, height;
  double feather[CNV_N_AXES];
  Spot *spot;
  Steps *steps; /* of each region at the present sample */
  gboolean invert;
  gboolean isolated; /* a region reads only itself; cells of a mosaic begin at its corner */
  gboolean weighed;  /* taps outside a region are left out, and the others are scaled to the same sum */
  int n_jobs;
  Job *job;
  int move[CNV_N_AXES];
} Regions;

/* Converts luma pixels along an axis to samples of a plane and field. Places far outside any frame stay outside. */
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
  r->invert = w->invert && !w->whole_frame;
  r->isolated = !w->invert && (w->isolated || work->filter[0].type == CNV_FILTER_MOSAIC);
  r->weighed = w->invert;
  for (guint i = 0; i < w->n_regions && !w->whole_frame; i++)
    r->weighed |= w->region[i].shape != CNV_SHAPE_RECTANGLE;
  r->weighed &= w->isolated && !w->whole_frame && work->filter[0].type != CNV_FILTER_FILL;
  r->n_jobs = w->whole_frame ? 1 : MAX(w->n_regions, w->n_plans);
  r->job = g_new0(Job, r->n_jobs);
  if (w->whole_frame)
    return;
  r->spot = g_new0(Spot, w->n_regions);
  r->steps = g_new(Steps, w->n_regions);
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
  /* Fields keep their order: along y the move is rounded down to whole rows of a field. */
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
  g_free(r->steps);
}

static double
fade(int at, int from, int count, double feather)
{
  const int away = at < from ? from - at : at >= from + count ? at - (from + count) + 1 : 0;

  return MAX(0, 1 - away / (feather + 1));
}

/* Returns a weight in steps. error: how far float32 may be off in 255 times the weight. */
static Steps
rounded(double weight, double error)
{
  const double steps = 255 * weight + ROUNDING;

  return (Steps){(int)CLAMP(floor(steps - error), 0, 255), (int)CLAMP(floor(steps + error), 0, 255)};
}

/* Returns TRUE if a region has nothing to filter: it is empty, or it is isolated and outside the plane. */
static gboolean
is_nowhere(const Regions *r, CnvRect box)
{
  return is_empty(box) || (r->isolated && is_empty(intersection(box, r->width, r->height)));
}

/* Returns the distance from an ellipse's centre to the ellipse of half axes a and b, along the ray through (x, y), as a
 * multiple of the distance to (x, y). */
static double
ray(double x, double y, double a, double b)
{
  return 1 / sqrt((x / a) * (x / a) + (y / b) * (y / b));
}

/* Returns the weight of an ellipse. If `inner` or `outer` is off by the factor 1 + e, the weight is off by at most e
 * outer / (outer - inner). */
static Steps
ellipse_at(const Regions *r, CnvRect box, int x, int y)
{
  const double a = (box.width - 1) / 2.0, b = (box.height - 1) / 2.0, from_x = x - (box.x + a),
               from_y = y - (box.y + b);
  const double inner = ray(from_x, from_y, MAX(a, 0.01), MAX(b, 0.01));
  const double outer = ray(from_x, from_y, a + r->feather[CNV_X] + 1, b + r->feather[CNV_Y] + 1);
  double error;

  if (inner >= 1)
    return (Steps){255, 255};
  error = 255 * DISTANCE_ERROR * outer / (outer - inner);
  if (inner < 1.0 / DISTANCE_MAX)
    error += DISTANCE_MAX_ERROR;
  return rounded(MAX(0, 1 - (1 - inner) / (outer - inner)), error);
}

/* Finds the two cells beside a place along an axis, and the second one's share, in steps. place: 0.5 is the middle of
 * the first cell of the mask. */
static void
cells_at(double place, int n, int cell[2], double *share)
{
  const double first = floor(place - 0.5);

  *share = floor((place - 0.5 - first) * 4096 + 0.0056) / 4096; /* the offset is CNV_MASK_BIAS */
  for (int i = 0; i < 2; i++)
    cell[i] = (int)CLAMP(first + i, 0, n - 1);
}

/* Returns the weight of a mask. The shares and the cells are whole numbers, and float64 holds their sum exactly, so the
 * rounding is certain. */
static Steps
mask_at(const Regions *r, const CnvRegion *region, int x, int y)
{
  const CnvPlaneFormat *p = &r->work->image->format->plane[r->plane];
  const double luma_x = (x + 0.5) * (1 << p->sub_x);
  const double luma_y = (y * r->field.step + r->field.first + 0.5) * (1 << p->sub_y);
  double along, down, sum = 0;
  int column[2], row[2], steps;

  cells_at((luma_x - region->rect.x) / region->rect.width * TEST_MASK_X, TEST_MASK_X, column, &along);
  cells_at((luma_y - region->rect.y) / region->rect.height * TEST_MASK_Y, TEST_MASK_Y, row, &down);
  for (int i = 0; i < 4; i++)
    sum += (i % 2 ? along : 1 - along) * (i / 2 ? down : 1 - down) * test_mask_cell(column[i % 2], row[i / 2]);
  steps = (int)floor(sum + 0.5);
  return (Steps){steps, steps};
}

/* Returns the weight of a region at a sample. */
static Steps
weight_at(const Regions *r, const Spot *spot, int x, int y)
{
  const CnvRect b = spot->box;
  const Steps none = {0, 0};
  Steps around, shape;

  if (is_nowhere(r, b))
    return none;
  if (spot->region->shape == CNV_SHAPE_MASK)
    return x < b.x || y < b.y || x >= b.x + b.width || y >= b.y + b.height ? none : mask_at(r, spot->region, x, y);
  around =
      rounded(fade(x, b.x, b.width, r->feather[CNV_X]) * fade(y, b.y, b.height, r->feather[CNV_Y]), RECTANGLE_ERROR);
  if (spot->region->shape != CNV_SHAPE_ELLIPSE)
    return around;
  shape = ellipse_at(r, b, x, y);
  return (Steps){MIN(around.least, shape.least), MIN(around.most, shape.most)};
}

/* Returns TRUE if a counts, and not b, at equal weights. For two isolated regions of one plan this is left open, unless
 * both are rectangles. */
static gboolean
wins_tie(const Regions *r, int a, int b)
{
  const CnvRegion *of_a = r->spot[a].region, *of_b = r->spot[b].region;
  const gboolean rectangles = of_a->shape == CNV_SHAPE_RECTANGLE && of_b->shape == CNV_SHAPE_RECTANGLE;

  if (of_a->plan != of_b->plan)
    return of_a->plan > of_b->plan;
  return r->isolated && !rectangles ? FALSE : a > b;
}

/* Returns TRUE if a region counts with that weight when all others have their least weight. */
static gboolean
may_count(const Regions *r, int region, int steps)
{
  for (int i = 0; i < (int)r->work->work->n_regions; i++)
    if (i != region && (r->steps[i].least > steps || (r->steps[i].least == steps && wins_tie(r, i, region))))
      return FALSE;
  return TRUE;
}

/* Returns TRUE if two choices give the same sample. */
static gboolean
is_same(const Regions *r, Choice a, Choice b)
{
  if (a.steps != b.steps || r->invert || a.region == b.region)
    return a.steps == b.steps;
  return !r->isolated && r->spot[a.region].region->plan == r->spot[b.region].region->plan;
}

/* Finds the regions that may count at a sample, with their weights. Returns how many choices give different samples. At
 * most MAX_CHOICES of them are stored. */
static int
find_choices(const Regions *r, int x, int y, Choice *choice)
{
  const int n_regions = (int)r->work->work->n_regions;
  int n = 0, least = 0;

  for (int i = 0; i < n_regions; i++) {
    r->steps[i] = weight_at(r, &r->spot[i], x, y);
    least = MAX(least, r->steps[i].least);
  }
  if (least == 0)
    choice[n++] = (Choice){-1, 0};
  for (int i = 0; i < n_regions && n <= MAX_CHOICES; i++)
    for (int steps = MAX(1, least); steps <= r->steps[i].most && n <= MAX_CHOICES; steps++) {
      const Choice new = {i, steps};
      gboolean known = FALSE;

      for (int k = 0; k < n && !known; k++)
        known = is_same(r, choice[k], new);
      if (known || steps < r->steps[i].least || !may_count(r, i, steps))
        continue;
      if (n < MAX_CHOICES)
        choice[n] = new;
      n++;
    }
  return n;
}

/* Returns the part of each sample that may be read for a region or, with invert, for everything around the regions. A
 * rectangle has a border of its own, and everything inside it counts. */
static OracleInside
inside_of(const Regions *r, int region)
{
  const gsize count = (gsize)r->width * r->height;
  const OracleInside inside = {g_new(double, count), g_new(double, count)};

  for (int i = 0; i < (int)count; i++) {
    const int first = r->invert ? 0 : region, last = r->invert ? (int)r->work->work->n_regions - 1 : region;
    Steps most = {0, 0};

    if (!r->invert && r->spot[region].region->shape == CNV_SHAPE_RECTANGLE) {
      inside.part[i] = 1;
      inside.doubt[i] = 0;
      continue;
    }
    for (int k = first; k <= last; k++) {
      const Steps steps = weight_at(r, &r->spot[k], i % r->width, i / r->width);

      most = (Steps){MAX(most.least, steps.least), MAX(most.most, steps.most)};
    }
    inside.part[i] = (most.least + most.most) / 2.0 / 255;
    if (r->invert)
      inside.part[i] = 1 - inside.part[i];
    inside.doubt[i] = (most.most - most.least) / 2.0 / 255;
  }
  return inside;
}

/* Returns the sample at (x, y) filtered by a plan. If the region is isolated, the filter reads only that region. */
static OracleSample
filtered_at(Regions *r, guint plan, int region, int x, int y)
{
  const gboolean isolated = r->isolated && region >= 0;
  Job *job = &r->job[isolated ? region : (int)plan];

  if (!job->sample) {
    OracleInside inside = {NULL, NULL};
    OracleChannel c;
    CnvRect window = {0, 0, r->width, r->height};

    if (r->weighed)
      inside = inside_of(r, region);
    c = oracle_channel_new(r->work, &r->work->filter[plan], r->field, r->plane, r->channel, inside);

    job->area = window;
    if (isolated) {
      const int dx = (int)ceil(r->feather[CNV_X]), dy = (int)ceil(r->feather[CNV_Y]);
      const CnvRect b = r->spot[region].box;

      c.corner[CNV_X] = b.x;
      c.corner[CNV_Y] = b.y;
      /* All others keep the frame's border, because nothing beyond the region counts. */
      if (!r->weighed || r->spot[region].region->shape == CNV_SHAPE_RECTANGLE ||
          r->work->filter[0].type == CNV_FILTER_MOSAIC)
        window = intersection(b, r->width, r->height);
      job->area = intersection((CnvRect){b.x - dx, b.y - dy, b.width + 2 * dx, b.height + 2 * dy}, r->width, r->height);
    }
    job->sample = oracle_filter_area(&c, window, job->area);
    oracle_channel_clear(&c);
    g_free(inside.part);
    g_free(inside.doubt);
  }
  return job->sample[(gsize)(y - job->area.y) * job->area.width + x - job->area.x];
}

/* Returns the filtered sample blended into the input's sample. */
static OracleSample
blended(OracleSample in, OracleSample filtered, double weight, int full)
{
  if (filtered.rule == ORACLE_COPIED && filtered.value == in.value)
    return in;
  if (weight < 1)
    filtered.value = weight * CLAMP(filtered.value, 0, full) + (1 - weight) * in.value;
  if (filtered.rule == ORACLE_COPIED && weight < 1)
    filtered.rule = ORACLE_FILTERED;
  return filtered;
}

/* Returns the sample at (x, y) for one of the choices. in: the input's sample at the target. */
static OracleSample
chosen_at(Regions *r, Choice choice, int x, int y, OracleSample in, int full)
{
  const OracleWork *work = r->work;
  const int steps = r->invert ? 255 - choice.steps : choice.steps, region = r->invert ? -1 : choice.region;
  const guint plan = region < 0 ? 0 : r->spot[region].region->plan;

  if (steps == 0 || !oracle_filters(&work->filter[plan], work->image->format, r->plane, r->channel))
    return in;
  return blended(in, filtered_at(r, plan, region, x, y), steps / 255.0, full);
}

/* Blends the filtered sample into `out`, which has the input's sample. */
static void
blend_at(Regions *r, int x, int y, OracleExpected *out, int full)
{
  const OracleSample in = out->either[0];
  Choice choice[MAX_CHOICES] = {{-1, 255}};
  int n = 1;

  x -= r->move[CNV_X];
  y -= r->move[CNV_Y];
  if (x < 0 || y < 0 || x >= r->width || y >= r->height)
    return;
  if (!r->work->work->whole_frame)
    n = find_choices(r, x, y, choice);
  for (int i = 0; i < MAX_CHOICES && n <= MAX_CHOICES; i++)
    out->either[i] = chosen_at(r, choice[MIN(i, n - 1)], x, y, in, full);
  if (n > MAX_CHOICES) /* the second stays: perhaps no region counts */
    out->either[0].rule = ORACLE_OPEN;
}

OracleExpected *
oracle_channel(const OracleWork *work, int plane, int channel)
{
  const CnvFormat *format = work->image->format;
  const int width = oracle_plane_width(format, plane, work->image->width), step = work->work->interlaced ? 2 : 1;
  const int full = (1 << oracle_component(format, plane, channel).depth) - 1;
  OracleExpected *out = g_new(OracleExpected, (gsize)width * oracle_plane_height(format, plane, work->image->height));

  for (int first = 0; first < step; first++) {
    const OracleField field = {first, step};
    double *in = oracle_read(work, field, plane, channel);
    Regions r;

    regions_init(&r, work, field, plane, channel);
    for (int i = 0; i < width * r.height; i++) {
      OracleExpected *to = &out[(gsize)(first + i / width * step) * width + i % width];

      to->either[0] = to->either[1] = (OracleSample){in[i], ORACLE_COPIED};
      blend_at(&r, i % width, i / width, to, full);
    }
    regions_clear(&r);
    g_free(in);
  }
  return out;
}
