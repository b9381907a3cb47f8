/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The parts of pipeline-bench: the measurement of a pipeline (pipeline_bench_run.c), the table
 * (pipeline_bench_report.c); what pipelines are fed with (feed.c), the copy that a GPU allows (duplex.c). Options,
 * cases and the loop over them are in pipeline_bench.c. One thread, but for those of GStreamer.
 */
#pragma once

#include <gst/gst.h>

#include "support/feed.h"

/* Where the frames come from. */
typedef enum {
  FEED_PLAIN,    /* system memory that is not pinned */
  FEED_OFFERED,  /* system memory as the allocation query offers it */
  FEED_UPLOADED, /* CUDA memory, uploaded before */
  FEED_ENCODED,  /* a decoder, which is fed with H.264 */
} PipelineFeedKind;

/* What may be expected of cudaconvolve on the GPU of the goals, in frames/s; 0: nothing is. */
typedef struct {
  double nv12[2];   /* of 1920x1080 NV12 and of 3840x2160 */
  double of_duplex; /* as a part of what the duplex copy allows */
  double of_source; /* as a part of the unfiltered pipeline */
} PipelineGoal;

typedef struct {
  const char *name, *what;
  PipelineFeedKind feed;
  const char *before; /* elements in front of the filter, each followed by " ! " */
  const char *needs;  /* elements that may be missing, separated by spaces */
  PipelineGoal goal;
} PipelinePath;

typedef struct {
  const PipelinePath *path;
  int width, height; /* pixels */
  const char *format;
} PipelineCase;

/* What all pipelines of a case are fed with: uploads or encodes. FALSE with the reason; to be cleared in either case.
 */
gboolean pipeline_feed_init(Feed *feed, const PipelineCase *c, GError **error);

/* How long is measured, after a warm-up: so many frames, or else so long. */
typedef struct {
  guint warm_frames; /* at least */
  gint64 warm_us;    /* at least */
  guint frames;      /* 0: by time */
  gint64 budget_us;
} PipelineEffort;

typedef struct {
  guint64 frames; /* that were counted */
  double per_s;   /* frames/s */
  double cpu_us;  /* of all threads of the process, a frame */
} PipelineTime;

/* Runs source, path->before, filter ("", or elements that end in " ! ") and sink once. stats: if not NULL, the
 * statistics of the element that is called "filter"; gst_structure_free. FALSE with the reason where the pipeline errs
 * or does not end, or where the sink did not get as many frames as were sent. */
gboolean pipeline_measure(const PipelineCase *c, const Feed *feed, const char *filter, const PipelineEffort *effort,
                          PipelineTime *time, GstStructure **stats, GError **error);

typedef struct {
  double median, min, max;
} PipelineSpread;

typedef struct {
  PipelineSpread per_s;
  double cpu_us; /* median */
} PipelineResult;

enum { SOURCE_ONLY, IDENTITY, CONVOLVE, N_WAYS };

typedef struct {
  const PipelineCase *of;
  const char *filter; /* its settings */
  PipelineResult way[N_WAYS];
  guint64 frames;      /* counted in the last repeat of CONVOLVE */
  GstStructure *stats; /* of it */
  double duplex_per_s; /* NAN: does not apply */
} PipelineRow;

/* Opens the table on the terminal and in these files (bench_table.h). FALSE with the reason. */
gboolean pipeline_report_open(char *const *files, GError **error);
void pipeline_report_row(const PipelineRow *row);
