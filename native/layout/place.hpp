// Places new points in a finished map, in parallel blocks of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "loops/kernels.hpp"
#include "parallel/parallel.hpp"

namespace ctsne {

// New points: `length` neighbours each, with their weights, and the potential that each one feels.
struct NewPoints {
  std::int64_t count, length;
  const std::int32_t* indices;
  const float* rows;
  const std::int32_t* grid;    // number of the grid that the point reads
  const float* share;          // factor on that grid
  const float* own;            // factor on the points summed exactly,
  const std::int64_t* ranges;  // which are [ranges[2 i], ranges[2 i + 1])
};

// The neighbours of one new point, in the form that the kernel takes.
class Near {
 public:
  Near(int dims, std::int64_t length)
      : dims_(dims),
        padded_((length + 7) / 8 * 8),
        values_(static_cast<std::size_t>(padded_ * (dims + 1))),
        sorted_(static_cast<std::size_t>(length)) {
    for (int a = 0; a < dims; ++a) places_.axis[a] = column(a);
    places_.weight = column(dims);
    places_.count = padded_;
  }

  const NearPlaces& fill(const float* y, const std::int32_t* indices, const float* row) {
    const std::int64_t length = static_cast<std::int64_t>(sorted_.size());
    for (std::int64_t j = 0; j < padded_; ++j) {
      const std::int64_t from = indices[std::min(j, length - 1)];
      for (int a = 0; a < dims_; ++a) column(a)[j] = y[from * dims_ + a];
      column(dims_)[j] = j < length ? row[j] : 0.0f;
    }
    return places_;
  }

  // The median of the neighbours' positions, axis by axis, weighted by the roots of their weights.
  // The start decides in which group of neighbours the point ends, and more of them should have a
  // say in that than in its place inside the group.
  void median(float* at) {
    for (int a = 0; a < dims_; ++a) {
      double total = 0;
      for (std::size_t j = 0; j < sorted_.size(); ++j) {
        sorted_[j] = {column(a)[j], std::sqrt(column(dims_)[j])};
        total += static_cast<double>(sorted_[j].second);
      }
      std::sort(sorted_.begin(), sorted_.end());
      double below = 0;
      for (const auto& [place, weight] : sorted_) {
        at[a] = place;
        below += static_cast<double>(weight);
        if (below >= 0.5 * total) break;
      }
    }
  }

 private:
  float* column(int a) { return values_.data() + a * padded_; }

  int dims_;
  std::int64_t padded_;
  std::vector<float> values_;
  std::vector<std::pair<float, float>> sorted_;
  NearPlaces places_{};
};

inline void place(const PlaceFields& fields, const PlaceOptions& options, const NewPoints& points,
                  const float* y, int workers, float* out, std::int32_t* steps) {
  constexpr std::int64_t kPointsPerBlock = 64;
  const int dims = options.tail.dims;
  workers = worthwhile(workers, 2000.0 * static_cast<double>(points.count));
  parallel_blocks(points.count, kPointsPerBlock, workers,
                  [&](int, std::int64_t begin, std::int64_t end) {
                    Near near(dims, points.length);
                    for (std::int64_t i = begin; i < end; ++i) {
                      const std::int64_t row = i * points.length;
                      const NearPlaces& places = near.fill(y, points.indices + row, points.rows + row);
                      float* at = out + i * dims;
                      near.median(at);
                      const NewPoint point{points.grid[i], points.share[i], points.own[i],
                                           points.ranges[2 * i], points.ranges[2 * i + 1]};
                      steps[i] = kernels().place(fields, options, point, places, at);
                    }
                  });
}

}  // namespace ctsne
