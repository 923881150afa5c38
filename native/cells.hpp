// Cells of nearby points: k-means in two levels, so that a million points take seconds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels.hpp"
#include "parallel.hpp"

namespace ctsne {

// Copies rows in a new order, and packs them in blocks of kBlock, [block][dimension][lane]. NaN fills the
// last block: no distance to it is small.
inline void arrange(const float* rows, std::span<const std::uint32_t> order, std::int64_t dims, int workers,
                    float* sorted, float* packed) {
  const auto n = static_cast<std::int64_t>(order.size());
  parallel_blocks((n + kBlock - 1) / kBlock, 64, workers, [&](int, std::int64_t first, std::int64_t last) {
    for (std::int64_t block = first; block < last; ++block) {
      float* column = packed + block * dims * kBlock;
      for (std::int64_t lane = 0; lane < kBlock; ++lane) {
        const std::int64_t at = block * kBlock + lane;
        if (at >= n) {
          for (std::int64_t dim = 0; dim < dims; ++dim) column[dim * kBlock + lane] = std::nanf("");
          continue;
        }
        const float* row = rows + static_cast<std::int64_t>(order[at]) * dims;
        std::copy(row, row + dims, sorted + at * dims);
        for (std::int64_t dim = 0; dim < dims; ++dim) column[dim * kBlock + lane] = row[dim];
      }
    }
  });
}

// The centres of one k-means, and which of them each member is nearest to.
class KMeans {
 public:
  KMeans(const float* rows, std::int64_t dims) : rows_(rows), dims_(dims) {}

  // Trains `k` centres on a sample of the members, then assigns all members.
  void run(std::span<const std::uint32_t> members, std::int64_t k, int workers) {
    k_ = k;
    assigned_.resize(members.size());
    if (k == 1) {
      std::fill(assigned_.begin(), assigned_.end(), 0);
      return;
    }
    take(members, std::min<std::int64_t>(static_cast<std::int64_t>(members.size()), kSample * k));
    centres_.resize(static_cast<std::size_t>(k * dims_));
    for (std::int64_t c = 0; c < k; ++c) {
      const float* row = sample_[c * static_cast<std::int64_t>(sample_.size()) / k];
      std::copy(row, row + dims_, centres_.begin() + c * dims_);
    }
    for (int round = 0; round < kRounds; ++round) {
      assign(workers);
      update();
    }
    take(members, static_cast<std::int64_t>(members.size()));
    assign(workers);
  }

  std::int32_t operator[](std::size_t member) const { return assigned_[member]; }

 private:
  static constexpr std::int64_t kSample = 32;  // members per centre that train it
  static constexpr int kRounds = 6;

  void take(std::span<const std::uint32_t> members, std::int64_t count) {
    sample_.resize(static_cast<std::size_t>(count));
    for (std::int64_t s = 0; s < count; ++s)
      sample_[s] = rows_ + static_cast<std::int64_t>(members[s * static_cast<std::int64_t>(members.size()) / count]) * dims_;
  }

  void assign(int workers) {
    const std::int64_t blocks = (k_ + kBlock - 1) / kBlock;
    packed_.assign(static_cast<std::size_t>(blocks * kBlock * dims_), std::nanf(""));
    for (std::int64_t c = 0; c < k_; ++c)
      for (std::int64_t dim = 0; dim < dims_; ++dim)
        packed_[(c / kBlock * dims_ + dim) * kBlock + c % kBlock] = centres_[c * dims_ + dim];
    const ScanPoints centres{packed_.data(), nullptr, k_, dims_};
    parallel_blocks(static_cast<std::int64_t>(sample_.size()), 256, workers, [&](int, std::int64_t begin, std::int64_t end) {
      kernels().nearest(centres, sample_.data() + begin, end - begin, assigned_.data() + begin);
    });
  }

  void update() {
    std::vector<double> sum(centres_.size(), 0.0);
    std::vector<std::int64_t> count(static_cast<std::size_t>(k_), 0);
    for (std::size_t s = 0; s < sample_.size(); ++s) {
      const std::int64_t c = assigned_[s];
      ++count[c];
      for (std::int64_t dim = 0; dim < dims_; ++dim) sum[c * dims_ + dim] += static_cast<double>(sample_[s][dim]);
    }
    std::vector<std::int64_t> share = count;  // what a cell has left when others move into it
    for (std::int64_t c = 0; c < k_; ++c) {
      if (count[c] == 0) {  // nobody's centre moves into the largest cell, if that can be shared
        const auto largest = std::max_element(share.begin(), share.end());
        if (*largest < 2) continue;
        *largest /= 2;
        const auto member = std::find(assigned_.begin(), assigned_.begin() + static_cast<std::int64_t>(sample_.size()),
                                      static_cast<std::int32_t>(largest - share.begin()));
        const float* row = sample_[member - assigned_.begin()];
        std::copy(row, row + dims_, centres_.begin() + c * dims_);
        continue;
      }
      for (std::int64_t dim = 0; dim < dims_; ++dim)
        centres_[c * dims_ + dim] = static_cast<float>(sum[c * dims_ + dim] / static_cast<double>(count[c]));
    }
  }

