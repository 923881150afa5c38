// Exact neighbours: every point with the same label is scanned, or every point with another label.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "parallel/parallel.hpp"
#include "search/candidates.hpp"

namespace ctsne {

// Queries that scan the same ranges.
struct QueryPiece {
  std::size_t begin, end;  // in the list of queries
  std::int32_t code;       // the label of the first query
  bool shared;             // whether the queries have several labels
};

// Cuts queries (rising positions, sorted by label) into pieces of one label. In the list of other
// labels, labels with few queries share a piece, and the scan then compares codes.
template <class Real>
std::vector<QueryPiece> query_pieces(const SearchPoints<Real>& points, const LabelRanges& labels,
                                     List list, std::span<const std::int64_t> queries) {
  constexpr std::size_t kWorthOwnScan = 32;
  constexpr std::size_t kMost = QueryGroup::kQueries;
  std::vector<QueryPiece> pieces;
  for (std::size_t begin = 0, end; begin < queries.size(); begin = end) {
    const std::int32_t code = points.codes[queries[begin]];
    const std::int64_t last = code < 0 ? points.count() : labels.of(code).end;
    const auto rest = queries.subspan(begin);
    end = begin + (std::lower_bound(rest.begin(), rest.end(), last) - rest.begin());
    const bool shared = list == List::other && code >= 0 && end - begin < kWorthOwnScan;
    if (shared && !pieces.empty() && pieces.back().shared && end - pieces.back().begin <= kMost) {
      pieces.back().end = end;
      continue;
    }
    for (std::size_t at = begin; at < end; at += kMost)
      pieces.push_back({at, std::min(end, at + kMost), code, shared});
  }
  return pieces;
}

// Finds one list of the points at `queries` (rising positions). Points must be sorted by label.
template <class Real>
void find_exact(const SearchPoints<Real>& points, List list, std::span<const std::int64_t> queries,
                int workers, const ListOutput& out) {
  const LabelRanges labels(points.codes.first(static_cast<std::size_t>(points.count())));
  const Twins twins(points, queries, out, list == List::same);
  queries = twins.searched();
  const std::vector<QueryPiece> pieces = query_pieces(points, labels, list, queries);
  workers = useful(workers, static_cast<std::int64_t>(pieces.size()));
  auto searchers = one_per_worker<Searcher<Real>>(workers, points, out, &twins);
  const std::int64_t labelled = labels.labelled(), all = points.count();
  parallel_for(static_cast<std::int64_t>(pieces.size()), workers, [&](int worker, std::int64_t p) {
    const QueryPiece& piece = pieces[p];
    Searcher<Real>& searcher = searchers[worker];
    const auto members = queries.subspan(piece.begin, piece.end - piece.begin);
    if (piece.code < 0) {  // no label differs from a missing one
      if (list == List::same)
        searcher.search_all(members, std::array{Range{0, all}}, false);
      else
        searcher.search_all(members, {}, false);
      return;
    }
    const Range own = labels.of(piece.code);
    if (list == List::same)
      searcher.search_all(members, std::array{own, Range{labelled, all}}, false);
    else if (piece.shared)
      searcher.search_all(members, std::array{Range{0, labelled}}, true);
    else
      searcher.search_all(members, std::array{Range{0, own.begin}, Range{own.end, labelled}},
                          false);
  });
}

}  // namespace ctsne
