/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The parts of pipeline-bench: the measurement of a pipeline (pipeline_bench_run.c), the table
 * (pipeline_bench_report.c), the frames for pipelines (feed.c), and the copy that a GPU allows (duplex.c). Options,
 * cases and the loop over them are in pipeline_bench.c. One thread, besides GStreamer's.
 */
#pragma once

#include <gst/gst.h>

#include "support/feed.h"

/* Where the frames come from. */
typedef enum {
  FEED_PLAIN,    /* system memory that is not pinned */
  FEED_OFFERED,  /* system memory that the allocation query offers */
  FEED_UPLOADED, /* CUDA memory, uploaded before */
  FEED_ENCODED,  /* a decoder, which gets H.264 */
} PipelineFeedKind;

/* Expected frames/s of cudaconvolve on the GPU of the goals; 0: none. */
typedef struct {
  double nv12[2];   /* 1920x1080 NV12 and 3840x2160 NV12 */
  double of_duplex; /* as a part of the duplex copy */
  double of_source; /* as a part of the unfiltered pipeline */
} PipelineGoal;

typedef struct {
  const char *name, *what;
  PipelineFeedKind feed;
  const char *before; /* elements before the filter, each followed by " ! " */
  const char *needs;  /* elements that may be missing, separated by spaces */
  PipelineGoal goal;
} PipelinePath;

typedef struct {
  const PipelinePath *path;
  int width, height; /* pixels */
  const char *format;
} PipelineCase;

/* Prepares the frames for all pipelines of a case: uploads or encodes them. Returns FALSE with the reason. Clear it in
 * either case. */
gboolean pipeline_feed_init(Feed *feed, const PipelineCase *c, GError **error);

/* How much is measured after a warm-up: a number of frames or, if that is 0, a time. */
typedef struct {
  guint warm_frames; /* at least */
  gint64 warm_us;    /* at least */
  guint frames;      /* 0: by time */
  gint64 budget_us;
} PipelineEffort;

typedef struct {
  guint64 frames; /* number of frames counted */
  double per_s;   /* frames/s */
  double cpu_us;  /* processor time per frame, of all threads of the process */
} PipelineTime;

/* Runs source, path->before, filter ("", or elements that end in " ! ") and sink once. stats: if not NULL, set to the
 * statistics of the element named "filter"; free with gst_structure_free. Returns FALSE with the reason if the pipeline
 * fails or does not end, or if the sink did not get as many frames as were sent. */
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
  const PipelineCase *timed_case;
  const char *filter; /* its settings */
  PipelineResult way[N_WAYS];
  guint64 frames;      /* counted in the last repeat of CONVOLVE */
  GstStructure *stats; /* of that repeat */
  double duplex_per_s; /* NAN: does not apply */
} PipelineRow;

/* Opens the table on the terminal and in files (bench_table.h). Returns FALSE with the reason. */
gboolean pipeline_report_open(char *const *files, GError **error);
void pipeline_report_row(const PipelineRow *row);
