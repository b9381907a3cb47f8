/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A build without FFTW: nothing is transformed.
 */
#include "cpu/cpu.h"

void
cnv_cpu_fft_shape(CpuPlane *plane)
{
}

gboolean
cnv_cpu_fft_suits(const CpuFft *fft, int samples, int rows)
{
  return FALSE;
}

void
cnv_cpu_fft_start(CpuPlane *plane, CpuWorker *worker)
{
}

void
cnv_cpu_fft_clear(CpuFft *fft)
{
}

void
cnv_cpu_fft_run(CpuWorker *worker, const CpuTile *tile)
{
}
