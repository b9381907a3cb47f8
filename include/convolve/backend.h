/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The engines, and the session in which an engine runs plans on frames. To add an engine, write a file with its
 * CnvBackend and add a row to the list in backends.c.
 */
#pragma once

#include "work.h"

typedef struct CnvSession CnvSession;

#define CNV_IN_FLIGHT_MAX 8 /* most frames in flight: the limit of CnvBackend.max_in_flight */

/* Where a frame's samples are. HISTORY: in a slot of the session's history, see cnv_session_history_push. */
typedef enum { CNV_MEMORY_HOST, CNV_MEMORY_DEVICE, CNV_MEMORY_HISTORY } CnvMemory;

/* A frame's planes of memory, which the caller owns. Input and output must not overlap, except as
 * cnv_session_can_in_place allows. */
typedef struct {
  CnvMemory memory;
  int slot;                   /* HISTORY: number of the slot; data and stride are not used. Only for inputs */
  void *data[CNV_MAX_PLANES]; /* first sample of each plane: host address, or device address (CUdeviceptr) */
  int stride[CNV_MAX_PLANES]; /* bytes from row to row, at least the bytes of a row's samples. In device memory, `data`
                                 and `stride` are multiples of 2 for samples of 2 bytes, and of 4 for words of 4 bytes.
                                 Otherwise any alignment is allowed */
} CnvFrame;

/* Options of CnvBackend.open. 0 and NULL are valid values. */
typedef struct {
  int device;       /* cuda: ordinal; -1: the first */
  void *context;    /* cuda: CUcontext to work in. The caller owns it, and it must outlive the session. NULL: the
                       device's primary context */
  guint n_threads;  /* cpu: number of threads; 0: one per processor */
  const char *simd; /* cpu: instruction set to use if the machine has it, for example "avx2"; NULL: the best one */
} CnvSessionOptions;

/* Statistics of a session since it was opened. */
typedef struct {
  guint64 frames;         /* frames known to be done at the last submit or wait; all submitted frames after
                             cnv_session_wait */
  guint64 bytes_uploaded; /* host to device, by this session */
  guint64 bytes_downloaded;
  double compute_us; /* mean time per frame, in microseconds: of kernels on the GPU, wall time on the CPU */
  double upload_us;  /* mean time per frame, by CUDA events; 0 if nothing was copied */
  double download_us;
  guint threads; /* cpu: threads used for the last frame */
  /* Name of the method that filtered the largest part of each plane of the last frame. cpu: as in
   * cuda/cpu/methods/methods.c. cuda: the kernel kind with tile jobs (cuda/gpu/kinds.c), "decimated", or the
   * algorithm. NULL: the plane was not filtered. Valid until the program ends. */
  const char *method[CNV_MAX_PLANES];
  float threshold[CNV_MAX_PLANES]; /* temporal threshold of each plane of the format in the last frame, as a fraction of
                                      full scale; 0: none */
  guint64 planned;                 /* frames whose work differed from that of the frame before, so that jobs and weights
                                      of regions were computed again */
  guint crowd; /* most regions in a cell that was not filtered exactly (see Crowds in work.h); 0: all regions were
                  filtered exactly */
} CnvSessionStats;

/* An engine: CPU or CUDA. */
struct CnvBackend {
  const char *name;  /* nick of the backend property */
  const char *blurb; /* one line for gst-inspect-1.0 */
  gboolean takes_device_memory;
  guint max_in_flight; /* most frames in flight from or to host memory, 1..CNV_IN_FLIGHT_MAX */
  int dense_taps; /* for CNV_ALGORITHM_AUTO: a kernel of at most this many taps runs faster as a 2D kernel than as a
                     sum of separable ones */

  /* Returns TRUE if a session can be opened on the device (CnvSessionOptions.device), else FALSE with
   * CNV_ERROR_NO_DEVICE. Any thread. Cheap after the first call. */
  gboolean (*probe)(int device, GError **error);

