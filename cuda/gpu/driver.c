/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/driver.h"

#include <gmodule.h>
#include <string.h>

#ifdef G_OS_WIN32
#define LIBCUDA "nvcuda.dll"
#else
#define LIBCUDA "libcuda.so.1"
#endif

#define STRING(name) #name
#define EXPANDED_STRING(name) STRING(name)

static CnvDriver driver;
static GError *driver_error;

/* Starts the driver. The driver has names for most errors, but not for an error of its own start. */
static gboolean
start_driver(GError **error)
{
  const char *name = "unknown error";
  CUresult result = driver.cuInit(0);

  if (result == CUDA_SUCCESS)
    result = driver.cuDeviceGetCount(&driver.n_devices);
  if (result == CUDA_SUCCESS && driver.n_devices == 0)
    result = CUDA_ERROR_NO_DEVICE;
  driver.capability = G_MAXINT;
  for (int i = 0; i < driver.n_devices && result == CUDA_SUCCESS; i++) {
    int capability;

    cnv_driver_capability(&driver, i, &capability, NULL);
    driver.capability = MIN(driver.capability, capability);
  }
  if (result == CUDA_SUCCESS)
    return TRUE;
  driver.cuGetErrorName(result, &name);
  g_set_error(error, CNV_ERROR, CNV_ERROR_NO_DEVICE, "the NVIDIA driver finds no usable GPU (%s)", name);
  return FALSE;
}

static void
open_driver(void)
{
  GModule *module = g_module_open(LIBCUDA, G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
  const char *missing = NULL;

  if (!module) {
    g_set_error(&driver_error, CNV_ERROR, CNV_ERROR_NO_DEVICE, "no NVIDIA driver: %s cannot be opened", LIBCUDA);
    return;
  }
#define LOAD(name)                                                                                                     \
  if (!g_module_symbol(module, EXPANDED_STRING(name), (gpointer *)&driver.name))                                       \
    missing = EXPANDED_STRING(name);
  CNV_DRIVER_ENTRIES(LOAD)
#undef LOAD
  g_module_symbol(module, "cuTensorMapEncodeTiled", (gpointer *)&driver.cuTensorMapEncodeTiled);
  g_module_symbol(module, "cuLaunchKernelEx", (gpointer *)&driver.cuLaunchKernelEx);
  if (!missing)
    return;
  g_set_error(&driver_error, CNV_ERROR, CNV_ERROR_NO_DEVICE,
              LIBCUDA " has no %s: the NVIDIA driver is too old for this build, update it", missing);
  g_module_close(module);
}

const CnvDriver *
cnv_driver_get(GError **error)
{
  static GMutex lock;
  static gboolean opened, started;
  gboolean ok;

  g_mutex_lock(&lock);
  if (!opened)
    open_driver();
  opened = TRUE;
  if (driver_error && error)
    *error = g_error_copy(driver_error);
  ok = started = started || (!driver_error && start_driver(error));
  g_mutex_unlock(&lock);
  return ok ? &driver : NULL;
}

/* Returns advice to the user. */
static const char *
remedy_for(CUresult result)
{
  switch (result) {
  case CUDA_ERROR_OUT_OF_MEMORY:
    return "end other programs that use the GPU's memory, use smaller frames, or set backend=cpu";
  case CUDA_ERROR_NO_BINARY_FOR_GPU:
  case CUDA_ERROR_INVALID_PTX:
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    return "build for this GPU, with -Dcuda-arch=auto, or update the driver";
  default:
    return "stop the pipeline and start it again; if that does not help, restart the program, and read the driver's "
           "messages in the kernel's log (dmesg)";
  }
}

gboolean
cnv_driver_check(const CnvDriver *cu, CUresult result, const char *call, const char *doing, GError **error)
{
  const char *name = "unknown error";

  if (result == CUDA_SUCCESS)
    return TRUE;
  cu->cuGetErrorName(result, &name);
  g_set_error(error, CNV_ERROR, result == CUDA_ERROR_OUT_OF_MEMORY ? CNV_ERROR_MEMORY : CNV_ERROR_DEVICE,
              "%s: %.*s gave %s; %s", doing, (int)strcspn(call, "("), call, name, remedy_for(result));
  return FALSE;
}

gboolean
cnv_driver_enter_at_last(const CnvDriver *cu, CUcontext context)
{
  return cu->cuCtxPushCurrent(context) == CUDA_SUCCESS || cu->cuCtxPushCurrent(context) == CUDA_SUCCESS;
}

gboolean
cnv_driver_capability(const CnvDriver *cu, CUdevice device, int *capability, GError **error)
{
  int major = 0, minor = 0;
  CUresult result = cu->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);

  if (result == CUDA_SUCCESS)
    result = cu->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  *capability = result == CUDA_SUCCESS ? 10 * major + minor : 0;
  return cnv_driver_check(cu, result, "cuDeviceGetAttribute", "asking for the GPU's capability", error);
}
