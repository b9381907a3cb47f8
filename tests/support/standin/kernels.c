/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kernels by name: those that cuda/kernels.cu has, from the same lists of variants.
 */
#include <stdio.h>
#include <string.h>

#include "kernels_of.h"

struct StandinKernel {
  char *name;
  Variant variant;
  gsize args_size;
  void (*run)(const KernelRun *run);
};

static GHashTable *kernels; /* by name */

static void
add(const char *name, Variant variant, gsize args_size, void (*run)(const KernelRun *))
{
  StandinKernel *kernel = g_new(StandinKernel, 1);

  *kernel = (StandinKernel){g_strdup(name), variant, args_size, run};
  g_hash_table_insert(kernels, kernel->name, kernel);
}

static void add_named(Variant variant, gsize args_size, void (*run)(const KernelRun *), const char *format, ...)
    G_GNUC_PRINTF(4, 5);

static void
add_named(Variant variant, gsize args_size, void (*run)(const KernelRun *), const char *format, ...)
{
  va_list args;
  char *name;

  va_start(args, format);
  name = g_strdup_vprintf(format, args);
  va_end(args);
  add(name, variant, args_size, run);
  g_free(name);
}

static const char *const types[] = {NULL, "u8", "u16"}; /* by bytes */

static void
run_copy(const KernelRun *run)
{
  const CnvCopyArgs *args = run->args;

  for (guint i = 0; i < run->size->grid[2]; i++) {
    const CnvCopyPlane *p = &args->plane[i];
    guint64 across = (guint64)run->size->grid[0] * run->size->block[0] * CNV_COPY_BYTES;
    const guint8 *from = standin_access_rows(run->op, p->in, p->in_stride, p->bytes, p->rows, FALSE, "cnv_copy");
    guint8 *to = standin_access_rows(run->op, p->out, p->out_stride, p->bytes, p->rows, TRUE, "cnv_copy");

    if (across < (guint64)p->bytes || run->size->grid[1] * run->size->block[1] < (guint)p->rows)
      standin_report("cnv_copy: the launch does not cover %d rows of %d bytes", p->rows, p->bytes);
    const guint8 *kinds = p->kinds ? standin_access(run->op, p->kinds, 1, FALSE, "cnv_copy") : NULL;

    for (int y = 0; from && to && y < p->rows; y++)
      for (int x = 0, end; x < p->bytes; x = end) {
        guint64 down = (guint64)(y - y % 8) * p->tile_inverse[CNV_Y] >> 32;
        guint64 column = (guint64)x * p->tile_inverse[CNV_X] >> 32;

        end = kinds ? x + 1 : p->bytes;
        while (end < p->bytes && (guint64)end * p->tile_inverse[CNV_X] >> 32 == column)
          end++;
        if (!kinds || kinds[down * (guint64)p->columns + column] == CNV_TILE_KEPT)
          memcpy(to + (gint64)y * p->out_stride + x, from + (gint64)y * p->in_stride + x, end - x);
      }
  }
}

static void
run_copy_jobs(const KernelRun *run)
{
  const CnvCopyJobsArgs *args = run->args;
  int n_blocks = (int)run->size->grid[0], end;
  const guint32 *number = (const guint32 *)(const void *)standin_access(
      run->op, args->blocks, n_blocks * sizeof(guint32), FALSE, "cnv_copy_jobs");

  for (int block = 0; number && block < n_blocks; block = end) {
    const CnvCopyJob *j = (const CnvCopyJob *)standin_access(run->op, args->jobs + number[block] * sizeof(CnvCopyJob),
                                                             sizeof(CnvCopyJob), FALSE, "cnv_copy_jobs");
    int in_step = j ? args->in.stride[j->plane] * j->step : 0, out_step = j ? args->out.stride[j->plane] * j->step : 0;
    guint64 in = j ? args->in.address[j->plane] + (gint64)j->y * args->in.stride[j->plane] + j->x : 0;
    guint64 out = j ? args->out.address[j->plane] + (gint64)j->y * args->out.stride[j->plane] + j->x : 0;
    const guint8 *from;
    guint8 *to;

    for (end = block + 1; end < n_blocks && number[end] == number[block];)
      end++;
    if (!j)
      continue;
    from = standin_access_rows(run->op, in, in_step, j->bytes, j->rows, FALSE, "cnv_copy_jobs");
    to = standin_access_rows(run->op, out, out_step, j->bytes, j->rows, TRUE, "cnv_copy_jobs");
    if (j->first_block != block || j->columns * 32 * CNV_COPY_BYTES < j->bytes + CNV_COPY_BYTES - 1 ||
        (end - block) / j->columns * 8 < j->rows)
      standin_report("cnv_copy_jobs: the blocks of a job do not cover it");
    for (int y = 0; from && to && y < j->rows; y++)
      memcpy(to + (gint64)y * out_step, from + (gint64)y * in_step, j->bytes);
  }
}

