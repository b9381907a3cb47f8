/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The entries of the CUDA kernels in the module. Their arithmetic is that of plan.h. A launch of kernels with block
 * jobs filters planes of any size, number of channels and sample type, of any plan whose taps are in constant memory.
 */
#include "gpu/kernels/cells.cuh"
#include "gpu/kernels/cover.cuh"
#include "gpu/kernels/fused.cuh"
#include "gpu/kernels/mosaic.cuh"
#include "gpu/kernels/noise.cuh"
#include "gpu/kernels/one_tap.cuh"
#include "gpu/kernels/point.cuh"
#include "gpu/kernels/separable.cuh"
#include "gpu/kernels/stage.cuh"
#include "gpu/kernels/texture.cuh"
#include "gpu/kernels/tiled.cuh"
#if __CUDA_ARCH__ >= 800
#include "gpu/kernels/average.cuh"
#include "gpu/kernels/average_bytes.cuh"
#include "gpu/kernels/blur_deep_pixels.cuh"
#include "gpu/kernels/blur_weighed.cuh"
#include "gpu/kernels/decimate.cuh"
#include "gpu/kernels/dense.cuh"
#include "gpu/kernels/interpolate.cuh"
#include "gpu/kernels/ring.cuh"
#endif

/* copy: copies planes that are not filtered. The benchmark compares every kernel with it. */
extern "C" __global__ void __launch_bounds__(256) cnv_copy(const CnvCopyArgs a)
{
  /* Chosen by comparison: an index known only at run time would move the arguments to local memory. */
  const CnvCopyPlane p =
      blockIdx.z < 2 ? (blockIdx.z < 1 ? a.plane[0] : a.plane[1]) : (blockIdx.z < 3 ? a.plane[2] : a.plane[3]);
  const int x = (blockIdx.x * blockDim.x + threadIdx.x) * CNV_COPY_BYTES, y = blockIdx.y * blockDim.y + threadIdx.y;

  if (!a.beside)
    wait_for_launch_before();
  let_next_launch_begin();
  if (x < p.bytes && y < p.rows) {
    const char *in = (const char *)(p.in + (uint64_t)y * p.in_stride + x);
    char *out = (char *)(p.out + (uint64_t)y * p.out_stride + x);
    const uint32_t down = __umulhi(blockIdx.y * blockDim.y, p.tile_inverse[CNV_Y]);
    const uint32_t tile = down * p.columns + __umulhi(x, p.tile_inverse[CNV_X]);
    const bool kept = !p.kinds || __ldg((const uint8_t *)p.kinds + tile) == CNV_TILE_KEPT;

    if (x + CNV_COPY_BYTES <= p.bytes && (((uint64_t)in | (uint64_t)out) & (CNV_COPY_BYTES - 1)) == 0) {
      const uint4 chunk = *(const uint4 *)in;

      if (kept)
        *(uint4 *)out = chunk;
    } else {
      for (int i = 0; i < min(CNV_COPY_BYTES, p.bytes - x) && kept; i++)
        out[i] = in[i];
    }
  }
  /* One waiting block keeps the launch from ending; the others make room. */
  if (a.beside && blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0)
    wait_for_launch_before();
}

/* Arguments that may be indexed at run time without a copy in local memory. */
#if __CUDA_ARCH__ >= 700
#define IN_PLACE __grid_constant__
#else
#define IN_PLACE
#endif

/* copy_jobs: copies the rectangles that work in place writes. */
extern "C" __global__ void __launch_bounds__(256) cnv_copy_jobs(const IN_PLACE CnvCopyJobsArgs a)
{
  const CnvCopyJob *jobs = (const CnvCopyJob *)a.jobs, &job = jobs[__ldg((const uint32_t *)a.blocks + blockIdx.x)];
  const int block = blockIdx.x - job.first_block, row = block / job.columns * 8 + threadIdx.y;
  const int64_t y = job.y + (int64_t)row * job.step;
  const char *in = (const char *)a.in.address[job.plane] + y * a.in.stride[job.plane] + job.x;
  char *out = (char *)a.out.address[job.plane] + y * a.out.stride[job.plane] + job.x;
  const int before = (uint64_t)in % CNV_COPY_BYTES;
  const int x = (block % job.columns * 32 + threadIdx.x) * CNV_COPY_BYTES - before;

  wait_for_launch_before();
  let_next_launch_begin();
  if (row >= job.rows)
    return;
  if (x >= 0 && x + CNV_COPY_BYTES <= job.bytes && (((uint64_t)in ^ (uint64_t)out) & (CNV_COPY_BYTES - 1)) == 0) {
    *(uint4 *)(out + x) = *(const uint4 *)(in + x);
    return;
  }
  for (int i = max(x, 0); i < min(x + CNV_COPY_BYTES, job.bytes); i++)
    out[i] = in[i];
}

