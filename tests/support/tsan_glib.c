/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tells ThreadSanitizer the order between threads that GLib and GStreamer create. Packages contain these libraries
 * without its instrumentation, GLib's locks are futexes, and references are counted with GLib's own atomics. Without
 * this file, ThreadSanitizer would report races on memory that is handed over under them. A test program with this file
 * calls its functions instead of the libraries'. Each one calls the library's function and reports the order that it
 * creates, and no other:
 *
 *   a lock         what was done before unlocking is before what is done after locking
 *   a condition    unlocks its lock, and locks it again
 *   a pool, queue  what was done before a push is before what is done with that item; a pool is idle after a wait
 *   once           what was done to initialise is before what is done by those who find it initialised
 *   a reference    what was done before dropping one is before what is done when the last one is dropped
 *
 * Readers of a GRWLock are ordered like its writers; this project uses none. Calls within the libraries are not seen.
 * Only built with -Db_sanitize=thread. tests/tsan.sh runs it, and tsan.supp lists what else is ignored.
 */
#include <dlfcn.h>
#include <gst/gst.h>
#include <sanitizer/tsan_interface.h>

/* The library's function, found once. Two threads that search at the same time find the same function. */
#define NEXT(name) ((__typeof__(&name))find_next(&next_##name, #name))

#define DECLARE_NEXT(name) static void *next_##name

static void *
find_next(void **next, const char *name)
{
  void *found = __atomic_load_n(next, __ATOMIC_RELAXED);

  if (!found) {
    found = dlsym(RTLD_NEXT, name);
    __atomic_store_n(next, found, __ATOMIC_RELAXED);
  }
  return found;
}

#define LOCK(name, Type)                                                                                               \
  DECLARE_NEXT(name);                                                                                                  \
  void(name)(Type * lock)                                                                                              \
  {                                                                                                                    \
    NEXT(name)(lock);                                                                                                  \
    __tsan_acquire(lock);                                                                                              \
  }

#define TRYLOCK(name, Type)                                                                                            \
  DECLARE_NEXT(name);                                                                                                  \
  gboolean(name)(Type * lock)                                                                                          \
  {                                                                                                                    \
    gboolean taken = NEXT(name)(lock);                                                                                 \
                                                                                                                       \
    if (taken)                                                                                                         \
      __tsan_acquire(lock);                                                                                            \
    return taken;                                                                                                      \
  }

#define UNLOCK(name, Type)                                                                                             \
  DECLARE_NEXT(name);                                                                                                  \
  void(name)(Type * lock)                                                                                              \
  {                                                                                                                    \
    __tsan_release(lock);                                                                                              \
    NEXT(name)(lock);                                                                                                  \
  }

LOCK(g_mutex_lock, GMutex)
TRYLOCK(g_mutex_trylock, GMutex)
UNLOCK(g_mutex_unlock, GMutex)
LOCK(g_rec_mutex_lock, GRecMutex)
TRYLOCK(g_rec_mutex_trylock, GRecMutex)
UNLOCK(g_rec_mutex_unlock, GRecMutex)
LOCK(g_rw_lock_reader_lock, GRWLock)
TRYLOCK(g_rw_lock_reader_trylock, GRWLock)
UNLOCK(g_rw_lock_reader_unlock, GRWLock)
LOCK(g_rw_lock_writer_lock, GRWLock)
TRYLOCK(g_rw_lock_writer_trylock, GRWLock)
UNLOCK(g_rw_lock_writer_unlock, GRWLock)

DECLARE_NEXT(g_cond_wait);

void
g_cond_wait(GCond *cond, GMutex *mutex)
{
  __tsan_release(mutex);
  NEXT(g_cond_wait)(cond, mutex);
  __tsan_acquire(mutex);
}

DECLARE_NEXT(g_cond_wait_until);

gboolean
g_cond_wait_until(GCond *cond, GMutex *mutex, gint64 end_time)
{
  gboolean signalled;

  __tsan_release(mutex);
  signalled = NEXT(g_cond_wait_until)(cond, mutex, end_time);
  __tsan_acquire(mutex);
  return signalled;
}

/* Exists as long as the program, because a pool may be freed while its threads end. */
typedef struct {
  GFunc function;
  gpointer data;
} PoolFunction;

