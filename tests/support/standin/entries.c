/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE
#include "device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHARED_USUAL (48 * 1024)    /* bytes of shared memory that any kernel may use */
#define SHARED_MOST (227 * 1024)    /* compute capability 9.0 */
#define REPORTED 99                 /* exit status if there are reports */
#define MOST_BYTES ((gsize)8 << 30) /* of device memory, unless set_memory sets a limit */

struct Context {
  gboolean primary;
  guint refs; /* of the primary one */
};

typedef struct {
  Context *context;
  Allocation *taps; /* constant memory; NULL until its address is queried */
  GPtrArray *functions;
} Module;

typedef struct {
  Module *module;
  const StandinKernel *kernel;
  guint shared_bytes; /* most that a launch may request */
} Function;

typedef struct {
  Context *context;
  Op *op; /* the last record; NULL: none */
} Event;

typedef struct {
  Context *context;
  guint64 address;
  gsize size;
} Texture;

/* What a call does and how it fails. */
typedef enum {
  ASKS,   /* only queries: never fails, and is not counted */
  DOES,   /* fails without effect */
  ALLOCS, /* likewise; allocates memory */
  PUSHES, /* likewise; cuCtxPushCurrent */
  ENDS,   /* frees or ends something: fails, but has its effect */
} Kind;

static GRecMutex lock;
static GHashTable *contexts, *modules, *functions, *events, *textures; /* sets */
static Context *primary;
static GPrivate stack = G_PRIVATE_INIT((GDestroyNotify)g_ptr_array_unref);
static StandinFault fault;
static guint64 n_calls;
static const char *failed_entry;
static GString *log_of_kernels;
static gsize most_bytes = MOST_BYTES;

/* ---- every call ---- */

static GHashTable *
set_of(GHashTable **set)
{
  if (!*set)
    *set = g_hash_table_new(NULL, NULL);
  return *set;
}

static gboolean
is_in(GHashTable **set, gconstpointer handle)
{
  return handle && g_hash_table_contains(set_of(set), handle);
}

static GPtrArray *
entered(void)
{
  GPtrArray *array = g_private_get(&stack);

  if (!array) {
    array = g_ptr_array_new();
    g_private_set(&stack, array);
  }
  return array;
}

static Context *
current(void)
{
  GPtrArray *array = entered();
  Context *context = array->len > 0 ? g_ptr_array_index(array, array->len - 1) : NULL;

  return is_in(&contexts, context) ? context : NULL;
}

static gboolean
is_of(gconstpointer caller)
{
  gboolean not = fault.library && fault.library[0] == '!';
  Dl_info info;

  if (!fault.library)
    return TRUE;
  return (dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, fault.library + not )) != not ;
}

static gboolean
counts(Kind kind)
{
  switch (fault.calls) {
  case STANDIN_CALLS_ALLOC:
    return kind == ALLOCS;
  case STANDIN_CALLS_PUSH:
    return kind == PUSHES;
  default:
    return kind == DOES || kind == ALLOCS || kind == ENDS;
  }
}

/* Begins a call: takes the lock, and returns the result that the call should have. */
static CUresult
begin(const char *name, Kind kind, gconstpointer caller)
{
  g_rec_mutex_lock(&lock);
  standin_some_time_passes();
  if (!counts(kind) || (fault.entry && !strstr(name, fault.entry)) || !is_of(caller))
    return CUDA_SUCCESS;
  n_calls++;
  if (fault.n == 0 || n_calls < fault.n || (n_calls > fault.n && !fault.for_good))
    return CUDA_SUCCESS;
  if (!failed_entry)
    failed_entry = name;
  if (fault.for_good && (fault.result == CUDA_ERROR_LAUNCH_FAILED || fault.calls == STANDIN_CALLS_PUSH))
    standin_lose_all(); /* the context is broken, or can no longer be pushed */
  return fault.result;
}

static CUresult
end(CUresult result)
{
  g_rec_mutex_unlock(&lock);
  return result;
}

