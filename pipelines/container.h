/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kinds of files that can be written, by the end of their names, and the elements that write them.
 */
#pragma once

#include <glib.h>

#define CONTAINER_ASS "application/x-ass; application/x-ssa"

/* An encoder of video or pictures, written as for gst-launch-1.0. */
typedef struct {
  const char *codec; /* as CODEC names it */
  const char *element, *usual;
  const char *quality; /* setting in place of `usual`, with %d, or NULL for an encoder that loses nothing */
  int worst, best;     /* what that %d is for quality 0 and 100 */
  const char *parser;  /* NULL: muxers take what it makes */
} Encoder;

typedef struct {
  const char *suffix;
  const char *codec[4];  /* the first is the usual one */
  const char *mux;       /* NULL for a picture */
  const char *subtitles; /* caps that it holds, or NULL: with subtitles oggmux loses frames */
  const char *sound_encoder[2];
} Container;

/* Returns NULL for a name with another end. */
const Container *container_find(const char *output);

/* Returns the first installed encoder for the codec, NULL being the container's usual one, that takes frames of the
 * format, NULL being any. Returns NULL if there is none, or if the container does not hold the codec. */
const Encoder *container_encoder(const Container *container, const char *codec, const char *format);

/* Returns the elements of the encoder for the codec, NULL being the usual one, with a quality of 0 to 100, -1 being the
 * usual one; if possible one that takes frames of the format. Returns NULL, with the reason on stderr, if there is
 * none. Free with g_free(). */
char *container_choose(const Container *container, const char *codec, const char *format, int quality);

/* Elements below are written as for gst-launch-1.0, with settings, or several. The name of the first counts. */

/* Returns TRUE if the element is installed. */
gboolean container_exists(const char *elements);

/* Returns the first of the two that is installed, or NULL. */
const char *container_first(const char *const elements[2]);

/* Returns TRUE if the element takes frames of that format. */
gboolean container_takes(const char *elements, const char *format);

/* Returns FALSE, with the reason on stderr, if a video's encoder does not take frames of the format; NULL is any. */
gboolean container_fits(const Container *container, const char *elements, const char *format);
