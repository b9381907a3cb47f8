/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The oracle of polygons: which points are inside by the even-odd rule.
 */
#pragma once

#include <glib.h>

/* Returns TRUE if (x, y) is inside the polygon. point: x and y of each of n corners. */
static inline gboolean
is_inside(const double *point, int n, double x, double y)
{
  gboolean inside = FALSE;

  for (int i = 0; i < n; i++) {
    const double *a = point + 2 * i, *b = point + 2 * ((i + 1) % n);

    if ((a[1] > y) != (b[1] > y) && x < a[0] + (y - a[1]) * (b[0] - a[0]) / (b[1] - a[1]))
      inside = !inside;
  }
  return inside;
}

/* Returns the share of the samples x samples points of a pixel that are inside. */
static inline double
inside_part(const double *point, int n, int x, int y, int samples)
{
  int hits = 0;

  for (int row = 0; row < samples; row++)
    for (int column = 0; column < samples; column++)
      hits += is_inside(point, n, x + (column + 0.5) / samples, y + (row + 0.5) / samples);
  return hits / (double)(samples * samples);
}
