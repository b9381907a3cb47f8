/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Streams of flat frames, and what a filter over three of them must produce.
 */
#pragma once

#include "element/element.h"

#define N 12 /* frames of a stream */

/* Multiples of 24, so that means with the weights 1, 2 and 1, any of which may be missing, are exact, and halves of the
 * means, too. */
extern const guint8 values[N];

/* The filter of a stream and what happens to it, from which the value of each output follows. */
typedef struct {
  int now;     /* index of the frame's own weight: 1 for centered, 2 for causal */
  int cut;     /* frames before the cut and from it on do not affect each other; 0 or N: no cut */
  int halved;  /* from this frame on, the result is halved */
  int missing; /* number of the frame that does not come out, or -1 */
} Model;

GstBuffer *flat_buffer(guint8 value, guint i);

/* Pushes a flat frame as frame i, with a meta and an offset of its own. */
void push_flat(GstHarness *h, guint8 value, guint i);
void push_some(GstHarness *h, int from, int to);

/* Pulls the next frame, and fails unless it is frame i, flat, and has that value. */
void pull_flat(GstHarness *h, int value, guint i, const char *what);
void pull_model(GstHarness *h, const Model *model, int from, int to, const char *what);
void expect_none(GstHarness *h, const char *what);

void end(GstHarness *h);
void push_flush(GstHarness *h);
