/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The instance of the element, for source files that need more than one of its parts.
 *
 * Locks: the object lock protects the members marked so. Everything else belongs to the streaming thread; start and
 * stop run when there is none. The task of inflight.h owns the frames in flight. It only calls two functions of the
 * session: cnv_session_wait_for_frame and cnv_session_is_lost.
 */
#pragma once

#include <gst/base/gstbasetransform.h>

#include "element/caps.h"
#include "element/engine.h"
#include "element/recipe.h"
#include "properties/settings.h"

#define GST_TYPE_CUDA_CONVOLVE (gst_cuda_convolve_get_type())
G_DECLARE_FINAL_TYPE(GstCudaConvolve, gst_cuda_convolve, GST, CUDA_CONVOLVE, GstBaseTransform)

GST_ELEMENT_REGISTER_DECLARE(cudaconvolve)

/* A cast without type check, because the type function is in the file of the class. */
#define GST_CUDA_CONVOLVE_CAST(object) ((GstCudaConvolve *)(object))

struct _GstCudaConvolve {
  GstBaseTransform parent;

  /* Protected by the object lock. */
  GstCudaConvolveSettings settings;
  GHashTable *refused;       /* slot of a property to message: its last value was rejected, and is not in settings */
  char *zones_error;         /* why the last version of the zones file is not in force; NULL: it is */
  gboolean no_device_output; /* since the start: no CUDA memory could be allocated for output */
  struct {
    guint64 frames, dropped; /* since the start */
    CnvPlan *plan;           /* of the last frame; NULL before the first caps */
    CnvImage image;          /* of the last caps; valid if there is a plan */
    guint n_regions;         /* of the last frame */
    guint n_history;         /* frames held */
    CnvSessionStats session; /* after the last frame */
  } stats;
  struct {
    GstClockTime latency;    /* as reported; only the streaming thread writes it, frame_time and position */
    GstClockTime frame_time; /* 0: unknown */
    GstClockTime position;   /* end of the last output frame, in time of its segment; NONE: no frame yet */
  } time;

  GstCudaConvolveEngine engine;
  GstCudaConvolveCaps caps;
  struct {
    gboolean takes_meta;   /* downstream supports GstVideoMeta */
    gboolean pool_started; /* the pool of output buffers was started since it was chosen */
    gboolean own_pool;     /* the pool is ours; the memory of downstream's pool has a stream of its own */
  } allocation;            /* since the last caps */
  GstCudaConvolveRecipe recipe;
  gboolean in_place; /* the input buffer of this frame becomes the output */

  /* Frames of a filter over time: see history.h. */
  struct {
    guint n_slots;  /* allocated in the session; 0: not in use */
    guint64 first;  /* number of the first frame that can be used; at most n_slots are kept */
    guint64 out;    /* number of the next output frame */
    guint64 next;   /* number of the next input frame */
    GQueue waiting; /* frames from `out` to `next` as buffers without memory, with the events between them */
    GstBuffer *kept[CNV_MAX_TEMPORAL_TAPS];             /* by slot: buffer whose memory the session reads, or NULL */
    CnvTemporalTap temporal_tap[CNV_MAX_TEMPORAL_TAPS]; /* of the output frame */
  } history;

  /* See inflight.h. */
  struct {
    guint n_wanted; /* as the user set it, since the start; 0: auto */
    guint n;        /* since the last caps, most frames in flight; 0: not chosen yet, the next frame decides */
    GMutex lock;    /* protects the members below */
    GCond changed;
    GQueue items;       /* frames and the events between them; the first one stays here until it is pushed */
    guint n_frames;     /* frames among the items that are not done */
    gboolean active;    /* the source pad is active */
    GstFlowReturn flow; /* if not OK, frames are dropped until the streaming thread has read it */
    GstPadActivateModeFunction activate_src; /* the function of the base class */
  } in_flight;

  /* See zoneswatch.h. */
  struct {
    GMutex lock;        /* protects the members below */
    GCond ended;        /* is_active was cleared */
    gboolean is_active; /* from start to stop */
    GThread *thread;    /* NULL: none yet */
  } zones_watch;

  gboolean is_discont; /* the base class will mark the next frame that it pushes as DISCONT */
};
