/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a muxer gets besides the samples: tags, of which some are about time and place, and segments.
 */
#pragma once

#include <gst/gst.h>

typedef struct Mux Mux;

/* Returns TRUE if tags say where something was recorded. */
gboolean mux_has_location(const GstTagList *tags);

/* Removes the tags that say so, and those that may, as nobody knows what is in them. */
void mux_drop_location(GstTagList *tags);

/* Says what becomes of the location: with `hides` it is left out, or if a file that ends in `suffix` does not hold it.
 */
void mux_tell_location(gboolean hides, gboolean holds, const char *suffix);

/* Watches everything that reaches the muxer, before it starts. Keeps the time of creation; leaves the location out if
 * `hides` is TRUE; and lets no sample be cut off that is beyond the end of its stream's segment. Free with mux_free().
 */
Mux *mux_watch(GstElement *mux, const char *suffix, gboolean hides);

/* Reads the place from the headers of a local .mp4 or .mov that is the input, as telephones write it and qtdemux does
 * not read it, and treats it like that of tags. */
void mux_read_place(Mux *mux, const char *input);

void mux_free(Mux *mux);

/* Writes the time of creation into a complete file, if its muxer does not do so itself. */
void mux_stamp(const Mux *mux, const char *file);
