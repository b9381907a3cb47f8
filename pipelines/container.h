/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kinds of files that can be written, by the end of their names, and the elements that write them.
 */
#pragma once

#include <glib.h>

#define CONTAINER_ASS "application/x-ass; application/x-ssa"

typedef struct {
  const char *suffix;
  const char *encoder[2]; /* the first that exists */
  const char *mux;        /* NULL for a picture */
  const char *subtitles;  /* caps that it holds, or NULL: with subtitles oggmux loses frames */
  const char *sound_encoder[2];
} Container;

/* Returns NULL for a name with another end. */
const Container *container_find(const char *output);

/* Elements below are written as for gst-launch-1.0, with settings, or several. The name of the first counts. */

/* Returns TRUE if the element is installed. */
gboolean container_exists(const char *elements);

/* Returns the first of the two that is installed, or NULL. */
const char *container_first(const char *const elements[2]);

/* Returns TRUE if the element takes frames of that format. */
gboolean container_takes(const char *elements, const char *format);

/* Returns the first installed encoder of the container that takes the format, or NULL. */
const char *container_encoder(const Container *container, const char *format);
