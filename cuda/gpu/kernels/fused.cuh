/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * fused: both passes of separable taps of one term in one launch, in float32. A block makes a tile of so many samples
 * by s.rows rows, 16 rows at a time:
 *
 *   columns   a thread loads four neighbouring samples of all rows that its 16 need, and adds them up in registers,
 * each sample as it comes to all outputs that take it rows      sums of columns pass through shared memory; a thread
 * makes 8 neighbouring outputs of each other row
 *
 * Loads of the next 16 rows are on their way during the row pass. Borders are resolved in what is loaded, by the warps
 * that meet one; the others test nothing.
 *
 * cnv_fused_u8_R takes what reaches at most R pixels and rows to either side of the output (cnv_fused_reach), with taps
 * of 0 where it reaches less; cnv_fused_u8_any up to CNV_FUSED_MAX_TAPS taps an axis, wherever the anchor is. Tiles are
 * blocks: n_tiles blocks a job, CNV_FUSED_WIDTH or CNV_FUSED_ANY_WIDTH samples wide, a multiple of CNV_FUSED_ROWS
 * rows high.
 */
#pragma once

#include "gpu/kernels/tile_job.cuh"

/* Rows of sums that lie in shared memory at once. Chips with little of it take a step in two halves. */
#if __CUDA_ARCH__ == 800 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200)
#define FUSED_SHARED_ROWS 16
#else
#define FUSED_SHARED_ROWS 8
#endif
#define FUSED_OUTPUTS 8                      /* of a thread in the row pass */
#define FUSED_PITCH (CNV_FUSED_LOADED + 4)   /* an odd number of float4: see fused_coord */
#define FUSED_TAPS (CNV_FUSED_MAX_TAPS + 15) /* along x, with zeros; a multiple of 8 */
#define FUSED_BEFORE (CNV_FUSED_ROWS - 1)    /* zeros before the taps along y */
#define FUSED_TAPS_Y (FUSED_BEFORE + CNV_FUSED_MAX_TAPS + 32)

/* A thread's four samples from x on. */
template <typename T> struct Edge {
  int x;
  bool inner; /* all samples of the warp lie inside of the window; the members below are for other ones, and for rows
                 outside of it */
  enum Kind { WORD, GATHER, NOTHING } kind;
  int column[4];
  typename Word<T>::type missing, present; /* values of missing samples; ones for samples inside of the window */
};

/* Samples and sums are taken times 2^-64, and levels times 2^-149: so the bits of a level, as a float32, are the
 * integer itself (a negative one's are that of a negative integer), rounded once, ties to even, by the multiplication
 * that makes it. Samples of 16 bits count as they lie in memory, and so are 2^shift times as large. */
#define FUSED_INTEGERS 0x2b000000u /* as INTEGERS: + i is (2^23 + i) * 2^-64 */
#define FUSED_UNIT (1.0f / 4294967296.0f / 4294967296.0f)
#define FUSED_LEVEL (1.0f / 2097152.0f / 4294967296.0f / 4294967296.0f) /* 2^-85: sums to levels */

/* Numbers that turn sums into levels: base + gain * sum. */
struct FusedEpilogue {
  float start; /* fraction in the units of sums, which begin there */
  float gain, base, mid_bias;
  int full, shift;
  bool absolute, simple; /* simple: nothing but that, and all channels are filtered */
  bool renormalize;
};

/* Samples to values. */
struct FusedSamples {
  float offset;
  uint32_t mask; /* of two samples of 16 bits */
};

/* A thread's outputs: eight from sample x on. Lanes 4 to 7 of eight take the row below, whose float4 lie in
 * the banks between. */
struct FusedCoord {
  int x, unit;        /* number of the eight in the tile's width */
  bool here, at_once; /* any is the job's; all are, and are stored at once */
};

/* A block's shared memory. */
template <typename T> struct Fused {
  TileParams params;
  int y_end; /* of the tile */
  FusedEpilogue epilogue;
  FusedSamples samples;
  typename Word<T>::type mask; /* of store_word */
  FusedCoord coord[CNV_FUSED_THREADS];
  Edge<T> edge[CNV_FUSED_THREADS];
  float factor[FUSED_OUTPUTS][CNV_FUSED_THREADS]; /* renormalize: of columns */
  float4 taps_x[FUSED_TAPS / 4];
  float4 taps_y[FUSED_TAPS_Y / 4];
  float4 sums[FUSED_SHARED_ROWS][FUSED_PITCH / 4];
};

