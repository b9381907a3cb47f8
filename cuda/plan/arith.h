/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Arithmetic of integers that C lacks. Plain C.
 */
#pragma once

/* a / b rounded up; b above 0, a not below. */
static inline int
cnv_divide_up(int a, int b)
{
  return (a + b - 1) / b;
}
