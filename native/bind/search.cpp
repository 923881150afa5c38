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
  m.def("make_cells", make_cells, array_arg("rows"), array_arg("ranges"), "size"_a, "whole"_a,
        "n_jobs"_a, "Order rows by cells of nearby ones; return the order and the cells' bounds.");
}

}  // namespace ctsne_python