__device__ static FusedCoord
fused_coord(const TileParams &params, int tile_x, int width, int bytes)
{
  const CnvTileJob &s = params.s;
  const int lane = threadIdx.x % 32, unit = threadIdx.x / 32 * 16 + (lane & 3) + (lane >> 3) * 4;
  const int x = tile_x + FUSED_OUTPUTS * unit, x0 = s.job.x * s.channels, x1 = x0 + s.job.width * s.channels;
  const uint64_t addresses = params.out | params.out_stride | (s.copied ? params.back | params.in_stride : 0);
  const bool here = unit < width / FUSED_OUTPUTS && x < x1 && x + FUSED_OUTPUTS > x0;

  return {x, unit, here, here && x >= x0 && x + FUSED_OUTPUTS <= x1 && (addresses & (FUSED_OUTPUTS * bytes - 1)) == 0};
}

__device__ static FusedEpilogue
fused_epilogue(const CnvTileJob &s)
{
  const float unit = (float)(1 << s.shift) * FUSED_UNIT, gain = s.gain / (float)(1 << s.shift);
  const int base = s.base + (gain != 0.0f ? 0 : __float2int_rn(s.fraction));
  FusedEpilogue f;

  f.absolute = s.combine == CNV_COMBINE_ABSOLUTE;
  f.renormalize = cnv_border_renormalizes((CnvBorder)s.border);
  f.simple = !f.absolute && !f.renormalize && !s.copied;
  f.start = gain != 0.0f ? s.fraction / gain * FUSED_UNIT : 0.0f;
  f.gain = gain * FUSED_LEVEL;
  f.base = base < 0 ? -__int_as_float(-base) : __int_as_float(base);
  f.mid_bias = s.mid_bias * unit;
  f.full = s.full_bits;
  f.shift = s.shift;
  return f;
}

__device__ static FusedSamples
fused_samples(const CnvTileJob &s)
{
  return {(INTEGERS + s.mid * (float)(1 << s.shift)) * FUSED_UNIT, ((uint32_t)s.full_bits << s.shift) * 0x10001u};
}

__device__ static float
fused_value(uint32_t word, uint32_t selector, float offset)
{
  return __uint_as_float(__byte_perm(word, FUSED_INTEGERS, selector)) - offset;
}

__device__ static void
fused_unpack(float (&v)[4], uint32_t word, const FusedSamples &samples)
{
#pragma unroll
  for (int i = 0; i < 4; i++)
    v[i] = fused_value(word, 0x7440 + i, samples.offset);
}

__device__ static void
fused_unpack(float (&v)[4], uint2 word, const FusedSamples &samples)
{
  v[0] = fused_value(word.x & samples.mask, 0x7410, samples.offset);
  v[1] = fused_value(word.x & samples.mask, 0x7432, samples.offset);
  v[2] = fused_value(word.y & samples.mask, 0x7410, samples.offset);
  v[3] = fused_value(word.y & samples.mask, 0x7432, samples.offset);
}

/* Keeps the compiler to the order in which things are written. Else it makes values of all samples before it adds the
 * first up, which takes four times the registers. */
__device__ static void
hold(uint32_t &word)
{
  asm volatile("" : "+r"(word));
}

__device__ static void
hold(uint2 &word)
{
  hold(word.x);
  hold(word.y);
}

__device__ static void
hold(float (&sum)[4])
{
  asm volatile("" : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]));
}

/* Finds the input of a thread's four samples from x on. end: the first sample that no output takes. */
template <typename T>
__device__ static void
set_edge(Edge<T> &edge, const TileParams &params, int x, int end)
{
  const CnvTileJob &s = params.s;

  edge.missing = {};
  edge.kind = Edge<T>::NOTHING;
  if (x >= end)
    return;
  edge.missing = missing_word<T>(params, x);
  edge.present = {};
  edge.kind = params.words && x >= params.window_x0 && x + 4 <= params.window_x1 ? Edge<T>::WORD : Edge<T>::GATHER;
#pragma unroll 1
  for (int i = 0; i < 4 && edge.kind == Edge<T>::GATHER; i++) {
    const int at = sample_of(s, x + i);

    edge.column[i] = at < 0 ? params.window_x0 : at;
    if (at >= 0)
      set_sample(edge.present, i, sizeof(T) == 1 ? 0xff : 0xffff);
  }
}

