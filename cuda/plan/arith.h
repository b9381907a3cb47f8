/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Arithmetic that C lacks. Plain C.
 */
#pragma once

/* Returns a / b rounded up. a: at least 0; b: above 0. */
static inline int
cnv_divide_up(int a, int b)
{
  return (a + b - 1) / b;
}

/* Returns the dot product of two arrays of n numbers. */
static inline double
cnv_dot(const double *a, const double *b, int n)
{
  double sum = 0;

  for (int i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}
