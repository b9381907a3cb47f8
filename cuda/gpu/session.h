/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A CUDA session, and the functions of the sources of the engine (../README.md says what each source does).
 *
 * All functions are called with the session's context current, and queue their work on its stream.
 */
#pragma once

#include <convolve/backend.h>

#include "gpu/driver.h"
#include "gpu/schedule.h"
#include "plan/scene.h"
#include "team.h"

/* The parts of a frame that are timed. */
typedef enum { SPAN_UPLOAD, SPAN_COMPUTE, SPAN_DOWNLOAD, N_SPANS } Span;

/* Texture objects that are kept for further frames in the same memory: pools have few buffers. */
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
  gboolean upload; /* TRUE: an upload; FALSE: a download */
  CnvFrame host, device;
  CnvFrame bus;       /* the host's frame, or staging */
  CnvLayout layout;   /* of the frame, and of staging; no planes: the frame is not in host memory */
  CudaBuffer staging; /* stays from frame to frame */
  gboolean staged;
  CUstream stream;
  gboolean overlaps; /* other copies may run at the same time */
} Transfer;

/* A frame from or to host memory. Nothing else uses its buffers and events until it was waited for, so the next frame
 * can be uploaded while this one is downloaded. They are created when first needed. */
typedef struct {
  guint64 number;     /* from 1; 0: none, and nothing here is in use */
  CudaBuffer in, out; /* for the frame's copies on the device */
  CnvFrame from, to;  /* the frames on the device */
  Transfer up, down;
  CUevent done; /* the frame is downloaded, to staging if it has any */
} FrameInFlight;

typedef struct {
  CUdeviceptr address;
  gsize size;
  int bytes; /* bytes of a sample, 4 for float32 */
  CUtexObject object;
} Texture;

/* A plane and its tensor map. */
typedef struct {
  guint64 address, dim[4], stride[3];
  guint32 box[4];
  guint64 swizzle; /* 64 bits wide, so that there is no padding, which a comparison would read */
  guint64 words[G_N_ELEMENTS(((CnvTensorMap *)NULL)->words)];
} TensorMap;

#define N_TENSOR_MAPS 256 /* tensor maps that are kept for further frames in the same memory */

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
  CUfunction copy, copy_jobs, cover, measure_noise;
  CUdeviceptr taps;
  CUstream stream; /* all work is queued on it: own_stream or the caller's */
  CUstream own_stream;
  CUevent order; /* lets one stream wait for another; reused at once */

  /* Frames in flight. Two threads may be at work, one of which only waits for frames (cnv_session_wait_for_frame). */
  struct {
    GMutex waiting; /* held while frames are waited for; locked before `lock` */
    GMutex lock;    /* protects the frames' numbers, the next members, and changes of the session's stream */
    struct {
      guint64 done;      /* number of the last frame known to be over: all up to it are done, but for those lost */
      guint64 n_lost;    /* number of lost frames up to `done` */
      guint64 last_lost; /* frames up to this number are lost for callers that wait for them */
    } count;
    FrameInFlight frames[CNV_IN_FLIGHT_MAX];
    CUstream up, down; /* kernels are on the session's stream, where device memory is shared with other elements */
    CnvTeam *team;     /* for copies to and from staging; NULL until there is one */
  } host;

  CUevent mark[N_SPANS][2]; /* where a span begins and ends */
  gboolean marking;         /* this frame is being timed */
  guint marked;             /* bits: spans that wait to be read */
  guint64 n_timed;
  CnvSchedule schedule;
  int loaded_bank; /* bank of taps that is in constant memory; -1: none */
  CnvLayout layout, staged;
  CudaBuffer scratch; /* results of filtering in place, until they are copied back */
  CudaBuffer readers; /* CnvTileArgs.readers, and its value after all launches so far */
  guint32 n_readers;
  gboolean has_device;  /* no other session of the process filters in place by one launch on this GPU */
  CudaBuffer decimated; /* decimated samples */
  CudaBuffer sums, plan_arrays, work_arrays, mask_cells, coverage, staged_in, staged_out;
  struct {
    CnvLayout layout;       /* layout of all frames; size 0: that of the next frame is adopted */
    CnvFrame *frame;        /* by slot: in `slots` or in the caller's memory */
    CudaBuffer slots, rows; /* rows: page-locked, of the frame that is being measured */
    Transfer upload;        /* upload of the last frame from the host */
    CUevent unstaged;       /* that upload no longer reads staging */
    CUevent rows_done;      /* the rows have arrived */
  } history;
  struct {
    guint n;                 /* measurements of the frames of the history */
    CudaBuffer state, seen;  /* as in CnvNoiseArgs */
    CnvThresholds threshold; /* of the present frame */
  } noise;
  gboolean busy; /* something was started since the last wait */
  Texture texture[N_TEXTURES];
  guint n_textures;
} CudaSession;

#define CHECK(self, call, doing, error) cnv_driver_check((self)->cu, (self)->cu->call, #call, doing, error)

