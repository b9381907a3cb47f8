/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames in host memory: page-locked memory is copied as it lies, other memory by way of page-locked buffers of the
 * session. Uploads and downloads have streams of their own, which begin after what was started on the session's stream
 * before, and which that stream waits for in the end; so for all others a frame is work on the session's stream alone.
 *
 * Included by cuda_session.h, which see for what all functions have in common.
 */
#pragma once

#include "copier.h"
#include "cuda_slices.h"
#include "driver.h"

G_BEGIN_DECLS

/* Page-locked memory. */
typedef struct {
  guint8 *memory;
  gsize size;
} CudaStaging;

/* Output that lies in staging and goes to a frame's own memory when it is there. */
typedef struct {
  CnvFrame out;
  CnvImage image;
  CnvSlices slices;
  guint planes; /* bits: those of them; 0: none, and nothing else counts */
} CudaLanding;

typedef struct {
  CUstream up, down;
  CUevent landed[CNV_SLICES_MAX]; /* a slice's downloads are done */
  CUevent unstaged;               /* all that was uploaded from staging has left it */
  CudaStaging in, out;
  CudaLanding landing;
  CnvCopier *copier; /* NULL until there is something to copy */
} CudaHost;

G_END_DECLS
