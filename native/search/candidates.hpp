// Neighbours by scanning ranges of points. exact.hpp (all points) and probes.hpp (the nearest
// cells) choose the ranges; here the candidates are gathered, ordered and written.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "loops/kernels.hpp"
#include "parallel/parallel.hpp"

namespace ctsne {

struct Range {
  std::int64_t begin, end;
};

// Points in an order of their own; `position` counts in that order, `id` in the order of the data.
template <class Real>
struct SearchPoints {
  std::span<const float> packed;        // centred and scaled, [block][dimension][lane]
  std::span<const float> sorted;        // the same, one row per point
  std::span<const std::uint32_t> ids;   // id of each position
  std::span<const std::int32_t> codes;  // label of each position, -1 where missing; whole blocks
  std::span<const Real> original;       // the data, by id
  std::int64_t dims;
  double scale;  // length of one unit of the rows above, in the data

  std::int64_t count() const { return static_cast<std::int64_t>(ids.size()); }
  ScanPoints scanned(bool with_codes) const {
    return {packed.data(), with_codes ? codes.data() : nullptr, count(), dims};
  }
};

// Labels in rising order, unlabelled points (-1) at the end: each label is a range.
class LabelRanges {
 public:
  explicit LabelRanges(std::span<const std::int32_t> codes) {
    const auto labelled = [](std::int32_t code) { return code >= 0; };
    codes_ = {codes.begin(), std::partition_point(codes.begin(), codes.end(), labelled)};
  }

  std::int64_t labelled() const { return static_cast<std::int64_t>(codes_.size()); }
  Range of(std::int32_t code) const {
    const auto [begin, end] = std::equal_range(codes_.begin(), codes_.end(), code);
    return {begin - codes_.begin(), end - codes_.begin()};
  }

  static bool hold(std::span<const std::int32_t> codes) {
    // As unsigned numbers, -1 comes last.
    const auto falls = [](std::int32_t a, std::int32_t b) {
      return static_cast<std::uint32_t>(a) > static_cast<std::uint32_t>(b);
    };
    return std::adjacent_find(codes.begin(), codes.end(), falls) == codes.end();
  }

 private:
  std::span<const std::int32_t> codes_;
};

enum class List { same, other };

// Where one list of every point, or of every query, goes: `offset` entries into its row.
struct ListOutput {
  std::span<const std::int32_t> wanted;  // length of the list, by row
  std::span<const std::int32_t> offset;  // by row, or empty for none
  std::int64_t row_length;
  std::int32_t* indices;
  float* distances;
};

[[noreturn]] inline void fail_short() {
  throw std::invalid_argument("a list is longer than the number of points available for it");
}

// Single precision finds the candidates. A few more than needed are kept, the point itself among
// them, and double precision on the original coordinates decides.
constexpr std::int32_t kSpare = 9;

// Where many candidates are equally far, the exact search keeps up to this many more, 32 MiB for all
// queries of a worker. With more than these, it considers all points again.
constexpr std::int64_t kMostTies = 1 << 16;

inline double squared_distance(const float* a, const float* b, std::int64_t dims) {
  return kernels().squared_distance_f32(a, b, dims);
}
inline double squared_distance(const double* a, const double* b, std::int64_t dims) {
  return kernels().squared_distance_f64(a, b, dims);
}

// Queries that share their scans, with their lists of candidates: the scratch of one worker.
class QueryGroup {
 public:
  static constexpr int kQueries = 64;

  // Room for candidates if `keep` of them must stay.
  static constexpr std::int32_t capacity_for(std::int32_t keep) { return 2 * keep + 4 * kBlock; }

  // Lists of many equally far candidates may grow by `growth`.
  explicit QueryGroup(std::int32_t longest, std::size_t queries = kQueries, std::int64_t growth = 0)
      : capacity_(capacity_for(longest + kSpare)),
        most_(static_cast<std::int32_t>(capacity_ + growth)),
        queries_(queries) {
    // The scan writes whole vectors: room for one more past the end. Not initialised, because room
    // for ties takes no memory until they come.
    const std::size_t room = queries * static_cast<std::size_t>(most_) + kBlock;
    d2_.reset(new float[room]);
    at_.reset(new std::uint32_t[room]);
  }

