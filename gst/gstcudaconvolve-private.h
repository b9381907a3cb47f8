/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The element's instance: what its files that need more of it than their own part share.
 *
 * Locks: the object lock covers what says so; all else belongs to the streaming thread (start and stop run when there
 * is none), and to the thread of idle.c while it has the stream's lock.
 */
#pragma once

#include "caps.h"
#include "engine.h"
#include "flights.h"
#include "history.h"
#include "idle.h"
#include "recipe.h"
#include "settings.h"
#include "stats.h"
#include "waiting.h"

G_BEGIN_DECLS

typedef struct _GstCudaConvolve GstCudaConvolve; /* of the type in gstcudaconvolve.h */

/* Without a call of the type function, which is in the class' file. */
#define GST_CUDA_CONVOLVE_CAST(object) ((GstCudaConvolve *)(object))

struct _GstCudaConvolve {
  GstBaseTransform parent;

  /* Under the object lock. */
  GstCudaConvolveSettings settings;
  GHashTable *refused;       /* a property's slot to message: its last value could not be, and is not in settings */
  gboolean no_device_output; /* since the start: no CUDA memory could be had for output */
  GstCudaConvolveStats stats;
  GstClockTime latency;    /* as reported */
  GstClockTime frame_time; /* written by the streaming thread alone; 0: unknown */

  GstCudaConvolveEngine engine;
  GstCudaConvolveCaps caps;
  struct {
    gboolean takes_meta;   /* downstream reads GstVideoMeta */
    gboolean pool_started; /* pool of output buffers, since it was chosen */
  } allocation;            /* since the last caps */
  GstCudaConvolveRecipe recipe;
  gboolean in_place; /* this frame's input goes out, filtered */

  GstCudaConvolveWaiting waiting;
  GstCudaConvolveHistory history;
  GstCudaConvolveFlight flight[CNV_FLIGHTS_MAX];
  guint flights_wanted; /* by the user, since the start; 0: auto */
  guint flights;        /* since the caps, of frames that can overlap; 0: auto, to be settled with a frame */
  guint n_alone;        /* frames that go alone before others overlap again */
  GstCudaConvolveIdle idle;
};

/* waiting.c */
gboolean gst_cuda_convolve_waits(const GstCudaConvolve *self);
/* Puts out all frames that wait, with those behind missing, and starts anew. Returns what downstream said. */
GstFlowReturn gst_cuda_convolve_drain(GstCudaConvolve *self);
/* Drops all frames and the events between them. */
void gst_cuda_convolve_drop_waiting(GstCudaConvolve *self);
/* Reports the latency of the plan in force where that is another. */
void gst_cuda_convolve_update_latency(GstCudaConvolve *self);
gboolean gst_cuda_convolve_answer_latency(GstCudaConvolve *self, GstQuery *query);
void gst_cuda_convolve_waiting_class_init(GstBaseTransformClass *klass);

/* history.c */
/* Whether it has frames, waiting or not. */
gboolean gst_cuda_convolve_has_history(const GstCudaConvolve *self);
/* Takes a frame into the history; the buffer is not needed after that. Posts its errors. */
GstFlowReturn gst_cuda_convolve_keep(GstCudaConvolve *self, GstBuffer *buffer);
/* Puts the settings at the time of the frame to be put out in force, unless (settle: FALSE) the frames that wait are to
 * be put out with the old ones. */
gboolean gst_cuda_convolve_settle_for_kept(GstCudaConvolve *self, gboolean *settle);
GstFlowReturn gst_cuda_convolve_put_out_kept(GstCudaConvolve *self, GstBuffer **outbuf);
/* Where none waits: starts anew; leave: and has no history until a plan asks for one. */
void gst_cuda_convolve_forget_history(GstCudaConvolve *self);
void gst_cuda_convolve_leave_history(GstCudaConvolve *self);

/* flights.c */
/* Settles how many frames are to be under way where that is open. */
void gst_cuda_convolve_settle_flights(GstCudaConvolve *self);
/* How many frames can be under way by the plan, the caps and the engine in force: 1..CNV_FLIGHTS_MAX. */
guint gst_cuda_convolve_n_flights(const GstCudaConvolve *self);
/* Takes a frame that can be one of several. It is under way afterwards or, with those before it drained, in outbuf. */
GstFlowReturn gst_cuda_convolve_fly(GstCudaConvolve *self, GstBuffer *in, GstBuffer **outbuf);
/* Waits for the first of those under way. Posts its errors. */
GstFlowReturn gst_cuda_convolve_put_out_flight(GstCudaConvolve *self, GstBuffer **outbuf);
void gst_cuda_convolve_drop_flights(GstCudaConvolve *self);
/* Whether frames are under way, and wait for no others than to overlap. */
gboolean gst_cuda_convolve_has_flights(const GstCudaConvolve *self);
/* No frame came for a while, and those under way are put out. */
void gst_cuda_convolve_put_out_idle(GstCudaConvolve *self);

/* idle.c */
/* Has frames that wait put out where no other comes for a while. With the stream's lock. */
void gst_cuda_convolve_watch(GstCudaConvolve *self);
/* When the stream is over; without its lock. */
void gst_cuda_convolve_stop_watching(GstCudaConvolve *self);

G_END_DECLS
