/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pipelines on a GPU and what comes out of them, for the tests of gpu.c and gpu_order.c. A helper that finds something
 * wrong fails the test.
 */
#pragma once

#include <gst/check/gstcheck.h>
#include <gst/video/video.h>

#define MAX_CHAINS 8
#define KEPT_FRAMES 24 /* compared sample by sample; the others by checksum */
#define CUDA_MEMORY "video/x-raw(memory:CUDAMemory)"

/* The arguments are the chain's number, frames, format, width and height. */
#define SOURCE                                                                                                         \
  "videotestsrc name=source%d num-buffers=%d pattern=zone-plate kx2=20 ky2=13 kt=1 "                                   \
  "! video/x-raw,format=%s,width=%d,height=%d ! "

/* The output of one appsink. */
typedef struct {
  GstVideoInfo info;
  guint n_frames;
  GPtrArray *kept; /* GBytes: rows without gaps */
  GArray *hashes;  /* guint, one per frame */
} Output;

typedef struct {
  Output output[MAX_CHAINS];
  GstStructure *stats[MAX_CHAINS];
} Result;

/* Called before each frame reaches the element, with the number of the frame. */
typedef void (*BeforeFrame)(GstElement *convolve, guint frame);

GstElement *make_pipeline(const char *description);

/* Plays a pipeline to its end, and takes ownership of it. result: of the elements named c0, c1, ... (cudaconvolve) and
 * out0, out1, ... (appsink); clear it with result_clear. before: NULL is allowed. */
void play(GstElement *pipeline, const char *description, BeforeFrame before, Result *result);
void run_format(Result *result, const char *format, ...);
void result_clear(Result *result);

guint64 stat_number(const Result *result, int chain, const char *field);

/* Fails unless the outputs are equal. Samples may differ by one, as engines do. */
void compare(const Output *gpu, const Output *cpu, const char *what);

/* gpu_order.c */
void add_order_tests(TCase *tcase);
