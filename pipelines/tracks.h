/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sound and subtitles between a demuxer and a muxer.
 */
#pragma once

#include <gst/gst.h>

/* Returns the caps of all encoded sound that the muxer accepts, directly or after the parser of tracks_parser(). */
GstCaps *tracks_sound(GstElement *mux);

/* Returns the parser that sound of these caps needs before a muxer, or NULL. */
const char *tracks_parser(const GstCaps *caps);

/* Returns TRUE if a stream of this media type is text or pictures to show over the video. */
gboolean tracks_is_subtitle(const char *media_type);

/* Links subtitles to the muxer. Converts Pango markup to UTF-8: without tags if `plain` is TRUE, else with them,
 * because Matroska also has <i> and similar tags. Returns FALSE if the muxer rejects them. */
gboolean tracks_link_subtitles(GstElement *subtitles, GstElement *mux, gboolean plain);
