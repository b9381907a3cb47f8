/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CUDA kernels: rungs naive, tiled and separable, and a copy. Arithmetic is that of plan.h; kernels vary by sample
 * type alone (8 or 16 bits, 1 to 4 interleaved channels), sizes and taps are arguments.
 *
 * A row is a flat array of samples in which neighbours of a channel are C apart. Borders are met only while a tile is
 * loaded: a tile whose apron lies inside the plane takes the path without tests.
 */
#include <convolve/border.h>

#include "kernels.h"

/* The taps: constant memory of this instance's own module. */
extern "C" {
__constant__ float cnv_taps[CNV_CONSTANT_TAPS];
}

/* Conversions between integers and float32 run at an eighth of the rate of additions or less, so both ways go through a
 * number whose low bits are the integer: 2^23 + i for i from 0 on, and 1.5 * 2^23 + i, which rounds to nearest, ties to
 * even, for i of either sign. */
#define INTEGERS 8388608.0f
#define SIGNED_INTEGERS 12582912.0f

template <typename T>
__device__ static float
unpack(uint32_t sample, const CnvKernelArgs &a)
{
  const uint32_t value = sizeof(T) == 1 ? sample & 0xff : (sample & 0xffff) >> a.shift & (uint32_t)a.full_bits;

  return __uint_as_float(__float_as_uint(INTEGERS) | value) - (INTEGERS + a.mid);
}

/* One rounding, ties to even: base is an even integer. */
template <typename T>
__device__ static T
pack(float acc, int channel, const CnvKernelArgs &a)
{
  const float value = fminf(fmaxf(fmaf(acc, a.gain, a.fraction[channel]), a.lowest[channel]), a.highest[channel]);
  const uint32_t level = __float_as_uint(value + SIGNED_INTEGERS) - __float_as_uint(SIGNED_INTEGERS) + a.base[channel];

  return (T)(sizeof(T) == 1 ? level : level << a.shift);
}

/* The input is read through __ldg: it is not written meanwhile, and so loads may be moved ahead of stores to shared
 * memory and wait for DRAM together. */
template <typename T>
__device__ static const T *
input_row(const CnvKernelArgs &a, int y)
{
  return (const T *)(a.in + (uint64_t)y * a.in_stride);
}

template <typename T>
__device__ static T *
output_row(const CnvKernelArgs &a, int y)
{
  return (T *)(a.out + (uint64_t)y * a.out_stride);
}

/* What sample s of row y becomes: filtered, or copied where its channel is not. */
template <typename T, int C>
__device__ static T
result(const CnvKernelArgs &a, int s, int y, float acc)
{
  const int channel = C == 1 ? 0 : s % C;

  if (C == 1 || a.filtered >> channel & 1)
    return pack<T>(acc, channel, a);
  return __ldg(input_row<T>(a, y) + s);
}

/* The value of a pixel's channel with the border resolved; 0 where renormalize leaves it out. */
template <typename T, int C>
__device__ static float
fetch(const CnvKernelArgs &a, int x, int y, int channel)
{
  int ix = cnv_border_index((CnvBorder)a.border, x, a.width);
  int iy = cnv_border_index((CnvBorder)a.border, y, a.height);

  if (ix < 0 || iy < 0)
    return a.border == CNV_BORDER_CONSTANT ? a.border_value[channel] : 0.0f;
  return unpack<T>(__ldg(input_row<T>(a, iy) + ix * C + channel), a);
}

__device__ static bool
inside(int first, int count, int n)
{
  return first >= 0 && first + count <= n;
}

/* Taps that find a sample when their first lies on index `first` of n samples: from begin, up to but without end. */
struct Present {
  int begin, end;
};

__device__ static Present
present(int first, int taps, int n)
{
  return {max(0, -first), max(0, min(taps, n - first))};
}

/* S/P of border.h. */
__device__ static float
restore_sum(float sum, float found, float least)
{
  return fabsf(found) > least ? sum / found : 0.0f;
}