/* Begins an entry that does nothing if it should fail or if no context is current. */
#define BEGIN(kind)                                                                                                    \
  CUresult result = begin(__func__, kind, __builtin_return_address(0));                                                \
                                                                                                                       \
  if (result == CUDA_SUCCESS && !current())                                                                            \
    result = without_context(__func__);                                                                                \
  if (result != CUDA_SUCCESS)                                                                                          \
  return end(result)

/* Begins an entry that has its effect even if it fails. */
#define BEGIN_END() CUresult result = begin(__func__, ENDS, __builtin_return_address(0))

static CUresult
without_context(const char *name)
{
  standin_report("%s is called with no context", name);
  return CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult
bad_handle(const char *name)
{
  standin_report("%s is given what is none, or was destroyed", name);
  return CUDA_ERROR_INVALID_HANDLE;
}

/* ---- start, devices ---- */

CUresult
cuInit(unsigned int flags)
{
  return end(begin(__func__, DOES, __builtin_return_address(0)));
}

CUresult
cuDriverGetVersion(int *version)
{
  *version = 12000;
  return CUDA_SUCCESS;
}

static const struct {
  CUresult result;
  const char *name;
} names[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN"},
};

CUresult
cuGetErrorName(CUresult error, const char **name)
{
  for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
    if (names[i].result == error) {
      *name = names[i].name;
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult
cuGetErrorString(CUresult error, const char **text)
{
  return cuGetErrorName(error, text);
}

CUresult
cuDeviceGetCount(int *count)
{
  *count = 1;
  return end(begin(__func__, DOES, __builtin_return_address(0)));
}

CUresult
cuDeviceGet(CUdevice *device, int ordinal)
{
  *device = 0;
  return ordinal == 0 ? end(begin(__func__, DOES, __builtin_return_address(0))) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult
cuDeviceGetName(char *name, int size, CUdevice device)
{
  snprintf(name, size, "stand-in for a GPU");
  return end(begin(__func__, DOES, __builtin_return_address(0)));
}

int
standin_capability(void)
{
  const char *set = g_getenv("STANDIN_CAPABILITY");

  return set ? atoi(set) : 90;
}

CUresult
cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *value = standin_capability() / 10;
    break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    *value = standin_capability() % 10;
    break;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    *value = STANDIN_PROCESSORS;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    *value = SHARED_MOST + 1024;
    break;
  case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
  case CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT:
    *value = 512;
    break;
  default:
    *value = 0;
  }
  return end(begin(__func__, DOES, __builtin_return_address(0)));
}

CUresult
cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
  *can = 0;
  return CUDA_SUCCESS;
}

/* ---- contexts ---- */

static Context *
context_new(gboolean is_primary)
{
  Context *context = g_new0(Context, 1);

  context->primary = is_primary;
  g_hash_table_add(set_of(&contexts), context);
  return context;
}

static void
module_free(gpointer data)
{
  Module *module = data;

  if (module->taps)
    standin_free_allocation(module->taps);
  for (guint i = 0; i < module->functions->len; i++) {
    g_hash_table_remove(set_of(&functions), g_ptr_array_index(module->functions, i));
    g_free(g_ptr_array_index(module->functions, i));
  }
  g_ptr_array_unref(module->functions);
  g_hash_table_remove(modules, module);
  g_free(module);
}

static void
event_free(gpointer data)
{
  Event *event = data;

  standin_op_unref(event->op);
  g_hash_table_remove(events, event);
  g_free(event);
}

/* Frees a context's members of a set. Each member is a structure that begins with its context. */
static void
free_of_context(GHashTable *set, const Context *context, GDestroyNotify free_it)
{
  GList *all = set ? g_hash_table_get_keys(set) : NULL;

  for (GList *l = all; l; l = l->next)
    if (*(Context **)l->data == context)
      free_it(l->data);
  g_list_free(all);
}

static void
texture_free(gpointer data)
{
  Texture *texture = data;

  g_hash_table_remove(textures, texture);
  g_free(texture);
}

static void
context_free(Context *context)
{
  standin_finish_all();
  standin_streams_free_context(context);
  free_of_context(events, context, event_free);
  free_of_context(textures, context, texture_free);
  free_of_context(modules, context, module_free);
  standin_free_context(context);
  g_hash_table_remove(contexts, context);
  g_free(context);
}

CUresult
cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
  CUresult result = begin(__func__, DOES, __builtin_return_address(0));

  if (result == CUDA_SUCCESS) {
    if (!primary)
      primary = context_new(TRUE);
    primary->refs++;
    *context = (CUcontext)primary;
  }
  return end(result);
}

