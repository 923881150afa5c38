// One step of gradient descent for a block of points: momentum, gains and clipped steps.
#pragma once

#include <math.h>

#include "loops/kernels.hpp"
#include "loops/simd.hpp"

namespace ctsne::CTSNE_ISA {

static void step(const StepOptions& options, int dims, int64_t points, const float* attraction,
                 const float* repulsion, const float* y, float* update, float* gains,
                 float* moved) {
  const float pull = options.pull, push = options.push, rate = options.learning_rate;
  const float momentum = options.momentum, longest = options.longest;
#pragma omp simd
  for (int64_t k = 0; k < points * dims; ++k) {
    const float gradient = pull * attraction[k] - push * repulsion[k];
    const bool onward = (gradient > 0) != (update[k] > 0);  // the last move was downhill, too
    const float gain = onward ? gains[k] + 0.2f : gains[k] * 0.8f;
    gains[k] = gain < 0.01f ? 0.01f : gain;
    update[k] = momentum * update[k] - rate * gains[k] * gradient;
  }
  for (int64_t i = 0; i < points; ++i) {
    float* at = update + i * dims;
    float length2 = 0;
    for (int axis = 0; axis < dims; ++axis) length2 += at[axis] * at[axis];
    if (!(length2 > longest * longest)) continue;  // nor if either is not a number
    float scale = longest / sqrtf(length2);
    if (!isfinite(length2)) {  // few steps are this long
      double square = 0;
      for (int axis = 0; axis < dims; ++axis) square += static_cast<double>(at[axis]) * at[axis];
      scale = static_cast<float>(longest / sqrt(square));
    }
    for (int axis = 0; axis < dims; ++axis) at[axis] *= scale;
  }
#pragma omp simd
  for (int64_t k = 0; k < points * dims; ++k) moved[k] = y[k] + update[k];
}

}  // namespace ctsne::CTSNE_ISA
