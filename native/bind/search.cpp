// The Python interface of stage 1: points arranged for search, cells of them, and the lists they
// fill.
#include <algorithm>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "bind/arrays.hpp"
#include "search/arrange.hpp"
#include "search/candidates.hpp"
#include "search/cells.hpp"
#include "search/exact.hpp"
#include "search/probes.hpp"
#include "search/queries.hpp"

namespace ctsne_python {

namespace {

ctsne::List list_of(bool other) { return other ? ctsne::List::other : ctsne::List::same; }

// Both lists of every point, side by side in one row: "other" begins where "same" ends.
class NeighborLists {
 public:
  NeighborLists(Vector<const int32_t> k_same, int64_t length)
      : length_(length), k_same_(copy_of(k_same)), k_other_(k_same_.size()) {
    require(length > 0 && length <= std::numeric_limits<int32_t>::max(),
            "lists must have a length");
    for (std::size_t i = 0; i < k_same_.size(); ++i) {
      require(k_same_[i] >= 0 && k_same_[i] <= length, "k_same must lie between 0 and length");
      k_other_[i] = static_cast<int32_t>(length) - k_same_[i];
    }
    indices_ = empty<int32_t>(k_same_.size(), length);
    distances_ = empty<float>(k_same_.size(), length);
  }

  const Matrix<int32_t>& indices() const { return indices_; }
  const Matrix<float>& distances() const { return distances_; }
  int64_t points() const { return static_cast<int64_t>(k_same_.size()); }
  int64_t length() const { return length_; }

  ctsne::ListOutput output(bool other) const {
    const std::span<const int32_t> same(k_same_), none;
    return {other ? std::span<const int32_t>(k_other_) : same, other ? same : none, length_,
            indices_.data(), distances_.data()};
  }

 private:
  int64_t length_;
  std::vector<int32_t> k_same_, k_other_;
  Matrix<int32_t> indices_;
  Matrix<float> distances_;
};

using Original = std::variant<Matrix<const float>, Matrix<const double>>;

// Points in an order of their own; see ctsne::SearchPoints.
class SearchPoints {
 public:
  // `rows` are the points centred and scaled; rows and codes come in the order of the data.
  SearchPoints(Original points, Matrix<const float> rows, Vector<const uint32_t> ids,
               Vector<const int32_t> codes, double scale, int n_jobs)
      : SearchPoints(std::move(points), scale, n_jobs) {
    const auto same_shape = [&](const auto& original) {
      return original.shape(0) == rows.shape(0) && original.shape(1) == rows.shape(1);
    };
    require(std::visit(same_shape, original_), "points and rows must have the same shape");
    require(rows.shape(0) > 0 && rows.shape(1) > 0 && scale > 0, "there is nothing to search");
    require(rows.shape(0) <= std::numeric_limits<int32_t>::max(), "there are too many points");
    require_size(codes, size_of(rows));
    std::vector<uint32_t> all(rows.shape(0));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint32_t>(i);
    arrange(rows, span_of(ids), all, span_of(codes));
  }

  // The same points in a new order of positions.
  std::shared_ptr<SearchPoints> reordered(Vector<const uint32_t> order) const {
    std::shared_ptr<SearchPoints> out(new SearchPoints(original_, scale_, n_jobs_));
    out->arrange(rows_, span_of(order), ids_, codes_);
    return out;
  }

  void find_exact(NeighborLists& lists, Vector<const int64_t> queries, bool other) const {
    require(ctsne::LabelRanges::hold(codes()), "points must be sorted by label");
    check(lists, queries);
    // Forming a coordinate difference takes about 0.1 ns: a slice takes about a tenth of a second.
    const double work =
        1e9 * n_jobs_ / (static_cast<double>(count()) * static_cast<double>(dims() + 8));
    const int64_t step = std::max(int64_t{64} * n_jobs_, static_cast<int64_t>(work));
    with_input([&](const auto& input) {
      in_slices(0, size_of(queries), step, [&](int64_t begin, int64_t end) {
        ctsne::find_exact(input, list_of(other), span_of(queries).subspan(begin, end - begin),
                          n_jobs_, lists.output(other));
      });
    });
  }