CUresult
cuDevicePrimaryCtxRelease(CUdevice device)
{
  BEGIN_END();

  if (!primary) {
    result = bad_handle(__func__);
  } else if (--primary->refs == 0) {
    context_free(primary);
    primary = NULL;
  }
  return end(result);
}

/* Newer versions of cuda.h map the name cuCtxCreate to an entry with other arguments. */
CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);

CUresult
cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
  CUresult result = begin(__func__, DOES, __builtin_return_address(0));

  if (result == CUDA_SUCCESS) {
    *context = (CUcontext)context_new(FALSE);
    g_ptr_array_add(entered(), *context);
  }
  return end(result);
}

CUresult
cuCtxDestroy(CUcontext context)
{
  BEGIN_END();

  if (!is_in(&contexts, context))
    return end(bad_handle(__func__));
  g_ptr_array_remove(entered(), context);
  context_free((Context *)context);
  return end(result);
}

CUresult
cuCtxPushCurrent(CUcontext context)
{
  CUresult result = begin(__func__, PUSHES, __builtin_return_address(0));

  if (result == CUDA_SUCCESS && !is_in(&contexts, context))
    result = bad_handle(__func__);
  if (result == CUDA_SUCCESS)
    g_ptr_array_add(entered(), context);
  return end(result);
}

CUresult
cuCtxPopCurrent(CUcontext *context)
{
  GPtrArray *array = entered();

  if (array->len == 0) {
    standin_report("cuCtxPopCurrent is called with no context");
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (context)
    *context = g_ptr_array_index(array, array->len - 1);
  g_ptr_array_set_size(array, array->len - 1);
  return CUDA_SUCCESS;
}

CUresult
cuCtxGetDevice(CUdevice *device)
{
  BEGIN(DOES);

  *device = 0;
  return end(result);
}

CUresult
cuCtxSynchronize(void)
{
  BEGIN(DOES);

  standin_finish_all();
  return end(result);
}

CUresult
cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
  return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}

CUresult
cuCtxDisablePeerAccess(CUcontext peer)
{
  return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

/* ---- modules ---- */

CUresult
cuModuleLoadData(CUmodule *module, const void *image)
{
  BEGIN(DOES);
  Module *created = g_new0(Module, 1);

  created->context = current();
  created->functions = g_ptr_array_new();
  g_hash_table_add(set_of(&modules), created);
  *module = (CUmodule)created;
  return end(result);
}

CUresult
cuModuleUnload(CUmodule module)
{
  BEGIN_END();

  if (!is_in(&modules, module))
    return end(bad_handle(__func__));
  module_free((Module *)module);
  return end(result);
}

CUresult
cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
  BEGIN(DOES);
  const StandinKernel *kernel = standin_kernel_find(name);
  Function *created;

  if (!is_in(&modules, module))
    return end(bad_handle(__func__));
  if (!kernel)
    return end(CUDA_ERROR_NOT_FOUND);
  created = g_new0(Function, 1);
  *created = (Function){(Module *)module, kernel, SHARED_USUAL};
  g_ptr_array_add(created->module->functions, created);
  g_hash_table_add(set_of(&functions), created);
  *function = (CUfunction)created;
  return end(result);
}

