/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kinds decimate, decimate_again and interpolate (decimate.cuh, interpolate.cuh) filter with wide gaussians in two
 * or three launches. A plane's kernel is interpolate. Its launch follows the launches of decimate and decimate_again
 * for the same jobs.
 */
#include <math.h>
#include <string.h>

#include "gpu/decimated.h"
#include "gpu/half.h"
#include "plan/arith.h"
#include "plan/decimated.h"

#define DECIMATE(called, bits, most, wide, fitting) {#called "_u" #bits, .bytes = (bits) / 8, ANYTHING(most, fitting)},
#define INTERPOLATE(called, bits, most, fitting)                                                                       \
  {#called "_u" #bits, .bytes = (bits) / 8, .width = CNV_INTERPOLATE_WIDTH(most), ANYTHING(most, fitting)},
#define ANYTHING(most, fitting)                                                                                        \
  .reach = G_MAXINT, .rows = G_MAXINT, .terms = 1, .digits = 1, .channels = (most), .tile_rows = CNV_INTERPOLATE_ROWS, \
  .blocks = (fitting)

static const CnvVariant decimate[] = {CNV_DECIMATE_VARIANTS(DECIMATE){NULL}};
static const CnvVariant decimate_again[] = {{"decimate_again", .bytes = 1, ANYTHING(CNV_MAX_CHANNELS, 6)},
                                            {"decimate_again", .bytes = 2, ANYTHING(CNV_MAX_CHANNELS, 6)},
                                            {NULL}};
static const CnvVariant interpolate[] = {CNV_INTERPOLATE_VARIANTS(INTERPOLATE){NULL}};

/* Decimated samples are never exact enough for up to this number of taps. */
#define FEW_TAPS 31

static gboolean
find_places(const CnvPlan *plan, const CnvPlane *plane, CnvDecimatedPlaces places[CNV_N_AXES])
{
  return cnv_decimated_find_places(plan, plane, CNV_INTERPOLATE_TAPS(plane->component[0].bytes), places);
}

static gboolean
fits(const CnvPlan *plan, const CnvPlane *plane, CnvNeeds *needs, GError **error)
{
  g_autofree CnvDecimatedPlaces *places = NULL;

  if (!cnv_fit_samples(plane, error) || !cnv_fit_one_term(plan, plane, error))
    return FALSE;
  *needs = (CnvNeeds){.terms = 1,
                      .digits = 1,
                      .bytes = plane->component[0].bytes,
                      .n_frames = plan->n_temporal_taps,
                      .channels = plane->channels,
                      .reach = cnv_fit_reach(&plane->term[0], CNV_X) * plane->channels,
                      .rows = cnv_fit_reach(&plane->term[0], CNV_Y)};
  if (plan->n_temporal_taps > 1)
    return cnv_unsupported(error, "it does not filter over time");
  if (plan->is_weighed)
    return cnv_unsupported(error, "it does not support isolated regions");
  if (plane->full[cnv_fit_first_channel(plane)] > 1023 || (needs->bytes > 1 && needs->channels > 2))
    return cnv_unsupported(error, "it needs samples of up to 10 bits, or of 8 bits with 3 or 4 channels");
  if (plane->combine != CNV_COMBINE_SUM || cnv_border_renormalizes((CnvBorder)plane->border))
    return cnv_unsupported(error, "it does not support gradients or border-mode=renormalize");
  places = g_new(CnvDecimatedPlaces, CNV_N_AXES);
  if (plane->n_terms != 1 || MAX(plane->term[0].n[CNV_X], plane->term[0].n[CNV_Y]) <= FEW_TAPS ||
      !find_places(plan, plane, places))
    return cnv_unsupported(error, "decimated samples would not be exact enough for the taps");
  needs->step = MIN(places[CNV_X].step, places[CNV_Y].step);
  return TRUE;
}

/* Returns the cost of all launches together. 4K NV12: r=64 to 128 22.4 us, 512 30.5; r=44, with step 2 for chroma,
 * 27.2. RGBA, r=64 and more: 52 to 68; r=20, with step 2: 86, and the ring was faster. P010, r=96 and more: 58 to
 * 61. */
static double
cost(const CnvPlan *plan, const CnvPlane *plane, const CnvNeeds *needs, const CnvVariant *variant)
{
  return (needs->bytes > 1 ? 4.5 : 1.5) * (needs->step < 4 ? 1.9 : 1);
}

/* ---- taps ---- */

/* Returns the number of a fragment at row m and column k. */
typedef double (*Tap)(gconstpointer data, int m, int k);

/* Appends a fragment: operand A of mma.m16n8k16, in the layout of append_fragment in blur.c. */
static void
append_halves(GArray *words, Tap tap, gconstpointer data, int first, int part)
{
  for (int i = 0; i < 32 * 4; i++) {
    guint32 word = 0;

    for (int j = 0; j < 2; j++)
      word |= (guint32)cnv_half_part(tap(data, i / 16 + i % 2 * 8, first + i / 4 % 4 * 2 + j + i % 4 / 2 * 8), part)
              << (16 * j);
    g_array_append_val(words, word);
  }
}

/* Position of 16 outputs relative to decimated samples. first: pixels or rows from a decimated sample to the first
 * output. before: columns of the fragment before the first sample that the outputs read. along_x: the outputs are in
 * blur's order along x. */
typedef struct {
  const CnvDecimatedPlaces *places;
  int first, before;
  gboolean along_x;
} Outputs;

static double
output_tap(gconstpointer data, int m, int k)
{
  const Outputs *o = data;
  int at = o->first + (o->along_x ? 4 * (m % 8 / 2) + m % 2 + m / 8 * 2 : m), step = o->places->step;
  int tap = k - o->before - at / step;

  return tap >= 0 && tap <= 2 * o->places->radius ? o->places->tap[at % step][tap] : 0;
}

static void
append_outputs(GArray *words, const Outputs *outputs, int bytes)
{
  for (int part = 0; part < bytes; part++)
    for (int k = 0; k < CNV_INTERPOLATE_WINDOW(bytes); k += 16)
      append_halves(words, output_tap, outputs, k, part);
}

/* Rounds the taps of each place, times a gain, to f16 numbers of the same sum. */
static void
round_places(CnvDecimatedPlaces *places, double gain, int parts)
{
  int n = 2 * places->radius + 1;

  for (int i = 0; i < places->step; i++) {
    double *value = g_memdup2(places->tap[i], (gsize)n * sizeof(double));
    g_auto(CnvTapList) taps = {NULL};

    for (int k = 0; k < n; k++)
      value[k] *= gain;
    cnv_tap_list_init(&taps, value, (guint)n);
    if (parts == 1)
      cnv_tap_list_round_to_half(&taps);
    memcpy(places->tap[i], value, (gsize)n * sizeof(double));
  }
}

/* Returns the number of taps of 0 that are added at either end along x so that windows begin at an even number. The
 * smallest step has no room for windows that begin at an odd number. */
static int
more_taps(const CnvDecimatedPlaces *places)
{
  return places->step == 2 && places->radius % 2;
}

static void
append_interpolate(GArray *words, const CnvDecimatedPlaces places[CNV_N_AXES], int bytes)
{
  int shift_x = (int)g_bit_storage((gulong)places[CNV_X].step) - 1;
  int shift_y = (int)g_bit_storage((gulong)places[CNV_Y].step) - 1;

  for (int i = 0; i < CNV_INTERPOLATE_PLACES_Y(shift_y); i++)
    append_outputs(words, &(Outputs){&places[CNV_Y], 16 * i, 0, FALSE}, bytes);
  for (int odd = 0; odd < 2; odd++)
    for (int i = 0; i < CNV_INTERPOLATE_PLACES_X(shift_x); i++) /* a window begins at an even number */
      append_outputs(
          words, &(Outputs){&places[CNV_X], 16 * i, odd + more_taps(&places[CNV_X]) - ((16 * i) >> shift_x & ~1), TRUE},
          bytes);
}

/* Appends decimate's taps along x. For samples of 8 bits they are operand A of mma.m16n8k32, of 32 pixels, and a lane
 * has eight neighbours; for 16 bits that of mma.m16n8k16, of 16 pixels, and a lane has four. */
static void
append_spline_x(GArray *words, int step, int bytes)
{
  int lead = CNV_DECIMATE_APRON - (step - 1), per_word = 4 / bytes;

  for (int k = 0; k < CNV_DECIMATE_STEPS_X(bytes, step); k++)
    for (int i = 0; i < 32 * 4; i++) {
      int m = i / 16 + i % 2 * 8, at = CNV_DECIMATE_UNIT(bytes) * k + (i / 4 % 4 * 2 + i % 4 / 2) * per_word;
      guint32 word = 0;

      for (int j = 0; j < per_word; j++) {
        int from = at + j - lead - step * m, tap = from < 0 ? 0 : cnv_decimated_spline(step, from);

        word |= (guint32)(bytes == 1 ? tap : cnv_to_half(tap)) << (j * 32 / per_word);
      }
      g_array_append_val(words, word);
    }
}

/* Appends decimate's taps along y: operand B of mma.m16n8k16, of 16 rows by eight samples. */
static void
append_spline_y(GArray *words, int step)
{
  for (int k = 0; k < CNV_DECIMATE_STEPS_Y(step); k++)
    for (int i = 0; i < 32 * 2; i++) {
      guint32 word = 0;

      for (int j = 0; j < 2; j++) {
        int from = 16 * k + i / 2 % 4 * 2 + j + i % 2 * 8 - step * (i / 8);
        double tap = from < 0 ? 0 : cnv_decimated_spline(step, from) / ((double)step * step * step);

        word |= (guint32)cnv_to_half(tap) << (16 * j);
      }
      g_array_append_val(words, word);
    }
}

static void
append_again(GArray *words, int times)
{
  for (int i = 0; i < 3 * times - 2; i++) {
    float tap = (float)(cnv_decimated_spline(times, i) / ((double)times * times * times));

    g_array_append_val(words, tap);
  }
}

/* Returns log2 of the step of decimate itself: 16 samples of a row read 256 bytes, or 512 if steps are small. */
static int
first_shift(int shift, int axis, int pixel_bytes)
{
  int most = 4;

  while (axis == CNV_X && (16 * pixel_bytes) << most > (most > 3 ? 256 : 512))
    most--;
  return MIN(shift, most);
}

/* Returns the row pitch of decimate's tile in bytes. The rows that eight or sixteen lanes read at once lie in different
 * banks. */
static int
tile_pitch(int bytes, int channels)
{
  static const int apart[CNV_MAX_CHANNELS + 1][2] = {{0, 0}, {64, 32}, {128, 64}, {64, 32}, {32, 16}};
  const int *a = apart[channels];

  return (bytes - a[1] + a[0] - 1) / a[0] * a[0] + a[1];
}

static double
sum_of(const CnvPlan *plan, const CnvTerm *term, int axis)
{
  double sum = 0;

  for (int i = 0; i < term->n[axis]; i++)
    sum += plan->taps[term->taps[axis] + (guint)i];
  return sum;
}

static void
set_job(CnvPlaneKernel *plane_kernel, GArray *words, const float *weight)
{
  const CnvPlane *plane = plane_kernel->plane;
  CnvTileJob *job = &plane_kernel->tile_job;
  CnvDecimation *d = &job->decimation;
  const int c = cnv_fit_first_channel(plane), bytes = plane->component[0].bytes, channels = plane->channels;
  g_autofree CnvDecimatedPlaces *places = g_new(CnvDecimatedPlaces, CNV_N_AXES);
  double gain = plane->gain[c];
  int step_x, used;

  if (!find_places(plane_kernel->plan, plane, places))
    return; /* not reached, because `fits` found them */
  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    int shift = (int)g_bit_storage((gulong)places[axis].step) - 1;

    gain *= sum_of(plane_kernel->plan, &plane->term[0], axis);
    d->from.shift[axis] = (guint8)shift;
    d->to.shift[axis] = (guint8)first_shift(shift, axis, bytes * channels);
    d->lead[axis] = (gint16)(-places[axis].radius - (axis == CNV_X ? more_taps(&places[axis]) : 0));
    d->n[axis] = (gint16)(1 - 2 * d->lead[axis]);
  }
  d->gain = (float)gain;
  job->clamps = !(fabs(gain) <= 1.000001) || gain < 0 || plane->fraction[c] + plane->base[c] != plane->mid[c];
  job->offset = (float)(1024.0 + plane->fraction[c] + plane->base[c]);
  for (int i = 0; i < 4; i++)
    job->first_level[i] = job->offset;
  job->center = 0;
  job->rows = CNV_INTERPOLATE_ROWS;

  step_x = 1 << d->to.shift[CNV_X];
  for (d->groups = 4; d->groups > 1 && 16 * d->groups * step_x * channels * bytes > 256; d->groups /= 2)
    ;
  used = step_x * 16 * (d->groups - 1) + CNV_DECIMATE_UNIT(bytes) * CNV_DECIMATE_STEPS_X(bytes, step_x);
  d->pitch = (gint16)tile_pitch(used * channels * bytes, channels);

  round_places(&places[CNV_X], 1, bytes);
  round_places(&places[CNV_Y], gain, bytes);
  append_interpolate(words, places, bytes);
  plane_kernel->decimate_words = words->len;
  append_spline_x(words, step_x, bytes);
  append_spline_y(words, 1 << d->to.shift[CNV_Y]);
  plane_kernel->again_words = words->len;
  for (int axis = 0; axis < CNV_N_AXES; axis++)
    append_again(words, 1 << (d->from.shift[axis] - d->to.shift[axis]));
  while (words->len % 4 != 0)
    g_array_append_val(words, bytes);
  (void)weight;
}

