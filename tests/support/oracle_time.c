/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The oracle's taps in time. A 3D kernel that is a picture times a row of weights is treated as such. Borders then
 * treat each dimension separately, which makes a difference if taps add up to 0.
 */
#include "support/oracle_time.h"

#include <math.h>

static gboolean
is_volume(const CnvFilter *f)
{
  return f->type == CNV_FILTER_CUSTOM && f->kernel && f->kernel->depth > 1;
}

/* Returns the frame of the kernel, as written, that belongs to a tap in time. */
static int
written(const CnvFilter *f, int tap, int n)
{
  return f->flip ? n - 1 - tap : tap;
}

static int
find_pivot(const CnvTaps *t)
{
  int pivot = 0;

  for (int i = 1; i < t->width * t->height * t->depth; i++)
    pivot = fabs(t->value[i]) > fabs(t->value[pivot]) ? i : pivot;
  return pivot;
}

static void
add_frame_sums(OracleTime *time, const CnvTaps *taps, int from, int tap)
{
  const int n = taps->width * taps->height;

  time->of_frame[tap] = time->magnitudes[tap] = 0;
  for (int i = 0; i < n; i++) {
    time->of_frame[tap] += taps->value[from * n + i];
    time->magnitudes[tap] += fabs(taps->value[from * n + i]);
  }
}

static void
volume_weights(OracleTime *time, const CnvFilter *f)
{
  const CnvTaps *t = f->kernel;
  const int n = t->width * t->height, pivot = find_pivot(t), best = pivot / n;

  time->n = t->depth;
  for (int k = 0; k < t->depth; k++)
    time->weight[written(f, k, t->depth)] = t->value[k * n + pivot % n] / t->value[pivot];
  for (int i = 0; i < n * t->depth && !time->not_time_separable; i++)
    time->not_time_separable = fabs(t->value[i] - time->weight[written(f, i / n, t->depth)] *
                                                      t->value[best * n + i % n]) > 1e-9 * fabs(t->value[pivot]);
  for (int k = 0; k < t->depth && time->not_time_separable; k++) {
    time->weight[k] = 1;
    add_frame_sums(time, t, written(f, k, t->depth), k);
  }
}

static void
gaussian_weights(OracleTime *time, const CnvFilter *f)
{
  const int r = f->temporal_radius;
  const double sigma = f->temporal_sigma > 0 ? f->temporal_sigma : 0.3 * (r - 1) + 0.8;
  double sum = 0;

  time->n = f->causal ? r + 1 : 2 * r + 1;
  for (int k = 0; k < time->n; k++)
    sum += time->weight[k] = exp(-(k - r) * (k - r) / (2 * sigma * sigma));
  for (int k = 0; k < time->n; k++)
    time->weight[k] /= sum;
}

OracleTime
oracle_time(const CnvFilter *f)
{
  OracleTime time = {.n = 1, .weight = {1}};

  if (is_volume(f)) {
    volume_weights(&time, f);
  } else if (f->kernel_t) {
    time.n = f->kernel_t->width * f->kernel_t->height * f->kernel_t->depth;
    for (int k = 0; k < time.n; k++)
      time.weight[k] = f->kernel_t->value[written(f, k, time.n)];
  } else if (f->temporal_radius > 0) {
    gaussian_weights(&time, f);
  }
  time.anchor = f->causal ? time.n - 1 : (time.n - 1) / 2;
  for (int k = 0; k < time.n && !time.not_time_separable; k++) {
    time.of_frame[k] = time.weight[k];
    time.magnitudes[k] = fabs(time.weight[k]);
  }
  return time;
}

OracleKernel
oracle_time_kernel(const OracleTime *time, const CnvFilter *f, int tap, const int subsample[CNV_N_AXES])
{
  CnvFilter own = *f;
  OracleKernel kernel;
  int n, from;

  if (!is_volume(f))
    return oracle_kernel(f, subsample);
  n = f->kernel->width * f->kernel->height;
  from = time->not_time_separable ? written(f, tap, time->n) : find_pivot(f->kernel) / n;
  own.kernel = cnv_taps_new(f->kernel->width, f->kernel->height, f->kernel->value + from * n);
  kernel = oracle_kernel(&own, subsample);
  cnv_taps_unref(own.kernel);
  return kernel;
}

/* Returns the frame that replaces frame i, or -1. Walks frame by frame, as for borders in the picture. */
static int
frame_walk(CnvTemporalBorder border, int i, int first, int end)
{
  if (border == CNV_TEMPORAL_RENORMALIZE)
    return i < first || i >= end ? -1 : i;
  while (i < first || i >= end)
    if (border == CNV_TEMPORAL_REPLICATE)
      i = i < first ? first : end - 1;
    else
      i = i < first ? 2 * first - 1 - i : 2 * end - 1 - i;
  return i;
}

void
oracle_time_place(const OracleTime *time, const OracleClip *clip, gboolean causal, int frame[CNV_MAX_TEMPORAL_TAPS],
                  double weight[CNV_MAX_TEMPORAL_TAPS])
{
  const OracleClip alone = {.end = 1}, *c = clip ? clip : &alone;
  const int end = causal ? c->now + 1 : c->end; /* causal: later frames do not exist yet */
  double sum = 0, present = 0, magnitudes = 0, factor = 1;

  for (int k = 0; k < time->n; k++) {
    frame[k] = frame_walk(c->border, c->now + k - time->anchor, c->first, end);
    sum += time->of_frame[k];
    magnitudes += time->magnitudes[k];
    present += frame[k] < 0 ? 0 : time->of_frame[k];
    factor = frame[k] < 0 ? 0 : factor;
  }
  if (factor == 0 && fabs(present) > 1e-6 * magnitudes)
    factor = sum / present;
  for (int k = 0; k < time->n; k++)
    weight[k] = frame[k] < 0 ? 0 : factor * time->weight[k];
}