CUresult
cuModuleGetGlobal(CUdeviceptr *address, size_t *size, CUmodule module, const char *name)
{
  BEGIN(DOES);
  Module *loaded = (Module *)module;

  if (!is_in(&modules, module))
    return end(bad_handle(__func__));
  if (strcmp(name, "cnv_taps") != 0)
    return end(CUDA_ERROR_NOT_FOUND);
  if (!loaded->taps) {
    loaded->taps = standin_alloc(loaded->context, 65536, FALSE);
    loaded->taps->is_part = TRUE;
  }
  *address = loaded->taps->address;
  *size = loaded->taps->size;
  return end(result);
}

CUresult
cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads, size_t shared_bytes)
{
  BEGIN(DOES);

  if (!is_in(&functions, function))
    return end(bad_handle(__func__));
  *blocks = STANDIN_FITTING;
  return end(result);
}

CUresult
cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
  BEGIN(DOES);

  if (!is_in(&functions, function))
    return end(bad_handle(__func__));
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value > SHARED_MOST)
    return end(CUDA_ERROR_INVALID_VALUE);
  ((Function *)function)->shared_bytes = value;
  return end(result);
}

/* ---- memory ---- */

static CUresult
allocate(gsize size, gboolean pinned, Allocation **allocation)
{
  StandinCount count = {0};

  standin_count_memory(&count);
  if (size == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (!pinned && count.bytes + size > most_bytes)
    return CUDA_ERROR_OUT_OF_MEMORY;
  *allocation = standin_alloc(current(), size, pinned);
  return *allocation ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult
cuMemAlloc(CUdeviceptr *address, size_t size)
{
  BEGIN(ALLOCS);
  Allocation *a = NULL;

  result = allocate(size, FALSE, &a);
  if (a)
    *address = a->address;
  return end(result);
}

CUresult
cuMemAllocPitch(CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned int element)
{
  BEGIN(ALLOCS);
  Allocation *a = NULL;

  *pitch = (width + 511) / 512 * 512;
  result = allocate(*pitch * height, FALSE, &a);
  if (a)
    *address = a->address;
  return end(result);
}

CUresult
cuMemHostAlloc(void **memory, size_t size, unsigned int flags)
{
  BEGIN(ALLOCS);
  Allocation *a = NULL;

  result = allocate(size, TRUE, &a);
  if (a)
    *memory = a->host;
  return end(result);
}

CUresult
cuMemAllocHost(void **memory, size_t size)
{
  BEGIN(ALLOCS);
  Allocation *a = NULL;

  result = allocate(size, TRUE, &a);
  if (a)
    *memory = a->host;
  return end(result);
}

static CUresult
free_memory(const char *name, guint64 address, gboolean pinned, CUresult result)
{
  if (!current())
    return without_context(name);
  return standin_free(address, pinned) ? result : bad_handle(name);
}

CUresult
cuMemFree(CUdeviceptr address)
{
  BEGIN_END();

  return end(free_memory(__func__, address, FALSE, result));
}

CUresult
cuMemFreeHost(void *memory)
{
  BEGIN_END();

  return end(free_memory(__func__, (guintptr)memory, TRUE, result));
}

CUresult
cuMemGetInfo(size_t *free_bytes, size_t *total)
{
  BEGIN(DOES);
  StandinCount count = {0};

  standin_count_memory(&count);
  *total = most_bytes;
  *free_bytes = most_bytes - MIN(count.bytes, most_bytes);
  return end(result);
}

CUresult
cuPointerGetAttributes(unsigned int n, CUpointer_attribute *attribute, void **data, CUdeviceptr address)
{
  CUresult result = begin(__func__, ASKS, NULL);
  const Allocation *a = standin_find(address);

  for (unsigned int i = 0; i < n; i++)
    if (attribute[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE && a)
      *(unsigned int *)data[i] = a->pinned ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  return end(result);
}

/* ---- copies ---- */

typedef struct {
  guint64 to, from;
  gint64 to_stride, from_stride;
  gsize row, rows;
  gboolean to_host, from_host; /* memory that is not page-locked */
  guint8 bytes[];              /* from_host: contents of the source at the start of the copy; else empty */
} Copy;

static gboolean
is_plain_host(guint64 address)
{
  return address < DEVICE_BIAS && !standin_find(address);
}

static void
run_copy(const Op *op, gpointer data)
{
  const Copy *c = data;
  const guint8 *from = c->from_host
                           ? (op ? c->bytes : (const guint8 *)(guintptr)c->from)
                           : standin_access_rows(op, c->from, c->from_stride, c->row, c->rows, FALSE, "a copy");
  guint8 *to = c->to_host ? (guint8 *)(guintptr)c->to
                          : standin_access_rows(op, c->to, c->to_stride, c->row, c->rows, TRUE, "a copy");
  gint64 from_stride = c->from_host && op ? (gint64)c->row : c->from_stride;

  for (gsize y = 0; from && to && y < c->rows; y++)
    memcpy(to + y * c->to_stride, from + y * from_stride, c->row);
}

/* Starts a copy. Host memory that is not page-locked is read or written before the call returns. */
static void
start_copy(const Copy *c, CUstream handle)
{
  Stream *stream = standin_stream(handle);
  Copy *copy = g_malloc(sizeof(Copy) + (c->from_host ? c->row * c->rows : 0));
  Op *op;

  *copy = *c;
  for (gsize y = 0; c->from_host && y < c->rows; y++)
    memcpy(copy->bytes + y * c->row, (const guint8 *)(guintptr)c->from + y * c->from_stride, c->row);
  op = standin_start(stream, run_copy, copy, NULL);
  if (c->to_host)
    standin_finish_op(op);
}

static CUresult
copy(const char *name, Copy c, gboolean waits, CUstream stream)
{
  c.from_host = is_plain_host(c.from);
  c.to_host = is_plain_host(c.to);
  if (!waits && !standin_stream(stream))
    return bad_handle(name);
  if (waits) {
    standin_finish_stream(standin_stream(NULL));
    run_copy(NULL, &c);
  } else {
    start_copy(&c, stream);
  }
  return CUDA_SUCCESS;
}

CUresult
cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t size)
{
  BEGIN(DOES);

  return end(copy(__func__, (Copy){to, (guintptr)from, size, size, size, 1}, TRUE, NULL));
}

CUresult
cuMemcpyDtoH(void *to, CUdeviceptr from, size_t size)
{
  BEGIN(DOES);

  return end(copy(__func__, (Copy){(guintptr)to, from, size, size, size, 1}, TRUE, NULL));
}

CUresult
cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t size, CUstream stream)
{
  BEGIN(DOES);

  return end(copy(__func__, (Copy){to, (guintptr)from, size, size, size, 1}, FALSE, stream));
}

CUresult
cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
  BEGIN(DOES);

  return end(copy(__func__, (Copy){(guintptr)to, from, size, size, size, 1}, FALSE, stream));
}

