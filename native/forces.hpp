// The forces between points of a map, in parallel blocks of points.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels.hpp"
#include "parallel.hpp"

namespace ctsne {

constexpr std::int64_t kRowsPerBlock = 256;

struct SparseRows {
  std::span<const std::int64_t> indptr;
  std::span<const std::int32_t> indices;
  std::span<const float> values;
  std::int64_t count() const { return static_cast<std::int64_t>(indptr.size()) - 1; }
};

inline void attract(Tail tail, const SparseRows& p, const float* y, int workers, float* out) {
  workers = worthwhile(workers, 0.8 * static_cast<double>(p.values.size()));
  parallel_blocks(p.count(), kRowsPerBlock, workers, [&](int, std::int64_t begin, std::int64_t end) {
    kernels().attract(tail, p.indptr.data(), p.indices.data(), p.values.data(), y, begin, end, out);
  });
}

inline double log_kernel_sum(Tail tail, const SparseRows& p, const float* y, int workers) {
  workers = worthwhile(workers, 20.0 * static_cast<double>(p.values.size()));
  std::vector<double> sums((p.count() + kRowsPerBlock - 1) / kRowsPerBlock);
  parallel_blocks(p.count(), kRowsPerBlock, workers, [&](int, std::int64_t begin, std::int64_t end) {
    sums[begin / kRowsPerBlock] =
        kernels().log_kernel_sum(tail, p.indptr.data(), p.indices.data(), p.values.data(), y, begin, end);
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

// Who acts on whom: charges of points [from, to) on points [begin, end), times a coefficient and the
// target's own charge. A null charge is one everywhere.
struct Channel {
  std::int64_t from, to, begin, end;
  float coefficient;
  const float* source_charge;
  const float* target_charge;
};

inline void repel(Tail tail, const float* const* axis, const Channel& c, int workers, double* potential,
                  float* force) {
  workers = worthwhile(workers, 0.4 * static_cast<double>(c.to - c.from) * static_cast<double>(c.end - c.begin));
  parallel_blocks(c.end - c.begin, 64, workers, [&](int, std::int64_t begin, std::int64_t end) {
    kernels().repel(tail, axis, c.source_charge, c.from, c.to, c.begin + begin, c.begin + end,
                    c.coefficient, c.target_charge, potential, force);
  });
}

// The exact sum inside each of many ranges: range g holds points [bounds[g], bounds[g+1]).
inline void repel_ranges(Tail tail, const float* const* axis, std::span<const std::int64_t> bounds,
                         std::span<const float> coefficient, int workers, double* potential, float* force) {
  struct Piece {
    std::int64_t range, begin, end;
  };
  std::vector<Piece> pieces;
  double pairs = 0;
  for (std::size_t g = 0; g + 1 < bounds.size(); ++g) {
    if (coefficient[g] == 0) continue;
    const auto size = static_cast<double>(bounds[g + 1] - bounds[g]);
    pairs += size * size;
    for (std::int64_t begin = bounds[g]; begin < bounds[g + 1]; begin += kRowsPerBlock)
      pieces.push_back({static_cast<std::int64_t>(g), begin, std::min(begin + kRowsPerBlock, bounds[g + 1])});
  }
  workers = worthwhile(workers, 0.4 * pairs);
  // Tiny labels: many pieces to a block, or handing them out costs more than the work.
  const std::int64_t together = std::max<std::int64_t>(1, static_cast<std::int64_t>(pieces.size()) / 256);
  parallel_blocks(static_cast<std::int64_t>(pieces.size()), together, workers,
                  [&](int, std::int64_t first, std::int64_t last) {
    for (std::int64_t p = first; p < last; ++p) {
      const Piece& piece = pieces[p];
      kernels().repel(tail, axis, nullptr, bounds[piece.range], bounds[piece.range + 1], piece.begin,
                      piece.end, coefficient[piece.range], nullptr, potential, force);
    }
  });
}

// Spreads the charges of points [from, to) on a zeroed mesh. Points are ordered by plane of the first
// axis; each band of planes takes what falls on it. A node receives its points in the same order
// however the bands are cut.
inline void spread(const MeshShape& shape, const float* y, std::int64_t from, std::int64_t to,
                   const float* charge, int workers, float* grid) {
  workers = worthwhile(workers, 25.0 * static_cast<double>(to - from));
  const std::int64_t planes = shape.nodes[0];
  const auto plane_of = [&](std::int64_t i) {
    const float position = std::floor((y[i * shape.dims] - shape.origin[0]) / shape.spacing);
    const std::int64_t first = static_cast<std::int64_t>(position) - (kSplineOrder / 2 - 1);
    return std::clamp<std::int64_t>(first, 0, planes - kSplineOrder);
  };
  std::vector<std::int64_t> start(static_cast<std::size_t>(planes) + 1, 0);
  for (std::int64_t i = from; i < to; ++i) ++start[plane_of(i) + 1];
  for (std::int64_t plane = 0; plane < planes; ++plane) start[plane + 1] += start[plane];
  std::vector<std::int32_t> order(static_cast<std::size_t>(to - from));
  std::vector<std::int64_t> next(start.begin(), start.end() - 1);
  for (std::int64_t i = from; i < to; ++i) order[next[plane_of(i)]++] = static_cast<std::int32_t>(i);
  const std::int64_t band = std::max<std::int64_t>(2 * kSplineOrder, (planes + 15) / 16);
  parallel_blocks(planes, band, workers, [&](int, std::int64_t first, std::int64_t last) {
    const std::int64_t reach = std::max<std::int64_t>(0, first - kSplineOrder + 1);
    kernels().spread(shape, y, charge, order.data() + start[reach], start[last] - start[reach], first,
                     last, grid);
  });
}

inline void gather(const MeshShape& shape, const float* grid, const float* y, double offset,
                   const Channel& c, int workers, double* potential, float* force) {
  workers = worthwhile(workers, 30.0 * static_cast<double>(c.end - c.begin));
  parallel_blocks(c.end - c.begin, kRowsPerBlock, workers, [&](int, std::int64_t begin, std::int64_t end) {
    kernels().gather(shape, grid, y, c.begin + begin, c.begin + end, offset, c.coefficient,
                     c.target_charge, potential, force);
  });
}

}  // namespace ctsne
