/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The element's instance: what its files that need more of it than their own part share.
 *
 * Locks: the object lock covers what says so; all else belongs to the streaming thread (start and stop run when there
 * is none). The task of inflight.h has the frames in flight, and of the session cnv_session_wait_for_frame alone.
 */
#pragma once

#include <gst/base/gstbasetransform.h>

#include "caps.h"
#include "engine.h"
#include "recipe.h"
#include "settings.h"

#define GST_TYPE_CUDA_CONVOLVE (gst_cuda_convolve_get_type())
G_DECLARE_FINAL_TYPE(GstCudaConvolve, gst_cuda_convolve, GST, CUDA_CONVOLVE, GstBaseTransform)

GST_ELEMENT_REGISTER_DECLARE(cudaconvolve)

/* Without a call of the type function, which is in the class' file. */
#define GST_CUDA_CONVOLVE_CAST(object) ((GstCudaConvolve *)(object))

struct _GstCudaConvolve {
  GstBaseTransform parent;

  /* Under the object lock. */
  GstCudaConvolveSettings settings;
  GHashTable *refused;       /* a property's slot to message: its last value could not be, and is not in settings */
  gboolean no_device_output; /* since the start: no CUDA memory could be had for output */
  struct {
    guint64 frames, dropped; /* since the start */
    CnvPlan *plan;           /* of the last frame; NULL before the first caps */
    guint n_regions;         /* of the last frame */
    guint n_history;         /* frames held */
    CnvSessionStats session; /* after the last frame */
  } stats;
  struct {
    GstClockTime latency;    /* as reported; like what follows written by the streaming thread alone */
    GstClockTime frame_time; /* 0: unknown */
    GstClockTime position;   /* end of the last frame that came out, as its segment counts time; NONE: no frame yet */
  } time;

  GstCudaConvolveEngine engine;
  GstCudaConvolveCaps caps;
  struct {
    gboolean takes_meta;   /* downstream reads GstVideoMeta */
    gboolean pool_started; /* pool of output buffers, since it was chosen */
    gboolean own_pool;     /* the pool is none of downstream's, which would have its memory on a stream of its own */
  } allocation;            /* since the last caps */
  GstCudaConvolveRecipe recipe;
  gboolean in_place; /* this frame's input goes out, filtered */

  /* Frames of a filter over time: see history.h. */
  struct {
    guint n_slots;  /* allocated in the session; 0: not in use */
    guint64 first;  /* number of the first frame that can count, n_slots at most are kept */
    guint64 out;    /* of the next frame to come out */
    guint64 next;   /* of the next frame to come in */
    GQueue waiting; /* from `out` to `next`, in order: buffers without memory, and the events between them */
    GstBuffer *kept[CNV_MAX_TEMPORAL_TAPS];             /* by slot: a buffer whose memory the session reads, or NULL */
    CnvTemporalTap temporal_tap[CNV_MAX_TEMPORAL_TAPS]; /* of the frame that comes out */
  } history;

  /* See inflight.h. */
  struct {
    guint n_wanted; /* by the user, since the start; 0: auto */
    guint n;        /* since the caps, of frames that can overlap; 0: auto, to be settled with a frame */
    GMutex lock;    /* of what follows */
    GCond changed;
    GQueue items;       /* frames and the events between them; the first stays in until it is pushed */
    guint n_frames;     /* among them, and not done */
    gboolean active;    /* as the source pad is */
    GstFlowReturn flow; /* if not OK, frames are dropped until the streaming thread was told */
    GstPadActivateModeFunction activate_src; /* the base class' */
  } in_flight;

  gboolean is_discont; /* the base class marks the next frame that it pushes */
};
