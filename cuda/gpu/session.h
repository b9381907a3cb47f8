/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A CUDA session as the sources of the engine share it, and the functions of each source (../README.md tells what they
 * are for).
 *
 * All functions are called with the session's context current, and start what they do on its stream.
 */
#pragma once

#include <convolve/backend.h>

#include "gpu/driver.h"
#include "gpu/schedule.h"
#include "plan/scene.h"
#include "team.h"

/* The parts of a frame that are timed. */
typedef enum { SPAN_UPLOAD, SPAN_COMPUTE, SPAN_DOWNLOAD, N_SPANS } Span;

/* Texture objects kept for frames that come again: pools have few. */
#define N_TEXTURES 32

/* Device memory, or page-locked memory of the host. */
typedef struct {
  CUdeviceptr address;
  gsize size;
  gboolean pinned;
} CudaBuffer;

/* A frame's copy between host and device. Page-locked memory is copied directly, other memory through staging, which
 * has the layout of the device's memory. */
typedef struct {
  gboolean upload; /* else a download */
  CnvFrame host, device;
  CnvFrame bus;       /* the host's frame, or staging */
  CnvLayout layout;   /* of the frame, and of staging; no planes: the frame is not in host memory */
  CudaBuffer staging; /* stays from frame to frame */
  gboolean staged;
  CUstream stream;
  gboolean overlaps; /* with copies of other frames */
} Transfer;

/* A frame from or to host memory. It has all that its copies need to itself until it was waited for: so the next one is
 * uploaded while it is downloaded. Buffers and events are made as they come to be needed. */
typedef struct {
  guint64 number;     /* from 1; 0: none, and nothing here is in use */
  CudaBuffer in, out; /* for the frame's copies on the device */
  CnvFrame from, to;  /* on the device */
  Transfer up, down;
  CUevent done; /* the frame is downloaded, to staging if it has any */
} FrameInFlight;

typedef struct {
  CUdeviceptr address;
  gsize size;
  int bytes; /* of a sample, 4 for float32 */
  CUtexObject object;
} Texture;

/* A plane and its tensor map. */
typedef struct {
  guint64 address, dim[4], stride[3];
  guint32 box[4];
  guint64 swizzle; /* as wide as the others: no padding, which a comparison would read */
  guint64 words[G_N_ELEMENTS(((CnvTensorMap *)NULL)->words)];
} TensorMap;

#define N_TENSOR_MAPS 256 /* planes of frames that come again and again */

typedef struct {
  CnvSession base;
  const CnvDriver *cu;
  CUcontext context;
  CUdevice device;
  gboolean owns_context;
  CUmodule module;
  int capability;   /* ten times the major number, and the minor one */
  GHashTable *maps; /* set of TensorMap; NULL: none so far */
  /* CUfunction by the name's address, of a kind or variant: those used so far, since each look-up costs memory. */
  GHashTable *functions;
  CUfunction copy, copy_jobs, cover;
  CUdeviceptr taps;
  CUstream stream; /* that all goes to: own_stream or the caller's */
  CUstream own_stream;
  CUevent order; /* what one stream waits for of another; used again at once */

  /* Frames in flight. Two threads may be at work, one of which only waits for frames (cnv_session_wait_for_frame). */
  struct {
    GMutex waiting; /* held while frames are waited for, taken before the other one */
    GMutex lock;    /* of the frames' numbers, of what follows, and of changes of the session's stream */
    struct {
      guint64 done;      /* number of the last frame known to be over: all up to it are done, but for those lost */
      guint64 n_lost;    /* of them */
      guint64 last_lost; /* none up to it is good any more for who waits */
    } count;
    FrameInFlight frames[CNV_IN_FLIGHT_MAX];
    CUstream up, down; /* kernels are on the session's stream: what others do in device memory meets them alone */
    CnvTeam *team;     /* for copies to and from staging; NULL until there is one */
  } host;

  CUevent mark[N_SPANS][2]; /* where a span begins and ends */
  gboolean marking;         /* this frame is being timed */
  guint marked;             /* bits: spans that wait to be read */
  guint64 n_timed;
  CnvSchedule schedule;
  int loaded_bank; /* of taps, in constant memory; -1 none */
  CnvLayout layout, staged;
  CudaBuffer scratch; /* for the result of filtering in place, before it is put there */
  CudaBuffer readers; /* CnvTileArgs.readers, and its value after all launches so far */
  guint32 n_readers;
  gboolean has_device;  /* no other session of the process filters at once on this GPU */
  CudaBuffer decimated; /* decimated samples */
  CudaBuffer sums, plan_arrays, work_arrays, mask_cells, coverage, staged_in, staged_out;
  struct {
    CnvLayout layout;       /* of all frames; size 0: the next one settles it */
    CnvFrame *frame;        /* by slot: in `slots`, or where the caller has it */
    CudaBuffer slots, rows; /* rows: of the frame that is being measured, page-locked */
    Transfer upload;        /* of the last frame from the host */
    CUevent unstaged;       /* it has left staging */
    CUevent rows_done;      /* the rows are there */
  } history;
  gboolean busy; /* something was started since the last wait */
  Texture texture[N_TEXTURES];
  guint n_textures;
} CudaSession;

