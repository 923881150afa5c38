// The Python face of the kernels; with its other half, bind_layout.cpp, all that knows Python: checks
// shapes, releases the interpreter lock, calls.
#include "bind.hpp"

#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "calibrate.hpp"
#include "kernels.hpp"
#include "neighbors.hpp"
#include "symmetrize.hpp"

using namespace ctsne_python;
using namespace nb::literals;

namespace {

// ---- stage 1 -------------------------------------------------------------------------------------

template <class Real>
void find_neighbors(Array<const float, 3> packed, Matrix<const float> sorted, Matrix<const Real> points,
                    Vector<const uint32_t> ids, Vector<const int64_t> own_begin,
                    Vector<const int64_t> own_end, int64_t free_begin, Vector<const int32_t> k_same,
                    Vector<const int32_t> k_other, double scale, int64_t begin, int64_t end, int n_jobs,
                    Matrix<int32_t> indices, Matrix<float> distances) {
  const auto n = static_cast<int64_t>(sorted.shape(0)), dims = static_cast<int64_t>(sorted.shape(1));
  const auto length = static_cast<int64_t>(indices.shape(1));
  require(static_cast<int64_t>(points.shape(0)) == n && static_cast<int64_t>(points.shape(1)) == dims &&
              static_cast<int64_t>(packed.shape(0)) == (n + ctsne::kBlock - 1) / ctsne::kBlock &&
              static_cast<int64_t>(packed.shape(1)) == dims && packed.shape(2) == ctsne::kBlock,
          "points, sorted points and packed points must agree in shape");
  require(static_cast<int64_t>(ids.size()) == n && static_cast<int64_t>(own_begin.size()) == n &&
              static_cast<int64_t>(own_end.size()) == n && static_cast<int64_t>(k_same.size()) == n &&
              static_cast<int64_t>(k_other.size()) == n,
          "one entry per point is needed");
  require(static_cast<int64_t>(indices.shape(0)) == n && static_cast<int64_t>(distances.shape(0)) == n &&
              static_cast<int64_t>(distances.shape(1)) == length,
          "indices and distances must have one row per point");
  require(0 <= begin && begin < end && end <= n, "the range of points is outside the data");
  for (int64_t i = 0; i < n; ++i)
    require(k_same(i) >= 0 && k_other(i) >= 0 && k_same(i) + k_other(i) == length && ids(i) < n,
            "the lengths of the two lists must add up to the row length");
  const ctsne::NeighborInput input{span_of(packed),    span_of(sorted),  span_of(ids),
                                   span_of(own_begin), span_of(own_end), free_begin,
                                   span_of(k_same),    span_of(k_other), dims, scale};
  nb::gil_scoped_release release;
  ctsne::find_neighbors<Real>(input, std::span<const Real>(points.data(), points.size()), begin, end, length, n_jobs, indices.data(),
                              distances.data());
}

// ---- stage 2 -------------------------------------------------------------------------------------

ctsne::Rows rows_of(const Matrix<const float>& distances, const Matrix<const int32_t>& indices,
                    const Vector<const int32_t>& n_same, const Vector<const int32_t>& codes,
                    const Vector<const double>& log_same, const Vector<const double>& log_other) {
  const std::size_t n = distances.shape(0), length = distances.shape(1);
  require(n > 0 && length > 0, "there are no neighbours");
  require(indices.shape(0) == n && indices.shape(1) == length, "indices and distances must agree in shape");
  require(n_same.size() == n && codes.size() == n && log_same.size() == n && log_other.size() == n,
          "one entry per point is needed");
  for (std::size_t i = 0; i < n; ++i)
    require(n_same(i) >= 0 && n_same(i) <= static_cast<int32_t>(length), "n_same is outside the row");
  for (std::size_t k = 0; k < indices.size(); ++k)
    require(indices.data()[k] >= 0 && indices.data()[k] < static_cast<int32_t>(n), "an index is outside the data");
  return {span_of(distances), span_of(indices), span_of(n_same), span_of(codes),
          span_of(log_same),  span_of(log_other), static_cast<int64_t>(length)};
}

auto find_bandwidths(Matrix<const float> distances, Matrix<const int32_t> indices,
                     Vector<const int32_t> n_same, Vector<const int32_t> codes,
                     Vector<const double> log_same, Vector<const double> log_other,
                     Vector<const double> perplexity, bool weighted, double wide, int n_jobs) {
  const ctsne::Rows rows = rows_of(distances, indices, n_same, codes, log_same, log_other);
  require(static_cast<int64_t>(perplexity.size()) == rows.count(), "one perplexity per point is needed");
  require(wide > 0, "the precision to start from must be positive");
  double* precision;
  bool* reached;
  auto out_precision = owned<double>(rows.count(), &precision);
  auto out_reached = owned<bool>(rows.count(), &reached);
  {
    nb::gil_scoped_release release;
    const auto target = weighted ? ctsne::Target::kWeighted : ctsne::Target::kUnweighted;
    ctsne::find_bandwidths(rows, span_of(perplexity), target, wide, n_jobs, precision, reached);
  }
  return std::make_tuple(out_precision, out_reached);
}

auto find_split_bandwidths(Matrix<const float> distances, Matrix<const int32_t> indices,
                           Vector<const int32_t> n_same, Vector<const int32_t> codes,
                           Vector<const double> same_perplexity, Vector<const double> other_perplexity,
                           int n_jobs) {
  // The lists are calibrated by themselves, so weights that differ between them do not matter.
  const std::vector<double> none(distances.shape(0), 0.0);
  const Vector<const double> zero(none.data(), {none.size()}, nb::handle());
  const ctsne::Rows rows = rows_of(distances, indices, n_same, codes, zero, zero);
  require(static_cast<int64_t>(same_perplexity.size()) == rows.count() &&
              static_cast<int64_t>(other_perplexity.size()) == rows.count(),
          "one perplexity per point is needed");
  double *same, *other;
  bool* reached;
  auto out_same = owned<double>(rows.count(), &same);
  auto out_other = owned<double>(rows.count(), &other);
  auto out_reached = owned<bool>(rows.count(), &reached);
  {
    nb::gil_scoped_release release;
    ctsne::find_split_bandwidths(rows, span_of(same_perplexity), span_of(other_perplexity), n_jobs, same,
                                 other, reached);
  }
  return std::make_tuple(out_same, out_other, out_reached);
}

auto fill_rows(Matrix<const float> distances, Matrix<const int32_t> indices, Vector<const int32_t> n_same,
               Vector<const int32_t> codes, Vector<const double> log_same, Vector<const double> log_other,
               Vector<const double> same_precision, Vector<const double> other_precision,
               std::optional<Vector<const double>> mass, int n_jobs, Matrix<float> out) {
  const ctsne::Rows rows = rows_of(distances, indices, n_same, codes, log_same, log_other);
  const auto n = static_cast<std::size_t>(rows.count());
  require(same_precision.size() == n && other_precision.size() == n && (!mass || mass->size() == n),
          "one entry per point is needed");
  require(out.shape(0) == n && out.shape(1) == distances.shape(1), "out must have the shape of distances");
  ctsne::RowReport report;
  auto perplexity = owned<double>(n, &report.perplexity);
  auto share = owned<double>(n, &report.other_share);
  auto largest = owned<double>(n, &report.largest);
  auto log_odds = owned<double>(n, &report.log_odds);
  {
    nb::gil_scoped_release release;
    const std::span<const double> masses = mass ? span_of(*mass) : std::span<const double>();
    ctsne::fill_rows(rows, span_of(same_precision), span_of(other_precision), masses, n_jobs, out.data(), report);
  }
  return std::make_tuple(perplexity, share, largest, log_odds);
}

auto symmetrize(Matrix<const int32_t> indices, Matrix<const float> rows, int n_jobs) {
  const std::size_t n = indices.shape(0);
  require(n > 0 && rows.shape(0) == n && rows.shape(1) == indices.shape(1) && rows.shape(1) > 0,
          "indices and rows must agree in shape");
  for (std::size_t k = 0; k < indices.size(); ++k)
    require(indices.data()[k] >= 0 && indices.data()[k] < static_cast<int32_t>(n), "an index is outside the data");
  std::optional<ctsne::Symmetrizer> result;
  {
    nb::gil_scoped_release release;
    result.emplace(span_of(indices), span_of(rows), static_cast<int64_t>(n), n_jobs);
  }
  int64_t* indptr;
  int32_t* columns;
  float* values;
  auto out_indptr = owned<int64_t>(n + 1, &indptr);
  auto out_columns = owned<int32_t>(result->stored(), &columns);
  auto out_values = owned<float>(result->stored(), &values);
  {
    nb::gil_scoped_release release;
    result->write(indptr, columns, values);
    result.reset();
  }
  return std::make_tuple(out_indptr, out_columns, out_values);
}

}  // namespace

