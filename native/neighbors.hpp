// Exact neighbours with the same and with another label, in one pass over all pairs.
#pragma once

#include <algorithm>
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
};

// Single precision orders the candidates; a few more than needed are kept, and double precision on
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

// Writes one list in its final order. A list may be one shorter than wanted at most where the
// caller asked for more than there is, which it must not.
template <class Real>
void write_list(ScanQuery& query, int list, std::int32_t wanted, std::span<const Real> points,
                std::int64_t dims, std::uint32_t id, std::vector<Candidate>& scratch,
                std::int32_t* indices, float* d2_root) {
  if (query.filled[list] > query.keep[list]) shrink(query, list);
  scratch.clear();
  for (std::int32_t k = 0; k < query.filled[list]; ++k) {
    const auto other = static_cast<std::uint32_t>(query.buffer[list][k]);
    scratch.push_back({squared_distance(points.data() + id * dims, points.data() + other * dims, dims), other});
  }
  const std::int32_t count = std::min<std::int32_t>(wanted, query.filled[list]);
  std::partial_sort(scratch.begin(), scratch.begin() + count, scratch.end());
  for (std::int32_t k = 0; k < count; ++k) {
    indices[k] = static_cast<std::int32_t>(scratch[k].id);
    d2_root[k] = static_cast<float>(__builtin_sqrt(scratch[k].d2));
  }
}

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
  std::vector<std::vector<Candidate>> scratch(groups.size());
  for (auto& candidates : scratch) candidates.reserve(std::max(most_same, most_other) + kSpare);
  parallel_blocks(end - begin, QueryGroup::kQueries, workers,
                  [&](int worker, std::int64_t from, std::int64_t to) {
    QueryGroup& group = groups[worker];
    group.load(in, begin + from, begin + to);
    group.scan(scan_points);
    for (int q = 0; q < group.size(); ++q) {
      const std::int64_t at = begin + from + q;
      const std::uint32_t id = in.ids[at];
      std::int32_t* row = indices + static_cast<std::int64_t>(id) * row_length;
      float* row_distances = distances + static_cast<std::int64_t>(id) * row_length;
      const std::int32_t same = in.k_same[at];
      write_list(group[q], 0, same, points, in.dims, id, scratch[worker], row, row_distances);
      write_list(group[q], 1, in.k_other[at], points, in.dims, id, scratch[worker], row + same,
                 row_distances + same);
    }
  });
}

}  // namespace ctsne
