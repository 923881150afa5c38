// Repulsion by the exact sum over all sources.
#pragma once

#include "loops/kernels.hpp"
#include "loops/simd.hpp"

namespace ctsne::CTSNE_ISA {

// K = (1 + d²/dof)^(-(dof+1)/2) and K / (1 + d²/dof), which carries the force.
template <bool kCauchy>
static inline void kernel_pair(float d2, float inverse_dof, float power, float* value,
                               float* steep) {
  const float inverse = 1.0f / (1.0f + d2 * inverse_dof);
  *value = kCauchy ? inverse : exp_nonpositive(power * log_from_one(1.0f + d2 * inverse_dof));
  *steep = *value * inverse;
}

// Adds the potential and forces of the sources [from, to) at one position.
template <int D, bool kCauchy, bool kCharged>
static inline void repel_from(float dof, const float* const* axis, const float* charge,
                              int64_t from, int64_t to, const float* at, float* sums) {
  const float inverse_dof = 1.0f / dof, power = -0.5f * (dof + 1.0f);
  const float *x0 = axis[0], *x1 = axis[D > 1 ? 1 : 0], *x2 = axis[D > 2 ? 2 : 0];
  const float at0 = at[0], at1 = at[1], at2 = at[2];
  float value_sum = 0, s0 = 0, s1 = 0, s2 = 0;
#pragma omp simd reduction(+ : value_sum, s0, s1, s2)
  for (int64_t j = from; j < to; ++j) {
    const float d0 = at0 - x0[j];
    const float d1 = D > 1 ? at1 - x1[j] : 0.0f;
    const float d2 = D > 2 ? at2 - x2[j] : 0.0f;
    float value, steep;
    kernel_pair<kCauchy>(d0 * d0 + d1 * d1 + d2 * d2, inverse_dof, power, &value, &steep);
    if (kCharged) value *= charge[j], steep *= charge[j];
    value_sum += value;
    s0 += steep * d0;
    s1 += steep * d1;
    s2 += steep * d2;
  }
  sums[0] += value_sum, sums[1] += s0, sums[2] += s1, sums[3] += s2;
}

template <int D, bool kCauchy, bool kCharged>
static double repel_all(float dof, const float* const* axis, const float* charge, int64_t from,
                        int64_t to, int64_t begin, int64_t end, float coefficient,
                        const float* target_charge, float* force) {
  const float factor = (dof + 1.0f) / (2.0f * dof);
  double potential = 0;
  for (int64_t i = begin; i < end; ++i) {
    float at[3] = {0, 0, 0}, sums[4] = {0, 0, 0, 0};
    for (int a = 0; a < D; ++a) at[a] = axis[a][i];
    // A point does not act on itself. Its own term, a one, would hide the small terms of far
    // points in the sum, so it is left out here.
    const int64_t before = i < from ? from
                           : i < to ? i
                                    : to,
                  after = i < from ? from
                          : i < to ? i + 1
                                   : to;
    repel_from<D, kCauchy, kCharged>(dof, axis, charge, from, before, at, sums);
    repel_from<D, kCauchy, kCharged>(dof, axis, charge, after, to, at, sums);
    const float weight = coefficient * (target_charge ? target_charge[i] : 1.0f);
    potential += static_cast<double>(weight) * static_cast<double>(sums[0]);
    for (int a = 0; a < D; ++a) force[i * D + a] += weight * factor * sums[a + 1];
  }
  return potential;
}

template <int D>
static double repel_in(Tail tail, const float* const* axis, const float* charge, int64_t from,
                       int64_t to, int64_t begin, int64_t end, float coefficient,
                       const float* target_charge, float* force) {
  const bool cauchy = tail.dof == 1.0f;
  auto* sum = cauchy ? (charge ? repel_all<D, true, true> : repel_all<D, true, false>)
                     : (charge ? repel_all<D, false, true> : repel_all<D, false, false>);
  return sum(tail.dof, axis, charge, from, to, begin, end, coefficient, target_charge, force);
}

static double repel(Tail tail, const float* const* axis, const float* charge, int64_t from,
                    int64_t to, int64_t begin, int64_t end, float coefficient,
                    const float* target_charge, float* force) {
  auto* sum = tail.dims == 1 ? repel_in<1> : tail.dims == 2 ? repel_in<2> : repel_in<3>;
  return sum(tail, axis, charge, from, to, begin, end, coefficient, target_charge, force);
}

}  // namespace ctsne::CTSNE_ISA
