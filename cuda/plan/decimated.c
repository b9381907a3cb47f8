/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The few taps are those that come nearest to the many, by least squares over all places between two decimated samples.
 * What they cannot make is the step that a truncated gaussian ends in, which they smooth over some samples; so a narrow
 * one has no such taps.
 */
#include "plan/decimated.h"

#include <math.h>

#include "plan/arith.h"

/* Errors that such taps may make: levels, as a mean over noise, and at most. */
#define ERROR_MEAN 0.007
#define ERROR_MOST 0.9
#define ERROR_OF_WEIGHED 2 /* less of these, where the taps that remain are scaled up */

/* Lengths of its taps that a plane extends over along an axis, at least: of a plane of few taps' size all levels are
 * nearly alike, and so are errors, and 2 % of noise may be one off. */
#define EXTENT_LEAST 2

#define BOXES 4                                              /* that the spline is made of */
#define REACH(step) (BOXES * ((step)-1) / 2)                 /* of the spline to either side */
#define REPLY(step) (4 * (step))                             /* and of what one tap makes of it */
#define MIDDLE (CNV_RADIUS_MAX + 8 * CNV_DECIMATED_STEP_MAX) /* of arrays of values */
#define VALUES (2 * MIDDLE + 1)

/* Taps of an axis. */
typedef struct {
  const float *tap;
  int n;
} Taps;

typedef struct {
  int step, radius; /* of the few taps */
  double spline[REACH(CNV_DECIMATED_STEP_MAX) * 2 + 1];
  double reply[CNV_DECIMATED_STEP_MAX][VALUES]; /* weights of the samples around each place where one tap is 1, alone */
  double wanted[VALUES];
  double factor[CNV_DECIMATED_TAPS][CNV_DECIMATED_TAPS]; /* Cholesky's, of the normal equations */
  double tap[CNV_DECIMATED_TAPS];
  double sum;           /* of the taps that are wanted, here 1 */
  double square, total; /* of errors: sum of squares, the mean over places, and sum of sizes at the worst one */
} Search;

static double
sum_of(const Taps *taps)
{
  double sum = 0;

  for (int i = 0; i < taps->n; i++)
    sum += taps->tap[i];
  return sum;
}

static double
spline_at(const Search *s, int at)
{
  return abs(at) <= REACH(s->step) ? s->spline[at + REACH(s->step)] : 0;
}

static void
make_spline(Search *s)
{
  int n = 1;

  s->spline[0] = 1;
  for (int box = 0; box < BOXES; box++, n += s->step - 1)
    for (int i = n + s->step - 2; i >= 0; i--) { /* in place, since it is made of those before it */
      double sum = 0;

      for (int k = MAX(i - s->step + 1, 0); k <= MIN(i, n - 1); k++)
        sum += s->spline[k];
      s->spline[i] = sum / s->step;
    }
}

static void
make_replies(Search *s)
{
  memset(s->reply, 0, sizeof s->reply);
  for (int place = 0; place < s->step; place++)
    for (int c = -1; c <= 2; c++)
      for (int k = -REACH(s->step); k <= REACH(s->step); k++)
        s->reply[place][MIDDLE + s->step * c + k - place] +=
            s->step * spline_at(s, place - s->step * c) * spline_at(s, k);
}

/* Sum of the products of the replies with `with`, or with themselves, moved by so many samples. */
static double
product(const Search *s, const double *with, int moved)
{
  int first = MIDDLE - REPLY(s->step);
  double sum = 0;

  for (int place = 0; place < s->step; place++)
    sum += cnv_dot(s->reply[place] + first, (with ? with : s->reply[place]) + first + moved, 2 * REPLY(s->step) + 1);
  return sum;
}

/* Solves the normal equations, in which the distance of two taps counts alone. */
static void
solve(Search *s)
{
  int n = 2 * s->radius + 1, near = 2 * REPLY(s->step) / s->step;
  double with_other[CNV_DECIMATED_TAPS] = {0}, sum = 0;

  for (int i = 0; i < MIN(n, near); i++)
    with_other[i] = product(s, NULL, i * s->step);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      double left = with_other[i - j] - cnv_dot(s->factor[i], s->factor[j], j);

      s->factor[i][j] = i == j ? sqrt(left) : left / s->factor[j][j];
    }
    s->tap[i] = product(s, s->wanted, s->step * (i - s->radius)) - cnv_dot(s->factor[i], s->tap, i);
    s->tap[i] /= s->factor[i][i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++)
      s->tap[i] -= s->factor[k][i] * s->tap[k];
    s->tap[i] /= s->factor[i][i];
    sum += s->tap[i];
  }
  for (int i = 0; i <= s->radius; i++)
    s->tap[i] = s->tap[n - 1 - i] = (s->tap[i] + s->tap[n - 1 - i]) / 2 / sum;
}

