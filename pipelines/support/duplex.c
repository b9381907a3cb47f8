/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/duplex.h"

#include <math.h>
#include <stdio.h>

#include "config.h"

#ifdef HAVE_CUDA
#include <cuda.h>
#include <gmodule.h>
#include <stdlib.h>

#define REPEATS 5
#define BATCH_BYTES 1e9 /* bytes in each direction between two looks at the clock */
#define BATCH_MAX 500   /* most copies of small frames */
#define N_BUFFERS 4     /* used in turn, like the buffers of a pool */

/* The measurement of one GPU, in a thread of its own. */
typedef struct {
  int gpu;
  gsize bytes;
  gint *n_open; /* atomic: GPUs that are not ready yet; the measurement begins at 0 */
  double per_s;
  GError *error;
  CUdevice device;
  CUcontext context; /* NULL: not created */
  CUstream up, down;
  void *host_up[N_BUFFERS], *host_down[N_BUFFERS];
  CUdeviceptr device_up[N_BUFFERS], device_down[N_BUFFERS];
} Duplex;

/* Functions of libcuda, opened at run time. cuda.h maps some names to newer versions, which the strings contain. */
#define ENTRIES(X)                                                                                                     \
  X(cuInit)                                                                                                            \
  X(cuGetErrorName)                                                                                                    \
  X(cuDeviceGet)                                                                                                       \
  X(cuDevicePrimaryCtxRetain)                                                                                          \
  X(cuDevicePrimaryCtxRelease)                                                                                         \
  X(cuCtxPushCurrent)                                                                                                  \
  X(cuCtxPopCurrent)                                                                                                   \
  X(cuMemHostAlloc)                                                                                                    \
  X(cuMemFreeHost)                                                                                                     \
  X(cuMemAlloc)                                                                                                        \
  X(cuMemFree)                                                                                                         \
  X(cuMemcpyHtoDAsync)                                                                                                 \
  X(cuMemcpyDtoHAsync)                                                                                                 \
  X(cuStreamCreate)                                                                                                    \
  X(cuStreamDestroy)                                                                                                   \
  X(cuStreamSynchronize)
#define STRING(name) #name
#define MEMBER(name) __typeof__(name) *name;
#define OPEN(name) &&g_module_symbol(module, STRING(name), (gpointer *)&cu.name)

static struct {
  ENTRIES(MEMBER)
} cu;

static gboolean
check(CUresult result, const char *call, GError **error)
{
  const char *name = "an unknown error";

  if (result == CUDA_SUCCESS)
    return TRUE;
  cu.cuGetErrorName(result, &name);
  g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s gave %s", call, name);
  return FALSE;
}

#define TRY(entry, ...) check(cu.entry(__VA_ARGS__), #entry, error)

static gboolean
open_driver(GError **error)
{
  GModule *module = g_module_open("libcuda.so.1", G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);

  if (module ENTRIES(OPEN))
    return TRY(cuInit, 0);
  g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT, "libcuda.so.1 is not there, or too old");
  return FALSE;
}

static gboolean
enter_context(Duplex *d, GError **error)
{
  if (TRY(cuDeviceGet, &d->device, d->gpu) && TRY(cuDevicePrimaryCtxRetain, &d->context, d->device))
    return TRY(cuCtxPushCurrent, d->context);
  return FALSE;
}

static gboolean
make_buffers(Duplex *d, GError **error)
{
  for (int i = 0; i < N_BUFFERS; i++)
    if (!TRY(cuMemHostAlloc, &d->host_up[i], d->bytes, 0) || !TRY(cuMemHostAlloc, &d->host_down[i], d->bytes, 0) ||
        !TRY(cuMemAlloc, &d->device_up[i], d->bytes) || !TRY(cuMemAlloc, &d->device_down[i], d->bytes))
      return FALSE;
  return TRY(cuStreamCreate, &d->up, CU_STREAM_NON_BLOCKING) && TRY(cuStreamCreate, &d->down, CU_STREAM_NON_BLOCKING);
}

