/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The temporary file of a program, until it is complete. It is in a folder next to the output, which only this user
 * can enter, and whose name nobody can predict. So links that another user made are not followed, and the move to the
 * output is atomic.
 */
#pragma once

#include <glib.h>

/* Makes the folder, and blocks SIGINT, SIGTERM and SIGHUP until the default main context runs, whose handlers can
 * remove the folder. Returns the path of the file, which does not exist yet, or NULL with the reason on stderr. Free
 * with part_free(). */
char *part_new(const char *output);

/* Moves the complete file to the output. Returns FALSE, with the reason on stderr, if that fails. */
gboolean part_keep(const char *part, const char *output);

/* Removes the folder and its contents. */
void part_free(char *part);