/* ---- jobs ---- */

static int
floor_shift(int value, int shift)
{
  return value >> shift; /* arithmetic shift, as gcc and clang implement it */
}

/* Finds the samples of a lattice that outputs first..last of an axis read. If borders repeat, it stops at the first
 * samples outside of the window that contain none of its pixels. All numbers are relative to the anchor. */
static void
reach_outputs(CnvLattice *lattice, int axis, const CnvDecimation *d, const int output[2], const int window[2],
              gboolean repeats)
{
  int shift = lattice->shift[axis], step = 1 << shift, low, high;

  lattice->first[axis] = floor_shift(output[0], shift) + d->lead[axis];
  lattice->last[axis] = floor_shift(output[1], shift) + d->lead[axis] + d->n[axis] - 1;
  if (!repeats)
    return;
  low = floor_shift(window[0] - 2 * step + 1, shift);
  high = floor_shift(window[1] + 1 + 2 * step - 2, shift);
  lattice->first[axis] = CLAMP(lattice->first[axis], low, high);
  lattice->last[axis] = CLAMP(lattice->last[axis], low, high);
}

/* Finds the samples of a finer lattice that a coarser one reads. */
static void
reach_samples(CnvLattice *lattice, const CnvLattice *coarse, int axis, const int window[2], gboolean repeats)
{
  int by = coarse->shift[axis] - lattice->shift[axis], times = 1 << by, step = 1 << lattice->shift[axis];

  lattice->first[axis] = coarse->first[axis] * times - times + 1;
  lattice->last[axis] = coarse->last[axis] * times + 2 * times - 2;
  if (!repeats || by == 0)
    return;
  lattice->first[axis] = MAX(lattice->first[axis], floor_shift(window[0] - 2 * step + 1, lattice->shift[axis]));
  lattice->last[axis] = MIN(lattice->last[axis], floor_shift(window[1] + 1 + 2 * step - 2, lattice->shift[axis]));
}

