// One step of gradient descent: moves each block of points, then centres the map.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "layout/forces.hpp"
#include "loops/kernels.hpp"
#include "parallel/parallel.hpp"

namespace ctsne {

struct Extent {
  std::array<float, kMaxDims> low, high;
};

// Takes a step with the given repulsion. New positions go to `moved` first, because the attraction
// of all points is that of the old ones.
template <class Rows>
Extent descend(Tail tail, const StepOptions& options, const Rows& p, const float* repulsion,
               int workers, float* y, float* moved, float* update, float* gains) {
  const std::int64_t points = p.count, blocks = (points + kRowsPerBlock - 1) / kRowsPerBlock;
  const int dims = tail.dims;
  workers =
      worthwhile(workers, 0.5 * static_cast<double>(p.stored) + 10.0 * static_cast<double>(points));
  using Sum = std::array<double, kMaxDims>;
  std::vector<Sum> sums(static_cast<std::size_t>(blocks), Sum{});
  parallel_blocks(points, kRowsPerBlock, workers, [&](int, std::int64_t begin, std::int64_t end) {
    float attraction[kRowsPerBlock * kMaxDims];
    const std::int64_t at = begin * dims;
    attract_rows(tail, p, y, begin, end, attraction);
    kernels().step(options, dims, end - begin, attraction, repulsion + at, y + at, update + at,
                   gains + at, moved + at);
    Sum& sum = sums[static_cast<std::size_t>(begin / kRowsPerBlock)];
    for (std::int64_t i = begin; i < end; ++i)
      for (int axis = 0; axis < dims; ++axis)
        sum[axis] += static_cast<double>(moved[i * dims + axis]);
  });
  // The loss does not depend on where the map lies, and floats are most precise at the origin.
  Sum mean{};
  for (const Sum& sum : sums)
    for (int axis = 0; axis < dims; ++axis) mean[axis] += sum[axis] / static_cast<double>(points);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Extent all{{kInfinity, kInfinity, kInfinity}, {-kInfinity, -kInfinity, -kInfinity}};
  constexpr std::int64_t kTogether = 4096;
  std::vector<Extent> extents(static_cast<std::size_t>((points + kTogether - 1) / kTogether), all);
  parallel_blocks(points, kTogether, worthwhile(workers, 2.0 * static_cast<double>(points)),
                  [&](int, std::int64_t begin, std::int64_t end) {
                    Extent own = all;
                    for (std::int64_t i = begin; i < end; ++i) {
                      for (int axis = 0; axis < dims; ++axis) {
                        const float place = moved[i * dims + axis] - static_cast<float>(mean[axis]);
                        y[i * dims + axis] = place;
                        own.low[axis] = std::min(own.low[axis], place);
                        own.high[axis] = std::max(own.high[axis], place);
                      }
                    }
                    extents[static_cast<std::size_t>(begin / kTogether)] = own;
                  });
  for (const Extent& own : extents) {
    for (int axis = 0; axis < dims; ++axis) {
      all.low[axis] = std::min(all.low[axis], own.low[axis]);
      all.high[axis] = std::max(all.high[axis], own.high[axis]);
    }
  }
  return all;
}

}  // namespace ctsne
