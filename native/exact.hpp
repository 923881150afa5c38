// Exact neighbours: every point with the same label, every point with another.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "neighbors.hpp"

namespace ctsne {

enum class List { same, other };

// Points sorted by label, unlabelled ones last: label l holds positions [bounds[l], bounds[l+1]).
struct LabelRanges {
  std::span<const std::int64_t> bounds;
  std::int64_t labelled() const { return bounds[bounds.size() - 1]; }
};

// A label with fewer queries shares its scans with others, and codes tell them apart.
constexpr std::size_t kWorthOwnScan = 32;

// One list of the points at `queries` (rising positions). Lists must not be longer than what there is.
template <class Real>
void find_exact(const SearchPoints<Real>& points, const LabelRanges& labels, List list,
                std::span<const std::int64_t> queries, int workers, const ListOutput& out) {
  struct Piece {
    std::size_t begin, end;  // of queries
    std::int32_t code;       // the label of the first of them
    bool shared;             // whether labels differ among them
  };
  std::vector<Piece> pieces;
  for (std::size_t begin = 0, end; begin < queries.size(); begin = end) {
    const std::int32_t code = points.codes[queries[begin]];
    const std::int64_t last = code < 0 ? points.count() : labels.bounds[code + 1];
    end = std::lower_bound(queries.begin() + static_cast<std::int64_t>(begin), queries.end(), last) - queries.begin();
    const bool shared = list == List::other && code >= 0 && end - begin < kWorthOwnScan;
    const bool joins = shared && !pieces.empty() && pieces.back().shared &&
                       end - pieces.back().begin <= static_cast<std::size_t>(QueryGroup::kQueries);
    if (joins) {
      pieces.back().end = end;
      continue;
    }
    for (std::size_t at = begin; at < end; at += QueryGroup::kQueries)
      pieces.push_back({at, std::min(end, at + QueryGroup::kQueries), code, shared});
  }
  std::vector<Searcher<Real>> searchers(static_cast<std::size_t>(std::max(1, workers)), {points, out, true});
  parallel_for(static_cast<std::int64_t>(pieces.size()), workers, [&](int worker, std::int64_t p) {
    const Piece& piece = pieces[p];
    const auto members = queries.subspan(piece.begin, piece.end - piece.begin);
    if (piece.code < 0) {  // unlabelled: nothing differs from it
      if (list == List::same) searchers[worker].search(members, std::array{Range{0, points.count()}}, false);
      return;
    }
    const Range own{labels.bounds[piece.code], labels.bounds[piece.code + 1]};
    if (list == List::same)
      searchers[worker].search(members, std::array{own, Range{labels.labelled(), points.count()}}, false);
    else if (piece.shared)
      searchers[worker].search(members, std::array{Range{0, labels.labelled()}}, true);
    else
      searchers[worker].search(members, std::array{Range{0, own.begin}, Range{own.end, labels.labelled()}}, false);
  });
}

}  // namespace ctsne
