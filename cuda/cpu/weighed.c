/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Filters tiles by normalised convolution. Blocks with equal weights need no division: a block that reads only samples
 * of weight 1 is filtered as without regions, and a block of weight 0 is skipped. Blocks have fixed places in the
 * field, so results do not depend on tiles.
 */
#include "cpu/cpu.h"

#include "plan/arith.h"

#define BLOCK_WIDTH 128 /* pixels */
#define BLOCK_HEIGHT 64
#define MOST_BLOCKS (CNV_CPU_TILE_MOST / BLOCK_WIDTH + 2) /* beside each other in a tile */

typedef enum { KIND_MIXED, KIND_ZERO, KIND_ONE } Kind;

typedef struct {
  int x0, y0, x1, y1;
} Box;

/* Returns TRUE if a box of a job's pixels has only that weight, CNV_WEIGHT_ONE or 0. */
static gboolean
box_is(const CpuTile *tile, const CnvJob *job, const Box *box, int weight)
{
  if (job->coverage_pitch == 0)
    return weight == CNV_WEIGHT_ONE;
  if (box->x0 < job->x || box->y0 < job->y || box->x1 > job->x + job->width || box->y1 > job->y + job->height)
    return FALSE;
  for (int y = box->y0; y < box->y1; y++)
    if (cnv_cpu_common_weight(cnv_job_weights(job, tile->frame->coverage, box->x0, y), box->x1 - box->x0) != weight)
      return FALSE;
  return TRUE;
}

/* Finds the box of samples that a box of output reads. Returns FALSE if they are not a box inside the window. */
static gboolean
find_read(const CpuTile *tile, const Box *box, Box *read)
{
  const CnvPlane *plane = tile->plane->from;
  const CnvJob *job = tile->job;
  const Box window = {job->window_x, job->window_y, job->window_x + job->window_width,
                      job->window_y + job->window_height};

  *read = *box;
  for (int t = 0; t < plane->n_terms; t++) {
    const CnvTerm *term = &plane->term[t];

    read->x0 = MIN(read->x0, box->x0 - term->anchor[CNV_X]);
    read->y0 = MIN(read->y0, box->y0 - term->anchor[CNV_Y]);
    read->x1 = MAX(read->x1, box->x1 + term->n[CNV_X] - 1 - term->anchor[CNV_X]);
    read->y1 = MAX(read->y1, box->y1 + term->n[CNV_Y] - 1 - term->anchor[CNV_Y]);
  }
  if (plane->border == CNV_BORDER_REPLICATE)
    *read = (Box){CLAMP(read->x0, window.x0, window.x1 - 1), CLAMP(read->y0, window.y0, window.y1 - 1),
                  CLAMP(read->x1, window.x0 + 1, window.x1), CLAMP(read->y1, window.y0 + 1, window.y1)};
  return read->x0 >= window.x0 && read->y0 >= window.y0 && read->x1 <= window.x1 && read->y1 <= window.y1;
}

static Kind
kind_of(const CpuTile *tile, const Box *box)
{
  const CnvJob *weights = cnv_cpu_weights(tile);
  Box read;

  if (box_is(tile, tile->job, box, 0))
    return KIND_ZERO;
  if (box_is(tile, tile->job, box, CNV_WEIGHT_ONE) && find_read(tile, box, &read) &&
      (!weights || box_is(tile, weights, &read, CNV_WEIGHT_ONE)))
    return KIND_ONE;
  return KIND_MIXED;
}

/* Finds the kinds of the blocks of a tile in row number `row` of blocks of the field. */
static void
find_kinds(const CpuTile *tile, int row, guint8 *kinds)
{
  const CnvJob *job = tile->job;
  int first = tile->first / BLOCK_WIDTH, last = (tile->last - 1) / BLOCK_WIDTH;

  for (int column = first; column <= last; column++) {
    const Box box = {MAX(column * BLOCK_WIDTH, job->x), MAX(row * BLOCK_HEIGHT, job->y),
                     MIN((column + 1) * BLOCK_WIDTH, job->x + job->width),
                     MIN((row + 1) * BLOCK_HEIGHT, job->y + job->height)};

    kinds[column - first] = (guint8)kind_of(tile, &box);
  }
}