/* The same for one axis of separable taps, whose prefix sums follow the taps; 1 where none is missing. */
__device__ static float
axis_factor(unsigned taps, int n_taps, float sum, float least, int first, int n)
{
  const Present p = present(first, n_taps, n);
  const float *prefix = cnv_taps + taps + n_taps;

  if (inside(first, n_taps, n))
    return 1.0f;
  return p.begin >= p.end ? 0.0f : restore_sum(sum, prefix[p.end] - prefix[p.begin], least);
}

__device__ static float
x_factor(const CnvKernelArgs &a, int first_x)
{
  return axis_factor(a.taps_x, a.n_x, a.sum_x, a.least_x, first_x, a.width);
}

__device__ static float
y_factor(const CnvKernelArgs &a, int first_y)
{
  return axis_factor(a.taps_y, a.n_y, a.sum_y, a.least_y, first_y, a.height);
}

/* And for dense taps, by adding up those present. */
__device__ static float
dense_factor(const CnvKernelArgs &a, int first_x, int first_y)
{
  Present px = present(first_x, a.n_x, a.width), py = present(first_y, a.n_y, a.height);
  float found = 0;

  for (int j = py.begin; j < py.end; j++) {
    float row = 0;

    for (int i = px.begin; i < px.end; i++)
      row += cnv_taps[a.taps_x + j * a.n_x + i];
    found += row;
  }
  return restore_sum(a.sum_x, found, a.least_x);
}

/* For an output that lacks samples. */
__device__ static float
renormalize_factor(const CnvKernelArgs &a, int first_x, int first_y)
{
  return a.separable ? x_factor(a, first_x) * y_factor(a, first_y) : dense_factor(a, first_x, first_y);
}

/* naive: a thread a sample. Row sums are added up apart, which keeps float32 exact enough for large kernels. */
template <typename T, int C>
__device__ static void
naive(const CnvKernelArgs &a)
{
  int s = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int x = s / C, channel = s % C, first_x = x - a.anchor_x, first_y = y - a.anchor_y;
  float acc = 0;

  if (x >= a.width || y >= a.height)
    return;
  for (int j = 0; j < a.n_y; j++) {
    const float *taps = cnv_taps + a.taps_x + (a.separable ? 0 : j * a.n_x);
    float row = 0;

    for (int i = 0; i < a.n_x; i++)
      row = fmaf(taps[i], fetch<T, C>(a, first_x + i, first_y + j, channel), row);
    acc = a.separable ? fmaf(cnv_taps[a.taps_y + j], row, acc) : acc + row;
  }
  if (a.border == CNV_BORDER_RENORMALIZE && !(inside(first_x, a.n_x, a.width) && inside(first_y, a.n_y, a.height)))
    acc *= renormalize_factor(a, first_x, first_y);
  output_row<T>(a, y)[s] = result<T, C>(a, s, y, acc);
}

__device__ static float
multiply_add(float v, float t, float acc)
{
  return fmaf(v, t, acc);
}

__device__ static float2
multiply_add(float2 v, float t, float2 acc)
{
  return make_float2(fmaf(v.x, t, acc.x), fmaf(v.y, t, acc.y));
}

/* Adds n taps to CNV_OUTPUTS neighbouring outputs. Output k takes value number k + j with tap j; each value is read
 * once and kept in registers while it slides past. V: float, or float2 for two columns at once. Value number i lies at
 * offset(i) from src, and so again from src + group for the next CNV_OUTPUTS. */
template <typename V, typename Offset>
__device__ static void
slide(V (&acc)[CNV_OUTPUTS], const V *src, Offset offset, int group, const float *taps, int tap_step, int n)
{
  V v[CNV_OUTPUTS];

#pragma unroll
  for (int k = 0; k < CNV_OUTPUTS - 1; k++)
    v[k] = src[offset(k)];
  while (n > 0) {
#pragma unroll
    for (int j = 0; j < CNV_OUTPUTS; j++) {
      if (j < n) {
        float t = taps[j * tap_step];

        v[(j + CNV_OUTPUTS - 1) % CNV_OUTPUTS] = src[offset(j + CNV_OUTPUTS - 1)];
#pragma unroll
        for (int k = 0; k < CNV_OUTPUTS; k++)
          acc[k] = multiply_add(v[(j + k) % CNV_OUTPUTS], t, acc[k]);
      }
    }
    n -= CNV_OUTPUTS;
    src += group;
    taps += CNV_OUTPUTS * tap_step;
  }
}

