// Repulsion by the exact sum over all sources.
#pragma once

#include "../kernels.hpp"
#include "simd.hpp"

namespace ctsne::CTSNE_ISA {

// K = (1 + d²/dof)^(-(dof+1)/2) and K / (1 + d²/dof), which carries the force.
template <bool kCauchy>
static inline void kernel_pair(float d2, float inverse_dof, float power, float* value, float* steep) {
  const float inverse = 1.0f / (1.0f + d2 * inverse_dof);
  *value = kCauchy ? inverse : exp_nonpositive(power * log_from_one(1.0f + d2 * inverse_dof));
  *steep = *value * inverse;
}

template <int D, bool kCauchy, bool kCharged>
static void repel_all(float dof, const float* const* axis, const float* charge, int64_t from, int64_t to,
                      int64_t begin, int64_t end, float coefficient, const float* target_charge,
                      double* potential, float* force) {
  const float inverse_dof = 1.0f / dof, power = -0.5f * (dof + 1.0f);
  const float factor = (dof + 1.0f) / (2.0f * dof);
  const float *x0 = axis[0], *x1 = axis[D > 1 ? 1 : 0], *x2 = axis[D > 2 ? 2 : 0];
  for (int64_t i = begin; i < end; ++i) {
    const float at0 = x0[i], at1 = x1[i], at2 = x2[i];
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
    const float weight = coefficient * (target_charge ? target_charge[i] : 1.0f);
    const float sums[3] = {s0, s1, s2};
    potential[i] += static_cast<double>(weight) * static_cast<double>(value_sum);
    for (int a = 0; a < D; ++a) force[i * D + a] += weight * factor * sums[a];
  }
}

template <int D>
static void repel_in(Tail tail, const float* const* axis, const float* charge, int64_t from, int64_t to,
                     int64_t begin, int64_t end, float coefficient, const float* target_charge,
                     double* potential, float* force) {
  const bool cauchy = tail.dof == 1.0f;
  auto* sum = cauchy ? (charge ? repel_all<D, true, true> : repel_all<D, true, false>)
                     : (charge ? repel_all<D, false, true> : repel_all<D, false, false>);
  sum(tail.dof, axis, charge, from, to, begin, end, coefficient, target_charge, potential, force);
}

static void repel(Tail tail, const float* const* axis, const float* charge, int64_t from, int64_t to,
                  int64_t begin, int64_t end, float coefficient, const float* target_charge,
                  double* potential, float* force) {
  auto* sum = tail.dims == 1 ? repel_in<1> : tail.dims == 2 ? repel_in<2> : repel_in<3>;
  sum(tail, axis, charge, from, to, begin, end, coefficient, target_charge, potential, force);
}

}  // namespace ctsne::CTSNE_ISA