/* memory.c */
/* Frees a buffer after the work that may use it is over. A lost session leaves its buffers to their context. */
void cnv_cuda_free(CudaSession *self, CudaBuffer *buffer);
/* Makes a buffer large enough, in device memory or page-locked. It never shrinks, so changes back and forth cost
 * nothing. */
gboolean cnv_cuda_reserve(CudaSession *self, CudaBuffer *buffer, gboolean pinned, gsize size, GError **error);
/* Returns the frame itself if it is on the device, else a frame in the session's buffer. */
gboolean cnv_cuda_device_frame(CudaSession *self, const CnvFrame *frame, CudaBuffer *buffer, CnvFrame *on_device,
                               GError **error);

/* transfer.c */
/* Finds staging for a frame that is not page-locked. */
void cnv_cuda_transfer_stage(CudaSession *self, Transfer *transfer);
/* Starts the copy. An upload is copied to its staging first. */
gboolean cnv_cuda_transfer_start(CudaSession *self, const Transfer *transfer, GError **error);
/* Copies between the frame's memory and its staging, if it has any. */
void cnv_cuda_transfer_copy_staged(CudaSession *self, const Transfer *transfer);

/* streams.c */
/* Lets later work on a stream wait for all work queued so far on the other. */
gboolean cnv_cuda_wait_for_stream(CudaSession *self, CUstream stream, CUstream other, GError **error);
/* Waits for all streams, whatever has failed. The session is lost (CnvSession) if a second try fails too. */
void cnv_cuda_sync_streams(CudaSession *self);

/* inflight.c */
/* Queues the work that is set for one frame, with `in` or `out` in host memory. If it fails, the frame is not in
 * flight. */
gboolean cnv_cuda_start_frame(CudaSession *self, const CnvWork *work, const CnvFrame *in, const CnvFrame *out,
                              GError **error);
/* The functions of CnvSession. */
gboolean cnv_cuda_wait(CnvSession *session, GError **error);
gboolean cnv_cuda_wait_for_frame(CnvSession *session, guint64 number, GError **error);
/* Updates stats.frames; all frames up to a number are known to be done. */
void cnv_cuda_frames_count(CudaSession *self, guint64 number);
void cnv_cuda_frames_close(CudaSession *self);

/* history.c */
/* The functions of CnvSession. */
gboolean cnv_cuda_history_alloc(CnvSession *session, guint n_slots, GError **error);
gboolean cnv_cuda_history_push(CnvSession *session, guint slot, const CnvFrame *frame, gboolean fetch_rows,
                               gboolean *kept, GError **error);
gboolean cnv_cuda_wait_for_rows(CnvSession *session, CnvFrame *rows, GError **error);

/* noise.c */
/* Sets the thresholds over time of a frame. Those that follow from the noise are measured first, and stay in device
 * memory. in: the output's frame; the schedule has the addresses of the others. */
gboolean cnv_cuda_set_thresholds(CudaSession *self, const CnvPlan *plan, const CnvFrame *in, GError **error);

/* timing.c */
/* Records the beginning (end 0) or the end (1) of a span on a stream, if this frame is timed. */
gboolean cnv_cuda_mark(CudaSession *self, Span span, int end, CUstream stream, GError **error);
/* Adds the times of a timed frame to the means, once it is done. */
gboolean cnv_cuda_read_times(CudaSession *self, GError **error);

/* tensor_map.c */
/* Fills in the maps for the planes that the launch's jobs read and write. */
void cnv_cuda_set_maps(CudaSession *self, const CnvLaunch *launch, const CnvFrame *in, const CnvFrame *out,
                       CnvTileArgs *args);

/* textures.c */
/* Sets textures over the planes of `in` and over the row sums. */
gboolean cnv_cuda_set_textures(CudaSession *self, CnvBlockArgs *args, GError **error);
void cnv_cuda_forget_textures(CudaSession *self);

/* start.c */
/* Starts a kernel on the session's stream. */
gboolean cnv_cuda_start(CudaSession *self, CUfunction function, CUlaunchConfig config, void *args, GError **error);
/* Returns the addresses and strides of a frame's planes. */
CnvAddresses cnv_cuda_planes_of(const CnvFrame *frame);

/* launch.c */
/* Computes the coverage of the jobs. Its memory and the work's arrays must exist. */
gboolean cnv_cuda_cover(CudaSession *self, GError **error);
/* Decides whether one launch can filter in place (CnvSchedule.at_once), and prepares that. */
gboolean cnv_cuda_prepare_at_once(CudaSession *self, GError **error);
/* Lets another session filter in place by one launch. No work of this one may be queued any more. */
void cnv_cuda_give_device_back(CudaSession *self);
/* Queues the work that is set, with its timing marks. Both frames are on the device. */
gboolean cnv_cuda_filter(CudaSession *self, const CnvWork *work, const CnvFrame *in, const CnvFrame *out,
                         GError **error);
/* Copies the planes of memory of a frame, in one launch. */
gboolean cnv_cuda_copy_planes(CudaSession *self, const CnvLayout *layout, const CnvFrame *in, const CnvFrame *out,
                              GError **error);
