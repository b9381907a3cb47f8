/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What kernels with tile jobs have in common (tiles.c).
 */
#pragma once

#include "kernels_of.h"

G_BEGIN_DECLS

typedef struct {
  Job job;
  CnvBlock block;
  const CnvTileJob *tiles;
  int n_sources, first_source; /* as samples_pad takes them */
  guint8 *coverage;            /* made here, or NULL */
  const guint8 *weights;       /* coverage of the job's first pixel, as it is in memory */
  const guint8 *kinds;         /* CnvTileKind of the tiles of a job that is whole; else NULL */
} Tiles;

/* Calls func for each job of a launch. Reports blocks that do not make each output once. */
void tiles_run(const KernelRun *launched, void (*func)(const KernelRun *run, Tiles *tiles));

/* The n words of a job's bands from word `first` on. */
const guint32 *tiles_words(const KernelRun *run, const CnvTileJob *s, gsize first, gsize n);

double tiles_from_half(guint half);

/* Reports planes that chunks of 16 bytes do not suit, and their maps. */
void tiles_check_plane(const KernelRun *run, const CnvTileJob *s);

/* Has the job's numbers say what is done here already: levels are stored as they come. */
void tiles_open_levels(const KernelRun *run, Tiles *tiles);

/* Reports levels that the kernel would have to clamp. */
void tiles_check_levels(const KernelRun *run, const Tiles *tiles, const double *acc);

G_END_DECLS
