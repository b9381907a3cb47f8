/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * For faults.c: a short stream through the element, between pads of the test's own, and what came of it.
 */
#pragma once

#include <gst/cuda/gstcudacontext.h>
#include <gst/video/video.h>

#include "support/standin/standin.h"

#define FRAMES 9
#define NEW_CAPS 3 /* before which frame */
#define FLUSH 6
#define GROWS 5
#define FRAME_TIME (40 * GST_MSECOND)

typedef struct {
  const char *name;
  const char *format;
  int width, height;
  const char *set[6];
  gboolean in_device, out_device;
  gboolean regions;  /* each buffer has some */
  gboolean out_any;  /* or in system memory */
  gboolean gpu_only; /* the CPU has not the algorithm */
  const char *grow;  /* a property set before frame GROWS: what is uploaded for it needs more memory */
} Scenario;

/* What came out: bytes of the planes, without padding, by the frames' numbers. */
typedef GHashTable Frames;

typedef struct {
  const Scenario *scenario;
  GstElement *element;
  GstBus *bus;
  GstPad *src, *sink; /* ours, linked to the element's */
  GstCudaContext *context;
  GstBufferPool *pool; /* of CUDA memory; NULL */
  gpointer stream;     /* GstCudaStream of its memory; NULL before GStreamer 1.24 */
  GstVideoInfo info;
  Frames *frames;
  guint64 last; /* number of the frame that came last, and one more */
  guint n_errors, n_infos;
  char *error;            /* the first */
  gboolean refused;       /* caps that the element does not take: the source of a pipeline posts that error */
  guint64 calls_to_first; /* calls up to when the first frame was taken */
} Stream;

/* Reports a failure of the run. */
void wrong(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* Of the job that runs: the stand-in driver, and the number of its run. */
extern const Standin *driver;
extern const char *job_name;
extern guint64 run;
extern guint n_failures;

/* backend "cpu": in system memory, whatever the scenario says. */
void stream_open(Stream *s, const Scenario *scenario, const char *backend);
/* FALSE where the element does not start. */
gboolean stream_start(Stream *s);
/* All frames, with new caps and a flush between them. first: number of the first. goes_on: frames are pushed after an
 * error, too. */
void stream_play(Stream *s, guint first, gboolean goes_on);
void stream_stop(Stream *s);
void stream_close(Stream *s);

/* Its parts. scale: another one is another size. NULL where GStreamer's own allocation is what fails. */
void push_caps(Stream *s, int scale);
GstBuffer *make_buffer(Stream *s, guint number);
void read_bus(Stream *s);
