/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan/noise.h"

#include <math.h>
#include <stdlib.h>

#include "plan/arith.h"
#include "plan/component.h"

/* The blocks of a plane. */
typedef struct {
  float sigma[CNV_NOISE_BLOCKS * CNV_NOISE_BLOCKS * CNV_MAX_CHANNELS]; /* of blocks that differ and are not clipped */
  int n, n_equal;                                                      /* n_equal: blocks that do not differ at all */
} Blocks;

/* Returns the standard deviation of the noise of one frame, by the differences of two in a block. A filter for the
 * edges of edges removes most of what moves (Immerkaer 1996): its taps 1 -2 1 times 1 -2 1 have a norm of 6. */
static double
deviation(int d[CNV_NOISE_BLOCK][CNV_NOISE_BLOCK])
{
  int sum = 0;

  for (int y = 1; y < CNV_NOISE_BLOCK - 1; y++)
    for (int x = 1; x < CNV_NOISE_BLOCK - 1; x++)
      sum += abs(d[y - 1][x - 1] + d[y - 1][x + 1] + d[y + 1][x - 1] + d[y + 1][x + 1] -
                 2 * (d[y - 1][x] + d[y + 1][x] + d[y][x - 1] + d[y][x + 1]) + 4 * d[y][x]);
  /* The mean deviation of a normal distribution is sqrt(2 / pi) sigma, and a difference has sqrt(2) sigma. */
  return sqrt(G_PI) / 2 * sum / (6.0 * (CNV_NOISE_BLOCK - 2) * (CNV_NOISE_BLOCK - 2));
}

/* Adds a block of a component, at its first sample in each frame. */
static void
add_block(Blocks *blocks, const CnvComponent *component, const guint8 *a, const guint8 *b, const gsize stride[2])
{
  const int full = (1 << component->bits) - 1;
  int difference[CNV_NOISE_BLOCK][CNV_NOISE_BLOCK], least = full, most = 0;
  gboolean differs = FALSE;

  for (int y = 0; y < CNV_NOISE_BLOCK; y++, a += stride[0], b += stride[1])
    for (int x = 0; x < CNV_NOISE_BLOCK; x++) {
      const int value = cnv_component_get(a + x * component->step, component, component->bytes);
      const int other = cnv_component_get(b + x * component->step, component, component->bytes);

      least = MIN(least, MIN(value, other));
      most = MAX(most, MAX(value, other));
      difference[y][x] = value - other;
      differs |= value != other;
    }
  if (!differs)
    blocks->n_equal++;
  else if (least > 0 && most < full) /* clipped noise is smaller */
    blocks->sigma[blocks->n++] = (float)(deviation(difference) / full);
}

/* Adds the blocks of a component, on a grid over the plane. */
static void
add_component(Blocks *blocks, const CnvComponent *component, int width, int height, const CnvFrame *a,
              const CnvFrame *b)
{
  const int columns = MIN(width / CNV_NOISE_BLOCK, CNV_NOISE_BLOCKS),
            rows = MIN(height / CNV_NOISE_BLOCK, CNV_NOISE_BLOCKS), p = component->plane;
  const gsize stride[] = {(gsize)a->stride[p], (gsize)b->stride[p]};

  for (int row = 0; row < rows; row++)
    for (int column = 0; column < columns; column++) {
      const gsize x =
          (gsize)(width - CNV_NOISE_BLOCK) * (2 * column + 1) / (2 * columns) * component->step + component->offset;
      const gsize y = (gsize)(height - CNV_NOISE_BLOCK) * (2 * row + 1) / (2 * rows);

      add_block(blocks, component, (const guint8 *)a->data[p] + y * stride[0] + x,
                (const guint8 *)b->data[p] + y * stride[1] + x, stride);
    }
}

static int
compare(const void *a, const void *b)
{
  const float x = *(const float *)a, y = *(const float *)b;

  return (x > y) - (x < y);
}

/* Motion only makes blocks differ more, so the small differences count. If most blocks do not differ at all, there is
 * no noise, and the others move. */
float
cnv_noise_of(const CnvComponent *component, int n, int width, int height, const CnvFrame *a, const CnvFrame *b)
{
  Blocks blocks = {.n = 0};

  for (int c = 0; c < n; c++)
    if (component[c].bytes > 0)
      add_component(&blocks, &component[c], width, height, a, b);
  if (blocks.n == 0 || blocks.n * CNV_NOISE_STILL < blocks.n + blocks.n_equal)
    return 0;
  qsort(blocks.sigma, blocks.n, sizeof(float), compare);
  return (float)(blocks.sigma[blocks.n / CNV_NOISE_STILL] * CNV_NOISE_STILL_BIAS);
}

int
cnv_noise_components(const CnvFormat *format, int p, CnvComponent component[CNV_MAX_CHANNELS])
{
  const CnvPlaneFormat *plane = &format->plane[p];

  for (int c = 0; c < plane->channels; c++)
    component[c] = plane->role[c] == CNV_ROLE_PADDING || plane->role[c] == CNV_ROLE_A
                       ? (CnvComponent){.bytes = 0}
                       : cnv_format_component(format, p, c);
  return plane->channels;
}

void
cnv_noise_measure(CnvNoise *noise, const CnvImage *image, const CnvFrame *a, const CnvFrame *b)
{
  for (int p = 0; p < image->format->n_planes; p++) {
    CnvComponent component[CNV_MAX_CHANNELS];
    const int n = cnv_noise_components(image->format, p, component);

    noise->sigma[p][noise->n % CNV_NOISE_FRAMES] =
        cnv_noise_of(component, n, cnv_format_plane_width(image->format, p, image->width),
                     cnv_format_plane_height(image->format, p, image->height), a, b);
  }
  noise->n++;
}

double
cnv_noise_sigma(const CnvNoise *noise, int plane)
{
  const guint n = MIN(noise->n, CNV_NOISE_FRAMES);
  float sorted[CNV_NOISE_FRAMES];

  if (n == 0)
    return 0;
  memcpy(sorted, noise->sigma[plane], n * sizeof(float));
  qsort(sorted, n, sizeof(float), compare);
  return sorted[n / 2];
}