/* The thread's four samples of a row of the field; row -1: there is none. */
template <typename T>
__device__ static typename Word<T>::type
edge_word(const Edge<T> &edge, const TileParams &params, int row, int64_t delta)
{
  const T *from = (const T *)(params.in + delta + (int64_t)row * params.in_stride);
  typename Word<T>::type word = {};

  if (row < 0 || edge.kind == Edge<T>::NOTHING)
    return edge.missing;
  if (edge.kind == Edge<T>::WORD)
    return __ldg((const typename Word<T>::type *)(from + edge.x));
#pragma unroll
  for (int i = 0; i < 4; i++)
    set_sample(word, i, load_sample(from + edge.column[i]));
  return merge(word, edge.missing, edge.present);
}

/* Loads the thread's four samples of N rows from y on. */
template <typename T, int N>
__device__ static void
load_rows(typename Word<T>::type (&raw)[N], const Fused<T> &f, int y, int64_t delta)
{
  typedef typename Word<T>::type W;
  const CnvTileJob &s = f.params.s;
  const Edge<T> &edge = f.edge[threadIdx.x];
  const int x = edge.x;

  if (edge.inner && inside(y - s.job.window_y, N, s.job.window_height)) {
    const int stride = f.params.in_stride;
    const char *from = (const char *)(f.params.in + delta + (int64_t)y * stride) + x * (int)sizeof(T);

#pragma unroll
    for (int i = 0; i < N; i++)
      raw[i] = __ldg((const W *)(from + (int64_t)i * stride));
    return;
  }
  /* By parts, so that there is less code and fewer registers are in use. */
  constexpr int part = N % 2 ? N / 3 : N % 4 == 0 && N > 8 ? N / 4 : N / 2;

  static_assert(N % part == 0, "parts are equal");
  const int row = row_of(s, y + min((int)threadIdx.x % 32, N - 1));
#pragma unroll
  for (int i = 0; i < N; i++)
    raw[i] = {};
#pragma unroll 1
  for (int first = 0; first < N; first += part) {
#pragma unroll
    for (int i = 0; i < N - part; i++)
      raw[i] = raw[i + part];
#pragma unroll
    for (int i = 0; i < part; i++)
      raw[N - part + i] = edge_word<T>(edge, f.params, __shfl_sync(0xffffffffu, row, first + i), delta);
  }
}

__device__ static int
fused_level(float sum, const FusedEpilogue &f)
{
  return __float_as_int(fmaf(sum, f.gain, f.base));
}

/* Four sums to samples that stand side by side. */
#if __CUDA_ARCH__ >= 720

__device__ static void
pack_four(uint32_t &word, const float *sum, const FusedEpilogue &f)
{
  word = pack_levels(fused_level(sum[0], f), fused_level(sum[1], f),
                     pack_levels(fused_level(sum[2], f), fused_level(sum[3], f), 0));
}

__device__ static uint32_t
pack_two(const float *sum, const FusedEpilogue &f)
{
  uint32_t out;

  asm("cvt.pack.sat.u16.s32 %0, %1, %2;" : "=r"(out) : "r"(fused_level(sum[1], f)), "r"(fused_level(sum[0], f)));
  return __vminu2(out, f.full * 0x10001u) << f.shift;
}

#else

__device__ static uint32_t
clamped_level(float sum, const FusedEpilogue &f)
{
  return (uint32_t)min(max(fused_level(sum, f), 0), f.full);
}

__device__ static void
pack_four(uint32_t &word, const float *sum, const FusedEpilogue &f)
{
  word = __byte_perm(__byte_perm(clamped_level(sum[0], f), clamped_level(sum[1], f), 0x0040),
                     __byte_perm(clamped_level(sum[2], f), clamped_level(sum[3], f), 0x0040), 0x5410);
}

__device__ static uint32_t
pack_two(const float *sum, const FusedEpilogue &f)
{
  return __byte_perm(clamped_level(sum[0], f), clamped_level(sum[1], f), 0x5410) << f.shift;
}

