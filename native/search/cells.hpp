// Cells of nearby points: k-means in two levels, so that a million points take seconds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "parallel/parallel.hpp"
#include "search/kmeans.hpp"

namespace ctsne {

// Points ordered by cell: cell c holds order[bounds[c] .. bounds[c+1]), and no cell is empty.
struct Cells {
  std::vector<std::uint32_t> order;
  std::vector<std::int64_t> bounds;
};

// Divides ranges of rows into cells of about `size` points. A range of up to `whole` points is one
// cell, and no cell crosses the end of a range.
class CellMaker {
 public:
  CellMaker(const float* rows, std::int64_t dims, std::int64_t size, std::int64_t whole,
            int workers)
      : rows_(rows), dims_(dims), size_(size), whole_(whole), workers_(workers) {}

  Cells make(std::span<const std::int64_t> ranges) {
    order_.resize(static_cast<std::size_t>(ranges.back()));
    std::iota(order_.begin(), order_.end(), 0);
    moved_.resize(order_.size());
    split_ranges(ranges);
    split_parts();
    return {std::move(order_), bounds()};
  }

 private:
  static constexpr std::int64_t kOneLevel = 64;  // up to this many cells are found in one step
  static constexpr std::int64_t kMost = 256;     // more in one step would take long
  static constexpr std::int64_t kLarge = 4;      // a cell this many times too large is split again
  static constexpr int kDeepest = 1000;          // so many times

  // Part of a range that one worker divides.
  struct Part {
    std::int64_t begin, end, cells;
    std::vector<std::int64_t> ends;  // of its cells, as positions in the order
  };

  std::int64_t cells_of(std::int64_t points) const {
    return std::max<std::int64_t>(1, (points + size_ / 2) / size_);
  }

  // First level: a small range is one part. A large range is divided into about as many parts as
  // each part will have cells.
  void split_ranges(std::span<const std::int64_t> ranges) {
    KMeans means(rows_, dims_);
    for (std::size_t r = 0; r + 1 < ranges.size(); ++r) {
      const std::int64_t begin = ranges[r], end = ranges[r + 1];
      const std::int64_t cells = end - begin <= whole_ ? 1 : cells_of(end - begin);
      if (cells <= kOneLevel) {
        add_part(begin, end, cells);
        continue;
      }
      const auto k = static_cast<std::int64_t>(std::sqrt(static_cast<double>(cells)));
      std::int64_t from = begin;
      for (const std::int64_t to : divide(means, begin, end, k, workers_)) {
        add_part(from, to, cells_of(to - from));
        from = to;
      }
    }
  }

  void add_part(std::int64_t begin, std::int64_t end, std::int64_t cells) {
    if (begin < end) parts_.push_back({begin, end, cells, {}});
  }

  // Second level: threads divide the parts into cells.
  void split_parts() {
    const auto count = static_cast<std::int64_t>(parts_.size());
    const int workers = useful(workers_, count);
    std::vector<KMeans> means(static_cast<std::size_t>(workers), KMeans(rows_, dims_));
    parallel_for(count, workers, [&](int worker, std::int64_t p) {
      Part& part = parts_[p];
      if (part.cells > 1)
        split(means[worker], part.begin, part.end, part.cells, part.ends, kDeepest);
      else
        part.ends.push_back(part.end);
    });
  }

  // Divides a run of points into `k` cells and appends where they end. A cell that came out large
  // is divided again. Points that k-means cannot separate, copies of one another, are cut by count,
  // and so are those from which it separates only a few every time.
  void split(KMeans& means, std::int64_t begin, std::int64_t end, std::int64_t k,
             std::vector<std::int64_t>& ends, int deeper) {
    std::int64_t from = begin;
    for (const std::int64_t to : divide(means, begin, end, std::min(k, kMost), 1)) {
      const std::int64_t count = to - from;
      if (count == end - begin || (count > kLarge * size_ && deeper == 0))
        for (std::int64_t at = from + size_; at < to; at += size_) ends.push_back(at);
      else if (count > kLarge * size_)
        split(means, from, to, cells_of(count), ends, deeper - 1);
      ends.push_back(to);
      from = to;
    }
  }

  // Sorts a run of points by the centre they are nearest to; returns where each group ends.
  std::vector<std::int64_t> divide(KMeans& means, std::int64_t begin, std::int64_t end,
                                   std::int64_t k, int workers) {
    const std::int64_t count = end - begin;
    means.run(std::span<const std::uint32_t>(order_).subspan(begin, count), k, workers);
    std::vector<std::int64_t> next(static_cast<std::size_t>(k) + 1, begin);
    for (std::int64_t m = 0; m < count; ++m) ++next[means[m] + 1];
    for (std::int64_t c = 0; c < k; ++c) next[c + 1] += next[c] - begin;
    for (std::int64_t m = 0; m < count; ++m) moved_[next[means[m]]++] = order_[begin + m];
    std::copy(moved_.begin() + begin, moved_.begin() + end, order_.begin() + begin);
    next.pop_back();  // each entry has moved from the start of its group to its end
    return next;
  }

  std::vector<std::int64_t> bounds() const {
    std::vector<std::int64_t> bounds{0};
    for (const Part& part : parts_)
      for (const std::int64_t end : part.ends)
        if (end > bounds.back()) bounds.push_back(end);
    return bounds;
  }

  const float* rows_;
  std::int64_t dims_, size_, whole_;
  int workers_;
  std::vector<std::uint32_t> order_, moved_;
  std::vector<Part> parts_;
};

// Writes the mean of each cell's rows, which come packed in the order of the cells.
inline void cell_centres(const float* packed, std::int64_t dims,
                         std::span<const std::int64_t> bounds, int workers, float* centres) {
  const auto cells = static_cast<std::int64_t>(bounds.size()) - 1;
  parallel_blocks(cells, 64, workers, [&](int, std::int64_t first, std::int64_t last) {
    std::vector<double> sum(static_cast<std::size_t>(dims));
    for (std::int64_t c = first; c < last; ++c) {
      std::fill(sum.begin(), sum.end(), 0.0);
      for (std::int64_t at = bounds[c]; at < bounds[c + 1]; ++at)
        for (std::int64_t dim = 0; dim < dims; ++dim)
          sum[dim] += static_cast<double>(
              packed[(at / kBlock * dims + dim) * kBlock + at % kBlock]);
      const auto count = static_cast<double>(bounds[c + 1] - bounds[c]);
      for (std::int64_t dim = 0; dim < dims; ++dim)
        centres[c * dims + dim] = static_cast<float>(sum[dim] / count);
    }
  });
}

}  // namespace ctsne
