/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Vectors as wide as the instruction set that a file is compiled for.
 */
#pragma once

#include <glib.h>

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

#define LANES (VECTOR_BYTES / 4)
typedef float Vector __attribute__((vector_size(VECTOR_BYTES)));
typedef gint32 Numbers __attribute__((vector_size(VECTOR_BYTES)));
typedef float LooseVector __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));

/* Vectors of LANES / 2 numbers. */
typedef double LooseDoubles __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));
typedef double Doubles __attribute__((vector_size(VECTOR_BYTES)));
typedef float LooseHalf __attribute__((vector_size(VECTOR_BYTES / 2), aligned(4), may_alias));

static inline Vector
load_vector(const float *from)
{
  return *(const LooseVector *)from;
}

static inline void
store_vector(float *to, Vector vector)
{
  *(LooseVector *)to = vector;
}