  void clear() { count_ = 0; }

  void add(const float* x, std::int32_t code, std::int32_t keep) {
    const std::size_t begin = static_cast<std::size_t>(count_) * most_;
    queries_[count_++] = {x,     code,        std::numeric_limits<float>::infinity(),
                          keep,  0,           capacity_,
                          most_, &d2_[begin], &at_[begin]};
  }

  // Scans in chunks that stay in the second-level cache while every query reads them.
  void scan(const ScanPoints& points, Range range) {
    const std::int64_t chunk = std::max<std::int64_t>(1, 40'000 / (points.dims * kBlock)) * kBlock;
    for (std::int64_t begin = range.begin; begin < range.end;) {
      const std::int64_t end = std::min(range.end, (begin / chunk + 1) * chunk);
      kernels().scan(points, begin, end, queries_.data(), count_);
      begin = end;
    }
  }

  ScanQuery& operator[](int q) { return queries_[q]; }
  int size() const { return count_; }

 private:
  std::int32_t capacity_, most_;
  std::vector<ScanQuery> queries_;
  std::unique_ptr<float[]> d2_;
  std::unique_ptr<std::uint32_t[]> at_;
  int count_ = 0;
};

// Whose list is written: a row of the data, or any other point.
template <class Real>
struct ListTarget {
  const Real* x;     // in the coordinates of the data
  std::int64_t own;  // id of the point that is left out, -1 for none
  std::int64_t row;  // of the output
};

// Orders the candidates of a query by distance in double precision, then by id, and writes them.
template <class Real>
class ListWriter {
 public:
  // Where single precision leaves a doubt, the exact search considers all candidates again:
  // each(visit) calls visit(position) for every one.
  template <class Each>
  void write(const SearchPoints<Real>& points, ScanQuery& query, const ListTarget<Real>& target,
             bool exact, Each&& each, const ListOutput& out) {
    find(points, query, target, out.wanted[target.row], exact, each);
    put(target, out);
  }

  // Finds the nearest candidates of a query.
  template <class Each>
  void find(const SearchPoints<Real>& points, ScanQuery& query, const ListTarget<Real>& target,
            std::int32_t wanted, bool exact, Each&& each) {
    kernels().shrink(query);
    candidates_.clear();
    for (std::int32_t k = 0; k < query.filled; ++k)
      fetch(row(points, points.ids[query.at[k]]), points.dims);
    for (std::int32_t k = 0; k < query.filled; ++k)
      add(points, target, points.ids[query.at[k]], std::numeric_limits<double>::infinity());
    order(wanted);
    if (exact) {
      const double farthest = candidates_[wanted - 1].d2;
      if (!is_complete(query, points, std::sqrt(farthest) / points.scale)) {
        // In double precision: for ties, and for points that are close together compared with the
        // extent of the data.
        candidates_.clear();
        each([&](std::int64_t at) { add(points, target, points.ids[at], farthest); });
        order(wanted);
      }
    }
  }

  // Writes those found, without the point itself.
  void put(const ListTarget<Real>& target, const ListOutput& out) const {
    std::int64_t to =
        target.row * out.row_length + (out.offset.empty() ? 0 : out.offset[target.row]);
    const std::int64_t end = to + out.wanted[target.row];
    for (auto found = candidates_.begin(); to < end; ++found) {
      if (found->id == target.own) continue;
      out.indices[to] = static_cast<std::int32_t>(found->id);
      out.distances[to++] = static_cast<float>(std::sqrt(found->d2));
    }
  }

 private:
  struct Candidate {
    double d2;
    std::uint32_t id;
    bool operator<(const Candidate& b) const { return d2 < b.d2 || (d2 == b.d2 && id < b.id); }
  };