  // Calls work(ctsne::SearchPoints<float or double>).
  template <class Work>
  void with_input(Work&& work) const {
    const auto of = [&]<class Real>(const Matrix<const Real>& original) {
      work(ctsne::SearchPoints<Real>{span_of(packed_), span_of(rows_), ids_, codes_,
                                     span_of(original), dims(), scale_});
    };
    std::visit(of, original_);
  }

  void check(const NeighborLists& lists, const Vector<const int64_t>& queries) const {
    require(lists.points() == count(), "the lists are those of other points");
    require(lists.length() < count(),
            "a list is longer than the number of points available for it");
    for (std::size_t k = 0; k < queries.size(); ++k)
      require(queries(k) >= (k ? queries(k - 1) + 1 : 0) && queries(k) < count(),
              "queries must be rising positions");
  }

  int64_t count() const { return static_cast<int64_t>(ids_.size()); }
  int64_t dims() const { return size_of(rows_, 1); }
  int n_jobs() const { return n_jobs_; }
  const Matrix<float>& rows() const { return rows_; }
  std::span<const uint32_t> ids() const { return ids_; }
  std::span<const int32_t> codes() const { return {codes_.data(), ids_.size()}; }

 private:
  SearchPoints(Original points, double scale, int n_jobs)
      : original_(std::move(points)), scale_(scale), n_jobs_(checked_jobs(n_jobs)) {}

  template <class Rows>
  void arrange(const Rows& rows, std::span<const uint32_t> order, std::span<const uint32_t> ids,
               std::span<const int32_t> codes) {
    const std::size_t n = rows.shape(0), dims = rows.shape(1);
    const auto blocks = static_cast<std::size_t>(ctsne::blocks_of(static_cast<int64_t>(n)));
    require(order.size() == n, "one place in the order per point is needed");
    std::vector<bool> seen(n);
    ids_.resize(n);
    codes_.assign(blocks * ctsne::kBlock, -1);
    for (std::size_t at = 0; at < n; ++at) {
      const uint32_t from = order[at];
      require(from < n && !seen[from], "the order must name every point once");
      require(codes[from] >= -1, "a code is negative");
      seen[from] = true;
      ids_[at] = ids[from];
      codes_[at] = codes[from];
    }
    rows_ = empty<float>(n, dims);
    packed_ = empty<float>(blocks, dims, std::size_t{ctsne::kBlock});
    nb::gil_scoped_release release;
    ctsne::arrange(rows.data(), order, static_cast<int64_t>(dims), n_jobs_, rows_.data(),
                   packed_.data());
  }

  Original original_;
  double scale_;
  int n_jobs_;
  Matrix<float> rows_;
  Array<float, 3> packed_;
  std::vector<uint32_t> ids_;
  std::vector<int32_t> codes_;  // whole blocks
};

// Cells of nearby points, the points in the order of the cells. Either every cell holds one label
// and cells are sorted by label, or cells hold all labels and are sorted by label inside.
class Cells {
 public:
  Cells(std::shared_ptr<SearchPoints> points, Vector<const int64_t> bounds,
        std::optional<Vector<const int64_t>> label_sizes)
      : points_(std::move(points)), bounds_(copy_of(bounds)) {
    require_bounds(bounds, points_->count());
    require(bounds_.size() > 1 && bounds_.front() == 0 && bounds_.back() == points_->count(),
            "the cells must hold all points");
    for (std::size_t c = 0; c + 1 < bounds_.size(); ++c)
      require(bounds_[c] < bounds_[c + 1], "a cell is empty");
    if (label_sizes)
      check_mixed(*label_sizes);
    else
      check_pure();
    find_centres();
  }