#endif

__device__ static void
pack_four(uint2 &word, const float *sum, const FusedEpilogue &f)
{
  word = make_uint2(pack_two(sum, f), pack_two(sum + 2, f));
}

/* Eight samples at once. */
__device__ static void
put_eight(uint64_t to, uint32_t low, uint32_t high)
{
  *(uint2 *)to = make_uint2(low, high);
}

__device__ static void
put_eight(uint64_t to, uint2 low, uint2 high)
{
  *(uint4 *)to = make_uint4(low.x, low.y, high.x, high.y);
}

__device__ static void
get_eight(uint64_t from, uint32_t &low, uint32_t &high)
{
  const uint2 both = __ldg((const uint2 *)from);

  low = both.x;
  high = both.y;
}

__device__ static void
get_eight(uint64_t from, uint2 &low, uint2 &high)
{
  const uint4 both = __ldg((const uint4 *)from);

  low = make_uint2(both.x, both.y);
  high = make_uint2(both.z, both.w);
}

/* Stores the sums of 8 samples of row y as levels, for all cases. */
template <typename T>
__device__ static void
epilogue_eight(float (&acc)[FUSED_OUTPUTS], const Fused<T> &f, const FusedEpilogue &epilogue, const FusedCoord &at,
               int y)
{
  typedef typename Word<T>::type W;
  const TileParams &params = f.params;
  const CnvTileJob &s = params.s;
  W low, high;

  if (epilogue.renormalize) {
    const float factor = axis_factor(s.term.taps[CNV_Y], s.term.n[CNV_Y], s.term.sum[CNV_Y], s.term.epsilon[CNV_Y],
                                     y - s.job.window_y - s.term.anchor[CNV_Y], s.job.window_height);

#pragma unroll
    for (int i = 0; i < FUSED_OUTPUTS; i++)
      acc[i] *= factor * f.factor[i][threadIdx.x];
  }
  if (epilogue.renormalize || epilogue.absolute)
#pragma unroll
    for (int i = 0; i < FUSED_OUTPUTS; i++)
      acc[i] = (epilogue.absolute ? fabsf(acc[i] + epilogue.mid_bias) : acc[i]) + epilogue.start;
  pack_four(low, acc, epilogue);
  pack_four(high, acc + 4, epilogue);
  if (!at.at_once) {
#pragma unroll 1
    for (int i = 0; i < 2; i++)
      store_word<T>(params, at.x + 4 * i, y, i ? high : low, f.mask);
    return;
  }
  if (s.copied) {
    W back_low, back_high;

    get_eight(params.back + (int64_t)y * params.in_stride + (int64_t)at.x * sizeof(T), back_low, back_high);
    low = merge(low, back_low, f.mask);
    high = merge(high, back_high, f.mask);
  }
  put_eight(params.out + (int64_t)y * params.out_stride + (int64_t)at.x * sizeof(T), low, high);
}

/* N taps of rows, C samples apart, for 8 neighbouring outputs. The first output's first tap takes value number SKIP
 * from `from` on. Values are used as they come, so that few are kept. */
template <int N, int C, int SKIP>
__device__ static void
add_row(float (&acc)[FUSED_OUTPUTS], const float4 *from, const float (&taps)[N])
{
#pragma unroll
  for (int w = 0; w < (SKIP + FUSED_OUTPUTS + (N - 1) * C + 3) / 4; w++) {
    const float4 four = from[w];
    const float v[4] = {four.x, four.y, four.z, four.w};

#pragma unroll
    for (int q = 0; q < 4; q++)
#pragma unroll
      for (int i = 0; i < FUSED_OUTPUTS; i++) {
        const int away = 4 * w + q - SKIP - i, k = away / C;

        if (away >= 0 && away % C == 0 && k < N)
          acc[i] = fmaf(v[q], taps[k], acc[i]);
      }
  }
}

/* N taps from shared memory. */
template <int N>
__device__ static void
get_taps(float (&taps)[N], const float4 *from)
{
#pragma unroll
  for (int i = 0; i < (N + 3) / 4; i++) {
    const float4 four = from[i];

    taps[4 * i] = four.x;
    if (4 * i + 1 < N)
      taps[4 * i + 1] = four.y;
    if (4 * i + 2 < N)
      taps[4 * i + 2] = four.z;
    if (4 * i + 3 < N)
      taps[4 * i + 3] = four.w;
  }
}

