// Puts charges on meshes, in parallel bands of their planes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "layout/buckets.hpp"
#include "loops/kernels.hpp"
#include "parallel/parallel.hpp"

namespace ctsne {

// Calls work(group, begin, end) for the part of [begin, end) in each group; group g holds points
// [bounds[g], bounds[g+1]).
template <class Work>
void each_group(std::span<const std::int64_t> bounds, std::int64_t begin, std::int64_t end,
                Work&& work) {
  auto group = std::upper_bound(bounds.begin(), bounds.end(), begin) - bounds.begin() - 1;
  for (; begin < end; ++group) {
    const std::int64_t stop = std::min(end, bounds[static_cast<std::size_t>(group) + 1]);
    if (begin < stop) work(group, begin, stop);
    begin = std::max(begin, stop);
  }
}

// The points of every group, sorted by plane of the first axis, in their order on each plane.
// Consecutive planes make a band.
class Bands {
 public:
  Bands(const MeshShape& shape, const float* y, std::span<const std::int64_t> bounds, int workers)
      : strip_((shape.nodes[0] + kMostStrips - 1) / kMostStrips),
        strips_((shape.nodes[0] + strip_ - 1) / strip_),
        buckets_(bounds.front(), bounds.back(),
                 strips_ * static_cast<std::int64_t>(bounds.size() - 1), workers,
                 [&](std::int64_t from, std::int64_t to, std::uint32_t* keys) {
                   each_group(bounds, from, to,
                              [&](std::int64_t group, std::int64_t begin, std::int64_t end) {
                                write_keys(shape, y, group, begin, end, keys + (begin - from));
                              });
                 }) {}

  // A spline reaches no farther than the next band.
  std::int64_t count() const { return (strips_ + kStripsPerBand - 1) / kStripsPerBand; }
  std::int64_t planes() const { return strip_ * kStripsPerBand; }
  std::span<const std::int32_t> points(std::int64_t group, std::int64_t band) const {
    const std::int64_t first = band * kStripsPerBand,
                       last = std::min(first + kStripsPerBand, strips_);
    return buckets_.points(group * strips_ + first, group * strips_ + last);
  }

 private:
  static constexpr std::int64_t kStripsPerBand = 8, kMostStrips = 4096;
  static_assert(kStripsPerBand > kSplineOrder);

  void write_keys(const MeshShape& shape, const float* y, std::int64_t group, std::int64_t begin,
                  std::int64_t end, std::uint32_t* keys) const {
    const float scale = 1.0f / shape.spacing;
    const auto last = static_cast<std::int32_t>(shape.nodes[0] - kSplineOrder);
    const auto strip = static_cast<std::int32_t>(strip_),
               base = static_cast<std::int32_t>(group * strips_);
    for (std::int64_t i = begin; i < end; ++i) {
      const float position = (y[i * shape.dims] - shape.origin[0]) * scale;
      const std::int32_t first = whole(position) - (kSplineOrder / 2 - 1);
      keys[i - begin] = static_cast<std::uint32_t>(base + std::clamp(first, 0, last) / strip);
    }
  }

  std::int64_t strip_, strips_;  // planes per strip (more than one on very long meshes), strips
  Buckets buckets_;
};

// Puts the charges of each group on its own mesh, one after the other in `grids`, and overwrites
// their content. Even bands come first, then odd ones: no two threads write to the same planes at
// once, and every node receives its points in the same order on any number of threads.
inline void spread(const MeshShape& shape, const float* y, std::span<const std::int64_t> bounds,
                   const float* charge, int workers, float* grids) {
  workers = worthwhile(workers, 15.0 * static_cast<double>(bounds.back() - bounds.front()));
  const Bands bands(shape, y, bounds, workers);
  const auto groups = static_cast<std::int64_t>(bounds.size() - 1);
  for (std::int64_t odd = 0; odd < 2; ++odd) {
    const std::int64_t pairs = (bands.count() + 1 - odd) / 2;
    parallel_for(groups * pairs, workers, [&](int, std::int64_t at) {
      const std::int64_t group = at / pairs, band = at % pairs * 2 + odd,
                         first = band * bands.planes();
      float* grid = grids + group * shape.size;
      if (odd == 0) {
        const std::int64_t last = std::min(first + 2 * bands.planes(), shape.nodes[0]);
        std::fill(grid + first * shape.stride[0], grid + last * shape.stride[0], 0.0f);
      }
      const auto points = bands.points(group, band);
      kernels().spread(shape, y, charge, points.data(), static_cast<std::int64_t>(points.size()),
                       grid);
    });
  }
}

}  // namespace ctsne
