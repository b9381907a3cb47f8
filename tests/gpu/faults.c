/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the element does if a call of the driver fails, on the stand-in driver (standin/standin.h). A job is a scenario
 * with one way of failing. Run 1 fails the first call that the way counts, run 2 the second, and so on until no call is
 * left. A run plays a short stream with new caps and a flush, stops the element, and starts it again without failures.
 * Checked each time: the driver reports nothing; nothing is left over; no frame is lost, doubled or wrong without an
 * error; errors name the call and a remedy; the CPU takes over if it may; the restart works. faults.py runs each job in
 * a process of its own, and detects crashes and hangs.
 *
 * faults DRIVER list                    prints for each job its name, and the default STEP and EXTENT
 * faults DRIVER JOB FROM STEP EXTENT    does runs FROM, FROM + STEP, ... of a job. Prints a line before each run, and
 *                                       one for each failure. EXTENT: all, or first for only the runs in which a call
 *                                       fails up to the first frame
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/faults_stream.h"

#define RESTARTED 100 /* number of the first frame after the restart */
#define MAX_RUNS 5000
#define MOST_LEFT 30    /* contexts and streams of lost sessions in one process */
#define GO_ON 3         /* exit status: the job goes on in another process */
#define STEP_FOR_GOOD 5 /* has no factor in common with 2, 3 and 4, the periods in which runs vary */

static const Scenario scenarios[] = {
    {"gaussian", "NV12", 48, 32, {"radius=2"}},
    {"box", "RGBA", 40, 24, {"filter=box", "radius=3", "algorithm=separable"}},
    {"dense", "GRAY8", 40, 32, {"filter=custom", "kernel=<<1,2,1>,<2,-5,1>,<0,1,3>>"}},
    {"staged", "YUY2", 40, 32, {"radius=1"}},
    {"texture", "I420", 40, 32, {"radius=2", "algorithm=texture"}, .gpu_only = TRUE},
    {"regions", "NV12", 48, 32, {"radius=2", "roi-source=meta", "roi-feather=2"}, .regions = TRUE},
    {"time", "NV12", 48, 32, {"radius=1", "temporal-radius=1"}},
    {"time-cuts", "NV12", 48, 32, {"radius=1", "temporal-radius=1", "scene-change-threshold=0.2"}},
    {"flights", "NV12", 48, 32, {"radius=2", "frames-in-flight=3"}},
    {"growing", "NV12", 48, 32, {"radius=1", "frames-in-flight=3"}, .grow = "radius=15"},
    {"uploads", "NV12", 48, 32, {"radius=2"}, .out_device = TRUE},
    {"downloads", "NV12", 48, 32, {"radius=2"}, .in_device = TRUE},
    {"device", "NV12", 48, 32, {"radius=2"}, .in_device = TRUE, .out_device = TRUE},
    {"in-place",
     "NV12",
     96,
     64,
     {"radius=2", "roi-source=meta"},
     .in_device = TRUE,
     .out_device = TRUE,
     .regions = TRUE},
    {"device-time",
     "NV12",
     48,
     32,
     {"temporal-radius=1", "scene-change-threshold=0.2"},
     .in_device = TRUE,
     .out_device = TRUE},
};

