/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Arithmetic that C lacks. Plain C.
 */
#pragma once

/* a / b rounded up; b above 0, a not below. */
static inline int
cnv_divide_up(int a, int b)
{
  return (a + b - 1) / b;
}

/* Sum of the products of n numbers of each. */
static inline double
cnv_dot(const double *a, const double *b, int n)
{
  double sum = 0;

  for (int i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}
