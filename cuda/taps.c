/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "taps.h"

CnvTaps *
cnv_taps_new(int width, int height, const double *values)
{
  gsize bytes = sizeof(double) * width * height;
  CnvTaps *taps = g_malloc0(sizeof(CnvTaps) + bytes);

  g_atomic_ref_count_init(&taps->refs);
  taps->width = width;
  taps->height = height;
  if (values)
    memcpy(taps->value, values, bytes);
  return taps;
}

CnvTaps *
cnv_taps_ref(CnvTaps *taps)
{
  g_atomic_ref_count_inc(&taps->refs);
  return taps;
}

void
cnv_taps_unref(CnvTaps *taps)
{
  if (taps && g_atomic_ref_count_dec(&taps->refs))
    g_free(taps);
}

gboolean
cnv_taps_equal(const CnvTaps *a, const CnvTaps *b)
{
  if (a == b)
    return TRUE;
  if (!a || !b || a->width != b->width || a->height != b->height)
    return FALSE;
  return memcmp(a->value, b->value, sizeof(double) * a->width * a->height) == 0;
}

gboolean
cnv_taps_finite(const CnvTaps *taps)
{
  for (int i = 0; i < taps->width * taps->height; i++)
    if (!isfinite(taps->value[i]))
      return FALSE;
  return TRUE;
}

/* One axis of a gather: size and anchor before and after. */
typedef struct {
  int step, anchor, new_anchor, new_n;
} Grid;

static Grid
grid_new(int n, int step)
{
  int anchor = (n - 1) / 2;
  int reach = MAX(anchor, n - 1 - anchor);
  int new_anchor = (reach + step - 1) / step;

  /* An even number of taps reaches one further to the right; the new anchor must again be the middle tap. */
  return step == 1 ? (Grid){1, anchor, anchor, n} : (Grid){step, anchor, new_anchor, 2 * new_anchor + 1};
}

/* Where tap i lands: at `at` with weight 1 - part and at `at` + 1 with weight part. */
static int
grid_place(const Grid *grid, int i, double *part)
{
  double to = (double)(i - grid->anchor) / grid->step + grid->new_anchor;
  int at = (int)floor(to);

  *part = to - at;
  return at;
}

CnvTaps *
cnv_taps_gather(const CnvTaps *taps, const int step[CNV_N_AXES])
{
  Grid gx = grid_new(taps->width, step[CNV_X]), gy = grid_new(taps->height, step[CNV_Y]);
  CnvTaps *out = cnv_taps_new(gx.new_n, gy.new_n, NULL);

  for (int j = 0; j < taps->height; j++) {
    double py, px;
    int y = grid_place(&gy, j, &py);

    for (int i = 0; i < taps->width; i++) {
      int x = grid_place(&gx, i, &px);
      double t = taps->value[j * taps->width + i];

      for (int corner = 0; corner < 4; corner++) {
        int cx = x + (corner & 1), cy = y + (corner >> 1);
        double weight = (corner & 1 ? px : 1 - px) * (corner >> 1 ? py : 1 - py);

        if (weight > 0)
          out->value[cy * gx.new_n + cx] += weight * t;
      }
    }
  }
  return out;
}

gboolean
cnv_taps_factor(const CnvTaps *taps, CnvTaps **row, CnvTaps **column)
{
  int w = taps->width, h = taps->height, pivot = 0;

  for (int i = 1; i < w * h; i++)
    if (fabs(taps->value[i]) > fabs(taps->value[pivot]))
      pivot = i;

  double largest = taps->value[pivot];
  const double *pivot_row = taps->value + pivot / w * w;

  *row = cnv_taps_new(w, 1, pivot_row);
  *column = cnv_taps_new(h, 1, NULL);
  for (int j = 0; j < h; j++) {
    double share = largest != 0 ? taps->value[j * w + pivot % w] / largest : 0;

    (*column)->value[j] = share;
    for (int i = 0; i < w; i++) {
      if (fabs(taps->value[j * w + i] - share * pivot_row[i]) > 1e-9 * fabs(largest)) {
        g_clear_pointer(row, cnv_taps_unref);
        g_clear_pointer(column, cnv_taps_unref);
        return FALSE;
      }
    }
  }
  return TRUE;
}
