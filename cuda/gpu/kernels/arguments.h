/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Arguments that the host (launch.c, passes.c, tile_jobs.c) passes to the kernels: plain C, for both compilers. A
 * launch has a list of jobs. A block finds its job by its number, so all planes and regions of a frame share one
 * launch.
 */
#pragma once

#include <stdint.h>

#include "plan/cells.h"
#include "plan/noise_limits.h"

/* Most floats of taps in constant memory: the 64 KiB of a module. Kernel arguments are elsewhere. */
#define CNV_CONSTANT_TAPS 16384
#define CNV_CONSTANT_SYMBOL "cnv_taps"

#define CNV_ARGS_SOURCES 31

#ifdef __cplusplus
#define CNV_ALIGNED(n) alignas(n)
#else
#define CNV_ALIGNED(n) _Alignas(n)
#endif

/* Threads per block of kernels with block jobs. */
#define CNV_BLOCK_THREADS 256

/* Samples and rows that a block of 256 threads computes. naive, texture and stage: one thread per sample or pixel. */
#define CNV_POINT_WIDTH 32
#define CNV_POINT_HEIGHT 8
/* tiled and columns: a thread computes CNV_OUTPUTS samples, one below the other. */
#define CNV_COLUMNS_WIDTH 64
#define CNV_COLUMNS_HEIGHT 32
/* rows: a warp computes a row, each thread CNV_OUTPUTS samples, 32 apart. */
#define CNV_ROWS_WIDTH (32 * CNV_OUTPUTS)
#define CNV_ROWS_HEIGHT 8
#define CNV_OUTPUTS 8

/* mosaic: threads per row of a block, one word each. A block has whole cells, at least one, of about
 * CNV_MOSAIC_WIDTH bytes and CNV_MOSAIC_HEIGHT rows. The words of a row should not outnumber its threads. */
#define CNV_MOSAIC_THREADS 64
#define CNV_MOSAIC_WIDTH 248
#define CNV_MOSAIC_HEIGHT 16 /* 400x400 at r=8: 17.2 us; 32: 24.6, 64: 43; the whole frame 83, 84, 83 */

/* Returns the cells along an axis that a block filters. */
CNV_HOST_DEVICE static inline int
cnv_mosaic_cells(const CnvPlane *plane, int axis)
{
  const int bytes = plane->plain ? plane->component[0].bytes : (int)sizeof(float);
  const int samples = axis == CNV_X ? CNV_MOSAIC_WIDTH / bytes / plane->channels : CNV_MOSAIC_HEIGHT;
  const int cells = (samples << plane->cell_shift[axis]) / plane->cell[axis];

  return cells > 1 ? cells : 1;
}

/* Returns the blocks of a job along an axis. */
CNV_HOST_DEVICE static inline int
cnv_mosaic_blocks(const CnvPlane *plane, const CnvJob *job, int axis)
{
  const int at = axis == CNV_X ? job->x : job->y, size = axis == CNV_X ? job->width : job->height;
  const int cells = cnv_cell_of(plane, job, axis, at + size - 1) - cnv_cell_of(plane, job, axis, at) + 1;

  return (cells + cnv_mosaic_cells(plane, axis) - 1) / cnv_mosaic_cells(plane, axis);
}

/* cells: bytes of a row that a thread reads and writes. */
#define CNV_CELLS_CHUNK 16
#define CNV_CELLS_BLOCKS 4     /* blocks that fit a multiprocessor of sm_90 at once */
#define CNV_CELLS_BATCH 9      /* rows whose samples a thread loads at once */
#define CNV_CELLS_MAX 448      /* most pixels of a row of a block's cells */
#define CNV_CELLS_MAX_ROWS 128 /* most rows of cells of a block */
#define CNV_CELLS_SUMS 2048    /* most sums of wide cells in a turn: one per cell and channel */

/* Small cells: words of a row of a thread's group of cells, divided by a cell's luma samples along x. */
#define CNV_CELLS_GROUP_WORDS(cell) ((cell) == 3 ? 2 : 1)
#define CNV_CELLS_GROUP_MAX 7 /* largest small cell, in luma samples along an axis */

/* How a job of a mosaic is divided among the blocks of `cells`. */
typedef struct {
  int first[CNV_N_AXES], end[CNV_N_AXES]; /* the job's cells: number of the first, and one more than that of the last */
  int cells[CNV_N_AXES];                  /* cells of a block */
  int threads_x;                          /* threads per row of the block's samples */
  int parts;                              /* threads per row of cells, divided by threads_x */
  int turn;                               /* rows of cells that a block filters at a time */
  int lanes_shift;                        /* log2 of the threads that add up the columns of a cell */
  int group_cells; /* cells of a group in small_cells.cuh, which filters them if their rows begin at words; 0: none */
  int wide;        /* cells of 16 bytes or more, of 1, 2 or 4 channels */
  int slices;      /* blocks that share cells, some rows each; if more than 1, an earlier launch computes their sums */
} CnvCellBlocks;