  static const Real* row(const SearchPoints<Real>& points, std::int64_t id) {
    return points.original.data() + id * points.dims;
  }

  // Rows lie anywhere in memory: requested all at once, they arrive in a fraction of the time.
  static void fetch(const Real* row, std::int64_t dims) {
    constexpr std::int64_t kLine = 64 / sizeof(Real), kMost = 16 * kLine;
    for (std::int64_t dim = 0; dim < std::min(dims, kMost); dim += kLine)
      __builtin_prefetch(row + dim);
  }

  void add(const SearchPoints<Real>& points, const ListTarget<Real>& target, std::uint32_t id,
           double limit) {
    if (id == target.own) return;  // a point is not its own neighbour
    const double d2 = squared_distance(target.x, row(points, id), points.dims);
    if (d2 <= limit) candidates_.push_back({d2, id});
  }

  void order(std::int32_t wanted) {
    // There are hardly more candidates than wanted, unless many are equally far.
    if (static_cast<std::int64_t>(candidates_.size()) > 2 * wanted) {
      std::nth_element(candidates_.begin(), candidates_.begin() + wanted - 1, candidates_.end());
      candidates_.resize(static_cast<std::size_t>(wanted));
    }
    std::sort(candidates_.begin(), candidates_.end());
    if (static_cast<std::int64_t>(candidates_.size()) < wanted) fail_short();
  }

  // Whether every point the scan left out is farther than `farthest` (in the scan's units) despite
  // rounding, which moves a coordinate by up to 2^-24 of itself and a sum of squares by as much per
  // term.
  static bool is_complete(const ScanQuery& query, const SearchPoints<Real>& points,
                          double farthest) {
    if (query.limit == std::numeric_limits<float>::infinity()) return true;  // nothing was left out
    constexpr double kRounding = 0x1p-24;
    double norm2 = 0;
    for (std::int64_t dim = 0; dim < points.dims; ++dim)
      norm2 += static_cast<double>(query.x[dim]) * query.x[dim];
    const double moved = farthest + 2 * kRounding * (std::sqrt(norm2) + farthest);
    const double underflow = 1e-18;
    return std::sqrt(query.limit) >
           moved * (1 + kRounding * static_cast<double>(points.dims + 4)) + underflow;
  }

  std::vector<Candidate> candidates_;
};

// Queries that differ in nothing but their id: they find the same, so one of them is searched.
class Twins {
 public:
  // Queries are positions with lists of the same kind; `among` says if these may hold the point
  // itself.
  template <class Real>
  Twins(const SearchPoints<Real>& points, std::span<const std::int64_t> queries,
        const ListOutput& out, bool among)
      : among_(among) {
    const auto row = [&](std::int64_t at) {
      return points.original.subspan(points.ids[at] * points.dims, points.dims);
    };
    const auto equal = [&](std::int64_t a, std::int64_t b) {
      return points.codes[a] == points.codes[b] &&
             out.wanted[points.ids[a]] == out.wanted[points.ids[b]] &&
             std::equal(row(a).begin(), row(a).end(), row(b).begin());
    };
    std::vector<std::pair<std::uint64_t, std::int64_t>> hashed;
    for (const std::int64_t at : queries) {
      auto hash = static_cast<std::uint64_t>(points.codes[at]);
      for (const Real x : row(at))
        hash = (hash ^ __builtin_bit_cast(std::uint64_t, static_cast<double>(x))) *
               0x9E3779B97F4A7C15u;
      hashed.emplace_back(hash ^ hash >> 32, at);
    }
    std::sort(hashed.begin(), hashed.end());
    std::int64_t first = -1;
    for (std::size_t k = 0; k < hashed.size(); ++k) {
      const auto [hash, at] = hashed[k];
      if (k > 0 && hash == hashed[k - 1].first && equal(first, at)) {
        others_.emplace_back(first, at);
      } else {
        first = at;
        searched_.push_back(at);
      }
    }
    std::sort(searched_.begin(), searched_.end());
    std::sort(others_.begin(), others_.end());
  }

