/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kernels by name: those in the engine's table of kinds, and the copy kernels.
 */
#include <string.h>

#include "launch.h"
#include "plan/noise.h"

struct StandinKernel {
  char *name;
  CnvKernelId first, last; /* kinds of the name: the first if the arguments say is_first */
  const CnvVariant *variant;
  gsize args_size;
  void (*run)(const KernelRun *run);
};

static GHashTable *kernels; /* by name */

static void
add(StandinKernel added, const char *name)
{
  StandinKernel *kernel = g_hash_table_lookup(kernels, name);

  if (kernel) { /* another kind or variant with the same kernel */
    kernel->last = added.first;
    return;
  }
  kernel = g_memdup2(&added, sizeof(added));
  kernel->name = g_strconcat("cnv_", name, NULL);
  kernel->last = added.first;
  g_hash_table_insert(kernels, g_strdup(name), kernel);
}

void
launch_mark(const KernelRun *run, guint64 address, gsize n, gsize bytes, const CnvJob *job, int part, gboolean writes,
            const char *what)
{
  const int numbers[] = {job->plan, job->plane, job->field, job->x, job->y, job->width, job->height, part};
  guint8 *at = standin_access(run->op, address, n * bytes, writes, run->name);
  guint32 mark = 5381;

  for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++)
    mark = mark * 33 + (guint32)numbers[i];
  for (gsize i = 0; i < n && at; i++)
    if (writes) {
      memcpy(at + i * bytes, &mark, bytes);
    } else if (memcmp(at + i * bytes, &mark, bytes) != 0) {
      standin_report("%s: %s number %d of a job of plane %d was not made for it", run->name, what, (int)i, job->plane);
      return;
    }
}

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
run_noise(const KernelRun *run)
{
  const CnvNoiseArgs *args = run->args;
  CnvNoiseState *state =
      (CnvNoiseState *)(void *)standin_access(run->op, args->state, sizeof(CnvNoiseState), TRUE, run->name);
  float *seen = (float *)(void *)standin_access(run->op, args->seen, sizeof(state->threshold), TRUE, run->name);
  CnvNoise noise = {.n = MIN((guint)args->n + 1, CNV_NOISE_FRAMES)};

  if (!state || !seen)
    return;
  if (run->size->grid[0] != CNV_NOISE_BLOCKS || run->size->block[0] != CNV_NOISE_THREADS)
    standin_report("%s has %u x %u blocks of %u threads", run->name, run->size->grid[0], run->size->grid[1],
                   run->size->block[0]);
  for (guint p = 0; p < run->size->grid[1]; p++) {
    const CnvNoisePlane *plane = &args->plane[p];
    CnvFrame frame[2] = {{0}};

    for (int c = 0; c < plane->channels; c++) {
      const CnvComponent *component = &plane->component[c];
      int m = component->plane, stride = args->in.stride[m];

      for (int k = 0; k < 2 && component->bytes > 0; k++) {
        frame[k].stride[m] = stride;
        frame[k].data[m] =
            standin_access_rows(run->op, args->in.address[m] + (guint64)(k ? args->delta : 0), stride,
                                (gsize)(plane->width - 1) * component->step + component->offset + component->bytes,
                                plane->height, FALSE, run->name);
        if (!frame[k].data[m])
          return;
      }
    }
    state->sigma[p][args->n % CNV_NOISE_FRAMES] =
        cnv_noise_of(plane->component, plane->channels, plane->width, plane->height, &frame[0], &frame[1]);
    memcpy(noise.sigma[p], state->sigma[p], sizeof(noise.sigma[p]));
    state->threshold[p] = seen[p] = (float)(CNV_NOISE_THRESHOLD * cnv_noise_sigma(&noise, (int)p));
  }
}

static void
add_kind(CnvKernelId id)
{
  const CnvKernelKind *kind = cnv_kernel_kind(id);

  if (!kind->variants)
    add((StandinKernel){.first = id, .args_size = sizeof(CnvBlockArgs), .run = blocks_run}, kind->name);
  for (const CnvVariant *v = kind->variants; v && v->name; v++)
    add((StandinKernel){.first = id, .variant = v, .args_size = sizeof(CnvTileArgs), .run = tiles_run}, v->name);
}

const StandinKernel *
standin_kernel_find(const char *name)
{
  if (!kernels) {
    kernels = g_hash_table_new(g_str_hash, g_str_equal);
    add((StandinKernel){.args_size = sizeof(CnvCopyArgs), .run = run_copy}, "copy");
    add((StandinKernel){.args_size = sizeof(CnvCopyJobsArgs), .run = run_copy_jobs}, "copy_jobs");
    add((StandinKernel){.args_size = sizeof(CnvCoverArgs), .run = blocks_cover}, "cover");
    add((StandinKernel){.args_size = sizeof(CnvNoiseArgs), .run = run_noise}, "noise");
    for (CnvKernelId id = 0; id < CNV_N_KERNELS; id++)
      add_kind(id);
  }
  return g_str_has_prefix(name, "cnv_") ? g_hash_table_lookup(kernels, name + strlen("cnv_")) : NULL;
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
      kernel->name,
      kernel->run == blocks_run && !((const CnvBlockArgs *)args)->is_first ? kernel->last : kernel->first,
      kernel->variant,
      op,
      size,
      args,
      (const float *)standin_access(op, taps, CNV_CONSTANT_TAPS * sizeof(float), FALSE, kernel->name)};

  kernel->run(&run);
}
