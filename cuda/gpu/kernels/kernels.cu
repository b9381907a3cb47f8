/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CUDA kernels as the module has them. Arithmetic is that of plan.h; kernels vary by sample type alone, sizes and
 * taps are arguments. One launch does planes of any number of channels, of any plan whose taps are in constant memory.
 */
#include "gpu/kernels/dense.cuh"
#include "gpu/kernels/fused.cuh"
#include "gpu/kernels/point.cuh"
#include "gpu/kernels/separable.cuh"
#include "gpu/kernels/stage.cuh"
#include "gpu/kernels/ring.cuh"
#include "gpu/kernels/tensor.cuh"
#include "gpu/kernels/texture.cuh"
#include "gpu/kernels/tiled.cuh"

/* copy: planes that are not filtered, and what the benchmark holds every kernel against. */
extern "C" __global__ void __launch_bounds__(256) cnv_copy(const CnvCopyArgs a)
{
  /* Chosen by comparison, as in pick(). */
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

/* Arguments that are indexed at run time where they lie. */
#if __CUDA_ARCH__ >= 700
#define IN_PLACE __grid_constant__
#else
#define IN_PLACE
#endif

/* For sm_100 and newer the same kernels take more registers, and would spill. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
#define FITTING(blocks) ((blocks) > 3 ? (blocks)-1 : (blocks))
#define DENSE_FITTING(blocks) ((blocks) > 2 ? (blocks)-1 : (blocks))
#define FUSED_FITTING(blocks) 2
#else
#define FITTING(blocks) (blocks)
#define DENSE_FITTING(blocks) (blocks)
#define FUSED_FITTING(blocks) (blocks)
#endif

/* The variants: plans.c finds them by these names. threads a block, and blocks that should fit a multiprocessor.
 */
#define ENTRY(kernel, type, threads, blocks, T, ...)                                                                   \
  extern "C" __global__ void __launch_bounds__(threads, blocks) cnv_##kernel##_##type(const IN_PLACE CnvLaunchArgs l)  \
  {                                                                                                                    \
    __shared__ Block b;                                                                                                \
    const BlockCoord at = load_job<T>(b, l);                                                                           \
                                                                                                                       \
    __VA_ARGS__                                                                                                        \
  }

/* Kernels of one body, and of a body for each number of channels. */
#define ONE(kernel, type, threads, blocks, T) ENTRY(kernel, type, threads, blocks, T, kernel<T>(b, at);)
#define TEXTURE(kernel, type, T) ENTRY(kernel, type, 256, 4, T, kernel<T>(b, at, l);)
#define EACH(kernel, type, threads, blocks, T)                                                                         \
  ENTRY(                                                                                                               \
      kernel, type, threads, blocks, T, switch (b.a.channels) {                                                        \
        case 1:                                                                                                        \
          return kernel<T, 1>(b, at);                                                                                  \
        case 2:                                                                                                        \
          return kernel<T, 2>(b, at);                                                                                  \
        case 3:                                                                                                        \
          return kernel<T, 3>(b, at);                                                                                  \
        default:                                                                                                       \
          return kernel<T, 4>(b, at);                                                                                  \
      })
/* float32 takes more registers. */
#define ANY_PLANES(T, type, point_blocks, row_blocks)                                                                  \
  ONE(naive, type, 256, point_blocks, T)                                                                               \
  EACH(tiled, type, 512, 1, T)                                                                                         \
  EACH(rows, type, 256, row_blocks, T)                                                                                 \
  EACH(columns, type, 256, 3, T)                                                                                       \
  TEXTURE(texture_rows, type, T)                                                                                       \
  TEXTURE(texture_columns, type, T)

ANY_PLANES(uint8_t, u8, 4, 3)
ANY_PLANES(uint16_t, u16, 4, 3)
ANY_PLANES(float, f32, 3, 2)
ENTRY(stage_in, f32, 256, 4, float, stage_in(b, at, l);)
ENTRY(stage_out, f32, 256, 4, float, stage_out(b, at, l);)

/* Kernels for one large job that needs no more than sums: it comes with the arguments, without a load to wait for, and
 * fewer registers leave room for more threads. */
#define LARGE_ENTRY(kernel, type, C, threads, blocks, T, body)                                                         \
  extern "C" __global__ void __launch_bounds__(threads, blocks)                                                        \
      cnv_##kernel##_##type##x##C(const IN_PLACE CnvLargeArgs l)                                                       \
  {                                                                                                                    \
    const BlockCoord at = {(int)blockIdx.x, (int)blockIdx.y, l.term, l.sums, l.mask_rects, 0};                         \
                                                                                                                       \
    body(l.block, at);                                                                                                 \
  }
#define LARGE(T, type, C, row_blocks)                                                                                  \
  LARGE_ENTRY(tiled, type, C, 512, 2, T, (tiled_of<T, C, true>))                                                       \
  LARGE_ENTRY(rows, type, C, 256, row_blocks, T, (rows_of<T, C, false>))                                               \
  LARGE_ENTRY(columns, type, C, 256, 5, T, (simple_columns<T, C>))
#define LARGE_EACH(T, type) LARGE(T, type, 1, 6) LARGE(T, type, 2, 4) LARGE(T, type, 3, 4) LARGE(T, type, 4, 4)

LARGE_EACH(uint8_t, u8)
LARGE_EACH(uint16_t, u16)

#define TENSOR(name, type, T, K_X, K_Y, M, blocks, MODE)                                                               \
  extern "C" __global__ void __launch_bounds__(32 * CNV_TILE_WARPS, FITTING(blocks))                                   \
      cnv_##name##_##type##_##K_X##x##K_Y(const IN_PLACE CnvTileArgs l)                                                \
  {                                                                                                                    \
    tensor<T, K_X, K_Y, M, MODE>(l);                                                                                   \
  }
#define TENSOR_U8(K_X, K_Y, M, blocks) TENSOR(tensor, u8, uint8_t, K_X, K_Y, M, blocks, TENSOR_PLAIN)
#define TENSOR_OVER_TIME(K_X, K_Y, M, blocks) TENSOR(tensor_time, u8, uint8_t, K_X, K_Y, M, blocks, TENSOR_TIME)
#define TENSOR_SPLIT(K_X, K_Y, M, blocks)                                                                              \
  TENSOR(tensor_exact, u8, uint8_t, K_X, K_Y, M, blocks, TENSOR_EXACT)                                                 \
  TENSOR(tensor_exact, u16, uint16_t, K_X, K_Y, M, blocks, TENSOR_EXACT)
#define RING(name, type, T, K_X, M, blocks, EXACT)                                                                     \
  extern "C" __global__ void __launch_bounds__(32 * CNV_TILE_WARPS, FITTING(blocks))                                   \
      cnv_##name##_##type##_##K_X(const IN_PLACE CnvTileArgs l)                                                        \
  {                                                                                                                    \
    tensor_ring<T, K_X, M, EXACT>(l);                                                                                  \
  }
#define RING_U8(K_X, M, blocks) RING(tensor_ring, u8, uint8_t, K_X, M, blocks, false)
#define RING_SPLIT(K_X, M, blocks)                                                                                     \
  RING(tensor_ring_exact, u8, uint8_t, K_X, M, blocks, true)                                                           \
  RING(tensor_ring_exact, u16, uint16_t, K_X, M, blocks, true)
CNV_TENSOR_VARIANTS(TENSOR_U8)
CNV_TENSOR_EXACT_VARIANTS(TENSOR_SPLIT)
CNV_TENSOR_TIME_VARIANTS(TENSOR_OVER_TIME)
CNV_TENSOR_RING_VARIANTS(RING_U8)
CNV_TENSOR_RING_EXACT_VARIANTS(RING_SPLIT)

FUSED_ENTRIES(FUSED_ENTRY)

#define DENSE(type, T, K, R, TERMS, EXACT, blocks)                                                                     \
  extern "C" __global__ void __launch_bounds__(32 * CNV_TILE_WARPS, DENSE_FITTING(blocks))                             \
      cnv_dense_##type##_##K##_##R##_##TERMS##_##EXACT(const IN_PLACE CnvTileArgs l)                                   \
  {                                                                                                                    \
    dense<T, K, R, TERMS, EXACT>(l);                                                                                   \
  }
#define DENSE_EACH(K, R, TERMS, EXACT, blocks_u8, blocks_u16)                                                          \
  DENSE(u8, uint8_t, K, R, TERMS, EXACT, blocks_u8)                                                                    \
  DENSE(u16, uint16_t, K, R, TERMS, EXACT, blocks_u16)
CNV_DENSE_VARIANTS(DENSE_EACH)
