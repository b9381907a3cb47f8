/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Arguments of the kernels, from the host (launch.c, passes.c, tile_jobs.c): plain C, read by both compilers. A launch
 * works on a list of units; a block finds its own by its number, and so all planes and regions of a frame share one
 * launch.
 */
#pragma once

#include <stdint.h>

#include "plan/plane.h"
#include "plan/rect_job.h"

/* Constant memory of a module is 64 KiB; kernel arguments are elsewhere. */
#define CNV_CONSTANT_TAPS 16384
#define CNV_CONSTANT_SYMBOL "cnv_taps"

#define CNV_ARGS_SOURCES 31

/* Kernels that work on units have so many threads a block. */
#define CNV_UNIT_THREADS 256

/* Samples and rows that such a block makes. naive, texture, and what goes between a frame and its staged form: a thread
 * a sample or pixel. */
#define CNV_POINT_WIDTH 32
#define CNV_POINT_HEIGHT 8
/* tiled and columns: a thread makes CNV_OUTPUTS samples one below the other. */
#define CNV_COLUMNS_WIDTH 64
#define CNV_COLUMNS_HEIGHT 32
/* rows: a warp makes a row, each thread CNV_OUTPUTS samples, 32 apart. */
#define CNV_ROWS_WIDTH (32 * CNV_OUTPUTS)
#define CNV_ROWS_HEIGHT 8
#define CNV_OUTPUTS 8

typedef struct {
  CnvRectJob job;
  int plane_args;               /* index of its CnvPlane, whose terms have their taps in constant memory */
  int pointers;                 /* index in the launch's addresses and strides */
  uint32_t sums[CNV_MAX_TERMS]; /* separable: first of each term's row sums in the launch's, a multiple of 64 floats; */
  int sums_stride;              /* job height + n_y - 1 rows of so many floats, a multiple of 64 */
} CnvRectArgs;

/* Blocks first_block to that of the next unit belong to a job, or to one term of it. */
typedef struct {
  int job, term;
  int first_block, blocks_x;
} CnvUnit;

/* The frames of a history that count, each with a weight; they lie so many bytes from the one that is `in`. 0: `in`
 * alone. */
typedef struct {
  int n;
  float weight[CNV_ARGS_SOURCES];
  int64_t delta[CNV_ARGS_SOURCES];
} CnvSources;

/* The arguments of kernels that work on units. */
typedef struct {
  uint64_t planes, jobs, mask_rects, units; /* device addresses of arrays of the structures above and of CnvMaskRect */
  int n_units;
  uint64_t sums; /* float32 row sums */
  CnvSources sources;
  uint64_t in[CNV_MAX_PLANES]; /* device addresses of planes of memory, or of staged planes */
  uint64_t out[CNV_MAX_PLANES];
  int in_stride[CNV_MAX_PLANES], out_stride[CNV_MAX_PLANES]; /* bytes */
  uint64_t staged_in[CNV_MAX_PLANES],
      staged_out[CNV_MAX_PLANES]; /* stage kernels: float32 components of a plan's planes */
  int staged_stride[CNV_MAX_PLANES];
  uint64_t texture[CNV_MAX_PLANES], sums_texture; /* texture: objects over `in` and `sums`, of single samples */
  uint64_t texture_start[CNV_MAX_PLANES];         /* address of the first, at or before `in` */
} CnvLaunchArgs;

/* A job with its plane and addresses, as kernels work on it. */
typedef struct {
  CnvPlane a;
  CnvRectJob job;
  uint32_t sums[CNV_MAX_TERMS]; /* of CnvRectArgs */
  int sums_stride;
  uint64_t in;        /* first sample of the window, and bytes from row to row */
  uint64_t out, back; /* where the job's first sample goes, and the input's sample there */
  int in_stride, out_stride, back_stride;
  int width, height; /* of the window */
  int x, y;          /* of the job's first sample, relative to the window */
  CnvSources sources;
} CnvBlock;

/* Fills in addresses and sizes, from the job and the addresses of its planes. bytes: of a sample. Staged planes stay in
 * their place; stage_out moves them. */
CNV_HOST_DEVICE static inline void
cnv_block_locate(CnvBlock *b, uint64_t in, int in_stride, uint64_t out, int out_stride, int bytes)
{
  const CnvRectJob *p = &b->job;
  const int staged = bytes == sizeof(float), pixel = b->a.channels * bytes;
  const int64_t row = (int64_t)p->window_y * p->fields + p->field, to_y = p->y + (staged ? 0 : p->move_y);
  const int64_t to_row = to_y * p->fields + p->field, to_x = (int64_t)(p->x + (staged ? 0 : p->move_x)) * pixel;

  b->in = in + row * in_stride + (int64_t)p->window_x * pixel;
  b->back = in + to_row * in_stride + to_x;
  b->out = out + to_row * out_stride + to_x;
  b->in_stride = in_stride * p->fields;
  b->back_stride = in_stride * p->fields;
  b->out_stride = out_stride * p->fields;
  b->width = p->window_width;
  b->height = p->window_height;
  b->x = p->x - p->window_x;
  b->y = p->y - p->window_y;
}