static void
add_blocks(void)
{
  static const struct {
    const char *name;
    void (*run)(const KernelRun *);
  } rows[] = {
      {"cnv_naive", blocks_sums},      {"cnv_tiled", blocks_sums},        {"cnv_rows", blocks_rows},
      {"cnv_columns", blocks_columns}, {"cnv_texture", blocks_texture},   {"cnv_mosaic", blocks_mosaic},
      {"cnv_cells", blocks_cells},     {"cnv_stage_in", blocks_stage_in}, {"cnv_stage_out", blocks_stage_out},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
    add(rows[i].name, (Variant){0}, sizeof(CnvBlockArgs), rows[i].run);
}

/* The same for a kernel with tile jobs, and if `plain` for the one beside it without coverage. */
static void G_GNUC_PRINTF(4, 5)
    add_both(gboolean plain, Variant variant, void (*run)(const KernelRun *), const char *format, ...)
{
  g_autofree char *name = NULL;
  va_list args;

  va_start(args, format);
  name = g_strdup_vprintf(format, args);
  va_end(args);
  add_named(variant, sizeof(CnvTileArgs), run, "%s", name);
  variant.is_plain = TRUE;
  if (plain)
    add_named(variant, sizeof(CnvTileArgs), run, "%s_plain", name);
}

static void
add_tiles(void)
{
  for (int bytes = 1; bytes <= 2; bytes++) {
    add_named((Variant){.bytes = bytes, .is_fused = TRUE}, sizeof(CnvTileArgs), tiles_fused, "cnv_fused_%s",
              types[bytes]);
    add_named((Variant){.bytes = bytes, .is_one_tap = TRUE}, sizeof(CnvTileArgs), tiles_one_tap, "cnv_one_tap_%s",
              types[bytes]);
  }
#define BLUR(name, bits, x, y, m, numbers, frames, height, blocks, plain)                                              \
  add_both(                                                                                                            \
      plain,                                                                                                           \
      (Variant){.bytes = (bits) / 8, .k_x = x, .k_y = y, .groups = m, .parts = numbers, .is_over_time = (frames) > 1}, \
      tiles_blur, "cnv_%s_u%d_%dx%d", #name, bits, x, y);
#define PIXELS(x, y, height, blocks, plain)                                                                            \
  add_both(plain, (Variant){.bytes = 1, .k_x = x, .k_y = y, .groups = 4, .parts = 1, .pixels = TRUE}, tiles_blur,      \
           "cnv_blur_pixels_u8_%dx%d", x, y);
#define WEIGHED(k, blocks)                                                                                             \
  add_named((Variant){.bytes = 1, .k_x = k, .k_y = k, .groups = 2, .parts = 1, .weighed = TRUE}, sizeof(CnvTileArgs),  \
            tiles_blur, "cnv_blur_weighed_u8_%d", k);
#define RING(name, bits, x, numbers, n, blocks)                                                                        \
  add_named((Variant){.bytes = (bits) / 8, .k_x = x, .ring = n, .parts = numbers}, sizeof(CnvTileArgs), tiles_blur,    \
            "cnv_%s_u%d_%d", #name, bits, x);
#define DENSE(bits, k, n_terms, n_digits, n_rows, columns, blocks, plain)                                              \
  add_both(plain, (Variant){.bytes = (bits) / 8, .k_x = k, .terms = n_terms, .digits = n_digits, .rows = n_rows},      \
           tiles_dense, "cnv_dense_u%d_%d_%d_%d_%d", bits, k, n_terms, n_digits, n_rows);
#define DENSE_OVER_TIME(n_rows, n, blocks, plain)                                                                      \
  add_both(plain, (Variant){.bytes = 1, .k_x = 1, .terms = 1, .digits = 2, .rows = n_rows, .pairs = n}, tiles_dense,   \
           "cnv_dense_over_time_u8_%d_%d", n_rows, n);
  CNV_BLUR_PIXELS_VARIANTS(PIXELS)
  CNV_BLUR_WEIGHED_KERNELS(WEIGHED)
  CNV_BLUR_VARIANTS(BLUR)
  CNV_RING_VARIANTS(RING)
  CNV_DENSE_VARIANTS(DENSE)
  CNV_DENSE_OVER_TIME_VARIANTS(DENSE_OVER_TIME)
#define DECIMATE(name, bits, most, wide, blocks)                                                                       \
  add_named((Variant){.bytes = (bits) / 8, .decimation = DECIMATES, .channels = most}, sizeof(CnvTileArgs),            \
            tiles_decimate, "cnv_%s_u%d", #name, bits);
#define INTERPOLATE(name, bits, most, blocks)                                                                          \
  add_named((Variant){.bytes = (bits) / 8, .decimation = INTERPOLATES, .channels = (most)}, sizeof(CnvTileArgs),       \
            tiles_interpolate, "cnv_%s_u%d", #name, bits);
  CNV_DECIMATE_VARIANTS(DECIMATE)
  add_named((Variant){.decimation = DECIMATES_AGAIN, .channels = CNV_MAX_CHANNELS}, sizeof(CnvTileArgs),
            tiles_decimate_again, "cnv_decimate_again");
  CNV_INTERPOLATE_VARIANTS(INTERPOLATE)
}

const StandinKernel *
standin_kernel_find(const char *name)
{
  if (!kernels) {
    kernels = g_hash_table_new(g_str_hash, g_str_equal);
    add("cnv_copy", (Variant){.bytes = 1}, sizeof(CnvCopyArgs), run_copy);
    add("cnv_copy_jobs", (Variant){.bytes = 1}, sizeof(CnvCopyJobsArgs), run_copy_jobs);
    add("cnv_cover", (Variant){0}, sizeof(CnvCoverArgs), blocks_cover);
    add_blocks();
    add_tiles();
  }
  return g_hash_table_lookup(kernels, name);
}

const char *
standin_kernel_name(const StandinKernel *kernel)
{
  return kernel->name;
}

gsize
standin_kernel_args_size(const StandinKernel *kernel)
{
  return kernel->args_size;
}

void
standin_kernel_run(const StandinKernel *kernel, const Op *op, const LaunchSize *size, const void *args, guint64 taps)
{
  const KernelRun run = {
      kernel->name, kernel->variant,
      op,           size,
      args,         (const float *)standin_access(op, taps, CNV_CONSTANT_TAPS * sizeof(float), FALSE, kernel->name)};

  kernel->run(&run);
}