/* A job of a kernel with block jobs. Its blocks are first_block to the one before the next job's, `columns` of them
 * side by side.
 *
 * Row sums begin at float number `sums` of the launch. Each term has sums_rows rows of sums_stride floats, after those
 * of the term before. sums_rows, a multiple of 8, includes all rows that the job's columns read; sums_stride is a
 * multiple of 64. The kernel cells has the sums of each block's cells there if it has slices. */
typedef struct {
  CnvJob job;
  int first_block, columns;
  int sums_stride, sums_rows;
  uint32_t sums;
  CnvCellBlocks cells;
} CnvBlockJob;

/* The frames of a history that are added up, each with a weight. delta: bytes from the frame `in` to each, multiples of
 * CNV_SOURCE_STEP. n = 0: there is only `in`. center: index of `in`. */
typedef struct {
  int n, center;
  float weight[CNV_ARGS_SOURCES], sum; /* sum: of the weights */
  int64_t delta[CNV_ARGS_SOURCES];
  int64_t first; /* the least delta, or 0 */
  /* If no weight is negative: the weights as integers of 16 bits, which times `unit` are the weights. A word has two;
   * the last one of an odd number is followed by 0. */
  uint32_t integer[(CNV_ARGS_SOURCES + 1) / 2];
  uint32_t integer_sum;
  float unit;
} CnvSources;

#define CNV_SOURCE_STEP 256

/* The thresholds over time (plan/plan.h) of the format's planes, as fractions of full scale. measured: device address
 * of those that follow from the noise (CnvNoiseState.threshold); 0: they are `given`. */
typedef struct {
  float given[CNV_MAX_PLANES];
  uint64_t measured;
} CnvThresholds;

/* Device addresses of planes, and their strides in bytes. */
typedef struct {
  uint64_t address[CNV_MAX_PLANES];
  int stride[CNV_MAX_PLANES];
} CnvAddresses;

/* The arguments of kernels with block jobs. */
typedef struct {
  uint64_t planes, jobs; /* device addresses: CnvPlane by plan and plane, CnvBlockJob */
  uint64_t coverage;     /* of all jobs (plan/job.h) */
  int n_jobs;
  uint64_t sums; /* float32 row sums */
  CnvSources sources;
  int averages; /* stage_in: averages the sources with a threshold; their staged form is a single frame */
  CnvThresholds thresholds;
  CnvAddresses in, out;                           /* planes of memory */
  CnvAddresses staged_in, staged_out;             /* float32 components of a plan's planes */
  int64_t staged_size;                            /* bytes from the staged form of one source to that of the next */
  uint64_t texture[CNV_MAX_PLANES], sums_texture; /* texture: objects over `in` and `sums`, of single samples */
  uint64_t texture_start[CNV_MAX_PLANES];         /* address of the first sample, at or before `in` */
  int is_first;                                   /* CnvKernelKind.is_first */
} CnvBlockArgs;

/* The state of the noise in device memory, by plane of the format: the latest measurements, as fractions of full
 * scale; the threshold that follows; how many blocks of threads have measured, 0 between launches; and what they have
 * found: the noise of each block of samples, or one of the numbers below. */
#define CNV_NOISE_FOUND (CNV_NOISE_BLOCKS * CNV_NOISE_BLOCKS * CNV_MAX_CHANNELS)
#define CNV_NOISE_EQUAL -1.0f   /* its samples are equal in both frames */
#define CNV_NOISE_UNKNOWN -2.0f /* its noise is clipped, or there is no such block */
typedef struct {
  float sigma[CNV_MAX_PLANES][CNV_NOISE_FRAMES];
  float threshold[CNV_MAX_PLANES];
  uint32_t done[CNV_MAX_PLANES];
  float found[CNV_MAX_PLANES][CNV_NOISE_FOUND];
} CnvNoiseState;

/* A plane of the format: pixels, and its components; bytes 0: one that is not measured. */
typedef struct {
  int width, height, channels;
  CnvComponent component[CNV_MAX_CHANNELS];
} CnvNoisePlane;

/* The arguments of noise, which measures the noise between two frames of a history (plan/noise.h). blockIdx.x is a row
 * of blocks of samples, blockIdx.y the plane. */
#define CNV_NOISE_THREADS 256

typedef struct {
  CnvNoisePlane plane[CNV_MAX_PLANES];
  CnvAddresses in; /* the output's frame */
  int64_t delta;   /* bytes from it to the frame it is compared with */
  int n;           /* measurements before this one */
  uint64_t state;  /* device address of CnvNoiseState */
  uint64_t seen;   /* address in page-locked memory of a copy of the thresholds, for statistics */
} CnvNoiseArgs;

/* The arguments of cover, which computes the coverage of jobs: device addresses of CnvBlockJob, of the arrays of
 * CnvCover, and of the coverage. */
typedef struct {
  uint64_t jobs, grids, cells, lists, shapes, places, mask_cells, coverage;
  int n_jobs;
} CnvCoverArgs;

/* cover: pixels and rows of a block of 32 x CNV_COVER_HEIGHT threads. */
#define CNV_COVER_WIDTH 128
#define CNV_COVER_HEIGHT 8

