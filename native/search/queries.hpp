// Neighbours of any queries among reference points: those whose labels differ from the query's in
// given columns. A query visits the cells nearest to it, until a budget of candidates is spent, or
// all cells. Nothing it finds depends on the other queries.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "loops/kernels.hpp"
#include "parallel/parallel.hpp"
#include "search/arrange.hpp"
#include "search/candidates.hpp"
#include "search/ranking.hpp"

namespace ctsne {

// Labels in several columns, -1 where missing. The pattern of two points is the mask of the columns
// in which both have a label and these differ.
inline bool has_pattern(const std::int32_t* a, const std::int32_t* b, std::int64_t columns,
                        unsigned pattern) {
  unsigned found = 0;
  for (std::int64_t c = 0; c < columns; ++c)
    found |= static_cast<unsigned>(a[c] >= 0 && b[c] >= 0 && a[c] != b[c]) << c;
  return found == pattern;
}

// How rows of the data become the rows that are scanned: small numbers in single precision, whose
// digits hold the differences.
struct Scaling {
  std::span<const double> first, mean;  // subtracted in turn
  double scale;

  template <class Real>
  void apply(const Real* x, float* out) const {
    for (std::size_t dim = 0; dim < first.size(); ++dim)
      out[dim] = static_cast<float>((static_cast<double>(x[dim]) - first[dim] - mean[dim]) / scale);
  }
};

// Neighbouring points of a cell with the same combination of labels.
struct LabelRun {
  std::int64_t begin, end;
  std::int32_t combination;
};

// Reference points in the order of cells, each cell sorted by combination of labels: `points.codes`
// are rows of `table`, which is sorted and holds each combination once.
template <class Real>
struct QueryReference {
  SearchPoints<Real> points;
  Scaling scaling;
  CellIndex cells;
  std::span<const LabelRun> runs;
  std::span<const std::int64_t> cell_runs;  // runs of cell c: [cell_runs[c], cell_runs[c+1])
  std::span<const std::int32_t> table;
  std::int64_t columns;
  // Where cells hold one combination each: where those of each combination begin, and for each
  // column the combinations in the order of its labels.
  std::span<const std::int64_t> table_cells;
  std::span<const std::int32_t> by_column;

  std::span<const LabelRun> runs_of(std::int64_t cell) const {
    return runs.subspan(cell_runs[cell], cell_runs[cell + 1] - cell_runs[cell]);
  }
  const std::int32_t* combination(std::int64_t k) const { return table.data() + k * columns; }
  std::int64_t combinations() const { return static_cast<std::int64_t>(table_cells.size()) - 1; }
};

template <class Real>
struct Queries {
  std::span<const Real> original;
  std::span<const std::int32_t> labels;  // one row of columns per query
  std::span<const std::int64_t> own;     // id of the point each leaves out (-1: none), or empty
  unsigned pattern;
};

// One worker's search.
template <class Real>
class QuerySearch {
 public:
  // A budget of 0 visits all cells, and is exact.
  QuerySearch(const QueryReference<Real>& reference, const Queries<Real>& queries,
              std::int64_t budget, std::int64_t most, const ListOutput& out)
      : ref_(reference),
        queries_(queries),
        budget_(budget),
        out_(out),
        group_(*std::max_element(out.wanted.begin(), out.wanted.end()),
               static_cast<std::size_t>(most)),
        ranking_(reference.cells, reference.points.dims,
                 ranking_depth(reference.cells, reference.points.count(), budget)),
        rows_(static_cast<std::size_t>(most * reference.points.dims)) {}

  void search(std::int64_t begin, std::int64_t end) {
    gather(begin, end);
    if (members_.empty()) return;
    if (budget_ > 0)
      visit_nearest();
    else
      visit_all();
    write();
  }

 private:
  const std::int32_t* label(std::size_t member) const {
    return queries_.labels.data() + members_[member] * ref_.columns;
  }
  bool same_label(std::size_t a, std::size_t b) const {
    return std::equal(label(a), label(a) + ref_.columns, label(b));
  }
  bool admits(const std::int32_t* label, const LabelRun& run) const {
    return has_pattern(label, ref_.combination(run.combination), ref_.columns, queries_.pattern);
  }

  // Takes the queries that want a list, sorted by label.
  void gather(std::int64_t begin, std::int64_t end) {
    members_.clear();
    for (std::int64_t q = begin; q < end; ++q)
      if (out_.wanted[q] > 0) members_.push_back(q);
    const std::int32_t* labels = queries_.labels.data();
    const std::int64_t columns = ref_.columns;
    if (columns > 0)
      std::stable_sort(members_.begin(), members_.end(), [=](std::int64_t a, std::int64_t b) {
        return std::lexicographical_compare(labels + a * columns, labels + (a + 1) * columns,
                                            labels + b * columns, labels + (b + 1) * columns);
      });
    group_.clear();
    for (std::size_t m = 0; m < members_.size(); ++m) {
      const std::int64_t q = members_[m], dims = ref_.points.dims;
      float* row = rows_.data() + static_cast<std::int64_t>(m) * dims;
      ref_.scaling.apply(queries_.original.data() + q * dims, row);
      const std::int32_t keep = out_.wanted[q] + kSpare;
      group_.add(row, 0, keep);
      // Which of many ties stay must not depend on the longest list of all queries.
      ScanQuery& query = group_[static_cast<int>(m)];
      query.capacity = query.most = QueryGroup::capacity_for(keep);
    }
  }

