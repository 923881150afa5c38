// One row of similarities: softmax of log_weight - precision * d2, in double precision.
#pragma once

#include "loops/kernels.hpp"
#include "loops/simd.hpp"

namespace ctsne::CTSNE_ISA {

static RowSums row_sums(const double* d2, const double* log_weight, int64_t k, double precision) {
  double peak = -__builtin_inf();
#pragma omp simd reduction(max : peak)
  for (int64_t j = 0; j < k; ++j) {
    const double a = log_weight[j] - precision * d2[j];
    peak = a > peak ? a : peak;
  }
  double total = 0, weighted = 0;
#pragma omp simd reduction(+ : total, weighted)
  for (int64_t j = 0; j < k; ++j) {
    const double a = log_weight[j] - precision * d2[j] - peak;
    const double e = exp_nonpositive(a);
    total += e;
    weighted += e * (a < -708.0 ? -708.0 : a);
  }
  return {peak, total, weighted};
}

static void row_exp(const double* d2, const double* log_weight, int64_t k, double precision,
                    double log_total, double* row) {
#pragma omp simd
  for (int64_t j = 0; j < k; ++j) {
    const double a = log_weight[j] - precision * d2[j] - log_total;
    const double e = exp_nonpositive(a < 0.0 ? a : 0.0);
    row[j] = a < -700.0 ? 0.0 : e;
  }
}

}  // namespace ctsne::CTSNE_ISA
