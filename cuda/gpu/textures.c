/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Texture objects over frames and row sums.
 */
#include "gpu/session.h"

static void
forget_texture(CudaSession *self, Texture *texture)
{
  if (texture->object)
    self->cu->cuTexObjectDestroy(texture->object);
  *texture = (Texture){0};
}

static gboolean
make_texture(CudaSession *self, Texture *texture, GError **error)
{
  static const CUarray_format by_bytes[] = {0, CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, 0,
                                            CU_AD_FORMAT_FLOAT};
  CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR};
  CUDA_TEXTURE_DESC description = {.flags = CU_TRSF_READ_AS_INTEGER};

  resource.res.linear.devPtr = texture->address;
  resource.res.linear.format = by_bytes[texture->bytes];
  resource.res.linear.numChannels = 1;
  resource.res.linear.sizeInBytes = texture->size;
  return CHECK(self, cuTexObjectCreate(&texture->object, &resource, &description, NULL), "making a texture", error);
}

static gboolean
is_over(const Texture *texture, CUdeviceptr address, gsize size, int bytes)
{
  return texture->object && texture->address == address && texture->size == size && texture->bytes == bytes;
}

gboolean
cnv_cuda_find_texture(CudaSession *self, CUdeviceptr address, gsize size, int bytes, guint64 *object, GError **error)
{
  Texture *texture = self->texture; /* over that memory, or else the one that was not used for longest */

  for (int i = 0; i < N_TEXTURES && !is_over(texture, address, size, bytes); i++)
    if (is_over(&self->texture[i], address, size, bytes) || self->texture[i].used < texture->used)
      texture = &self->texture[i];
  if (!is_over(texture, address, size, bytes)) {
    /* Kernels may still read from the other. */
    if (texture->object && !CHECK(self, cuStreamSynchronize(self->stream), "changing a texture", error))
      return FALSE;
    forget_texture(self, texture);
    *texture = (Texture){.address = address, .size = size, .bytes = bytes};
    if (!make_texture(self, texture, error))
      return FALSE;
  }
  texture->used = ++self->n_texture_uses;
  *object = texture->object;
  return TRUE;
}

void
cnv_cuda_forget_textures(CudaSession *self)
{
  for (int i = 0; i < N_TEXTURES; i++)
    forget_texture(self, &self->texture[i]);
}
