// The forces between points of a map, in parallel blocks of points.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "loops/kernels.hpp"
#include "parallel/parallel.hpp"

namespace ctsne {

constexpr std::int64_t kRowsPerBlock = 256;

inline void attract_rows(Tail tail, const SparseRows& p, const float* y, std::int64_t begin,
                         std::int64_t end, float* out) {
  kernels().attract(tail, p, y, begin, end, out);
}
inline void attract_rows(Tail tail, const PackedRows& p, const float* y, std::int64_t begin,
                         std::int64_t end, float* out) {
  kernels().attract_packed(tail, p, y, begin, end, out);
}
inline double log_kernel_rows(Tail tail, const SparseRows& p, const float* y, std::int64_t begin,
                              std::int64_t end) {
  return kernels().log_kernel_sum(tail, p, y, begin, end);
}
inline double log_kernel_rows(Tail tail, const PackedRows& p, const float* y, std::int64_t begin,
                              std::int64_t end) {
  return kernels().log_kernel_sum_packed(tail, p, y, begin, end);
}

template <class Rows>
void attract(Tail tail, const Rows& p, const float* y, int workers, float* out) {
  workers = worthwhile(workers, 0.5 * static_cast<double>(p.stored));
  parallel_blocks(p.count, kRowsPerBlock, workers, [&](int, std::int64_t begin, std::int64_t end) {
    attract_rows(tail, p, y, begin, end, out + begin * tail.dims);
  });
}

template <class Rows>
double log_kernel_sum(Tail tail, const Rows& p, const float* y, int workers) {
  workers = worthwhile(workers, 1.5 * static_cast<double>(p.stored));
  return parallel_sum(p.count, kRowsPerBlock, workers, [&](std::int64_t begin, std::int64_t end) {
    return log_kernel_rows(tail, p, y, begin, end);
  });
}

// Charges of points [from, to) that act on points [begin, end), times a coefficient and the charge
// of the target. A null charge is one everywhere.
struct Channel {
  struct {
    std::int64_t from, to;
  } sources;
  struct {
    std::int64_t begin, end;
  } targets;
  float coefficient;
  const float* charge;
};

// Adds the forces and returns the potential summed over the targets, as all functions below do.
inline double repel(Tail tail, const float* const* axis, const Channel& c, int workers,
                    float* force) {
  const auto [from, to] = c.sources;
  const std::int64_t first = c.targets.begin, count = c.targets.end - first;
  workers = worthwhile(workers, 0.4 * static_cast<double>(to - from) * static_cast<double>(count));
  return parallel_sum(count, 64, workers, [&, from = from, to = to](auto begin, auto end) {
    return kernels().repel(tail, axis, c.charge, from, to, first + begin, first + end,
                           c.coefficient, c.charge, force);
  });
}

// A block of points of one range.
struct Piece {
  std::size_t range;
  std::int64_t begin, end;
};

// The blocks of the wanted ranges; range g holds points [bounds[g], bounds[g+1]).
template <class Wanted>
std::vector<Piece> pieces_of(std::span<const std::int64_t> bounds, Wanted&& wanted) {
  std::vector<Piece> pieces;
  for (std::size_t g = 0; g + 1 < bounds.size(); ++g) {
    if (!wanted(g)) continue;
    for (std::int64_t begin = bounds[g]; begin < bounds[g + 1]; begin += kRowsPerBlock)
      pieces.push_back({g, begin, std::min(begin + kRowsPerBlock, bounds[g + 1])});
  }
  return pieces;
}

// Sums exactly inside each of many ranges.
inline double repel_ranges(Tail tail, const float* const* axis,
                           std::span<const std::int64_t> bounds, std::span<const float> coefficient,
                           int workers, float* force) {
  const auto pieces = pieces_of(bounds, [&](std::size_t g) { return coefficient[g] != 0; });
  double pairs = 0;
  for (const Piece& piece : pieces)
    pairs += static_cast<double>(piece.end - piece.begin) *
             static_cast<double>(bounds[piece.range + 1] - bounds[piece.range]);
  workers = worthwhile(workers, 0.4 * pairs);
  // Several pieces per block: for tiny labels, handing out single pieces costs more than the work.
  const std::int64_t together =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(pieces.size()) / 256);
  return parallel_sum(static_cast<std::int64_t>(pieces.size()), together, workers,
                      [&](std::int64_t first, std::int64_t last) {
                        double potential = 0;
                        for (std::int64_t p = first; p < last; ++p) {
                          const Piece& piece = pieces[static_cast<std::size_t>(p)];
                          potential += kernels().repel(
                              tail, axis, nullptr, bounds[piece.range], bounds[piece.range + 1],
                              piece.begin, piece.end, coefficient[piece.range], nullptr, force);
                        }
                        return potential;
                      });
}

// Reads each group's own grid at its points; group g holds points [bounds[g], bounds[g+1]).
inline double gather(const MeshShape& shape, const float* grids, const float* y,
                     std::span<const std::int64_t> bounds, std::span<const double> offset,
                     float coefficient, const float* target_charge, int workers, float* force) {
  const auto pieces = pieces_of(bounds, [](std::size_t) { return true; });
  workers = worthwhile(workers, 20.0 * static_cast<double>(bounds.back() - bounds.front()));
  return parallel_sum(
      static_cast<std::int64_t>(pieces.size()), 1, workers, [&](std::int64_t at, std::int64_t) {
        const Piece& piece = pieces[static_cast<std::size_t>(at)];
        return kernels().gather(shape, grids + static_cast<std::int64_t>(piece.range) * shape.size,
                                y, piece.begin, piece.end, offset[piece.range], coefficient,
                                target_charge, force);
      });
}

}  // namespace ctsne