static void
run_in_pool(gpointer item, gpointer data)
{
  PoolFunction *inner = data;

  __tsan_acquire(inner);
  __tsan_acquire(item);
  inner->function(item, inner->data);
  __tsan_release(inner);
}

DECLARE_NEXT(g_thread_pool_new);

GThreadPool *
g_thread_pool_new(GFunc function, gpointer data, gint most, gboolean exclusive, GError **error)
{
  PoolFunction *inner = g_new(PoolFunction, 1);

  *inner = (PoolFunction){function, data};
  return NEXT(g_thread_pool_new)(run_in_pool, inner, most, exclusive, error);
}

DECLARE_NEXT(g_thread_pool_push);

gboolean
g_thread_pool_push(GThreadPool *pool, gpointer item, GError **error)
{
  __tsan_release(item);
  return NEXT(g_thread_pool_push)(pool, item, error);
}

DECLARE_NEXT(g_thread_pool_free);

void
g_thread_pool_free(GThreadPool *pool, gboolean immediate, gboolean wait)
{
  gpointer inner = pool->user_data;

  NEXT(g_thread_pool_free)(pool, immediate, wait);
  if (wait)
    __tsan_acquire(inner);
}

DECLARE_NEXT(g_async_queue_push);

void
g_async_queue_push(GAsyncQueue *queue, gpointer item)
{
  __tsan_release(item);
  NEXT(g_async_queue_push)(queue, item);
}

static gpointer
popped(gpointer item)
{
  if (item)
    __tsan_acquire(item);
  return item;
}

DECLARE_NEXT(g_async_queue_pop);

gpointer
g_async_queue_pop(GAsyncQueue *queue)
{
  return popped(NEXT(g_async_queue_pop)(queue));
}

DECLARE_NEXT(g_async_queue_try_pop);

gpointer
g_async_queue_try_pop(GAsyncQueue *queue)
{
  return popped(NEXT(g_async_queue_try_pop)(queue));
}

DECLARE_NEXT(g_async_queue_timeout_pop);

gpointer
g_async_queue_timeout_pop(GAsyncQueue *queue, guint64 timeout)
{
  return popped(NEXT(g_async_queue_timeout_pop)(queue, timeout));
}

DECLARE_NEXT(g_once_init_enter);

gboolean(g_once_init_enter)(volatile void *location)
{
  gboolean first = NEXT(g_once_init_enter)(location);

  if (!first)
    __tsan_acquire((void *)location);
  return first;
}

DECLARE_NEXT(g_once_init_leave);

void(g_once_init_leave)(volatile void *location, gsize result)
{
  __tsan_release((void *)location);
  NEXT(g_once_init_leave)(location, result);
}

/* Marks the drop of a reference: it reads and writes the count in one step, so the last drop is after all others. */
static void
drop(gpointer counted)
{
  __tsan_release(counted);
  __tsan_acquire(counted);
}

DECLARE_NEXT(g_atomic_ref_count_dec);

gboolean(g_atomic_ref_count_dec)(gatomicrefcount *count)
{
  drop((gpointer)count);
  return NEXT(g_atomic_ref_count_dec)(count);
}

DECLARE_NEXT(g_object_unref);

void
g_object_unref(gpointer object)
{
  drop(object);
  NEXT(g_object_unref)(object);
}

DECLARE_NEXT(gst_object_unref);

void
gst_object_unref(gpointer object)
{
  drop(object);
  NEXT(gst_object_unref)(object);
}

DECLARE_NEXT(gst_mini_object_unref);

void
gst_mini_object_unref(GstMiniObject *object)
{
  drop(object);
  NEXT(gst_mini_object_unref)(object);
}

DECLARE_NEXT(gst_buffer_pool_acquire_buffer);

/* Acquires what was done by the thread that dropped the buffer's last reference. */
GstFlowReturn
gst_buffer_pool_acquire_buffer(GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *params)
{
  GstFlowReturn flow = NEXT(gst_buffer_pool_acquire_buffer)(pool, buffer, params);

  if (flow == GST_FLOW_OK)
    __tsan_acquire(*buffer);
  return flow;
}
