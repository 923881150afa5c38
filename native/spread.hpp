// Charges to a mesh, in parallel bands of its planes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kernels.hpp"
#include "parallel.hpp"

namespace ctsne {

// The points of [from, to) by plane of the first axis, and in the order they came on each: planes that
// follow each other make a band.
class Bands {
 public:
  Bands(const MeshShape& shape, const float* y, std::int64_t from, std::int64_t to, int workers)
      : strip_((shape.nodes[0] + kMostStrips - 1) / kMostStrips),
        strips_((shape.nodes[0] + strip_ - 1) / strip_),
        order_(std::make_unique_for_overwrite<std::int32_t[]>(static_cast<std::size_t>(to - from))) {
    const auto keys = std::make_unique_for_overwrite<std::uint16_t[]>(static_cast<std::size_t>(to - from));
    const std::int64_t chunks = (to - from + kTogether - 1) / kTogether;
    std::vector<std::int32_t> next(static_cast<std::size_t>(chunks * strips_));
    const float scale = 1.0f / shape.spacing;
    const auto last = static_cast<std::int32_t>(shape.nodes[0] - kSplineOrder);
    const auto strip = static_cast<std::int32_t>(strip_);
    parallel_blocks(to - from, kTogether, workers, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const float position = (y[(from + i) * shape.dims] - shape.origin[0]) * scale;
        const std::int32_t first = static_cast<std::int32_t>(position) - (kSplineOrder / 2 - 1);
        keys[i] = static_cast<std::uint16_t>(std::clamp(first, 0, last) / strip);
      }
      std::int32_t* counts = next.data() + begin / kTogether * strips_;
      for (std::int64_t i = begin; i < end; ++i) ++counts[keys[i]];
    });
    start_.reserve(static_cast<std::size_t>(strips_) + 1);
    std::int32_t total = 0;
    for (std::int64_t key = 0; key < strips_; ++key) {
      start_.push_back(total);
      for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
        total += std::exchange(next[static_cast<std::size_t>(chunk * strips_ + key)], total);
    }
    start_.push_back(total);
    parallel_blocks(to - from, kTogether, workers, [&](int, std::int64_t begin, std::int64_t end) {
      std::int32_t* place = next.data() + begin / kTogether * strips_;
      for (std::int64_t i = begin; i < end; ++i) order_[place[keys[i]]++] = static_cast<std::int32_t>(from + i);
    });
  }

  // A spline reaches no farther than the next band.
  std::int64_t count() const { return (strips_ + kStripsPerBand - 1) / kStripsPerBand; }
  std::int64_t planes() const { return strip_ * kStripsPerBand; }
  std::span<const std::int32_t> points(std::int64_t band) const {
    const std::int64_t first = band * kStripsPerBand, last = std::min(first + kStripsPerBand, strips_);
    return {order_.get() + start_[static_cast<std::size_t>(first)], order_.get() + start_[static_cast<std::size_t>(last)]};
  }

 private:
  static constexpr std::int64_t kStripsPerBand = 8, kMostStrips = 4096, kTogether = 16384;
  static_assert(kStripsPerBand > kSplineOrder);

  std::int64_t strip_, strips_;  // planes to a strip (one, but on very long meshes), and their number
  std::unique_ptr<std::int32_t[]> order_;
  std::vector<std::int32_t> start_;
};

// Puts the charges of points [from, to) on a mesh; what was on it is forgotten. Every other band first,
// then those between them: no two threads ever write to the same planes, and a node receives its points
// in the same order whoever they are.
inline void spread(const MeshShape& shape, const float* y, std::int64_t from, std::int64_t to,
                   const float* charge, int workers, float* grid) {
  workers = worthwhile(workers, 15.0 * static_cast<double>(to - from));
  const Bands bands(shape, y, from, to, workers);
  for (std::int64_t odd = 0; odd < 2; ++odd) {
    parallel_for((bands.count() + 1 - odd) / 2, workers, [&](int, std::int64_t pair) {
      const std::int64_t band = 2 * pair + odd, first = band * bands.planes();
      if (odd == 0) {
        const std::int64_t last = std::min(first + 2 * bands.planes(), shape.nodes[0]);
        std::fill(grid + first * shape.stride[0], grid + last * shape.stride[0], 0.0f);
      }
      const auto points = bands.points(band);
      kernels().spread(shape, y, charge, points.data(), static_cast<std::int64_t>(points.size()), grid);
    });
  }
}

}  // namespace ctsne