typedef struct {
  uint64_t in, out;
  int in_stride, out_stride; /* bytes */
  int bytes, rows;           /* to copy: bytes of a row, rows */
} CnvCopyPlane;

/* copy: blockIdx.z is the plane. */
typedef struct {
  CnvCopyPlane plane[CNV_MAX_PLANES];
} CnvCopyArgs;

/* A copy thread moves 16 bytes where addresses allow. Threads of a block: 32 x 8. */
#define CNV_COPY_BYTES 16

/* Tile jobs, for kernels that do all of a job in one launch (fused, tensor, dense). A block is CNV_TILE_WARPS warps
 * that work side by side; each makes one tile, the tiles of a job being numbered row by row. Samples are counted along
 * a row over all channels, so that channels need no kernels of their own: a tap's neighbour is `channels` samples away.
 */
#define CNV_TILE_WARPS 4
#define CNV_TILE_JOBS_INLINE 4 /* so many come with the arguments, others from memory */

/* k steps of 16 samples along x and y that a kernel's bands reach over; groups of 16 samples that a warp makes side by
 * side; blocks that should fit a multiprocessor. 16 * k_x - 15 >= samples from the first to the last tap of the widest;
 * 16 * k_y - 7 >= rows of taps. */
#define CNV_TENSOR_VARIANTS(V) V(2, 1, 4, 5) V(2, 2, 4, 4)
/* The same with taps and row sums split in two numbers each: for more than 8 bits, and signed taps. */
#define CNV_TENSOR_EXACT_VARIANTS(V) V(2, 1, 4, 3) V(2, 2, 2, 3)
/* And for the sum of several frames. */
#define CNV_TENSOR_TIME_VARIANTS(V) V(2, 1, 4, 3) V(2, 2, 2, 3) V(5, 5, 1, 2)

/* With row sums in a ring in shared memory (ring.cuh): k_x, groups, blocks; k_y is free up to CNV_RING_K_Y, by
 * which all cards of compute capability 8.0 and newer have the shared memory. */
#define CNV_TENSOR_RING_VARIANTS(V) V(3, 4, 4) V(5, 4, 4) V(9, 4, 3) V(17, 4, 2)
#define CNV_TENSOR_RING_EXACT_VARIANTS(V) V(3, 4, 3) V(5, 4, 3) V(9, 2, 3)
#define CNV_RING_K_Y 17
#define CNV_RING_EXACT_K_Y 9
/* k steps of 16 rows that 16 rows of outputs reach over; slots of 16 rows, so many that one barrier for each 16 rows of
 * each warp will do: what is written over was read before the last one. Bytes of shared memory of bands and ring. */
#define CNV_RING_STEPS(n_y) (((n_y) + 30) / 16)
#define CNV_RING_SLOTS(steps) ((steps) + 2 * CNV_TILE_WARPS - 1)
#define CNV_RING_SHARED(k_x, steps, groups, parts)                                                                     \
  (512 * (parts) * ((k_x) + (steps) + CNV_RING_SLOTS(steps) * (groups)))

#define CNV_TENSOR_K 16   /* samples along k */
#define CNV_TENSOR_ROWS 8 /* that a step of a warp goes down */

/* fused: threads of a block, which makes a tile (fused.cuh). */
#define CNV_FUSED_THREADS 128
#define CNV_FUSED_ROWS 16 /* rows made at a time */
#define CNV_FUSED_LOADED (4 * CNV_FUSED_THREADS)
#define CNV_FUSED_MAX_TAPS 97 /* along an axis */

/* Pixels that the kernels reach to either side; one more is for any. */
#define CNV_FUSED_VARIANTS(V) V(1) V(2) V(4) V(8)

/* Samples of a tile's width. Of what is loaded, the apron on either side is taken off. */
#define CNV_FUSED_WIDTH(reach, channels) (CNV_FUSED_LOADED - 2 * (((reach) * (channels) + 15) / 16 * 16))
/* Zeros before the taps of a row, so that four samples loaded together lie on a multiple of four; and all taps with the
 * zeros behind. */
#define CNV_FUSED_ANY_ZEROS(anchor_x) ((4 - (anchor_x) % 4) % 4)
#define CNV_FUSED_ANY_TAPS(n_x, anchor_x) (((n_x) + CNV_FUSED_ANY_ZEROS(anchor_x) + 7) / 8 * 8)
#define CNV_FUSED_ANY_WIDTH(n_x, anchor_x, channels)                                                                   \
  ((CNV_FUSED_LOADED - (CNV_FUSED_ANY_TAPS(n_x, anchor_x) - 1) * (channels)) / 16 * 16)

