/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Engines, and the session in which an engine runs plans on frames. To add an engine: one file, one row of the list in
 * backends.c.
 */
#pragma once

#include "work.h"

typedef struct CnvSession CnvSession;

#define CNV_IN_FLIGHT_MAX 8

/* HISTORY: a slot of the session's own, see cnv_session_history_push. */
typedef enum { CNV_MEMORY_HOST, CNV_MEMORY_DEVICE, CNV_MEMORY_HISTORY } CnvMemory;

/* A frame's planes of memory. The engine owns nothing of it. Input and output do not overlap, but see
 * cnv_session_can_in_place. */
typedef struct {
  CnvMemory memory;
  int slot;                   /* HISTORY: the rest is not used. For inputs alone */
  void *data[CNV_MAX_PLANES]; /* first sample of each plane: host address, or device address (CUdeviceptr) */
  int stride[CNV_MAX_PLANES]; /* bytes from row to row, at least a row's samples; no alignment is asked for either, save
                                 that samples of 2 and words of 4 bytes in device memory lie at multiples of that */
} CnvFrame;

typedef struct {
  int device;    /* cuda: ordinal, -1 the first */
  void *context; /* cuda: CUcontext to work in, of the caller, outliving the session; NULL: the device's primary one */
  guint n_threads;  /* cpu: 0 for one a processor */
  const char *simd; /* cpu: an instruction set, "avx2", taken where the machine has it; NULL: the best */
} CnvSessionOptions;

typedef struct {
  guint64 frames;         /* known to be finished at the last submit or wait: after cnv_session_wait all */
  guint64 bytes_uploaded; /* host to device, by this session */
  guint64 bytes_downloaded;
  double compute_us; /* means a frame over the frames so far: kernels on the GPU, wall time on the CPU */
  double upload_us;  /* by CUDA events; 0 where nothing was copied */
  double download_us;
  int slices;    /* the last frame was filtered in, one after the other while the next were uploaded; 0: none yet */
  guint threads; /* cpu: that the last frame was worth */
  /* Name of the method that filtered the largest part of each plane of the last frame. cpu: as in
   * cuda/cpu/methods/methods.c. cuda: the kernel kind with tile jobs (cuda/gpu/kinds.c), or "decimated", or the
   * algorithm. NULL: the plane was not filtered. Valid until the program ends. */
  const char *method[CNV_MAX_PLANES];
  guint64 planned; /* frames for which jobs and weights of regions were made, since the work was new */
  guint crowd;     /* the most regions that met where they were not filtered exactly (Crowds in work.h); 0: all were */
} CnvSessionStats;

struct CnvBackend {
  const char *name;  /* nick of the backend property */
  const char *blurb; /* one line for gst-inspect-1.0 */
  gboolean takes_device_memory;
  guint max_in_flight; /* frames from or to host memory, 1..CNV_IN_FLIGHT_MAX */
  int dense_taps;      /* auto: kernels of so many taps are faster all at once than as several rows times columns */

  /* TRUE where a session could open; else FALSE with CNV_ERROR_NO_DEVICE. Cheap after the first call; any thread. */
  gboolean (*probe)(int device, GError **error);

  /* TRUE where the algorithm can run those taps on such a plane, else FALSE with the reason in error
   * (CNV_ERROR_UNSUPPORTED). Asked in the order of cnv_algorithm_nicks, never for AUTO; for SEPARABLE and TEXTURE only
   * where all terms are separable. */
  gboolean (*can)(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane, GError **error);

  /* The fastest algorithm that can. */
  CnvAlgorithm (*choose)(const CnvPlan *plan, const CnvPlane *plane);

  /* Page-locked host memory, which frames come from and go to the fastest: locking takes longer than a copy, so it is
   * for buffers that live long. context: of CnvSessionOptions, not NULL; it outlives the memory, a session need not.
   * Any thread. NULL where there is none to be had. Both functions are NULL where the engine knows no such memory. */
  void *(*alloc_pinned)(void *context, gsize size);
  void (*free_pinned)(void *context, void *memory);

  /* A session is used by one thread at a time, which alone reads its fields; only cnv_session_wait_for_frame may be
   * called by a second one meanwhile. Returns NULL with CNV_ERROR_NO_DEVICE, _MEMORY or _DEVICE. */
  CnvSession *(*open)(const CnvSessionOptions *options, GError **error);
};