  // Searches one list of the points at some positions, each among `budget` candidates or a few
  // more.
  void find(NeighborLists& lists, Vector<const int64_t> queries, bool other, int64_t budget) const {
    points_->check(lists, queries);
    require(!other || !label_sizes_.empty(), "cells of one label hold no points of other labels");
    const auto wanted = lists.output(other).wanted;
    require(budget > *std::max_element(wanted.begin(), wanted.end()),
            "the budget is smaller than a list");
    budget = std::min(budget, points_->count());
    // Nanoseconds per query: its candidates, and the ordering of its list. A slice takes 0.2 s.
    const int n_jobs = points_->n_jobs();
    const double cost =
        0.05 * static_cast<double>(budget) * static_cast<double>(points_->dims()) + 20'000;
    const int64_t step =
        std::max(int64_t{256} * n_jobs, static_cast<int64_t>(1e9 * 0.2 * n_jobs / cost));
    const ctsne::CellIndex index{bounds_, centres_, packed_centres_};
    points_->with_input([&](const auto& input) {
      in_slices(0, size_of(queries), step, [&](int64_t begin, int64_t end) {
        const auto slice = span_of(queries).subspan(begin, end - begin);
        if (label_sizes_.empty())
          ctsne::probe_same(input, index, codes_, slice, budget, n_jobs, lists.output(other));
        else
          ctsne::probe_all(input, index, label_sizes_, slice, budget, n_jobs, lists.output(other));
      });
    });
  }

  std::shared_ptr<SearchPoints> points() const { return points_; }

 private:
  std::span<const int32_t> codes_in(std::size_t cell) const {
    return points_->codes().subspan(bounds_[cell], bounds_[cell + 1] - bounds_[cell]);
  }

  void check_pure() {
    for (std::size_t c = 0; c + 1 < bounds_.size(); ++c) {
      const auto codes = codes_in(c);
      require(
          std::count(codes.begin(), codes.end(), codes[0]) == static_cast<int64_t>(codes.size()),
          "a cell holds several labels");
      codes_.push_back(codes[0]);
    }
    require(ctsne::LabelRanges::hold(codes_), "the cells must be sorted by label");
  }

  void check_mixed(const Vector<const int64_t>& label_sizes) {
    label_sizes_ = copy_of(label_sizes);
    require(!label_sizes_.empty(), "there are no labels");
    for (const int64_t size : label_sizes_)
      require(size >= 0 && size <= points_->count(), "a label is larger than the data");
    for (std::size_t c = 0; c + 1 < bounds_.size(); ++c) {
      const auto codes = codes_in(c);
      require(std::is_sorted(codes.begin(), codes.end()), "a cell must be sorted by label");
      require(codes.back() < static_cast<int64_t>(label_sizes_.size()),
              "a code is outside the labels");
    }
  }

  void find_centres() {
    const int64_t count = static_cast<int64_t>(bounds_.size()) - 1, dims = points_->dims();
    centres_.resize(static_cast<std::size_t>(count * dims));
    packed_centres_.resize(
        static_cast<std::size_t>(ctsne::blocks_of(count) * ctsne::kBlock * dims));
    const auto centre = [&](int64_t c, float*) { return centres_.data() + c * dims; };
    nb::gil_scoped_release release;
    points_->with_input([&](const auto& input) {
      ctsne::cell_centres(input.packed.data(), dims, bounds_, points_->n_jobs(), centres_.data());
    });
    ctsne::pack_blocks(count, dims, points_->n_jobs(), centre, packed_centres_.data());
  }

  std::shared_ptr<SearchPoints> points_;
  std::vector<int64_t> bounds_;
  std::vector<int64_t> label_sizes_;  // empty where cells hold one label each
  std::vector<int32_t> codes_;        // of the cells, where they hold one label each
  std::vector<float> centres_, packed_centres_;
};

// Reference points in cells, in which the neighbours of any queries are found.
class QueryCells {
 public:
  // Position p holds point order[p]; `combinations` are rows of `table`, in the order of the data.
  // In `pure` cells all points have the same combination.
  QueryCells(Original points, Vector<const double> first, Vector<const double> mean, double scale,
             Vector<const uint32_t> order, Vector<const int64_t> bounds,
             Vector<const int32_t> combinations, Matrix<const int32_t> table, bool pure, int n_jobs)
      : original_(std::move(points)),
        first_(copy_of(first)),
        mean_(copy_of(mean)),
        scale_(scale),
        ids_(copy_of(order)),
        bounds_(copy_of(bounds)),
        table_(table.data(), table.data() + table.size()),
        columns_(size_of(table, 1)) {
    const auto [n, dims] = std::visit(
        [](const auto& original) { return std::pair(original.shape(0), original.shape(1)); },
        original_);
    n_jobs = checked_jobs(n_jobs);
    require(n > 0 && dims > 0 && scale > 0, "there is nothing to search");
    require(n <= std::numeric_limits<int32_t>::max(), "there are too many points");
    require(first_.size() == dims && mean_.size() == dims, "one entry per column is needed");
    require_size(combinations, static_cast<int64_t>(n));
    require(columns_ <= kMostColumns, "there are too many columns of labels");
    check_table(size_of(table));
    check_cells(span_of(combinations), size_of(table), pure);
    arrange(static_cast<int64_t>(dims), n_jobs);
  }

