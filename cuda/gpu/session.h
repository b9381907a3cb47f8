/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A CUDA session as the sources of the engine share it:
 *
 *   engine.c    the engine: what it can, opening, a frame from start to end
 *   plans.c     what of the plans and the work is on the device
 *   launch.c    the kernels of a frame
 *   textures.c  texture objects, for the rung that reads through them
 *   memory.c    device buffers, and frames in them
 *   host.c      frames in host memory
 *   rows.c      rows of a frame that the host measures
 *
 * All functions are called with the session's context current, and start what they do on its stream.
 */
#pragma once

#include "gpu/engine.h"
#include "gpu/host.h"
#include "gpu/schedule.h"

G_BEGIN_DECLS

/* Sample types of the kernels. */
typedef enum { TYPE_U8, TYPE_U16, TYPE_F32, N_TYPES } SampleType;

/* What is timed of a frame, each from its first start to its last end: in slices they overlap. */
typedef enum { SPAN_UPLOAD, SPAN_COMPUTE, SPAN_DOWNLOAD, N_SPANS } Span;

/* Texture objects kept for frames that come again: pools have few. */
#define N_TEXTURES 32

/* Where the planes of a frame of the session's own lie in a device buffer. */
typedef struct {
  int pitch[CNV_MAX_PLANES];
  gsize offset[CNV_MAX_PLANES];
  gsize size;
} FrameLayout;

typedef struct {
  CUdeviceptr address;
  gsize size;
  SampleType type;
  CUtexObject object; /* 0: none */
  guint64 used;       /* when it was used last, by the count of uses */
} Texture;

typedef struct {
  CnvSession base;
  const CnvDriver *cu;
  CUcontext context;
  CUdevice device;
  gboolean owns_context;
  CUmodule module;
  CUfunction function[CNV_N_KERNELS][N_TYPES][CNV_MAX_CHANNELS + 1]; /* 0: of any number of channels; NULL until used */
  CUfunction copy;
  guint shared_allowed[CNV_N_KERNELS]; /* bytes of shared memory that tile jobs were allowed so far; 0: the usual */
  int n_processors;
  CUdeviceptr taps;
  CUstream stream; /* that all goes to: own_stream or the caller's */
  CUstream own_stream;
  CUevent order; /* what one stream waits for of another; used again at once */
  CudaHost host;
  CUevent mark[N_SPANS][2]; /* where a span begins and ends */
  gboolean marking;         /* this frame is being timed */
  guint marked;             /* bits: spans that wait to be read */
  double timed_us[N_SPANS];
  guint64 n_timed;
  guint64 n_marked; /* number of the timed frame */
  CnvSchedule table;
  gboolean table_is_there; /* its block is on the device */
  int loaded_bank;         /* of taps, in constant memory; -1 none */
  FrameLayout layout, staged;
  DeviceBuffer beside; /* what is filtered in place, until it is put there */
  DeviceBuffer sums, block, all_taps, weights, staged_in, staged_out;
  DeviceBuffer history; /* slots, each laid out as slot_layout says */
  FrameLayout slot_layout;
  CudaStaging rows;   /* of the frame that is being measured */
  CUevent rows_done;  /* they are there; NULL before the first */
  CnvSources sources; /* of the frame that is being submitted; deltas in the history */
  guint stage;        /* number of the source that is being staged */
  gboolean busy;      /* something was started since the last wait */
  Texture texture[N_TEXTURES];
  guint64 n_texture_uses;
} CudaSession;

#define CHECK(self, call, doing, error) cnv_driver_check((self)->cu, (self)->cu->call, #call, doing, error)

/* memory.c */
void cnv_cuda_free(CudaSession *self, DeviceBuffer *buffer);
/* Makes a buffer large enough; it only ever grows, so that changes back and forth cost nothing. */
gboolean cnv_cuda_reserve(CudaSession *self, DeviceBuffer *buffer, gsize size, GError **error);
gboolean cnv_cuda_upload(CudaSession *self, CUdeviceptr to, const void *from, gsize size, const char *doing,
                         GError **error);
/* Of the twin that a frame in host memory has on the device, and of the planes that are staged. */
FrameLayout cnv_cuda_frame_layout(const CnvImage *image);
FrameLayout cnv_cuda_staged_layout(const CnvPlan *plan);
/* A slot of the history as a frame. */
CnvFrame cnv_cuda_slot_frame(const CudaSession *self, int slot);
/* The frame itself where it is on the device, else one in that buffer of the session's. */
gboolean cnv_cuda_device_frame(CudaSession *self, const CnvFrame *frame, DeviceBuffer *buffer, CnvFrame *on_device,
                               GError **error);
