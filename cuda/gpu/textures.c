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
  static const CUarray_format formats[N_TYPES] = {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16,
                                                  CU_AD_FORMAT_FLOAT};
  CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR};
  CUDA_TEXTURE_DESC description = {.flags = CU_TRSF_READ_AS_INTEGER};

  resource.res.linear.devPtr = texture->address;
  resource.res.linear.format = formats[texture->type];
  resource.res.linear.numChannels = 1;
  resource.res.linear.sizeInBytes = texture->size;
  return CHECK(self, cuTexObjectCreate(&texture->object, &resource, &description, NULL), "making a texture", error);
}

/* The one over that memory, or else the one that was not used for longest. */
static Texture *
pick_texture(CudaSession *self, const Texture *wanted)
{
  Texture *oldest = self->texture;

  for (int i = 0; i < N_TEXTURES; i++) {
    Texture *texture = &self->texture[i];

    if (texture->object && texture->address == wanted->address && texture->size == wanted->size &&
        texture->type == wanted->type)
      return texture;
    if (texture->used < oldest->used)
      oldest = texture;
  }
  return oldest;
}

gboolean
cnv_cuda_find_texture(CudaSession *self, CUdeviceptr address, gsize size, SampleType type, guint64 *object,
                      GError **error)
{
  const Texture wanted = {address, size, type, 0, 0};
  Texture *texture = pick_texture(self, &wanted);

  if (texture->object && (texture->address != address || texture->size != size || texture->type != type)) {
    /* It may still be read from. */
    if (!CHECK(self, cuStreamSynchronize(self->stream), "changing a texture", error))
      return FALSE;
    forget_texture(self, texture);
  }
  if (!texture->object) {
    *texture = wanted;
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