extern "C" __global__ void __launch_bounds__(32 * CNV_COVER_HEIGHT) cnv_cover(const IN_PLACE CnvCoverArgs l)
{
  cover(l);
}

extern "C" __global__ void
__launch_bounds__(CNV_NOISE_THREADS) cnv_noise(const IN_PLACE CnvNoiseArgs l)
{
  noise(l);
}

/* For sm_100 and newer the same kernels need more registers, and would spill. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
#define FITTING(blocks) ((blocks) > 6 ? 5 : (blocks) > 3 ? (blocks)-1 : (blocks))
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
/* Copies without the copy engine need some registers too. */
#define FITTING(blocks) ((blocks) > 5 ? 5 : (blocks))
#else
#define FITTING(blocks) (blocks)
#endif

/* Kernels with block jobs. launch.c finds all kernels by these names. So many blocks fit a multiprocessor, mostly
 * three: in registers, and in 64 KiB of shared memory. */
#define BLOCKS_OF(blocks, kernel, call)                                                                                \
  extern "C" __global__ void __launch_bounds__(CNV_BLOCK_THREADS, blocks) cnv_##kernel(const IN_PLACE CnvBlockArgs l)  \
  {                                                                                                                    \
    __shared__ CnvBlock b;                                                                                             \
                                                                                                                       \
    load_job(b, l);                                                                                                    \
    call;                                                                                                              \
  }
#define BLOCKS(kernel, call) BLOCKS_OF(3, kernel, call)
BLOCKS(naive, naive(b))
BLOCKS_OF(FITTING(4), mosaic, mosaic(b))
/* Only for sm_90 do they fit in so few registers. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 900
BLOCKS_OF(3, cells, cells(b, l.is_first))
#else
BLOCKS_OF(CNV_CELLS_BLOCKS, cells, cells(b, l.is_first))
#endif
BLOCKS(tiled, tiled(b))
BLOCKS(separable, l.is_first ? rows(b) : columns(b))
BLOCKS(texture, l.is_first ? texture_rows(b, l) : texture_columns(b, l))
BLOCKS(stage, l.is_first ? stage_in(b, l) : stage_out(b, l))

#define WARPS(name, warps, blocks, ...)                                                                                \
  extern "C" __global__ void __launch_bounds__(32 * (warps), blocks) cnv_##name(const IN_PLACE CnvTileArgs l)          \
  {                                                                                                                    \
    __VA_ARGS__(l);                                                                                                    \
  }
#define TILES(name, blocks, ...) WARPS(name, CNV_TILE_WARPS, FITTING(blocks), __VA_ARGS__)
/* If plain is 1, the kernel has a second form, for plain launches. */
#define FORMS_0(name, blocks, ...) WARPS(name, CNV_TILE_WARPS, blocks, __VA_ARGS__, true >)
#define FORMS_1(name, blocks, ...)                                                                                     \
  extern "C" __global__ void __launch_bounds__(32 * CNV_TILE_WARPS, blocks) cnv_##name(const IN_PLACE CnvTileArgs l)   \
  {                                                                                                                    \
    if (l.plain)                                                                                                       \
      __VA_ARGS__, false > (l);                                                                                        \
    else                                                                                                               \
      __VA_ARGS__, true > (l);                                                                                         \
  }