  void visit_all() {
    std::vector<std::uint32_t> all(members_.size());
    std::iota(all.begin(), all.end(), 0);
    for (std::int64_t cell = 0; cell < ref_.cells.count(); ++cell) scan(cell, all);
  }

  void visit_nearest() {
    visits_.clear();
    for (std::size_t begin = 0, end; begin < members_.size(); begin = end) {
      for (end = begin + 1; end < members_.size() && end - begin < QueryGroup::kQueries &&
                            same_label(begin, end);)
        ++end;
      if (begin == 0 || !same_label(begin - 1, begin)) find_cells(label(begin));
      choose(begin, end);
    }
    // Sorted by cell: all queries that visit a cell scan it together.
    const auto cells = static_cast<std::size_t>(ref_.cells.count());
    starts_.assign(cells + 1, 0);
    for (const Visit& visit : visits_) ++starts_[visit.cell + 1];
    for (std::size_t c = 0; c < cells; ++c) starts_[c + 1] += starts_[c];
    visitors_.resize(visits_.size());
    for (const Visit& visit : visits_) visitors_[starts_[visit.cell]++] = visit.member;
    for (std::size_t c = 0, begin = 0; c < cells; begin = starts_[c++])
      if (begin < starts_[c])
        scan(static_cast<std::int64_t>(c), std::span(visitors_).subspan(begin, starts_[c] - begin));
  }

  // Cells that hold a candidate for a label, as ranges.
  void find_cells(const std::int32_t* label) {
    eligible_.clear();
    if (ref_.table_cells.empty()) {
      for (std::int64_t cell = 0; cell < ref_.cells.count(); ++cell) {
        const auto runs = ref_.runs_of(cell);
        if (std::any_of(runs.begin(), runs.end(), [&](auto& run) { return admits(label, run); }))
          add_cells(cell, cell + 1);
      }
    } else {
      admitted_.clear();
      for (const auto candidates : likely(label))
        for (const std::int32_t k : candidates)
          if (has_pattern(label, ref_.combination(k), ref_.columns, queries_.pattern))
            admitted_.push_back(k);
      std::sort(admitted_.begin(), admitted_.end());
      for (const std::int32_t k : admitted_)
        add_cells(ref_.table_cells[k], ref_.table_cells[k + 1]);
    }
  }

  // Combinations among which all are that make the pattern with a label. In a column outside the
  // pattern these have the query's label or none: the column with the fewest such is taken.
  std::array<std::span<const std::int32_t>, 2> likely(const std::int32_t* label) const {
    const std::int64_t count = ref_.combinations();
    std::array<std::span<const std::int32_t>, 2> fewest{ref_.by_column.first(count)};
    std::size_t least = ref_.by_column.size() + 1;
    for (std::int64_t c = 0; c < ref_.columns; ++c) {
      if (label[c] < 0 || queries_.pattern >> c & 1u) continue;
      const auto rows = ref_.by_column.subspan(c * count, count);
      const auto with = [&](std::int32_t code) {
        const auto below = [&](std::int32_t k) { return ref_.combination(k)[c] < code; };
        const auto up_to = [&](std::int32_t k) { return ref_.combination(k)[c] <= code; };
        const auto begin = std::partition_point(rows.begin(), rows.end(), below);
        return std::span(begin, std::partition_point(begin, rows.end(), up_to));
      };
      const std::array found{with(-1), with(label[c])};
      if (found[0].size() + found[1].size() >= least) continue;
      least = found[0].size() + found[1].size();
      fewest = found;
    }
    return fewest;
  }

  void add_cells(std::int64_t begin, std::int64_t end) {
    if (!eligible_.empty() && eligible_.back().end == begin)
      eligible_.back().end = end;
    else
      eligible_.push_back({begin, end});
  }

  // Chooses the cells that each of some queries of one label visits.
  void choose(std::size_t begin, std::size_t end) {
    from_.clear();
    for (std::size_t m = begin; m < end; ++m) from_.push_back(group_[static_cast<int>(m)].x);
    ranking_.prepare(from_, eligible_);
    for (std::size_t m = begin; m < end; ++m) {
      std::int64_t spent = 0;
      ranking_.walk(static_cast<int>(m - begin), any_cell, [&](std::int64_t cell) {
        visits_.push_back({static_cast<std::uint32_t>(cell), static_cast<std::uint32_t>(m)});
        for (const LabelRun& run : ref_.runs_of(cell))
          if (admits(label(m), run)) spent += run.end - run.begin;
        return spent < budget_;
      });
    }
  }