/* A job with its plane and addresses, as kernels use it. */
typedef struct {
  CnvPlane a;
  CnvJob job;
  uint64_t in;               /* address of the window's first sample */
  uint64_t out, back;        /* addresses of the job's first output, and of the input's sample at that place */
  int in_stride, out_stride; /* bytes */
  int bytes;                 /* bytes of a sample; staged planes: float32 */
  int width, height;         /* of the window */
  int x, y;                  /* of the job's first sample, relative to the window */
  CnvSources sources;
  /* The block's part of the job; only in kernels. */
  int block_x, block_y;
  uint64_t coverage;
  float *row_sums; /* of the job */
  int sums_stride, sums_rows;
  int columns; /* of CnvBlockJob, as is `cells` */
  CnvCellBlocks cells;
} CnvBlock;

/* Fills in addresses and sizes from the job and plane m of the addresses. Staged planes are not moved here: stage_out
 * moves them. */
CNV_HOST_DEVICE static inline void
cnv_block_locate(CnvBlock *b, const CnvAddresses *in, const CnvAddresses *out, int m)
{
  const CnvJob *p = &b->job;
  const int plain = b->a.plain, bytes = plain ? b->a.component[0].bytes : (int)sizeof(float);
  const int64_t row = (int64_t)p->window_y * p->fields + p->field, pixel = b->a.channels * bytes;
  const int64_t to_row = (int64_t)(p->y + (plain ? p->move_y : 0)) * p->fields + p->field;
  const int64_t to_x = (p->x + (plain ? p->move_x : 0)) * pixel;

  b->in = in->address[m] + row * in->stride[m] + p->window_x * pixel;
  b->back = in->address[m] + to_row * in->stride[m] + to_x;
  b->out = out->address[m] + to_row * out->stride[m] + to_x;
  b->in_stride = in->stride[m] * p->fields;
  b->out_stride = out->stride[m] * p->fields;
  b->bytes = bytes;
  b->width = p->window_width;
  b->height = p->window_height;
  b->x = p->x - p->window_x;
  b->y = p->y - p->window_y;
}

/* Fills in addresses and sizes from the launch's arguments. */
CNV_HOST_DEVICE static inline void
cnv_block_locate_in(CnvBlock *b, const CnvBlockArgs *l)
{
  if (b->a.plain)
    cnv_block_locate(b, &l->in, &l->out, b->a.component[0].plane);
  else
    cnv_block_locate(b, &l->staged_in, &l->staged_out, b->job.plane);
}

typedef struct {
  uint64_t in, out;
  int in_stride, out_stride; /* bytes */
  int bytes, rows;           /* bytes of a row, and rows to copy */
  /* kinds: device address of the CnvTileKind of each tile, as bytes. Only tiles of the kind CNV_TILE_KEPT are copied.
   * 0: all bytes are copied. tile_inverse: 2^32 divided by the bytes of a tile's row (a multiple of 16) and by its rows
   * (a multiple of 8), rounded up. */
  uint64_t kinds;
  uint32_t tile_inverse[CNV_N_AXES];
  int columns; /* tiles side by side */
} CnvCopyPlane;

/* copy: blockIdx.z is the plane. */
typedef struct {
  CnvCopyPlane plane[CNV_MAX_PLANES];
  /* The previous launch writes other samples of the output, and lets this one begin after all earlier launches are
   * done. So the kernel waits for the previous launch only at its end. */
  int beside;
} CnvCopyArgs;

/* A copy thread moves 16 bytes if addresses allow. Threads of a block: 32 x 8. */
#define CNV_COPY_BYTES 16

/* copy_jobs: a rectangle of a plane of memory. A row's first block begins at the last multiple of CNV_COPY_BYTES at or
 * before the row's first byte. */
typedef struct {
  int plane, x, y, bytes, rows; /* x: bytes from the beginning of a row */
  int step;                     /* from each row to the next, in rows of the plane */
  int first_block, columns;
} CnvCopyJob;

typedef struct {
  uint64_t jobs, blocks; /* device addresses: CnvCopyJob; for each block the number of its job (uint32_t) */
  CnvAddresses in, out;
} CnvCopyJobsArgs;

/* Tile jobs, for kernels that filter a job in one launch (fused, one_tap, blur, dense). A block has CNV_TILE_WARPS
 * warps (one_tap: CNV_ONE_TAP_WARPS) and filters one tile. The tiles of a job are numbered row by row. Samples are
 * counted along a row over all channels, so that one kernel serves any number of channels: neighbouring taps are
 * `channels` samples apart. */
#define CNV_TILE_WARPS 4
#define CNV_TILE_JOBS_INLINE 4 /* up to this number of jobs are arguments; more are in memory */

/* Tiles of samples in shared memory (tile.cuh): samples of a dense tile's width; apron in bytes, rounded up to 16; row
 * pitch, an odd number of units of 16 bytes so that eight rows fall into different banks; bytes of a tile. */