/* Assigns memory to a lattice of n planes, from number *at on. */
static void
place_lattice(CnvLattice *lattice, int planes, gsize *at)
{
  int width = lattice->last[CNV_X] - lattice->first[CNV_X] + 1;

  lattice->pitch = cnv_divide_up(CNV_DECIMATED_MARGIN + width + CNV_DECIMATED_BEYOND, 8) * 8;
  lattice->plane = lattice->pitch * (lattice->last[CNV_Y] - lattice->first[CNV_Y] + 1);
  lattice->at = (guint32)*at;
  *at += (gsize)lattice->plane * (gsize)planes;
}

static gboolean
has_again(const CnvDecimation *d)
{
  return d->from.shift[CNV_X] != d->to.shift[CNV_X] || d->from.shift[CNV_Y] != d->to.shift[CNV_Y];
}

/* Computes the lattices of a job and their places in memory. */
static void
set_lattices(CnvTileJob *job, gsize *at)
{
  const CnvJob *rect = &job->job;
  CnvDecimation *d = &job->decimation;
  gboolean repeats = cnv_border_repeats((CnvBorder)job->border);
  const int begin[CNV_N_AXES] = {rect->x - rect->x % 16, rect->y}, at_job[CNV_N_AXES] = {rect->x, rect->y};
  const int size[CNV_N_AXES] = {rect->width, rect->height};
  const int window_at[CNV_N_AXES] = {rect->window_x, rect->window_y};
  const int window_size[CNV_N_AXES] = {rect->window_width, rect->window_height};

  d->anchor = begin[CNV_X];
  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    const int output[2] = {at_job[axis] - begin[axis], at_job[axis] - begin[axis] + size[axis] - 1};
    const int window[2] = {window_at[axis] - begin[axis], window_at[axis] - begin[axis] + window_size[axis] - 1};

    reach_outputs(&d->from, axis, d, output, window, repeats);
    reach_samples(&d->to, &d->from, axis, window, repeats);
    if (axis == CNV_X) /* tiles begin at multiples of 16 bytes */
      d->to.first[axis] -= d->to.first[axis] & ((CNV_DECIMATE_APRON >> d->to.shift[axis]) - 1);
  }
  place_lattice(&d->to, job->channels, at);
  if (has_again(d))
    place_lattice(&d->from, job->channels, at);
  else
    d->from = d->to;
}