  /* Returns TRUE if the algorithm can filter the plane, else FALSE with CNV_ERROR_UNSUPPORTED and the reason. Called in
   * the order of cnv_algorithm_nicks, never for AUTO, and for SEPARABLE and TEXTURE only if all terms are separable. */
  gboolean (*can)(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane, GError **error);

  /* Returns the fastest algorithm that can filter the plane. */
  CnvAlgorithm (*choose)(const CnvPlan *plan, const CnvPlane *plane);

  /* Allocates page-locked host memory, to and from which copies are fastest. Locking takes longer than a copy, so use
   * it for buffers that live long. context: as in CnvSessionOptions, not NULL; it must outlive the memory. The memory
   * may outlive the session. Any thread. Returns NULL if there is no such memory left. Both functions are NULL if the
   * engine has no such memory. */
  void *(*alloc_pinned)(void *context, gsize size);
  void (*free_pinned)(void *context, void *memory);

  /* Opens a session, to be closed with cnv_session_close. Only one thread at a time may use a session and read its
   * fields. A second thread may call cnv_session_wait_for_frame and cnv_session_is_lost meanwhile. Returns NULL with
   * CNV_ERROR_NO_DEVICE, _MEMORY or _DEVICE. */
  CnvSession *(*open)(const CnvSessionOptions *options, GError **error);
};

/* Base of every engine's session. Callers use the cnv_session_ functions below, which call these pointers. */
struct CnvSession {
  const CnvBackend *backend;
  gboolean (*submit)(CnvSession *self, const CnvWork *work, const CnvFrame *in, const CnvFrame *out, GError **error);
  /* Allocates slots for frames of the layout in self->scene, which is already set. n_slots 0: frees the history. */
  gboolean (*history_alloc)(CnvSession *self, guint n_slots, GError **error);
  /* fetch_rows: also starts the download of the rows that the scene needs, if the frame is in device memory. *kept is
   * FALSE on entry. */
  gboolean (*history_push)(CnvSession *self, guint slot, const CnvFrame *frame, gboolean fetch_rows, gboolean *kept,
                           GError **error);
  /* Waits for the rows that history_push fetches. They stay valid until the next push. NULL: the engine does not accept
   * device memory. */
  gboolean (*wait_for_rows)(CnvSession *self, CnvFrame *rows, GError **error);
  gboolean (*wait)(CnvSession *self, GError **error);
  gboolean (*wait_for_frame)(CnvSession *self, guint64 number, GError **error); /* NULL: frames are done on submit */
  gboolean (*use_stream)(CnvSession *self, void *stream, GError **error);       /* NULL, like order: no streams */
  /* first: the session waits for the stream's work so far; else the stream waits for the session's. */
  gboolean (*order)(CnvSession *self, void *stream, gboolean first, GError **error);
  void (*close)(CnvSession *self);
  int lost;               /* TRUE if waiting for the device failed; never reset. Atomic. See cnv_session_is_lost */
  guint n_slots;          /* slots of the history; cnv_session_history_alloc sets n_slots and scene */
  struct CnvScene *scene; /* image of the frames in the history, and their changes; NULL if there is no history */
  guint64 n_submitted;    /* frames submitted so far, which is the number of the last one */
  char *device_name;      /* for display: "NVIDIA H200", "CPU, 2 threads, AVX2" */
  CnvSessionStats stats;
};

/* All engines of this build, in order of preference for backend=auto; ends with NULL. Without CUDA there is only the
 * CPU. */
extern const CnvBackend *const cnv_backends[];

/* Returns the backend of that name, or NULL if this build has none. */
const CnvBackend *cnv_backend_find(const char *name);

/* Submits one frame. If max_in_flight frames of the backend are in flight, waits for the oldest first. work: its plans
 * must be for the session's backend. The session keeps references to the plans, but to nothing else in the work. A new
 * plan applies to all of this frame. The caller leaves the frames' memory untouched until a wait for the frame returns.
 * Later work on the session's stream may use device memory without a wait. Frames are done in the order in which they
 * were submitted. An error after the start is reported by the next call at the latest. */
