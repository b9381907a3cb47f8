/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames in flight and the serialized events between them, in order. A task of the source pad waits for each frame and
 * pushes it as soon as it is done; the streaming thread puts frames in, and waits where there are enough of them. The
 * task is started with the first frame.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Waits for a frame, and frees it. Returns its output buffer; NULL where it failed, which was reported, or where the
 * output is not wanted. Called by the task, without a lock. */
typedef GstBuffer *(*GstCudaConvolveFinish)(gpointer owner, gpointer frame, gboolean wanted);

typedef struct {
  GstPad *pad; /* of the owner */
  gpointer owner;
  GstCudaConvolveFinish finish;
  GMutex lock; /* of what follows */
  GCond changed;
  GQueue items;       /* the first stays in until it is pushed */
  guint n_frames;     /* in flight */
  gboolean active;    /* as the pad is */
  gboolean has_task;  /* which runs as long as the pad is active */
  GstFlowReturn flow; /* if not OK, frames are dropped until the streaming thread was told */
} GstCudaConvolveQueue;

void gst_cuda_convolve_queue_init(GstCudaConvolveQueue *queue, GstPad *pad, gpointer owner,
                                  GstCudaConvolveFinish finish);
void gst_cuda_convolve_queue_clear(GstCudaConvolveQueue *queue);

/* With the source pad. An inactive queue is empty and has no task. */
void gst_cuda_convolve_queue_activate(GstCudaConvolveQueue *queue, gboolean active);

/* FALSE, and the frame stays the caller's, where the pad is not active. Streaming thread, like what follows. */
gboolean gst_cuda_convolve_queue_push(GstCudaConvolveQueue *queue, gpointer frame);

/* FALSE, and the event stays the caller's, where there is nothing that it would overtake. */
gboolean gst_cuda_convolve_queue_push_event(GstCudaConvolveQueue *queue, GstEvent *event);

/* Returns when at most n_left frames are in flight; with n_left of 0, or after a push that failed, when the queue is
 * empty. The flow of that push is returned once. */
GstFlowReturn gst_cuda_convolve_queue_wait(GstCudaConvolveQueue *queue, guint n_left);

/* Has all frames in it dropped, until the next wait. Any thread. */
void gst_cuda_convolve_queue_flush(GstCudaConvolveQueue *queue);

G_END_DECLS