/* Cuts decimate's job into tiles. Returns the shared memory of a block. */
static guint
cut_decimate(CnvTileJob *job, int bytes)
{
  const CnvDecimation *d = &job->decimation;
  const CnvLattice *to = &d->to;
  int shift_y = to->shift[CNV_Y], step_x = 1 << to->shift[CNV_X], step_y = 1 << shift_y;
  int rows = cnv_decimate_rows(shift_y), width = 16 * d->groups, shares = CNV_TILE_WARPS / d->groups;
  int bands = CNV_DECIMATE_STEPS_X(bytes, step_x) * 512 + CNV_DECIMATE_STEPS_Y(step_y) * 256;
  int sums = shares * job->channels * CNV_DECIMATE_ROWS * (width + 4) * 4;

  job->columns = cnv_divide_up(to->last[CNV_X] - to->first[CNV_X] + 1, width);
  job->last_row = cnv_divide_up(to->last[CNV_Y] - to->first[CNV_Y] + 1, rows >> shift_y) - 1;
  job->rows = rows;
  job->box_rows = rows + 2 * step_y - 2;
  job->decimation.bands_begin = CNV_TILE_BYTES(d->pitch, cnv_divide_up(job->box_rows, 16) * 16);
  return (guint)MAX(d->bands_begin + bands, sums);
}

