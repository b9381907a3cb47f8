/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Settings are held against the properties of their elements before they are set: GStreamer runs with the default
 * where a number is out of range.
 */
#pragma once

#include <gst/gst.h>

/* Checks all NAME=VALUE of a pipeline written as for gst-launch-1.0, ended by NULL. Says on stderr what a property
 * takes, and returns FALSE, where a value cannot be. Elements and properties that do not exist are left to the parser.
 */
gboolean check_settings(const char *const *arguments);