/* Pixels or rows that taps reach to either side. */
CNV_HOST_DEVICE static inline int
cnv_fused_reach(int n, int anchor)
{
  return anchor > n - 1 - anchor ? anchor : n - 1 - anchor;
}

/* dense (dense.cuh). K: steps along k, 16 * K - 15 >= apron_left - anchor_x * channels + (n_x - 1) * channels + 1. R:
 * rows of a warp, by eights. Terms; exact: taps as two numbers; blocks of 8-bit and of 16-bit samples that should fit a
 * multiprocessor. R is 2 for few rows of taps, which wait for memory, and 4 for many, which wait for the tensor cores.
 */
#define CNV_DENSE_VARIANTS(V)                                                                                          \
  V(2, 2, 1, 0, 5, 4)                                                                                                  \
  V(2, 4, 1, 0, 3, 3)                                                                                                  \
  V(3, 4, 1, 0, 3, 3)                                                                                                  \
  V(5, 4, 1, 0, 3, 3)                                                                                                  \
  V(2, 2, 1, 1, 4, 4)                                                                                                  \
  V(3, 4, 1, 1, 3, 3)                                                                                                  \
  V(5, 4, 1, 1, 3, 2)                                                                                                  \
  V(2, 2, 2, 0, 3, 3)                                                                                                  \
  V(2, 2, 2, 1, 3, 3)

#define CNV_DENSE_WIDTH 128
#define CNV_DENSE_CHUNK(r) (16 * (r))
/* Rows j and j + 8 share what is read; rows are then padded where the last of 16 are nearly all there. */
#define CNV_DENSE_PAIRS(k, r, exact) ((k) <= 3 && (r) == 4 && !(exact))
#define CNV_DENSE_ROWS(k, r, exact, n_y)                                                                               \
  (CNV_DENSE_PAIRS(k, r, exact) && (n_y) % 16 >= 12 ? ((n_y) + 15) / 16 * 16 : (n_y))
/* Groups of 8 samples of a row in shared memory, and halves from row to row: an odd number of 16 bytes, by which the
 * eight rows of a matrix lie in different banks. */
#define CNV_DENSE_GROUPS(k) (CNV_DENSE_WIDTH / 8 + 2 * (k)-2)
#define CNV_DENSE_PITCH(k) (8 * CNV_DENSE_GROUPS(k) + 8)
/* Bytes of shared memory that a launch asks for. rows: of a tile; n_y: the most of all jobs. */
#define CNV_DENSE_SHARED(k, r, n_y, rows)                                                                              \
  (2 * CNV_DENSE_PITCH(k) * (CNV_DENSE_CHUNK(r) + (n_y)-1) + 4 * ((rows) + (n_y)-1))

/* A job whose tiles a kernel makes in one launch. */
typedef struct {
  CnvRectJob job;
  int pointers;                            /* index in the launch's addresses and strides */
  int first_block, n_tiles, columns, rows; /* tiles of the job, of a row of them; rows of a tile */
  int left_columns, right_columns; /* columns of tiles at the sides that are done by groups of 16 samples, n_tiles being
                                      so many more */
  int origin;                      /* first sample of the first tile, at or before the job's; a multiple of 16 */
  int channels, border;
  uint32_t filtered, copied; /* of CnvPlane */
  int shift, full_bits;
  int absolute;
  CnvTerm term; /* with its taps in constant memory: tensor takes them for renormalize, dense its own size and anchor */
  int apron_left; /* tensor: samples from a tile's first to the first that its bands take, a multiple of 4 */
  uint32_t bands; /* tensor: index of the first word of the bands along x and y; behind them those along x of the
                     groups whose taps miss samples: the first left_groups of n_groups, and from right_group on */
  int left_groups, right_group, n_groups;
  float mid, mid_bias, gain,
      fraction; /* the same for all channels that are filtered. tensor: gain is that of the bands */
  int base;
  float border_value[CNV_MAX_CHANNELS];
} CnvTileJob;

typedef struct {
  uint64_t jobs,
      bands; /* device addresses: CnvTileJob where there are more than CNV_TILE_JOBS_INLINE; words of bands */
  int n_jobs;
  CnvSources sources;
  uint64_t in[CNV_MAX_PLANES], out[CNV_MAX_PLANES];
  int in_stride[CNV_MAX_PLANES], out_stride[CNV_MAX_PLANES]; /* bytes */
  CnvTileJob job[CNV_TILE_JOBS_INLINE];
} CnvTileArgs;