static guint
cut_interpolate(CnvTileJob *job, const CnvVariant *variant, int rows)
{
  const CnvJob *rect = &job->job;
  const CnvDecimation *d = &job->decimation;
  int bytes = variant->bytes, width = variant->width;
  int pitch = cnv_interpolate_pitch(job->channels, bytes, d->from.shift[CNV_X]);

  job->rows = rows;
  job->origin = d->anchor * job->channels;
  job->columns = cnv_divide_up((rect->x + rect->width) * job->channels - job->origin, width);
  job->last_row = cnv_divide_up(rect->height, rows) - 1;
  job->inner_x0 = rect->x * job->channels;
  job->inner_x1 = (rect->x + rect->width) * job->channels - width + 1;
  job->inner_y0 = rect->y;
  job->inner_y1 = rect->y + rect->height - rows + 1;
  if (rect->move_x != 0 || rect->move_y != 0 || rect->shared)
    job->inner_x1 = job->inner_x0;
  return (guint)(width * bytes * rows +
                 (CNV_INTERPOLATE_PLACES_X(d->from.shift[CNV_X]) + cnv_interpolate_places(d->from.shift[CNV_Y], rows)) *
                     CNV_INTERPOLATE_WINDOW(bytes) / 16 * bytes * 512 +
                 job->channels * bytes * cnv_interpolate_rows(d, rows) * pitch * 2);
}

