// The Python interface of stage 2: rows of similarities, and the symmetric matrix made of them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "similarity/rows.hpp"
#include "similarity/symmetrize.hpp"

namespace ctsne_python {

namespace {

// Distances of every point's neighbours, and the log weights of its lists; see ctsne::Rows.
class ConditionalRows {
 public:
  ConditionalRows(Matrix<const float> distances, Matrix<const int32_t> lengths,
                  Matrix<const double> log_weights, int n_jobs)
      : distances_(std::move(distances)),
        lists_(size_of(lengths, 1)),
        lengths_(lengths.data(), lengths.data() + lengths.size()),
        log_weights_(std::move(log_weights)),
        n_jobs_(checked_jobs(n_jobs)) {
    require(count() > 0 && length() > 0 && lists_ > 0, "there are no neighbours");
    require(size_of(lengths) == count(), "one row of lengths per point is needed");
    require_lists(log_weights_);
    for (int64_t i = 0; i < count(); ++i) {
      int64_t total = 0;
      for (int64_t m = 0; m < lists_; ++m) {
        const int32_t own = lengths_[static_cast<std::size_t>(i * lists_ + m)];
        require(own >= 0 && own <= length(), "a length is outside the row");
        require(std::abs(log_weights_(i, m)) <= kLargestLogWeight, "a log weight is too large");
        total += own;
      }
      require(total == length(), "the lengths of the lists must add up to the row");
    }
  }

  auto find_bandwidths(double perplexity, bool weighted, double wide, int64_t begin,
                       std::optional<int64_t> end) const {
    require(wide > 0, "the precision to start from must be positive");
    auto precision = empty<double>(count());
    auto reached = empty<bool>(count());
    const auto target = weighted ? ctsne::Target::kWeighted : ctsne::Target::kUnweighted;
    in_rows(begin, end, [&](const ctsne::Rows& rows) {
      ctsne::find_bandwidths(rows, perplexity, target, wide, n_jobs_, precision.data(),
                             reached.data());
    });
    return std::make_tuple(precision, reached);
  }

  auto find_split_bandwidths(Matrix<const double> perplexities) const {
    require_lists(perplexities);
    auto precisions = empty<double>(count(), lists_);
    auto reached = empty<bool>(count());
    in_rows(0, {}, [&](const ctsne::Rows& rows) {
      ctsne::find_split_bandwidths(rows, span_of(perplexities), n_jobs_, precisions.data(),
                                   reached.data());
    });
    return std::make_tuple(precisions, reached);
  }

  auto fill(Matrix<const double> precisions, std::optional<Matrix<const double>> shares,
            int64_t begin, std::optional<int64_t> end) const {
    require_lists(precisions);
    if (shares) require_lists(*shares);
    auto out = empty<float>(count(), length());
    auto perplexity = empty<double>(count()), largest = empty<double>(count());
    auto share = empty<double>(count(), lists_), log_weights = empty<double>(count(), lists_);
    const auto given = shares ? span_of(*shares) : std::span<const double>();
    in_rows(begin, end, [&](const ctsne::Rows& rows) {
      ctsne::fill_rows(rows, span_of(precisions), given, n_jobs_, out.data(),
                       {perplexity.data(), share.data(), largest.data(), log_weights.data()});
    });
    return std::make_tuple(out, perplexity, share, largest, log_weights);
  }

 private:
  // Beyond, the search for a bandwidth would take ever smaller steps.
  static constexpr double kLargestLogWeight = 1e6;

  int64_t count() const { return size_of(distances_); }
  int64_t length() const { return size_of(distances_, 1); }

  void require_lists(const Matrix<const double>& array) const {
    require(size_of(array) == count() && size_of(array, 1) == lists_,
            "one row per point with one entry per list is needed");
  }