/* Samples are loaded by aligned words of 32 bits where a line allows: a word may reach 3 bytes past it on either side,
 * and with 4 more pixels there it stays inside the row. Samples past the line are stored as well, into slack that
 * shared memory has on both sides, which costs less than to tell them apart. */
__device__ static bool
inside_by_words(const CnvKernelArgs &a, int x, int pixels)
{
  return inside(x - 4, pixels + 8, a.width);
}

/* Hands the samples of word number w of a line to put(s, value), s being -3 to samples + 2. Does nothing past the last.
 */
template <typename T, typename Put>
__device__ static void
load_word(const T *line, int samples, int w, const CnvKernelArgs &a, Put put)
{
  constexpr int per_word = 4 / sizeof(T);
  const int lead = (int)((uint64_t)line & 3) / (int)sizeof(T); /* samples of the first word before the line */

  if (w * per_word >= lead + samples)
    return;
  const uint32_t word = __ldg((const uint32_t *)(line - lead) + w);
#pragma unroll
  for (int b = 0; b < per_word; b++)
    put(w * per_word + b - lead, unpack<T>(word >> (b * 8 * (int)sizeof(T)), a));
}

/* Words that a line of so many samples can touch, wherever it begins. */
template <typename T>
__device__ static int
words_of(int samples)
{
  constexpr int per_word = 4 / sizeof(T);

  return (samples + 2 * (per_word - 1)) / per_word;
}

/* Loads the samples of `pixels` x `rows` pixels from (x, y) on, into rows of `pitch` floats; around them is slack. */
template <typename T, int C>
__device__ static void
load_tile(float *tile, int pitch, const CnvKernelArgs &a, int x, int y, int pixels, int rows)
{
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int warps = blockDim.x * blockDim.y / 32, samples = pixels * C;

  if (inside_by_words(a, x, pixels) && inside(y, rows, a.height)) {
    for (int w = lane; w < words_of<T>(samples); w += 32) {
#pragma unroll 4
      for (int r = warp; r < rows; r += warps)
        load_word<T>(input_row<T>(a, y + r) + x * C, samples, w, a,
                     [=](int s, float value) { tile[r * pitch + s] = value; });
    }
  } else {
    for (int r = warp; r < rows; r += warps)
      for (int s = lane; s < samples; s += 32)
        tile[r * pitch + s] = fetch<T, C>(a, x + s / C, y + r, s % C);
  }
}

extern __shared__ float cnv_shared[];

/* tiled: all taps at once over a tile in shared memory; a thread slides down a column of the tile. Separable taps are
 * taken as the dense kernel that they make. */
template <typename T, int C>
__device__ static void
tiled(const CnvKernelArgs &a)
{
  constexpr int tile_pixels = CNV_TILED_WIDTH / C;
  const int pitch = CNV_TILED_PITCH(C, a.chunk_x);
  float *tile = cnv_shared + CNV_TILED_SLACK;
  const int x0 = blockIdx.x * tile_pixels, y0 = blockIdx.y * CNV_TILED_HEIGHT, top = threadIdx.y * CNV_OUTPUTS;
  const int column = min((int)threadIdx.x, tile_pixels * C - 1);
  float acc[CNV_OUTPUTS] = {0};

  for (int j = 0; j < a.n_y; j += a.chunk_y) {
    const int rows = min(a.chunk_y, a.n_y - j);

    for (int i = 0; i < a.n_x; i += a.chunk_x) {
      const int columns = min(a.chunk_x, a.n_x - i);

      __syncthreads();
      load_tile<T, C>(tile, pitch, a, x0 - a.anchor_x + i, y0 - a.anchor_y + j, tile_pixels + columns - 1,
                      CNV_TILED_HEIGHT + rows - 1);
      __syncthreads();
      for (int c = 0; c < columns; c++) {
        const unsigned taps = a.separable ? a.taps_y + j : a.taps_x + j * a.n_x + i + c;
        const float weight = a.separable ? cnv_taps[a.taps_x + i + c] : 1.0f;
        float part[CNV_OUTPUTS] = {0};

        slide<float>(
            part, tile + top * pitch + column + c * C, [=](int n) { return n * pitch; }, CNV_OUTPUTS * pitch,
            cnv_taps + taps, a.separable ? 1 : a.n_x, rows);
        for (int k = 0; k < CNV_OUTPUTS; k++)
          acc[k] = fmaf(part[k], weight, acc[k]);
      }
    }
  }
  const int x = x0 + column / C;
  if (threadIdx.x >= tile_pixels * C || x >= a.width)
    return;
#pragma unroll
  for (int k = 0; k < CNV_OUTPUTS; k++) {
    const int first_x = x - a.anchor_x, first_y = y0 + top + k - a.anchor_y;

    if (y0 + top + k >= a.height)
      break;
    if (a.border == CNV_BORDER_RENORMALIZE && !(inside(first_x, a.n_x, a.width) && inside(first_y, a.n_y, a.height)))
      acc[k] *= renormalize_factor(a, first_x, first_y);
    output_row<T>(a, y0 + top + k)[x0 * C + column] = result<T, C>(a, x0 * C + column, y0 + top + k, acc[k]);
  }
}

