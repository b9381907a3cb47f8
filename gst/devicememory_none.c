/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * devicememory.c of a build without CUDA.
 */
#include "devicememory.h"

const GstCudaConvolveDevice *const gst_cuda_convolve_device = NULL;
