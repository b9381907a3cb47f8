/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "queue.h"

/* One of the two. */
typedef struct {
  GstEvent *event;
  gpointer frame;
} Item;

void
gst_cuda_convolve_queue_init(GstCudaConvolveQueue *queue, GstPad *pad, gpointer owner, GstCudaConvolveFinish finish)
{
  *queue = (GstCudaConvolveQueue){.pad = pad, .owner = owner, .finish = finish};
  g_mutex_init(&queue->lock);
  g_cond_init(&queue->changed);
  g_queue_init(&queue->items);
}

void
gst_cuda_convolve_queue_clear(GstCudaConvolveQueue *queue)
{
  g_mutex_clear(&queue->lock);
  g_cond_clear(&queue->changed);
}

/* ---- out ---- */

static GstFlowReturn
push_frame(GstCudaConvolveQueue *queue, gpointer frame, gboolean wanted)
{
  GstBuffer *buffer = queue->finish(queue->owner, frame, wanted);

  g_mutex_lock(&queue->lock);
  queue->n_frames--;
  g_cond_broadcast(&queue->changed);
  g_mutex_unlock(&queue->lock);
  return buffer ? gst_pad_push(queue->pad, buffer) : GST_FLOW_ERROR;
}

/* The task. Where no frame is pushed any more events still are: a flushing pad keeps those that are sticky. */
static void
push_first(gpointer data)
{
  GstCudaConvolveQueue *queue = data;
  GstFlowReturn flow;
  Item *item;

  g_mutex_lock(&queue->lock);
  while (queue->active && g_queue_is_empty(&queue->items))
    g_cond_wait(&queue->changed, &queue->lock);
  item = g_queue_peek_head(&queue->items);
  flow = queue->flow;
  g_mutex_unlock(&queue->lock);
  if (!item) {
    gst_pad_pause_task(queue->pad);
    return;
  }
  if (item->event)
    gst_pad_push_event(queue->pad, item->event);
  else
    flow = push_frame(queue, item->frame, flow == GST_FLOW_OK);
  g_mutex_lock(&queue->lock);
  g_free(g_queue_pop_head(&queue->items));
  if (queue->flow == GST_FLOW_OK)
    queue->flow = flow;
  g_cond_broadcast(&queue->changed);
  g_mutex_unlock(&queue->lock);
}

/* ---- in ---- */

/* With the lock. */
static void
append(GstCudaConvolveQueue *queue, GstEvent *event, gpointer frame)
{
  Item *item = g_new(Item, 1);

  *item = (Item){event, frame};
  g_queue_push_tail(&queue->items, item);
  g_cond_broadcast(&queue->changed);
}

gboolean
gst_cuda_convolve_queue_push(GstCudaConvolveQueue *queue, gpointer frame)
{
  gboolean active, first;

  g_mutex_lock(&queue->lock);
  active = queue->active;
  first = active && !queue->has_task;
  if (active) {
    append(queue, NULL, frame);
    queue->n_frames++;
    queue->has_task = TRUE;
  }
  g_mutex_unlock(&queue->lock);
  if (first)
    gst_pad_start_task(queue->pad, push_first, queue, NULL);
  return active;
}

gboolean
gst_cuda_convolve_queue_push_event(GstCudaConvolveQueue *queue, GstEvent *event)
{
  gboolean taken;

  g_mutex_lock(&queue->lock);
  taken = queue->active && !g_queue_is_empty(&queue->items);
  if (taken)
    append(queue, event, NULL);
  g_mutex_unlock(&queue->lock);
  return taken;
}

/* ---- waiting ---- */

/* With the lock. */
static gboolean
has_more(GstCudaConvolveQueue *queue, guint n_left)
{
  return n_left == 0 || queue->flow != GST_FLOW_OK ? !g_queue_is_empty(&queue->items) : queue->n_frames > n_left;
}

GstFlowReturn
gst_cuda_convolve_queue_wait(GstCudaConvolveQueue *queue, guint n_left)
{
  GstFlowReturn flow;

  g_mutex_lock(&queue->lock);
  while (has_more(queue, n_left))
    g_cond_wait(&queue->changed, &queue->lock);
  flow = queue->flow;
  queue->flow = GST_FLOW_OK;
  g_mutex_unlock(&queue->lock);
  return flow;
}

void
gst_cuda_convolve_queue_flush(GstCudaConvolveQueue *queue)
{
  g_mutex_lock(&queue->lock);
  queue->flow = GST_FLOW_FLUSHING;
  g_cond_broadcast(&queue->changed);
  g_mutex_unlock(&queue->lock);
}

void
gst_cuda_convolve_queue_activate(GstCudaConvolveQueue *queue, gboolean active)
{
  g_mutex_lock(&queue->lock);
  queue->active = active;
  queue->flow = GST_FLOW_FLUSHING;
  g_cond_broadcast(&queue->changed);
  while (!g_queue_is_empty(&queue->items))
    g_cond_wait(&queue->changed, &queue->lock);
  queue->flow = GST_FLOW_OK;
  queue->has_task = FALSE;
  g_mutex_unlock(&queue->lock);
  gst_pad_stop_task(queue->pad);
}
