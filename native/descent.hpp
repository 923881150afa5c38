// One step of gradient descent with momentum, gains and clipped steps.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "parallel.hpp"

namespace ctsne {

struct StepOptions {
  float pull;           // factor on the attraction: the exaggeration
  float push;           // factor on the repulsion: one over the normaliser
  float learning_rate;
  float momentum;
  float longest;        // a longer step is shortened to this
};

inline void step(const StepOptions& options, int dims, std::span<const float> attraction,
                 std::span<const float> repulsion, int workers, std::span<float> y, std::span<float> update,
                 std::span<float> gains) {
  const auto points = static_cast<std::int64_t>(y.size()) / dims;
  workers = worthwhile(workers, 8.0 * static_cast<double>(y.size()));
  parallel_blocks(points, 4096, workers, [&](int, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      float length2 = 0;
      for (std::int64_t k = i * dims; k < (i + 1) * dims; ++k) {
        const float gradient = options.pull * attraction[k] - options.push * repulsion[k];
        const bool onward = (gradient > 0) != (update[k] > 0);  // the last move went downhill here too
        const float gain = onward ? gains[k] + 0.2f : gains[k] * 0.8f;
        gains[k] = gain < 0.01f ? 0.01f : gain;
        update[k] = options.momentum * update[k] - options.learning_rate * gains[k] * gradient;
        length2 += update[k] * update[k];
      }
      const float limit = options.longest;
      if (!(length2 <= limit * limit)) {
        const float scale = std::isfinite(length2) ? limit / std::sqrt(length2) : 0.0f;
        for (std::int64_t k = i * dims; k < (i + 1) * dims; ++k)
          update[k] = std::isfinite(update[k]) ? update[k] * scale : 0.0f;
      }
      for (std::int64_t k = i * dims; k < (i + 1) * dims; ++k) y[k] += update[k];
    }
  });
  // Nothing in the loss depends on where the map lies; around the origin floats are finest.
  double mean[3] = {0, 0, 0};
  for (std::int64_t i = 0; i < points; ++i)
    for (int axis = 0; axis < dims; ++axis) mean[axis] += static_cast<double>(y[i * dims + axis]);
  for (int axis = 0; axis < dims; ++axis) mean[axis] /= static_cast<double>(points);
  for (std::int64_t i = 0; i < points; ++i)
    for (int axis = 0; axis < dims; ++axis) y[i * dims + axis] -= static_cast<float>(mean[axis]);
}

}  // namespace ctsne