/* Makes outputs of the rows in shared memory, the first of which is row y; rows from y_end on are not made. Taps that
 * reach R to either side, or as many as there are (R 0). */
template <typename T, int R, int C>
__device__ static void
row_pass(const Fused<T> &f, int y, int y_end)
{
  constexpr int apron = (R * C + 3) / 4 * 4, n = R ? 2 * R + 1 : 8;
  const FusedCoord at = f.coord[threadIdx.x];
  const int parity = threadIdx.x >> 2 & 1, rows = min(y_end - y, FUSED_SHARED_ROWS), stride = 2 * f.params.out_stride;
  const int n_any = CNV_FUSED_ANY_TAPS(f.params.s.term.n[CNV_X], f.params.s.term.anchor[CNV_X]);
  const FusedEpilogue epilogue = f.epilogue; /* in registers, as what follows */
  const float4 *from = &f.sums[parity][FUSED_OUTPUTS / 4 * at.unit];
  const float start = epilogue.absolute || epilogue.renormalize ? 0.0f : epilogue.start;
  const bool simple = epilogue.simple && at.at_once;
  uint64_t to = f.params.out + (int64_t)(y + parity) * f.params.out_stride + (int64_t)at.x * sizeof(T);
  float taps[n];

  if (!at.here)
    return;
  if (R)
    get_taps(taps, f.taps_x);
#pragma unroll 1
  for (int row = parity; row < rows; row += 2) {
    float acc[FUSED_OUTPUTS];

#pragma unroll
    for (int i = 0; i < FUSED_OUTPUTS; i++)
      acc[i] = start;
    if (R) {
      add_row<n, C, apron - R * C>(acc, from, taps);
    } else {
#pragma unroll 1
      for (int k = 0; k < n_any; k += n) {
        get_taps(taps, f.taps_x + k / 4);
        add_row<n, C, 0>(acc, from + k * C / 4, taps);
      }
    }
    if (simple) {
      typename Word<T>::type low, high;

      pack_four(low, acc, epilogue);
      pack_four(high, acc + 4, epilogue);
      put_eight(to, low, high);
    } else {
      epilogue_eight<T>(acc, f, epilogue, at, y + row);
    }
    from += 2 * (FUSED_PITCH / 4);
    to += stride;
  }
}

template <typename T, int R>
__device__ static void
row_pass_of(const Fused<T> &f, int y, int y_end)
{
  switch (f.params.s.channels) {
  case 1:
    return row_pass<T, R, 1>(f, y, y_end);
  case 2:
    return row_pass<T, R, 2>(f, y, y_end);
  case 3:
    return row_pass<T, R, 3>(f, y, y_end);
  default:
    return row_pass<T, R, 4>(f, y, y_end);
  }
}

/* Hands sums of columns over to the row pass, which for the last of them is still to come. */
template <typename T, int R>
__device__ static void
hand_over(Fused<T> &f, const float (&acc)[CNV_FUSED_ROWS][4], int y, int y_end)
{
#pragma unroll
  for (int half = 0; half < CNV_FUSED_ROWS; half += FUSED_SHARED_ROWS) {
    __syncthreads();
#pragma unroll
    for (int j = 0; j < FUSED_SHARED_ROWS; j++)
      f.sums[j][threadIdx.x] = make_float4(acc[half + j][0], acc[half + j][1], acc[half + j][2], acc[half + j][3]);
    __syncthreads();
    if (half + FUSED_SHARED_ROWS < CNV_FUSED_ROWS)
      row_pass_of<T, R>(f, y + half, y_end);
  }
}

/* Puts taps into shared memory, tap 0 of each axis behind so many zeros. */
template <typename T>
__device__ static void
set_taps(Fused<T> &f, int zeros_x, int zeros_y)
{
  const CnvTileJob &s = f.params.s;

  for (int i = threadIdx.x; i < FUSED_TAPS_Y; i += CNV_FUSED_THREADS) {
    const int x = i - zeros_x, y = i - zeros_y;

    if (i < FUSED_TAPS)
      ((float *)f.taps_x)[i] = x >= 0 && x < s.term.n[CNV_X] ? cnv_taps[s.term.taps[CNV_X] + x] : 0.0f;
    ((float *)f.taps_y)[i] = y >= 0 && y < s.term.n[CNV_Y] ? cnv_taps[s.term.taps[CNV_Y] + y] : 0.0f;
  }
}

