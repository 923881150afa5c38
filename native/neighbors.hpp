// Exact neighbours with the same and with another label, in one pass over all pairs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "kernels.hpp"
#include "parallel.hpp"

namespace ctsne {

// Points stand sorted by label, unlabelled ones last; `position` counts in that order.
struct NeighborInput {
  std::span<const float> packed;           // blocks of kBlock points, [block][dimension][lane]
  std::span<const float> sorted;           // the same points, one row each
  std::span<const std::uint32_t> ids;      // original index of each position
  std::span<const std::int64_t> own_begin; // per position: its list 0 is [own_begin, own_end) ...
  std::span<const std::int64_t> own_end;
  std::int64_t free_begin;                 // ... and the unlabelled points from here on
  std::span<const std::int32_t> k_same;    // per position
  std::span<const std::int32_t> k_other;
  std::int64_t dims;
  double scale;                            // unit of the points above, in units of the original ones
};

// Single precision finds the candidates; a few more than needed are kept, and double precision on
// the original coordinates decides among them.
constexpr std::int32_t kSpare = 8;

struct Candidate {
  double d2;
  std::uint32_t id;
  bool operator<(const Candidate& b) const { return d2 < b.d2 || (d2 == b.d2 && id < b.id); }
};

inline void shrink(ScanQuery& query, int list) {
  std::uint64_t* buffer = query.buffer[list];
  const std::int32_t keep = query.keep[list];
  std::nth_element(buffer, buffer + keep - 1, buffer + query.filled[list]);
  query.filled[list] = keep;
  query.limit[list] = __builtin_bit_cast(float, static_cast<std::uint32_t>(buffer[keep - 1] >> 32));
}

inline double squared_distance(const float* a, const float* b, std::int64_t dims) {
  return kernels().squared_distance_f32(a, b, dims);
}
inline double squared_distance(const double* a, const double* b, std::int64_t dims) {
  return kernels().squared_distance_f64(a, b, dims);
}

// The scratch of one worker: a group of queries and their buffers.
class QueryGroup {
 public:
  static constexpr int kQueries = 64;

  QueryGroup(std::int32_t most_same, std::int32_t most_other)
      : capacity_{room(most_same), room(most_other)},
        buffers_(static_cast<std::size_t>(kQueries) * (capacity_[0] + capacity_[1])),
        queries_(kQueries) {}

  void load(const NeighborInput& in, std::int64_t begin, std::int64_t end) {
    count_ = static_cast<int>(end - begin);
    std::uint64_t* next = buffers_.data();
    for (int q = 0; q < count_; ++q) {
      ScanQuery& query = queries_[q];
      const std::int64_t at = begin + q;
      query.x = in.sorted.data() + at * in.dims;
      query.self = at;
      query.own_begin = in.own_begin[at];
      query.own_end = in.own_end[at];
      const std::int32_t wanted[2] = {in.k_same[at], in.k_other[at]};
      for (int list = 0; list < 2; ++list) {
        query.keep[list] = wanted[list] ? wanted[list] + kSpare : 0;
        query.limit[list] = wanted[list] ? std::numeric_limits<float>::infinity() : -1.0f;
        query.filled[list] = 0;
        query.capacity[list] = capacity_[list];
        query.buffer[list] = next;
        next += capacity_[list];
      }
    }
  }

  // Candidates in chunks that stay in the second-level cache while every query passes over them.
  void scan(const ScanPoints& points) {
    const std::int64_t blocks = (points.n + kBlock - 1) / kBlock;
    const std::int64_t chunk = std::max<std::int64_t>(1, 40'000 / (points.dims * kBlock));
    for (std::int64_t first = 0; first < blocks; first += chunk)
      kernels().scan(points, first, std::min(blocks, first + chunk), queries_.data(), count_, shrink);
  }

  ScanQuery& operator[](int q) { return queries_[q]; }
  int size() const { return count_; }

 private:
  static std::int32_t room(std::int32_t most) { return most ? 2 * (most + kSpare) + 64 : 0; }

  std::int32_t capacity_[2];
  std::vector<std::uint64_t> buffers_;
  std::vector<ScanQuery> queries_;
  int count_ = 0;
};

// Puts the candidates of a query in their final order, by double precision and then by index.
template <class Real>
class ListWriter {
 public:
  ListWriter(const NeighborInput& in, std::span<const Real> points) : in_(in), points_(points) {}

