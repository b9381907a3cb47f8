/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a muxer gets besides samples: tags, some about time and place, and segments.
 */
#pragma once

#include <gst/gst.h>

typedef struct Mux Mux;

/* Returns TRUE if tags contain the location of the recording. */
gboolean mux_has_location(const GstTagList *tags);

/* Removes tags that contain the location, and tags that may, because their content is unknown. */
void mux_drop_location(GstTagList *tags);

/* Prints what happens to the location. It is left out with `hides`, and if files that end in `suffix` cannot hold it.
 */
void mux_tell_location(gboolean hides, gboolean holds, const char *suffix);

/* Watches everything that reaches the muxer. Call it before the start. Keeps the creation time. Leaves out the location
 * if `hides` is TRUE. Keeps samples beyond the end of their segment, which the muxer would drop. Free with mux_free().
 */
Mux *mux_watch(GstElement *mux, const char *suffix, gboolean hides);

/* Reads the location from the headers of a local .mp4 or .mov input, where phones write it and qtdemux does not read
 * it. Treats it like a location in tags. */
void mux_read_place(Mux *mux, const char *input);

void mux_free(Mux *mux);

/* Writes the creation time into a complete file, if its muxer does not do that. */
void mux_stamp(const Mux *mux, const char *file);
