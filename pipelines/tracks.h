/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sound and subtitles on their way from a demuxer to a muxer.
 */
#pragma once

#include <gst/gst.h>

/* Returns the caps of all encoded sound that the muxer takes as it is, some only after the parser of tracks_parser().
 */
GstCaps *tracks_sound(GstElement *mux);

/* Returns the parser that sound of these caps needs before a muxer takes it, or NULL. */
const char *tracks_parser(const GstCaps *caps);

/* Returns TRUE if a stream of this media type is text or pictures to be shown over the video. */
gboolean tracks_is_subtitle(const char *media_type);

/* Links subtitles to the muxer. Text in Pango's markup becomes UTF-8: without tags if `plain` is TRUE, else with them,
 * as Matroska has <i> and the like too. Returns FALSE if the muxer refuses. */
gboolean tracks_link_subtitles(GstElement *subtitles, GstElement *mux, gboolean plain);
