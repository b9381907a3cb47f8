/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A CUDA session as the sources of the engine share it:
 *
 *   cuda_engine.c    the engine: what it can, opening, a frame from start to end
 *   cuda_plans.c     what of the plans and the work is on the device
 *   cuda_launch.c    the kernels of a frame
 *   cuda_textures.c  texture objects, for the rung that reads through them
 *   cuda_memory.c    device buffers, frames in them, and copies between host and device
 *
 * All functions are called with the session's context current, and start what they do on its stream.
 */
#pragma once

#include "cuda_engine.h"
#include "cuda_table.h"

G_BEGIN_DECLS

/* Sample types of the kernels. */
typedef enum { TYPE_U8, TYPE_U16, TYPE_F32, N_TYPES } SampleType;

/* Moments of a frame that are timed: before upload, kernels and download, and the end. */
enum { MARK_UPLOAD, MARK_COMPUTE, MARK_DOWNLOAD, MARK_END, N_MARKS };

/* Texture objects kept for frames that come again: pools have few. */
#define N_TEXTURES 32

typedef struct {
  CUdeviceptr address;
  gsize size;
} DeviceBuffer;

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
  CUfunction strips[CNV_N_KERNELS];    /* of the table's variants, for the plans' samples */
  guint shared_allowed[CNV_N_KERNELS]; /* bytes of shared memory that they were allowed so far; 0: the usual */
  int n_processors;
  CUdeviceptr taps;
  CUstream stream; /* that all goes to: own_stream or the caller's */
  CUstream own_stream;
  CUevent order; /* of streams */
  CUevent mark[N_MARKS];
  gboolean marking, marked; /* this frame is being timed; its marks wait to be read */
  double timed_us[N_MARKS - 1];
  guint64 n_timed;
  guint64 n_submitted, n_marked; /* frames; how many there were with the timed one */
  CnvTable table;
  gboolean table_is_there; /* its block is on the device */
  int loaded_batch;        /* whose taps are in constant memory; -1 none */
  FrameLayout layout, staged;
  DeviceBuffer in, out, sums, block, all_taps, bands, staged_in, staged_out;
  DeviceBuffer history; /* slots, each laid out as slot_layout says */
  FrameLayout slot_layout;
  CnvImage history_image;
  CnvSources sources; /* of the frame that is being submitted; deltas in the history */
  guint stage;        /* number of the source that is being staged */
  gboolean busy;      /* something was started since the last wait */
  Texture texture[N_TEXTURES];
  guint64 n_texture_uses;
} CudaSession;

#define CHECK(self, call, doing, error) cnv_driver_check((self)->cu, (self)->cu->call, doing, error)

/* cuda_memory.c */
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
/* The frame itself where it is on the device, else a frame in the session's own buffer. */
gboolean cnv_cuda_device_frame(CudaSession *self, const CnvFrame *frame, DeviceBuffer *buffer, CnvFrame *on_device,
                               GError **error);
/* Copies all planes between host and device, and adds up their bytes. */
gboolean cnv_cuda_transfer(CudaSession *self, const CnvImage *image, const CnvFrame *from, const CnvFrame *to,
                           guint64 *bytes, GError **error);
/* Samples of several bytes are read as such. */
gboolean cnv_cuda_check_alignment(const CnvImage *image, const CnvFrame *frame, GError **error);

/* cuda_plans.c */
extern const char *const cnv_cuda_type_name[N_TYPES];
/* Of planes that are not staged. */
SampleType cnv_cuda_sample_type(const CudaSession *self);
/* Takes over plans and work, where they are others. */
gboolean cnv_cuda_set_work(CudaSession *self, const CnvWork *work, GError **error);
/* Puts the taps of a batch in constant memory, unless they are there. */
gboolean cnv_cuda_load_batch(CudaSession *self, guint batch, GError **error);

/* cuda_textures.c */
/* The texture over some memory, made once as long as it is among the last N_TEXTURES. */
gboolean cnv_cuda_find_texture(CudaSession *self, CUdeviceptr address, gsize size, SampleType type, guint64 *object,
                               GError **error);
void cnv_cuda_forget_textures(CudaSession *self);

/* cuda_launch.c */
/* All that is done to a frame by the work that is set; both frames on the device. now: slot of the frame put out, where
 * it is one. */
gboolean cnv_cuda_filter_frame(CudaSession *self, const CnvWork *work, int now, const CnvFrame *in, const CnvFrame *out,
                               GError **error);
/* Copies the planes of memory whose bit is set, in one launch. */
gboolean cnv_cuda_copy_planes(CudaSession *self, const CnvImage *image, guint which, const CnvFrame *in,
                              const CnvFrame *out, GError **error);

G_END_DECLS