/* Base of every engine's session; the functions below go through it. */
struct CnvSession {
  const CnvBackend *backend;
  gboolean (*submit)(CnvSession *self, const CnvWork *work, const CnvFrame *in, const CnvFrame *out, GError **error);
  /* The frames' layout is that of the scene, which stands already; n_slots 0: frees the history. */
  gboolean (*history_alloc)(CnvSession *self, guint n_slots, GError **error);
  /* fetch_rows: starts to download the rows that a scene needs, too, of a frame in device memory. *kept is FALSE. */
  gboolean (*history_push)(CnvSession *self, guint slot, const CnvFrame *frame, gboolean fetch_rows, gboolean *kept,
                           GError **error);
  /* Waits for these rows, which stay up to the next push. NULL: the engine takes no device memory. */
  gboolean (*wait_for_rows)(CnvSession *self, CnvFrame *rows, GError **error);
  gboolean (*wait)(CnvSession *self, GError **error);
  gboolean (*wait_for_frame)(CnvSession *self, guint64 number, GError **error); /* NULL: done when submitted */
  gboolean (*use_stream)(CnvSession *self, void *stream, GError **error);       /* these two NULL: it has no streams */
  gboolean (*order)(CnvSession *self, void *stream, gboolean first, GError **error);
  void (*close)(CnvSession *self);
  /* TRUE, for good, if the device cannot even be waited for: see cnv_session_is_lost. Atomic. */
  int lost;
  guint n_slots;          /* of the history; these two are set by cnv_session_history_alloc */
  struct CnvScene *scene; /* the image of its frames and how much they change; NULL where there are none */
  guint64 n_submitted;    /* frames so far: the number of the last one */
  char *device_name;      /* for people: "NVIDIA H200", "CPU, 2 threads, AVX2" */
  CnvSessionStats stats;
};

/* In order of preference for backend=auto; ends with NULL. A build without CUDA has only the CPU. */
extern const CnvBackend *const cnv_backends[];

/* Returns the backend of that name, or NULL where this build has none. */
const CnvBackend *cnv_backend_find(const char *name);

/* Starts one frame; where the backend's max_in_flight are in flight, it waits for the oldest. work: its
 * plans are made for the session's backend; the session keeps references to them, and nothing else of it. A change of
 * plans takes effect with this frame, whole. The frames' memory stays untouched until a wait for them returns or, in
 * device memory, is used in order with the session's stream alone. Frames are done in the order submitted. An error
 * after the start is reported by the next call at the latest. */
gboolean cnv_session_submit(CnvSession *session, const CnvWork *work, const CnvFrame *in, const CnvFrame *out,
                            GError **error);

/* TRUE where the session can do the work with the input as the output, both in device memory: regions that stay in
 * their place, of planes that are arrays of samples. Samples outside the regions are not written, and not read but as
 * the regions' surroundings. */
gboolean cnv_session_can_in_place(const CnvSession *session, const CnvWork *work);

/* Allocates a history of n_slots frames (0: none) in the engine's memory. Frames of an earlier one are lost. */
gboolean cnv_session_history_alloc(CnvSession *session, const CnvImage *image, guint n_slots, GError **error);

/* Puts a frame of that image into a slot, 0..n_slots-1, in order with what was submitted: it is copied once however
 * often it counts. Of the frame's memory the same is true as for cnv_session_submit. measured: for
 * cnv_session_history_change. kept: if not NULL a frame in device memory need not be copied; TRUE then says that it was
 * not, and its memory belongs to the slot until the work submitted before the slot's next push, or before the history
 * is freed, is done. */
gboolean cnv_session_history_push(CnvSession *session, guint slot, const CnvFrame *frame, gboolean measured,
                                  gboolean *kept, GError **error);

/* Sets *change to the mean absolute difference of luma, 0..1, between a slot's frame and the one pushed before it, over
 * samples that lie all over them; 0 unless both were measured. Waits for that measurement alone. */
gboolean cnv_session_history_change(CnvSession *session, guint slot, double *change, GError **error);

/* The work that filters all of a frame by one plan. */
#define CNV_WORK_ALL(plans) ((CnvWork){.plan = (plans), .n_plans = 1, .everything = TRUE})

/* Returns when all submitted frames are done. Blocks the calling thread alone, never the device. If a wait fails
 * no frame that was in flight is good, and nothing is in flight any more unless the session is lost. */
gboolean cnv_session_wait(CnvSession *session, GError **error);

/* Returns when a frame from or to host memory is done, and with it all before it. number: n_submitted when it had been
 * submitted. Any one thread, while another uses the session. Where it fails no frame that was in flight is good; each
 * later wait for one of them fails, too. */
gboolean cnv_session_wait_for_frame(CnvSession *session, guint64 number, GError **error);

/* The next three take a stream of the caller's, a CUstream of the session's context. They do not block, and do nothing
 * in a session without streams. */

/* Makes the session submit later work to a stream, after all earlier work. The caller keeps the stream until it gives
 * another or closes the session. NULL: the session's own. */
gboolean cnv_session_use_stream(CnvSession *session, void *stream, GError **error);
/* Later work of the session waits for everything submitted to `stream` so far. */
gboolean cnv_session_wait_for_stream(CnvSession *session, void *stream, GError **error);
/* Later work on `stream` waits for everything that the session has submitted so far in device memory; a frame may still
 * be on its way to the host. */
gboolean cnv_session_signal_stream(CnvSession *session, void *stream, GError **error);

/* Returns TRUE after the session failed to wait for the device: no later frame is taken, and work in flight may go on
 * using memory. One failed call is not enough: the session tries again, by a call that waits for the whole context. Of
 * a lost session nobody frees or reuses memory that the work may use. The session leaves its own to the context, with
 * which the driver frees it. The caller keeps the memory of each frame that was in flight until the process ends.
 * Any thread. */
gboolean cnv_session_is_lost(const CnvSession *session);

void cnv_session_close(CnvSession *session); /* NULL is allowed; waits first */