/* The ways of failing. Calls of GStreamer's CUDA library have ways of their own: errors need not name such calls. */
static const struct {
  const char *name;
  StandinCalls calls;
  CUresult result;
  gboolean for_good;
  const char *library, *entry;
} ways[] = {
    {"no-memory-once", STANDIN_CALLS_ALLOC, CUDA_ERROR_OUT_OF_MEMORY, FALSE, "!libgstcuda-"},
    {"no-memory", STANDIN_CALLS_ALLOC, CUDA_ERROR_OUT_OF_MEMORY, TRUE, "!libgstcuda-"},
    {"unknown-once", STANDIN_CALLS_ALL, CUDA_ERROR_UNKNOWN, FALSE, "!libgstcuda-"},
    {"launch-failed", STANDIN_CALLS_ALL, CUDA_ERROR_LAUNCH_FAILED, TRUE, "!libgstcuda-"},
    {"no-wait-once", STANDIN_CALLS_ALL, CUDA_ERROR_DEVICE_UNAVAILABLE, FALSE, "!libgstcuda-", "cuStreamSynchronize"},
    {"no-wait", STANDIN_CALLS_ALL, CUDA_ERROR_DEVICE_UNAVAILABLE, TRUE, "!libgstcuda-", "Synchronize"},
    {"no-context-once", STANDIN_CALLS_PUSH, CUDA_ERROR_UNKNOWN, FALSE, "!libgstcuda-"},
    {"no-context", STANDIN_CALLS_PUSH, CUDA_ERROR_UNKNOWN, TRUE, "!libgstcuda-"},
#if !GST_CHECK_VERSION(1, 24, 0) /* from 1.24 on, it passes on a frame whose wait has failed */
    {"gstreamer-once", STANDIN_CALLS_ALL, CUDA_ERROR_UNKNOWN, FALSE, "libgstcuda-"},
#endif
    {"gstreamer-no-memory", STANDIN_CALLS_ALLOC, CUDA_ERROR_OUT_OF_MEMORY, TRUE, "libgstcuda-"},
};

static const char *const backends[] = {"cuda", "auto"};

/* ---- what is expected ---- */

/* Returns TRUE if no byte differs by more than one, as engines may. */
static gboolean
is_near(GBytes *a, GBytes *b)
{
  gsize size, other;
  const guint8 *x = g_bytes_get_data(a, &size), *y = g_bytes_get_data(b, &other);

  if (size != other)
    return FALSE;
  for (gsize i = 0; i < size; i++)
    if (ABS(x[i] - y[i]) > 1)
      return FALSE;
  return TRUE;
}

/* Returns TRUE if the frame may still wait in the element at the flush, which then drops it. */
static gboolean
may_be_dropped(const Scenario *scenario, guint i)
{
  return i < FLUSH && i + 3 >= FLUSH && scenario->set[1];
}

/* Returns TRUE if the filter runs over time and a neighbour of the frame was lost, which changes the frame. */
static gboolean
depends_on_lost(const Stream *s, guint number)
{
  return strstr(s->scenario->name, "time") && (!g_hash_table_contains(s->frames, GSIZE_TO_POINTER(number - 1)) ||
                                               !g_hash_table_contains(s->frames, GSIZE_TO_POINTER(number + 1)));
}

static void
check_frames(const Stream *s, Frames *expected, guint first, gboolean complete)
{
  for (guint i = 0; i < FRAMES; i++) {
    GBytes *got = g_hash_table_lookup(s->frames, GSIZE_TO_POINTER(first + i));
    GBytes *wanted = g_hash_table_lookup(expected, GSIZE_TO_POINTER(first + i));

    if (got && wanted && !is_near(got, wanted) && (complete || !depends_on_lost(s, first + i)))
      wrong("frame %u is not what it should be", first + i);
    if (!got && wanted && complete && !may_be_dropped(s->scenario, i))
      wrong("frame %u is lost, without an error", first + i);
  }
}

/* Returns an entry's name without the version that cuda.h adds to it. Free with g_free. */
static char *
plain_name(const char *entry)
{
  const char *version = strstr(entry, "_v");

  return g_strndup(entry, version ? (gsize)(version - entry) : strlen(entry));
}

static void
check_message(const Stream *s, gboolean ours, gboolean for_good)
{
  g_autofree char *name = NULL;

  if (!s->error || !driver->failed() || !ours)
    return;
  name = plain_name(driver->failed());
  /* If several calls fail, the first one may have had no consequence. */
  if (!for_good && !strstr(s->error, name))
    wrong("the error does not name the call: %s", s->error);
  if (!strstr(s->error, " gave CUDA_ERROR_") || !strchr(s->error, ';'))
    wrong("the error has no call or no remedy: %s", s->error);
}

