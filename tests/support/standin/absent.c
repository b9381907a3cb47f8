/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Entries of libcuda that GStreamer's CUDA library looks up: those that nobody here calls, and an older name. cuda.h,
 * whose prototypes these do not have, is not included.
 */
#define NOT_SUPPORTED 801

#define ABSENT(name)                                                                                                   \
  int name(void);                                                                                                      \
  int name(void)                                                                                                       \
  {                                                                                                                    \
    return NOT_SUPPORTED;                                                                                              \
  }

ABSENT(cuGLGetDevices_v2)
ABSENT(cuGraphicsGLRegisterBuffer)
ABSENT(cuGraphicsGLRegisterImage)
ABSENT(cuGraphicsMapResources)
ABSENT(cuGraphicsResourceGetMappedPointer_v2)
ABSENT(cuGraphicsResourceSetMapFlags_v2)
ABSENT(cuGraphicsSubResourceGetMappedArray)
ABSENT(cuGraphicsUnmapResources)
ABSENT(cuGraphicsUnregisterResource)

int cuStreamDestroy_v2(void *stream);
int cuStreamDestroy(void *stream);
int
cuStreamDestroy(void *stream)
{
  return cuStreamDestroy_v2(stream);
}