  // One query of each kind, as rising positions.
  std::span<const std::int64_t> searched() const { return searched_; }
  bool among() const { return among_; }

  // The others that find the same as one of those, each after it.
  std::span<const std::pair<std::int64_t, std::int64_t>> others(std::int64_t at) const {
    const auto before = [](const auto& pair, std::int64_t value) { return pair.first < value; };
    const auto begin = std::lower_bound(others_.begin(), others_.end(), at, before);
    return {begin, std::lower_bound(begin, others_.end(), at + 1, before)};
  }

 private:
  bool among_;
  std::vector<std::int64_t> searched_;
  std::vector<std::pair<std::int64_t, std::int64_t>> others_;
};

// Scans the same ranges for several queries (positions), and writes their lists.
template <class Real>
class Searcher {
 public:
  // With twins the search is exact, and theirs are written too.
  Searcher(const SearchPoints<Real>& points, const ListOutput& out, const Twins* twins = nullptr)
      : points_(points),
        out_(out),
        twins_(twins),
        group_(*std::max_element(out.wanted.begin(), out.wanted.end()), QueryGroup::kQueries,
               twins ? std::min(2 * points.count(), kMostTies) : 0) {}

  void search(std::span<const std::int64_t> queries, std::span<const Range> ranges,
              bool with_codes) {
    const ScanPoints scanned = points_.scanned(with_codes);
    short_.clear();
    for (std::size_t begin = 0; begin < queries.size();) {
      group_.clear();
      members_.clear();
      for (; begin < queries.size() && group_.size() < QueryGroup::kQueries; ++begin) {
        const std::int64_t at = queries[begin];
        const std::int32_t wanted = out_.wanted[points_.ids[at]];
        if (!wanted) continue;
        members_.push_back(at);
        group_.add(points_.sorted.data() + at * points_.dims, points_.codes[at], wanted + kSpare);
      }
      for (const Range range : ranges) group_.scan(scanned, range);
      for (int q = 0; q < group_.size(); ++q) {
        if (group_[q].filled + kSpare < group_[q].keep)
          short_.push_back(members_[q]);
        else
          write(group_[q], members_[q], ranges, with_codes);
      }
    }
  }

  // Queries of the last search with fewer candidates than they want; nothing was written for them.
  const std::vector<std::int64_t>& short_of_candidates() const { return short_; }

  // The same where every query must find enough.
  void search_all(std::span<const std::int64_t> queries, std::span<const Range> ranges,
                  bool with_codes) {
    search(queries, ranges, with_codes);
    if (!short_.empty()) fail_short();
  }

 private:
  void write(ScanQuery& query, std::int64_t position, std::span<const Range> ranges,
             bool with_codes) {
    const std::int64_t id = points_.ids[position];
    const auto each = [&](auto&& visit) {
      for (const Range range : ranges)
        for (std::int64_t at = range.begin; at < range.end; ++at)
          if (!with_codes || points_.codes[at] != query.code) visit(at);
    };
    ListTarget<Real> target{points_.original.data() + id * points_.dims, id, id};
    const auto others = twins_ ? twins_->others(position) : decltype(twins_->others(position)){};
    if (others.empty()) return writer_.write(points_, query, target, twins_ != nullptr, each, out_);
    // Each leaves out itself, so one more is needed if they are in their own lists.
    target.own = -1;
    writer_.find(points_, query, target, out_.wanted[id] + twins_->among(), true, each);
    target.own = id;
    writer_.put(target, out_);
    for (const auto& [_, other] : others) {
      target.own = target.row = points_.ids[other];
      writer_.put(target, out_);
    }
  }

  const SearchPoints<Real>& points_;
  const ListOutput& out_;
  const Twins* twins_;
  QueryGroup group_;
  ListWriter<Real> writer_;
  std::vector<std::int64_t> members_, short_;
};

}  // namespace ctsne