/* Limit of the wait for threads to end. The pool of pads' tasks keeps an idle thread for half a second, and then GLib
 * keeps it. */
#define IDLE_THREAD_MS 3000

/* Returns the number of the process's threads. names: their names are appended to it; may be NULL. */
static guint
count_threads(GString *names)
{
  const char *thread;
  GDir *dir;
  guint n = 0;

  g_thread_pool_stop_unused_threads();
  dir = g_dir_open("/proc/self/task", 0, NULL);
  while (dir && (thread = g_dir_read_name(dir))) {
    g_autofree char *path = g_build_filename("/proc/self/task", thread, "comm", NULL), *name = NULL;

    if (names && g_file_get_contents(path, &name, NULL, NULL))
      g_string_append_printf(names, " %s", g_strchomp(name));
    n++;
  }
  if (dir)
    g_dir_close(dir);
  return n;
}

static StandinCount before;
static guint threads_before;

/* Checks that a stop leaves nothing over. lost: contexts could not be pushed or waited for, so that their objects may
 * remain. */
static void
check_left(gboolean lost)
{
  StandinCount now = driver->count();
  guint threads = count_threads(NULL);

  if (now.entered != before.entered)
    wrong("%u contexts are left current", now.entered);
  for (int i = 0; threads > threads_before && i < IDLE_THREAD_MS; i++) {
    g_usleep(1000);
    threads = count_threads(NULL);
  }
  if (threads > threads_before) {
    GString *names = g_string_new("of");

    count_threads(names);
    wrong("%u threads are left, %s", threads - threads_before, names->str);
    g_string_free(names, TRUE);
  }
  if (!lost && (now.modules > before.modules || now.streams > before.streams || now.events > before.events ||
                now.textures > before.textures || now.allocations > before.allocations || now.pinned > before.pinned))
    wrong("left over: %u modules, %u streams, %u events, %u textures, %u allocations, %u of the host",
          now.modules - before.modules, now.streams - before.streams, now.events - before.events,
          now.textures - before.textures, now.allocations - before.allocations, now.pinned - before.pinned);
}

static void
check_reports(void)
{
  g_autofree char *reports = driver->reports();

  if (*reports)
    wrong("the driver reports: %s", reports);
}

/* ---- jobs ---- */

typedef struct {
  const Scenario *scenario;
  int way;
  const char *backend;
} Job;

static void
check_fall_back(const Stream *s, const Job *job, guint64 calls_to_first)
{
  gboolean host = !job->scenario->in_device && !job->scenario->out_device;

  if (s->n_errors > 0 && g_str_equal(job->backend, "auto") && host && run <= calls_to_first &&
      !g_hash_table_contains(s->frames, GSIZE_TO_POINTER(0)))
    wrong("no frame was done, and the CPU did not take over: %s", s->error);
}

/* Does a run. Returns FALSE if there were too few calls for one of them to fail. */
static gboolean
run_once(const Job *job, Frames *expected, guint64 calls_to_first)
{
  StandinFault fault = {.calls = ways[job->way].calls,
                        .n = run,
                        .result = ways[job->way].result,
                        .for_good = ways[job->way].for_good,
                        .library = ways[job->way].library,
                        .entry = ways[job->way].entry};
  gboolean ours = fault.library[0] == '!', lost = fault.calls != STANDIN_CALLS_ALLOC && fault.for_good, reached;
  Stream s;

  driver->reset((StandinOrder)(run % 3), (guint32)run);
  stream_open(&s, job->scenario, job->backend);
  driver->set_fault(&fault);
  if (stream_start(&s))
    stream_play(&s, 0, run % 4 != 0);
  read_bus(&s);
  check_frames(&s, expected, 0, s.n_errors == 0 && ours && !s.refused);
  stream_stop(&s);
  reached = driver->failed() != NULL;
  check_message(&s, ours, fault.for_good);
  check_fall_back(&s, job, calls_to_first);
  check_left(lost);
  check_reports();

  fault.n = 0;
  driver->set_fault(&fault);
  s.n_errors = 0;
  g_clear_pointer(&s.error, g_free);
  if (stream_start(&s))
    stream_play(&s, RESTARTED, FALSE);
  if (s.n_errors > 0)
    wrong("after the restart: %s", s.error);
  check_frames(&s, expected, RESTARTED, TRUE);
  stream_stop(&s);
  check_left(lost);
  stream_close(&s);
  check_reports();
  return reached;
}

