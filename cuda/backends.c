/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The list of engines, in a file of its own because a test replaces it.
 */
#include "config.h"

#include <convolve/backend.h>

extern const CnvBackend cnv_backend_cpu;
#ifdef HAVE_CUDA
extern const CnvBackend cnv_backend_cuda;
#endif

const CnvBackend *const cnv_backends[] = {
#ifdef HAVE_CUDA
    &cnv_backend_cuda,
#endif
    &cnv_backend_cpu,
    NULL,
};
