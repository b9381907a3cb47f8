/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The types of files that can be written, by suffix, and the elements that write them.
 */
#pragma once

#include <glib.h>

#define CONTAINER_ASS "application/x-ass; application/x-ssa"

/* An encoder of video or pictures, written as for gst-launch-1.0. */
typedef struct {
  const char *codec; /* name in CODEC */
  const char *element, *usual;
  const char *quality; /* setting that replaces `usual`, with %d for the quality; NULL for a lossless encoder */
  int worst, best;     /* value of %d for quality 0 and for quality 100 */
  const char *parser;  /* NULL: muxers accept the output of the encoder */
} Encoder;

typedef struct {
  const char *suffix;
  const char *codec[4]; /* the first is the default */
  const char *mux;      /* NULL for a picture */
  const char
      *subtitles; /* caps of the subtitles that it can hold; NULL: none, because oggmux loses frames with subtitles */
  const char *sound_encoder[2];
} Container;

/* Returns the container for the suffix of a file name, or NULL if there is none. */
const Container *container_find(const char *output);

/* Returns the first installed encoder for the codec that accepts frames of the format. codec: NULL for the default of
 * the container. format: NULL for any. Returns NULL if there is none, or if the container does not hold the codec. */
const Encoder *container_encoder(const Container *container, const char *codec, const char *format);

/* Returns the elements of an encoder for the codec (NULL: the default) with a quality of 0 to 100 (-1: the default), if
 * possible one that accepts frames of the format. Free with g_free(). Returns NULL, with the reason on stderr, if there
 * is none. */
char *container_choose(const Container *container, const char *codec, const char *format, int quality);

/* Elements below are written as for gst-launch-1.0, also several or with settings. Only the name of the first is used.
 */

/* Returns TRUE if the element is installed. */
gboolean container_exists(const char *elements);

/* Returns the first one that is installed, or NULL. */
const char *container_first(const char *const elements[2]);

/* Returns TRUE if the element accepts frames of that format. */
gboolean container_takes(const char *elements, const char *format);

/* Returns FALSE, with the reason on stderr, if the encoder of a video does not accept frames of the format. NULL: any
 * format. */
gboolean container_fits(const Container *container, const char *elements, const char *format);