static void
measure(Search *s, int radius)
{
  int reach = MAX(radius, s->step * s->radius + REPLY(s->step)), near = REPLY(s->step) / s->step;

  s->square = s->total = 0;
  for (int place = 0; place < s->step; place++) {
    double square = 0, total = 0;

    for (int k = -reach; k <= reach; k++) {
      int tap = s->radius + k / s->step;
      double error = s->wanted[MIDDLE + k];

      for (int i = MAX(tap - near - 1, 0); i <= MIN(tap + near + 1, 2 * s->radius); i++)
        error -= s->tap[i] * s->reply[place][MIDDLE + k - s->step * (i - s->radius)];
      square += error * error;
      total += fabs(error);
    }
    s->square += square / s->step;
    s->total = MAX(s->total, total);
  }
}

static void
fill(CnvDecimatedTaps *to, const Search *s)
{
  *to = (CnvDecimatedTaps){.step = s->step, .radius = s->radius};
  for (int i = 0; i <= 2 * s->radius; i++)
    to->tap[i] = s->tap[i] * s->sum;
  for (int i = 0; i < s->step; i++)
    for (int m = 0; m < CNV_DECIMATED_SHARES; m++)
      to->share[i][m] = spline_at(s, i - s->step * (m - 1));
}

/* Finds the fewest taps of such errors at most: root of the sum of squares, and sum. */
static gboolean
find(CnvDecimatedTaps *to, Search *s, const Taps *taps, double root, double total)
{
  int n = taps->n;

  s->sum = sum_of(taps);
  memset(s->wanted, 0, sizeof s->wanted);
  for (int i = 0; i < n; i++)
    s->wanted[MIDDLE - n / 2 + i] = taps->tap[i] / s->sum;
  for (s->step = CNV_DECIMATED_STEP_MAX; s->step > 1; s->step /= 2) {
    s->radius = n / 2 / s->step + 1;
    if (2 * s->radius + 1 > CNV_DECIMATED_TAPS)
      return FALSE;
    make_spline(s);
    make_replies(s);
    solve(s);
    measure(s, n / 2);
    if (sqrt(s->square) <= root && s->total <= total) {
      fill(to, s);
      return TRUE;
    }
  }
  return FALSE;
}

/* The taps themselves. */
static gboolean
keep(CnvDecimatedTaps *to, const Taps *taps)
{
  *to = (CnvDecimatedTaps){.step = 1, .radius = taps->n / 2, .share = {{0, 1}}};
  if (taps->n > CNV_DECIMATED_TAPS)
    return FALSE;
  for (int i = 0; i < taps->n; i++)
    to->tap[i] = taps->tap[i];
  return TRUE;
}

/* TRUE where others can stand for taps, but for errors. */
static gboolean
is_fit(const Taps *taps, int anchor)
{
  int n = taps->n;

  for (int i = 0; i < n / 2; i++)
    if (taps->tap[i] != taps->tap[n - 1 - i] || taps->tap[i] < 0)
      return FALSE;
  return n % 2 == 1 && anchor == n / 2 && taps->tap[n / 2] > 0;
}

/* Root of the sum of squares of taps whose sum were 1. */
static double
root_of(const Taps *taps)
{
  double sum = sum_of(taps), squares = 0;

  for (int i = 0; i < taps->n; i++)
    squares += taps->tap[i] / sum * taps->tap[i] / sum;
  return sqrt(squares);
}

/* Finds the taps of both axes, if others can stand for them, and the errors that these may make along each: root of the
 * mean sum of squares, and sum of sizes. least: lengths of taps that the plane extends over. */
static gboolean
find_limits(const CnvPlan *plan, const CnvPlane *plane, int least, gboolean divides, Taps taps[CNV_N_AXES],
            double root[CNV_N_AXES], double *most)
{
  const CnvTerm *term = &plane->term[0];
  const int extent[CNV_N_AXES] = {plane->width, plane->height};
  double levels = 0;

  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    taps[axis] = (Taps){.tap = plan->taps + term->taps[axis], .n = term->n[axis]};
    if (!is_fit(&taps[axis], term->anchor[axis]) || extent[axis] < least * term->n[axis])
      return FALSE;
  }
  for (int c = 0; c < plane->channels; c++)
    levels = MAX(levels, fabs(plane->gain[c]) * plane->full[c] * sum_of(&taps[CNV_X]) * sum_of(&taps[CNV_Y]));
  if (divides)
    levels *= ERROR_OF_WEIGHED;
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    root[axis] = ERROR_MEAN * sqrt(12) / (levels * root_of(&taps[CNV_N_AXES - 1 - axis]));
  *most = ERROR_MOST / levels;
  return TRUE;
}