  // Offers the points of a cell to some queries, which come sorted by label.
  void scan(std::int64_t cell, std::span<const std::uint32_t> members) {
    const std::int64_t first = ref_.cells.bounds[cell] / kBlock;
    const std::int64_t blocks = blocks_of(ref_.cells.bounds[cell + 1]) - first;
    lanes_.clear();
    scanned_.clear();
    where_.clear();
    bool any = false;
    for (std::size_t k = 0; k < members.size(); ++k) {
      if (k == 0 || !same_label(members[k - 1], members[k]))
        any = add_lanes(cell, first, blocks, label(members[k]));
      if (!any) continue;
      scanned_.push_back(&group_[static_cast<int>(members[k])]);
      where_.push_back(lanes_.size() - static_cast<std::size_t>(blocks));
    }
    lanes_at_.clear();
    for (const std::size_t at : where_) lanes_at_.push_back(lanes_.data() + at);
    kernels().scan_lanes(ref_.points.scanned(false), first, blocks, scanned_.data(),
                         lanes_at_.data(), static_cast<int>(scanned_.size()));
  }

  // Adds the lanes of the cell's blocks that hold candidates of a label; returns if there are any.
  bool add_lanes(std::int64_t cell, std::int64_t first, std::int64_t blocks,
                 const std::int32_t* label) {
    const std::size_t at = lanes_.size();
    lanes_.resize(at + static_cast<std::size_t>(blocks), 0);
    bool any = false;
    for (const LabelRun& run : ref_.runs_of(cell)) {
      if (!admits(label, run)) continue;
      any = true;
      for (std::int64_t begin = run.begin, end; begin < run.end; begin = end) {
        const std::int64_t block = begin / kBlock;
        end = std::min(run.end, (block + 1) * kBlock);
        const unsigned from = static_cast<unsigned>(begin - block * kBlock);
        const unsigned count = static_cast<unsigned>(end - begin);
        lanes_[at + static_cast<std::size_t>(block - first)] |=
            static_cast<std::uint16_t>(((1u << count) - 1) << from);
      }
    }
    return any;
  }

  void write() {
    for (std::size_t m = 0; m < members_.size(); ++m) {
      const std::int64_t q = members_[m];
      const auto each = [&](auto&& visit) {
        for (const LabelRun& run : ref_.runs)
          if (admits(label(m), run))
            for (std::int64_t at = run.begin; at < run.end; ++at) visit(at);
      };
      const ListTarget<Real> target{queries_.original.data() + q * ref_.points.dims,
                                    queries_.own.empty() ? -1 : queries_.own[q], q};
      writer_.write(ref_.points, group_[static_cast<int>(m)], target, budget_ == 0, each, out_);
    }
  }

  struct Visit {
    std::uint32_t cell, member;
  };

  const QueryReference<Real>& ref_;
  const Queries<Real>& queries_;
  std::int64_t budget_;
  const ListOutput& out_;
  QueryGroup group_;
  Ranking ranking_;
  ListWriter<Real> writer_;
  std::vector<float> rows_;
  std::vector<std::int64_t> members_;
  std::vector<Range> eligible_;
  std::vector<std::int32_t> admitted_;
  std::vector<const float*> from_;
  std::vector<Visit> visits_;
  std::vector<std::size_t> starts_, where_;
  std::vector<std::uint32_t> visitors_;
  std::vector<std::uint16_t> lanes_;
  std::vector<ScanQuery*> scanned_;
  std::vector<const std::uint16_t*> lanes_at_;
};

// Fills one list of the queries [begin, end); see QuerySearch for the budget.
template <class Real>
void find_queries(const QueryReference<Real>& reference, const Queries<Real>& queries,
                  std::int64_t begin, std::int64_t end, std::int64_t budget, int workers,
                  const ListOutput& out) {
  // Enough queries at a time that several visit the same cell, few enough that their lists stay in
  // the cache.
  constexpr std::int64_t kLeast = 64, kEntries = 1 << 19;
  const std::int64_t longest = *std::max_element(out.wanted.begin(), out.wanted.end());
  const std::int64_t enough = std::clamp<std::int64_t>(2 * reference.cells.count(), 2048, 8192);
  const std::int64_t size = std::clamp((end - begin) / (2 * workers) + 1, kLeast,
                                       std::clamp(kEntries / longest, kLeast, enough));
  workers = useful(workers, (end - begin + size - 1) / size);
  auto searches =
      one_per_worker<QuerySearch<Real>>(workers, reference, queries, budget, size, out);
  parallel_blocks(end - begin, size, workers, [&](int worker, std::int64_t from, std::int64_t to) {
    searches[static_cast<std::size_t>(worker)].search(begin + from, begin + to);
  });
}

}  // namespace ctsne
