// The Python interface of the search for queries: reference points in cells, and what they find.
#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "bind/arrays.hpp"
#include "search/cells.hpp"
#include "search/queries.hpp"

namespace ctsne_python {

namespace {

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

}  // namespace

void define_queries(nb::module_& m) {
  using namespace nb::literals;
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
}

}  // namespace ctsne_python
