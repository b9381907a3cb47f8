/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * libcuda, opened at run time, so that the plugin loads and reports what is missing on machines without a driver.
 * Entries keep the names and types of cuda.h.
 */
#pragma once

#include <cuda.h>

#include <convolve/status.h>

/* cuda.h maps some names to newer versions of themselves (cuMemAlloc to cuMemAlloc_v2), and so does this list. */
#define CNV_DRIVER_ENTRIES(X)                                                                                          \
  X(cuInit)                                                                                                            \
  X(cuGetErrorName)                                                                                                    \
  X(cuDeviceGet)                                                                                                       \
  X(cuDeviceGetCount)                                                                                                  \
  X(cuDeviceGetAttribute)                                                                                              \
  X(cuDeviceGetName)                                                                                                   \
  X(cuDevicePrimaryCtxRetain)                                                                                          \
  X(cuDevicePrimaryCtxRelease)                                                                                         \
  X(cuCtxGetDevice)                                                                                                    \
  X(cuCtxPushCurrent)                                                                                                  \
  X(cuCtxPopCurrent)                                                                                                   \
  X(cuCtxSynchronize)                                                                                                  \
  X(cuModuleLoadData)                                                                                                  \
  X(cuModuleUnload)                                                                                                    \
  X(cuModuleGetFunction)                                                                                               \
  X(cuModuleGetGlobal)                                                                                                 \
  X(cuFuncSetAttribute)                                                                                                \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor)                                                                       \
  X(cuMemAlloc)                                                                                                        \
  X(cuMemFree)                                                                                                         \
  X(cuMemHostAlloc)                                                                                                    \
  X(cuMemFreeHost)                                                                                                     \
  X(cuPointerGetAttributes)                                                                                            \
  X(cuMemcpyHtoDAsync)                                                                                                 \
  X(cuMemcpyDtoHAsync)                                                                                                 \
  X(cuMemcpyDtoDAsync)                                                                                                 \
  X(cuMemcpy2DAsync)                                                                                                   \
  X(cuStreamCreate)                                                                                                    \
  X(cuStreamDestroy)                                                                                                   \
  X(cuStreamSynchronize)                                                                                               \
  X(cuStreamWaitEvent)                                                                                                 \
  X(cuEventCreate)                                                                                                     \
  X(cuEventDestroy)                                                                                                    \
  X(cuEventQuery)                                                                                                      \
  X(cuEventRecord)                                                                                                     \
  X(cuEventSynchronize)                                                                                                \
  X(cuEventElapsedTime)                                                                                                \
  X(cuTexObjectCreate)                                                                                                 \
  X(cuTexObjectDestroy)                                                                                                \
  X(cuLaunchKernel)

/* CU_DEVICE_ATTRIBUTE_MPS_ENABLED, which older headers lack. */
#define CU_DEVICE_ATTRIBUTE_MPS ((CUdevice_attribute)133)

typedef struct {
#define CNV_DRIVER_MEMBER(name) __typeof__(name) *name;
  CNV_DRIVER_ENTRIES(CNV_DRIVER_MEMBER)
#undef CNV_DRIVER_MEMBER

  /* Entries that only newer drivers have, or NULL. The first has its own type, which CUDA 11 lacks. */
  CUresult (*cuTensorMapEncodeTiled)(void *map, unsigned type, cuuint32_t rank, void *address, const cuuint64_t *dim,
                                     const cuuint64_t *stride, const cuuint32_t *box, const cuuint32_t *element_stride,
                                     unsigned interleave, unsigned swizzle, unsigned promotion, unsigned fill);
  __typeof__(cuLaunchKernelEx) *cuLaunchKernelEx;

  int n_devices;
  int capability; /* the lowest of all devices, since a plan must work on any of them; 0 if one cannot be read */
} CnvDriver;

/* Opens libcuda and starts it, once per process; any thread. Returns NULL with CNV_ERROR_NO_DEVICE if it cannot; if the
 * driver does not start, the next call tries again. */
const CnvDriver *cnv_driver_get(GError **error);

/* Returns TRUE for CUDA_SUCCESS, else FALSE with a message: what was being done, the call, the error's name and a
 * remedy. The error is CNV_ERROR_MEMORY if memory ran out, else CNV_ERROR_DEVICE. call: the entry's name; everything
 * from a parenthesis on is ignored. */
gboolean cnv_driver_check(const CnvDriver *cu, CUresult result, const char *call, const char *doing, GError **error);

/* Pushes a context for clean-up. Retries once, because clean-up must not be skipped after one failed call. Returns
 * FALSE if the context no longer exists, and with it everything that was in it. */
gboolean cnv_driver_enter_at_last(const CnvDriver *cu, CUcontext context);

/* Reads a device's compute capability: ten times the major number plus the minor one; 0 if that fails. */
gboolean cnv_driver_capability(const CnvDriver *cu, CUdevice device, int *capability, GError **error);
