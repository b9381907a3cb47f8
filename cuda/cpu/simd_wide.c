/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The vector loops of wide taps (simd.h): running sums, transposing, decimation. Compiled once for each instruction
 * set, like simd.c.
 */
#include "cpu/simd.h"
#include "cpu/vector.h"

#define DECIMATION_VECTORS (VECTOR_BYTES == 64 ? 4 : 2) /* times CNV_CPU_SHARES: half of the registers */

G_STATIC_ASSERT(CNV_CPU_BAND % LANES == 0);
G_STATIC_ASSERT(CNV_CPU_DECIMATION_BLOCK % (LANES * DECIMATION_VECTORS) == 0);

/* ---- running sums: the sums of a vector stay in registers ---- */

/* Order of a vector's numbers in the state of a block: the sum of all samples, the samples that entered and left last,
 * and C and D (simd.h) of each cosine. */
enum { SUM, ENTERED, LEFT, C, D = C + CNV_CPU_COSINES, SUMS = D + CNV_CPU_COSINES };

G_STATIC_ASSERT(CNV_CPU_COSINES_STATE == SUMS * CNV_CPU_BAND);

static inline void
load_sums(Vector sums[SUMS], const float *state)
{
  for (int i = 0; i < SUMS; i++)
    sums[i] = load_vector(state + i * CNV_CPU_BAND);
}

static inline void
store_sums(float *state, const Vector sums[SUMS])
{
  for (int i = 0; i < SUMS; i++)
    store_vector(state + i * CNV_CPU_BAND, sums[i]);
}

/* Adds up groups of a few samples first, which keeps float32 exact over many samples. */
ALWAYS_INLINE void
start_vector(float *state, const float *from, gsize stride, const float *weight, int n_samples)
{
  Vector all[SUMS];

  load_sums(all, state);
  for (int at = 0; at < n_samples; at += CNV_CPU_BAND) {
    Vector part[SUMS] = {{0}};

    for (int i = at; i < MIN(at + CNV_CPU_BAND, n_samples); i++, from += stride, weight += 2 * CNV_CPU_COSINES) {
      all[ENTERED] = load_vector(from);
      part[SUM] += all[ENTERED];
      for (int k = 0; k < 2 * CNV_CPU_COSINES; k++)
        part[C + k] += weight[k] * all[ENTERED];
    }
    for (int i = 0; i < SUMS; i++)
      all[i] += part[i];
  }
  store_sums(state, all);
}

static void
start(float *state, const CpuSlide *slide, int first, const CpuCosines *cosines)
{
  const float *weight = cosines->start + (gsize)first * 2 * CNV_CPU_COSINES;

  for (int b = 0; b < slide->n_blocks; b++, state += CNV_CPU_COSINES_STATE)
    for (int lane = 0; lane < CNV_CPU_BAND; lane += LANES)
      start_vector(state + lane, slide->enter + b * CNV_CPU_BAND + lane, slide->stride, weight, slide->n);
}

ALWAYS_INLINE void
slide_vector(float *restrict state, const CpuSlide *slide, int block, int lane, const CpuCosines *cosines)
{
  float *restrict to = slide->to + block * slide->to_block + lane;
  const float *restrict enter = slide->enter + block * CNV_CPU_BAND + lane;
  const float *restrict leave = slide->leave + block * CNV_CPU_BAND + lane;
  gsize stride = slide->stride, to_stride = slide->to_stride;
  Vector s[SUMS];

  load_sums(s, state);
  for (int i = slide->n; i > 0; i--, to += to_stride, enter += stride, leave += stride) {
    Vector entering = load_vector(enter), leaving = load_vector(leave), acc = cosines->constant * s[SUM];
    Vector edge = (entering - s[ENTERED]) - (leaving - s[LEFT]), inside = s[ENTERED] + leaving;

    s[SUM] += entering - leaving;
    for (int k = 0; k < CNV_CPU_COSINES; k++) {
      Vector input = cosines->alpha[k] * edge + cosines->gamma[k] * inside;

      acc += s[C + k];
      s[D + k] = (s[D + k] + input) - cosines->kappa[k] * s[C + k];
      s[C + k] += s[D + k];
    }
    s[ENTERED] = entering;
    s[LEFT] = leaving;
    store_vector(to, acc);
  }
  store_sums(state, s);
}

static void
slide_all(float *state, const CpuSlide *slide, const CpuCosines *given)
{
  const CpuCosines cosines = *given; /* a copy, because the compiler must assume that results may overlap the
                                        original */

  for (int b = 0; b < slide->n_blocks; b++, state += CNV_CPU_COSINES_STATE)
    for (int lane = 0; lane < CNV_CPU_BAND; lane += LANES)
      slide_vector(state + lane, slide, b, lane, &cosines);
}

/* ---- rows and columns ---- */

typedef float Four __attribute__((vector_size(16)));
typedef float LooseFour __attribute__((vector_size(16), aligned(4), may_alias));

/* Picks numbers w, x, y and z of each group of four in vectors a and b. Numbers of b are LANES higher. */
#if LANES == 16
#define PICK(a, b, w, x, y, z)                                                                                         \
  __builtin_shufflevector(a, b, w, x, y, z, w + 4, x + 4, y + 4, z + 4, w + 8, x + 8, y + 8, z + 8, w + 12, x + 12,    \
                          y + 12, z + 12)
#elif LANES == 8
#define PICK(a, b, w, x, y, z) __builtin_shufflevector(a, b, w, x, y, z, w + 4, x + 4, y + 4, z + 4)
#else
#define PICK(a, b, w, x, y, z) __builtin_shufflevector(a, b, w, x, y, z)
#endif

