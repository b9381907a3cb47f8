/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/crowds.h"

const char *const crowd_names[N_CROWDS] = {"random", "nested",  "nested out", "stairs",   "crosses",   "same",
                                           "dots",   "columns", "rows",       "touching", "one corner"};

static CnvRect
random_rect(GRand *random, int width, int height)
{
  int x = g_rand_int_range(random, 0, width), y = g_rand_int_range(random, 0, height);

  return (CnvRect){x, y, g_rand_int_range(random, 1, width - x + 1), g_rand_int_range(random, 1, height - y + 1)};
}

static CnvRect
rect_of(CrowdShape shape, int i, int n, int width, int height, GRand *random)
{
  int half = n / 2, x = (int)((gint64)i * width / n), y = (int)((gint64)i * height / n);

  switch (shape) {
  case CROWD_NESTED: /* each inside the one before */
    return (CnvRect){x / 2, y / 2, width - x, height - y};
  case CROWD_NESTED_OUT:
    return rect_of(CROWD_NESTED, n - 1 - i, n, width, height, random);
  case CROWD_STAIRS:
    return (CnvRect){x, y, width / 3, height / 3};
  case CROWD_CROSSES: /* bars across, then bars down */
    if (i < half)
      return (CnvRect){0, (int)((gint64)i * height / half), width, 1};
    return (CnvRect){(int)((gint64)(i - half) * width / half), 0, 1, height};
  case CROWD_SAME:
    return (CnvRect){width / 16, height / 16, width / 2, height / 2};
  case CROWD_DOTS:
    return (CnvRect){i % 32 * width / 32 + i % 7, i / 32 * height / 32 + i % 5, 1, 1};
  case CROWD_COLUMNS:
    return (CnvRect){x, 0, 1, height};
  case CROWD_ROWS:
    return (CnvRect){0, y, width - i % 97, 1};
  case CROWD_TOUCHING: /* cover the frame exactly once */
    return (CnvRect){i % 32 * width / 32, i / 32 * height / 32, (width + 31) / 32, (height + 31) / 32};
  case CROWD_ONE_CORNER:
    return (CnvRect){i % 32 * 3, i / 32 * 3, 2, 2};
  default:
    return random_rect(random, width, height);
  }
}

void
crowd_make(CnvRegion *region, int n, CrowdShape shape, guint n_plans, int width, int height)
{
  GRand *random = g_rand_new_with_seed(1024);

  for (int i = 0; i < n; i++)
    region[i] = (CnvRegion){rect_of(shape, i, n, width, height, random), (guint)g_rand_int_range(random, 0, n_plans)};
  g_rand_free(random);
}