#define CNV_TILE_WIDTH (32 * CNV_TILE_WARPS)
#define CNV_TILE_APRON(bytes) (((bytes) + 15) / 16 * 16)
#define CNV_TILE_PITCH(unit, row_bytes, lead_bytes)                                                                    \
  ((((row_bytes) + 2 * CNV_TILE_APRON(lead_bytes) + (unit)-1) / (unit) | 1) * (unit))
#define CNV_TILE_BYTES(pitch, rows) (((pitch) * (rows) + 127) / 128 * 128)
/* Bytes of a row in the boxes of results. */
#define CNV_TILE_OUT_BOX(row_bytes) ((row_bytes) < 128 ? (row_bytes) : 128)

/* Kernels use the copy engine of compute capability 9.0 if the compiler is CUDA 12 or newer. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ >= 12
#define CNV_BULK_COPIES 1
#else
#define CNV_BULK_COPIES 0
#endif

/* Most samples of a tile's row with its apron: of all kernels except decimate, and of decimate. */
#define CNV_TILE_SAMPLES 336
#define CNV_DECIMATE_SAMPLES(wide) ((wide) ? 640 : CNV_TILE_SAMPLES)

/* Most rows that the copy engine loads at once. */
#define CNV_TILE_MAP_ROWS 256

/* Variants of blur: name; bits of a sample; steps of 16 samples along x, and of 16 rows, that 16 outputs read; groups
 * of 16 samples that a warp computes side by side; f16 numbers per tap and row sum; frames (2: two or more); rows of a
 * tile; blocks that should fit a multiprocessor; plain: 1 if the kernel has a second form for plain launches
 * (CnvTileArgs.plain). That form takes 0.4 to 2 us less of 11 to 16 (4K NV12), because other code costs instructions in
 * every block, and space in the instruction cache. */
#define CNV_BLUR_VARIANTS(V)                                                                                           \
  V(blur, 8, 2, 2, 2, 1, 1, 80, 7, 1)                                                                                  \
  V(blur, 8, 3, 3, 2, 1, 1, 96, 5, 1)                                                                                  \
  V(blur, 8, 5, 2, 2, 1, 1, 112, 5, 1)                                                                                 \
  V(blur, 8, 7, 3, 2, 1, 1, 112, 4, 1)                                                                                 \
  V(blur, 8, 5, 5, 2, 1, 1, 80, 3, 1)                                                                                  \
  V(blur_split, 8, 3, 3, 1, 2, 1, 128, 4, 0)                                                                           \
  V(blur_split, 16, 2, 2, 2, 2, 1, 64, 4, 1)                                                                           \
  V(blur_split, 16, 3, 3, 1, 2, 1, 128, 4, 0)                                                                          \
  V(blur_split, 16, 5, 5, 1, 2, 1, 128, 3, 0)                                                                          \
  V(blur_over_time, 8, 2, 2, 2, 2, 2, 64, 4, 0)                                                                        \
  V(blur_over_time, 8, 5, 5, 1, 2, 2, 128, 3, 0)                                                                       \
  V(blur_over_time, 16, 5, 5, 1, 2, 2, 128, 3, 0)
/* Variants of blur_pixels, for words of four channels, one of which is copied: steps of 16 pixels along x, and of 16
 * rows; rows of a tile; blocks; plain. */
#define CNV_BLUR_PIXELS_VARIANTS(V)                                                                                    \
  V(2, 2, 64, 5, 1)                                                                                                    \
  V(3, 3, 64, 4, 1)
/* Samples of a tile's width: 16 pixels of each warp. */
#define CNV_PIXEL_WIDTH (64 * CNV_TILE_WARPS)
/* Variants of blur_deep, for samples of 11 to 16 bits: steps along x and y; groups of 16 samples; rows of a tile;
 * blocks. */
#define CNV_BLUR_DEEP_VARIANTS(V)                                                                                      \
  V(2, 2, 1, 80, 5)                                                                                                    \
  V(3, 3, 2, 64, 3)                                                                                                    \
  V(5, 5, 1, 128, 3)
/* The same for words of four channels, one of which is copied: steps of 16 pixels along x, and of 16 rows; rows of a
 * tile; blocks. */
#define CNV_BLUR_DEEP_PIXELS_VARIANTS(V)                                                                               \
  V(2, 2, 48, 3)                                                                                                       \
  V(3, 3, 48, 2)
#define CNV_DEEP_BITS 6                    /* bits of the lower part of a sample */
#define CNV_DEEP_UNIT (1 << CNV_DEEP_BITS) /* levels of one step of a sample's upper part */
#define CNV_DEEP_ROW_UNIT 32               /* levels of one step of a row sum's upper part */
/* blur_weighed: normalised convolution (convolve/work.h) of samples of 8 bits. Variants: steps along each axis; steps
 * of the kernel that runs it; rows of a tile; blocks. Kernels: steps; blocks. */
#define CNV_BLUR_WEIGHED_VARIANTS(V)                                                                                   \
  V(2, 3, 80, 4)                                                                                                       \
  V(3, 3, 80, 4)                                                                                                       \
  V(5, 5, 64, 3)                                                                                                       \
  V(7, 7, 64, 2)
#define CNV_BLUR_WEIGHED_KERNELS(V)                                                                                    \
  V(3, 4)                                                                                                              \
  V(5, 3)                                                                                                              \
  V(7, 2)