/* Place of pixel p in a row of shared memory: a hole after every 8, so that threads that start 8 pixels apart start in
 * different banks. */
__device__ static int
skewed(int p)
{
  return p + p / CNV_OUTPUTS;
}

/* Loads `pixels` pixels of row y from x on, channel by channel, into line[channel] after the slack, by `threads`
 * threads of which this is number `thread`. */
template <typename T, int C, int PITCH>
__device__ static void
load_line(float (*line)[PITCH], const CnvKernelArgs &a, int x, int y, int pixels, int thread, int threads)
{
  if (inside_by_words(a, x, pixels)) {
#pragma unroll 4
    for (int w = thread; w < words_of<T>(pixels * C); w += threads)
      load_word<T>(input_row<T>(a, y) + x * C, pixels * C, w, a, [=](int s, float value) {
        const unsigned from_slack = s + CNV_ROWS_SLACK * C;

        line[from_slack % C][skewed(from_slack / C)] = value;
      });
  } else {
    for (int s = thread; s < pixels * C; s += threads)
      line[s % C][skewed(s / C + CNV_ROWS_SLACK)] = fetch<T, C>(a, x + s / C, y, s % C);
  }
}

/* rows: the first pass of separable, samples to float32 row sums. A warp takes 256 pixels of one channel of one row;
 * the warps of a row load it together. */
template <typename T, int C>
__device__ static void
rows(const CnvKernelArgs &a)
{
  constexpr int per_block = CNV_ROWS_PER_BLOCK(C), team = 32 * C;
  constexpr int pitch = (CNV_ROWS_PIXELS + CNV_ROWS_CHUNK + 2 * CNV_ROWS_SLACK) * 9 / 8 + 1;
  __shared__ float lines[per_block][C][pitch];
  const int x0 = blockIdx.x * CNV_ROWS_PIXELS, y = blockIdx.y * per_block + threadIdx.x / team;
  const int member = threadIdx.x % team, left = threadIdx.x % 32 * CNV_OUTPUTS;
  float(*line)[pitch] = lines[threadIdx.x / team], *own = line[member / 32];
  float acc[CNV_OUTPUTS] = {0};

  for (int i = 0; i < a.n_x; i += a.chunk_x) {
    const int taps = min(a.chunk_x, a.n_x - i);

    __syncthreads();
    if (y < a.height)
      load_line<T, C>(line, a, x0 - a.anchor_x + i, y, CNV_ROWS_PIXELS + taps - 1, member, team);
    __syncthreads();
    slide<float>(acc, own + skewed(left + CNV_ROWS_SLACK), skewed, CNV_OUTPUTS + 1, cnv_taps + a.taps_x + i, 1, taps);
  }
  if (a.border == CNV_BORDER_RENORMALIZE && !inside(x0 - a.anchor_x, CNV_ROWS_PIXELS + a.n_x - 1, a.width))
    for (int k = 0; k < CNV_OUTPUTS; k++)
      acc[k] *= x_factor(a, x0 + left + k - a.anchor_x);

  float *sums = (float *)a.sums + (size_t)y * a.sums_stride + (size_t)x0 * C;
  const int samples = min(CNV_ROWS_PIXELS, a.width - x0) * C; /* the last four may end in the row's padding */
  if (C == 1) {
    for (int k = 0; k < CNV_OUTPUTS; k += 4)
      if (y < a.height && left + k < samples)
        __stwb((float4 *)(sums + left + k), make_float4(acc[k], acc[k + 1], acc[k + 2], acc[k + 3]));
    return;
  }
  /* Channels meet in shared memory, so that a warp stores neighbours together. */
  __syncthreads();
  for (int k = 0; k < CNV_OUTPUTS; k++)
    own[skewed(left + k)] = acc[k];
  __syncthreads();
  if (y >= a.height)
    return;
  for (int s = 4 * member; s < samples; s += 4 * team) {
    float v[4];

#pragma unroll
    for (int q = 0; q < 4; q++)
      v[q] = line[(s + q) % C][skewed((s + q) / C)];
    __stwb((float4 *)(sums + s), make_float4(v[0], v[1], v[2], v[3]));
  }
}

