// Turns the charges of groups of points into those that act on each group.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "parallel/parallel.hpp"

namespace ctsne {

// There is one grid per group, labelled groups first, then at most one of unlabelled points. Across
// labels the weight of a pair is the product of both charges, inside label g `own[g]` more, and
// with an unlabelled point one. Convolution is linear, so the weights can be applied to the
// charges, and one convolution per group is enough.
inline void mix_groups(std::span<const float> charge, std::span<const float> own, bool unlabelled,
                       std::int64_t size, int workers, float* grids) {
  constexpr std::int64_t kNodes = 512;
  const std::size_t groups = charge.size(), labelled = groups - (unlabelled ? 1 : 0);
  workers = worthwhile(workers, 1.0 * static_cast<double>(size) * static_cast<double>(groups));
  parallel_blocks(size, kNodes, workers, [&](int, std::int64_t begin, std::int64_t end) {
    float charged[kNodes] = {}, plain[kNodes] = {};
    const std::int64_t count = end - begin;
    const auto at = [&](std::size_t group) {
      return grids + static_cast<std::int64_t>(group) * size + begin;
    };
    for (std::size_t g = 0; g < labelled; ++g) {
      const float* grid = at(g);
      for (std::int64_t k = 0; k < count; ++k)
        charged[k] += charge[g] * grid[k], plain[k] += grid[k];
    }
    for (std::size_t g = 0; g < labelled; ++g) {
      float* grid = at(g);
      for (std::int64_t k = 0; k < count; ++k) grid[k] = charge[g] * charged[k] + own[g] * grid[k];
      if (!unlabelled) continue;
      const float* others = at(labelled);
      for (std::int64_t k = 0; k < count; ++k) grid[k] += others[k];
    }
    if (!unlabelled) return;
    float* grid = at(labelled);
    for (std::int64_t k = 0; k < count; ++k) grid[k] += plain[k];
  });
}

}  // namespace ctsne
