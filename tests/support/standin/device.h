/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Inside the stand-in driver: its sources and what they share.
 *
 *   entries.c   libcuda's entries: arguments, faults, counting
 *   memory.c    allocations, and who accesses them in which order
 *   streams.c   what is started on streams, and when it is done
 *   kernels.c   the kernels of a launch: which there are, by the engine's table of kinds
 *   blocks.c    block jobs
 *   tiles.c     tile jobs
 *   samples.c   samples of a job's window, sums of taps, and how they are stored
 *
 * All functions are called with the driver's lock held.
 */
#pragma once

#include "standin.h"

G_BEGIN_DECLS

#define STANDIN_STREAMS 64 /* at a time, the default ones included */

/* A vector clock: for each stream, the number of the last op that is known to be done before an event. */
typedef struct {
  guint64 at[STANDIN_STREAMS];
} Clock;

typedef struct Context Context;
typedef struct Stream Stream;
typedef struct Op Op;

/* ---- memory.c ---- */

/* A device address is the address of the host's memory for it plus this. No program can have memory there. */
#define DEVICE_BIAS ((guint64)1 << 60)

typedef struct {
  guint64 address; /* as the caller knows it: a device address, or the host's if pinned */
  gsize size;
  guint8 *host; /* where the bytes are */
  Context *context;
  gboolean pinned;  /* page-locked memory of the host */
  gboolean is_part; /* of a module, and freed with it */
  gboolean is_left; /* it counted readers, and later another allocation did */
  GArray *accesses; /* Access: those with which later ones must be in order */
  guint8 *written;  /* how often the present launch wrote each byte; NULL: not yet */
} Allocation;

Allocation *standin_alloc(Context *context, gsize size, gboolean pinned);
/* Returns FALSE if no allocation of that kind begins there. */
gboolean standin_free(guint64 address, gboolean pinned);
void standin_free_allocation(Allocation *allocation);
void standin_free_context(Context *context);
Allocation *standin_find(guint64 address);
void standin_count_memory(StandinCount *count);

/* Returns the host's pointer to bytes that an op reads or writes. op: NULL: the host itself accesses them. Returns NULL
 * and reports it if the bytes are not all in one allocation. Reports accesses that are not in order with others. */
guint8 *standin_access(const Op *op, guint64 address, gsize size, gboolean write, const char *what);
/* Like standin_access, for rows of `row` bytes. */
guint8 *standin_access_rows(const Op *op, guint64 address, gint64 stride, gsize row, gsize rows, gboolean write,
                            const char *what);
/* Returns the counts of writes for the bytes from the address on, which the caller increments. All are 0 after
 * standin_forget_written. Returns NULL if no allocation has the address. */
guint8 *standin_written(guint64 address);
void standin_forget_written(void);
void standin_forget_accesses(void);

/* Returns all reports so far. Free with g_free. */
char *standin_take_reports(gboolean forget);
void standin_report(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* ---- streams.c ---- */

typedef void (*OpFunc)(const Op *op, gpointer data);

struct Op {
  int refs;
  Stream *stream;
  guint64 number; /* on its stream, from 1 */
  Clock clock;    /* the ops that are done before it, and itself */
  OpFunc run;     /* NULL: does nothing */
  gpointer data;  /* freed with g_free */
  Op *after;      /* an op of another stream that must be done first; may be NULL */
  gboolean done;
  gint64 when; /* monotonic time at which it was done, in microseconds */
};

Stream *standin_stream_new(Context *context, gboolean blocking);
void standin_stream_free(Stream *stream);
void standin_streams_free_context(Context *context);
/* Returns NULL if the handle is no stream. 0, 1 and 2 are default streams. */
Stream *standin_stream(CUstream handle);
guint standin_count_streams(void);

/* Adds an op to a stream, and takes ownership of data. after: an op that must be done first; may be NULL. Returns the
 * op, which the stream owns. */
Op *standin_start(Stream *stream, OpFunc run, gpointer data, Op *after);
Op *standin_op_ref(Op *op);
void standin_op_unref(Op *op); /* NULL is allowed */
/* Runs an op and the ops it waits for. What the host does next is in order after them. */
void standin_finish_op(Op *op);
void standin_finish_stream(Stream *stream);
void standin_finish_all(void);
/* Runs all queued ops. The host does not know that they are done: its accesses are not in order with them. */
void standin_run_all(void);
/* Drops the work of all ops that are not done, as if the device were lost. */
void standin_lose_all(void);
/* Runs some ops that are ready, with STANDIN_RANDOM. Called at the start of every entry. */
void standin_some_time_passes(void);
void standin_set_order(StandinOrder order, guint32 seed);
/* Returns the ops that the host knows to be done. */
const Clock *standin_host_clock(void);
int standin_stream_slot(const Stream *stream);

/* ---- kernels.c ---- */

/* A kernel by its name; NULL where the module would have none. */
typedef struct StandinKernel StandinKernel;

typedef struct {
  guint grid[3], block[3];
  guint shared_bytes;
} LaunchSize;

/* Multiprocessors, and blocks that fit one. */
#define STANDIN_PROCESSORS 4
#define STANDIN_FITTING 12

const StandinKernel *standin_kernel_find(const char *name);
const char *standin_kernel_name(const StandinKernel *kernel);
gsize standin_kernel_args_size(const StandinKernel *kernel);
/* Runs a kernel. taps: address of its module's constant memory. */
void standin_kernel_run(const StandinKernel *kernel, const Op *op, const LaunchSize *size, const void *args,
                        guint64 taps);

/* ---- entries.c ---- */

/* Returns the compute capability as 10 * major + minor: 90, or STANDIN_CAPABILITY in the environment. */
int standin_capability(void);

/* A tensor map as the stand-in encodes it. */
typedef struct {
  guint64 address, dim[4], stride[3]; /* dim: in words of 32 bits; stride: in bytes */
  guint32 box[4];
} StandinMap;

/* Stores the device address and the size in bytes of a texture. Returns FALSE if there is no such texture. */
gboolean standin_texture(guint64 object, guint64 *address, gsize *size);

G_END_DECLS