#define CHECK(self, call, doing, error) cnv_driver_check((self)->cu, (self)->cu->call, #call, doing, error)

/* memory.c */
/* Frees a buffer after the work that may use it. A session that is lost leaves its buffers to their context. */
void cnv_cuda_free(CudaSession *self, CudaBuffer *buffer);
/* Makes a buffer large enough, of device memory or page-locked; it only ever grows, so that changes back and forth cost
 * nothing. */
gboolean cnv_cuda_reserve(CudaSession *self, CudaBuffer *buffer, gboolean pinned, gsize size, GError **error);
/* The frame itself where it is on the device, else one in that buffer of the session's. */
gboolean cnv_cuda_device_frame(CudaSession *self, const CnvFrame *frame, CudaBuffer *buffer, CnvFrame *on_device,
                               GError **error);

/* transfer.c */
/* Finds staging for a frame that is not page-locked. */
void cnv_cuda_transfer_stage(CudaSession *self, Transfer *transfer);
/* Starts the copy. An upload is copied to its staging first. */
gboolean cnv_cuda_transfer_start(CudaSession *self, const Transfer *transfer, GError **error);
/* Copies between the frame's memory and its staging, if it has any. */
void cnv_cuda_transfer_copy_staged(CudaSession *self, const Transfer *transfer);

/* inflight.c */
/* Later work on a stream waits for all that was started on the other. */
gboolean cnv_cuda_wait_for_stream(CudaSession *self, CUstream stream, CUstream other, GError **error);
/* Waits for all streams, whatever has failed. The session is lost (CnvSession) if a second try fails too. */
void cnv_cuda_sync_streams(CudaSession *self);
/* Starts all that is done to a frame by the work that is set, where `in` or `out` is in host memory. If it fails the
 * frame is not in flight. */
gboolean cnv_cuda_start_frame(CudaSession *self, const CnvWork *work, const CnvFrame *in, const CnvFrame *out,
                              GError **error);
/* The functions of CnvSession. */
gboolean cnv_cuda_wait(CnvSession *session, GError **error);
gboolean cnv_cuda_wait_for_frame(CnvSession *session, guint64 number, GError **error);
/* Brings stats.frames up to date; all frames up to a number are known to be done. */
void cnv_cuda_frames_count(CudaSession *self, guint64 number);
void cnv_cuda_frames_close(CudaSession *self);

/* history.c */
/* The functions of CnvSession. */
gboolean cnv_cuda_history_alloc(CnvSession *session, guint n_slots, GError **error);
gboolean cnv_cuda_history_push(CnvSession *session, guint slot, const CnvFrame *frame, gboolean fetch_rows,
                               gboolean *kept, GError **error);
gboolean cnv_cuda_wait_for_rows(CnvSession *session, CnvFrame *rows, GError **error);

/* timing.c */
/* Records the beginning (end 0) or the end (1) of a span on a stream, if the frame is one that is timed. */
gboolean cnv_cuda_mark(CudaSession *self, Span span, int end, CUstream stream, GError **error);
/* Adds the times of a timed frame, once it is done, to the means. */
gboolean cnv_cuda_read_times(CudaSession *self, GError **error);

/* tensor_map.c */
/* Fills in the maps for the planes that the launch's jobs read and write. */
void cnv_cuda_set_maps(CudaSession *self, const CnvLaunch *launch, const CnvFrame *in, const CnvFrame *out,
                       CnvTileArgs *args);

/* textures.c */
/* Sets textures over the planes of `in` and over the row sums. */
gboolean cnv_cuda_set_textures(CudaSession *self, CnvBlockArgs *args, GError **error);
void cnv_cuda_forget_textures(CudaSession *self);

/* launch.c */
/* Makes the coverage of the jobs, once its memory and the work's arrays are there. */
gboolean cnv_cuda_cover(CudaSession *self, GError **error);
/* Finds out if the work that is set can be done in place at once (CnvSchedule.at_once), and prepares that. */
gboolean cnv_cuda_prepare_at_once(CudaSession *self, GError **error);
/* Lets another session do so. Nothing of this one is at work any more. */
void cnv_cuda_give_device_back(CudaSession *self);
/* Starts the work that is set, with the marks of its time. Both frames are on the device. */
gboolean cnv_cuda_filter(CudaSession *self, const CnvWork *work, const CnvFrame *in, const CnvFrame *out,
                         GError **error);
/* Copies the planes of memory of a frame, in one launch. */
gboolean cnv_cuda_copy_planes(CudaSession *self, const CnvLayout *layout, const CnvFrame *in, const CnvFrame *out,
                              GError **error);
