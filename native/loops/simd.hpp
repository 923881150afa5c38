// Vector types of the instruction set this file is compiled for, and exp/log that vectorise.
//
// Everything is static: the same source is compiled for several instruction sets, and a function
// the linker could share between them would end up with the wrong instructions.
#pragma once

#include <stdint.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace ctsne::CTSNE_ISA {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX2__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif

typedef float Floats __attribute__((vector_size(kLanes * sizeof(float)), may_alias));
typedef int32_t Ints __attribute__((vector_size(kLanes * sizeof(int32_t)), may_alias));
// Eight floats at any address: a row of spline weights, or positions of four points in the plane.
typedef float Floats8 __attribute__((vector_size(32)));
typedef float Floats8Anywhere __attribute__((vector_size(32), aligned(4), may_alias));

// A shuffle of two vectors; GCC has Clang's name for it since version 12.
#if defined(__clang__) || __GNUC__ >= 12
#define CTSNE_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define CTSNE_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, __typeof__(a == b){__VA_ARGS__})
#endif

[[maybe_unused]] static inline float sum8(Floats8 a) {
  return ((a[0] + a[4]) + (a[1] + a[5])) + ((a[2] + a[6]) + (a[3] + a[7]));
}

// The sums of three vectors, with shared shuffles.
[[maybe_unused]] static inline void sums8(Floats8 a, Floats8 b, Floats8 c, float* out) {
  typedef float Floats4 __attribute__((vector_size(16)));
  const auto fold = [](Floats8 v) {
    Floats4 low, high;
    __builtin_memcpy(&low, &v, sizeof(low));
    __builtin_memcpy(&high, reinterpret_cast<const char*>(&v) + sizeof(low), sizeof(high));
    return low + high;
  };
  const Floats4 a4 = fold(a), b4 = fold(b), c4 = fold(c);
  const Floats4 ab = CTSNE_SHUFFLE(a4, b4, 0, 1, 4, 5) + CTSNE_SHUFFLE(a4, b4, 2, 3, 6, 7);
  const Floats4 cc = c4 + CTSNE_SHUFFLE(c4, c4, 2, 3, 0, 1);
  const Floats4 sum = CTSNE_SHUFFLE(ab, cc, 0, 2, 4, 4) + CTSNE_SHUFFLE(ab, cc, 1, 3, 5, 5);
  out[0] = sum[0], out[1] = sum[1], out[2] = sum[2];
}

// Folds a vector of any width into eight floats with the same sum.
[[maybe_unused]] static inline Floats8 folded(Floats a) {
#if defined(__AVX512F__)
  const Floats both = a + CTSNE_SHUFFLE(a, a, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
  Floats8 low;
  __builtin_memcpy(&low, &both, sizeof(low));
  return low;
#elif defined(__AVX2__)
  return a;
#else
  return Floats8{a[0], a[1], a[2], a[3], 0.0f, 0.0f, 0.0f, 0.0f};
#endif
}

template <class To, class From>
[[maybe_unused]] static inline To load_as(const From* from) {
  To value;
  __builtin_memcpy(&value, from, sizeof(To));
  return value;
}

typedef uint32_t Words8 __attribute__((vector_size(32)));

// Widens eight 16-bit numbers to 32 bits.
[[maybe_unused]] static inline Words8 widened(const uint16_t* from) {
#if defined(__AVX2__)  // one instruction; GCC would use four
  return reinterpret_cast<Words8>(
      _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
#else
  typedef uint16_t Shorts8 __attribute__((vector_size(16)));
  return __builtin_convertvector(load_as<Shorts8>(from), Words8);
#endif
}

// Bit k is set if a[k] <= b[k].
[[maybe_unused]] static inline unsigned mask_at_most(Floats a, Floats b) {
#if defined(__AVX512F__)
  return _mm512_cmp_ps_mask(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), _CMP_LE_OQ);
#elif defined(__AVX2__)
  return static_cast<unsigned>(_mm256_movemask_ps(reinterpret_cast<__m256>(a <= b)));
#elif defined(__SSE2__)
  return static_cast<unsigned>(_mm_movemask_ps(reinterpret_cast<__m128>(a <= b)));
#else
  unsigned mask = 0;
  for (int lane = 0; lane < kLanes; ++lane)
    mask |= static_cast<unsigned>(a[lane] <= b[lane]) << lane;
  return mask;
#endif
}

// Bit k is set if codes[k] equals the code.
[[maybe_unused]] static inline unsigned mask_equal(const int32_t* codes, int32_t code) {
#if defined(__AVX512F__)
  return _mm512_cmpeq_epi32_mask(_mm512_loadu_si512(codes), _mm512_set1_epi32(code));
#elif defined(__AVX2__)
  const __m256i equal = _mm256_cmpeq_epi32(load_as<__m256i>(codes), _mm256_set1_epi32(code));
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(equal)));
#else
  unsigned mask = 0;
  for (int lane = 0; lane < kLanes; ++lane)
    mask |= static_cast<unsigned>(codes[lane] == code) << lane;
  return mask;
