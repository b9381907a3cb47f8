/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The definition of the weights of regions, and checks of jobs.
 */
#include "regions/jobs.h"

#include <math.h>

#include "support/masks.h"
#include "support/suite.h"
#include "support/weights.h"

/* Returns the weight along one axis. at, from, to: in samples of the plane and field. */
static double
fade(int at, double from, double to, double feather)
{
  const double away = at < from ? from - at : at >= to ? at - to + 1 : 0;

  return MAX(0, 1 - away / (feather + 1));
}

/* Returns the weight along the ray from the centre through a point: 1 at the inner ellipse with half axes a, 0 at the
 * outer one with half axes a + f. */
static double
ellipse_weight(const double at[2], const double a[2], const double f[2])
{
  const double inner = 1 / hypot(at[0] / MAX(a[0], 0.01), at[1] / MAX(a[1], 0.01));
  const double outer = 1 / hypot(at[0] / (a[0] + f[0]), at[1] / (a[1] + f[1]));

  return inner >= 1 ? 1 : MAX(0, (outer - 1) / (outer - inner));
}

/* Interpolates between the centres of cells. */
static double
mask_weight(double u, double v)
{
  const int x = (int)CLAMP(floor(u), 0, TEST_MASK_X - 1), y = (int)CLAMP(floor(v), 0, TEST_MASK_Y - 1);
  const int right = MIN(x + 1, TEST_MASK_X - 1), below = MIN(y + 1, TEST_MASK_Y - 1);
  const double along = CLAMP(u - x, 0, 1), down = CLAMP(v - y, 0, 1);
  const double above = (1 - along) * test_mask_cell(x, y) + along * test_mask_cell(right, y);

  return ((1 - down) * above + down * ((1 - along) * test_mask_cell(x, below) + along * test_mask_cell(right, below))) /
         255;
}

double
region_weight(const CnvWork *work, const CnvPlane *plane, const CnvRegion *region, int x, int y, int field, int fields)
{
  const CnvRect *r = &region->rect;
  const double sx = 1 << plane->sub_x, sy = 1 << plane->sub_y;
  const double left = floor(r->x / sx), right = ceil((r->x + r->width) / sx);
  const double top = ceil((floor(r->y / sy) - field) / fields);
  const double bottom = ceil((ceil((r->y + r->height) / sy) - field) / fields);
  double box;

  if (r->width < 1 || r->height < 1 || top >= bottom)
    return 0;
  box = fade(x, left, right, work->feather / sx) * fade(y, top, bottom, work->feather / sy / fields);
  if (region->shape == CNV_SHAPE_ELLIPSE)
    return MIN(box, ellipse_weight((double[]){x - (left + right - 1) / 2, y - (top + bottom - 1) / 2},
                                   (double[]){(right - left - 1) / 2, (bottom - top - 1) / 2},
                                   (double[]){work->feather / sx + 1, work->feather / sy / fields + 1}));
  if (region->shape == CNV_SHAPE_MASK)
    return x < left || x >= right || y < top || y >= bottom
               ? 0
               : mask_weight(((x + 0.5) * sx - r->x) * TEST_MASK_X / r->width - 0.5,
                             ((y * fields + field + 0.5) * sy - r->y) * TEST_MASK_Y / r->height - 0.5);
  return box;
}

void
check_sample(const CnvWork *work, const CnvJobs *c, int plane, int field, int x, int y)
{
  const CnvPlane *p = &work->plan[0]->plane[plane];
  double largest = 0;
  int weight;

  test_job_at(c, plane, field, x, y, &weight);
  for (guint i = 0; i < work->n_regions; i++)
    largest = MAX(largest, region_weight(work, p, &work->region[i], x, y, field, work->interlaced ? 2 : 1));
  if (work->invert)
    largest = 1 - largest;
  if (fabs(weight / 255.0 - largest) >= WEIGHT_SLACK)
    ck_abort_msg("plane %d field %d, %d, %d: weight %d/255, not %g", plane, field, x, y, weight, largest);
}

static void
check_job(const CnvWork *work, const CnvJob *p)
{
  const CnvPlane *plane = &work->plan[0]->plane[p->plane];
  const int rows = (plane->height - p->field + p->fields - 1) / p->fields;

  ck_assert(p->width >= 1 && p->height >= 1 && p->x >= 0 && p->y >= 0);
  ck_assert(p->x + p->width <= plane->width && p->y + p->height <= rows);
  ck_assert(p->x + p->move_x >= 0 && p->x + p->width + p->move_x <= plane->width);
  ck_assert(p->y + p->move_y >= 0 && p->y + p->height + p->move_y <= rows);
  ck_assert(p->window_width >= 1 && p->window_x >= 0 && p->window_x + p->window_width <= plane->width);
  ck_assert(p->window_height >= 1 && p->window_y >= 0 && p->window_y + p->window_height <= rows);
  ck_assert(p->plan >= 0 && p->plan < (int)work->n_plans);
}

void
check_jobs(const CnvWork *work, const CnvJobs *c)
{
  for (guint i = 0; i < c->jobs->len; i++)
    check_job(work, &g_array_index(c->jobs, CnvJob, i));
}

void
check_disjoint(const CnvJobs *c, const char *what)
{
  for (guint i = 0; i < c->jobs->len; i++)
    for (guint j = 0; j < i; j++) {
      const CnvJob *p = &g_array_index(c->jobs, CnvJob, i), *q = &g_array_index(c->jobs, CnvJob, j);
      const gboolean apart =
          p->x >= q->x + q->width || q->x >= p->x + p->width || p->y >= q->y + q->height || q->y >= p->y + p->height;

      if (!apart && p->plane == q->plane && p->field == q->field && p->layer == q->layer)
        ck_abort_msg("%s, layer %d: %dx%d at %d, %d and %dx%d at %d, %d", what, p->layer, p->width, p->height, p->x,
                     p->y, q->width, q->height, q->x, q->y);
    }
}

void
check_coverage(const CnvJobs *c, const CnvJob *job)
{
  const CnvCover cover = cnv_jobs_cover(c);
  const int before = job->x % CNV_COVERAGE_ALIGNMENT;
  g_autofree guint8 *row = g_malloc(job->coverage_pitch);

  for (int y = job->y; y < job->y + job->height && job->coverage_pitch > 0; y++) {
    cnv_coverage_row(&cover, job, y, row);
    for (int i = 0; i < job->coverage_pitch; i++) {
      const int x = job->x - before + i,
                weight = test_job_contains(job, x, y) ? cnv_cover_weight(&cover, job, x, y) : 0;

      if (row[i] != weight)
        ck_abort_msg("row %d, sample %d: %d, not %d", y, x, row[i], weight);
    }
  }
}

double
pixels_of(const CnvJobs *c)
{
  double pixels = 0;

  for (guint i = 0; i < c->jobs->len; i++) {
    const CnvJob *p = &g_array_index(c->jobs, CnvJob, i);

    pixels += (double)p->width * p->height;
  }
  return pixels;
}
