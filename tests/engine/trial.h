/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A trial: up to three frames of chosen samples, filtered by every variant of the engine, and what is expected of each
 * sample of the results.
 */
#pragma once

#include "support/cases.h"

typedef struct {
  const char *law; /* for reports, as row is */
  const TestFilter *row;
  CnvImage image; /* full range */
  guint32 seed;
  CnvFilter filter, other; /* of the first frame, and of those after it: alike until they are changed */
  TestFrame in[3], out[3];
  TestVariant *v;  /* that runs now */
  int at[2];       /* of use to the law */
  TestFrame *kept; /* likewise */
} Trial;

/* A sample of a frame; {0} comes before the first. */
typedef struct {
  int plane, channel, x, y, width, height; /* size of the plane, in pixels */
  gboolean begun;
  CnvRole role;
  int full, zero; /* zero: the value that stands for nothing, 2^(depth-1) of chroma */
} TrialSample;

/* FALSE behind the last. */
gboolean trial_next_sample(const TestFrame *frame, TrialSample *s);

/* The value of the same channel elsewhere. */
int trial_value(const TestFrame *frame, const TrialSample *s, int x, int y);

/* Noise that any place of the same channel, inside the frame or not, always has. which: of several pictures. */
guint trial_noise(const Trial *t, const TrialSample *s, int x, int y, int which);

/* FALSE where the options leave the case out; else clear it. */
gboolean trial_init(Trial *t, const char *law, const TestFilter *row, const char *format, int width, int height,
                    CnvBorder border);
void trial_clear(Trial *t);

/* The value of sample s of frame in[which]. */
typedef guint (*TrialFill)(const Trial *t, const TrialSample *s, int which);

/* Makes in[which], once. */
void trial_fill(Trial *t, int which, int width, int height, TrialFill value);

/* NULL where the algorithm cannot do it, which naive always can. */
CnvPlan *trial_plan(const Trial *t, const CnvFilter *filter, const TestFrame *in);

/* Makes out[which] by what start submits. */
void trial_submit(Trial *t, CnvPlan *plan, int which,
                  gboolean (*start)(Trial *t, CnvPlan *plan, TestRun *run, GError **error));

/* Makes out[which] by a filter; FALSE where the algorithm cannot do it. */
gboolean trial_run(Trial *t, const CnvFilter *filter, int which);

/* On every variant: makes the first n of out, checks, and clears them. */
void trial_run_all(Trial *t, int n, void (*check)(Trial *t));

/* What sample s of a frame should be, or NAN for anything. */
typedef double (*TrialExpect)(const Trial *t, const TrialSample *s);

/* What rounding may do to one result: half a step, and a whole one more where the contract allows that. */
double trial_rounding(const Trial *t);

/* Copied samples are not looked at. few: only some of them may be off at all, unless the taps are
 * of few digits, of which sums often lie in the middle between two numbers. */
void trial_check(Trial *t, const TestFrame *out, TrialExpect expect, double tolerance, gboolean few);

void trial_fail(const Trial *t, const char *why);
