/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The parts of convolve-bench: a case of the tests' table (bench_cases.c), rotating frames and their timing
 * (bench_time.c), other libraries on the same frames (bench_rivals.c), the table and its files (bench_report.c).
 * Options and the loop over all of it are in bench.c; plot.py draws the table.
 */
#pragma once

#include "support/cases.h"

/* Frames that count for one output frame. */
int bench_case_frames(const TestCase *c);

/* "NV12 3840x2160 gaussian r=8"; g_free. */
char *bench_case_name(const TestCase *c);

/* Returns the side of the case's region, 0 for the whole frame; with how many there are, their feather, and
 * whether it is isolated or inverted. */
char *bench_case_region(const TestCase *c);

/* NULL where the algorithm cannot do the case, or a frame would take more products than that. */
CnvPlan *bench_case_plan(const TestCase *c, const CnvBackend *backend, CnvAlgorithm algorithm, double max_products);

/* Holds the case, on a smaller frame and on every variant, against the oracle. Returns the number of failures. */
guint bench_case_check(const TestCase *c);

/* What is timed. */
typedef struct {
  double warm_us;   /* that is submitted before, so that clocks rise */
  double budget_us; /* after so long, fewer repeats do */
  int repeats;
} BenchEffort;

typedef struct {
  double median, min, max; /* microseconds a frame */
  int repeats;
} BenchTiming;

/* Rotating pairs of frames for a case and a session. The host has one pair; a device has so many bytes of them, which
 * should be more than any L2 cache holds, and some pairs at least. */
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
  CnvMask *mask; /* of the region, where it is one */
  int next;      /* the frame that is submitted next */
} BenchFrames;

void bench_frames_init(BenchFrames *f, const TestCase *c, CnvSession *session, CnvMemory memory, double rotating_bytes);
void bench_frames_clear(BenchFrames *f);

/* Gives the session a history with all frames that the plan takes, if it takes several. */
gboolean bench_frames_fill_history(const BenchFrames *f, const CnvPlan *plan, GError **error);

/* Returns TRUE if the plan can filter the frames' regions in the memory of the input. */
gboolean bench_frames_can_in_place(const BenchFrames *f, CnvPlan *plan);

typedef struct BenchRival BenchRival;

/* One way through the frames: filtered by the plan or by the rival, or copied. */
typedef struct {
  CnvPlan *plan;
  gboolean in_place; /* its region, in the input's memory */
  BenchRival *rival; /* NULL: the plan */
  gboolean copy;
} BenchWay;

/* Batches of frames back to back, each timed as a whole. A plan with taps in time has its slots reserved. */
BenchTiming bench_measure(BenchFrames *f, const BenchWay *way, const BenchEffort *effort);

/* Samples in which the rival's result for a frame is more than one off the plan's. */
gint64 bench_compare(BenchFrames *f, CnvPlan *plan, BenchRival *rival);

/* Opens the libraries, once, for a session in device memory; a line on stderr says which, or that there is none. */
void bench_rivals_open(CnvSession *session);
void bench_rivals_close(void);

/* Name of rival i, NULL behind the last, whether or not its library is here. */
const char *bench_rival_name(guint i);

/* Makes rival i ready for what the plan does to all of such frames: one term in device memory, edges repeated. NULL
 * where it cannot, or is not here. */
BenchRival *bench_rival_new(guint i, const CnvPlan *plan, const TestFrame *frame);
gboolean bench_rival_run(BenchRival *rival, const CnvFrame *in, const CnvFrame *out, GError **error);
void bench_rival_free(BenchRival *rival); /* after the session was waited for */

/* A row of the table. Its strings outlive it. */
typedef struct {
  const TestCase *of;
  int width, height;                   /* of the frames that were timed */
  const char *region;                  /* bench_case_region of these */
  const char *backend, *device, *name; /* name: "copy", an algorithm's or a rival's */
  BenchTiming time;
  gsize bytes; /* read and written */
  double copy_us;
  gint64 off; /* of bench_compare; -1: checked against the oracle */
} BenchRow;

/* Opens the table and these files of it (bench_table.h), to be closed by bench_table_close. FALSE with the reason. */
gboolean bench_report_open(char *const *files, GError **error);
void bench_report_row(const BenchRow *row);
