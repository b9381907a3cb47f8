/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "device.h"

#include <stdlib.h>
#include <string.h>

/* An access of an op to the bytes from `first` up to `end`. */
typedef struct {
  guint64 first, end;
  int slot; /* of the op's stream; -1: the host */
  guint64 number;
  gboolean write;
} Access;

#define GUARD 64 /* bytes after an allocation */

static GPtrArray *allocations; /* by address */
static GString *reports;

void
standin_report(const char *format, ...)
{
  va_list args;

  if (!reports)
    reports = g_string_new(NULL);
  if (reports->len > 20000)
    return;
  va_start(args, format);
  g_string_append_vprintf(reports, format, args);
  va_end(args);
  g_string_append_c(reports, '\n');
}

char *
standin_take_reports(gboolean forget)
{
  char *text = g_strdup(reports ? reports->str : "");

  if (forget && reports)
    g_string_truncate(reports, 0);
  return text;
}

/* Returns the index of the last allocation that begins at or before the address, or -1. */
static int
index_of(guint64 address)
{
  int low = 0, high = allocations ? (int)allocations->len : 0;

  while (low < high) {
    int middle = (low + high) / 2;

    if (((Allocation *)g_ptr_array_index(allocations, middle))->address <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low - 1;
}

Allocation *
standin_find(guint64 address)
{
  int i = index_of(address);
  Allocation *a = i < 0 ? NULL : g_ptr_array_index(allocations, i);

  return a && address - a->address < a->size ? a : NULL;
}

Allocation *
standin_alloc(Context *context, gsize size, gboolean pinned)
{
  Allocation *a;
  guint8 *memory;

  if (posix_memalign((void **)&memory, 512, size + GUARD) != 0)
    return NULL;
  memset(memory, 0xa5, size + GUARD); /* so that samples that were never written are not black */
  if (!allocations)
    allocations = g_ptr_array_new();
  a = g_new0(Allocation, 1);
  a->host = memory;
  a->address = (guint64)(guintptr)memory + (pinned ? 0 : DEVICE_BIAS);
  a->size = size;
  a->context = context;
  a->pinned = pinned;
  a->accesses = g_array_new(FALSE, FALSE, sizeof(Access));
  g_ptr_array_insert(allocations, index_of(a->address) + 1, a);
  return a;
}

/* Returns TRUE if the access is over before the op begins. op: NULL: before what the host does now. */
static gboolean
comes_before(const Access *access, const Op *op)
{
  const Clock *clock = op ? &op->clock : standin_host_clock();

  return access->slot < 0 || clock->at[access->slot] >= access->number;
}

void
standin_free_allocation(Allocation *a)
{
  standin_run_all(); /* queued work uses memory too */
  for (guint i = 0; i < a->accesses->len; i++)
    if (!comes_before(&g_array_index(a->accesses, Access, i), NULL)) {
      standin_report("%" G_GSIZE_FORMAT " bytes are freed while work on a stream may use them", a->size);
      standin_finish_all();
      break;
    }
  g_ptr_array_remove(allocations, a);
  g_array_unref(a->accesses);
  g_free(a->written);
  free(a->host);
  g_free(a);
}

gboolean
standin_free(guint64 address, gboolean pinned)
{
  Allocation *a = standin_find(address);

  if (!a || a->address != address || a->pinned != pinned || a->is_part)
    return FALSE;
  standin_free_allocation(a);
  return TRUE;
}

void
standin_free_context(Context *context)
{
  for (guint i = allocations ? allocations->len : 0; i-- > 0;)
    if (((Allocation *)g_ptr_array_index(allocations, i))->context == context)
      standin_free_allocation(g_ptr_array_index(allocations, i));
}

void
standin_count_memory(StandinCount *count)
{
  for (guint i = 0; allocations && i < allocations->len; i++) {
    const Allocation *a = g_ptr_array_index(allocations, i);

    if (a->is_part)
      continue;
    *(a->pinned ? &count->pinned : &count->allocations) += 1;
    count->bytes += a->pinned ? 0 : a->size;
  }
}

/* ---- accesses ---- */

static void
check_order(Allocation *a, const Access *new, const Op *op, const char *what)
{
  for (guint i = a->accesses->len; i-- > 0;) {
    const Access *old = &g_array_index(a->accesses, Access, i);
    gboolean meets = old->first < new->end &&new->first < old->end && (old->write || new->write);

    if (meets && !comes_before(old, op)) {
      standin_report("%s %s bytes %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT " of %" G_GSIZE_FORMAT
                     " that other work on a stream %s, with no event between them",
                     what, new->write ? "writes" : "reads", new->first, new->end, a->size,
                     old->write ? "writes" : "reads");
      return;
    }
    /* Later accesses need not be compared with one that this write covers, or that the host knows to be over. */
    if (comes_before(old, NULL) || (new->write &&new->first <= old->first && old->end <= new->end))
      g_array_remove_index_fast(a->accesses, i);
  }
}

static void
note_access(Allocation *a, const Op *op, guint64 address, gsize size, gboolean write, const char *what)
{
  Access new = {.first = address - a->address,
                .end = address - a->address + size,
                .slot = op ? standin_stream_slot(op->stream) : -1,
                .number = op ? op->number : 0,
                .write = write};

  check_order(a, &new, op, what);
  if (op)
    g_array_append_val(a->accesses, new);
}

guint8 *
standin_access(const Op *op, guint64 address, gsize size, gboolean write, const char *what)
{
  Allocation *a = standin_find(address);

  if (size == 0)
    return NULL;
  if (!a || size > a->size - (address - a->address)) {
    standin_report("%s %s %" G_GSIZE_FORMAT " bytes that are not all of one allocation%s", what,
                   write ? "writes" : "reads", size, a ? ": it ends before" : "");
    return NULL;
  }
  note_access(a, op, address, size, write, what);
  return a->host + (address - a->address);
}

guint8 *
standin_access_rows(const Op *op, guint64 address, gint64 stride, gsize row, gsize rows, gboolean write,
                    const char *what)
{
  if (row == 0 || rows == 0)
    return NULL;
  return standin_access(op, address, (rows - 1) * (gsize)stride + row, write, what);
}

guint8 *
standin_written(guint64 address)
{
  Allocation *a = standin_find(address);

  if (!a)
    return NULL;
  if (!a->written)
    a->written = g_malloc0(a->size);
  return a->written + (address - a->address);
}

void
standin_forget_written(void)
{
  for (guint i = 0; allocations && i < allocations->len; i++)
    g_clear_pointer(&((Allocation *)g_ptr_array_index(allocations, i))->written, g_free);
}

void
standin_forget_accesses(void)
{
  for (guint i = 0; allocations && i < allocations->len; i++)
    g_array_set_size(((Allocation *)g_ptr_array_index(allocations, i))->accesses, 0);
}
