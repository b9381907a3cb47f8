/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What benchmarks feed their pipelines with: frames that are prepared once, in system memory, in a GPU's or encoded,
 * and sent by a ringsource. One thread, but for those of GStreamer.
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct {
  GstCaps *caps;
  GPtrArray *ring;     /* of GstBuffer; NULL: the source makes its own */
  GstContext *context; /* of the CUDA memory; NULL: there is none */
} Feed;

/* Of raw video of 30 frames/s; gst_caps_unref. */
GstCaps *feed_caps(const char *format, int width, int height);

/* Feeds are begun with {.caps = feed_caps(...)}: the source takes its frames from downstream then. */

/* Noise in system memory that is not pinned. */
void feed_set_plain(Feed *feed);

/* Takes what feed_set_plain made to a GPU; -1: any. FALSE with the reason. */
gboolean feed_upload(Feed *feed, int gpu, GError **error);

/* Makes a moving picture, H.264. FALSE with the reason. */
gboolean feed_encode(Feed *feed, GError **error);

void feed_clear(Feed *feed); /* also after a failure */

/* A pipeline whose ringsource, where it has one that is called "source", sends the feed, and whose elements have its
 * context. NULL with the reason. */
GstElement *feed_parse(const Feed *feed, const char *description, GError **error);

/* Has a source and a pipeline do the same one by one. */
void feed_set_source(const Feed *feed, GstElement *source);
void feed_set_context(const Feed *feed, GstElement *pipeline);

/* FALSE with the reason where there was another end than that of the stream. */
gboolean feed_await_end(GstElement *pipeline, GError **error);

G_END_DECLS