/* Returns the CPU's output of the same streams. */
static Frames *
expect_frames(const Scenario *scenario)
{
  Frames *frames;
  Stream s;

  stream_open(&s, scenario, "cpu");
  for (int part = 0; part < 2; part++) {
    if (!stream_start(&s))
      wrong("the CPU does not start");
    stream_play(&s, part * RESTARTED, FALSE);
    stream_stop(&s);
  }
  if (s.error)
    wrong("the CPU: %s", s.error);
  frames = g_hash_table_ref(s.frames);
  stream_close(&s);
  return frames;
}

/* Plays the stream without failures, in each order. Returns the least number of calls up to the first frame. */
static guint64
run_well(const Job *job, Frames *expected)
{
  guint64 calls = G_MAXUINT64;

  for (int order = STANDIN_AT_ONCE; order <= STANDIN_RANDOM; order++) {
    StandinFault fault = {
        .calls = ways[job->way].calls, .library = ways[job->way].library, .entry = ways[job->way].entry};
    Stream s;

    driver->reset(order, 7);
    stream_open(&s, job->scenario, job->backend);
    driver->set_fault(&fault);
    if (!stream_start(&s))
      wrong("the GPU does not start");
    stream_play(&s, 0, FALSE);
    if (s.error)
      wrong("nothing failed: %s", s.error);
    if (s.n_infos > 0)
      wrong("nothing failed, and it ran on the CPU");
    check_frames(&s, expected, 0, TRUE);
    stream_stop(&s);
    calls = MIN(calls, s.calls_to_first);
    stream_close(&s);
    before = driver->count();
    threads_before = count_threads(NULL);
    check_reports();
  }
  return calls;
}

/* Returns TRUE if contexts and streams of lost sessions may soon exceed what the stand-in driver can have. */
static gboolean
is_full(void)
{
  StandinCount now = driver->count();

  return now.contexts + now.streams > before.contexts + before.streams + MOST_LEFT;
}

static void
run_job(const Job *job, guint64 from, guint64 step, gboolean first)
{
  Frames *expected = expect_frames(job->scenario);
  guint64 calls_to_first = run_well(job, expected);

  for (run = from; run < MAX_RUNS && !(first && run > calls_to_first); run += step) {
    printf("run %" G_GUINT64_FORMAT "\n", run);
    fflush(stdout);
    if (!run_once(job, expected, calls_to_first))
      break;
    if (is_full())
      exit(GO_ON);
  }
  g_hash_table_unref(expected);
}

/* The driver does not start: the CPU takes over, and the next start tries the driver again. Nothing in the process may
 * have opened the driver before. */
static void
run_start(void)
{
  const StandinFault no_start = {STANDIN_CALLS_ALL, 1, CUDA_ERROR_UNKNOWN, TRUE, "!libgstcuda-"}, none = {0};
  Frames *expected;
  Stream s;

  driver->set_fault(&no_start);
  expected = expect_frames(&scenarios[0]);
  stream_open(&s, &scenarios[0], "auto");
  for (int part = 0; part < 2; part++) {
    s.n_infos = 0;
    if (!stream_start(&s))
      wrong("start %d fails", part + 1);
    stream_play(&s, part * RESTARTED, FALSE);
    stream_stop(&s);
    check_frames(&s, expected, part * RESTARTED, TRUE);
    if (s.error || s.n_infos != (part == 0))
      wrong("start %d runs on the %s: %s", part + 1, s.n_infos ? "CPU" : "GPU", s.error ? s.error : "no error");
    driver->set_fault(&none);
  }
  stream_close(&s);
  check_reports();
  g_hash_table_unref(expected);
}