/* The block's tile; params are those of load_tile_job. */
__device__ static Tile
block_tile(const CnvTileJob &s, int width)
{
  const int number = blockIdx.x - s.first_block, row = tile_row(s, number), y = s.job.y + row * s.rows;

  return {s.origin + (number - row * s.columns) * width, y, min(y + s.rows, s.job.y + s.job.height),
          number < s.n_tiles};
}

template <typename T>
__device__ static void
set_factors(Fused<T> &f, int x)
{
  const CnvTileJob &s = f.params.s;

#pragma unroll 1
  for (int i = 0; i < FUSED_OUTPUTS; i++)
    f.factor[i][threadIdx.x] =
        axis_factor(s.term.taps[CNV_X], s.term.n[CNV_X], s.term.sum[CNV_X], s.term.epsilon[CNV_X],
                    (x + i) / s.channels - s.job.window_x - s.term.anchor[CNV_X], s.job.window_width);
}

/* Fills in the block's shared memory. before: samples that are loaded before the tile's first; behind: those behind its
 * last that outputs take; above, below: rows. */
template <typename T>
__device__ static void
prepare(Fused<T> &f, const Tile &tile, int width, int before, int behind, int above, int below)
{
  const TileParams &params = f.params;
  const CnvRectJob &p = params.s.job;
  const int x = tile.x - before + 4 * threadIdx.x, first = x - threadIdx.x % 32 * 4;
  const int rows = (tile.y_end - tile.y + CNV_FUSED_ROWS - 1) / CNV_FUSED_ROWS * CNV_FUSED_ROWS;
  const bool inner = params.words && first >= params.window_x0 && first + 128 <= params.window_x1;
  Edge<T> &edge = f.edge[threadIdx.x];

  edge.x = x;
  edge.inner = inner;
  if (!inner || !inside(tile.y - above - p.window_y, above + rows + below, p.window_height))
    set_edge(edge, params, x, (p.x + p.width) * params.s.channels + behind);
  const FusedCoord at = fused_coord(params, tile.x, width, sizeof(T));

  f.coord[threadIdx.x] = at;
  if (cnv_border_renormalizes((CnvBorder)params.s.border))
    set_factors(f, at.x);
  if (threadIdx.x == 0) {
    f.y_end = tile.y_end;
    f.samples = fused_samples(params.s);
    f.epilogue = fused_epilogue(params.s);
    f.mask = filtered_mask<T>(params.s);
  }
  __syncthreads();
}

/* Adds rows of samples, number FIRST and on, to the sums of columns that take them: row i to sum j with tap i - j. */
template <int FIRST, int N, int R, typename W>
__device__ static void
add_columns(float (&acc)[CNV_FUSED_ROWS][4], const W (&raw)[N], const float (&taps)[2 * R + 1],
            const FusedSamples &samples)
{
#pragma unroll
  for (int i = FIRST; i < FIRST + N; i++) {
    float v[4];

    W word = raw[i - FIRST];

    hold(word);
    fused_unpack(v, word, samples);
#pragma unroll
    for (int j = 0; j < CNV_FUSED_ROWS; j++) {
      if (i - j < 0 || i - j > 2 * R)
        continue;
#pragma unroll
      for (int q = 0; q < 4; q++)
        acc[j][q] = fmaf(v[q], taps[i - j], acc[j][q]);
    }
    if (i >= 2 * R)
      hold(acc[i - 2 * R]);
  }
}

/* The same of N rows of a frame, the first of which is row y, with its weight. */
template <typename T, int FIRST, int N, int R>
__device__ static void
add_part(float (&acc)[CNV_FUSED_ROWS][4], const Fused<T> &f, int y, int64_t delta, float weight)
{
  typename Word<T>::type raw[N];
  float taps[2 * R + 1];

  load_rows<T>(raw, f, y, delta);
  get_taps(taps, f.taps_y);
#pragma unroll
  for (int k = 0; k < 2 * R + 1; k++)
    taps[k] *= weight;
  add_columns<FIRST, N, R>(acc, raw, taps, f.samples);
}

