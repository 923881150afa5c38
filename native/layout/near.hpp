// The part of the repulsion that a coarse mesh cannot represent: near pairs, found by cells of a
// plane map.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "layout/buckets.hpp"
#include "loops/kernels.hpp"
#include "parallel/parallel.hpp"

namespace ctsne {

// The extent of a plane map, and the reach of near pairs.
struct NearShape {
  float low[2], high[2];
  float reach;
  std::int32_t most[2];  // cells along each axis, whatever rounding does to the corners
};

// Groups of points with a weight for every pair: `same` inside a group, and across groups the
// product of both charges, at most one. Group g holds points [bounds[g], bounds[g+1]).
struct PairGroups {
  std::span<const std::int64_t> bounds;
  std::span<const float> charge, same;
};

// The points in the order of cells, row by row, with everything that the loop over pairs reads.
class NearCells {
 public:
  NearCells(const NearShape& shape, const float* y, const PairGroups& groups, int workers)
      : per_cell_(static_cast<float>(kNearCells) / shape.reach) {
    for (int axis = 0; axis < 2; ++axis)
      count_[axis] =
          std::min(whole((shape.high[axis] - shape.low[axis]) * per_cell_), shape.most[axis]) + 1;
    const auto points = static_cast<std::size_t>(groups.bounds.back());
    const Buckets rows(0, groups.bounds.back(), count_[0], workers,
                       [&](std::int64_t begin, std::int64_t end, std::uint32_t* keys) {
                         for (std::int64_t i = begin; i < end; ++i)
                           keys[i - begin] = static_cast<std::uint32_t>(cell(shape, y, i, 0));
                       });
    const std::size_t padded = points + kMostLanes;  // the last vector may read past the last point
    floats_ = std::make_unique<float[]>(3 * padded);
    ints_ = std::make_unique<std::int32_t[]>(2 * padded);
    start_.resize(static_cast<std::size_t>(count_[0]) * static_cast<std::size_t>(count_[1]) + 1);
    start_.back() = static_cast<std::int32_t>(points);
    sorted_ = {floats_.get(),
               floats_.get() + padded,
               floats_.get() + 2 * padded,
               ints_.get(),
               ints_.get() + padded,
               start_.data(),
               count_[0],
               count_[1]};
    parallel_for(count_[0], workers, [&](int, std::int64_t row) {
      sort_row(shape, y, groups, rows.points(row, row + 1), row, rows.before(row));
    });
  }

  const NearPoints& sorted() const { return sorted_; }

 private:
  std::int32_t cell(const NearShape& shape, const float* y, std::int64_t i, int axis) const {
    return std::min(whole((y[2 * i + axis] - shape.low[axis]) * per_cell_), count_[axis] - 1);
  }

  void sort_row(const NearShape& shape, const float* y, const PairGroups& groups,
                std::span<const std::int32_t> points, std::int64_t row, std::int32_t before) {
    std::int32_t* start = start_.data() + row * count_[1];
    std::vector<std::int32_t> next(static_cast<std::size_t>(count_[1]));
    for (const std::int32_t i : points) ++next[static_cast<std::size_t>(cell(shape, y, i, 1))];
    for (std::int32_t column = 0; column < count_[1]; ++column) {
      start[column] = before;
      before += std::exchange(next[static_cast<std::size_t>(column)], before);
    }
    std::size_t group = 0;
    for (const std::int32_t i : points) {
      while (i >= groups.bounds[group + 1]) ++group;  // points come in their order
      const std::int32_t at = next[static_cast<std::size_t>(cell(shape, y, i, 1))]++;
      sorted_.x[at] = y[2 * i];
      sorted_.y[at] = y[2 * i + 1];
      sorted_.charge[at] = groups.charge[group];
      sorted_.group[at] = static_cast<std::int32_t>(group);
      sorted_.point[at] = i;
    }
  }

  float per_cell_;  // cells per unit of length
  std::int32_t count_[2];
  std::unique_ptr<float[]> floats_;
  std::unique_ptr<std::int32_t[]> ints_;
  std::vector<std::int32_t> start_;
  NearPoints sorted_;
};

// Adds the forces of all pairs nearer than the reach and returns their potential, including each
// point's own.
inline double repel_near(const NearShape& shape, const float* y, const PairGroups& groups,
                         int workers, float* force) {
  workers = worthwhile(workers, 50.0 * static_cast<double>(groups.bounds.back()));
  const NearCells cells(shape, y, groups, workers);
  return parallel_sum(cells.sorted().rows, 1, workers, [&](std::int64_t row, std::int64_t) {
    return kernels().repel_near(cells.sorted(), shape.reach, groups.same.data(), row, force);
  });
}

}  // namespace ctsne