#endif
}

#if defined(__AVX2__) && !defined(__AVX512F__)
// For every mask of eight lanes, the numbers of its lanes, first.
struct LaneTable {
  uint8_t lanes[256][8] = {};

  constexpr LaneTable() {
    for (int mask = 0; mask < 256; ++mask) {
      int next = 0;
      for (int lane = 0; lane < 8; ++lane)
        if (mask >> lane & 1) lanes[mask][next++] = static_cast<uint8_t>(lane);
    }
  }
};
static constexpr LaneTable kLaneTable;
#endif

// Writes the values of a mask's lanes and their positions (first + lane) to the front of two
// arrays, both with room for kLanes; returns how many.
[[maybe_unused]] static inline int32_t compress(Floats values, unsigned mask, uint32_t first,
                                                float* to, uint32_t* at) {
#if defined(__AVX512F__)
  const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const auto chosen = static_cast<__mmask16>(mask);
  const __m512i positions = _mm512_add_epi32(_mm512_maskz_compress_epi32(chosen, lanes),
                                             _mm512_set1_epi32(static_cast<int>(first)));
  _mm512_storeu_ps(to, _mm512_maskz_compress_ps(chosen, reinterpret_cast<__m512>(values)));
  _mm512_storeu_si512(at, positions);
  return __builtin_popcount(mask);
#elif defined(__AVX2__)
  const __m256i lanes = _mm256_cvtepu8_epi32(
      _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kLaneTable.lanes[mask])));
  const __m256i positions = _mm256_add_epi32(lanes, _mm256_set1_epi32(static_cast<int>(first)));
  _mm256_storeu_ps(to, _mm256_permutevar8x32_ps(reinterpret_cast<__m256>(values), lanes));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), positions);
  return __builtin_popcount(mask);
#else
  int32_t count = 0;
  for (; mask; mask &= mask - 1, ++count) {
    const int lane = __builtin_ctz(mask);
    to[count] = values[lane];
    at[count] = first + static_cast<uint32_t>(lane);
  }
  return count;
#endif
}

// exp(x) for x <= 0 to about 1e-15 relative; exp(-708) for smaller x.
[[maybe_unused]] static inline double exp_nonpositive(double x) {
  x = x < -708.0 ? -708.0 : x;
  const double rounder = 0x1.8p52;  // adding it leaves the rounded integer in the low bits
  const double shifted = x * 1.4426950408889634 + rounder;
  const double n = shifted - rounder;
  const double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
  double p = 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const uint64_t scale = __builtin_bit_cast(uint64_t, shifted) << 52;
  return __builtin_bit_cast(double, __builtin_bit_cast(uint64_t, p) + scale);
}

// exp(x) for x <= 0 in single precision; exp(-87) for smaller x.
[[maybe_unused]] static inline float exp_nonpositive(float x) {
  x = x < -87.0f ? -87.0f : x;
  const float rounder = 0x1.8p23f;
  const float shifted = x * 1.44269504f + rounder;
  const float n = shifted - rounder;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.0f / 5040.0f;
  p = p * r + 1.0f / 720.0f;
  p = p * r + 1.0f / 120.0f;
  p = p * r + 1.0f / 24.0f;
  p = p * r + 1.0f / 6.0f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const uint32_t scale = __builtin_bit_cast(uint32_t, shifted) << 23;
  return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, p) + scale);
}

// log(x) for finite x >= 1 in single precision.
[[maybe_unused]] static inline float log_from_one(float x) {
  // Split x = 2^e m with m in [sqrt(1/2), sqrt(2)), then log m = 2 artanh((m-1)/(m+1)).
  const int32_t bits = __builtin_bit_cast(int32_t, x) - 0x3f3504f3;
  const int32_t e = bits >> 23;
  const float m = __builtin_bit_cast(float, (bits & 0x007fffff) + 0x3f3504f3);
  const float s = (m - 1.0f) / (m + 1.0f);
  const float s2 = s * s;
  float p = 1.0f / 9.0f;
  p = p * s2 + 1.0f / 7.0f;
  p = p * s2 + 1.0f / 5.0f;
  p = p * s2 + 1.0f / 3.0f;
  p = p * s2 + 1.0f;
  return 2.0f * s * p + static_cast<float>(e) * 0.693147181f;
}

}  // namespace ctsne::CTSNE_ISA
