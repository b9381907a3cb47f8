/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Checks before a pipeline starts. Compares settings with the properties of their elements, because GStreamer runs
 * with the default if a number is out of range. Makes sure that a result does not overwrite its source.
 */
#pragma once

#include <gst/gst.h>

/* Checks all NAME=VALUE of a pipeline written as for gst-launch-1.0, ended by NULL. If a value is not valid, prints the
 * allowed values on stderr and returns FALSE. The parser reports elements and properties that do not exist. */
gboolean check_settings(const char *const *arguments);

/* Returns FALSE, with the reason on stderr, if the file or URI `input` is the same file as `output`, even under
 * different names: a link, a bind mount, or file:// with percent-encoding. Returns TRUE for other URIs, without an
 * input, and if the output does not exist yet. */
gboolean check_output(const char *input, const char *output);

/* Returns the bytes of an input that is a regular local file, given by name or URI. Returns NULL for other inputs,
 * because opening a pipe would wait for its writer, and if the file cannot be read. */
GMappedFile *check_map_input(const char *input);

/* Returns FALSE, with the reason on stderr, if the start or duration of a part is out of range or NaN, or if there is a
 * start without an input. start, duration: seconds. */
gboolean check_part(double start, double duration, gboolean has_input);

/* Returns FALSE, with the reason on stderr, if a quality is neither from 0 to 100 nor -1. */
gboolean check_quality(int quality);
