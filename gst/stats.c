/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stats.h"

void
gst_cuda_convolve_stats_clear(GstCudaConvolveStats *stats)
{
  cnv_plan_unref(stats->plan);
  *stats = (GstCudaConvolveStats){0};
}

void
gst_cuda_convolve_stats_set_plan(GstCudaConvolveStats *stats, CnvPlan *plan)
{
  if (plan == stats->plan)
    return;
  cnv_plan_unref(stats->plan);
  stats->plan = plan ? cnv_plan_ref(plan) : NULL;
}

GstStructure *
gst_cuda_convolve_stats_to_structure(const GstCudaConvolveStats *stats, const char *device_name)
{
  const CnvSessionStats *session = &stats->session;
  GString *algorithms = g_string_new(NULL), *taps = g_string_new(NULL), *terms = g_string_new(NULL);
  GstStructure *structure;

  if (stats->plan)
    cnv_plan_describe(stats->plan, algorithms, taps, terms);
  structure = gst_structure_new(
      "cudaconvolve-stats", "frames", G_TYPE_UINT64, stats->frames, "dropped", G_TYPE_UINT64, stats->dropped, "backend",
      G_TYPE_STRING, stats->plan ? cnv_plan_backend(stats->plan)->name : "", "device", G_TYPE_STRING,
      device_name ? device_name : "", "algorithm", G_TYPE_STRING, algorithms->str, "taps", G_TYPE_STRING, taps->str,
      "terms", G_TYPE_STRING, terms->str, "history", G_TYPE_UINT, stats->n_history, "regions", G_TYPE_UINT,
      stats->n_regions, "compute-time-us", G_TYPE_DOUBLE, session->compute_us, "upload-time-us", G_TYPE_DOUBLE,
      session->upload_us, "download-time-us", G_TYPE_DOUBLE, session->download_us, "bytes-uploaded", G_TYPE_UINT64,
      session->bytes_uploaded, "bytes-downloaded", G_TYPE_UINT64, session->bytes_downloaded, NULL);
  g_string_free(algorithms, TRUE);
  g_string_free(taps, TRUE);
  g_string_free(terms, TRUE);
  return structure;
}
