/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of methods, and the choice among them.
 */
#include "cpu/cpu.h"

extern const CpuMethod cnv_cpu_averages, cnv_cpu_decimated, cnv_cpu_dense, cnv_cpu_fft, cnv_cpu_fixed_point,
    cnv_cpu_mosaic, cnv_cpu_prefix_sum, cnv_cpu_reference, cnv_cpu_running_sum;

/* Among methods of equal cost, the first is chosen. Fast methods come first, so that later ones seldom have to search
 * for taps. */
static const CpuMethod *const methods[] = {
    &cnv_cpu_averages,   &cnv_cpu_fixed_point, &cnv_cpu_decimated, &cnv_cpu_running_sum, &cnv_cpu_rows,
    &cnv_cpu_prefix_sum, &cnv_cpu_dense,       &cnv_cpu_fft,       &cnv_cpu_mosaic,      &cnv_cpu_reference,
};

void
cnv_cpu_choose_methods(CpuPlane *plane)
{
  const int samples = plane->from->width * plane->from->channels, rows = plane->from->height;

  for (guint i = 0; i < G_N_ELEMENTS(methods); i++) {
    const CpuMethod *method = methods[i], **best = method->by_job ? &plane->large : &plane->method;
    double least = *best ? cnv_cpu_cost(*best, plane, samples, rows) : G_MAXDOUBLE;

    if (method->algorithms >> plane->from->algorithm & 1 && !(method->wide_tiles && plane->small_tiles) &&
        cnv_cpu_cost(method, plane, samples, rows) < least && (!method->fits || method->fits(plane)) &&
        cnv_cpu_cost(method, plane, samples, rows) < least)
      *best = method;
  }
  if (cnv_cpu_method_of(plane, samples, rows) != plane->large)
    plane->large = NULL;
}
