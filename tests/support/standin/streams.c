/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "device.h"

struct Stream {
  Context *context;
  int slot;
  gboolean blocking; /* waits for the default stream, and it for this one */
  GQueue ops;        /* not done, or just done */
  Op *last;          /* NULL before the first */
  guint64 number;
  Clock joined; /* what events were waited for */
};

static Stream *streams[STANDIN_STREAMS]; /* by slot; 0: the default one, 1: the per-thread default */
static guint64 numbers[STANDIN_STREAMS]; /* last number of each slot, from which its next stream goes on */
static Clock host;
static StandinOrder order;
static GRand *generator;

const Clock *
standin_host_clock(void)
{
  return &host;
}

int
standin_stream_slot(const Stream *stream)
{
  return stream->slot;
}

static void
join(Clock *to, const Clock *from)
{
  for (int i = 0; i < STANDIN_STREAMS; i++)
    to->at[i] = MAX(to->at[i], from->at[i]);
}

static Stream *
stream_in_slot(Context *context, int slot, gboolean blocking)
{
  Stream *stream = g_new0(Stream, 1);

  stream->context = context;
  stream->slot = slot;
  stream->blocking = blocking;
  stream->number = numbers[slot];
  streams[slot] = stream;
  return stream;
}

Stream *
standin_stream_new(Context *context, gboolean blocking)
{
  for (int slot = 2; slot < STANDIN_STREAMS; slot++)
    if (!streams[slot])
      return stream_in_slot(context, slot, blocking);
  return NULL;
}

Stream *
standin_stream(CUstream handle)
{
  guintptr value = (guintptr)handle;

  if (value <= 2) {
    int slot = value == 2 ? 1 : 0;

    return streams[slot] ? streams[slot] : stream_in_slot(NULL, slot, TRUE);
  }
  for (int slot = 2; slot < STANDIN_STREAMS; slot++)
    if (streams[slot] && (gpointer)streams[slot] == (gpointer)handle)
      return streams[slot];
  return NULL;
}

guint
standin_count_streams(void)
{
  guint n = 0;

  for (int slot = 2; slot < STANDIN_STREAMS; slot++)
    n += streams[slot] != NULL;
  return n;
}

/* ---- ops ---- */

Op *
standin_op_ref(Op *op)
{
  if (op)
    op->refs++;
  return op;
}

void
standin_op_unref(Op *op)
{
  if (!op || --op->refs > 0)
    return;
  standin_op_unref(op->after);
  g_free(op->data);
  g_free(op);
}

/* Runs an op. The ops that it must wait for are done. */
static void
do_op(Op *op)
{
  if (op->run)
    op->run(op, op->data);
  op->done = TRUE;
  op->when = g_get_monotonic_time();
  g_clear_pointer(&op->data, g_free);
  standin_op_unref(op->after);
  op->after = NULL;
}

static void
run_until(Op *op)
{
  standin_op_ref(op); /* the queue may have the last reference */
  while (!op->done) {
    Op *head = g_queue_peek_head(&op->stream->ops);

    if (head->after)
      run_until(head->after);
    do_op(head);
    standin_op_unref(g_queue_pop_head(&head->stream->ops));
  }
  standin_op_unref(op);
}

/* Makes the op wait for other blocking streams: the default streams and all others wait for each other. */
static void
meet_default_stream(Stream *stream, Op *op)
{
  for (int slot = 0; slot < STANDIN_STREAMS && stream->blocking; slot++) {
    Stream *other = streams[slot];

    if (!other || other == stream || !other->blocking || !other->last || (stream->slot > 1 && slot > 1))
      continue;
    run_until(other->last);
    join(&op->clock, &other->last->clock);
  }
}

Op *
standin_start(Stream *stream, OpFunc run, gpointer data, Op *after)
{
  Op *op = g_new0(Op, 1);

  op->refs = 2; /* for the queue, and for stream->last */
  op->stream = stream;
  op->number = ++stream->number;
  op->run = run;
  op->data = data;
  op->after = standin_op_ref(after);
  op->clock = host;
  if (stream->last)
    join(&op->clock, &stream->last->clock);
  if (after)
    join(&op->clock, &after->clock);
  meet_default_stream(stream, op);
  op->clock.at[stream->slot] = op->number;
  g_queue_push_tail(&stream->ops, op);
  standin_op_unref(stream->last);
  stream->last = op;
  if (order == STANDIN_AT_ONCE || stream->slot <= 1)
    run_until(op);
  return op;
}

void
standin_finish_op(Op *op)
{
  run_until(op);
  join(&host, &op->clock);
}

void
standin_finish_stream(Stream *stream)
{
  if (stream->last)
    standin_finish_op(stream->last);
}

void
standin_finish_all(void)
{
  for (int slot = 0; slot < STANDIN_STREAMS; slot++) {
    host.at[slot] = MAX(host.at[slot], numbers[slot]); /* includes streams that were freed */
    if (streams[slot])
      standin_finish_stream(streams[slot]);
  }
}

void
standin_run_all(void)
{
  for (int slot = 0; slot < STANDIN_STREAMS; slot++)
    if (streams[slot] && streams[slot]->last)
      run_until(streams[slot]->last);
}

void
standin_lose_all(void)
{
  for (int slot = 0; slot < STANDIN_STREAMS; slot++)
    for (GList *l = streams[slot] ? streams[slot]->ops.head : NULL; l; l = l->next)
      ((Op *)l->data)->run = NULL;
  standin_finish_all();
}

/* ---- the end of streams ---- */

/* The driver does not wait, but frees the stream after its work. */
void
standin_stream_free(Stream *stream)
{
  if (stream->last)
    run_until(stream->last);
  standin_op_unref(stream->last);
  numbers[stream->slot] = stream->number;
  streams[stream->slot] = NULL;
  g_free(stream);
}

void
standin_streams_free_context(Context *context)
{
  for (int slot = 2; slot < STANDIN_STREAMS; slot++)
    if (streams[slot] && streams[slot]->context == context)
      standin_stream_free(streams[slot]);
}

/* ---- time ---- */

/* Returns the first op of a stream, or NULL if it still waits for another. */
static Op *
ready_op(const Stream *stream)
{
  Op *head = stream ? g_queue_peek_head((GQueue *)&stream->ops) : NULL;

  return head && (!head->after || head->after->done) ? head : NULL;
}

void
standin_some_time_passes(void)
{
  if (order != STANDIN_RANDOM || !generator)
    return;
  for (int turns = g_rand_int_range(generator, 0, 4); turns > 0; turns--) {
    int first = g_rand_int_range(generator, 0, STANDIN_STREAMS);

    for (int i = 0; i < STANDIN_STREAMS; i++) {
      Op *op = ready_op(streams[(first + i) % STANDIN_STREAMS]);

      if (op) {
        run_until(op);
        break;
      }
    }
  }
}

void
standin_set_order(StandinOrder new_order, guint32 seed)
{
  order = new_order;
  if (generator)
    g_rand_free(generator);
  generator = g_rand_new_with_seed(seed);
}
