/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A stand-in for NVIDIA's driver: a library with the entries of libcuda, so that code that opens libcuda.so.1 (the
 * engine, GStreamer's CUDA library) runs without a GPU. Device memory is host memory, at addresses that the host cannot
 * access. Plain loops over the jobs of a launch replace its kernel (kernels.c). The library
 *
 *   - runs the work on streams at once, only when it is waited for, or at random moments, as events allow;
 *   - rejects accesses outside an allocation, and reports two accesses that no event puts in order;
 *   - reports memory that is freed while work on a stream, running or queued, may use it;
 *   - reports samples that a launch writes twice, and jobs that a launch's blocks do not cover;
 *   - makes a chosen call fail;
 *   - counts objects and memory, so that tests find what is not freed.
 *
 * Its soname is libcuda.so.1. After a program has loaded it (dlopen, LD_PRELOAD), all code in the process that opens
 * that name gets it. Programs call the functions below through standin_open(). Any thread.
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

/* The calls that a fault counts. Entries that only query (names, attributes) never fail. */
typedef enum {
  STANDIN_CALLS_ALL,   /* except cuCtxPushCurrent */
  STANDIN_CALLS_ALLOC, /* allocations of memory, on the device or page-locked */
  STANDIN_CALLS_PUSH,  /* cuCtxPushCurrent */
} StandinCalls;

/* Makes the n-th of those calls from now on fail, n from 1, and with for_good all later ones. Calls that free or end
 * something do so even if they fail, because their error is one of earlier work. library: only calls from files whose
 * name contains this ("libgstcuda-") count or, after a "!", only calls from other files; NULL: all count. entry: only
 * entries whose name contains this ("Synchronize") count; NULL: all do. */
typedef struct {
  StandinCalls calls;
  guint64 n; /* 0: no call fails */
  CUresult result;
  gboolean for_good;
  const char *library, *entry;
} StandinFault;

/* The objects and memory that exist. */
typedef struct {
  guint contexts, modules, streams, events, textures;
  guint allocations, pinned; /* numbers of blocks of device memory and of page-locked memory */
  gsize bytes;
  guint entered; /* contexts on the calling thread's stack */
} StandinCount;

typedef struct {
  /* Waits for all work, and forgets faults, reports and the list of kernels. Contexts and their objects stay. */
  void (*reset)(StandinOrder order, guint32 seed);
  void (*set_fault)(const StandinFault *fault);
  /* Return the number of calls counted since the fault was set; and the entry that failed first, or NULL. */
  guint64 (*calls)(void);
  const char *(*failed)(void);
  StandinCount (*count)(void);
  /* Returns all reports so far, one per line; "" if there are none. Free with g_free. */
  char *(*reports)(void);
  /* Returns the names of the kernels that ran since reset, in order, each followed by a space. Free with g_free. */
  char *(*kernels)(void);
  /* Sets the size of device memory; 0: the default, 8 GiB. */
  void (*set_memory)(gsize bytes);
} Standin;

/* Exported by the library, for standin_open. */
const Standin *standin_get(void);

/* Loads the library at that path. Must be called before anything in the process opens libcuda. Returns NULL and prints
 * the reason if that is not possible. */
const Standin *standin_open(const char *path);

G_END_DECLS
