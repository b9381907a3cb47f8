/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The parts of convolve-bench: a case of the tests' table (bench_cases.c), rotating frames and their timing
 * (bench_time.c), other libraries on the same frames (bench_rivals.c), the table and its files (bench_report.c).
 * Options and the loop over all of it are in bench.c; plot.py draws the table.
 */
#pragma once

#include "support/cases.h"

/* Returns the number of frames that contribute to an output frame. */
int bench_case_frames(const TestCase *c);

/* Returns a name such as "NV12 3840x2160 gaussian r=8". Free with g_free. */
char *bench_case_name(const TestCase *c);

/* Returns the side of the case's region, 0 for the whole frame, with the number of regions, their feather, and whether
 * they are isolated or inverted. Free with g_free. */
char *bench_case_region(const TestCase *c);

/* Returns the plan, or NULL if the algorithm does not support the case or a frame needs more than max_products. */
CnvPlan *bench_case_plan(const TestCase *c, const CnvBackend *backend, CnvAlgorithm algorithm, double max_products);

/* Compares the case with the oracle, on a smaller frame and on every variant. Returns the number of failures. */
guint bench_case_check(const TestCase *c);

/* How much is timed. */
typedef struct {
  double warm_us;   /* time of frames that are submitted before, so that clock rates rise */
  double budget_us; /* after this time, fewer repeats are enough */
  int repeats;
} BenchEffort;

typedef struct {
  double median, min, max; /* microseconds per frame */
  int repeats;
} BenchTiming;

/* Rotating pairs of frames for a case and a session. In host memory there is one pair. In device memory there are
 * rotating_bytes of them, which should be more than any L2 cache holds, and at least a few pairs. */
typedef struct {
  CnvSession *session;
  CnvMemory memory;
  TestFrame in, out;
  gsize bytes; /* of one frame's samples */
  int n_pairs;
  TestRun *pair;
  CnvRegion region[CNV_MAX_REGIONS];
  guint n_regions;
  double feather;
  gboolean isolated, invert;
  CnvMask *mask; /* of the region, if it is a mask */
  int next;      /* index of the frame that is submitted next */
} BenchFrames;

void bench_frames_init(BenchFrames *f, const TestCase *c, CnvSession *session, CnvMemory memory, double rotating_bytes);
void bench_frames_clear(BenchFrames *f);

/* Gives the session a history with all frames that the plan needs, if it needs several. */
gboolean bench_frames_fill_history(const BenchFrames *f, const CnvPlan *plan, GError **error);

/* Returns TRUE if the plan can filter the frames' regions in the memory of the input. */
gboolean bench_frames_can_in_place(const BenchFrames *f, CnvPlan *plan);

typedef struct BenchRival BenchRival;

/* How frames are processed: filtered by the plan or by the rival, or copied. */
typedef struct {
  CnvPlan *plan;
  gboolean in_place; /* the region, in the input's memory */
  BenchRival *rival; /* NULL: the plan */
  gboolean copy;
} BenchWay;

/* Times batches of frames back to back, each as a whole. For a plan with taps in time, the history must be filled. */
BenchTiming bench_measure(BenchFrames *f, const BenchWay *way, const BenchEffort *effort);

/* Returns the number of samples in which the rival's result for a frame differs from the plan's by more than one. */
gint64 bench_compare(BenchFrames *f, CnvPlan *plan, BenchRival *rival);

/* Opens the libraries, once, for a session in device memory. A line on stderr names them, or says that there are
 * none. */
void bench_rivals_open(CnvSession *session);
void bench_rivals_close(void);

/* Returns the name of rival i, or NULL after the last one, whether or not its library is available. */
const char *bench_rival_name(guint i);

/* Prepares rival i for what the plan does to such frames: one term, in device memory, with edges repeated. Returns NULL
 * if the rival does not support that or is not available. */
BenchRival *bench_rival_new(guint i, const CnvPlan *plan, const TestFrame *frame);
gboolean bench_rival_run(BenchRival *rival, const CnvFrame *in, const CnvFrame *out, GError **error);
void bench_rival_free(BenchRival *rival); /* wait for the session first */

/* A row of the table. Its strings must outlive it. */
typedef struct {
  const TestCase *timed_case;
  int width, height;                   /* of the frames that were timed */
  const char *region;                  /* bench_case_region of the timed frames */
  const char *backend, *device, *name; /* name: "copy", an algorithm's or a rival's */
  BenchTiming time;
  gsize bytes; /* read and written */
  double copy_us;
  gint64 off; /* from bench_compare; -1: compared with the oracle */
} BenchRow;

/* Opens the table and its files (bench_table.h), to be closed with bench_table_close. Returns FALSE with the reason. */
gboolean bench_report_open(char *const *files, GError **error);
void bench_report_row(const BenchRow *row);
