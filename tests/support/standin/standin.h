/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A stand-in for NVIDIA's driver: a library that has libcuda's entries, so that all that opens libcuda.so.1 (the
 * engine, GStreamer's CUDA library) runs on a machine without a GPU. Device memory is the host's, at addresses that the
 * host cannot follow; kernels are done by plain loops over the jobs of their launch (kernels.c). It
 *
 *   - runs what is put on streams at once, or only when it is waited for, or at random moments, as events allow;
 *   - refuses accesses outside of an allocation, and reports two that no event orders;
 *   - reports memory that is freed while work on a stream, done or only queued, may use it;
 *   - reports samples that a launch writes twice, and jobs that a launch's blocks do not cover;
 *   - fails a call of one's choice;
 *   - counts what is there, so that what is not freed is seen.
 *
 * Its soname is libcuda.so.1: a program that has loaded it (dlopen, LD_PRELOAD) hands it to whoever opens that name.
 * Programs call these functions by standin_open(). Any thread.
 */
#pragma once

#include <cuda.h>
#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  STANDIN_AT_ONCE, /* before the call that starts it returns */
  STANDIN_LAZY,    /* when it is waited for, and not before */
  STANDIN_RANDOM,  /* at random moments in between */
} StandinOrder;

/* Which calls a failure counts. Entries that only ask (names, attributes) never fail. */
typedef enum {
  STANDIN_CALLS_ALL,   /* but those of contexts */
  STANDIN_CALLS_ALLOC, /* of memory, on the device or page-locked */
  STANDIN_CALLS_PUSH,  /* cuCtxPushCurrent */
} StandinCalls;

/* The n-th of those calls from now on fails, n from 1, and with for_good all after it. What frees or ends something
 * does so all the same: an error there is one of work before it. of: a part of the caller's file name ("libgstcuda-"),
 * whose calls alone count; NULL: all do. entry: the same with a
 * part of the entry's name ("Synchronize"). */
typedef struct {
  StandinCalls calls;
  guint64 n; /* 0: none */
  CUresult result;
  gboolean for_good;
  const char *library, *entry;
} StandinFault;

/* What there is. */
typedef struct {
  guint contexts, modules, streams, events, textures;
  guint allocations, pinned; /* device memory, and the host's */
  gsize bytes;
  guint entered; /* contexts on the calling thread's stack */
} StandinCount;

typedef struct {
  /* Forgets faults, reports and the log; contexts and all in them stay. */
  void (*reset)(StandinOrder order, guint32 seed);
  void (*set_fault)(const StandinFault *fault);
  /* How many calls of the fault's kind there were since it was set, and the entry that failed first (NULL: none). */
  guint64 (*calls)(void);
  const char *(*failed)(void);
  StandinCount (*count)(void);
  /* All reports so far, a line each; "" where all is well. g_free. */
  char *(*reports)(void);
  /* Names of the kernels that ran since reset, in order, with a space behind each. g_free. */
  char *(*kernels)(void);
  /* Bytes of device memory there can be; 0: as many as the host has. */
  void (*set_memory)(gsize bytes);
} Standin;

/* Of the library: what standin_open looks up. */
const Standin *standin_get(void);

/* Loads the library at that path into the process, before anyone opens libcuda. NULL, with the reason printed, where it
 * cannot be. */
const Standin *standin_open(const char *path);

G_END_DECLS