gboolean cnv_session_submit(CnvSession *session, const CnvWork *work, const CnvFrame *in, const CnvFrame *out,
                            GError **error);

/* Returns TRUE if the session can do the work in place: with the same device memory as input and output. This is
 * possible if regions are not moved, and if planes are arrays of samples. Samples outside the regions are not written.
 * They are read only if a region's filter reaches them. */
gboolean cnv_session_can_in_place(const CnvSession *session, const CnvWork *work);

/* Allocates a history of n_slots frames of that image in the engine's memory; 0 frees it. Frames of an earlier history
 * are lost. */
gboolean cnv_session_history_alloc(CnvSession *session, const CnvImage *image, guint n_slots, GError **error);

/* Puts a frame of that image into a slot, 0..n_slots-1, in order with the frames submitted. The frame is copied once,
 * however often it is used. For the frame's memory the rules of cnv_session_submit apply. measured: measure the frame
 * for cnv_session_history_change. kept: NULL to copy in any case. If not NULL, a frame in device memory may be used
 * without a copy; *kept is TRUE if it is. Its memory then belongs to the slot until the slot's next push or until the
 * history is freed, and all work submitted before that is done. */
gboolean cnv_session_history_push(CnvSession *session, guint slot, const CnvFrame *frame, gboolean measured,
                                  gboolean *kept, GError **error);

/* Sets *change to the mean absolute difference of luma, 0..1, between a slot's frame and the one pushed before it. The
 * mean is over samples spread over the frame. *change is 0 unless both frames were measured. Waits only for the
 * measurement. */
gboolean cnv_session_history_change(CnvSession *session, guint slot, double *change, GError **error);

/* A CnvWork that filters the whole frame by one plan. plans: pointer to that plan. */
#define CNV_WORK_ALL(plans) ((CnvWork){.plan = (plans), .n_plans = 1, .whole_frame = TRUE})

/* Returns when all submitted frames are done. Blocks only the calling thread, never the device. If it fails, no frame
 * that was in flight is valid, and none is in flight any more unless the session is lost. */
gboolean cnv_session_wait(CnvSession *session, GError **error);

/* Returns when a frame from or to host memory and all frames before it are done. number: n_submitted after its
 * submission. One thread may call this while another one uses the session. If it fails, no frame that was in flight is
 * valid, and each later wait for one of them fails, too. */
gboolean cnv_session_wait_for_frame(CnvSession *session, guint64 number, GError **error);

/* `stream` in the next three functions is a CUstream of the session's context, owned by the caller. These functions do
 * not block. They do nothing if the session has no streams. */

/* Makes the session submit later work to `stream`, after all earlier work. The stream must exist until the caller sets
 * another one or closes the session. NULL: the session's own stream. */
gboolean cnv_session_use_stream(CnvSession *session, void *stream, GError **error);
/* Makes later work of the session wait for everything submitted to `stream` so far. */
gboolean cnv_session_wait_for_stream(CnvSession *session, void *stream, GError **error);
/* Makes later work on `stream` wait for everything that the session has submitted so far, except downloads to the host,
 * which may still run. */
gboolean cnv_session_signal_stream(CnvSession *session, void *stream, GError **error);

/* Returns TRUE if the session is lost: waiting for the device failed, and so did a second call that waits for the whole
 * context. A lost session accepts no frames, and work in flight may still use memory, so nobody may free or reuse that
 * memory. The session leaves its own memory to the context, and the driver frees it with the context. The caller keeps
 * the memory of each frame that was in flight until the process ends. Any thread. */
gboolean cnv_session_is_lost(const CnvSession *session);

/* Waits for all frames and frees the session. NULL is allowed. */
void cnv_session_close(CnvSession *session);
