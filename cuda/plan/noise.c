/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan/noise.h"

#include <math.h>
#include <stdlib.h>

#include "plan/arith.h"
#include "plan/component.h"

#define SAMPLES (CNV_NOISE_BLOCK * CNV_NOISE_BLOCK)

/* The blocks of a plane. */
typedef struct {
  float sigma[CNV_NOISE_BLOCKS * CNV_NOISE_BLOCKS * CNV_MAX_CHANNELS]; /* of blocks that differ and are not clipped */
  int n, n_equal;                                                      /* n_equal: blocks that do not differ at all */
} Blocks;

/* Returns the standard deviation of the noise of one frame, by the differences of two in a block. A filter for the
 * edges of edges removes most of what moves (Immerkaer 1996): its taps 1 -2 1 times 1 -2 1 have a norm of 6. */
static double
deviation(const int d[SAMPLES])
{
  int along[SAMPLES] = {0}, sum = 0;

  for (int i = 1; i < SAMPLES - 1; i++) /* what crosses the ends of rows is not used */
    along[i] = d[i - 1] - 2 * d[i] + d[i + 1];
  for (int y = 1; y < CNV_NOISE_BLOCK - 1; y++)
    for (int x = 1; x < CNV_NOISE_BLOCK - 1; x++) {
      const int *at = along + y * CNV_NOISE_BLOCK + x;

      sum += abs(at[-CNV_NOISE_BLOCK] - 2 * at[0] + at[CNV_NOISE_BLOCK]);
    }
  /* The mean deviation of a normal distribution is sqrt(2 / pi) sigma, and a difference has sqrt(2) sigma. */
  return sqrt(G_PI) / 2 * sum / (6.0 * (CNV_NOISE_BLOCK - 2) * (CNV_NOISE_BLOCK - 2));
}

/* bytes: component->bytes, for a loop of each. */
static inline void
get_samples(int to[SAMPLES], const CnvComponent *component, const guint8 *from, gsize stride, const int bytes)
{
  for (int y = 0; y < CNV_NOISE_BLOCK; y++)
    for (int x = 0; x < CNV_NOISE_BLOCK; x++)
      to[y * CNV_NOISE_BLOCK + x] = cnv_component_get(from + y * stride + x * component->step, component, bytes);
}

/* Adds a block of a component, at its first sample in each frame. */
static void
add_block(Blocks *blocks, const CnvComponent *component, const guint8 *const from[2], const gsize stride[2])
{
  const int full = (1 << component->bits) - 1;
  int value[2][SAMPLES], difference[SAMPLES], least = full, most = 0, differ = 0;

  for (int k = 0; k < 2; k++)
    if (component->bytes == 1)
      get_samples(value[k], component, from[k], stride[k], 1);
    else
      get_samples(value[k], component, from[k], stride[k], component->bytes);
  for (int i = 0; i < SAMPLES; i++) {
    least = MIN(least, MIN(value[0][i], value[1][i]));
    most = MAX(most, MAX(value[0][i], value[1][i]));
    difference[i] = value[0][i] - value[1][i];
    differ |= difference[i];
  }
  if (!differ)
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

      const guint8 *const from[] = {(const guint8 *)a->data[p] + y * stride[0] + x,
                                    (const guint8 *)b->data[p] + y * stride[1] + x};

      add_block(blocks, component, from, stride);
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
