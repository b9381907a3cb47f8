/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Streams of flat frames, and what a filter over three of them must make of each.
 */
#pragma once

#include "element/element.h"

#define N 12 /* frames of a stream */

/* Multiples of 24: means with the weights 1, 2, 1 and any of them missing are exact, halved too. */
extern const guint8 values[N];

/* What a stream is filtered with, and what the frame with a number must be: -1 for one that is not pushed. */
typedef struct {
  int now;     /* number of the weight of the frame itself: 1 centered, 2 causal */
  int cut;     /* frames before this one and from it on know nothing of each other; 0 or N: all do */
  int halved;  /* from this one on the result is halved */
  int missing; /* number of the frame that is not pushed, or -1 */
} Model;

GstBuffer *flat_buffer(guint8 value, guint i);

/* As frame i, with a meta and an offset of its own. */
void push_flat(GstHarness *h, guint8 value, guint i);
void push_some(GstHarness *h, int from, int to);

/* The next frame is that with this number, and flat. */
void pull_flat(GstHarness *h, int value, guint i, const char *what);
void pull_model(GstHarness *h, const Model *model, int from, int to, const char *what);
void expect_none(GstHarness *h, const char *what);

void end(GstHarness *h);
void push_flush(GstHarness *h);
