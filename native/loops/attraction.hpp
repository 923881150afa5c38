// Attraction: every row of the sparse similarities once, reading the positions of its columns.
#pragma once

#include <math.h>

#include "../kernels.hpp"
#include "simd.hpp"

namespace ctsne::CTSNE_ISA {

template <int D>
static void attract_row(float inverse_dof, const int32_t* columns, const float* values, int64_t count,
                        const float* y, const float* at, float* force) {
  float sum[3] = {0, 0, 0};
  float s0 = 0, s1 = 0, s2 = 0;
#pragma omp simd reduction(+ : s0, s1, s2)
  for (int64_t k = 0; k < count; ++k) {
    const float* other = y + static_cast<int64_t>(columns[k]) * D;
    const float d0 = at[0] - other[0];
    const float d1 = D > 1 ? at[D > 1 ? 1 : 0] - other[D > 1 ? 1 : 0] : 0.0f;
    const float d2 = D > 2 ? at[D > 2 ? 2 : 0] - other[D > 2 ? 2 : 0] : 0.0f;
    const float pull = values[k] / (1.0f + (d0 * d0 + d1 * d1 + d2 * d2) * inverse_dof);
    s0 += pull * d0;
    s1 += pull * d1;
    s2 += pull * d2;
  }
  sum[0] = s0, sum[1] = s1, sum[2] = s2;
  for (int axis = 0; axis < D; ++axis) force[axis] = sum[axis];
}

// In the plane a position is one 8-byte load; shuffles then part the axes, where a gather
// instruction would take several times as long.
template <>
void attract_row<2>(float inverse_dof, const int32_t* columns, const float* values, int64_t count,
                    const float* y, const float* at, float* force) {
  typedef double Pair __attribute__((may_alias, aligned(4)));
  typedef double Pairs __attribute__((vector_size(32)));
  const Pair* pairs = reinterpret_cast<const Pair*>(y);
  Floats8 sum0 = {}, sum1 = {};
  int64_t k = 0;
  for (; k + 8 <= count; k += 8) {
    const int32_t* c = columns + k;
    const Pairs low = {pairs[c[0]], pairs[c[1]], pairs[c[4]], pairs[c[5]]};
    const Pairs high = {pairs[c[2]], pairs[c[3]], pairs[c[6]], pairs[c[7]]};
    const Floats8 a = reinterpret_cast<Floats8>(low), b = reinterpret_cast<Floats8>(high);
    const Floats8 d0 = at[0] - CTSNE_SHUFFLE(a, b, 0, 2, 8, 10, 4, 6, 12, 14);
    const Floats8 d1 = at[1] - CTSNE_SHUFFLE(a, b, 1, 3, 9, 11, 5, 7, 13, 15);
    const Floats8 value = *reinterpret_cast<const Floats8Anywhere*>(values + k);
    const Floats8 pull = value / (1.0f + (d0 * d0 + d1 * d1) * inverse_dof);
    sum0 += pull * d0;
    sum1 += pull * d1;
  }
  float s0 = 0, s1 = 0;
  for (; k < count; ++k) {
    const float* other = y + static_cast<int64_t>(columns[k]) * 2;
    const float d0 = at[0] - other[0], d1 = at[1] - other[1];
    const float pull = values[k] / (1.0f + (d0 * d0 + d1 * d1) * inverse_dof);
    s0 += pull * d0;
    s1 += pull * d1;
  }
  for (int lane = 0; lane < 8; ++lane) s0 += sum0[lane], s1 += sum1[lane];
  force[0] = s0, force[1] = s1;
}

template <int D>
static void attract_rows(float dof, const int64_t* indptr, const int32_t* indices, const float* values,
                         const float* y, int64_t begin, int64_t end, float* out) {
  const float factor = (dof + 1.0f) / (2.0f * dof);
  for (int64_t i = begin; i < end; ++i) {
    float* force = out + (i - begin) * D;
    attract_row<D>(1.0f / dof, indices + indptr[i], values + indptr[i], indptr[i + 1] - indptr[i], y,
                   y + i * D, force);
    for (int axis = 0; axis < D; ++axis) force[axis] *= factor;
  }
}

static void attract(Tail tail, const int64_t* indptr, const int32_t* indices, const float* values,
                    const float* y, int64_t begin, int64_t end, float* out) {
  auto* rows = tail.dims == 1 ? attract_rows<1> : tail.dims == 2 ? attract_rows<2> : attract_rows<3>;
  rows(tail.dof, indptr, indices, values, y, begin, end, out);
}

// Double precision: the loss is read to many digits, and computed seldom.
static double log_kernel_sum(Tail tail, const int64_t* indptr, const int32_t* indices,
                             const float* values, const float* y, int64_t begin, int64_t end) {
  double sum = 0;
  for (int64_t i = begin; i < end; ++i) {
    for (int64_t k = indptr[i]; k < indptr[i + 1]; ++k) {
      double d2 = 0;
      for (int axis = 0; axis < tail.dims; ++axis) {
        const double difference = static_cast<double>(y[i * tail.dims + axis]) -
                                  static_cast<double>(y[static_cast<int64_t>(indices[k]) * tail.dims + axis]);
        d2 += difference * difference;
      }
      sum += static_cast<double>(values[k]) * log1p(d2 / tail.dof);
    }
  }
  return -0.5 * (tail.dof + 1.0) * sum;
}

}  // namespace ctsne::CTSNE_ISA