/* The unsigned integer of twice the size. */
template <typename T> struct Pair;
template <> struct Pair<uint8_t> {
  typedef uint16_t type;
};
template <> struct Pair<uint16_t> {
  typedef uint32_t type;
};

/* Two neighbouring samples of the row sums. */
__device__ static float2
load_sums(const CnvKernelArgs &a, int s, int y)
{
  return __ldg((const float2 *)((const float *)a.sums + (size_t)y * a.sums_stride + s));
}

/* The same for any y; those of a row that is missing are the filtered border colour. */
template <int C>
__device__ static float2
fetch_sums(const CnvKernelArgs &a, int s, int y)
{
  int iy = cnv_border_index((CnvBorder)a.border, y, a.height);

  if (iy >= 0)
    return load_sums(a, s, iy);
  if (a.border != CNV_BORDER_CONSTANT)
    return make_float2(0, 0);
  return make_float2(a.sum_x * a.border_value[s % C], a.sum_x * a.border_value[(s + 1) % C]);
}

/* Stores samples s, which is even, and s + 1 of row y, together where all rows' addresses allow. */
template <typename T, int C>
__device__ static void
store_pair(const CnvKernelArgs &a, int s, int y, float2 acc)
{
  typedef typename Pair<T>::type PairType;
  const T first = result<T, C>(a, s, y, acc.x), second = result<T, C>(a, s + 1, y, acc.y);
  T *out = output_row<T>(a, y) + s;

  if (((a.out | a.out_stride) & (sizeof(PairType) - 1)) == 0) {
    *(PairType *)out = (PairType)(first | (uint32_t)second << (8 * sizeof(T)));
  } else {
    out[0] = first;
    out[1] = second;
  }
}

/* The same at the right and lower edge of the plane, and where renormalize makes a difference. */
template <typename T, int C>
__device__ static void
store_at_edge(const CnvKernelArgs &a, int s, int y, float2 acc)
{
  if (y >= a.height || s >= a.width * C)
    return;
  const float factor = a.border == CNV_BORDER_RENORMALIZE ? y_factor(a, y - a.anchor_y) : 1.0f;
  output_row<T>(a, y)[s] = result<T, C>(a, s, y, acc.x * factor);
  if (s + 1 < a.width * C)
    output_row<T>(a, y)[s + 1] = result<T, C>(a, s + 1, y, acc.y * factor);
}