/* How interpolate's jobs are cut. All jobs of a plane have the same rows, because they share a map for their results.
 */
typedef struct {
  int rows[CNV_MAX_PLANES];     /* of a tile, by plane of memory */
  guint shared[CNV_MAX_PLANES]; /* most shared memory of the plane's blocks */
  guint blocks;                 /* of all jobs */
  guint fitting;                /* blocks that fit a multiprocessor at once */
} Cut;

/* Shared memory of a block of interpolate that the launch does not request: what the kernel declares itself
 * (tests/unit/kernel_resources.py), and what the GPU reserves. */
#define EXTRA_SHARED (1024 + 1024)

/* Returns the blocks of interpolate that fit a multiprocessor, if each requests this much shared memory. */
static guint
count_fitting(const CnvSchedule *schedule, const CnvLaunch *launch, guint shared)
{
  return CLAMP(schedule->processor_shared / (shared + EXTRA_SHARED), 1,
               (guint)schedule->variant[launch->kernel]->blocks);
}

/* Fills in what follows from the rows. Returns the shared memory of a block. */
static guint
try_rows(const CnvSchedule *schedule, const CnvLaunch *launch, Cut *cut)
{
  guint most = 0;

  memset(cut->shared, 0, sizeof(cut->shared));
  cut->blocks = 0;
  for (guint i = launch->first; i < launch->first + launch->n; i++) {
    CnvTileJob job = g_array_index(schedule->tile_jobs, CnvTileJob, i);
    guint shared = cut_interpolate(&job, schedule->variant[launch->kernel], cut->rows[job.pointers]);

    cut->shared[job.pointers] = MAX(cut->shared[job.pointers], shared);
    cut->blocks += (guint)(job.columns * (job.last_row + 1));
    most = MAX(most, shared);
  }
  cut->fitting = count_fitting(schedule, launch, most);
  return most;
}

/* Returns how often the GPU is filled with blocks. */
static guint
count_waves(const CnvSchedule *schedule, const Cut *cut)
{
  guint fitting = schedule->n_processors * cut->fitting;

  return (cut->blocks + fitting - 1) / fitting;
}

/* Chooses the rows of interpolate's tiles. Fewer and larger blocks spend less time on their beginnings, if they keep
 * the GPU busy: 4K NV12, radius 64: 22.7 us with 128 rows, 25.3 with 64. But if a plane needs so much shared memory
 * that fewer blocks fit a multiprocessor, its tiles become lower, unless that takes another wave of blocks: radius 48,
 * where the step of chroma is 2: interpolate takes 14.2 us with 128 rows, 13.4 with 64 rows for chroma. */
