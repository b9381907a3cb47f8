/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reference for the paths through system memory: the speed that the bus and the host's memory allow, without any
 * filter.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Returns the frames/s at which `bytes` can go to a GPU and back at the same time, by copy engines between pinned
 * memory and two streams, in total for the GPUs 0 to n_gpus - 1 at once. Returns NAN, with the reason on stderr, if
 * there are fewer GPUs or if it fails. */
double duplex_per_s(gsize bytes, int n_gpus);

G_END_DECLS
