/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tensor maps: what the copy engine of compute capability 9.0 and newer brings tiles by. Those of buffers that come
 * again are kept.
 */
#include <string.h>

#include "gpu/session.h"

/* Arguments of cuTensorMapEncodeTiled, whose types CUDA 11 lacks. */
enum { UINT32 = 2, NO_INTERLEAVE = 0, NO_SWIZZLE = 0, L2_PROMOTION_128B = 2, FILL_ZEROS = 0 };

static gboolean
is_aligned(guint64 value)
{
  return value % 16 == 0;
}

static guint
map_hash(gconstpointer map)
{
  const TensorMap *m = map;

  return (guint)(m->address >> 8) * 31 + m->box[2];
}

static gboolean
maps_equal(gconstpointer a, gconstpointer b)
{
  const gsize at = G_STRUCT_OFFSET(TensorMap, dim);

  return memcmp((const guint8 *)a + at, (const guint8 *)b + at, sizeof(TensorMap) - at) == 0;
}

GHashTable *
cnv_cuda_maps_new(void)
{
  return g_hash_table_new_full(map_hash, maps_equal, g_free, NULL);
}

/* Encodes the map for a plane, or finds it; FALSE where the copy engine does not take such a plane. */
static gboolean
encode(CudaSession *self, TensorMap *wanted, CnvTensorMap *to)
{
  static const guint32 one[] = {1, 1, 1, 1};
  TensorMap *kept = g_hash_table_lookup(self->maps, wanted);

  if (!kept) {
    /* The driver writes to multiples of 64 bytes alone, as the arguments are, and the session is not. */
    if (self->cu->cuTensorMapEncodeTiled(to, UINT32, 4, (void *)(guintptr)wanted->address, wanted->dim, wanted->stride,
                                         wanted->box, one, NO_INTERLEAVE, NO_SWIZZLE, L2_PROMOTION_128B,
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

static gboolean
set_map(CudaSession *self, const CnvLaunch *launch, const CnvTileJob *job, const CnvFrame *in, int now,
        CnvTensorMap *map)
{
  const CnvKernelKind *kind = cnv_kernel_kind(launch->kernel);
  const CnvVariant *variant = self->schedule.variant[launch->kernel];
  int m = job->pointers, fields = job->job.fields, n_slots = self->sources.n ? (int)self->base.n_slots : 1;
  int bytes = self->schedule.needs[launch->kernel].bytes;
  guint64 stride = (guint64)in->stride[m], slot = self->sources.n ? self->base.scene->layout.size : stride;
  guint64 address = (guintptr)in->data[m] - (self->sources.n ? (guint64)now * slot : 0);
  TensorMap wanted;

  if (in->stride[m] <= 0 || !is_aligned(address) || !is_aligned(stride) || !is_aligned(slot) ||
      self->layout.rows[m] % fields)
    return FALSE;
  if (self->capability < 90)
    return TRUE;
  if (!self->cu->cuTensorMapEncodeTiled || job->box_rows > CNV_TILE_MAP_ROWS)
    return FALSE;
  memset(&wanted, 0, sizeof(wanted));
  wanted.address = address;
  wanted.dim[0] = ((guint64)self->layout.row_bytes[m] + 3) / 4;
  wanted.dim[1] = (guint64)fields;
  wanted.dim[2] = (guint64)(self->layout.rows[m] / fields);
  wanted.dim[3] = (guint64)n_slots;
  wanted.stride[0] = stride;
  wanted.stride[1] = stride * (guint64)fields;
  wanted.stride[2] = slot;
  wanted.box[0] = (guint32)kind->pitch(variant, bytes) / 4;
  wanted.box[2] = (guint32)job->box_rows;
  wanted.box[1] = wanted.box[3] = 1;
  return encode(self, &wanted, map);
}

void
cnv_cuda_set_maps(CudaSession *self, const CnvLaunch *launch, const CnvFrame *in, int now, CnvTileArgs *args)
{
  guint32 tried = 0;

  args->maps = 0;
  for (guint i = launch->first; i < launch->first + launch->n && cnv_kernel_kind(launch->kernel)->pitch; i++) {
    const CnvTileJob *job = &g_array_index(self->schedule.tile_jobs, CnvTileJob, i);
    guint32 bit = 1u << job->pointers;

    if (tried & bit)
      continue;
    tried |= bit;
    if (set_map(self, launch, job, in, now, &args->map[job->pointers]))
      args->maps |= bit;
  }
}