/* Also cleans up after a failure. */
static void
close_duplex(const Duplex *d)
{
  for (int i = 0; i < N_BUFFERS; i++) {
    if (d->host_up[i])
      cu.cuMemFreeHost(d->host_up[i]);
    if (d->host_down[i])
      cu.cuMemFreeHost(d->host_down[i]);
    if (d->device_up[i])
      cu.cuMemFree(d->device_up[i]);
    if (d->device_down[i])
      cu.cuMemFree(d->device_down[i]);
  }
  if (d->up)
    cu.cuStreamDestroy(d->up);
  if (d->down)
    cu.cuStreamDestroy(d->down);
  if (d->context) {
    cu.cuCtxPopCurrent(NULL);
    cu.cuDevicePrimaryCtxRelease(d->device);
  }
}

/* Measures the microseconds for n frames in each direction. */
static gboolean
copy(const Duplex *d, int n, double *us, GError **error)
{
  const gint64 start = g_get_monotonic_time();

  for (int i = 0; i < n; i++) {
    const int k = i % N_BUFFERS;

    if (!TRY(cuMemcpyHtoDAsync, d->device_up[k], d->host_up[k], d->bytes, d->up) ||
        !TRY(cuMemcpyDtoHAsync, d->host_down[k], d->device_down[k], d->bytes, d->down))
      return FALSE;
  }
  if (!TRY(cuStreamSynchronize, d->up) || !TRY(cuStreamSynchronize, d->down))
    return FALSE;
  *us = (double)(g_get_monotonic_time() - start);
  return TRUE;
}

static int
compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static void
await_others(gint *n_open)
{
  g_atomic_int_add(n_open, -1);
  while (g_atomic_int_get(n_open) > 0)
    g_thread_yield();
}

static gboolean
measure(Duplex *d, int n, GError **error)
{
  double times[REPEATS];

  for (int i = 0; i < REPEATS; i++)
    if (!copy(d, n, &times[i], error))
      return FALSE;
  qsort(times, REPEATS, sizeof *times, compare);
  d->per_s = n * 1e6 / times[REPEATS / 2];
  return TRUE;
}

/* The thread of a GPU. If it fails, it still lets the others start. */
static gpointer
run(gpointer data)
{
  Duplex *d = data;
  GError **error = &d->error;
  const int n = (int)CLAMP(BATCH_BYTES / d->bytes, N_BUFFERS, BATCH_MAX);
  double warm_up;
  gboolean ready = enter_context(d, error) && make_buffers(d, error) && copy(d, n, &warm_up, error);

  await_others(d->n_open);
  if (ready)
    measure(d, n, error);
  close_duplex(d);
  return NULL;
}

double
duplex_per_s(gsize bytes, int n_gpus)
{
  g_autofree Duplex *parts = g_new0(Duplex, n_gpus);
  g_autofree GThread **threads = g_new(GThread *, n_gpus);
  gint n_open = n_gpus;
  double sum = 0;
  GError *error = NULL;

  if (!open_driver(&error)) {
    fprintf(stderr, "no copies on a GPU to compare with: %s\n", error->message);
    g_error_free(error);
    return NAN;
  }
  for (int i = 0; i < n_gpus; i++) {
    parts[i] = (Duplex){.gpu = i, .bytes = bytes, .n_open = &n_open, .per_s = NAN};
    threads[i] = g_thread_new("duplex", run, &parts[i]);
  }
  for (int i = 0; i < n_gpus; i++) {
    g_thread_join(threads[i]);
    sum += parts[i].per_s;
    if (parts[i].error)
      fprintf(stderr, "no copies on GPU %d to compare with: %s\n", i, parts[i].error->message);
    g_clear_error(&parts[i].error);
  }
  return sum;
}

#else

double
duplex_per_s(gsize bytes, int n_gpus)
{
  return NAN;
}
#endif
