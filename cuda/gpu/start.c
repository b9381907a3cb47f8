/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Starts a kernel, for the sources that launch kernels.
 */
#include "gpu/session.h"

/* A kernel may begin while the launch before it ends, and waits for it itself. */
gboolean
cnv_cuda_start(CudaSession *self, CUfunction function, CUlaunchConfig config, void *args, GError **error)
{
  CUlaunchAttribute serialization = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                     .value.programmaticStreamSerializationAllowed = 1};
  void *list[] = {args};

  config.hStream = self->stream;
  config.attrs = &serialization;
  config.numAttrs = 1;
  if (self->capability >= 90 && self->cu->cuLaunchKernelEx)
    return CHECK(self, cuLaunchKernelEx(&config, function, list, NULL), "starting a kernel", error);
  return CHECK(self,
               cuLaunchKernel(function, config.gridDimX, config.gridDimY, config.gridDimZ, config.blockDimX,
                              config.blockDimY, config.blockDimZ, config.sharedMemBytes, self->stream, list, NULL),
               "starting a kernel", error);
}

CnvAddresses
cnv_cuda_planes_of(const CnvFrame *frame)
{
  CnvAddresses planes;

  for (int m = 0; m < CNV_MAX_PLANES; m++) {
    planes.address[m] = (guintptr)frame->data[m];
    planes.stride[m] = frame->stride[m];
  }
  return planes;
}