CUresult
cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream)
{
  BEGIN(DOES);

  return end(copy(__func__, (Copy){to, from, size, size, size, 1}, FALSE, stream));
}

static Copy
copy_of(const CUDA_MEMCPY2D *c)
{
  guint64 to = c->dstMemoryType == CU_MEMORYTYPE_HOST ? (guintptr)c->dstHost : c->dstDevice;
  guint64 from = c->srcMemoryType == CU_MEMORYTYPE_HOST ? (guintptr)c->srcHost : c->srcDevice;

  return (Copy){to + c->dstY * c->dstPitch + c->dstXInBytes,
                from + c->srcY * c->srcPitch + c->srcXInBytes,
                (gint64)c->dstPitch,
                (gint64)c->srcPitch,
                c->WidthInBytes,
                c->Height};
}

CUresult
cuMemcpy2D(const CUDA_MEMCPY2D *c)
{
  BEGIN(DOES);

  return end(copy(__func__, copy_of(c), TRUE, NULL));
}

CUresult
cuMemcpy2DAsync(const CUDA_MEMCPY2D *c, CUstream stream)
{
  BEGIN(DOES);

  return end(copy(__func__, copy_of(c), FALSE, stream));
}

/* ---- streams, events ---- */

CUresult
cuStreamCreate(CUstream *stream, unsigned int flags)
{
  BEGIN(DOES);

  *stream = (CUstream)standin_stream_new(current(), !(flags & CU_STREAM_NON_BLOCKING));
  return end(*stream ? result : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult
cuStreamDestroy(CUstream stream)
{
  BEGIN_END();

  if (!standin_stream(stream) || (guintptr)stream <= 2)
    return end(bad_handle(__func__));
  standin_stream_free(standin_stream(stream));
  return end(result);
}

CUresult
cuStreamSynchronize(CUstream stream)
{
  BEGIN(DOES);

  if (!standin_stream(stream))
    return end(bad_handle(__func__));
  standin_finish_stream(standin_stream(stream));
  return end(result);
}

CUresult
cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
  BEGIN(DOES);

  if (!standin_stream(stream) || !is_in(&events, event))
    return end(bad_handle(__func__));
  if (((Event *)event)->op)
    standin_start(standin_stream(stream), NULL, NULL, ((Event *)event)->op);
  return end(result);
}

CUresult
cuEventCreate(CUevent *event, unsigned int flags)
{
  BEGIN(DOES);
  Event *created = g_new0(Event, 1);

  created->context = current();
  g_hash_table_add(set_of(&events), created);
  *event = (CUevent)created;
  return end(result);
}

CUresult
cuEventDestroy(CUevent event)
{
  BEGIN_END();

  if (!is_in(&events, event))
    return end(bad_handle(__func__));
  event_free((Event *)event);
  return end(result);
}

CUresult
cuEventRecord(CUevent event, CUstream stream)
{
  BEGIN(DOES);
  Event *e = (Event *)event;

  if (!standin_stream(stream) || !is_in(&events, event))
    return end(bad_handle(__func__));
  standin_op_unref(e->op);
  e->op = standin_op_ref(standin_start(standin_stream(stream), NULL, NULL, NULL));
  return end(result);
}

CUresult
cuEventQuery(CUevent event)
{
  BEGIN(DOES);
  Event *e = (Event *)event;

  if (!is_in(&events, event))
    return end(bad_handle(__func__));
  if (e->op && !e->op->done)
    return end(CUDA_ERROR_NOT_READY);
  if (e->op)
    standin_finish_op(e->op);
  return end(result);
}

CUresult
cuEventSynchronize(CUevent event)
{
  BEGIN(DOES);

  if (!is_in(&events, event))
    return end(bad_handle(__func__));
  if (((Event *)event)->op)
    standin_finish_op(((Event *)event)->op);
  return end(result);
}

CUresult
cuEventElapsedTime(float *ms, CUevent first, CUevent last)
{
  BEGIN(DOES);
  const Op *from, *to;

  if (!is_in(&events, first) || !is_in(&events, last))
    return end(bad_handle(__func__));
  from = ((Event *)first)->op;
  to = ((Event *)last)->op;
  if (!from || !to)
    return end(CUDA_ERROR_INVALID_HANDLE);
  if (!from->done || !to->done)
    return end(CUDA_ERROR_NOT_READY);
  *ms = MAX(to->when - from->when, 1) / 1000.0f;
  return end(result);
}

/* ---- textures, kernels ---- */

CUresult
cuTexObjectCreate(CUtexObject *object, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *texture,
                  const CUDA_RESOURCE_VIEW_DESC *view)
{
  BEGIN(DOES);
  const Allocation *a = standin_find(resource->res.linear.devPtr);
  Texture *created;

  if (resource->resType != CU_RESOURCE_TYPE_LINEAR || resource->res.linear.devPtr % 512 != 0 || !a)
    return end(CUDA_ERROR_INVALID_VALUE);
  created = g_new(Texture, 1);
  *created = (Texture){current(), resource->res.linear.devPtr, resource->res.linear.sizeInBytes};
  g_hash_table_add(set_of(&textures), created);
  *object = (CUtexObject)(guintptr)created;
  return end(result);
}

CUresult
cuTexObjectDestroy(CUtexObject object)
{
  BEGIN_END();

  if (!is_in(&textures, (gpointer)(guintptr)object))
    return end(bad_handle(__func__));
  texture_free((Texture *)(guintptr)object);
  return end(result);
}

gboolean
standin_texture(guint64 object, guint64 *address, gsize *size)
{
  const Texture *texture = (const Texture *)(guintptr)object;

  if (!is_in(&textures, texture))
    return FALSE;
  *address = texture->address;
  *size = texture->size;
  return TRUE;
}

/* Accepts only maps like the engine's, of four dimensions, and makes the driver's checks. */
CUresult
cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                       const cuuint64_t *dim, const cuuint64_t *stride, const cuuint32_t *box,
                       const cuuint32_t *element_stride, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                       CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
  StandinMap encoded = {.address = (guintptr)address};
  gboolean ok = type == CU_TENSOR_MAP_DATA_TYPE_UINT32 && rank == 4 && encoded.address % 16 == 0 &&
                box[0] * 4 % 16 == 0 && interleave == CU_TENSOR_MAP_INTERLEAVE_NONE &&
                (swizzle == CU_TENSOR_MAP_SWIZZLE_NONE || (swizzle == CU_TENSOR_MAP_SWIZZLE_64B && box[0] * 4 <= 64) ||
                 (swizzle == CU_TENSOR_MAP_SWIZZLE_128B && box[0] * 4 <= 128)) &&
                fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

  for (int i = 0; i < 4 && ok; i++) {
    encoded.dim[i] = dim[i];
    encoded.box[i] = box[i];
    ok = dim[i] >= 1 && dim[i] <= (guint64)1 << 32 && box[i] >= 1 && box[i] <= 256 && element_stride[i] == 1;
  }
  for (int i = 0; i < 3 && ok; i++) {
    encoded.stride[i] = stride[i];
    ok = stride[i] % 16 == 0 && stride[i] < (guint64)1 << 40;
  }
  if (!ok || (guintptr)map % 64)
    return CUDA_ERROR_INVALID_VALUE;
  memset(map, 0, sizeof(*map));
  memcpy(map, &encoded, sizeof(encoded));
  return CUDA_SUCCESS;
}