/* columns: the second pass of separable, row sums to samples. A thread slides down two neighbouring columns. */
template <typename T, int C>
__device__ static void
columns(const CnvKernelArgs &a)
{
  constexpr int pitch = CNV_COLUMNS_WIDTH / 2;
  float2 *tile = (float2 *)cnv_shared;
  const int s = blockIdx.x * CNV_COLUMNS_WIDTH + 2 * threadIdx.x;
  const int y0 = blockIdx.y * CNV_COLUMNS_HEIGHT, top = threadIdx.y * CNV_OUTPUTS;
  float2 acc[CNV_OUTPUTS] = {};

  for (int j = 0; j < a.n_y; j += a.chunk_y) {
    const int taps = min(a.chunk_y, a.n_y - j), first = y0 - a.anchor_y + j, rows = CNV_COLUMNS_HEIGHT + taps - 1;

    __syncthreads();
    if (inside(first, rows, a.height)) {
#pragma unroll 8
      for (int r = threadIdx.y; r < rows; r += CNV_COLUMNS_HEIGHT / CNV_OUTPUTS)
        tile[r * pitch + threadIdx.x] = load_sums(a, s, first + r);
    } else {
      for (int r = threadIdx.y; r < rows; r += CNV_COLUMNS_HEIGHT / CNV_OUTPUTS)
        tile[r * pitch + threadIdx.x] = fetch_sums<C>(a, s, first + r);
    }
    __syncthreads();
    slide<float2>(
        acc, tile + top * pitch + threadIdx.x, [](int n) { return n * pitch; }, CNV_OUTPUTS * pitch,
        cnv_taps + a.taps_y + j, 1, taps);
  }
  const bool inner = inside(y0 - a.anchor_y, CNV_COLUMNS_HEIGHT + a.n_y - 1, a.height) &&
                     (blockIdx.x + 1) * CNV_COLUMNS_WIDTH <= a.width * C;
#pragma unroll
  for (int k = 0; k < CNV_OUTPUTS; k++) {
    if (inner)
      store_pair<T, C>(a, s, y0 + top + k, acc[k]);
    else
      store_at_edge<T, C>(a, s, y0 + top + k, acc[k]);
  }
}

/* copy: planes that are not filtered, and what the benchmark holds every kernel against. */
extern "C" __global__ void __launch_bounds__(256) cnv_copy(const CnvCopyArgs a)
{
  /* Chosen by comparison: an index known only here would move the arguments to local memory. */
  const CnvCopyPlane p =
      blockIdx.z < 2 ? (blockIdx.z < 1 ? a.plane[0] : a.plane[1]) : (blockIdx.z < 3 ? a.plane[2] : a.plane[3]);
  const int x = (blockIdx.x * blockDim.x + threadIdx.x) * CNV_COPY_BYTES, y = blockIdx.y * blockDim.y + threadIdx.y;

  if (x >= p.bytes || y >= p.rows)
    return;
  const char *in = (const char *)(p.in + (uint64_t)y * p.in_stride + x);
  char *out = (char *)(p.out + (uint64_t)y * p.out_stride + x);
  if (x + CNV_COPY_BYTES <= p.bytes && (((uint64_t)in | (uint64_t)out) & (CNV_COPY_BYTES - 1)) == 0) {
    *(uint4 *)out = *(const uint4 *)in;
    return;
  }
  for (int i = 0; i < min(CNV_COPY_BYTES, p.bytes - x); i++)
    out[i] = in[i];
}

/* The variants: cuda_engine.c finds them by these names. threads a block, and blocks that should fit a multiprocessor.
 */
#define VARIANT(kernel, threads, blocks, T, bits, C)                                                                   \
  extern "C" __global__ void __launch_bounds__(threads, blocks) cnv_##kernel##_u##bits##x##C(const CnvKernelArgs a)    \
  {                                                                                                                    \
    kernel<T, C>(a);                                                                                                   \
  }
#define VARIANTS(C)                                                                                                    \
  VARIANT(naive, 256, 4, uint8_t, 8, C)                                                                                \
  VARIANT(naive, 256, 4, uint16_t, 16, C)                                                                              \
  VARIANT(tiled, 512, 2, uint8_t, 8, C)                                                                                \
  VARIANT(tiled, 512, 2, uint16_t, 16, C)                                                                              \
  VARIANT(rows, 256, 4, uint8_t, 8, C)                                                                                 \
  VARIANT(rows, 256, 4, uint16_t, 16, C)                                                                               \
  VARIANT(columns, 256, 4, uint8_t, 8, C)                                                                              \
  VARIANT(columns, 256, 4, uint16_t, 16, C)

VARIANTS(1)
VARIANTS(2)
VARIANTS(3)
VARIANTS(4)