/* And of all rows of several frames. */
template <typename T, int R>
__device__ static void
add_sources(float (&acc)[CNV_FUSED_ROWS][4], const Fused<T> &f, const CnvSources &sources, int y)
{
  constexpr int half = CNV_FUSED_ROWS / 2 + R;

#pragma unroll 1
  for (int i = 0; i < sources.n; i++) {
    add_part<T, 0, half, R>(acc, f, y - R, sources.delta[i], sources.weight[i]);
    add_part<T, half, half, R>(acc, f, y - R + half, sources.delta[i], sources.weight[i]);
  }
}

/* A tile by taps that reach R to either side. Each turn first loads what the next takes, then makes the outputs of the
 * turn before. */
template <typename T, int R, bool TIME>
__device__ static void
fused_tile(Fused<T> &f, const CnvTileArgs &l, int width)
{
  typedef typename Word<T>::type W;
  const CnvTileJob &s = f.params.s;
  const Tile tile = block_tile(s, width);
  const int C = s.channels;

  if (!tile.groups)
    return;
  set_taps(f, R - s.term.anchor[CNV_X], R - s.term.anchor[CNV_Y]);
  prepare(f, tile, width, (R * C + 3) / 4 * 4, R * C, R, R);
  for (int y = tile.y;; y += CNV_FUSED_ROWS) {
    W raw[CNV_FUSED_ROWS + 2 * R];

    if (y < f.y_end && !TIME)
      load_rows<T>(raw, f, y - R, 0);
    if (y > tile.y)
      row_pass_of<T, R>(f, y - FUSED_SHARED_ROWS, f.y_end);
    if (y >= f.y_end)
      return;
    float acc[CNV_FUSED_ROWS][4] = {};

    if (TIME) {
      add_sources<T, R>(acc, f, l.sources, y);
    } else {
      float taps[2 * R + 1];

      get_taps(taps, f.taps_y);
      add_columns<0, CNV_FUSED_ROWS + 2 * R, R>(acc, raw, taps, f.samples);
    }
    hand_over<T, R>(f, acc, y, f.y_end);
  }
}

/* Adds rows of samples number 8 * group and on: row i to sum j with tap i - j, of taps that begin 15 before that. */
template <typename W>
__device__ static void
add_eight_rows(float (&acc)[CNV_FUSED_ROWS][4], const W (&raw)[8], const float (&taps)[FUSED_BEFORE + 8],
               const FusedSamples &samples)
{
#pragma unroll
  for (int i = 0; i < 8; i++) {
    float v[4];

    fused_unpack(v, raw[i], samples);
#pragma unroll
    for (int j = 0; j < CNV_FUSED_ROWS; j++)
#pragma unroll
      for (int q = 0; q < 4; q++)
        acc[j][q] = fmaf(v[q], taps[FUSED_BEFORE + i - j], acc[j][q]);
  }
}

