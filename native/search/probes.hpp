// Approximate neighbours: only the nearest cells of points are scanned, until a budget of
// candidates is spent. The points of a cell visit other cells in the same order.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "parallel/parallel.hpp"
#include "search/candidates.hpp"

namespace ctsne {

struct CellIndex {
  std::span<const std::int64_t> bounds;   // cell c holds positions [bounds[c], bounds[c+1])
  std::span<const float> centres;         // one row per cell
  std::span<const float> packed_centres;  // the same, packed
  std::int64_t count() const { return static_cast<std::int64_t>(bounds.size()) - 1; }
  std::int64_t size(std::int64_t cell) const { return bounds[cell + 1] - bounds[cell]; }
};

// Cells in order of the distance of their centres from one cell: the nearest few are ranked at
// once, the others on demand.
class Ranking {
 public:
  Ranking(const CellIndex& cells, std::int64_t dims, std::int32_t depth)
      : cells_(cells), dims_(dims), depth_(depth), group_(depth) {}

  // Ranks the cells of `ranges` for up to QueryGroup::kQueries cells.
  void prepare(std::span<const std::int64_t> from, std::span<const Range> ranges) {
    from_ = from;
    ranges_ = ranges;
    group_.clear();
    for (const std::int64_t cell : from)
      group_.add(cells_.centres.data() + cell * dims_, 0, depth_);
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
    const float* centre = cells_.centres.data() + from_[which] * dims_;
    for (const Range range : ranges_)
      for (std::int64_t cell = range.begin; cell < range.end; ++cell)
        if (eligible(cell) &&
            !std::binary_search(seen.begin(), seen.end(), static_cast<std::uint32_t>(cell)))
          rest_.push_back(key(static_cast<float>(squared_distance(
                                  centre, cells_.centres.data() + cell * dims_, dims_)),
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
  std::span<const std::int64_t> from_;
  std::span<const Range> ranges_;
  std::vector<std::uint64_t> order_, rest_;
  int ordered_ = -1;  // the query that order_ belongs to
};

// The queries of one cell, as [begin, end) of a list of rising positions.
struct CellQueries {
  std::int64_t cell;
  std::size_t begin, end;
};

inline std::vector<CellQueries> by_cell(const CellIndex& cells,
                                        std::span<const std::int64_t> queries) {
  std::vector<CellQueries> out;
  for (std::size_t begin = 0, end; begin < queries.size(); begin = end) {
    const auto after = std::upper_bound(cells.bounds.begin(), cells.bounds.end(), queries[begin]);
    end = std::lower_bound(queries.begin() + static_cast<std::int64_t>(begin), queries.end(),
                           *after) -
          queries.begin();
    out.push_back({after - cells.bounds.begin() - 1, begin, end});
  }
  return out;
}

// How many cells to rank at once: their points make up about three budgets.
inline std::int32_t ranking_depth(const CellIndex& cells, std::int64_t points,
                                  std::int64_t budget) {
  const std::int64_t deep = 3 * budget * cells.count() / std::max<std::int64_t>(1, points) + 16;
  return static_cast<std::int32_t>(std::min({deep, cells.count(), std::int64_t{4096}}));
}

constexpr std::int64_t kCellsAtOnce = 8;

// Finds the list of the same label. Points are sorted by label, unlabelled ones last, and each cell
// holds one label, `cell_codes`. Unlabelled points belong to every such list.
template <class Real>
void probe_same(const SearchPoints<Real>& points, const CellIndex& cells,
                std::span<const std::int32_t> cell_codes, std::span<const std::int64_t> queries,
                std::int64_t budget, int workers, const ListOutput& out) {
  const std::vector<CellQueries> pieces = by_cell(cells, queries);
  const LabelRanges labels(cell_codes);
  workers = useful(workers, static_cast<std::int64_t>(pieces.size()));
  std::vector<Searcher<Real>> searchers(static_cast<std::size_t>(workers), {points, out, false});
  const std::int32_t depth = ranking_depth(cells, points.count(), budget);
  std::vector<Ranking> rankings(searchers.size(), {cells, points.dims, depth});
  const auto search = [&](int worker, std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> from;
    std::vector<Range> ranges;
    for (std::int64_t next; begin < end; begin = next) {
      const std::int32_t code = cell_codes[pieces[begin].cell];
      if (code < 0) return;  // unlabelled points come last, and are searched among all
      from.clear();
      for (next = begin; next < end && cell_codes[pieces[next].cell] == code; ++next)
        from.push_back(pieces[next].cell);
      const std::array candidates{labels.of(code), Range{labels.labelled(), cells.count()}};
      rankings[worker].prepare(from, candidates);
      for (std::int64_t p = begin; p < next; ++p) {
        ranges.clear();
        std::int64_t spent = 0;
        const auto any = [](std::int64_t) { return true; };
        rankings[worker].walk(static_cast<int>(p - begin), any, [&](std::int64_t cell) {
          ranges.push_back({cells.bounds[cell], cells.bounds[cell + 1]});
          return (spent += cells.size(cell)) < budget;
        });
        const auto members = queries.subspan(pieces[p].begin, pieces[p].end - pieces[p].begin);
        searchers[worker].search_all(members, ranges, false);
      }
    }
  };
  parallel_blocks(static_cast<std::int64_t>(pieces.size()), kCellsAtOnce, workers, search);
}

// Searches among all points. Cells hold all labels, the points of a cell sorted by label,
// unlabelled ones first. Labelled queries get their list of other labels, unlabelled ones that of
// all points.
template <class Real>
class CellSearch {
 public:
  CellSearch(const SearchPoints<Real>& points, const CellIndex& cells,
             std::span<const std::int64_t> label_size, std::int64_t budget, const ListOutput& out)
      : points_(points),
        cells_(cells),
        label_size_(label_size),
        budget_(budget),
        searcher_(points, out, false),
        ranking_(cells, points.dims, ranking_depth(cells, points.count(), budget)) {}

  void search(std::span<const CellQueries> pieces, std::span<const std::int64_t> queries) {
    const std::array all{Range{0, cells_.count()}};
    from_.clear();
    for (const CellQueries& piece : pieces) from_.push_back(piece.cell);
    ranking_.prepare(from_, all);
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      for (std::size_t begin = pieces[p].begin, end; begin < pieces[p].end; begin = end) {
        const std::int32_t code = points_.codes[queries[begin]];
        end = begin + 1;
        while (end < pieces[p].end && together(code, points_.codes[queries[end]])) ++end;
        search(static_cast<int>(p), queries.subspan(begin, end - begin), code);
      }
    }
  }

 private:
  // A label with less than one in this many points is not worth a scan of its own.
  static constexpr std::int64_t kWorthOwnShare = 32;

  bool is_large(std::int32_t code) const {
    return code >= 0 && label_size_[code] * kWorthOwnShare >= points_.count();
  }
  bool together(std::int32_t a, std::int32_t b) const {
    return a == b || (a >= 0 && !is_large(a) && !is_large(b));
  }

  // The first position in a cell with a label of at least `code`.
  std::int64_t lower(std::int64_t cell, std::int32_t code) const {
    const auto* begin = points_.codes.data();
    return std::lower_bound(begin + cells_.bounds[cell], begin + cells_.bounds[cell + 1], code) -
           begin;
  }

  std::int64_t labelled(std::int64_t cell) const { return lower(cell, 0); }

  void search(int which, std::span<const std::int64_t> members, std::int32_t code) {
    if (is_large(code)) return search_others(which, members, code);
    ranges_.clear();
    std::int64_t spent = 0;
    if (code < 0) {
      ranking_.walk(
          which, [](std::int64_t) { return true; },
          [&](std::int64_t cell) {
            ranges_.push_back({cells_.bounds[cell], cells_.bounds[cell + 1]});
            return (spent += cells_.size(cell)) < budget_;
          });
      searcher_.search_all(members, ranges_, false);
    } else {
      ranking_.walk(
          which, [&](std::int64_t cell) { return labelled(cell) < cells_.bounds[cell + 1]; },
          [&](std::int64_t cell) {
            ranges_.push_back({labelled(cell), cells_.bounds[cell + 1]});
            return (spent += ranges_.back().end - ranges_.back().begin) < budget_;
          });
      searcher_.search(members, ranges_, true);
      // Points surrounded by their own label found too few others: they search again, by label.
      const std::vector<std::int64_t> again = searcher_.short_of_candidates();
      for (std::size_t begin = 0, end; begin < again.size(); begin = end) {
        const std::int32_t own = points_.codes[again[begin]];
        for (end = begin + 1; end < again.size() && points_.codes[again[end]] == own;) ++end;
        search_others(which, std::span(again).subspan(begin, end - begin), own);
      }
    }
  }

  // Searches the cells that hold other labels, and in them the points of other labels.
  void search_others(int which, std::span<const std::int64_t> members, std::int32_t code) {
    const auto has_others = [&](std::int64_t cell) {
      const std::int64_t begin = labelled(cell), end = cells_.bounds[cell + 1];
      return begin < end && (points_.codes[begin] != code || points_.codes[end - 1] != code);
    };
    ranges_.clear();
    std::int64_t spent = 0;
    ranking_.walk(which, has_others, [&](std::int64_t cell) {
      const std::array parts{Range{labelled(cell), lower(cell, code)},
                             Range{lower(cell, code + 1), cells_.bounds[cell + 1]}};
      for (const Range part : parts)
        if (part.begin < part.end) ranges_.push_back(part), spent += part.end - part.begin;
      return spent < budget_;
    });
    searcher_.search_all(members, ranges_, false);
  }

  const SearchPoints<Real>& points_;
  const CellIndex& cells_;
  std::span<const std::int64_t> label_size_;
  std::int64_t budget_;
  Searcher<Real> searcher_;
  Ranking ranking_;
  std::vector<std::int64_t> from_;
  std::vector<Range> ranges_;
};

template <class Real>
void probe_all(const SearchPoints<Real>& points, const CellIndex& cells,
               std::span<const std::int64_t> label_size, std::span<const std::int64_t> queries,
               std::int64_t budget, int workers, const ListOutput& out) {
  const std::vector<CellQueries> pieces = by_cell(cells, queries);
  workers = useful(workers, static_cast<std::int64_t>(pieces.size()));
  std::vector<CellSearch<Real>> searches(static_cast<std::size_t>(workers),
                                         {points, cells, label_size, budget, out});
  parallel_blocks(static_cast<std::int64_t>(pieces.size()), kCellsAtOnce, workers,
                  [&](int worker, std::int64_t begin, std::int64_t end) {
                    searches[worker].search(std::span(pieces).subspan(begin, end - begin), queries);
                  });
}

}  // namespace ctsne
