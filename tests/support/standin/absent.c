/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Entries of libcuda that GStreamer's CUDA library looks up, but that are not called here, and an older name of one
 * that is. cuda.h is not included, because its prototypes differ.
 */
#define NOT_SUPPORTED 801

#define ABSENT(name)                                                                                                   \
  int name(void);                                                                                                      \
  int name(void)                                                                                                       \
  {                                                                                                                    \
    return NOT_SUPPORTED;                                                                                              \
  }

ABSENT(cuCtxGetLimit)
ABSENT(cuCtxSetLimit)
ABSENT(cuDestroyExternalMemory)
ABSENT(cuDestroyExternalSemaphore)
ABSENT(cuExternalMemoryGetMappedBuffer)
ABSENT(cuExternalMemoryGetMappedMipmappedArray)
ABSENT(cuGLGetDevices_v2)
ABSENT(cuGraphicsGLRegisterBuffer)
ABSENT(cuGraphicsGLRegisterImage)
ABSENT(cuGraphicsMapResources)
ABSENT(cuGraphicsResourceGetMappedPointer_v2)
ABSENT(cuGraphicsResourceSetMapFlags_v2)
ABSENT(cuGraphicsSubResourceGetMappedArray)
ABSENT(cuGraphicsUnmapResources)
ABSENT(cuGraphicsUnregisterResource)
ABSENT(cuImportExternalMemory)
ABSENT(cuImportExternalSemaphore)
ABSENT(cuIpcCloseMemHandle)
ABSENT(cuIpcGetEventHandle)
ABSENT(cuIpcGetMemHandle)
ABSENT(cuIpcOpenEventHandle)
ABSENT(cuIpcOpenMemHandle)
ABSENT(cuMemAddressFree)
ABSENT(cuMemAddressReserve)
ABSENT(cuMemAllocAsync)
ABSENT(cuMemAllocFromPoolAsync)
ABSENT(cuMemCreate)
ABSENT(cuMemExportToShareableHandle)
ABSENT(cuMemFreeAsync)
ABSENT(cuMemGetAccess)
ABSENT(cuMemGetAllocationGranularity)
ABSENT(cuMemGetAllocationPropertiesFromHandle)
ABSENT(cuMemImportFromShareableHandle)
ABSENT(cuMemMap)
ABSENT(cuMemPoolCreate)
ABSENT(cuMemPoolDestroy)
ABSENT(cuMemPoolGetAttribute)
ABSENT(cuMemPoolSetAttribute)
ABSENT(cuMemRelease)
ABSENT(cuMemRetainAllocationHandle)
ABSENT(cuMemSetAccess)
ABSENT(cuMemUnmap)
ABSENT(cuMemcpyDtoD_v2)
ABSENT(cuMemsetD2D16Async)
ABSENT(cuMemsetD2D16_v2)
ABSENT(cuMemsetD2D32Async)
ABSENT(cuMemsetD2D32_v2)
ABSENT(cuMemsetD2D8Async)
ABSENT(cuMemsetD2D8_v2)
ABSENT(cuSignalExternalSemaphoresAsync)
ABSENT(cuWaitExternalSemaphoresAsync)

int cuStreamDestroy_v2(void *stream);
int cuStreamDestroy(void *stream);
int
cuStreamDestroy(void *stream)
{
  return cuStreamDestroy_v2(stream);
}
