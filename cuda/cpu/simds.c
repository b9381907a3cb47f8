/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The instruction sets that the CPU engine is built for, and the choice among them.
 */
#include <string.h>

#include "cpu/simd.h"

/* Best first. */
static const CpuSimd *const simds[] = {
#ifdef __x86_64__
    &cnv_cpu_simd_avx512,
    &cnv_cpu_simd_avx2,
#endif
#ifdef __aarch64__
    &cnv_cpu_simd_neon,
#else
    &cnv_cpu_simd_plain,
#endif
};

static gboolean
machine_has(const CpuSimd *simd)
{
#ifdef __x86_64__
  if (simd == &cnv_cpu_simd_avx512)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
  if (simd == &cnv_cpu_simd_avx2)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  return TRUE;
}

const CpuSimd *
cnv_cpu_choose_simd(const char *wanted)
{
  for (gsize i = 0; i < G_N_ELEMENTS(simds); i++)
    if (machine_has(simds[i]) && (!wanted || strcmp(wanted, simds[i]->name) == 0))
      return simds[i];
  return cnv_cpu_choose_simd(NULL);
}
