/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kind average (average.cuh): one tap per frame, weighted by the differences of frames (temporal-threshold).
 */
#include "gpu/one_tap.h"

static const CnvVariant variants[] = {{"average_u8", .bytes = 1, .reach = CNV_AVERAGE_SAMPLES, .rows = 3, .terms = 1,
                                       .width = CNV_TILE_WIDTH, .pitch = CNV_AVERAGE_PITCH,
                                       .tile_rows = CNV_AVERAGE_BYTES_ROWS, .blocks = 5},
                                      {"average_u16", .bytes = 2, .rows = 1, .terms = 1, .width = CNV_AVERAGE_WIDTH,
                                       .tile_rows = CNV_AVERAGE_ROWS, .blocks = 4},
                                      {NULL}};

/* For samples of 8 bits, the output's frame must have at least one part in this many of all weights. Weights are
 * rounded to integers there, and if all other frames move, this frame's integer is the divisor. */
#define LEAST_PART 32

static gboolean
fits(const CnvPlan *plan, const CnvPlane *plane, CnvNeeds *needs, GError **error)
{
  if (!cnv_one_tap_fits(plan, plane, needs, error))
    return FALSE;
  return needs->bytes > 1 || plan->weight[plan->center] * LEAST_PART >= plan->temporal_magnitude ||
         cnv_unsupported(error, "the output's frame has less than 1/%d of the taps in time", LEAST_PART);
}

/* Returns TRUE if byte `at` is a sample beside or at sample `sample`, in the same channel. */
static gboolean
is_nearby(int at, int sample, int channels)
{
  return at == sample || at == sample - channels || at == sample + channels;
}

/* Returns a lane's word of operand B: 1 for bytes of the segment, or beside it, that are near a sample of its column.
 * pair: the samples of a word for which it is; beside: the word has the bytes before or after the segment. */
static guint32
nearby_word(int lane, int pair, int channels, gboolean beside)
{
  int sample = lane / 8 * 4 + 2 * pair + lane / 4 % 2, first = !beside ? lane % 4 * 4 : lane % 2 ? 16 : -4;
  guint32 word = 0;

  for (int i = 0; i < 4; i++)
    if (is_nearby(first + i, sample, channels))
      word |= 1u << (8 * i);
  return word;
}

/* Appends the operands B (NearbyTaps) for each pair of samples of a word: first `rows` and `first` of all 32 lanes, then
 * `both` and `second` of all lanes. */
static void
append_nearby(GArray *words, int channels)
{
  for (int i = 0; i < 2 * 2 * 32; i++) {
    int pair = i / 64, lane = i % 32;
    guint32 near = nearby_word(lane, pair, channels, FALSE), beside = nearby_word(lane, pair, channels, TRUE);
    guint32 first = lane % 4 < 2 ? beside : 0;
    guint32 of_lane[2][4] = {{near, near, near, first}, {near, beside, near, beside - first}};

    g_array_append_vals(words, of_lane[i / 32 % 2], 4);
  }
}

static void
set_job(CnvPlaneKernel *plane_kernel, GArray *words, const float *weight)
{
  CnvTileJob *job = &plane_kernel->tile_job;

  cnv_one_tap_set_job(plane_kernel, words, weight);
  job->format_plane = plane_kernel->plane->format_plane;
  if (plane_kernel->needs.bytes > 1)
    return;
  job->top = 1;
  job->border = CNV_BORDER_REPLICATE; /* the sums over 3x3 repeat the window's edge with every border-mode */
  append_nearby(words, job->channels);
}

static int
box_rows(const CnvVariant *variant, const CnvNeeds *needs, int rows)
{
  return needs->bytes > 1 ? rows : rows + 2;
}

/* Costs: 4K NV12, 3 frames 33 us, 5 48, 7 62; P010, 3 frames 70. */
static double
cost(const CnvPlan *plan, const CnvPlane *plane, const CnvNeeds *needs, const CnvVariant *variant)
{
  return needs->bytes > 1 ? 2.3 + 1.0 * needs->n_frames : 0.9 + 0.58 * needs->n_frames;
}

const CnvKernelKind cnv_kind_average = {"average",
                                        CNV_ALGORITHM_TENSOR,
                                        32 * CNV_TILE_WARPS,
                                        1,
                                        .capability = 80,
                                        .averages = TRUE,
                                        .fits = fits,
                                        .cost = cost,
                                        .shared_max = CNV_SHARED_MAX,
                                        .shared_over_time = 44 * 1024,
                                        .set_job = set_job,
                                        .variants = variants,
                                        .box_rows = box_rows};
