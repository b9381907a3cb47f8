/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A trial: up to three frames of chosen samples, filtered by every variant of the engine, and the expected value of
 * each sample of the results.
 */
#pragma once

#include "support/cases.h"

typedef struct {
  const char *law; /* name for reports, as in row */
  const TestFilter *row;
  CnvImage image; /* full range */
  guint32 seed;
  CnvFilter filter, other; /* filter of the first frame, and of the frames after it; equal until a test changes them */
  TestFrame in[3], out[3];
  TestVariant *v;  /* the variant that runs */
  int at[2];       /* for use by the law */
  TestFrame *kept; /* for use by the law */
} Trial;

/* A sample of a frame. {0} comes before the first sample. */
typedef struct {
  int plane, channel, x, y, width, height; /* size of the plane, in pixels */
  gboolean begun;
  CnvRole role;
  int full, zero; /* zero: neutral value, 2^(depth-1) for chroma and 0 for others */
} TrialSample;

/* Moves to the next sample. Returns FALSE after the last one. */
gboolean trial_next_sample(const TestFrame *frame, TrialSample *s);

/* Returns the value of the same channel at another place. */
int trial_value(const TestFrame *frame, const TrialSample *s, int x, int y);

/* Returns noise that is fixed for each place of a channel, inside the frame or not. which: selects one of several
 * pictures. */
guint trial_noise(const Trial *t, const TrialSample *s, int x, int y, int which);

/* Prepares a trial, to be cleared with trial_clear. Returns FALSE if the options exclude the case. */
gboolean trial_init(Trial *t, const char *law, const TestFilter *row, const char *format, int width, int height,
                    CnvBorder border);
void trial_clear(Trial *t);

/* Returns the value of sample s of frame in[which]. */
typedef guint (*TrialFill)(const Trial *t, const TrialSample *s, int which);

/* Makes in[which]. Call it once per frame. */
void trial_fill(Trial *t, int which, int width, int height, TrialFill value);

/* Returns the plan, or NULL if the algorithm does not support the filter. naive supports all. */
CnvPlan *trial_plan(const Trial *t, const CnvFilter *filter, const TestFrame *in);

/* Makes out[which] from what `start` submits. */
void trial_submit(Trial *t, CnvPlan *plan, int which,
                  gboolean (*start)(Trial *t, CnvPlan *plan, TestRun *run, GError **error));

/* Makes out[which] with a filter. Returns FALSE if the algorithm does not support it. */
gboolean trial_run(Trial *t, const CnvFilter *filter, int which);

/* Makes the first n frames of out, calls check, and clears the frames, for every variant. */
void trial_run_all(Trial *t, int n, void (*check)(Trial *t));

/* Returns the expected value of sample s of a frame, or NAN if any value is right. */
typedef double (*TrialExpect)(const Trial *t, const TrialSample *s);

/* Returns the largest effect of rounding on a result: half a step, plus one step if the contract allows it. */
double trial_rounding(const Trial *t);

/* Compares the filtered samples with their expected values. limits_inexact: with positive taps, only a small share may
 * be off at all. Fixed taps are exempt, because their few digits often put sums in the middle between two levels. */
void trial_check(Trial *t, const TestFrame *out, TrialExpect expect, double tolerance, gboolean limits_inexact);

void trial_fail(const Trial *t, const char *why);
