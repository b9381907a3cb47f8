/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/choice.h"

#include "gpu/driver.h"
#include "gpu/schedule.h"

/* By convolve-bench on an H200 and an H100 there is no crossover: tensor is the fastest wherever it can do the work,
 * and then fused (4K GRAY16, 65 taps: 102 us, separable 212; NV12, 97 taps: 184 and 361). On other cards that is not
 * measured. The benchmark lists at its end the cases in which another algorithm would have been faster than auto's. Any
 * algorithm can be asked for by the property of that name. */

/* The compute capability from which on GPUs have the instructions for tensor, and 64 KiB of shared memory for a block
 * of fused. */
static const struct {
  CnvAlgorithm algorithm;
  int least;
  const char *name;
} fastest[] = {{CNV_ALGORITHM_TENSOR, 80, "8.0 (Ampere)"}, {CNV_ALGORITHM_FUSED, 70, "7.0 (Volta)"}};

static int
least_capability(void)
{
  const CnvDriver *cu = cnv_driver_get(NULL);

  return cu ? cu->capability : 0;
}

gboolean
cnv_cuda_can_at(int capability, CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane, GError **error)
{
  guint n = cnv_schedule_taps_of(plan, plane);
  CnvNeeds needs;

  if (cnv_algorithm_has_tiles(algorithm) &&
      cnv_kernel_with_tiles(algorithm, plan, plane, FALSE, &needs, error) == CNV_N_KERNELS)
    return FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS(fastest); i++)
    if (algorithm == fastest[i].algorithm && capability < fastest[i].least)
      return cnv_unsupported(error, "it takes GPUs of compute capability %s or newer", fastest[i].name);
  return n <= CNV_CONSTANT_TAPS ||
         cnv_unsupported(error,
                         "the filter takes %u numbers of constant memory, a GPU has %d: shorten the kernel or use "
                         "backend=cpu",
                         n, CNV_CONSTANT_TAPS);
}

CnvAlgorithm
cnv_cuda_choose_at(int capability, const CnvPlan *plan, const CnvPlane *plane)
{
  const CnvTerm *term = &plane->term[0];

  if (plane->cell[CNV_X])
    return CNV_ALGORITHM_MOSAIC;
  /* Who asks for another algorithm than tensor may want the exactness of float32. */
  for (gsize i = 0; i < G_N_ELEMENTS(fastest); i++)
    if ((plan->requested == CNV_ALGORITHM_AUTO || plan->requested == fastest[i].algorithm) &&
        cnv_cuda_can_at(capability, fastest[i].algorithm, plan, plane, NULL))
      return fastest[i].algorithm;
  if (plan->n_temporal_taps == 1 && plane->n_terms == 1 && term->n[CNV_X] * term->n[CNV_Y] == 1)
    return CNV_ALGORITHM_NAIVE;
  return cnv_plane_is_separable(plane) ? CNV_ALGORITHM_SEPARABLE : CNV_ALGORITHM_TILED;
}

gboolean
cnv_cuda_can(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane, GError **error)
{
  return cnv_cuda_can_at(least_capability(), algorithm, plan, plane, error);
}

CnvAlgorithm
cnv_cuda_choose(const CnvPlan *plan, const CnvPlane *plane)
{
  return cnv_cuda_choose_at(least_capability(), plan, plane);
}
