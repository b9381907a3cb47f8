/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Computes the taps on decimated samples: those that approximate the given taps best by least squares, over all places
 * of an output between two decimated samples. They cannot reproduce the step at the end of a truncated gaussian, and
 * smooth it over some samples. For a narrow gaussian that error is too large, so no such taps are found.
 */
#include "plan/decimated.h"

#include <math.h>

#include "plan/arith.h"

/* Largest errors of decimated filters, in levels: the root mean square on noise, and the worst case. */
#define ERROR_MEAN 0.007
#define ERROR_MOST 0.9
#define ERROR_OF_WEIGHED 2 /* divides both for normalised convolution, which scales remaining taps up */

/* Least size of a plane along an axis, as a multiple of the number of taps. In a smaller plane all outputs are nearly
 * equal, and so are their errors: 2 % of the samples of noise may be one off. */
#define EXTENT_LEAST 2

#define BOXES 4                                              /* boxes that are convolved into the spline */
#define REACH(step) (BOXES * ((step)-1) / 2)                 /* reach of the spline on either side */
#define REPLY(step) (4 * (step))                             /* reach of the response to one tap */
#define MIDDLE (CNV_RADIUS_MAX + 8 * CNV_DECIMATED_STEP_MAX) /* index of the middle of arrays of values */
#define VALUES (2 * MIDDLE + 1)

/* The taps of an axis. */
typedef struct {
  const float *tap;
  int n;
} Taps;

typedef struct {
  int step, radius; /* radius: of the taps on decimated samples */
  double spline[REACH(CNV_DECIMATED_STEP_MAX) * 2 + 1];
  double reply[CNV_DECIMATED_STEP_MAX][VALUES]; /* responses: weights of the samples around each place if only the
                                                   middle tap is 1, and all others 0 */
  double wanted[VALUES];
  double factor[CNV_DECIMATED_TAPS][CNV_DECIMATED_TAPS]; /* Cholesky factor of the normal equations */
  double tap[CNV_DECIMATED_TAPS];
  double sum;           /* sum of the wanted taps; `wanted` has them divided by it */
  double square, total; /* errors. square: sum of squares, mean over places; total: sum of magnitudes at the worst
                           place */
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
    for (int i = n + s->step - 2; i >= 0; i--) { /* from the end, in place: a value depends only on itself and on
                                                    earlier ones */
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

/* Returns the sum of the products of the responses with `with`, shifted by `moved` samples. with: NULL for the
 * responses themselves. */
static double
product(const Search *s, const double *with, int moved)
{
  int first = MIDDLE - REPLY(s->step);
  double sum = 0;

  for (int place = 0; place < s->step; place++)
    sum += cnv_dot(s->reply[place] + first, (with ? with : s->reply[place]) + first + moved, 2 * REPLY(s->step) + 1);
  return sum;
}

/* Solves the normal equations, whose coefficients depend only on the distance between two taps. */
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

/* Finds the fewest taps whose errors are within the limits. root: limit of the root of the sum of squares; total: limit
 * of the sum of magnitudes. Returns FALSE if there are no such taps. */
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

/* Keeps the taps as they are, with step 1. Returns FALSE if there are too many. */
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

/* Returns TRUE if decimated taps may replace the taps, provided that the errors are small: an odd number of taps that
 * are symmetric about the anchor, and none negative. */
static gboolean
is_fit(const Taps *taps, int anchor)
{
  int n = taps->n;

  for (int i = 0; i < n / 2; i++)
    if (taps->tap[i] != taps->tap[n - 1 - i] || taps->tap[i] < 0)
      return FALSE;
  return n % 2 == 1 && anchor == n / 2 && taps->tap[n / 2] > 0;
}

/* Returns the root of the sum of the squares of the taps, as if their sum were 1. */
static double
root_of(const Taps *taps)
{
  double sum = sum_of(taps), squares = 0;

  for (int i = 0; i < taps->n; i++)
    squares += taps->tap[i] / sum * taps->tap[i] / sum;
  return sqrt(squares);
}

/* Finds the taps of both axes and the largest errors allowed along each. root: limits of the root of the mean sum of
 * squares; most: limit of the sum of magnitudes. least: least size of the plane, as a multiple of the number of taps.
 * Returns FALSE if the taps or the plane do not qualify. */
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
  if (!found) /* keep the taps along rows, and use the whole error limit along columns */
    found = keep(&to[CNV_X], &taps[CNV_X]) && find(&to[CNV_Y], search, &taps[CNV_Y], root[CNV_Y], most);
  g_free(search);
  return found;
}

/* ---- taps by place ---- */

#define SPLINE(step) (3 * (step)-2) /* number of the spline's taps */
#define NEAR 3                      /* splines that overlap a spline on one side, counting itself */

/* Fraction of the error limit that these taps may use. The rest is for the engine's own errors. */
#define PLACES_PART 0.94

/* Limits for algorithm=auto; algorithm=tensor ignores them. AUTO_EXTENT_LEAST is like EXTENT_LEAST. SPREAD_LEAST is the
 * least standard deviation of filtered noise, in levels. If a filter leaves less, all of a plane may be near the middle
 * between two levels. Errors of 0.002 then put more than 1 % of samples one off. At 8 bits, r=128 leaves 0.53, and 0.5
 * % of samples were one off in waves. r=256 leaves 0.27, and 2 to 5 % were one off. In random black and white, 431x333
 * at r=64, 1.9 % were. */
#define AUTO_EXTENT_LEAST 3
#define SPREAD_LEAST 0.4
#define NOISE_DEVIATION 0.2887 /* standard deviation of noise over the whole range, with full scale 1 */

/* Least radius, in steps. With a smaller one, the spline smooths the taps too much. */
#define PLACES_RADIUS 5

typedef struct {
  int step, radius, n; /* n: number of taps on decimated samples */
  double spline[SPLINE(CNV_DECIMATED_PLACES_MAX)];
  double factor[CNV_DECIMATED_PLACE_TAPS][CNV_DECIMATED_PLACE_TAPS]; /* Cholesky factor of the normal equations */
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

/* Computes the taps of one place by least squares. wanted: the taps to approximate; wanted[0] is on the output. */
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

/* Computes the errors of a place's taps over samples -reach..reach. error: sum of squares, and sum of magnitudes. */
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
  /* Places are symmetric about the middle between two decimated samples, so half of them are enough. */
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

/* Finds the taps with the largest step whose errors are within the limits. root, total: as in find. Returns FALSE if
 * there are no such taps. */
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

/* Returns TRUE if filtered noise still has a standard deviation of at least SPREAD_LEAST levels. */
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
