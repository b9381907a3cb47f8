/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames in GPU memory, through the engine's entries of libcuda. They are in the device's primary context, which a
 * session without a given context also uses.
 */
#include "config.h"

#include "plan/plan.h"
#include "support/device.h"

#include <string.h>

#ifdef HAVE_CUDA
#include <gmodule.h>

#include "gpu/driver.h"

static CUcontext context; /* the primary one of device 0 */

static const CnvDriver *
driver(void)
{
  static const CnvDriver *cu;
  GError *error = NULL;
  CUdevice device;

  if (!cu) {
    cu = cnv_driver_get(&error);
    if (!cu)
      g_error("%s", error->message);
    if (cu->cuDeviceGet(&device, 0) != CUDA_SUCCESS || cu->cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS ||
        cu->cuCtxPushCurrent(context) != CUDA_SUCCESS)
      g_error("no CUDA context on device 0");
  }
  return cu;
}

/* Ends the test if a call of the driver failed. Tests allocate and copy from one thread, in which the context stays
 * current. */
static void
check(CUresult result, const char *doing)
{
  GError *error = NULL;

  if (!cnv_driver_check(driver(), result, "the driver", doing, &error))
    g_error("%s", error->message);
}

static CUdeviceptr
address(const TestDeviceFrame *device, int plane)
{
  return (CUdeviceptr)GPOINTER_TO_SIZE(device->block[plane]);
}

/* Returns the bytes of the planes before plane n, in one allocation. */
static gsize
joined_size(const TestFrame *host, int n)
{
  gsize size = 0;

  for (int i = 0; i < n; i++)
    size += (host->plane[i].size + 255) / 256 * 256;
  return size;
}

void
test_device_frame_init(TestDeviceFrame *device, const TestFrame *host)
{
  const CnvDriver *cu = driver();

  CUdeviceptr block = 0;

  *device = (TestDeviceFrame){{NULL}};
  for (int i = 0; i < cnv_format_n_frame_planes(host->format); i++) {
    gsize size = host->joined ? joined_size(host, CNV_MAX_PLANES) : host->plane[i].size;

    if (i == 0 || !host->joined)
      check(cu->cuMemAlloc(&block, size), "allocating a test frame");
    device->allocation[i] = i == 0 || !host->joined ? block : 0;
    device->block[i] = GSIZE_TO_POINTER(block + (host->joined ? joined_size(host, i) : 0));
    check(cu->cuMemcpyHtoDAsync(address(device, i), host->plane[i].block, host->plane[i].size, NULL),
          "uploading a test frame");
  }
  /* The copy may return with the last bytes still in a staging buffer, and the session's stream does not wait. */
  check(cu->cuStreamSynchronize(NULL), "uploading a test frame");
}

void
test_device_frame_clear(TestDeviceFrame *device)
{
  for (int i = 0; i < CNV_MAX_PLANES; i++)
    if (device->allocation[i])
      check(driver()->cuMemFree(device->allocation[i]), "freeing a test frame");
}

void
test_device_frame_read(const TestDeviceFrame *device, const TestFrame *host)
{
  for (int i = 0; i < cnv_format_n_frame_planes(host->format); i++)
    check(driver()->cuMemcpyDtoHAsync(host->plane[i].block, address(device, i), host->plane[i].size, NULL),
          "downloading a test frame");
  check(driver()->cuStreamSynchronize(NULL), "downloading a test frame");
}

void
test_device_frame_view(const TestDeviceFrame *device, const TestFrame *host, CnvFrame *view)
{
  *view = (CnvFrame){.memory = CNV_MEMORY_DEVICE};
  for (int i = 0; i < cnv_format_n_frame_planes(host->format); i++) {
    view->data[i] = (guint8 *)device->block[i] + host->plane[i].start;
    view->stride[i] = host->plane[i].stride;
  }
}

void *
test_device_upload(const void *from, gsize size)
{
  const CnvDriver *cu = driver();
  CUdeviceptr block;

  check(cu->cuMemAlloc(&block, size), "allocating");
  check(cu->cuMemcpyHtoDAsync(block, from, size, NULL), "uploading");
  check(cu->cuStreamSynchronize(NULL), "uploading");
  return GSIZE_TO_POINTER(block);
}

void
test_device_free(void *block)
{
  if (block)
    check(driver()->cuMemFree((CUdeviceptr)GPOINTER_TO_SIZE(block)), "freeing");
}

void *
test_device_alloc_pinned(gsize size)
{
  void *memory;

  check(driver()->cuMemHostAlloc(&memory, size, 0), "page-locking");
  return memory;
}

void
test_device_free_pinned(void *memory)
{
  check(driver()->cuMemFreeHost(memory), "freeing page-locked memory");
}