/* A tile by any number of taps: as fused_tile, with eight rows loaded at a time. */
template <typename T>
__device__ static void
fused_any_tile(Fused<T> &f, const CnvTileArgs &l)
{
  typedef typename Word<T>::type W;
  const CnvTileJob &s = f.params.s;
  const int C = s.channels, zeros = CNV_FUSED_ANY_ZEROS(s.term.anchor[CNV_X]), n_sources = max(l.sources.n, 1);
  const Tile tile = block_tile(s, CNV_FUSED_ANY_WIDTH(s.term.n[CNV_X], s.term.anchor[CNV_X], C));
  const int groups = (s.term.n[CNV_Y] + CNV_FUSED_ROWS - 1 + 7) / 8;

  if (!tile.groups)
    return;
  set_taps(f, zeros, FUSED_BEFORE);
  prepare(f, tile, CNV_FUSED_ANY_WIDTH(s.term.n[CNV_X], s.term.anchor[CNV_X], C), (s.term.anchor[CNV_X] + zeros) * C,
          (s.term.n[CNV_X] - 1 - s.term.anchor[CNV_X]) * C, s.term.anchor[CNV_Y],
          8 * groups - CNV_FUSED_ROWS - s.term.anchor[CNV_Y]);
  for (int y = tile.y;; y += CNV_FUSED_ROWS) {
    W raw[8];

    if (y < f.y_end)
      load_rows<T>(raw, f, y - s.term.anchor[CNV_Y], l.sources.n ? l.sources.delta[0] : 0);
    if (y > tile.y)
      row_pass_of<T, 0>(f, y - FUSED_SHARED_ROWS, f.y_end);
    if (y >= f.y_end)
      return;
    float acc[CNV_FUSED_ROWS][4] = {};

#pragma unroll 1
    for (int source = 0, group = 0; source < n_sources;) {
      const int source_now = source, group_now = group;
      float taps[FUSED_BEFORE + 8];
      W next[8] = {};

      if (++group == groups) {
        group = 0;
        source++;
      }
      if (source < n_sources)
        load_rows<T>(next, f, y - s.term.anchor[CNV_Y] + 8 * group, l.sources.n ? l.sources.delta[source] : 0);
      get_taps(taps, f.taps_y + 2 * group_now);
      if (l.sources.n)
#pragma unroll
        for (int k = 0; k < FUSED_BEFORE + 8; k++)
          taps[k] *= l.sources.weight[source_now];
      add_eight_rows(acc, raw, taps, f.samples);
#pragma unroll
      for (int i = 0; i < 8; i++)
        raw[i] = next[i];
    }
    hand_over<T, 0>(f, acc, y, f.y_end);
  }
}

/* Bodies of the kernels. A job that needs half the reach or less, as chroma does, is done by that. */
template <typename T, int R>
__device__ static void
fused(const CnvTileArgs &l)
{
  __shared__ Fused<T> f;

  load_tile_job<T>(f.params, l);
  const CnvTileJob &s = f.params.s;
  const int reach = max(cnv_fused_reach(s.term.n[CNV_X], s.term.anchor[CNV_X]),
                        cnv_fused_reach(s.term.n[CNV_Y], s.term.anchor[CNV_Y]));
  const int width = CNV_FUSED_WIDTH(R, s.channels);
  if (l.sources.n)
    fused_tile<T, R, true>(f, l, width);
  else if (R > 1 && reach <= R / 2)
    fused_tile<T, (R + 1) / 2, false>(f, l, width);
  else
    fused_tile<T, R, false>(f, l, width);
}

template <typename T>
__device__ static void
fused_any(const CnvTileArgs &l)
{
  __shared__ Fused<T> f;

  load_tile_job<T>(f.params, l);
  fused_any_tile<T>(f, l);
}

/* The kernels: FUSED_ENTRIES(FUSED_ENTRY), once IN_PLACE is defined. blocks: that should fit a multiprocessor; with
 * more than these registers do not suffice. */
#define FUSED_ENTRY(type, blocks, body)                                                                                \
  extern "C" __global__ void __launch_bounds__(CNV_FUSED_THREADS, FUSED_FITTING(blocks))                               \
      cnv_fused_##type(const IN_PLACE CnvTileArgs l)                                                                   \
  {                                                                                                                    \
    body(l);                                                                                                           \
  }
#define FUSED_BLOCKS (FUSED_SHARED_ROWS == 16 ? 4 : 3)
#define FUSED_ENTRIES(F)                                                                                               \
  F(u8_1, FUSED_BLOCKS, (fused<uint8_t, 1>))                                                                           \
  F(u8_2, FUSED_BLOCKS, (fused<uint8_t, 2>))                                                                           \
  F(u8_4, FUSED_BLOCKS, (fused<uint8_t, 4>))                                                                           \
  F(u8_8, FUSED_BLOCKS, (fused<uint8_t, 8>))                                                                           \
  F(u8_any, FUSED_BLOCKS, fused_any<uint8_t>)                                                                          \
  F(u16_1, FUSED_BLOCKS, (fused<uint16_t, 1>))                                                                         \
  F(u16_2, FUSED_BLOCKS, (fused<uint16_t, 2>))                                                                         \
  F(u16_4, 3, (fused<uint16_t, 4>))                                                                                    \
  F(u16_8, 3, (fused<uint16_t, 8>))                                                                                    \
  F(u16_any, 3, fused_any<uint16_t>)
