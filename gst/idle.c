/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames under way are put out when others come. Where none comes for a while, since an application sends one and
 * awaits it, a decoder takes its time, or a sink keeps to the clock, a thread of the element puts them out, with the
 * stream's lock like the streaming thread. Where that lock is taken there is nothing to do: the streaming thread is at
 * work here or downstream.
 */
#include "gstcudaconvolve-private.h"

/* A 4K frame takes a GPU 0.4 to 2 ms both ways: who waits longer for the next one gains nothing by overlapping. */
#define NAP_US 1000

/* While the stream's lock is taken: downstream is in PAUSED, or slower than the element. */
#define LONGEST_NAP_US 64000

/* Sleeps until there is something to look at. FALSE at the end. */
static gboolean
await(GstCudaConvolveIdle *idle, gint64 nap_us)
{
  gint64 end;
  gboolean goes_on;

  g_mutex_lock(&idle->lock);
  while (!idle->frames_wait && !idle->ends)
    g_cond_wait(&idle->changed, &idle->lock);
  end = g_get_monotonic_time() + nap_us;
  while (!idle->ends && g_cond_wait_until(&idle->changed, &idle->lock, end))
    continue;
  goes_on = !idle->ends;
  g_mutex_unlock(&idle->lock);
  return goes_on;
}

static void
set(GstCudaConvolveIdle *idle, gboolean *what, gboolean value)
{
  g_mutex_lock(&idle->lock);
  *what = value;
  g_cond_signal(&idle->changed);
  g_mutex_unlock(&idle->lock);
}

/* seen: number of the next frame to come, at the look before. */
static void
look(GstCudaConvolve *self, guint64 *seen)
{
  gboolean idle = *seen == self->waiting.next && !GST_PAD_IS_FLUSHING(GST_BASE_TRANSFORM_SINK_PAD(self));

  if (idle && gst_cuda_convolve_has_flights(self))
    gst_cuda_convolve_put_out_idle(self);
  *seen = self->waiting.next;
  if (!gst_cuda_convolve_has_flights(self))
    set(&self->idle, &self->idle.frames_wait, FALSE);
}

static gpointer
keep_looking(gpointer data)
{
  GstCudaConvolve *self = data;
  GstPad *pad = GST_BASE_TRANSFORM_SINK_PAD(self);
  gint64 nap_us = NAP_US;
  guint64 seen = 0;

  while (await(&self->idle, nap_us)) {
    nap_us = MIN(2 * nap_us, LONGEST_NAP_US);
    if (!GST_PAD_STREAM_TRYLOCK(pad))
      continue;
    look(self, &seen);
    GST_PAD_STREAM_UNLOCK(pad);
    nap_us = NAP_US;
  }
  return NULL;
}

void
gst_cuda_convolve_watch(GstCudaConvolve *self)
{
  GstCudaConvolveIdle *idle = &self->idle;

  if (!idle->thread) {
    idle->ends = FALSE;
    idle->thread = g_thread_new("cudaconvolve-idle", keep_looking, self);
  }
  if (!idle->frames_wait)
    set(idle, &idle->frames_wait, TRUE);
}

void
gst_cuda_convolve_stop_watching(GstCudaConvolve *self)
{
  GstCudaConvolveIdle *idle = &self->idle;

  if (!idle->thread)
    return;
  set(idle, &idle->ends, TRUE);
  g_thread_join(g_steal_pointer(&idle->thread));
  idle->frames_wait = FALSE;
}