/* Works on any thread, because it enters the context itself. */
gboolean
test_device_is_pinned(const void *memory)
{
  const CnvDriver *cu = driver();
  CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
  CUmemorytype type = 0;
  void *value = &type;
  CUresult result;

  check(cu->cuCtxPushCurrent(context), "entering the context");
  result = cu->cuPointerGetAttributes(1, &attribute, &value, (CUdeviceptr)GPOINTER_TO_SIZE(memory));
  check(cu->cuCtxPopCurrent(NULL), "leaving the context");
  return result == CUDA_SUCCESS && type == CU_MEMORYTYPE_HOST;
}

void *
test_device_stream(int i)
{
  static CUstream streams[3];

  if (!cnv_backend_find("cuda")->probe(-1, NULL))
    return NULL;
  if (!streams[i])
    check(driver()->cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING), "making a stream");
  return streams[i];
}

static CUevent timer[2];

void *
test_timer_stream(CnvSession *session)
{
  void *stream = test_device_stream(2);

  return cnv_session_use_stream(session, stream, NULL) ? stream : NULL;
}

static void
gpu_mark(CnvSession *session, int which)
{
  if (!timer[which])
    check(driver()->cuEventCreate(&timer[which], CU_EVENT_DEFAULT), "creating an event");
  check(driver()->cuEventRecord(timer[which], test_timer_stream(session)), "recording an event");
}

static double
gpu_time(void)
{
  float ms;

  check(driver()->cuEventSynchronize(timer[1]), "waiting for an event");
  check(driver()->cuEventElapsedTime(&ms, timer[0], timer[1]), "reading events");
  return ms * 1e3;
}

gsize
test_device_free_bytes(void)
{
  const CnvDriver *cu = driver();
  GModule *libcuda = g_module_open("libcuda.so.1", G_MODULE_BIND_LAZY);
  CUresult (*get_info)(size_t * free_bytes, size_t * total);
  size_t free_bytes, total;
  CUcontext popped;

  if (!libcuda || !g_module_symbol(libcuda, "cuMemGetInfo_v2", (gpointer *)&get_info))
    g_error("libcuda has no cuMemGetInfo_v2");

  check(cu->cuCtxPushCurrent(context), "entering the context");
  check(get_info(&free_bytes, &total), "asking for the free memory");
  check(cu->cuCtxPopCurrent(&popped), "leaving the context");
  return free_bytes;
}

#else

gsize
test_device_free_bytes(void)
{
  return 0;
}

/* Without the CUDA backend no variant has device memory. */
void
test_device_frame_init(TestDeviceFrame *device, const TestFrame *host)
{
  g_error("a build without CUDA has no device memory");
}

void
test_device_frame_clear(TestDeviceFrame *device)
{
}

void
test_device_frame_read(const TestDeviceFrame *device, const TestFrame *host)
{
}

void
test_device_frame_view(const TestDeviceFrame *device, const TestFrame *host, CnvFrame *view)
{
}

void *
test_device_upload(const void *from, gsize size)
{
  g_error("a build without CUDA has no device memory");
}

void
test_device_free(void *block)
{
}

void *
test_device_alloc_pinned(gsize size)
{
  g_error("a build without CUDA has no page-locked memory");
}

void
test_device_free_pinned(void *memory)
{
}

gboolean
test_device_is_pinned(const void *memory)
{
  return FALSE;
}

void *
test_device_stream(int i)
{
  return NULL;
}

static void
gpu_mark(CnvSession *session, int which)
{
}

static double
gpu_time(void)
{
  return 0;
}
#endif

static gint64 clock_start;

void
test_timer_start(CnvSession *session)
{
  if (session->backend->takes_device_memory)
    gpu_mark(session, 0);
  else
    clock_start = g_get_monotonic_time();
}

double
test_timer_stop(CnvSession *session)
{
  if (session->backend->takes_device_memory) {
    gpu_mark(session, 1);
    return gpu_time();
  }
  cnv_session_wait(session, NULL);
  return g_get_monotonic_time() - clock_start;
}

gboolean
test_copy(CnvSession *session, const CnvPlan *plan, const CnvFrame *from, const CnvFrame *to, GError **error)
{
  const CnvImage *image = &plan->image;
  CnvPlan *plans[] = {(CnvPlan *)plan};
  const CnvWork nothing_filtered = {.plan = plans, .n_plans = 1};

  if (session->backend->takes_device_memory)
    return cnv_session_submit(session, &nothing_filtered, from, to, error);
  for (int m = 0; m < cnv_format_n_frame_planes(image->format); m++) {
    const gsize row = cnv_format_row_bytes(image->format, m, image->width);

    for (int y = 0; y < cnv_format_plane_height(image->format, m, image->height); y++)
      memcpy((guint8 *)to->data[m] + (gsize)y * to->stride[m], (guint8 *)from->data[m] + (gsize)y * from->stride[m],
             row);
  }
  return TRUE;
}
