/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Vectors of 16-bit numbers, and the instructions for them that C has no operator for.
 */
#pragma once

#include "cpu/vector.h"

#define SHORTS (VECTOR_BYTES / 2)

/* Unsigned, because numbers beyond a row may wrap. */
typedef guint16 Shorts __attribute__((vector_size(VECTOR_BYTES)));
typedef guint16 LooseShorts __attribute__((vector_size(VECTOR_BYTES), aligned(1), may_alias));

static inline Shorts
load_shorts(const void *from)
{
  return *(const LooseShorts *)from;
}

static inline void
store_shorts(void *to, Shorts shorts)
{
  *(LooseShorts *)to = shorts;
}

/* Instruction sets with an instruction for the rounded upper half of a product. */
#if defined(__AVX512BW__)
#include <immintrin.h>
#define HAVE_UPPER_HALF
#define IN_REGISTER "+v"
#define INSTRUCTION(name) _mm512_##name
typedef __m512i Bits;
typedef __m512 Floats;
#elif defined(__AVX2__)
#include <immintrin.h>
#define HAVE_UPPER_HALF
#define IN_REGISTER "+v"
#define INSTRUCTION(name) _mm256_##name
typedef __m256i Bits;
typedef __m256 Floats;
#elif defined(__aarch64__)
#include <arm_neon.h>
#define HAVE_UPPER_HALF
#define IN_REGISTER "+w"
#endif

#ifdef INSTRUCTION

/* Returns a * b / 2^15, rounded, of signed numbers. */
static inline Shorts
upper_half(Shorts a, Shorts b)
{
  return (Shorts)INSTRUCTION(mulhrs_epi16)((Bits)a, (Bits)b);
}

/* Returns a * b / 2^16, rounded down, of unsigned numbers. */
static inline Shorts
upper_half_unsigned(Shorts a, Shorts b)
{
  return (Shorts)INSTRUCTION(mulhi_epu16)((Bits)a, (Bits)b);
}

/* Returns |a| of signed numbers. */
static inline Shorts
magnitude_of(Shorts a)
{
  return (Shorts)INSTRUCTION(abs_epi16)((Bits)a);
}

static inline Shorts
smaller_of(Shorts a, Shorts b)
{
  return (Shorts)INSTRUCTION(min_epu16)((Bits)a, (Bits)b);
}

static inline Shorts
larger_of(Shorts a, Shorts b)
{
  return (Shorts)INSTRUCTION(max_epu16)((Bits)a, (Bits)b);
}

/* Returns a - b, or 0 if that is negative. */
static inline Shorts
subtract_to_zero(Shorts a, Shorts b)
{
  return (Shorts)INSTRUCTION(subs_epu16)((Bits)a, (Bits)b);
}

/* Numbers of two vectors, in an order for sum_products. */
typedef struct {
  Shorts part[2];
} Pairs;

static inline Pairs
pairs_of(Shorts a, Shorts b)
{
  return (Pairs){
      {(Shorts)INSTRUCTION(unpacklo_epi16)((Bits)a, (Bits)b), (Shorts)INSTRUCTION(unpackhi_epi16)((Bits)a, (Bits)b)}};
}

/* Multiplies signed numbers, and adds the products of both vectors to sums in two parts, ordered as by split_shorts. */
static inline void
sum_products(Numbers sum[2], Pairs a, Pairs b)
{
  for (int i = 0; i < 2; i++)
    sum[i] += (Numbers)INSTRUCTION(madd_epi16)((Bits)a.part[i], (Bits)b.part[i]);
}

/* Splits unsigned numbers into two parts in that order, and joins parts of signed numbers. */
static inline void
split_shorts(Numbers to[2], Shorts from)
{
  to[0] = (Numbers)INSTRUCTION(unpacklo_epi16)((Bits)from, (Bits)(Shorts){0});
  to[1] = (Numbers)INSTRUCTION(unpackhi_epi16)((Bits)from, (Bits)(Shorts){0});
}

static inline Shorts
join_shorts(const Numbers from[2])
{
  return (Shorts)INSTRUCTION(packs_epi32)((Bits)from[0], (Bits)from[1]);
}

/* Rounds to integers, ties to even. */
static inline Numbers
round_vector(Vector from)
{
  return (Numbers)INSTRUCTION(cvtps_epi32)((Floats)from);
}

#elif defined(HAVE_UPPER_HALF)

static inline Numbers
round_vector(Vector from)
{
  return (Numbers)vcvtnq_s32_f32((float32x4_t)from);
}

static inline Shorts
upper_half(Shorts a, Shorts b)
{
  return (Shorts)vqrdmulhq_s16((int16x8_t)a, (int16x8_t)b);
}

static inline Shorts
upper_half_unsigned(Shorts a, Shorts b)
{
  uint32x4_t low = vmull_u16(vget_low_u16((uint16x8_t)a), vget_low_u16((uint16x8_t)b));
  uint32x4_t high = vmull_high_u16((uint16x8_t)a, (uint16x8_t)b);

  return (Shorts)vuzp2q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high));
}

static inline Shorts
magnitude_of(Shorts a)
{
  return (Shorts)vabsq_s16((int16x8_t)a);
}

static inline Shorts
smaller_of(Shorts a, Shorts b)
{
  return (Shorts)vminq_u16((uint16x8_t)a, (uint16x8_t)b);
}

static inline Shorts
larger_of(Shorts a, Shorts b)
{
  return (Shorts)vmaxq_u16((uint16x8_t)a, (uint16x8_t)b);
}

static inline Shorts
subtract_to_zero(Shorts a, Shorts b)
{
  return (Shorts)vqsubq_u16((uint16x8_t)a, (uint16x8_t)b);
}

typedef struct {
  Shorts part[2];
} Pairs;

static inline Pairs
pairs_of(Shorts a, Shorts b)
{
  return (Pairs){{a, b}};
}

static inline void
sum_products(Numbers sum[2], Pairs a, Pairs b)
{
  for (int i = 0; i < 2; i++) {
    int16x8_t first = (int16x8_t)a.part[i], second = (int16x8_t)b.part[i];

    sum[0] = (Numbers)vmlal_s16((int32x4_t)sum[0], vget_low_s16(first), vget_low_s16(second));
    sum[1] = (Numbers)vmlal_high_s16((int32x4_t)sum[1], first, second);
  }
}

static inline void
split_shorts(Numbers to[2], Shorts from)
{
  to[0] = (Numbers)vmovl_u16(vget_low_u16((uint16x8_t)from));
  to[1] = (Numbers)vmovl_high_u16((uint16x8_t)from);
}

static inline Shorts
join_shorts(const Numbers from[2])
{
  return (Shorts)vqmovn_high_s32(vqmovn_s32((int32x4_t)from[0]), (int32x4_t)from[1]);
}

#endif
