/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/fit.h"

#include <math.h>

#include <convolve/status.h>

#include "plan/arith.h"
#include "plan/job.h"

/* Largest sum that can be rounded by adding a number near 2^23. */
#define LEVEL_MAX 2097152.0

#define NOISE_DEVIATION 0.2887 /* standard deviation of noise over the whole range, for full 1 */
#define MEAN_OF_DEVIATION 0.8  /* mean magnitude of a normal distribution of standard deviation 1 */

/* Largest mean error of a sum, in levels. The fraction of samples that differ is about the mean error, so fewer than
 * one in a hundred differ, with a reserve. */
#define MEAN_ERROR_MAX 0.007
#define MEAN_ERROR_SIGNED_MAX 0.05 /* for taps of both signs: levels are at most one off */

CnvNeeds
cnv_needs_join(const CnvNeeds *a, const CnvNeeds *b)
{
  if (a->terms == 0)
    return *b;
  return (CnvNeeds){.bytes = b->bytes,
                    .reach = MAX(a->reach, b->reach),
                    .rows = MAX(a->rows, b->rows),
                    .terms = a->terms == b->terms ? a->terms : 0,
                    .digits = MAX(a->digits, b->digits),
                    .n_frames = b->n_frames,
                    .channels = MAX(a->channels, b->channels),
                    .pixels = a->pixels && b->pixels,
                    .deep = b->deep,
                    .weighed = b->weighed};
}

int
cnv_ring_steps(const CnvNeeds *needs)
{
  return MAX(cnv_divide_up(needs->rows, 8) + 1, 2);
}

int
cnv_fit_first_channel(const CnvPlane *plane)
{
  int c = 0;

  while (!(plane->filtered >> c & 1))
    c++;
  return c;
}

/* Copies the numbers of channel k of `from` to channel c of `to`. */
static void
take_channel(CnvPlane *to, int c, const CnvPlane *from, int k)
{
  to->mid[c] = from->mid[k];
  to->full[c] = from->full[k];
  to->gain[c] = from->gain[k];
  to->fraction[c] = from->fraction[k];
  to->base[c] = from->base[k];
  to->mid_bias[c] = from->mid_bias[k];
  to->border_value[c] = from->border_value[k] / CNV_WEIGHT_ONE;
}

const CnvPlane *
cnv_fit_plane(const CnvPlan *plan, const CnvPlane *plane, CnvPlane *samples)
{
  int memory = plane->component[0].plane, n_planes = 0;
  const CnvPlaneFormat *format = &plan->image.format->plane[memory];

  if (!plan->is_weighed)
    return plane;
  for (int p = 0; p < plan->n_planes; p++)
    n_planes += plan->plane[p].filtered && plan->plane[p].component[0].plane == memory;
  *samples = *plane;
  samples->channels = format->channels;
  samples->filtered = 0;
  for (int c = 0; c < format->channels; c++) {
    samples->component[c] = cnv_format_component(plan->image.format, memory, c);
    take_channel(samples, c, plane, 0);
    for (int k = 0; k < plane->channels; k++)
      if (k != plane->weight && plane->component[k].offset == samples->component[c].offset) {
        take_channel(samples, c, plane, k);
        samples->filtered |= 1u << c;
      }
  }
  samples->copied = ~samples->filtered & ((1u << format->channels) - 1);
  samples->weight = -1;
  samples->covered = FALSE;
  samples->plain = n_planes == 1 && !format->step && plane->component[plane->weight].bytes == 0;
  return samples;
}

static gboolean
channels_are_alike(const CnvPlane *plane)
{
  int first = cnv_fit_first_channel(plane);

  for (int c = first; c < plane->channels; c++)
    if (plane->filtered >> c & 1 &&
        (plane->gain[c] != plane->gain[first] || plane->base[c] != plane->base[first] ||
         plane->fraction[c] != plane->fraction[first] || plane->mid_bias[c] != plane->mid_bias[first]))
      return FALSE;
  return TRUE;
}

gboolean
cnv_fit_samples(const CnvPlane *plane, GError **error)
{
  if (plane->cell[CNV_X])
    return cnv_unsupported(error, "it needs taps, and mosaic and fill have none");
  if (!plane->plain)
    return cnv_unsupported(error, "it needs planes that are arrays of samples: no packed 4:2:2, no 10-bit words, no "
                                  "premultiplied alpha");
  if (!channels_are_alike(plane) || (plane->channels == 3 && plane->copied))
    return cnv_unsupported(error, "it needs channels that are all filtered in the same way");
  return TRUE;
}

gboolean
cnv_fit_one_term(const CnvPlan *plan, const CnvPlane *plane, GError **error)
{
  if (plane->n_terms > 1 || !plane->term[0].separable)
    return cnv_unsupported(error, "it needs taps that are one row times one column");
  return !plan->not_time_separable || cnv_unsupported(error, "it does not support 3D kernels");
}

gboolean
cnv_fit_levels(const CnvPlane *plane, double magnitude, GError **error)
{
  int c = cnv_fit_first_channel(plane);

  return fabs(plane->gain[c]) * magnitude * plane->full[c] + fabs(plane->fraction[c]) <= LEVEL_MAX ||
         cnv_unsupported(error, "the filter's sums are too large for it");
}

gboolean
cnv_fit_error(const CnvPlane *plane, double error, gboolean is_signed)
{
  return MEAN_OF_DEVIATION * NOISE_DEVIATION * fabs(error) * plane->full[cnv_fit_first_channel(plane)] <=
         (is_signed ? MEAN_ERROR_SIGNED_MAX : MEAN_ERROR_MAX);
}

int
cnv_fit_reach(const CnvTerm *term, int axis)
{
  return MAX(term->anchor[axis], term->n[axis] - 1 - term->anchor[axis]);
}

void
cnv_fit_find_taps(const CnvPlan *plan, const CnvPlane *plane, guint range[2])
{
  gboolean has_sums = cnv_border_renormalizes(plane->border);

  range[0] = plane->n_terms ? G_MAXUINT : 0;
  range[1] = 0;
  for (int i = 0; i < 2 * plane->n_terms; i++) {
    const CnvTerm *term = &plane->term[i / 2];
    guint first = term->taps[term->separable ? i % 2 : 0], n = (guint)term->n[i % 2];

    if (!term->separable)
      n = (guint)(term->n[CNV_X] * term->n[CNV_Y]);
    else if (has_sums)
      n += n + 1;
    range[0] = MIN(range[0], first);
    range[1] = MAX(range[1], first + n);
  }
}