gboolean
cnv_decimated_find(const CnvPlan *plan, const CnvPlane *plane, gboolean divides, CnvDecimatedTaps to[CNV_N_AXES])
{
  Taps taps[CNV_N_AXES];
  double root[CNV_N_AXES], most;
  gboolean found;
  Search *search;

  if (!find_limits(plan, plane, EXTENT_LEAST, divides, taps, root, &most))
    return FALSE;
  search = g_new(Search, 1);
  found = find(&to[CNV_Y], search, &taps[CNV_Y], root[CNV_Y] * M_SQRT1_2, most);
  if (found && taps[CNV_X].tap == taps[CNV_Y].tap) /* equal axes are stored once */
    to[CNV_X] = to[CNV_Y];
  else
    found = found && find(&to[CNV_X], search, &taps[CNV_X], root[CNV_X] * M_SQRT1_2, most);
  if (!found) /* all the error that may be down the columns */
    found = keep(&to[CNV_X], &taps[CNV_X]) && find(&to[CNV_Y], search, &taps[CNV_Y], root[CNV_Y], most);
  g_free(search);
  return found;
}

/* ---- taps by place ---- */

#define SPLINE(step) (3 * (step)-2) /* its taps */
#define NEAR 3                      /* splines that overlap one of them to one side, and itself */

/* Errors that these may make, of those that the contract allows: an engine makes some of its own. */
#define PLACES_PART 0.94

/* For auto, lengths of taps as EXTENT_LEAST, and the standard deviation, in levels, that noise must have left: what is
 * flatter may lie near the middle between two levels in all of a plane, where errors of 0.002 make more than 1 % of
 * samples one off. Of 8 bits r=128 leaves 0.53, and waves were 0.5 % one off; r=256 leaves 0.27, and they were 2 to 5.
 * Black and white at random of 431x333, r=64, was 1.9 %. Who asks for tensor has wider ones, too. */
#define AUTO_EXTENT_LEAST 3
#define SPREAD_LEAST 0.4
#define NOISE_DEVIATION 0.2887 /* of noise over the whole range, for full 1 */

/* Steps that a radius has, at least: fewer smooth the taps too much. */
#define PLACES_RADIUS 5

typedef struct {
  int step, radius, n; /* n: of decimated samples */
  double spline[SPLINE(CNV_DECIMATED_PLACES_MAX)];
  double factor[CNV_DECIMATED_PLACE_TAPS][CNV_DECIMATED_PLACE_TAPS]; /* Cholesky's, of the normal equations */
} Places;

int
cnv_decimated_spline(int step, int i)
{
  static const int sign[] = {1, -3, 3};
  int sum = 0;

  for (int k = 0; k < NEAR && i >= k * step && i < SPLINE(step); k++)
    sum += sign[k] * (i - k * step + 1) * (i - k * step + 2) / 2;
  return sum;
}

static void
places_init(Places *s, int step, int radius)
{
  double product[NEAR];

  s->step = step;
  s->radius = radius;
  s->n = 2 * radius + 1;
  for (int i = 0; i < SPLINE(step); i++)
    s->spline[i] = cnv_decimated_spline(step, i) / ((double)step * step * step);
  for (int i = 0; i < NEAR; i++)
    product[i] = cnv_dot(s->spline, s->spline + i * step, SPLINE(step) - i * step);
  for (int i = 0; i < s->n; i++)
    for (int j = 0; j <= i; j++) {
      double left = (i - j < NEAR ? product[i - j] : 0) - cnv_dot(s->factor[i], s->factor[j], j);

      s->factor[i][j] = i == j ? sqrt(left) : left / s->factor[j][j];
    }
}

/* Finds the taps of one place. wanted: taps around it, wanted[0] on the output itself. */
static void
places_solve(const Places *s, const double *wanted, int place, double *tap)
{
  double sum = 0;

  for (int i = 0; i < s->n; i++) {
    int first = s->step * (i - s->radius) - (s->step - 1) - place;

    tap[i] = (cnv_dot(s->spline, wanted + first, SPLINE(s->step)) - cnv_dot(s->factor[i], tap, i)) / s->factor[i][i];
  }
  for (int i = s->n - 1; i >= 0; i--) {
    for (int k = i + 1; k < s->n; k++)
      tap[i] -= s->factor[k][i] * tap[k];
    tap[i] /= s->factor[i][i];
    sum += tap[i];
  }
  for (int i = 0; i < s->n; i++)
    tap[i] /= sum;
}

