/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The input of benchmark pipelines: frames that are prepared once, in system memory, in GPU memory or encoded, and
 * sent by a ringsource. Use it in one thread; GStreamer's own threads are allowed.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct {
  GstCaps *caps;
  GPtrArray *ring;     /* of GstBuffer; NULL: the source makes its own buffers */
  GstContext *context; /* context of the CUDA memory; NULL: none */
} Feed;

/* Returns caps of raw video with 30 frames/s, to be freed with gst_caps_unref. */
GstCaps *feed_caps(const char *format, int width, int height);

/* Initialise a feed with {.caps = feed_caps(...)}: the source then uses the pool of downstream. */

/* Fills the feed with noise in system memory that is not pinned. */
void feed_set_plain(Feed *feed);

/* Copies the frames of feed_set_plain to a GPU; -1: any. Returns FALSE with the reason if that fails. */
gboolean feed_upload(Feed *feed, int gpu, GError **error);

/* Fills the feed with a moving picture in H.264. encoder: an x264enc with its settings, as for gst-launch-1.0. Returns
 * FALSE with the reason if that fails. */
gboolean feed_encode(Feed *feed, const char *encoder, GError **error);

void feed_clear(Feed *feed); /* also call it after a failure */

/* Returns a pipeline whose ringsource with the name "source", if it has one, sends the feed, and whose elements have
 * its context. Returns NULL with the reason if that fails. */
GstElement *feed_parse(const Feed *feed, const char *description, GError **error);

/* Set the feed of a source, and the context of a pipeline. */
void feed_set_source(const Feed *feed, GstElement *source);
void feed_set_context(const Feed *feed, GstElement *pipeline);

/* Waits for the end of the stream. Returns FALSE with the reason if there is an error instead. */
gboolean feed_await_end(GstElement *pipeline, GError **error);

G_END_DECLS
