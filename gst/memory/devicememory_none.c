/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Replaces devicememory.c in a build without CUDA.
 */
#include "memory/devicememory.h"

const GstCudaConvolveDevice *const gst_cuda_convolve_device = NULL;