  // Fills entries [offset, offset + wanted) of the rows of some queries; a budget of 0 is exact.
  void find(Original queries, Matrix<const int32_t> labels,
            std::optional<Vector<const int64_t>> own, unsigned pattern, int64_t budget,
            Vector<const int32_t> wanted, Vector<const int32_t> offset, Matrix<int32_t> indices,
            Matrix<float> distances, int n_jobs) const {
    n_jobs = checked_jobs(n_jobs);
    const int64_t count = size_of(labels), length = size_of(indices, 1);
    require(size_of(labels, 1) == columns_, "labels must have the columns of the reference");
    require(size_of(indices) == count && size_of(distances) == count &&
                size_of(distances, 1) == length,
            "one row per query is needed");
    if (own) require_size(*own, count);
    require_size(wanted, count);
    require_size(offset, count);
    int64_t longest = 0;
    for (int64_t q = 0; q < count; ++q) {
      require(wanted(q) >= 0 && offset(q) >= 0 && offset(q) + int64_t{wanted(q)} <= length,
              "a list does not fit into its row");
      longest = std::max<int64_t>(longest, wanted(q));
    }
    if (longest == 0) return;
    const auto n = static_cast<int64_t>(ids_.size());
    require(longest <= n, "a list is longer than the number of points available for it");
    require(budget == 0 || budget > longest, "the budget is smaller than a list");
    budget = std::min(budget, n);
    const ctsne::ListOutput out{span_of(wanted), span_of(offset), length, indices.data(),
                                distances.data()};
    // Nanoseconds per query, as for the points themselves. A slice takes 0.2 s.
    const double scanned = static_cast<double>(budget ? budget : n);
    const double cost = 0.05 * scanned * static_cast<double>(first_.size()) + 10'000;
    const int64_t step =
        std::max(int64_t{4096} * n_jobs, static_cast<int64_t>(1e9 * 0.2 * n_jobs / cost));
    const auto of = [&]<class Real>(const Matrix<const Real>& original) {
      require(std::holds_alternative<Matrix<const Real>>(queries),
              "queries must have the type of the points");
      const auto& rows = std::get<Matrix<const Real>>(queries);
      require(size_of(rows) == count && rows.shape(1) == first_.size(),
              "one row per query is needed");
      const ctsne::QueryReference<Real> reference{
          {packed_, {}, ids_, {}, span_of(original), size_of(rows, 1), scale_},
          {first_, mean_, scale_},
          {bounds_, centres_, packed_centres_},
          runs_,
          cell_runs_,
          table_,
          columns_,
          table_cells_,
          by_column_};
      const ctsne::Queries<Real> input{span_of(rows), span_of(labels),
                                       own ? span_of(*own) : std::span<const int64_t>(), pattern};
      in_slices(0, count, step, [&](int64_t begin, int64_t end) {
        ctsne::find_queries(reference, input, begin, end, budget, n_jobs, out);
      });
    };
    std::visit(of, original_);
  }

 private:
  static constexpr int64_t kMostColumns = 8;

  void check_table(int64_t rows) const {
    for (const int32_t code : table_) require(code >= -1, "a code is negative");
    const int32_t* row = table_.data();
    for (int64_t k = 1; k < rows; ++k, row += columns_)
      require(std::lexicographical_compare(row, row + columns_, row + columns_,
                                           row + 2 * columns_),
              "the combinations must rise");
  }

