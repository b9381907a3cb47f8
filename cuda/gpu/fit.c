/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/fit.h"

#include <math.h>

#include <convolve/status.h>

#include "plan/arith.h"

/* Sums that adding such a number rounds. */
#define LEVEL_MAX 2097152.0

/* Standard deviation of noise over the whole range, for full 1; the mean of a normal distribution's magnitude, for
 * deviation 1; and the mean error of a sum, in levels, that makes fewer than one sample in a hundred differ: as many as
 * the mean error itself, with room to spare. */
#define NOISE_DEVIATION 0.2887
#define MEAN_OF_DEVIATION 0.8
#define MEAN_ERROR_MAX 0.007
#define MEAN_ERROR_SIGNED_MAX 0.05 /* of taps of both signs: levels are at most one off */

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
                    .pixels = a->pixels && b->pixels};
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
  if (!plane->plain)
    return cnv_unsupported(error, "it takes planes that are arrays of samples: no packed 4:2:2, no 10-bit words, no "
                                  "premultiplied alpha");
  if (!channels_are_alike(plane) || (plane->channels == 3 && plane->copied))
    return cnv_unsupported(error, "it takes channels that are filtered alike");
  return TRUE;
}

gboolean
cnv_fit_one_term(const CnvPlan *plan, const CnvPlane *plane, GError **error)
{
  if (plane->n_terms > 1 || !plane->term[0].separable)
    return cnv_unsupported(error, "it takes one row times one column of taps");
  return !plan->not_time_separable || cnv_unsupported(error, "it takes no 3D kernels");
}

gboolean
cnv_fit_levels(const CnvPlane *plane, double magnitude, GError **error)
{
  int c = cnv_fit_first_channel(plane);

  return fabs(plane->gain[c]) * magnitude * plane->full[c] + fabs(plane->fraction[c]) <= LEVEL_MAX ||
         cnv_unsupported(error, "the filter makes sums too large for it");
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