  const float* rows_;
  std::int64_t dims_;
  std::int64_t k_ = 0;
  std::vector<const float*> sample_;
  std::vector<float> centres_, packed_;
  std::vector<std::int32_t> assigned_;
};

// Points ordered by cell, each range of rows by itself: cell c holds order[bounds[c] .. bounds[c+1]).
struct Cells {
  std::vector<std::uint32_t> order;
  std::vector<std::int64_t> bounds;
  std::vector<std::int64_t> first;  // the first cell of each range, and their number at the end
};

// Divides every range of rows in cells of about `size` points; ranges of up to `whole` points are one cell.
inline Cells make_cells(const float* rows, std::int64_t dims, std::span<const std::int64_t> ranges,
                        std::int64_t size, std::int64_t whole, int workers) {
  constexpr std::int64_t kOneLevel = 64;  // so many cells are found in one step
  constexpr std::int64_t kMost = 256;     // no more in one step, lest the step take long
  constexpr std::int64_t kLarge = 4;      // a cell of so many times the size is divided again
  struct Part {
    std::int64_t begin, end, cells;
    std::vector<std::int64_t> ends;  // of its cells, as positions in order
  };
  Cells out;
  const std::int64_t offset = ranges[0];
  out.order.resize(static_cast<std::size_t>(ranges[ranges.size() - 1] - offset));
  for (std::size_t k = 0; k < out.order.size(); ++k) out.order[k] = static_cast<std::uint32_t>(offset + static_cast<std::int64_t>(k));
  std::vector<std::uint32_t> moved(out.order.size());
  // Brings the members of a run into the order of their cells; returns where each cell ends.
  const auto divide = [&](KMeans& means, std::int64_t begin, std::int64_t end, std::int64_t k, int threads) {
    means.run(std::span<const std::uint32_t>(out.order).subspan(begin, end - begin), k, threads);
    std::vector<std::int64_t> ends(static_cast<std::size_t>(k) + 1, 0);
    for (std::int64_t m = 0; m < end - begin; ++m) ++ends[means[m] + 1];
    for (std::int64_t c = 0; c < k; ++c) ends[c + 1] += ends[c];
    for (std::int64_t m = 0; m < end - begin; ++m) moved[begin + ends[means[m]]++] = out.order[begin + m];
    std::copy(moved.begin() + begin, moved.begin() + end, out.order.begin() + begin);
    ends.pop_back();  // each entry has moved from the begin of its cell to its end
    for (auto& at : ends) at += begin;
    return ends;
  };
  std::vector<Part> parts;
  std::vector<std::size_t> first_part;
  KMeans coarse(rows, dims);
  for (std::size_t r = 0; r + 1 < ranges.size(); ++r) {
    first_part.push_back(parts.size());
    std::int64_t begin = ranges[r] - offset;
    const std::int64_t end = ranges[r + 1] - offset;
    const auto cells_of = [&](std::int64_t count) { return count <= whole ? 1 : std::max<std::int64_t>(1, (count + size / 2) / size); };
    const std::int64_t cells = cells_of(end - begin);
    if (cells <= kOneLevel) {
      if (begin < end) parts.push_back({begin, end, cells, {}});
      continue;
    }
    const auto k = static_cast<std::int64_t>(std::sqrt(static_cast<double>(cells)));
    for (const std::int64_t to : divide(coarse, begin, end, k, workers)) {
      if (begin < to) parts.push_back({begin, to, std::max<std::int64_t>(1, (to - begin + size / 2) / size), {}});
      begin = to;
    }
  }
  first_part.push_back(parts.size());
  // Appends the ends of all cells of a run to those of its part. A cell that came out large is divided
  // again; points that k-means cannot tell apart, copies of one another, are simply counted off.
  const auto refine = [&](const auto& self, KMeans& means, std::int64_t begin, std::int64_t end, std::int64_t k,
                          std::vector<std::int64_t>& ends) -> void {
    std::int64_t from = begin;
    for (const std::int64_t to : divide(means, begin, end, std::min(k, kMost), 1)) {
      const std::int64_t count = to - from;
      if (count == end - begin)
        for (std::int64_t at = from + size; at < to; at += size) ends.push_back(at);
      else if (count > kLarge * size)
        self(self, means, from, to, (count + size / 2) / size, ends);
      ends.push_back(to);
      from = to;
    }
  };
  std::vector<KMeans> fine(static_cast<std::size_t>(std::max(1, workers)), KMeans(rows, dims));
  parallel_for(static_cast<std::int64_t>(parts.size()), workers, [&](int worker, std::int64_t p) {
    Part& part = parts[p];
    if (part.cells > 1)
      refine(refine, fine[worker], part.begin, part.end, part.cells, part.ends);
    else
      part.ends.push_back(part.end);
  });
  out.bounds.push_back(0);
  std::size_t next = 0;
  for (std::size_t p = 0; p <= parts.size(); ++p) {
    for (; next < first_part.size() && first_part[next] == p; ++next)
      out.first.push_back(static_cast<std::int64_t>(out.bounds.size()) - 1);
    if (p == parts.size()) break;
    for (const std::int64_t end : parts[p].ends)
      if (end > out.bounds.back()) out.bounds.push_back(end);
  }
  return out;
}

// The mean of each cell's rows; rows stand in the order of the cells.
inline void cell_centres(const float* sorted, std::int64_t dims, std::span<const std::int64_t> bounds, int workers,
                         float* centres) {
  parallel_blocks(static_cast<std::int64_t>(bounds.size()) - 1, 64, workers, [&](int, std::int64_t first, std::int64_t last) {
    std::vector<double> sum(static_cast<std::size_t>(dims));
    for (std::int64_t c = first; c < last; ++c) {
      std::fill(sum.begin(), sum.end(), 0.0);
      for (std::int64_t at = bounds[c]; at < bounds[c + 1]; ++at)
        for (std::int64_t dim = 0; dim < dims; ++dim) sum[dim] += static_cast<double>(sorted[at * dims + dim]);
      for (std::int64_t dim = 0; dim < dims; ++dim)
        centres[c * dims + dim] = static_cast<float>(sum[dim] / static_cast<double>(bounds[c + 1] - bounds[c]));
    }
  });
}

}  // namespace ctsne