  void check_cells(std::span<const int32_t> combinations, int64_t rows, bool pure) {
    const auto n = static_cast<int64_t>(combinations.size());
    require(ids_.size() == combinations.size(), "one place in the order per point is needed");
    std::vector<bool> seen(combinations.size());
    for (const uint32_t id : ids_) {
      require(id < seen.size() && !seen[id], "the order must name every point once");
      seen[id] = true;
    }
    for (const int32_t code : combinations)
      require(code >= 0 && code < rows, "a combination is outside the table");
    require(bounds_.size() > 1 && bounds_.front() == 0 && bounds_.back() == n,
            "the cells must hold all points");
    for (std::size_t c = 0; c + 1 < bounds_.size(); ++c)
      require(bounds_[c] < bounds_[c + 1] && bounds_[c + 1] <= n, "a cell is empty");
    for (std::size_t c = 0; c + 1 < bounds_.size(); ++c) {
      cell_runs_.push_back(static_cast<int64_t>(runs_.size()));
      for (int64_t at = bounds_[c]; at < bounds_[c + 1]; ++at) {
        const int32_t code = combinations[ids_[at]];
        if (at > bounds_[c] && code == runs_.back().combination) {
          ++runs_.back().end;
          continue;
        }
        require(at == bounds_[c] || (code > runs_.back().combination && !pure),
                pure ? "a cell holds several labels" : "a cell must be sorted by label");
        require(!pure || runs_.empty() || code >= runs_.back().combination,
                "the cells must be sorted by label");
        runs_.push_back({at, at + 1, code});
      }
    }
    cell_runs_.push_back(static_cast<int64_t>(runs_.size()));
    if (!pure) return;
    table_cells_.assign(static_cast<std::size_t>(rows) + 1, 0);
    for (const ctsne::LabelRun& run : runs_) ++table_cells_[run.combination + 1];
    for (int64_t k = 0; k < rows; ++k) table_cells_[k + 1] += table_cells_[k];
    by_column_.resize(static_cast<std::size_t>(rows * std::max(int64_t{1}, columns_)));
    for (std::size_t at = 0; at < by_column_.size(); ++at)
      by_column_[at] = static_cast<int32_t>(static_cast<int64_t>(at) % rows);
    for (int64_t c = 0; c < columns_; ++c) {
      const auto begin = by_column_.begin() + c * rows;
      std::stable_sort(begin, begin + rows, [&](int32_t a, int32_t b) {
        return table_[a * columns_ + c] < table_[b * columns_ + c];
      });
    }
  }

  void arrange(int64_t dims, int n_jobs) {
    const auto n = static_cast<int64_t>(ids_.size());
    const auto cells = static_cast<int64_t>(bounds_.size()) - 1;
    const auto room = [&](int64_t rows) {
      return static_cast<std::size_t>(ctsne::blocks_of(rows) * ctsne::kBlock * dims);
    };
    packed_.resize(room(n));
    centres_.resize(static_cast<std::size_t>(cells * dims));
    packed_centres_.resize(room(cells));
    const auto centre = [&](int64_t c, float*) { return centres_.data() + c * dims; };
    const ctsne::Scaling scaling{first_, mean_, scale_};
    nb::gil_scoped_release release;
    const auto pack = [&](const auto& original) {
      const auto scaled = [&](int64_t at, float* row) {
        scaling.apply(original.data() + static_cast<int64_t>(ids_[at]) * dims, row);
        return row;
      };
      ctsne::pack_blocks(n, dims, n_jobs, scaled, packed_.data());
    };
    std::visit(pack, original_);
    ctsne::cell_centres(packed_.data(), dims, bounds_, n_jobs, centres_.data());
    ctsne::pack_blocks(cells, dims, n_jobs, centre, packed_centres_.data());
  }