/* Samples of several bytes are read as such. */
gboolean cnv_cuda_check_alignment(const CnvImage *image, const CnvFrame *frame, GError **error);

/* host.c */
/* Has what is started on one stream from now on begin after what was started on another. */
gboolean cnv_cuda_follow(CudaSession *self, CUstream after, CUstream before, GError **error);
gboolean cnv_cuda_host_open(CudaSession *self, GError **error);
void cnv_cuda_host_close(CudaSession *self);
/* Uploads a frame in host memory to one laid out by cnv_cuda_frame_layout, on the session's stream. */
gboolean cnv_cuda_upload_frame(CudaSession *self, const CnvImage *image, const CnvFrame *frame, const CnvFrame *to,
                               GError **error);
/* Starts all that is done to a frame by the work that is set, where `in` or `out` is in host memory. Where it fails
 * nothing of that frame is under way. */
gboolean cnv_cuda_run_host(CudaSession *self, const CnvWork *work, const CnvFrame *in, const CnvFrame *out,
                           GError **error);
/* Waits for those of these frames up to a number, and brings their output to its memory where that did not go there by
 * itself. With host.waiting. */
gboolean cnv_cuda_complete(CudaSession *self, guint64 number, GError **error);
/* Of CnvSession. */
gboolean cnv_cuda_wait_for_frame(CnvSession *session, guint64 number, GError **error);
/* Waits for all streams, whatever has failed. */
void cnv_cuda_host_settle(CudaSession *self);
/* Brings the statistics up to date; all frames up to a number are known to be done. */
void cnv_cuda_host_count(CudaSession *self, guint64 number);
/* All that are in flight are lost, and those after `done` and up to `number`. */
void cnv_cuda_host_forget(CudaSession *self, guint64 done, guint64 number);
/* Of CnvBackend; without a session, in any context. */
void *cnv_cuda_alloc_pinned(void *context, gsize size);
void cnv_cuda_free_pinned(void *context, void *memory);

/* rows.c: of CnvSession */
gboolean cnv_cuda_fetch_rows(CnvSession *session, const CnvFrame *frame, GError **error);
gboolean cnv_cuda_wait_for_rows(CnvSession *session, CnvFrame *rows, GError **error);
void cnv_cuda_free_rows(CudaSession *self);

/* engine.c */
/* Where the frame is being timed, the beginning (end 0) or the end (1) of a span on a stream. */
gboolean cnv_cuda_mark(CudaSession *self, Span span, int end, CUstream stream, GError **error);

/* plans.c */
/* Of the planes that a launch works on. */
SampleType cnv_cuda_type_of(const CudaSession *self, const CnvLaunch *launch);
/* Takes over plans and work, where they are others. cut: in slices, where that can be. */
gboolean cnv_cuda_set_work(CudaSession *self, const CnvWork *work, gboolean cut, GError **error);
/* The launch's kernel, with leave to take its shared memory. */
CUfunction cnv_cuda_find_function(CudaSession *self, const CnvLaunch *launch, GError **error);
/* Puts a bank of taps in constant memory, unless it is there. */
gboolean cnv_cuda_load_bank(CudaSession *self, guint bank, GError **error);

/* textures.c */
/* The texture over some memory, made once as long as it is among the last N_TEXTURES. */
gboolean cnv_cuda_find_texture(CudaSession *self, CUdeviceptr address, gsize size, SampleType type, guint64 *object,
                               GError **error);
void cnv_cuda_forget_textures(CudaSession *self);

/* launch.c */
/* All that is done to a frame by the work that is set; both frames on the device. now: slot of the frame put out, where
 * it is one. */
gboolean cnv_cuda_filter_frame(CudaSession *self, const CnvWork *work, int now, const CnvFrame *in, const CnvFrame *out,
                               GError **error);
/* What is done to a slice, where the work that is set is cut, but for planes of memory that are copied whole. */
gboolean cnv_cuda_filter_slice(CudaSession *self, const CnvWork *work, int slice, const CnvFrame *in,
                               const CnvFrame *out, GError **error);
/* Bits: the planes of memory that have samples which no kernel writes. */
guint cnv_cuda_copied_memories(const CnvWork *work);
/* Copies the planes of memory whose bit is set, in one launch. */
gboolean cnv_cuda_copy_planes(CudaSession *self, const CnvImage *image, guint which, const CnvFrame *in,
                              const CnvFrame *out, GError **error);

G_END_DECLS