static void
choose_output_rows(const CnvSchedule *schedule, const CnvLaunch *launch, Cut *cut)
{
  Cut lower = {.blocks = 0};

  for (int m = 0; m < CNV_MAX_PLANES; m++) {
    lower.rows[m] = CNV_INTERPOLATE_ROWS;
    cut->rows[m] = CNV_INTERPOLATE_MORE_ROWS;
  }
  if (try_rows(schedule, launch, cut) > CNV_SHARED_MAX || cut->blocks < 4 * schedule->n_processors) {
    *cut = lower;
    return;
  }
  for (;;) {
    lower = *cut;
    for (int m = 0; m < CNV_MAX_PLANES; m++)
      if (count_fitting(schedule, launch, cut->shared[m]) == cut->fitting)
        lower.rows[m] = CNV_INTERPOLATE_ROWS;
    try_rows(schedule, launch, &lower);
    if (lower.fitting <= cut->fitting || count_waves(schedule, &lower) > count_waves(schedule, cut))
      return;
    *cut = lower;
  }
}

void
cnv_decimated_cut(CnvSchedule *schedule, CnvLaunch *launch)
{
  const CnvVariant *variant = schedule->variant[launch->kernel];
  Cut cut = {.blocks = 0};

  if (launch->kernel == CNV_KERNEL_INTERPOLATE)
    choose_output_rows(schedule, launch, &cut);
  for (guint i = launch->first; i < launch->first + launch->n; i++) {
    CnvTileJob *job = &g_array_index(schedule->tile_jobs, CnvTileJob, i);
    const CnvDecimation *d = &job->decimation;
    guint shared = 0;

    if (launch->kernel == CNV_KERNEL_DECIMATE_AGAIN) {
      int lanes = CNV_DECIMATE_AGAIN_LANES(d->to.shift[CNV_Y] - d->from.shift[CNV_Y]);

      job->columns = cnv_divide_up(d->to.plane * job->channels * lanes, 32 * CNV_TILE_WARPS);
      job->last_row = 0;
    } else {
      shared = launch->kernel == CNV_KERNEL_DECIMATE ? cut_decimate(job, variant->bytes)
                                                     : cut_interpolate(job, variant, cut.rows[job->pointers]);
    }
    job->inner_inverse = job->columns > 3 ? (guint32)(G_MAXUINT32 / (guint)(job->columns - 2) + 1) : 0;
    launch->shared_bytes = MAX(launch->shared_bytes, shared);
  }
}

void
cnv_decimated_add(CnvSchedule *schedule, CnvKernelId kernel, const CnvPlaneKernel *plane_kernel, const CnvJob *from,
                  gsize *at)
{
  CnvTileJob job = plane_kernel->tile_job;

  job.job = *from;
  job.blends = from->coverage_pitch > 0;
  set_lattices(&job, at);
  schedule->decimated_size = MAX(schedule->decimated_size, *at * sizeof(guint16));
  if (kernel == CNV_KERNEL_DECIMATE)
    job.bands = plane_kernel->decimate_words;
  else if (kernel == CNV_KERNEL_DECIMATE_AGAIN) {
    CnvLattice read = job.decimation.to;

    if (!has_again(&plane_kernel->tile_job.decimation))
      return;
    job.bands = plane_kernel->again_words;
    job.decimation.to = job.decimation.from;
    job.decimation.from = read;
  }
  g_array_append_val(schedule->tile_jobs, job);
}

static int
box_rows(const CnvVariant *variant, const CnvNeeds *needs, int rows)
{
  return rows;
}

#define KIND(name, list, ...)                                                                                          \
  {                                                                                                                    \
    name, CNV_ALGORITHM_TENSOR, 32 * CNV_TILE_WARPS, 1, .capability = 80, .shared_max = CNV_SHARED_MAX,                \
                                                        .variants = list, .set_job = set_job, .box_rows = box_rows,    \
                                                        __VA_ARGS__                                                    \
  }
const CnvKernelKind cnv_kind_decimate = KIND("decimate", decimate, .lists_tiles = FALSE);
const CnvKernelKind cnv_kind_decimate_again = KIND("decimate_again", decimate_again, .lists_tiles = FALSE);
const CnvKernelKind cnv_kind_interpolate =
    KIND("interpolate", interpolate, .fits = fits, .cost = cost, .whole_windows = TRUE, .lists_tiles = TRUE,
         .first = CNV_KERNEL_DECIMATE, .method = "decimated");