  void write(ScanQuery& query, int list, std::int32_t wanted, std::int32_t* indices, float* distances) {
    if (!wanted) return;
    if (query.filled[list] > query.keep[list]) shrink(query, list);
    candidates_.clear();
    for (std::int32_t k = 0; k < query.filled[list]; ++k)
      add(query, static_cast<std::uint32_t>(query.buffer[list][k]), std::numeric_limits<double>::infinity());
    order(wanted);
    const double farthest = candidates_[wanted - 1].d2;
    if (!is_complete(query, list, std::sqrt(farthest) / in_.scale)) {
      search(query, list, farthest);
      order(wanted);
    }
    for (std::int32_t k = 0; k < wanted; ++k) {
      indices[k] = static_cast<std::int32_t>(candidates_[k].id);
      distances[k] = static_cast<float>(std::sqrt(candidates_[k].d2));
    }
  }

 private:
  void add(const ScanQuery& query, std::uint32_t id, double limit) {
    const Real* from = points_.data() + static_cast<std::int64_t>(in_.ids[query.self]) * in_.dims;
    const double d2 = squared_distance(from, points_.data() + static_cast<std::int64_t>(id) * in_.dims, in_.dims);
    if (d2 <= limit) candidates_.push_back({d2, id});
  }

  void order(std::int32_t wanted) {
    std::partial_sort(candidates_.begin(), candidates_.begin() + wanted, candidates_.end());
  }

  // Whether every point the scan left out is farther than `farthest` (in the scan's units), rounding
  // considered: it moves a coordinate by up to 2^-24 of itself, and a sum of squares by as much per term.
  bool is_complete(const ScanQuery& query, int list, double farthest) const {
    constexpr double kRounding = 0x1p-24;
    double norm2 = 0;
    for (std::int64_t dim = 0; dim < in_.dims; ++dim) norm2 += static_cast<double>(query.x[dim]) * query.x[dim];
    const double moved = farthest + 2 * kRounding * (std::sqrt(norm2) + farthest);
    const double underflow = 1e-18;
    return std::sqrt(query.limit[list]) > moved * (1 + kRounding * static_cast<double>(in_.dims + 4)) + underflow;
  }

  // All points of a list up to a distance, in double precision: for ties, and for points that are close
  // together compared with the extent of the data.
  void search(const ScanQuery& query, int list, double limit) {
    candidates_.clear();
    const auto n = static_cast<std::int64_t>(in_.ids.size());
    for (std::int64_t at = 0; at < n; ++at) {
      const bool own = (at >= query.own_begin && at < query.own_end) || at >= in_.free_begin;
      if (own == (list == 0) && at != query.self) add(query, in_.ids[at], limit);
    }
  }

  const NeighborInput& in_;
  std::span<const Real> points_;
  std::vector<Candidate> candidates_;
};

// Neighbours of positions [begin, end); rows of the output are in original order.
template <class Real>
void find_neighbors(const NeighborInput& in, std::span<const Real> points, std::int64_t begin,
                    std::int64_t end, std::int64_t row_length, int workers, std::int32_t* indices,
                    float* distances) {
  const ScanPoints scan_points{in.packed.data(), in.ids.data(), static_cast<std::int64_t>(in.ids.size()),
                               in.dims, in.free_begin};
  const std::int32_t most_same = *std::max_element(in.k_same.begin() + begin, in.k_same.begin() + end);
  const std::int32_t most_other = *std::max_element(in.k_other.begin() + begin, in.k_other.begin() + end);
  std::vector<QueryGroup> groups(static_cast<std::size_t>(std::max(1, workers)),
                                 QueryGroup(most_same, most_other));
  std::vector<ListWriter<Real>> writers(groups.size(), ListWriter<Real>(in, points));
  parallel_blocks(end - begin, QueryGroup::kQueries, workers,
                  [&](int worker, std::int64_t from, std::int64_t to) {
    QueryGroup& group = groups[worker];
    group.load(in, begin + from, begin + to);
    group.scan(scan_points);
    for (int q = 0; q < group.size(); ++q) {
      const std::int64_t at = begin + from + q;
      const std::int64_t row = static_cast<std::int64_t>(in.ids[at]) * row_length;
      const std::int32_t same = in.k_same[at];
      writers[worker].write(group[q], 0, same, indices + row, distances + row);
      writers[worker].write(group[q], 1, in.k_other[at], indices + row + same, distances + row + same);
    }
  });
}

}  // namespace ctsne
