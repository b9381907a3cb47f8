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

/* Of all planes the algorithm's nick, the size of the taps and the number of terms: "separable,copy", "17x17,1x1" and
 * "1,0". */
static void
describe_planes(const CnvPlan *plan, GString *algorithms, GString *taps, GString *terms)
{
  for (int p = 0; p < plan->n_planes; p++) {
    const CnvPlanPlane *plane = &plan->plane[p];
    const char *comma = p > 0 ? "," : "";
    int n[CNV_N_AXES] = {1, 1}, n_terms = plane->filtered ? plane->n_terms : 0;

    for (int t = 0; t < n_terms; t++)
      for (int axis = 0; axis < CNV_N_AXES; axis++)
        n[axis] = MAX(n[axis], plane->term[t].n[axis]);
    g_string_append_printf(algorithms, "%s%s", comma,
                           plane->filtered ? cnv_algorithm_nicks[plane->algorithm].nick : "copy");
    g_string_append_printf(taps, "%s%dx%d", comma, n[CNV_X], n[CNV_Y]);
    g_string_append_printf(terms, "%s%d", comma, n_terms);
  }
}

GstStructure *
gst_cuda_convolve_stats_to_structure(const GstCudaConvolveStats *stats, const char *device_name)
{
  const CnvSessionStats *session = &stats->session;
  GString *algorithms = g_string_new(NULL), *taps = g_string_new(NULL), *terms = g_string_new(NULL);
  GstStructure *structure;

  if (stats->plan)
    describe_planes(stats->plan, algorithms, taps, terms);
  structure = gst_structure_new(
      "cudaconvolve-stats", "frames", G_TYPE_UINT64, stats->frames, "dropped", G_TYPE_UINT64, stats->dropped, "backend",
      G_TYPE_STRING, stats->plan ? stats->plan->backend->name : "", "device", G_TYPE_STRING,
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
