/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of methods, and the choice among them.
 */
#include "cpu/cpu.h"

extern const CpuMethod cnv_cpu_decimated, cnv_cpu_dense, cnv_cpu_fft, cnv_cpu_fixed, cnv_cpu_mosaic, cnv_cpu_reference,
    cnv_cpu_rows, cnv_cpu_sliding, cnv_cpu_steps;

/* Of methods that cost the same the first is taken. Fast ones come first: those after them then seldom have to look for
 * taps. */
static const CpuMethod *const methods[] = {
    &cnv_cpu_fixed, &cnv_cpu_decimated, &cnv_cpu_sliding, &cnv_cpu_rows,      &cnv_cpu_steps,
    &cnv_cpu_dense, &cnv_cpu_fft,       &cnv_cpu_mosaic,  &cnv_cpu_reference,
};

const CpuMethod *
cnv_cpu_choose_method(CpuPlane *plane, gboolean by_job)
{
  const int samples = plane->from->width * plane->from->channels, rows = plane->from->height;
  const CpuMethod *best = NULL;

  for (guint i = 0; i < G_N_ELEMENTS(methods); i++) {
    const CpuMethod *method = methods[i];
    double least = best ? cnv_cpu_cost(best, plane, samples, rows) : G_MAXDOUBLE;

    if (method->algorithm == plane->from->algorithm && method->by_job == by_job &&
        !(method->wide_tiles && plane->small_tiles) && cnv_cpu_cost(method, plane, samples, rows) < least &&
        (!method->fits || method->fits(plane)) && cnv_cpu_cost(method, plane, samples, rows) < least)
      best = method;
  }
  return best;
}
