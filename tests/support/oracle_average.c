/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The oracle's weights of frames with temporal-threshold, as gst/time.md states them.
 */
#include "support/oracle_channel.h"

#include <math.h>

/* Returns the difference of two frames at a sample: the mean over 3x3 samples. Those outside the window are replaced by
 * the nearest ones inside. part: proportional to the part of each sample that may be read; NULL: all may be. */
static double
difference(const OracleChannel *c, const double *part, int k, CnvRect window, int x, int y)
{
  double sum = 0, parts = 0;

  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) {
      const int column = CLAMP(x + dx, window.x, window.x + window.width - 1);
      const int row = CLAMP(y + dy, window.y, window.y + window.height - 1);
      const gsize i = (gsize)row * c->width + column;
      const double weight = part ? part[i] : 1;

      sum += weight * (c->frame[k][i] - c->frame[c->own][i]);
      parts += weight;
    }
  return parts > 0 ? fabs(sum / parts) : 0;
}

/* Returns the weight of a frame: 1 up to half the threshold, 0 from 1.5 times the threshold on, a cubic between. */
static double
fall(double difference, double threshold)
{
  const double t = (difference - threshold / 2) / threshold;

  return t <= 0 ? 1 : t >= 1 ? 0 : 1 - 3 * t * t + 2 * t * t * t;
}

void
oracle_average(const OracleChannel *c, CnvRect window)
{
  const OracleSlice *slice = &c->slice[0];
  const double threshold = c->filter->temporal_threshold * c->full;

  for (int y = window.y; y < window.y + window.height; y++)
    for (int x = window.x; x < window.x + window.width; x++) {
      const gsize i = (gsize)y * c->width + x;
      /* alpha is the sum of the weights in time times the part of the sample, which is the same in all frames. */
      const double part = slice->alpha ? slice->alpha[i] / slice->weight : 1;
      double sum = 0, weights = 0;

      for (int k = 0; k < c->n_frames; k++) {
        const double weight = c->frame_weight[k] * fall(difference(c, slice->alpha, k, window, x, y), threshold);

        sum += weight * (c->frame[k][i] - c->mid);
        weights += weight;
      }
      slice->in[i] = slice->weight * sum / weights;
      if (slice->product)
        slice->product[i] = slice->in[i] * part;
    }
}
