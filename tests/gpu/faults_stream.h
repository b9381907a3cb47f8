/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * For faults.c: a short stream through the element, between the test's own pads, and its output.
 */
#pragma once

#include <gst/cuda/gstcudacontext.h>
#include <gst/video/video.h>

#include "support/standin/standin.h"

#define FRAMES 9
#define NEW_CAPS 3 /* before this frame; likewise the next two */
#define FLUSH 6
#define GROWS 5
#define FRAME_TIME (40 * GST_MSECOND)

typedef struct {
  const char *name;
  const char *format;
  int width, height;
  const char *set[6];
  gboolean in_device, out_device;
  gboolean regions;  /* each buffer has a region of interest */
  gboolean out_any;  /* output may also be in system memory */
  gboolean gpu_only; /* the CPU lacks the algorithm */
  const char *grow;  /* a setting applied before frame GROWS, which needs larger uploads; or NULL */
} Scenario;

/* The output: GBytes of the planes without padding, by frame number. */
typedef GHashTable Frames;

typedef struct {
  const Scenario *scenario;
  GstElement *element;
  GstBus *bus;
  GstPad *src, *sink; /* ours, linked to the element's */
  GstCudaContext *context;
  GstBufferPool *pool; /* of CUDA memory; NULL: frames are in system memory */
  gpointer stream;     /* GstCudaStream of its memory; NULL before GStreamer 1.24 */
  GstVideoInfo info;
  Frames *frames;
  guint64 last; /* number of the last output frame, plus 1 */
  guint n_errors, n_infos;
  char *error;            /* the first */
  gboolean refused;       /* the element rejected caps: a pipeline's source would post that error */
  guint64 calls_to_first; /* number of calls up to the push of the first frame */
} Stream;

/* Reports a failure of the run. */
void wrong(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* The stand-in driver, and the present job's name and number of run. */
extern const Standin *driver;
extern const char *job_name;
extern guint64 run;
extern guint n_failures;

/* Makes the element. backend: with "cpu", frames are in system memory, whatever the scenario says. */
void stream_open(Stream *s, const Scenario *scenario, const char *backend);
/* Returns FALSE if the element does not start. */
gboolean stream_start(Stream *s);
/* Pushes all frames, with new caps and a flush in between, and EOS. first: number of the first frame. goes_on: TRUE:
 * frames are pushed after an error, too. */
void stream_play(Stream *s, guint first, gboolean goes_on);
void stream_stop(Stream *s);
void stream_close(Stream *s);

/* The parts of stream_play. scale: each gives another size. make_buffer returns NULL if GStreamer's own allocation
 * fails. */
void push_caps(Stream *s, int scale);
GstBuffer *make_buffer(Stream *s, guint number);
void read_bus(Stream *s);
