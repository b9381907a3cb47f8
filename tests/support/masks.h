/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The mask of all tests: a pattern of all weights, with a band of 0 at the top and a band of 255 at the right.
 */
#pragma once

#include <convolve/work.h>

#define TEST_MASK_X 23
#define TEST_MASK_Y 17

static inline guint8
test_mask_cell(int x, int y)
{
  return x >= 2 * TEST_MASK_X / 3 ? 255 : y < TEST_MASK_Y / 4 ? 0 : (guint8)((x * 57 + y * 31) % 256);
}

static inline CnvMask *
test_mask_new(void)
{
  guint8 cells[TEST_MASK_X * TEST_MASK_Y];

  for (int i = 0; i < TEST_MASK_X * TEST_MASK_Y; i++)
    cells[i] = test_mask_cell(i % TEST_MASK_X, i / TEST_MASK_X);
  return cnv_mask_new(TEST_MASK_X, TEST_MASK_Y, TEST_MASK_X, cells);
}
