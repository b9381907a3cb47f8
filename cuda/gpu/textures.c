/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Texture objects over frames and row sums.
 */
#include "gpu/session.h"

#define TEXTURE_ALIGNMENT 512 /* alignment of a texture's first byte, on every GPU so far */

/* Finds or creates the texture over some memory. The caller makes sure that there is a free entry. */
static gboolean
find_texture(CudaSession *self, CUdeviceptr address, gsize size, int bytes, guint64 *object, GError **error)
{
  static const CUarray_format by_bytes[] = {0, CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, 0,
                                            CU_AD_FORMAT_FLOAT};
  const CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR,
                                       .res.linear.devPtr = address,
                                       .res.linear.format = by_bytes[bytes],
                                       .res.linear.numChannels = 1,
                                       .res.linear.sizeInBytes = size};
  const CUDA_TEXTURE_DESC description = {.flags = CU_TRSF_READ_AS_INTEGER};
  Texture *end = self->texture + self->n_textures, *texture = self->texture;

  while (texture < end && (texture->address != address || texture->size != size || texture->bytes != bytes))
    texture++;
  if (texture == end) {
    *texture = (Texture){.address = address, .size = size, .bytes = bytes};
    if (!CHECK(self, cuTexObjectCreate(&texture->object, &resource, &description, NULL), "making a texture", error))
      return FALSE;
    self->n_textures++;
  }
  *object = texture->object;
  return TRUE;
}

void
cnv_cuda_forget_textures(CudaSession *self)
{
  while (self->n_textures > 0)
    self->cu->cuTexObjectDestroy(self->texture[--self->n_textures].object);
}

gboolean
cnv_cuda_set_textures(CudaSession *self, CnvBlockArgs *args, GError **error)
{
  const CnvPlan *plan = g_ptr_array_index(self->schedule.plans, 0);

  if (self->n_textures > N_TEXTURES - CNV_MAX_PLANES - 1) {
    /* Kernels may still read from the old textures. */
    if (!CHECK(self, cuStreamSynchronize(self->stream), "changing a texture", error))
      return FALSE;
    cnv_cuda_forget_textures(self);
  }
  for (int m = 0; m < self->layout.n_planes; m++) {
    guint64 start = args->in.address[m] / TEXTURE_ALIGNMENT * TEXTURE_ALIGNMENT;

    /* The last row is as long as all other rows, or ends with the memory. */
    if (!find_texture(self, start, args->in.address[m] - start + (gsize)args->in.stride[m] * self->layout.rows[m],
                      plan->image.format->sample_bytes, &args->texture[m], error))
      return FALSE;
    args->texture_start[m] = start;
  }
  return find_texture(self, self->sums.address, self->sums.size, sizeof(float), &args->sums_texture, error);
}