typedef struct {
  const StandinKernel *kernel;
  LaunchSize size;
  guint64 taps;
  guint8 args[];
} Launch;

static void
run_launch(const Op *op, gpointer data)
{
  const Launch *l = data;

  standin_kernel_run(l->kernel, op, &l->size, l->args, l->taps);
  standin_forget_written();
}

static CUresult
launch(const char *name, CUfunction function, const LaunchSize *size, CUstream stream, void **args)
{
  const Function *f = (const Function *)function;
  guint threads = size->block[0] * size->block[1] * size->block[2];
  Launch *launch;

  if (!is_in(&functions, function) || !standin_stream(stream))
    return bad_handle(name);
  if (size->grid[0] == 0 || size->grid[1] == 0 || size->grid[2] == 0 || size->grid[1] > 65535 ||
      size->grid[2] > 65535 || threads > 1024 || threads == 0 || size->shared_bytes > f->shared_bytes)
    return CUDA_ERROR_INVALID_VALUE;
  launch = g_malloc(sizeof(Launch) + standin_kernel_args_size(f->kernel));
  *launch = (Launch){f->kernel, *size, f->module->taps ? f->module->taps->address : 0};
  memcpy(launch->args, args[0], standin_kernel_args_size(f->kernel));
  if (!log_of_kernels)
    log_of_kernels = g_string_new(NULL);
  g_string_append_printf(log_of_kernels, "%s ", standin_kernel_name(f->kernel));
  standin_start(standin_stream(stream), run_launch, launch, NULL);
  return CUDA_SUCCESS;
}

