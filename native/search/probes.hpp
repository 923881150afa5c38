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
#include "search/ranking.hpp"

namespace ctsne {

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
  auto searchers = one_per_worker<Searcher<Real>>(workers, points, out);
  const std::int32_t depth = ranking_depth(cells, points.count(), budget);
  auto rankings = one_per_worker<Ranking>(workers, cells, points.dims, depth);
  const auto search = [&](int worker, std::int64_t begin, std::int64_t end) {
    std::vector<const float*> from;
    std::vector<Range> ranges;
    for (std::int64_t next; begin < end; begin = next) {
      const std::int32_t code = cell_codes[pieces[begin].cell];
      if (code < 0) return;  // unlabelled points come last, and are searched among all
      from.clear();
      for (next = begin; next < end && cell_codes[pieces[next].cell] == code; ++next)
        from.push_back(cells.centre(pieces[next].cell, points.dims));
      const std::array candidates{labels.of(code), Range{labels.labelled(), cells.count()}};
      rankings[worker].prepare(from, candidates);
      for (std::int64_t p = begin; p < next; ++p) {
        ranges.clear();
        std::int64_t spent = 0;
        rankings[worker].walk(static_cast<int>(p - begin), any_cell, [&](std::int64_t cell) {
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
        searcher_(points, out),
        ranking_(cells, points.dims, ranking_depth(cells, points.count(), budget)) {}

  void search(std::span<const CellQueries> pieces, std::span<const std::int64_t> queries) {
    const std::array all{Range{0, cells_.count()}};
    from_.clear();
    for (const CellQueries& piece : pieces)
      from_.push_back(cells_.centre(piece.cell, points_.dims));
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
      ranking_.walk(which, any_cell, [&](std::int64_t cell) {
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
  std::vector<const float*> from_;
  std::vector<Range> ranges_;
};

template <class Real>
void probe_all(const SearchPoints<Real>& points, const CellIndex& cells,
               std::span<const std::int64_t> label_size, std::span<const std::int64_t> queries,
               std::int64_t budget, int workers, const ListOutput& out) {
  const std::vector<CellQueries> pieces = by_cell(cells, queries);
  workers = useful(workers, static_cast<std::int64_t>(pieces.size()));
  auto searches =
      one_per_worker<CellSearch<Real>>(workers, points, cells, label_size, budget, out);
  parallel_blocks(static_cast<std::int64_t>(pieces.size()), kCellsAtOnce, workers,
                  [&](int worker, std::int64_t begin, std::int64_t end) {
                    searches[worker].search(std::span(pieces).subspan(begin, end - begin), queries);
                  });
}

}  // namespace ctsne
