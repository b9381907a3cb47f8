/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The file that a program writes, until it is complete: it lies in a folder of its own beside the output, which only
 * this user can enter and whose name nobody can predict. So no link that another user made is followed, and the move to
 * the output is atomic.
 */
#pragma once

#include <glib.h>

/* Makes the folder, and holds back SIGINT, SIGTERM and SIGHUP until the default main context runs, so that whoever
 * watches them there can remove it. Returns the path of the file, which does not exist yet; or NULL, with the reason on
 * stderr. Free with part_free(). */
char *part_new(const char *output);

/* Moves the complete file to the output. Returns FALSE, with the reason on stderr, if that fails. */
gboolean part_keep(const char *part, const char *output);

/* Removes the folder with what is in it. */
void part_free(char *part);
