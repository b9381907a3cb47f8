/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A source whose frames cost next to nothing: the element "ringsource" sends the same few prepared buffers again and
 * again, with the timestamps of 30 frames/s, as fast as they are taken. What is measured is then what comes after it.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define RING_SIZE 8
#define RING_FRAME_TIME (GST_SECOND / 30)

/* Registers the element for this process, once; after gst_init. */
void ring_source_register(void);

/* A ring of RING_SIZE buffers of noise, of so many bytes each, in system memory that is not pinned. g_ptr_array_unref.
 */
GPtrArray *ring_new(gsize bytes);

/* What is sent, before the source starts; takes a reference to both. ring: of GstBuffer, whose memory is sent and never
 * written. NULL: noise, in buffers of the pool that downstream offers, or in a ring as of ring_new where it offers
 * none; the caps are raw video then. */
void ring_source_set(GstElement *source, GstCaps *caps, GPtrArray *ring);

/* Ends the stream once so many more frames were sent, or so much time has passed, whichever comes first. 0: no such
 * limit, as at the start. Any thread. */
void ring_source_stop_after(GstElement *source, guint64 frames, gint64 microseconds);

/* Frames sent since the start. Any thread. */
guint64 ring_source_sent(GstElement *source);

G_END_DECLS