/* Fills the norms of a part of a tile whose weights are equal. */
static void
fill_norms(const CpuTile *part, float norm)
{
  const CnvJob *job = part->job;

  for (int y = part->top; y < part->bottom; y++)
    for (int x = part->first; x < part->last; x++)
      part->norms[(gsize)(y - job->y) * job->width + (x - job->x)] = norm;
}

/* Filters a part of a tile that reads only samples of weight 1. */
static void
run_plain(CpuWorker *worker, const CpuTile *part)
{
  const CpuPlane *plane = part->plane + 2 * CNV_MAX_PLANES;
  const int width = plane->widest / plane->from->channels;
  CnvJob job = *part->job;
  CpuTile narrow = *part;

  job.coverage_pitch = job.shared = job.weights = 0;
  narrow.job = &job;
  narrow.plane = plane;
  narrow.method = plane->method;
  for (int x = part->first; x < part->last; x += width) {
    narrow.first = x;
    narrow.last = MIN(x + width, part->last);
    cnv_cpu_tile_run(worker, &narrow);
  }
}

static void
run_part(CpuWorker *worker, const CpuTile *part, Kind kind)
{
  if (kind == KIND_MIXED)
    cnv_cpu_tile_run(worker, part);
  else if (part->plane->of_weights)
    fill_norms(part, kind == KIND_ONE ? 1.0f / CNV_WEIGHT_ONE : 0);
  else if (kind == KIND_ONE)
    run_plain(worker, part);
}

/* Filters rows top to bottom - 1 of a tile. kinds: of its blocks. Adjacent blocks of one kind are filtered together. */
static void
run_rows(CpuWorker *worker, const CpuTile *tile, int top, int bottom, const guint8 *kinds)
{
  int first = tile->first / BLOCK_WIDTH, n = (tile->last - 1) / BLOCK_WIDTH - first + 1;
  CpuTile part = *tile;

  part.top = top;
  part.bottom = bottom;
  for (int from = 0, to; from < n; from = to) {
    for (to = from + 1; to < n && kinds[to] == kinds[from];)
      to++;
    part.first = MAX((first + from) * BLOCK_WIDTH, tile->first);
    part.last = MIN((first + to) * BLOCK_WIDTH, tile->last);
    run_part(worker, &part, (Kind)kinds[from]);
  }
}

void
cnv_cpu_weighed_run(CpuWorker *worker, const CpuTile *tile)
{
  guint8 kinds[2][MOST_BLOCKS] = {{0}};
  int last = (tile->bottom - 1) / BLOCK_HEIGHT, top = tile->top;

  find_kinds(tile, top / BLOCK_HEIGHT, kinds[0]);
  for (int row = top / BLOCK_HEIGHT + 1; row <= last; row++) {
    find_kinds(tile, row, kinds[1]);
    if (memcmp(kinds[0], kinds[1], sizeof kinds[0]) == 0)
      continue;
    run_rows(worker, tile, top, row * BLOCK_HEIGHT, kinds[0]);
    top = row * BLOCK_HEIGHT;
    memcpy(kinds[0], kinds[1], sizeof kinds[0]);
  }
  run_rows(worker, tile, top, tile->bottom, kinds[0]);
}

gboolean
cnv_cpu_weighed_has_blocks(const CpuTile *tile)
{
  const CpuPlane *plane = tile->plane;
  const CpuPlane *plain = plane + (plane->of_weights ? 1 : 2) * CNV_MAX_PLANES;

  return (plane->weighed || plane->of_weights) && !tile->decimates && !tile->decimated && tile->frame->weight[0] == 1 &&
         plane->plan->n_temporal_taps == 1 && !plane->from->cell[CNV_X] && plain->restart[CNV_X] == 0 &&
         plain->restart[CNV_Y] == 0 && tile->last - tile->first <= CNV_CPU_TILE_MOST;
}
