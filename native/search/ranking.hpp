// Cells of points in order of their distance.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "loops/kernels.hpp"
#include "search/candidates.hpp"

namespace ctsne {

struct CellIndex {
  std::span<const std::int64_t> bounds;   // cell c holds positions [bounds[c], bounds[c+1])
  std::span<const float> centres;         // one row per cell
  std::span<const float> packed_centres;  // the same, packed
  std::int64_t count() const { return static_cast<std::int64_t>(bounds.size()) - 1; }
  std::int64_t size(std::int64_t cell) const { return bounds[cell + 1] - bounds[cell]; }
  const float* centre(std::int64_t cell, std::int64_t dims) const {
    return centres.data() + cell * dims;
  }
};

inline bool any_cell(std::int64_t) { return true; }

// Cells in order of the distance of their centres from a row, of a query or of a centre: the nearest
// few are ranked at once, the others on demand.
class Ranking {
 public:
  Ranking(const CellIndex& cells, std::int64_t dims, std::int32_t depth)
      : cells_(cells), dims_(dims), depth_(depth), group_(depth) {}

  // Ranks the cells of `ranges` for up to QueryGroup::kQueries rows.
  void prepare(std::span<const float* const> from, std::span<const Range> ranges) {
    from_ = from;
    ranges_ = ranges;
    group_.clear();
    for (const float* row : from) group_.add(row, 0, depth_);
    const ScanPoints centres{cells_.packed_centres.data(), nullptr, cells_.count(), dims_};
    for (const Range range : ranges) group_.scan(centres, range);
    ordered_ = -1;
  }

  // Calls visit(cell), nearest first, until it returns false; `eligible` may leave cells out.
  template <class Eligible, class Visit>
  void walk(int which, Eligible&& eligible, Visit&& visit) {
    if (which != ordered_) sort(which);
    for (const std::uint64_t entry : order_) {
      const auto cell = static_cast<std::int64_t>(static_cast<std::uint32_t>(entry));
      if (eligible(cell) && !visit(cell)) return;
    }
    std::int64_t all = 0;
    for (const Range range : ranges_) all += range.end - range.begin;
    if (static_cast<std::int64_t>(order_.size()) < all) walk_rest(which, eligible, visit);
  }

 private:
  static std::uint64_t key(float d2, std::uint32_t cell) {
    // Non-negative floats order as their bits do.
    return static_cast<std::uint64_t>(__builtin_bit_cast(std::uint32_t, d2)) << 32 | cell;
  }

  void sort(int which) {
    ordered_ = which;
    ScanQuery& found = group_[which];
    kernels().shrink(found);
    order_.clear();
    for (std::int32_t k = 0; k < found.filled; ++k) order_.push_back(key(found.d2[k], found.at[k]));
    std::sort(order_.begin(), order_.end());
  }

  // Where the nearest few were not enough: visits the others, ranked in growing shares.
  template <class Eligible, class Visit>
  void walk_rest(int which, Eligible&& eligible, Visit&& visit) {
    std::vector<std::uint32_t> seen;
    for (const std::uint64_t entry : order_) seen.push_back(static_cast<std::uint32_t>(entry));
    std::sort(seen.begin(), seen.end());
    rest_.clear();
    for (const Range range : ranges_)
      for (std::int64_t cell = range.begin; cell < range.end; ++cell)
        if (eligible(cell) &&
            !std::binary_search(seen.begin(), seen.end(), static_cast<std::uint32_t>(cell)))
          rest_.push_back(key(static_cast<float>(squared_distance(
                                  from_[which], cells_.centre(cell, dims_), dims_)),
                              static_cast<std::uint32_t>(cell)));
    auto begin = rest_.begin();
    for (std::int64_t share = depth_; begin != rest_.end(); share *= 2) {
      const auto end = begin + std::min<std::int64_t>(share, rest_.end() - begin);
      std::nth_element(begin, end == rest_.end() ? end - 1 : end, rest_.end());
      std::sort(begin, end);
      for (; begin != end; ++begin)
        if (!visit(static_cast<std::int64_t>(static_cast<std::uint32_t>(*begin)))) return;
    }
  }

  const CellIndex& cells_;
  std::int64_t dims_;
  std::int32_t depth_;
  QueryGroup group_;
  std::span<const float* const> from_;
  std::span<const Range> ranges_;
  std::vector<std::uint64_t> order_, rest_;
  int ordered_ = -1;  // the query that order_ belongs to
};

// How many cells to rank at once: their points make up about three budgets.
inline std::int32_t ranking_depth(const CellIndex& cells, std::int64_t points,
                                  std::int64_t budget) {
  const std::int64_t deep = 3 * budget * cells.count() / std::max<std::int64_t>(1, points) + 16;
  return static_cast<std::int32_t>(std::min({deep, cells.count(), std::int64_t{4096}}));
}

}  // namespace ctsne