  // Calls work(rows) for slices of the rows that take some hundredths of a second each.
  template <class Work>
  void in_rows(int64_t begin, std::optional<int64_t> given_end, Work&& work) const {
    constexpr int64_t kEntriesAtOnce = 1 << 20;
    const int64_t end = given_end.value_or(count());
    require(0 <= begin && begin < end && end <= count(), "the rows are outside the data");
    const int64_t step = std::max<int64_t>(64, kEntriesAtOnce / length());
    in_slices(begin, end, step, [&](int64_t first, int64_t last) {
      work(ctsne::Rows{span_of(distances_), lengths_, span_of(log_weights_), length(), lists_,
                       first, last});
    });
  }

  Matrix<const float> distances_;
  int64_t lists_;
  std::vector<int32_t> lengths_;
  Matrix<const double> log_weights_;
  int n_jobs_;
};

auto symmetrize(Matrix<const int32_t> indices, Matrix<const float> rows, int64_t entries_at_once,
                int n_jobs) {
  constexpr int64_t kMostRanges = 64;  // each reads all indices
  const int64_t n = size_of(indices), length = size_of(indices, 1);
  require(n > 0 && length > 0 && size_of(rows) == n && size_of(rows, 1) == length,
          "indices and rows must have the same shape");
  require(n <= std::numeric_limits<int32_t>::max(), "there are too many points");
  require(entries_at_once > 0, "entries_at_once must be positive");
  n_jobs = checked_jobs(n_jobs);
  const ctsne::Conditional given{span_of(indices), span_of(rows), n, length};
  std::vector<int64_t> degree(indices.shape(0)), ranges;
  int64_t counted = 0;
  {
    nb::gil_scoped_release release;
    ctsne::count_in_degrees(given, n_jobs, degree.data());
    for (const int64_t count : degree) counted += count;
    ranges = ctsne::even_ranges(degree, (counted + n - 1) / n, entries_at_once, kMostRanges);
  }
  // As many entries as there can be: pages that are never written take no memory.
  const nb::object columns = empty_array<int32_t>(2 * counted);
  const nb::object values = empty_array<float>(2 * counted);
  auto indptr = empty<int64_t>(n + 1);
  indptr.data()[0] = 0;
  {
    const auto to_columns = nb::cast<Vector<int32_t>>(columns);
    const auto to_values = nb::cast<Vector<float>>(values);
    for (std::size_t r = 0; r + 1 < ranges.size(); ++r) {
      in_slices(ranges[r], ranges[r + 1], n, [&](int64_t begin, int64_t end) {
        ctsne::symmetrize(given, degree.data(), begin, end, n_jobs, indptr.data(),
                          span_of(to_columns), span_of(to_values));
      });
    }
  }
  using namespace nb::literals;
  for (const nb::object& array : {columns, values})
    array.attr("resize")(indptr.data()[n], "refcheck"_a = false);
  return std::make_tuple(indptr, nb::cast<Vector<int32_t>>(columns),
                         nb::cast<Vector<float>>(values));
}

}  // namespace

void define_similarity(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<ConditionalRows>(m, "ConditionalRows",
                              "Neighbours of all points, with a log weight for each list.")
      .def(nb::init<Matrix<const float>, Matrix<const int32_t>, Matrix<const double>, int>(),
           array_arg("distances"), array_arg("lengths"), array_arg("log_weights"), "n_jobs"_a)
      .def("find_bandwidths", &ConditionalRows::find_bandwidths, "perplexity"_a, "weighted"_a,
           "wide"_a, "begin"_a = 0, "end"_a = nb::none(),
           "Return the precision of each row, and whether it has the perplexity.")
      .def("find_split_bandwidths", &ConditionalRows::find_split_bandwidths,
           array_arg("perplexities"),
           "Return the precisions of the lists of each row, and whether they have the "
           "perplexities.")
      .def("fill", &ConditionalRows::fill, array_arg("precisions"),
           array_arg("shares").none() = nb::none(), "begin"_a = 0, "end"_a = nb::none(),
           "Return the rows, their perplexities, the shares of their lists, largest weights, and "
           "the log weights of their lists before normalising.");
  m.def("symmetrize", symmetrize, array_arg("indices"), array_arg("rows"), "entries_at_once"_a,
        "n_jobs"_a, "Return row starts, columns and values of the symmetric matrix.");
}

}  // namespace ctsne_python