/* Loads four numbers from each of LANES / 4 rows, four rows apart. */
static inline Vector
gather(const float *from, gsize stride)
{
  const LooseFour *at = (const LooseFour *)from;
#if LANES == 4
  return *at;
#else
  typedef float Eight __attribute__((vector_size(32)));
  const LooseFour *second = (const LooseFour *)(from + 4 * stride);
  Eight low = __builtin_shufflevector(*at, *second, 0, 1, 2, 3, 4, 5, 6, 7);
#if LANES == 8
  return low;
#else
  const LooseFour *third = (const LooseFour *)(from + 8 * stride), *fourth = (const LooseFour *)(from + 12 * stride);
  Eight high = __builtin_shufflevector(*third, *fourth, 0, 1, 2, 3, 4, 5, 6, 7);

  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#endif
#endif
}

/* Transposes four columns of LANES rows. */
static inline void
turn(float *to, gsize to_stride, const float *from, gsize from_stride)
{
  Vector r0 = gather(from, from_stride), r1 = gather(from + from_stride, from_stride);
  Vector r2 = gather(from + 2 * from_stride, from_stride), r3 = gather(from + 3 * from_stride, from_stride);
  Vector a = PICK(r0, r1, 0, LANES, 1, LANES + 1), b = PICK(r2, r3, 0, LANES, 1, LANES + 1);
  Vector c = PICK(r0, r1, 2, LANES + 2, 3, LANES + 3), d = PICK(r2, r3, 2, LANES + 2, 3, LANES + 3);

  store_vector(to, PICK(a, b, 0, 1, LANES, LANES + 1));
  store_vector(to + to_stride, PICK(a, b, 2, 3, LANES + 2, LANES + 3));
  store_vector(to + 2 * to_stride, PICK(c, d, 0, 1, LANES, LANES + 1));
  store_vector(to + 3 * to_stride, PICK(c, d, 2, 3, LANES + 2, LANES + 3));
}

static void
transpose(float *to, gsize to_stride, const float *from, gsize from_stride)
{
  for (int y = 0; y < CNV_CPU_BAND; y += LANES)
    for (int x = 0; x < CNV_CPU_BAND; x += 4)
      turn(to + x * to_stride + y, to_stride, from + y * from_stride + x, from_stride);
}

/* ---- decimation ---- */

static void
decimate(float *const *to, const float *from, gsize stride, int n, const CpuDecimation *decimation)
{
  for (int x = 0; x < n; x += DECIMATION_VECTORS * LANES) {
    Vector acc[CNV_CPU_SHARES][DECIMATION_VECTORS];

    for (int m = 0; m < CNV_CPU_SHARES; m++)
      for (int v = 0; v < DECIMATION_VECTORS; v++)
        acc[m][v] = m < CNV_CPU_SHARES - 1 ? load_vector(to[m] + x + v * LANES) : (Vector){0};
    for (int i = 0; i < decimation->step; i++)
      for (int v = 0; v < DECIMATION_VECTORS; v++) {
        Vector in = load_vector(from + i * stride + x + v * LANES);

        for (int m = 0; m < CNV_CPU_SHARES; m++)
          acc[m][v] += decimation->share[i][m] * in;
      }
    for (int m = 0; m < CNV_CPU_SHARES; m++)
      for (int v = 0; v < DECIMATION_VECTORS; v++)
        store_vector(to[m] + x + v * LANES, acc[m][v]);
  }
}

ALWAYS_INLINE void
split_by(float *restrict to, gsize stride, const float *restrict from, int n, const int step, const int channels)
{
  for (int i = 0; i < n; i++)
    for (int place = 0; place < step; place++)
      for (int c = 0; c < channels; c++)
        to[place * stride + i * channels + c] = from[(i * step + place) * channels + c];
}

ALWAYS_INLINE void
join_by(float *restrict to, const float *restrict from, gsize stride, int n, const int step, const int channels)
{
  for (int i = 0; i < n; i++)
    for (int place = 0; place < step; place++)
      for (int c = 0; c < channels; c++)
        to[(i * step + place) * channels + c] = from[place * stride + i * channels + c];
}

static void
split(float *to, gsize stride, const float *from, int n, int step, int channels)
{
  if (channels == 1 && step == 2)
    split_by(to, stride, from, n, 2, 1);
  else if (channels == 1 && step == 4)
    split_by(to, stride, from, n, 4, 1);
  else if (channels == 1)
    split_by(to, stride, from, n, step, 1);
  else if (channels == 2)
    split_by(to, stride, from, n, step, 2);
  else if (channels == 3)
    split_by(to, stride, from, n, step, 3);
  else
    split_by(to, stride, from, n, step, 4);
}

static void
join(float *to, const float *from, gsize stride, int n, int step, int channels)
{
  if (channels == 1 && step == 2)
    join_by(to, from, stride, n, 2, 1);
  else if (channels == 1 && step == 4)
    join_by(to, from, stride, n, 4, 1);
  else if (channels == 1)
    join_by(to, from, stride, n, step, 1);
  else if (channels == 2)
    join_by(to, from, stride, n, step, 2);
  else if (channels == 3)
    join_by(to, from, stride, n, step, 3);
  else
    join_by(to, from, stride, n, step, 4);
}

const CpuSimdWide G_PASTE(cnv_cpu_wide_, CNV_SIMD) = {
    .start = start,
    .slide = slide_all,
    .transpose = transpose,
    .decimate = decimate,
    .split = split,
    .join = join,
};