CUresult
cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
               unsigned int block_y, unsigned int block_z, unsigned int shared_bytes, CUstream stream, void **args,
               void **extra)
{
  BEGIN(DOES);
  const LaunchSize size = {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes};

  return end(launch(__func__, function, &size, stream, args));
}

/* A launch that may begin before the kernel before it ends is done like any other: such a kernel waits by itself. */
CUresult
cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function, void **args, void **extra)
{
  BEGIN(DOES);
  const LaunchSize size = {
      {c->gridDimX, c->gridDimY, c->gridDimZ}, {c->blockDimX, c->blockDimY, c->blockDimZ}, c->sharedMemBytes};

  for (unsigned int i = 0; i < c->numAttrs; i++)
    if (c->attrs[i].id != CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION || standin_capability() < 90)
      return end(CUDA_ERROR_INVALID_VALUE);
  return end(launch(__func__, function, &size, c->hStream, args));
}

/* ---- control ---- */

static void
reset(StandinOrder order, guint32 seed)
{
  g_rec_mutex_lock(&lock);
  standin_finish_all();
  standin_forget_accesses();
  standin_set_order(order, seed);
  g_free(standin_take_reports(TRUE));
  fault = (StandinFault){0};
  failed_entry = NULL;
  n_calls = 0;
  if (log_of_kernels)
    g_string_truncate(log_of_kernels, 0);
  g_rec_mutex_unlock(&lock);
}