#define CNV_WEIGHED_WIDTH (32 * CNV_TILE_WARPS)
#define CNV_WEIGHED_UNIT 16777216.0 /* factor of the quotient of its sums */
/* Variants of blur_ring, with any steps along y: name; bits; steps along x; f16 numbers per tap and row sum; rows of a
 * round divided by 16; blocks. */
#define CNV_RING_VARIANTS(V)                                                                                           \
  V(ring, 8, 9, 1, 4, 4)                                                                                               \
  V(ring, 8, 17, 1, 4, 2)                                                                                              \
  V(ring_split, 8, 9, 2, 2, 2)                                                                                         \
  V(ring_split, 16, 9, 2, 2, 2)
#define CNV_RING_WIDTH 64 /* samples of a strip's width */
#define CNV_RING_ROWS 448 /* most rows of a strip */
#define CNV_RING_STEPS 17 /* most steps along y */
/* Groups of 16 rows of row sums that the ring holds, if a round loads `blocks` groups. */
#define CNV_RING_SLOTS(steps, blocks) (((steps) + (blocks)-2) / (blocks) * (blocks) + (blocks))
/* Samples or rows on each side of 16 outputs that k steps include. */
#define CNV_BLUR_LEAD(k) (8 * ((k)-1))
#define CNV_BLUR_ROWS 128 /* most rows of a tile */

/* Returns the shared memory of blur_ring: a round's rows, row sums, taps, and two times 16 rows of outputs per warp.
 * parts: f16 numbers per tap and row sum. */
CNV_HOST_DEVICE static inline int
cnv_ring_bytes(int bytes, int pitch, int k_x, int steps, int blocks, int parts)
{
  const int fragment = 32 * 16, groups = CNV_RING_WIDTH / 16, out_width = 16 * groups * blocks / CNV_TILE_WARPS / 2;

  return CNV_TILE_BYTES(pitch, 16 * blocks) + CNV_RING_SLOTS(steps, blocks) * groups * parts * fragment +
         (k_x + steps) * parts * fragment + CNV_TILE_WARPS * 32 * (out_width * bytes + 16);
}

/* Variants of dense: bits of a sample; steps of 16 bytes of a window; terms; digits of a sum; rows of taps in registers
 * (even; 0: any number, from memory); samples that a warp computes side by side; blocks that should fit a
 * multiprocessor; plain. Sums of samples of 16 bits have three digits, because both samples and taps have two. */
#define CNV_DENSE_VARIANTS(V)                                                                                          \
  V(8, 1, 1, 1, 4, 32, 7, 1)                                                                                           \
  V(8, 1, 1, 2, 4, 32, 7, 1)                                                                                           \
  V(8, 1, 1, 2, 6, 32, 6, 1)                                                                                           \
  V(8, 1, 1, 2, 8, 32, 6, 1)                                                                                           \
  V(8, 2, 1, 2, 0, 64, 4, 0)                                                                                           \
  V(8, 3, 1, 2, 0, 64, 4, 0)                                                                                           \
  V(8, 6, 1, 3, 0, 32, 3, 0)                                                                                           \
  V(8, 1, 2, 1, 4, 32, 7, 1)                                                                                           \
  V(8, 4, 2, 2, 0, 32, 2, 0)                                                                                           \
  V(16, 2, 1, 3, 0, 32, 4, 0)                                                                                          \
  V(16, 4, 1, 3, 0, 32, 4, 0)                                                                                          \
  V(16, 6, 1, 3, 0, 32, 3, 0)                                                                                          \
  V(16, 4, 2, 3, 0, 32, 2, 0)
/* Variants of dense_over_time, for samples of 8 bits: rows of taps; pairs of frames; blocks that should fit a
 * multiprocessor; plain. */
#define CNV_DENSE_OVER_TIME_VARIANTS(V)                                                                                \
  V(3, 2, 6, 1)                                                                                                        \
  V(5, 3, 4, 1)
#define CNV_DENSE_ROWS 64           /* rows of a tile */
#define CNV_DENSE_ROWS_OVER_TIME 32 /* rows of a tile of dense_over_time */
#define CNV_DENSE_K 16              /* bytes of a step */
/* Products of 8 outputs that share a window of the tile; and samples of a window on each side of its outputs. */
#define CNV_DENSE_PRODUCTS(bytes, k) ((k) == (bytes) ? 1 : 2)
#define CNV_DENSE_LEAD(bytes, k) (8 * (k) / (bytes)-4 * CNV_DENSE_PRODUCTS(bytes, k))
/* Row pitch of dense_over_time, whose lanes read adjacent words. */
#define CNV_DENSE_PITCH_OVER_TIME (CNV_TILE_WIDTH + 2 * CNV_TILE_APRON(CNV_DENSE_LEAD(1, 1)))
/* Fragments of the taps of two rows: each is the operand B of one product, two words per lane. */
#define CNV_DENSE_FRAGMENTS(bytes, k, terms, digits) ((k) * (terms) * (digits)*CNV_DENSE_PRODUCTS(bytes, k))