/* Output buffers in CUDA memory cannot be allocated, and downstream also accepts system memory. */
static void
run_output(void)
{
  static const Scenario either = {"output",           "NV12",         48, 32, {"radius=2"}, .in_device = TRUE,
                                  .out_device = TRUE, .out_any = TRUE};
  const StandinFault no_memory = {STANDIN_CALLS_ALLOC, 1, CUDA_ERROR_OUT_OF_MEMORY, TRUE, "libgstcuda-"}, none = {0};
  Frames *expected = expect_frames(&either);
  Stream s;

  for (int i = 0; i < 2; i++) {
    GstBuffer *buffer;

    driver->set_fault(&none);
    stream_open(&s, &either, backends[i]);
    stream_start(&s);
    push_caps(&s, 0);
    buffer = make_buffer(&s, 0);
    driver->set_fault(&no_memory);
    if (gst_pad_push(s.src, buffer) != GST_FLOW_OK)
      wrong("%s: the first frame is refused", backends[i]);
    read_bus(&s);
    if (s.error || s.n_infos != 1 || !g_hash_table_contains(s.frames, GSIZE_TO_POINTER(0)))
      wrong("%s: no frame in system memory, %u messages, %s", backends[i], s.n_infos, s.error ? s.error : "no error");
    check_frames(&s, expected, 0, FALSE);
    stream_stop(&s);
    stream_close(&s);
  }
  check_reports();
  g_hash_table_unref(expected);
}

static char *
name_of(const Job *job)
{
  return g_strdup_printf("%s,%s,%s", job->scenario->name, ways[job->way].name, job->backend);
}

/* Calls func with each job. */
static void
each_job(void (*func)(const Job *job, gpointer data), gpointer data)
{
  for (gsize i = 0; i < G_N_ELEMENTS(scenarios); i++)
    for (gsize way = 0; way < G_N_ELEMENTS(ways); way++)
      for (gsize b = 0; b < (scenarios[i].gpu_only ? 1 : G_N_ELEMENTS(backends)); b++)
        func(&(Job){&scenarios[i], (int)way, backends[b]}, data);
}

static void
print_job(const Job *job, gpointer unused)
{
  g_autofree char *name = name_of(job);

  printf("%s %d %s\n", name, ways[job->way].for_good ? STEP_FOR_GOOD : 1,
         g_str_equal(job->backend, "auto") ? "first" : "all");
}

static void
run_if_named(const Job *job, gpointer argv)
{
  g_autofree char *name = name_of(job);

  if (!g_str_equal(name, ((char **)argv)[2]))
    return;
  job_name = ((char **)argv)[2];
  run_job(job, g_ascii_strtoull(((char **)argv)[3], NULL, 10), g_ascii_strtoull(((char **)argv)[4], NULL, 10),
          g_str_equal(((char **)argv)[5], "first"));
}

int
main(int argc, char **argv)
{
  if (argc == 3 && g_str_equal(argv[2], "list")) {
    printf("start 1 all\noutput 1 all\n");
    each_job(print_job, NULL);
    return 0;
  }
  if (argc != 6)
    return 2;
  driver = standin_open(argv[1]);
  if (!driver)
    return 1;
  gst_init(NULL, NULL);
  if (g_str_equal(argv[2], "start")) {
    job_name = "start";
    printf("run 1\n");
    run_start();
  } else if (g_str_equal(argv[2], "output")) {
    job_name = "output";
    printf("run 1\n");
    run_output();
  }
  each_job(run_if_named, argv);
  if (!job_name)
    printf("there is no job %s\n", argv[2]);
  return job_name && n_failures == 0 ? 0 : 1;
}