static void
set_fault(const StandinFault *new_fault)
{
  g_rec_mutex_lock(&lock);
  fault = *new_fault;
  failed_entry = NULL;
  n_calls = 0;
  g_rec_mutex_unlock(&lock);
}

static guint64
calls(void)
{
  guint64 n;

  g_rec_mutex_lock(&lock);
  n = n_calls;
  g_rec_mutex_unlock(&lock);
  return n;
}

static const char *
failed(void)
{
  return failed_entry;
}

static StandinCount
count(void)
{
  StandinCount c = {0};

  g_rec_mutex_lock(&lock);
  c.contexts = g_hash_table_size(set_of(&contexts));
  c.modules = g_hash_table_size(set_of(&modules));
  c.streams = standin_count_streams();
  c.events = g_hash_table_size(set_of(&events));
  c.textures = g_hash_table_size(set_of(&textures));
  c.entered = entered()->len;
  standin_count_memory(&c);
  g_rec_mutex_unlock(&lock);
  return c;
}

static char *
take_reports(void)
{
  char *text;

  g_rec_mutex_lock(&lock);
  text = standin_take_reports(FALSE);
  g_rec_mutex_unlock(&lock);
  return text;
}

static char *
take_kernels(void)
{
  char *text;

  g_rec_mutex_lock(&lock);
  text = g_strdup(log_of_kernels ? log_of_kernels->str : "");
  g_rec_mutex_unlock(&lock);
  return text;
}

static void
set_memory(gsize bytes)
{
  most_bytes = bytes ? bytes : MOST_BYTES;
}

const Standin *
standin_get(void)
{
  static const Standin control = {reset, set_fault, calls, failed, count, take_reports, take_kernels, set_memory};

  return &control;
}

/* Reads STANDIN_ORDER (lazy or random) and STANDIN_SEED from the environment, for programs that only preload the
 * library. */
__attribute__((constructor)) static void
take_order(void)
{
  const char *name = g_getenv("STANDIN_ORDER"), *seed = g_getenv("STANDIN_SEED");

  standin_set_order(g_strcmp0(name, "lazy") == 0     ? STANDIN_LAZY
                    : g_strcmp0(name, "random") == 0 ? STANDIN_RANDOM
                                                     : STANDIN_AT_ONCE,
                    seed ? (guint32)atoi(seed) : 1);
}

/* Prints the reports that are left at exit, for programs that only preload the library. */
__attribute__((destructor)) static void
say_reports(void)
{
  char *text = standin_take_reports(TRUE);

  if (*text) {
    fprintf(stderr, "stand-in driver:\n%s", text);
    fflush(NULL);
    _exit(REPORTED);
  }
  g_free(text);
}
