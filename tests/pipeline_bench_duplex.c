/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The measure of the system-memory paths: what the bus allows where nothing is computed.
 */
#include "config.h"

#include "pipeline_bench.h"

#include <math.h>
#include <stdio.h>

#ifdef HAVE_CUDA
#include <gmodule.h>

#include "driver.h"

#define REPEATS 5
#define BATCH_BYTES 1e9 /* up, and as many down, between two looks at the clock */
#define BATCH_MAX 500   /* copies, of small frames */
#define N_BUFFERS 4     /* in turn, as those of a pool are */

#define STRING(name) #name
#define EXPANDED_STRING(name) STRING(name)

/* Entries of libcuda that the engine itself need not have; their names as cuda.h maps them. */
static struct {
  __typeof__(cuMemHostAlloc) *host_alloc;
  __typeof__(cuMemFreeHost) *host_free;
  __typeof__(cuMemcpyDtoHAsync) *download;
} entry;

typedef struct {
  gsize bytes;
  CUstream up, down;
  void *host_up[N_BUFFERS], *host_down[N_BUFFERS];
  CUdeviceptr device_up[N_BUFFERS], device_down[N_BUFFERS];
} Duplex;

static gboolean
load_entries(GError **error)
{
  const struct {
    const char *name;
    gpointer *to;
  } list[] = {
      {EXPANDED_STRING(cuMemHostAlloc), (gpointer *)&entry.host_alloc},
      {EXPANDED_STRING(cuMemFreeHost), (gpointer *)&entry.host_free},
      {EXPANDED_STRING(cuMemcpyDtoHAsync), (gpointer *)&entry.download},
  };
  static GModule *module; /* stays open */

  if (!module)
    module = g_module_open("libcuda.so.1", G_MODULE_BIND_LAZY);
  for (gsize i = 0; i < G_N_ELEMENTS(list); i++)
    if (!module || !g_module_symbol(module, list[i].name, list[i].to)) {
      g_set_error(error, CNV_ERROR, CNV_ERROR_NO_DEVICE, "libcuda has no %s", list[i].name);
      return FALSE;
    }
  return TRUE;
}

#define TRY(call, doing) cnv_driver_check(cu, call, doing, error)

/* What was made before a failure is given back by close_duplex. */
static gboolean
open_duplex(const CnvDriver *cu, Duplex *d, GError **error)
{
  for (int i = 0; i < N_BUFFERS; i++)
    if (!TRY(entry.host_alloc(&d->host_up[i], d->bytes, 0), "allocating pinned memory") ||
        !TRY(entry.host_alloc(&d->host_down[i], d->bytes, 0), "allocating pinned memory") ||
        !TRY(cu->cuMemAlloc(&d->device_up[i], d->bytes), "allocating on the GPU") ||
        !TRY(cu->cuMemAlloc(&d->device_down[i], d->bytes), "allocating on the GPU"))
      return FALSE;
  return TRY(cu->cuStreamCreate(&d->up, CU_STREAM_NON_BLOCKING), "creating a stream") &&
         TRY(cu->cuStreamCreate(&d->down, CU_STREAM_NON_BLOCKING), "creating a stream");
}

static void
close_duplex(const CnvDriver *cu, const Duplex *d)
{
  for (int i = 0; i < N_BUFFERS; i++) {
    if (d->host_up[i])
      entry.host_free(d->host_up[i]);
    if (d->host_down[i])
      entry.host_free(d->host_down[i]);
    if (d->device_up[i])
      cu->cuMemFree(d->device_up[i]);
    if (d->device_down[i])
      cu->cuMemFree(d->device_down[i]);
  }
  if (d->up)
    cu->cuStreamDestroy(d->up);
  if (d->down)
    cu->cuStreamDestroy(d->down);
}

/* Microseconds for n frames each way. */
static gboolean
copy(const CnvDriver *cu, const Duplex *d, int n, double *us, GError **error)
{
  const gint64 start = g_get_monotonic_time();

  for (int i = 0; i < n; i++) {
    const int k = i % N_BUFFERS;

    if (!TRY(cu->cuMemcpyHtoDAsync(d->device_up[k], d->host_up[k], d->bytes, d->up), "uploading") ||
        !TRY(entry.download(d->host_down[k], d->device_down[k], d->bytes, d->down), "downloading"))
      return FALSE;
  }
  if (!TRY(cu->cuStreamSynchronize(d->up), "uploading") || !TRY(cu->cuStreamSynchronize(d->down), "downloading"))
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

/* The first batch is the warm-up. */
static gboolean
measure(const CnvDriver *cu, const Duplex *d, double *us, GError **error)
{
  const int n = (int)CLAMP(BATCH_BYTES / d->bytes, N_BUFFERS, BATCH_MAX);
  double times[REPEATS];

  if (!copy(cu, d, n, &times[0], error))
    return FALSE;
  for (int i = 0; i < REPEATS; i++)
    if (!copy(cu, d, n, &times[i], error))
      return FALSE;
  qsort(times, REPEATS, sizeof *times, compare);
  *us = times[REPEATS / 2] / n;
  return TRUE;
}

/* In the current context. */
static gboolean
run(const CnvDriver *cu, gsize bytes, double *us, GError **error)
{
  Duplex d = {.bytes = bytes};
  gboolean right = load_entries(error) && open_duplex(cu, &d, error) && measure(cu, &d, us, error);

  close_duplex(cu, &d);
  return right;
}

static gboolean
run_in_context(const CnvDriver *cu, gsize bytes, double *us, GError **error)
{
  CUcontext context;
  CUdevice device;
  gboolean right;

  if (!TRY(cu->cuDeviceGet(&device, 0), "finding GPU 0") ||
      !TRY(cu->cuDevicePrimaryCtxRetain(&context, device), "making a context"))
    return FALSE;
  right = TRY(cu->cuCtxPushCurrent(context), "entering the context");
  if (right) {
    right = run(cu, bytes, us, error);
    cu->cuCtxPopCurrent(&context);
  }
  cu->cuDevicePrimaryCtxRelease(device);
  return right;
}

double
pipeline_duplex_us(gsize bytes)
{
  GError *error = NULL;
  const CnvDriver *cu = cnv_driver_get(&error);
  double us = NAN;

  if (!cu || !run_in_context(cu, bytes, &us, &error)) {
    fprintf(stderr, "no duplex copy to compare with: %s\n", error->message);
    g_error_free(error);
  }
  return us;
}

#else

double
pipeline_duplex_us(gsize bytes)
{
  return NAN;
}
#endif
