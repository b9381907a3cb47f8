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
 * All is called with the driver's lock.
 */
#pragma once

#include "standin.h"

G_BEGIN_DECLS

#define STANDIN_STREAMS 64 /* at a time, the default ones included */

/* When something happened, as far as it is known: of each stream the number of the last thing done before it. */
typedef struct {
  guint64 at[STANDIN_STREAMS];
} Clock;

typedef struct Context Context;
typedef struct Stream Stream;
typedef struct Op Op;

/* ---- memory.c ---- */

/* Device addresses are this far from the host's memory behind them, where no program can have any. */
#define DEVICE_BIAS ((guint64)1 << 60)

typedef struct {
  guint64 address; /* as the caller knows it */
  gsize size;
  guint8 *host; /* where the bytes are */
  Context *context;
  gboolean pinned;  /* page-locked memory of the host */
  gboolean is_part; /* of a module, with which it goes */
  gboolean is_left; /* it counted readers, and another did after it */
  GArray *accesses; /* Access: those that later ones may have to come after */
  guint8 *written;  /* by the launch that is being done: how often each byte was; NULL: not yet */
} Allocation;

Allocation *standin_alloc(Context *context, gsize size, gboolean pinned);
/* FALSE where no allocation begins there. */
gboolean standin_free(guint64 address, gboolean pinned);
void standin_free_allocation(Allocation *allocation);
void standin_free_context(Context *context);
Allocation *standin_find(guint64 address);
void standin_count_memory(StandinCount *count);

/* The host's pointer to bytes that an op, or the host (NULL), reads or writes; NULL, and a report, where they are not
 * all of one allocation. Reports accesses that nothing orders. */
guint8 *standin_access(const Op *op, guint64 address, gsize size, gboolean write, const char *what);
/* The same of rows of so many bytes. */
guint8 *standin_access_rows(const Op *op, guint64 address, gint64 stride, gsize row, gsize rows, gboolean write,
                            const char *what);
/* Counts, for an allocation that holds the address, how often each byte is written from now on; NULL for none. */
guint8 *standin_written(guint64 address);
void standin_forget_written(void);
void standin_forget_accesses(void);

/* All reports so far. g_free. */
char *standin_take_reports(gboolean forget);
void standin_report(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* ---- streams.c ---- */

typedef void (*OpFunc)(const Op *op, gpointer data);

struct Op {
  int refs;
  Stream *stream;
  guint64 number; /* on its stream, from 1 */
  Clock clock;    /* what is done before it, and itself */
  OpFunc run;     /* NULL: nothing to do but to wait */
  gpointer data;  /* g_free */
  Op *after;      /* of another stream, to be done before */
  gboolean done;
  gint64 when; /* it was done, in microseconds */
};

Stream *standin_stream_new(Context *context, gboolean blocking);
void standin_stream_free(Stream *stream);
void standin_streams_free_context(Context *context);
/* NULL where it is none. 0, 1 and 2 are the default ones. */
Stream *standin_stream(CUstream handle);
guint standin_count_streams(void);

/* Puts something on a stream. Takes data. Returns the op, which the stream owns. */
Op *standin_start(Stream *stream, OpFunc run, gpointer data, Op *after);
Op *standin_op_ref(Op *op);
void standin_op_unref(Op *op); /* NULL is allowed */
/* Does all up to an op, by whatever it waits for, and has the host know of it. */
void standin_finish_op(Op *op);
void standin_finish_stream(Stream *stream);
void standin_finish_all(void);
/* Does all queued work, without telling the host. */
void standin_run_all(void);
/* What is not done never will be: the device is lost. */
void standin_lose_all(void);
/* At any call: with STANDIN_RANDOM some of what can be done is. */
void standin_some_time_passes(void);
void standin_set_order(StandinOrder order, guint32 seed);
/* What the host knows to be done. */
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
/* taps: constant memory of the kernel's module. */
void standin_kernel_run(const StandinKernel *kernel, const Op *op, const LaunchSize *size, const void *args,
                        guint64 taps);

/* ---- entries.c ---- */

/* Ten times the major number, and the minor one: 90, or STANDIN_CAPABILITY in the environment. */
int standin_capability(void);

/* A tensor map as the stand-in encodes it. */
typedef struct {
  guint64 address, dim[4], stride[3]; /* in words of 32 bits; bytes */
  guint32 box[4];
} StandinMap;

/* Device address, size in bytes and sample size of a texture; FALSE where there is no such texture. */
gboolean standin_texture(guint64 object, guint64 *address, gsize *size);

G_END_DECLS
