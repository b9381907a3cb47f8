/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Texture objects over frames and row sums.
 */
#include "gpu/session.h"

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

gboolean
cnv_cuda_find_texture(CudaSession *self, CUdeviceptr address, gsize size, int bytes, guint64 *object, GError **error)
{
  Texture *texture = self->texture;

  for (; texture < self->texture + self->n_textures; texture++)
    if (texture->address == address && texture->size == size && texture->bytes == bytes) {
      *object = texture->object;
      return TRUE;
    }
  *texture = (Texture){.address = address, .size = size, .bytes = bytes};
  if (!make_texture(self, texture, error))
    return FALSE;
  self->n_textures++;
  *object = texture->object;
  return TRUE;
}

void
cnv_cuda_forget_textures(CudaSession *self)
{
  while (self->n_textures > 0)
    self->cu->cuTexObjectDestroy(self->texture[--self->n_textures].object);
}