  Original original_;
  std::vector<double> first_, mean_;
  double scale_;
  std::vector<uint32_t> ids_;
  std::vector<int64_t> bounds_;
  std::vector<int32_t> table_, by_column_;
  int64_t columns_;
  std::vector<ctsne::LabelRun> runs_;
  std::vector<int64_t> cell_runs_, table_cells_;
  std::vector<float> packed_, centres_, packed_centres_;
};

auto make_cells(Matrix<const float> rows, Vector<const int64_t> ranges, int64_t size, int64_t whole,
                int n_jobs) {
  require(rows.shape(0) > 0 && rows.shape(1) > 0 && size > 0, "there is nothing to divide");
  require(size <= std::numeric_limits<int32_t>::max(), "the cells are too large");
  require_bounds(ranges, size_of(rows));
  require(ranges(0) == 0, "the ranges must begin with the first row");
  n_jobs = checked_jobs(n_jobs);
  ctsne::Cells cells;
  {
    nb::gil_scoped_release release;
    ctsne::CellMaker maker(rows.data(), size_of(rows, 1), size, whole, n_jobs);
    cells = maker.make(span_of(ranges));
  }
  return std::make_tuple(array_of<uint32_t>(cells.order), array_of<int64_t>(cells.bounds));
}

}  // namespace

void define_search(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<NeighborLists>(m, "NeighborLists", "Both lists of neighbours of every point.")
      .def(nb::init<Vector<const int32_t>, int64_t>(), array_arg("k_same"), "length"_a,
           "Make lists of k_same points with the same label and length - k_same others.")
      .def_prop_ro("indices", &NeighborLists::indices)
      .def_prop_ro("distances", &NeighborLists::distances);
  nb::class_<SearchPoints>(m, "SearchPoints", "Points arranged for search, by position.")
      .def(nb::init<Original, Matrix<const float>, Vector<const uint32_t>, Vector<const int32_t>,
                    double, int>(),
           array_arg("points"), array_arg("rows"), array_arg("ids"), array_arg("codes"), "scale"_a,
           "n_jobs"_a, "Arrange points so that position p holds point ids[p].")
      .def("reordered", &SearchPoints::reordered, array_arg("order"),
           "Return the same points such that position p holds the point now at order[p].")
      .def("find_exact", &SearchPoints::find_exact, "lists"_a, array_arg("queries"), "other"_a,
           "Fill one list of the points at some positions; points must be sorted by label.")
      .def_prop_ro("rows", &SearchPoints::rows)
      .def_prop_ro("ids", [](const SearchPoints& points) { return array_of(points.ids()); })
      .def_prop_ro("codes", [](const SearchPoints& points) { return array_of(points.codes()); });
  nb::class_<Cells>(m, "Cells", "Points divided in cells, to search the nearest of them.")
      .def(nb::init<std::shared_ptr<SearchPoints>, Vector<const int64_t>,
                    std::optional<Vector<const int64_t>>>(),
           "points"_a, array_arg("bounds"), array_arg("label_sizes").none() = nb::none(),
           "Without label_sizes, every cell holds one label.")
      .def("find", &Cells::find, "lists"_a, array_arg("queries"), "other"_a, "budget"_a,
           "Fill one list of the points at some positions from about `budget` candidates each.")
      .def_prop_ro("points", &Cells::points);
  nb::class_<QueryCells>(m, "QueryCells", "Reference points in cells, to search for any queries.")
      .def(nb::init<Original, Vector<const double>, Vector<const double>, double,
                    Vector<const uint32_t>, Vector<const int64_t>, Vector<const int32_t>,
                    Matrix<const int32_t>, bool, int>(),
           array_arg("points"), array_arg("first"), array_arg("mean"), "scale"_a,
           array_arg("order"), array_arg("bounds"), array_arg("combinations"), array_arg("table"),
           "pure"_a, "n_jobs"_a,
           "Arrange points in cells: position p holds point order[p], whose labels are the row "
           "combinations[order[p]] of the table.")
      .def("find", &QueryCells::find, array_arg("queries"), array_arg("labels"),
           array_arg("own").none(), "pattern"_a, "budget"_a, array_arg("wanted"),
           array_arg("offset"), array_arg("indices"), array_arg("distances"), "n_jobs"_a,
           "Fill one list of every query, from about `budget` candidates each, or from all (0).");
  m.def("make_cells", make_cells, array_arg("rows"), array_arg("ranges"), "size"_a, "whole"_a,
        "n_jobs"_a, "Order rows by cells of nearby ones; return the order and the cells' bounds.");
}

}  // namespace ctsne_python