#define FORMS(plain, name, blocks, ...) FORMS_##plain(name, blocks, __VA_ARGS__)
#define BLUR(name, bits, K_X, K_Y, M, parts, frames, rows, blocks, plain)                                              \
  FORMS(plain, name##_u##bits##_##K_X##x##K_Y, FITTING(blocks), blur < uint##bits##_t, K_X, K_Y, M, (parts) == 2,      \
        (frames) == 2)
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define FITTING_PIXELS(blocks) ((blocks)-1)
#else
#define FITTING_PIXELS(blocks) (blocks)
#endif
#define BLUR_PIXELS(K_X, K_Y, rows, blocks, plain)                                                                     \
  FORMS(plain, blur_pixels_u8_##K_X##x##K_Y, FITTING(FITTING_PIXELS(blocks)), blur_pixels < K_X, K_Y)
#define BLUR_DEEP(K_X, K_Y, M, rows, blocks) TILES(blur_deep_u16_##K_X##x##K_Y, blocks, blur_deep<K_X, K_Y, M, true>)
/* Only for sm_90 does the smaller one fit in the registers that three blocks leave. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 900
#define FITTING_DEEP_PIXELS(blocks) 2
#else
#define FITTING_DEEP_PIXELS(blocks) (blocks)
#endif
#define BLUR_DEEP_PIXELS(K_X, K_Y, rows, blocks)                                                                       \
  WARPS(blur_deep_pixels_u16_##K_X##x##K_Y, CNV_TILE_WARPS, FITTING_DEEP_PIXELS(blocks), blur_deep_pixels<K_X, K_Y>)
#define BLUR_WEIGHED(K, blocks) TILES(blur_weighed_u8_##K, blocks, blur_weighed<K>)
#define RING(name, bits, K_X, parts, ROWS, blocks)                                                                     \
  TILES(name##_u##bits##_##K_X, blocks, blur_ring<uint##bits##_t, K_X, ROWS, (parts) == 2>)
#define DENSE(bits, K, TERMS, D, ROWS, COLUMNS, blocks, plain)                                                         \
  FORMS(plain, dense_u##bits##_##K##_##TERMS##_##D##_##ROWS, FITTING(blocks), dense < uint##bits##_t, K, TERMS, D,     \
        ROWS, COLUMNS)
#define DENSE_OVER_TIME(ROWS, PAIRS, blocks, plain)                                                                    \
  FORMS(plain, dense_over_time_u8_##ROWS##_##PAIRS, FITTING(blocks), dense_over_time < ROWS, PAIRS)
#define DECIMATE(name, bits, channels, wide, blocks) TILES(name##_u##bits, blocks, decimate<uint##bits##_t, wide>)
#define INTERPOLATE(name, bits, wide, blocks) TILES(name##_u##bits, blocks, interpolate<uint##bits##_t, wide>)
TILES(fused_u8, 6, fused<uint8_t>)
TILES(fused_u16, 5, fused<uint16_t>)
/* Machine code for sm_86, from the PTX for sm_80, needs more registers than four blocks leave. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 800
WARPS(one_tap, CNV_ONE_TAP_WARPS, 3, one_tap)
#else
WARPS(one_tap, CNV_ONE_TAP_WARPS, 4, one_tap)
#endif
#if __CUDA_ARCH__ >= 800 /* choice.c sees to it that older GPUs are asked for none of these */
TILES(average_u8, 5, average_bytes)
TILES(average_u16, 4, average_words)
CNV_BLUR_PIXELS_VARIANTS(BLUR_PIXELS)
CNV_BLUR_DEEP_VARIANTS(BLUR_DEEP)
CNV_BLUR_DEEP_PIXELS_VARIANTS(BLUR_DEEP_PIXELS)
CNV_BLUR_VARIANTS(BLUR)
CNV_BLUR_WEIGHED_KERNELS(BLUR_WEIGHED)
CNV_RING_VARIANTS(RING)
CNV_DENSE_VARIANTS(DENSE)
CNV_DENSE_OVER_TIME_VARIANTS(DENSE_OVER_TIME)
CNV_DECIMATE_VARIANTS(DECIMATE)
TILES(decimate_again, 6, decimate_again)
CNV_INTERPOLATE_KERNELS(INTERPOLATE)
#endif
