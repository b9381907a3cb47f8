/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The measure of the system-memory paths: what the bus, and the host's memory behind it, allow where nothing is
 * computed.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Frames/s at which so many bytes go to a GPU and as many come back at the same time, by copy engines between pinned
 * memory and two streams: of GPUs 0 to n_gpus - 1 at once, together. NAN where there are not so many or it fails, with
 * the reason on stderr. */
double duplex_per_s(gsize bytes, int n_gpus);

G_END_DECLS
