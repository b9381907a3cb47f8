/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/duplex.h"

#include <math.h>
#include <stdio.h>

#include "config.h"

#ifdef HAVE_CUDA
#include <stdlib.h>

#include "gpu/driver.h"

#define REPEATS 5
#define BATCH_BYTES 1e9 /* up, and as many down, between two looks at the clock */
#define BATCH_MAX 500   /* copies, of small frames */
#define N_BUFFERS 4     /* in turn, as those of a pool are */

/* One GPU's part, in a thread of its own. */
typedef struct {
  int gpu;
  gsize bytes;
  gint *n_open; /* atomic: GPUs that are not ready yet; what is timed begins at 0 */
  double per_s;
  GError *error;
  CUdevice device;
  CUcontext context; /* NULL: none was made */
  CUstream up, down;
  void *host_up[N_BUFFERS], *host_down[N_BUFFERS];
  CUdeviceptr device_up[N_BUFFERS], device_down[N_BUFFERS];
} Duplex;

#define TRY(call, doing) cnv_driver_check(cu, cu->call, #call, doing, error)

static gboolean
enter_context(const CnvDriver *cu, Duplex *d, GError **error)
{
  if (TRY(cuDeviceGet(&d->device, d->gpu), "finding the GPU") &&
      TRY(cuDevicePrimaryCtxRetain(&d->context, d->device), "making a context"))
    return TRY(cuCtxPushCurrent(d->context), "entering the context");
  return FALSE;
}

static gboolean
make_buffers(const CnvDriver *cu, Duplex *d, GError **error)
{
  for (int i = 0; i < N_BUFFERS; i++)
    if (!TRY(cuMemHostAlloc(&d->host_up[i], d->bytes, 0), "allocating pinned memory") ||
        !TRY(cuMemHostAlloc(&d->host_down[i], d->bytes, 0), "allocating pinned memory") ||
        !TRY(cuMemAlloc(&d->device_up[i], d->bytes), "allocating on the GPU") ||
        !TRY(cuMemAlloc(&d->device_down[i], d->bytes), "allocating on the GPU"))
      return FALSE;
  return TRY(cuStreamCreate(&d->up, CU_STREAM_NON_BLOCKING), "creating a stream") &&
         TRY(cuStreamCreate(&d->down, CU_STREAM_NON_BLOCKING), "creating a stream");
}

/* Also what a failure left. */
static void
close_duplex(const CnvDriver *cu, const Duplex *d)
{
  for (int i = 0; i < N_BUFFERS; i++) {
    if (d->host_up[i])
      cu->cuMemFreeHost(d->host_up[i]);
    if (d->host_down[i])
      cu->cuMemFreeHost(d->host_down[i]);
    if (d->device_up[i])
      cu->cuMemFree(d->device_up[i]);
    if (d->device_down[i])
      cu->cuMemFree(d->device_down[i]);
  }
  if (d->up)
    cu->cuStreamDestroy(d->up);
  if (d->down)
    cu->cuStreamDestroy(d->down);
  if (d->context) {
    cu->cuCtxPopCurrent(NULL);
    cu->cuDevicePrimaryCtxRelease(d->device);
  }
}

/* Microseconds for n frames each way. */
static gboolean
copy(const CnvDriver *cu, const Duplex *d, int n, double *us, GError **error)
{
  const gint64 start = g_get_monotonic_time();

  for (int i = 0; i < n; i++) {
    const int k = i % N_BUFFERS;

    if (!TRY(cuMemcpyHtoDAsync(d->device_up[k], d->host_up[k], d->bytes, d->up), "uploading") ||
        !TRY(cuMemcpyDtoHAsync(d->host_down[k], d->device_down[k], d->bytes, d->down), "downloading"))
      return FALSE;
  }
  if (!TRY(cuStreamSynchronize(d->up), "uploading") || !TRY(cuStreamSynchronize(d->down), "downloading"))
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
measure(const CnvDriver *cu, Duplex *d, int n, GError **error)
{
  double times[REPEATS];

  for (int i = 0; i < REPEATS; i++)
    if (!copy(cu, d, n, &times[i], error))
      return FALSE;
  qsort(times, REPEATS, sizeof *times, compare);
  d->per_s = n * 1e6 / times[REPEATS / 2];
  return TRUE;
}

/* Who fails lets the others go on. */
static gpointer
run(gpointer data)
{
  Duplex *d = data;
  GError **error = &d->error;
  const CnvDriver *cu = cnv_driver_get(error);
  const int n = (int)CLAMP(BATCH_BYTES / d->bytes, N_BUFFERS, BATCH_MAX);
  double warm_up;
  gboolean ready = cu && enter_context(cu, d, error) && make_buffers(cu, d, error) && copy(cu, d, n, &warm_up, error);

  await_others(d->n_open);
  if (ready)
    measure(cu, d, n, error);
  if (cu)
    close_duplex(cu, d);
  return NULL;
}

double
duplex_per_s(gsize bytes, int n_gpus)
{
  Duplex *parts = g_new0(Duplex, n_gpus);
  GThread **threads = g_new(GThread *, n_gpus);
  gint n_open = n_gpus;
  double sum = 0;

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
  g_free(threads);
  g_free(parts);
  return sum;
}

#else

double
duplex_per_s(gsize bytes, int n_gpus)
{
  return NAN;
}
#endif
