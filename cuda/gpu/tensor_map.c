/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tensor maps, with which the copy engine of compute capability 9.0 and newer loads tiles and stores results. Maps are
 * kept for later frames in the same memory.
 */
#include <string.h>

#include "gpu/session.h"

/* Arguments of cuTensorMapEncodeTiled, whose types CUDA 11 lacks. */
enum {
  UINT32 = 2,
  NO_INTERLEAVE = 0,
  NO_SWIZZLE = 0,
  SWIZZLE_64B = 2,
  SWIZZLE_128B = 3,
  L2_PROMOTION_128B = 2,
  FILL_ZEROS = 0
};

/* Steps of CNV_SOURCE_STEP bytes that a coordinate of the copy engine can count: 512 GiB. */
#define CNV_SOURCE_STEPS (1ull << 31)

/* Returns TRUE if all members except the map are equal. */
static gboolean
same_plane(gconstpointer a, gconstpointer b)
{
  return memcmp(a, b, G_STRUCT_OFFSET(TensorMap, words)) == 0;
}

/* Finds or encodes the map for a plane. Returns FALSE if the copy engine does not support such a plane. */
static gboolean
encode(CudaSession *self, TensorMap *wanted, CnvTensorMap *to)
{
  static const guint32 one[] = {1, 1, 1, 1};
  TensorMap *kept;

  if (!self->maps)
    self->maps = g_hash_table_new_full(g_int64_hash, same_plane, g_free, NULL); /* the hash is of the address */
  kept = g_hash_table_lookup(self->maps, wanted);
  if (!kept) {
    /* The driver writes only to addresses that are multiples of 64. The arguments are aligned so, the session is
     * not. */
    if (self->cu->cuTensorMapEncodeTiled(to, UINT32, 4, (void *)(guintptr)wanted->address, wanted->dim, wanted->stride,
                                         wanted->box, one, NO_INTERLEAVE, (int)wanted->swizzle, L2_PROMOTION_128B,
                                         FILL_ZEROS) != CUDA_SUCCESS)
      return FALSE;
    if (g_hash_table_size(self->maps) >= N_TENSOR_MAPS)
      g_hash_table_remove_all(self->maps);
    kept = g_new(TensorMap, 1);
    *kept = *wanted;
    memcpy(kept->words, to->words, sizeof(kept->words));
    g_hash_table_add(self->maps, kept);
  }
  memcpy(to->words, kept->words, sizeof(kept->words));
  return TRUE;
}

/* Fills in the map of plane m of a frame, with its fields separate. Returns FALSE if the copy engine does not support
 * the plane.
 */
static gboolean
describe(const CudaSession *self, const CnvFrame *frame, int m, int fields, TensorMap *map)
{
  guint64 stride = (guint64)frame->stride[m];

  memset(map, 0, sizeof(*map));
  map->address = (guintptr)frame->data[m];
  map->dim[0] = ((guint64)self->layout.row_bytes[m] + 3) / 4;
  map->dim[1] = (guint64)fields;
  map->dim[2] = (guint64)(self->layout.rows[m] / fields);
  map->dim[3] = map->box[1] = map->box[3] = 1;
  map->stride[0] = map->stride[2] = stride;
  map->stride[1] = stride * (guint64)fields;
  return frame->stride[m] > 0 && (map->address | stride) % 16 == 0 && self->layout.rows[m] % fields == 0;
}

/* Returns TRUE if an array of CNV_SOURCE_STEPS reaches from the first frame over time to the last. */
static gboolean
reaches_all(const CnvSources *sources)
{
  gboolean reaches = TRUE;

  for (int i = 0; i < sources->n; i++)
    reaches &= (guint64)(sources->delta[i] - sources->first) / CNV_SOURCE_STEP < CNV_SOURCE_STEPS;
  return reaches;
}

/* Finds the map for the input. All frames over time are one array, whose last dimension selects a frame's first byte.
 */
static gboolean
set_map(CudaSession *self, const CnvLaunch *launch, const CnvTileJob *job, const CnvFrame *in, CnvTensorMap *to)
{
  const CnvVariant *variant = self->schedule.variant[launch->kernel];
  int pitch = launch->kernel == CNV_KERNEL_DECIMATE ? job->decimation.pitch : variant->pitch;
  TensorMap map;

  if (!describe(self, in, job->pointers, job->job.fields, &map) || !reaches_all(&self->schedule.sources))
    return FALSE;
  if (self->capability < 90 || !pitch)
    return TRUE;
  if (self->schedule.sources.n) {
    map.address += (guint64)self->schedule.sources.first;
    map.dim[3] = CNV_SOURCE_STEPS;
    map.stride[2] = CNV_SOURCE_STEP;
  }
  map.box[0] = (guint32)pitch / 4;
  map.box[2] = (guint32)job->box_rows;
  return self->cu->cuTensorMapEncodeTiled && job->box_rows <= CNV_TILE_MAP_ROWS && encode(self, &map, to);
}