/* one_tap: warps of a block; bytes and rows of a tile. */
#define CNV_ONE_TAP_WARPS 8
#define CNV_ONE_TAP_BYTES 512
#define CNV_ONE_TAP_ROWS 16

/* average: samples that a thread filters side by side. 8 bits: row pitch of a tile, and its rows. 16 bits: samples of a
 * tile's width, since the first and last lane of a warp only read neighbours, and its rows. */
#define CNV_AVERAGE_SAMPLES 4
#define CNV_AVERAGE_PITCH (CNV_TILE_WIDTH + 2 * CNV_TILE_APRON(CNV_AVERAGE_SAMPLES))
#define CNV_AVERAGE_BYTES_ROWS 32
#define CNV_AVERAGE_WIDTH (30 * CNV_AVERAGE_SAMPLES)
#define CNV_AVERAGE_ROWS 64

/* fused: samples of a tile's row with its apron, rows that a block filters at a time, rows of a tile, and groups of
 * eight taps of an axis after the first tap. */
#define CNV_FUSED_LOADED 256
#define CNV_FUSED_ROWS 16
#define CNV_FUSED_TILE_ROWS 32
#define CNV_FUSED_MAX_TAPS 97 /* most taps along an axis */
#define CNV_FUSED_GROUPS(taps) (((taps) + 6) / 8)

/* Wide gaussians: `decimate` computes one sample per several pixels and rows. If taps are very wide, `decimate_again`
 * computes one sample per several of these. `interpolate` filters the samples and computes the outputs. Along an axis
 * at step D, counted from the job's anchor, decimated sample j is the sum of pixels from D * j - (D - 1) on, times the
 * 3 * D - 2 taps of a spline of three boxes of D pixels. It is stored as a number of 16 bits, of which the lower
 * CNV_DECIMATED_BITS are a fraction, so that flat content is exact. */
typedef struct {
  int first[CNV_N_AXES], last[CNV_N_AXES]; /* first and last sample; samples beyond equal these or are not read */
  uint8_t shift[CNV_N_AXES];               /* log2 of the step */
  int pitch, plane;                        /* numbers from row to row, and from channel to channel */
  uint32_t at; /* index of the first row's first number, which is CNV_DECIMATED_MARGIN before the first sample */
} CnvLattice;

typedef struct {
  CnvLattice from, to; /* the lattices that are read and computed */
  float gain;          /* interpolate: sum of the taps */
  int anchor;          /* pixel of sample 0 along x, a multiple of 16; along y it is the job's first row */
  int16_t lead[CNV_N_AXES], n[CNV_N_AXES]; /* interpolate: first sample that an output reads, relative to the sample at
                                            * its place, and number of samples that it reads */
  int16_t groups;                          /* decimate: groups of 16 samples side by side in a tile: 1, 2 or 4 */
  int16_t pitch;                           /* decimate: bytes from row to row of a tile */
  int bands_begin;                         /* decimate: byte of shared memory where bands begin */
} CnvDecimation;

#define CNV_DECIMATED_BITS(bytes) ((bytes) == 1 ? 8 : 6)
#define CNV_DECIMATED_MARGIN 40 /* numbers beside the samples of a row, equal to the first */
#define CNV_DECIMATED_BEYOND 72 /* at least this many numbers after them, equal to the last */
#define CNV_DECIMATE_APRON 16   /* pixels of a tile to the left of its first sample */
#define CNV_DECIMATE_ROWS 16    /* most samples of a column that a tile computes */
/* Lanes that compute a sample of decimate_again together: each reads at most two rows. shift: log2 of the step along y.
 */
#define CNV_DECIMATE_AGAIN_LANES(shift) (2 << (shift))
/* Rows of a tile of interpolate, by plane: MORE if enough blocks remain and fit the GPU (gpu/decimated.c). */
#define CNV_INTERPOLATE_ROWS 64
#define CNV_INTERPOLATE_MORE_ROWS 128

/* Most samples along an axis that 16 outputs read, and that one output reads. */
#define CNV_INTERPOLATE_WINDOW(bytes) (32 * (bytes))
#define CNV_INTERPOLATE_TAPS(bytes) (CNV_INTERPOLATE_WINDOW(bytes) - 7)
/* Variants: name, bits, most channels, whether there are more than two, and blocks that should fit a multiprocessor.
 * One kernel of interpolate serves three and four channels, whose tiles differ in width. */
#define CNV_DECIMATE_VARIANTS(V)                                                                                       \
  V(decimate, 8, 2, false, 7)                                                                                          \
  V(decimate_pixels, 8, 4, true, 4)                                                                                    \
  V(decimate, 16, 2, false, 5)
#define CNV_INTERPOLATE_KERNELS(V)                                                                                     \
  V(interpolate, 8, false, 6)                                                                                          \
  V(interpolate_pixels, 8, true, 4)                                                                                    \
  V(interpolate, 16, false, 3)
