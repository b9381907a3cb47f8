/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The element's instance, shared by its source files:
 *
 *   gstcudaconvolve.c   class, properties, state, messages, stats
 *   engine.c            which engine runs: opening, falling back
 *   negotiation.c       caps, memory kinds, allocation
 *   pinnedmemory.c      page-locked system memory
 *   plans.c             the plan that the properties ask for
 *   regions.c           what is done to a frame: everything, or regions
 *   frames.c            a frame: passthrough, mapping, engine
 *   streams.c           order with other elements' work on CUDA memory
 *   waiting.c           frames that wait: their order, events between them, draining, latency
 *   history.c           frames over time
 *   flights.c           frames under way, several at once
 *   idle.c              what puts them out where no more come
 *   scene.c             where the scene changes
 *
 * Locks: the object lock covers what says so; all else belongs to the streaming thread (start and stop run when there
 * is none), and to the thread of idle.c while it has the stream's lock.
 */
#pragma once

#include <convolve/backend.h>
#include <gst/video/video.h>

#include "caps.h"
#include "devicememory.h"
#include "engine.h"
#include "flights.h"
#include "gstcudaconvolve.h"
#include "history.h"
#include "idle.h"
#include "messages.h"
#include "recipe.h"
#include "settings.h"
#include "stats.h"
#include "waiting.h"

G_BEGIN_DECLS

/* Warnings that are posted once, bits. */
enum {
  GST_CUDA_CONVOLVE_WARNED_MANY = 1 << 0,   /* more regions than there can be */
  GST_CUDA_CONVOLVE_WARNED_TARGET = 1 << 1, /* more than one, and a target */
  GST_CUDA_CONVOLVE_WARNED_RADIUS = 1 << 2, /* a radius that the filter cannot have */
  GST_CUDA_CONVOLVE_WARNED_REACH = 1 << 3,  /* one beyond its largest */
  GST_CUDA_CONVOLVE_WARNED_CROWD = 1 << 4,  /* too many in one place */
};

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

/* engine.c. Both return FALSE with the reason where no engine could be opened; an automatic choice is announced. */
gboolean gst_cuda_convolve_open(GstCudaConvolve *self, const GstCudaConvolveSettings *settings, GError **error);
/* Replaces an engine that failed with error before it did a frame by the next in the list. FALSE where the user chose
 * the engine, it has done frames, or there is no next. */
gboolean gst_cuda_convolve_fall_back(GstCudaConvolve *self, const GError *error);
/* Whether it could. */
gboolean gst_cuda_convolve_may_fall_back(GstCudaConvolve *self);
void gst_cuda_convolve_close(GstCudaConvolve *self);

/* negotiation.c */
GstCaps *gst_cuda_convolve_template_caps(gboolean with_device);
void gst_cuda_convolve_negotiation_class_init(GstBaseTransformClass *klass);

/* plans.c */
/* Makes the plan that the properties ask for current or, where there is none for them, goes on with the last one. Posts
 * its errors; FALSE where there is no plan at all. */
gboolean gst_cuda_convolve_settle_plan(GstCudaConvolve *self);
/* Whether frames that wait in a history of n_slots are to be put out with the plan in force, before the properties are
 * looked at: where those ask for another number of frames than it can give and, where the user wants that (a frame then
 * is arriving), for any other filter. */
gboolean gst_cuda_convolve_must_drain(GstCudaConvolve *self, guint n_slots, gboolean arriving);
/* Settles the plan for new caps. */
gboolean gst_cuda_convolve_set_format(GstCudaConvolve *self, const GstVideoInfo *in, const GstVideoInfo *out);
void gst_cuda_convolve_forget_plan(GstCudaConvolve *self);

/* regions.c */
/* Sets work for a buffer, by the plan and regions in force. */
void gst_cuda_convolve_make_work(GstCudaConvolve *self, GstBuffer *buffer);
/* TRUE where work leaves every sample as it is. */
gboolean gst_cuda_convolve_leaves_frame(const GstCudaConvolve *self);
/* TRUE where work changes a small part of the frame, so that the rest is better not copied. */
gboolean gst_cuda_convolve_changes_little(const GstCudaConvolve *self);
/* When a frame is done: says, once, where its regions could not be told apart. */
void gst_cuda_convolve_warn_of_crowd(GstCudaConvolve *self);
/* Drops what was made of the plan. */
void gst_cuda_convolve_forget_steps(GstCudaConvolve *self);

/* frames.c */
/* Gives controlled properties their values at a buffer's time. */
void gst_cuda_convolve_sync_properties(GstCudaConvolve *self, GstBuffer *buffer);
/* Copies an input buffer to a slot of the session's, measured where cuts are looked for. */
gboolean gst_cuda_convolve_keep_buffer(GstCudaConvolve *self, GstBuffer *buffer, guint slot, GError **error);
/* A buffer with the times, flags and metas of another. Posts where there is no memory for it. */
GstFlowReturn gst_cuda_convolve_allocate_output(GstCudaConvolve *self, GstBuffer *like, GstBuffer **outbuf);
void gst_cuda_convolve_post_no_output(GstCudaConvolve *self, guint size);
/* TRUE where a pool, NULL for none, has so many buffers and no more. */
gboolean gst_cuda_convolve_pool_is_limited(GstBufferPool *pool);
/* Maps a frame's buffers for the engine; both or, with the reason, none. */
gboolean gst_cuda_convolve_map_both(GstCudaConvolve *self, GstBuffer *inbuf, GstBuffer *outbuf,
                                    GstCudaConvolveMapped *mapped, GError **error);
void gst_cuda_convolve_unmap_both(GstCudaConvolveMapped *mapped);
/* For the statistics, when a frame is done: by which plan, in how many regions. */
void gst_cuda_convolve_count_frame(GstCudaConvolve *self, CnvPlan *plan, guint n_regions);
/* Filters a slot into a buffer by the work in force. */
gboolean gst_cuda_convolve_filter_slot(GstCudaConvolve *self, int slot, GstBuffer *outbuf, GError **error);
void gst_cuda_convolve_frames_class_init(GstBaseTransformClass *klass);

/* streams.c */
/* TRUE where the session can use the buffer's memory in place, as CUDA memory. */
gboolean gst_cuda_convolve_is_in_device(GstCudaConvolve *self, GstBuffer *buffer);
/* Before and after the session starts what reads a buffer or writes another (NULL: a slot of the session's). Afterwards
 * both can be handed on: what happens to their memory next happens when the session is done with it. started: whether
 * that went well; the result is FALSE where it did not, and error is not set again. */
gboolean gst_cuda_convolve_enter_streams(GstCudaConvolve *self, GstBuffer *in, GstBuffer *out, GError **error);
gboolean gst_cuda_convolve_leave_streams(GstCudaConvolve *self, GstBuffer *in, GstBuffer *out, gboolean started,
                                         GError **error);
/* Waits for all frames that were started, and posts what went wrong with them. */
void gst_cuda_convolve_finish_frames(GstCudaConvolve *self);
/* When the session is gone, or another. */
void gst_cuda_convolve_forget_streams(GstCudaConvolve *self);

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
