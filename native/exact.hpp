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

// A label with fewer points shares its scans with others, and codes tell them apart.
constexpr std::int64_t kWorthOwnScan = 32;

// One list of the points at `queries` (rising positions). Lists must not be longer than what there is.
template <class Real>
void find_exact(const SearchPoints<Real>& points, const LabelRanges& labels, List list,
                std::span<const std::int64_t> queries, int workers, const ListOutput& out) {
  struct Piece {
    std::size_t begin, end;  // of queries
    std::int32_t code;       // the label of them all, or -1: several labels, or none
  };
  const auto size_of = [&](std::int32_t code) { return labels.bounds[code + 1] - labels.bounds[code]; };
  const auto shared = [&](std::int32_t code) { return list == List::other && code >= 0 && size_of(code) < kWorthOwnScan; };
  std::vector<Piece> pieces;
  for (std::size_t begin = 0, end; begin < queries.size(); begin = end) {
    const std::int32_t code = points.codes[queries[begin]];
    const auto together = [&](std::int32_t next) { return next == code || (shared(code) && shared(next)); };
    end = begin + 1;
    while (end < queries.size() && end - begin < QueryGroup::kQueries && together(points.codes[queries[end]])) ++end;
    pieces.push_back({begin, end, code});
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
    else if (shared(piece.code))
      searchers[worker].search(members, std::array{Range{0, labels.labelled()}}, true);
    else
      searchers[worker].search(members, std::array{Range{0, own.begin}, Range{own.end, labels.labelled()}}, false);
  });
}

}  // namespace ctsne