#define CNV_INTERPOLATE_VARIANTS(V)                                                                                    \
  V(interpolate, 8, 2, 6)                                                                                              \
  V(interpolate_pixels, 8, 3, 4)                                                                                       \
  V(interpolate_pixels, 8, 4, 4)                                                                                       \
  V(interpolate, 16, 2, 3)
/* Pixels of a tile's width, by channels. */
#define CNV_INTERPOLATE_PIXELS(channels) ((channels) % 2 ? 128 : 64)
#define CNV_INTERPOLATE_WIDTH(channels) ((channels)*CNV_INTERPOLATE_PIXELS(channels))
/* Pixels of a step of products. */
#define CNV_DECIMATE_UNIT(bytes) (32 / (bytes))
/* Steps along x of 16 samples, and steps of 16 rows that 8 samples of a column read. */
#define CNV_DECIMATE_STEPS_X(bytes, step) ((17 * (step) + 15 + CNV_DECIMATE_UNIT(bytes) - 1) / CNV_DECIMATE_UNIT(bytes))
#define CNV_DECIMATE_STEPS_Y(step) ((10 * (step)-3) / 16 + 1)
/* Positions that 16 outputs may have between samples, along x and along y. Each has fragments of taps of its own. */
#define CNV_INTERPOLATE_PLACES_X(shift) ((shift) > 3 ? 1 << ((shift)-3) : 1)
#define CNV_INTERPOLATE_PLACES_Y(shift) ((shift) > 3 ? CNV_INTERPOLATE_MORE_ROWS / 16 : 1 << ((shift)-1))

/* Returns the pitch of interpolate's window in shared memory, in numbers: an odd multiple of 8, so that eight rows are
 * in different banks. */
CNV_HOST_DEVICE static inline int
cnv_interpolate_pitch(int channels, int bytes, int shift)
{
  return ((((CNV_INTERPOLATE_PIXELS(channels) - 16) >> shift) + 7 + CNV_INTERPOLATE_WINDOW(bytes) + 7) / 8 | 1) * 8;
}

/* Returns the positions along y that a tile of `rows` rows has. */
CNV_HOST_DEVICE static inline int
cnv_interpolate_places(int shift, int rows)
{
  return CNV_INTERPOLATE_PLACES_Y(shift) < rows / 16 ? CNV_INTERPOLATE_PLACES_Y(shift) : rows / 16;
}

/* Returns the rows of interpolate's window for a tile of `rows` rows. */
CNV_HOST_DEVICE static inline int
cnv_interpolate_rows(const CnvDecimation *d, int rows)
{
  return ((rows - 1) >> d->from.shift[CNV_Y]) + d->n[CNV_Y];
}

/* Returns the rows of pixels of decimate's tile. Tiles of 128 rows took up to 2 us more, although fewer pixels are read
 * twice. */
static inline int
cnv_decimate_rows(int shift)
{
  return shift < 2 ? CNV_DECIMATE_ROWS << shift : 64;
}

/* A job whose tiles a kernel filters in one launch. */
typedef struct {
  /* The head, CNV_TILE_JOB_HEAD words: the numbers that kernels need for each sample.
   *
   * blur: start values of row sums and of levels, four times each, as the tensor cores' instruction reads them. If the
   * compiler knew that the four are equal, it would copy the number for each product. blur_deep: start values of the
   * main and of the rest sums of rows. */
  CNV_ALIGNED(16) float first_sum[4], first_level[4];
  int shift, full_bits;
  int combine;
  int clamps, renormalizes; /* clamps: levels may be below 0 or above full */
  float center;             /* the tap on the sample itself; blur: in addition to the others; one_tap: the only one */
  float bias[2];            /* dense, one_tap: added to the terms' sums */
  /* These are equal for all filtered channels. dense, one_tap: gain is for sums of samples as stored. blur_weighed:
   * gain and fraction convert the quotient of the sums to a level, as a fraction of full. */
  float mid, mid_bias, gain, fraction;
  float offset; /* blur, dense, one_tap: added to sums before they are rounded to levels */
  int base;
  /* Mask of the bits of four stored samples, the first at a multiple of four, that are copied from the input. For
   * samples of 8 bits the first word is the mask. */
  CNV_ALIGNED(8) uint32_t copied_bits[2];
  int steps_y;      /* blur: steps of 16 rows that 16 outputs read */
  uint32_t bands;   /* blur, dense: index of the first word of their fragments of taps */
  int blends;       /* the job has coverage */
  int pointers;     /* index in the launch's addresses and strides */
  int format_plane; /* average: as in CnvPlane */

  CnvJob job;
  int first_block, inner_block; /* first block of the tiles at the edges, and of the inner tiles (cnv_tile_edges) */
  int columns, rows;            /* columns: tiles of a row; rows: of a tile */
  int last_row;                 /* number of the last row of tiles */
  uint32_t inner_inverse;       /* 2^32 / (columns - 2), rounded up, to avoid a division; 0: at most 3 columns */
  int box_rows;                 /* rows of a tile with its apron */
  int origin;                   /* first sample of the first tile, at or before the job's; a multiple of 16 */
  int top;                      /* rows that taps reach above an output */
  int lead;                     /* fused: samples before a tile's outputs, and as many after them */
  /* Inner tiles begin at samples inner_x0 to inner_x1 - 1 and rows inner_y0 to inner_y1 - 1: all samples that their
   * taps reach are in the window, and all of their outputs are the job's. */
  int inner_x0, inner_x1, inner_y0, inner_y1;
  int channels, border;
  uint32_t filtered, copied; /* of CnvPlane */
  CnvTerm term;              /* with its taps in constant memory; dense: only size and anchor */
  CnvDecimation decimation;
  float border_value[CNV_MAX_CHANNELS];
} CnvTileJob;

