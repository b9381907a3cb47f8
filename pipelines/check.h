/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is checked before a pipeline starts. Settings are held against the properties of their elements, because
 * GStreamer runs with the default where a number is out of range. A result must not overwrite its source.
 */
#pragma once

#include <gst/gst.h>

/* Checks all NAME=VALUE of a pipeline written as for gst-launch-1.0, ended by NULL. Says on stderr what a property
 * takes, and returns FALSE, where a value cannot be. Elements and properties that do not exist are left to the parser.
 */
gboolean check_settings(const char *const *arguments);

/* Returns FALSE, with the reason on stderr, if the file or URI `input` is the same file as `output`, by whatever name:
 * a link, a bind mount, file:// with percent-encoding. Other URIs, no input, and an output that does not exist yet
 * pass. */
gboolean check_output(const char *input, const char *output);

/* Returns the bytes of an input that is a regular local file, by name or URI. Returns NULL for others, and if it cannot
 * be read: to open a pipe would wait for its writer. */
GMappedFile *check_map_input(const char *input);

/* Returns FALSE, with the reason on stderr, if the part of an input cannot begin there or be so long, in seconds; a
 * start needs an input. NaN is refused too. */
gboolean check_part(double start, double duration, gboolean has_input);

/* Returns FALSE, with the reason on stderr, if a quality is neither from 0 to 100 nor -1. */
gboolean check_quality(int quality);