// Arrays are never converted on the way in: a silent copy would cost memory, and an output written
// to a copy would be lost.
NB_MODULE(_native, m) {
  m.doc() = "Compiled kernels of ctsne; private.";
  m.attr("BLOCK") = ctsne::kBlock;
  m.def("instruction_set", [] { return ctsne::kernels().name; });
  m.def("find_neighbors", find_neighbors<float>, "packed"_a.noconvert(), "sorted"_a.noconvert(),
        "points"_a.noconvert(), "ids"_a.noconvert(), "own_begin"_a.noconvert(), "own_end"_a.noconvert(),
        "free_begin"_a, "k_same"_a.noconvert(), "k_other"_a.noconvert(), "scale"_a, "begin"_a, "end"_a,
        "n_jobs"_a, "indices"_a.noconvert(), "distances"_a.noconvert());
  m.def("find_neighbors", find_neighbors<double>, "packed"_a.noconvert(), "sorted"_a.noconvert(),
        "points"_a.noconvert(), "ids"_a.noconvert(), "own_begin"_a.noconvert(), "own_end"_a.noconvert(),
        "free_begin"_a, "k_same"_a.noconvert(), "k_other"_a.noconvert(), "scale"_a, "begin"_a, "end"_a,
        "n_jobs"_a, "indices"_a.noconvert(), "distances"_a.noconvert());
  m.def("find_bandwidths", find_bandwidths, "distances"_a.noconvert(), "indices"_a.noconvert(),
        "n_same"_a.noconvert(), "codes"_a.noconvert(), "log_same"_a.noconvert(), "log_other"_a.noconvert(),
        "perplexity"_a.noconvert(), "weighted"_a, "wide"_a, "n_jobs"_a);
  m.def("find_split_bandwidths", find_split_bandwidths, "distances"_a.noconvert(), "indices"_a.noconvert(),
        "n_same"_a.noconvert(), "codes"_a.noconvert(), "same_perplexity"_a.noconvert(),
        "other_perplexity"_a.noconvert(), "n_jobs"_a);
  m.def("fill_rows", fill_rows, "distances"_a.noconvert(), "indices"_a.noconvert(), "n_same"_a.noconvert(),
        "codes"_a.noconvert(), "log_same"_a.noconvert(), "log_other"_a.noconvert(),
        "same_precision"_a.noconvert(), "other_precision"_a.noconvert(), "mass"_a.noconvert().none(), "n_jobs"_a,
        "out"_a.noconvert());
  m.def("symmetrize", symmetrize, "indices"_a.noconvert(), "rows"_a.noconvert(), "n_jobs"_a);
  ctsne_python::define_layout(m);
}