#define CNV_TILE_JOB_HEAD 30

/* Returns the number of a job's tiles at its edges.
 *
 * Tiles that fill in samples take longer than others, because their code is seldom in the instruction cache. Such
 * misses cost nothing in the middle of a launch, but delay its end. So tiles at the edges of a job come before its
 * inner ones. In a launch of up to CNV_TILE_JOBS_INLINE jobs, the edges of all jobs come before the inner tiles of the
 * first. 4K NV12, r=8: 12.0 us with the tiles row by row, 11.0 in this order. */
CNV_HOST_DEVICE static inline int
cnv_tile_edges(const CnvTileJob *job)
{
  return job->last_row == 0 ? job->columns : 2 * job->columns + (job->columns > 1 ? 2 : 1) * (job->last_row - 1);
}

/* Finds the column and row of a block's tile. The order of tiles at the edges is: last row, first row, sides. */
CNV_HOST_DEVICE static inline void
cnv_tile_place(const CnvTileJob *job, int block, int *column, int *row)
{
  const int columns = job->columns;
  int n;

  if (block >= job->inner_block) {
    n = block - job->inner_block;
    *row = job->inner_inverse ? (int)((uint64_t)n * job->inner_inverse >> 32) : n;
    *column = 1 + n - *row * (columns - 2);
    ++*row;
    return;
  }
  n = block - job->first_block;
  if (n < 2 * columns) {
    *row = n < columns ? job->last_row : 0;
    *column = n < columns ? n : n - columns;
    return;
  }
  n -= 2 * columns;
  *row = 1 + (columns > 1 ? n >> 1 : n);
  *column = columns > 1 && n & 1 ? columns - 1 : 0;
}

/* The copy engine's map of a plane. Its coordinates are: 32-bit word of a row, field, row of the field, and steps of
 * CNV_SOURCE_STEP bytes from the frame at the lowest address. */
typedef struct {
  CNV_ALIGNED(64) uint64_t words[16];
} CnvTensorMap;

/* The kind of a tile by its weights: all 0; some below 1; all 1; or unknown until they are loaded. */
typedef enum { CNV_TILE_KEPT, CNV_TILE_BLENDED, CNV_TILE_FILTERED, CNV_TILE_UNKNOWN } CnvTileKind;

/* Longest wait of a block for others in place, in clocks: about 0.1 s. */
#define CNV_READERS_CLOCKS 200000000ll

/* The tile of a block, if the launch has a list: number of its job, and its kind. */
typedef struct {
  uint32_t job : 24, kind : 8;
  uint16_t column, row;
} CnvTilePlace;

typedef struct {
  CnvTensorMap map[CNV_MAX_PLANES], out_map[CNV_MAX_PLANES];
  uint32_t maps; /* bit p: rows of plane p begin at multiples of 16 bytes, and there is a map if the GPU supports it */
  uint32_t out_maps; /* bit p: there is a map of output plane p */
  /* cover_maps: bit p: there is a map of the coverage of plane p. A tile of the kind CNV_TILE_BLENDED is loaded
   * together with its coverage. */
  CnvTensorMap cover_map[CNV_MAX_PLANES];
  uint32_t cover_maps;
  /* Device addresses. jobs: CnvTileJob if there are more than CNV_TILE_JOBS_INLINE, followed by the number of its job
   * for each block (uint32_t). bands: words of bands. */
  uint64_t jobs, bands;
  uint64_t coverage;  /* device address: coverage of all jobs (plan/job.h) */
  uint64_t decimated; /* device address: numbers of decimated samples */
  uint64_t tiles; /* device address: CnvTilePlace of each block; 0: the blocks filter all tiles of all jobs in order */
  int plain;      /* no job has coverage or renormalizes, and no block waits for readers */
  int leads;      /* the launch after this one does not wait for it (CnvCopyArgs.beside) */
  /* readers: device address of a counter (uint32_t, which wraps) of the blocks that have read their tiles, for launches
   * that filter in place and whose blocks all run at the same time. No block writes before the counter has the value
   * all_readers. 0: the blocks write another frame than they read. */
  uint64_t readers;
  uint32_t all_readers;
  int n_jobs;
  int first_block[CNV_TILE_JOBS_INLINE]; /* of each job in `job`; INT_MAX after the last job */
  int inner_block[CNV_TILE_JOBS_INLINE]; /* likewise */
  CnvAddresses in, out;
  CnvTileJob job[CNV_TILE_JOBS_INLINE];
  CnvSources sources;
  CnvThresholds thresholds;
} CnvTileArgs;
