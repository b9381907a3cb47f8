/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A source whose frames cost almost nothing: the element "ringsource" repeats a few prepared buffers, with the
 * timestamps of 30 frames/s, as fast as downstream accepts them. So a benchmark only measures the elements after it.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define RING_SIZE 8
#define RING_FRAME_TIME (GST_SECOND / 30)

/* Registers the element for this process. Call it once, after gst_init. */
void ring_source_register(void);

/* Returns a ring of RING_SIZE buffers of noise, each of `bytes`, in system memory that is not pinned. Free it with
 * g_ptr_array_unref. */
GPtrArray *ring_new(gsize bytes);

/* Sets what is sent, before the source starts. Takes a reference to both. ring: of GstBuffer, whose memory is sent and
 * never written. NULL: noise, in buffers of the pool that downstream proposes, or else in a ring as of ring_new; the
 * caps must then be raw video. */
void ring_source_set(GstElement *source, GstCaps *caps, GPtrArray *ring);

/* Ends the stream after this number of frames or this time, whichever comes first. 0: no such limit, which is the
 * default. Any thread. */
void ring_source_stop_after(GstElement *source, guint64 frames, gint64 microseconds);

/* Returns the number of frames sent since the start. Any thread. */
guint64 ring_source_sent(GstElement *source);

G_END_DECLS
