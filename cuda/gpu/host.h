/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames in host memory: page-locked memory is copied as it lies, other memory by way of page-locked buffers of the
 * session. Uploads and downloads have streams of their own; the kernels between them are on the session's stream, in
 * the order of the frames. Each frame under way has all that its copies need to itself, until it was waited for: so the
 * next one is uploaded while it is downloaded. What others do in device memory meets the kernels alone.
 *
 * Included by session.h, which see for what all functions have in common.
 */
#pragma once

#include "plan/plan.h"

#include "copy.h"
#include "gpu/slices.h"
#include "gpu/driver.h"

G_BEGIN_DECLS

typedef struct {
  CUdeviceptr address;
  gsize size;
} DeviceBuffer;

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
} PendingDownload;

/* A frame from or to host memory, under way. Made as they come to be needed. */
typedef struct {
  guint64 frame;        /* its number, from 1; 0: none, and nothing here is in use */
  DeviceBuffer in, out; /* its twins on the device */
  CudaStaging staged_in, staged_out;
  PendingDownload pending;
  CUevent landed[CNV_SLICES_MAX]; /* a slice's downloads are done */
  CUevent done;                   /* all is */
} CudaFlight;

/* Two threads may be at work, one of which only waits for frames (cnv_session_wait_for_frame). */
typedef struct {
  GMutex waiting; /* held while frames are waited for, taken before the other locks */
  GMutex lock;    /* of `frame` of the flights, of what follows, and of changes of the session's stream */
  guint64 n_done; /* frames known to be done or lost: number of the last */
  guint64 n_lost; /* how many of them were lost */
  guint64 last_lost;
  CUstream up, down;
  CudaFlight flight[CNV_FLIGHTS_MAX];
  CudaStaging kept; /* for frames on their way into the history */
  CUevent unstaged; /* the last of them has left it */
  CnvTeam *team;    /* that copies; NULL until there is something to copy */
} CudaHost;

G_END_DECLS