/* Finds the map for the results of tiles. */
static gboolean
set_out_map(CudaSession *self, const CnvLaunch *launch, const CnvTileJob *job, const CnvFrame *out, CnvTensorMap *to)
{
  const CnvVariant *variant = self->schedule.variant[launch->kernel];
  int m = job->pointers, box = CNV_TILE_OUT_BOX(variant->width * variant->bytes);
  TensorMap map;

  if (self->capability < 90 || variant->ring || !variant->width ||
      (!variant->pitch && launch->kernel != CNV_KERNEL_INTERPOLATE) || self->layout.row_bytes[m] % 4 ||
      !describe(self, out, m, job->job.fields, &map))
    return FALSE;
  map.box[0] = (guint32)box / 4;
  map.box[2] = (guint32)job->rows;
  map.swizzle = box == 128 ? SWIZZLE_128B : SWIZZLE_64B;
  return self->cu->cuTensorMapEncodeTiled && encode(self, &map, to);
}

/* Returns TRUE if one map serves the tiles of both jobs. Tiles of decimate depend on the plan. */
static gboolean
same_box(const CnvTileJob *a, const CnvTileJob *b)
{
  return a->box_rows == b->box_rows && a->decimation.pitch == b->decimation.pitch;
}

/* Finds the map for the weights of tiles, which are loaded to the place of the results or, if the kernel weighs
 * samples, with the tile's apron. Returns FALSE except for planes of one channel of 8 bits, in which each sample has
 * one byte of coverage.
 */
static gboolean
set_cover_map(CudaSession *self, const CnvLaunch *launch, const CnvTileJob *job, CnvTensorMap *to)
{
  const CnvVariant *variant = self->schedule.variant[launch->kernel];
  guint64 pitch = (guint64)job->job.coverage_pitch;
  int box = CNV_TILE_OUT_BOX(variant->width);
  TensorMap map;

  if (self->capability < 90 || !job->job.whole || job->channels > 1 || variant->bytes > 1 || variant->ring ||
      !variant->pitch || !variant->width || self->schedule.sources.n > 0)
    return FALSE;
  memset(&map, 0, sizeof(map));
  map.address = self->coverage.address + job->job.coverage;
  map.dim[0] = pitch / 4;
  map.dim[1] = map.dim[3] = map.box[1] = map.box[3] = 1;
  map.dim[2] = (guint64)job->job.height;
  map.stride[0] = map.stride[1] = map.stride[2] = pitch;
  map.box[0] = (guint32)box / 4;
  map.box[2] = (guint32)job->rows;
  map.swizzle = box == 128 ? SWIZZLE_128B : SWIZZLE_64B;
  if (variant->weighed) {
    map.box[0] = (guint32)variant->pitch / 4;
    map.box[2] = (guint32)job->box_rows;
    map.swizzle = NO_SWIZZLE;
  }
  return self->cu->cuTensorMapEncodeTiled && encode(self, &map, to);
}

void
cnv_cuda_set_maps(CudaSession *self, const CnvLaunch *launch, const CnvFrame *in, const CnvFrame *out,
                  CnvTileArgs *args)
{
  guint32 tried = 0;
  guint first_of[CNV_MAX_PLANES];

  args->maps = args->out_maps = args->cover_maps = 0;
  for (guint i = launch->first; i < launch->first + launch->n; i++) {
    const CnvTileJob *job = &g_array_index(self->schedule.tile_jobs, CnvTileJob, i);
    int m = job->pointers;

    if (tried >> m & 1) {
      if (!same_box(&g_array_index(self->schedule.tile_jobs, CnvTileJob, first_of[m]), job))
        args->maps &= ~(1u << m);
      continue;
    }
    tried |= 1u << m;
    first_of[m] = i;
    if (set_map(self, launch, job, in, &args->map[m]))
      args->maps |= 1u << m;
    if (set_out_map(self, launch, job, out, &args->out_map[m]))
      args->out_maps |= 1u << m;
    if (set_cover_map(self, launch, job, &args->cover_map[m]))
      args->cover_maps |= 1u << m;
  }
}