/* Adds up the errors of a place's taps from sample -reach to reach: squares, and sizes. */
static void
places_measure(const Places *s, const double *wanted, int place, const double *tap, int reach, double error[2])
{
  error[0] = error[1] = 0;
  for (int k = -reach; k <= reach; k++) {
    int at = k + place + s->step - 1, last = (at + s->step * reach) / s->step - reach + s->radius; /* rounded down */
    double left = wanted[k];

    for (int i = MAX(last - NEAR + 1, 0); i <= MIN(last, s->n - 1); i++) {
      int from = at - s->step * (i - s->radius);

      if (from < SPLINE(s->step))
        left -= tap[i] * s->spline[from];
    }
    error[0] += left * left;
    error[1] += fabs(left);
  }
}

void
cnv_decimated_fit(const float *tap, int n, int step, int most, CnvDecimatedPlaces *to)
{
  const Taps taps = {tap, n};
  int radius = n / 2, reach = radius + 4 * step + step * CNV_DECIMATED_PLACE_TAPS;
  g_autofree Places *s = g_new0(Places, 1);
  g_autofree double *values = g_new0(double, 2 * (gsize)reach + 1);
  double *wanted = values + reach, sum = sum_of(&taps);

  for (int i = 0; i < n; i++)
    wanted[i - radius] = tap[i] / sum;
  places_init(s, step, MIN((radius + 2 * step - 2) / step, most / 2));
  to->step = step;
  to->radius = s->radius;
  to->square = to->total = 0;
  reach = MAX(radius, step * (s->radius + 3));
  /* Places are mirrored about the middle of two decimated samples. */
  for (int place = 0; place < step / 2; place++) {
    double error[2];

    places_solve(s, wanted, place, to->tap[place]);
    places_measure(s, wanted, place, to->tap[place], reach, error);
    to->square += error[0] / (step / 2);
    to->total = MAX(to->total, error[1]);
    for (int i = 0; i < s->n; i++)
      to->tap[step - 1 - place][i] = to->tap[place][s->n - 1 - i];
  }
}

/* Finds taps of the largest step of such errors at most. */
static gboolean
find_places(CnvDecimatedPlaces *to, const Taps *taps, int samples, double root, double total)
{
  int radius = taps->n / 2, step = CNV_DECIMATED_PLACES_MAX;

  while (step > 1 && step * PLACES_RADIUS > radius)
    step /= 2;
  for (; step > 1 && step * (samples / 2) >= radius; step /= 2) {
    cnv_decimated_fit(taps->tap, taps->n, step, samples, to);
    if (sqrt(to->square) <= root && to->total <= total)
      return TRUE;
  }
  return FALSE;
}

/* Returns TRUE if the levels of noise differ enough after the filter. */
static gboolean
leaves_contrast(const CnvPlane *plane, const Taps taps[CNV_N_AXES])
{
  double sum = sum_of(&taps[CNV_X]) * sum_of(&taps[CNV_Y]), most = 0;

  for (int c = 0; c < plane->channels; c++)
    most = MAX(most, fabs(plane->gain[c]) * plane->full[c] * sum);
  return NOISE_DEVIATION * most * root_of(&taps[CNV_X]) * root_of(&taps[CNV_Y]) >= SPREAD_LEAST;
}

gboolean
cnv_decimated_find_places(const CnvPlan *plan, const CnvPlane *plane, int most, CnvDecimatedPlaces to[CNV_N_AXES])
{
  gboolean by_auto = plan->requested == CNV_ALGORITHM_AUTO;
  Taps taps[CNV_N_AXES];
  double root[CNV_N_AXES], total;

  if (!find_limits(plan, plane, by_auto ? AUTO_EXTENT_LEAST : EXTENT_LEAST, FALSE, taps, root, &total) ||
      (by_auto && !leaves_contrast(plane, taps)) ||
      !find_places(&to[CNV_Y], &taps[CNV_Y], most, root[CNV_Y] * M_SQRT1_2 * PLACES_PART, total))
    return FALSE;
  if (taps[CNV_X].tap == taps[CNV_Y].tap) { /* equal axes are stored once */
    to[CNV_X] = to[CNV_Y];
    return TRUE;
  }
  return find_places(&to[CNV_X], &taps[CNV_X], most, root[CNV_X] * M_SQRT1_2 * PLACES_PART, total);
}
