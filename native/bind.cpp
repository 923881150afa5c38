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
#include "cells.hpp"
#include "exact.hpp"
#include "kernels.hpp"
#include "probes.hpp"
#include "symmetrize.hpp"

using namespace ctsne_python;
using namespace nb::literals;

namespace {

// ---- stage 1 -------------------------------------------------------------------------------------

// Points of a search as Python holds them: rows sorted and packed, ids and codes of the positions.
template <class Real>
ctsne::SearchPoints<Real> search_points(const Array<const float, 3>& packed, const Matrix<const float>& sorted,
                                        const Vector<const uint32_t>& ids, const Vector<const int32_t>& codes,
                                        const Matrix<const Real>& points, double scale) {
  const std::size_t n = sorted.shape(0), dims = sorted.shape(1), blocks = (n + ctsne::kBlock - 1) / ctsne::kBlock;
  require(points.shape(0) == n && points.shape(1) == dims && packed.shape(0) == blocks &&
              packed.shape(1) == dims && packed.shape(2) == ctsne::kBlock,
          "points, sorted points and packed points must agree in shape");
  require(ids.size() == n && codes.size() == blocks * ctsne::kBlock, "one id and code per point is needed");
  for (std::size_t i = 0; i < n; ++i) require(ids(i) < n, "an id is outside the data");
  return {span_of(packed), span_of(sorted), span_of(ids), span_of(codes),
          std::span<const Real>(points.data(), points.size()), static_cast<int64_t>(dims), scale};
}

void require_bounds(const Vector<const int64_t>& bounds, int64_t last) {
  require(bounds.size() > 0 && bounds(0) == 0 && bounds(bounds.size() - 1) <= last, "the bounds are outside the data");
  for (std::size_t k = 0; k + 1 < bounds.size(); ++k) require(bounds(k) <= bounds(k + 1), "bounds must not fall");
}

void require_queries(const Vector<const int64_t>& queries, std::size_t n) {
  for (std::size_t k = 0; k < queries.size(); ++k)
    require(queries(k) >= (k ? queries(k - 1) + 1 : 0) && queries(k) < static_cast<int64_t>(n),
            "queries must be rising positions");
}

// The lists go side by side into one row per point: "other" begins where "same" ends.
ctsne::ListOutput list_output(ctsne::List list, const Vector<const int32_t>& k_same, const Vector<const int32_t>& k_other,
                              Matrix<int32_t>& indices, Matrix<float>& distances) {
  const std::size_t n = k_same.size(), length = indices.shape(1);
  require(k_other.size() == n && indices.shape(0) == n && distances.shape(0) == n && distances.shape(1) == length,
          "indices and distances must have one row per point");
  for (std::size_t i = 0; i < n; ++i)
    require(k_same(i) >= 0 && k_other(i) >= 0 && static_cast<std::size_t>(k_same(i)) + k_other(i) == length,
            "the lengths of the two lists must add up to the row length");
  const auto same = span_of(k_same);
  const auto none = same.subspan(0, 0);
  const bool other = list == ctsne::List::other;
  return {other ? span_of(k_other) : same, other ? same : none, static_cast<int64_t>(length), indices.data(), distances.data()};
}

ctsne::List list_of(bool other) { return other ? ctsne::List::other : ctsne::List::same; }

template <class Real>
void find_exact(Array<const float, 3> packed, Matrix<const float> sorted, Vector<const uint32_t> ids,
                Vector<const int32_t> codes, Matrix<const Real> points, double scale, Vector<const int64_t> bounds,
                bool other, Vector<const int64_t> queries, Vector<const int32_t> k_same, Vector<const int32_t> k_other,
                int n_jobs, Matrix<int32_t> indices, Matrix<float> distances) {
  const auto input = search_points<Real>(packed, sorted, ids, codes, points, scale);
  require_bounds(bounds, input.count());
  require_queries(queries, ids.size());
  const auto out = list_output(list_of(other), k_same, k_other, indices, distances);
  require(k_same.size() == ids.size(), "one length per point is needed");
  nb::gil_scoped_release release;
  ctsne::find_exact<Real>(input, {span_of(bounds)}, list_of(other), span_of(queries), n_jobs, out);
}

template <class Real>
void find_probed(Array<const float, 3> packed, Matrix<const float> sorted, Vector<const uint32_t> ids,
                 Vector<const int32_t> codes, Matrix<const Real> points, double scale, Vector<const int64_t> cells,
                 Matrix<const float> centres, Array<const float, 3> packed_centres, Vector<const int64_t> labels,
                 bool pure, bool other, Vector<const int64_t> queries, int64_t budget, Vector<const int32_t> k_same,
                 Vector<const int32_t> k_other, int n_jobs, Matrix<int32_t> indices, Matrix<float> distances) {
  const auto input = search_points<Real>(packed, sorted, ids, codes, points, scale);
  require_bounds(cells, input.count());
  require(cells.size() > 1 && cells(cells.size() - 1) == input.count() && centres.shape(0) + 1 == cells.size() &&
              centres.shape(1) == sorted.shape(1) &&
              packed_centres.shape(0) == (centres.shape(0) + ctsne::kBlock - 1) / ctsne::kBlock &&
              packed_centres.shape(1) == sorted.shape(1) && packed_centres.shape(2) == ctsne::kBlock,
          "cells and centres must agree in shape");
  for (std::size_t c = 0; c + 1 < cells.size(); ++c) require(cells(c) < cells(c + 1), "a cell is empty");
  require_queries(queries, ids.size());
  const auto out = list_output(list_of(other), k_same, k_other, indices, distances);
  require(k_same.size() == ids.size(), "one length per point is needed");
  const auto most = static_cast<int32_t>(pure ? labels.size() - 1 : labels.size());
  for (std::size_t i = 0; i < ids.size(); ++i) require(codes(i) >= -1 && codes(i) < most, "a code is outside the labels");
  if (pure) require_bounds(labels, static_cast<int64_t>(centres.shape(0)));
  require(budget > *std::max_element(out.wanted.begin(), out.wanted.end()), "the budget is smaller than a list");
  const ctsne::CellIndex index{span_of(cells), span_of(centres), span_of(packed_centres)};
  nb::gil_scoped_release release;
  if (pure)
    ctsne::probe_same<Real>(input, index, span_of(labels), span_of(queries), budget, n_jobs, out);
  else
    ctsne::probe_all<Real>(input, index, span_of(labels), span_of(queries), budget, n_jobs, out);
}

template <class T>
NumpyVector<T> owned_copy(const std::vector<T>& values) {
  T* data;
  auto out = owned<T>(values.size(), &data);
  std::copy(values.begin(), values.end(), data);
  return out;
}

auto make_cells(Matrix<const float> rows, Vector<const int64_t> ranges, int64_t size, int64_t whole, int n_jobs) {
  require(rows.shape(0) > 0 && rows.shape(1) > 0 && size > 0, "there is nothing to divide");
  require_bounds(ranges, static_cast<int64_t>(rows.shape(0)));
  ctsne::Cells cells;
  {
    nb::gil_scoped_release release;
    cells = ctsne::make_cells(rows.data(), static_cast<int64_t>(rows.shape(1)), span_of(ranges), size, whole, n_jobs);
  }
  return std::make_tuple(owned_copy(cells.order), owned_copy(cells.bounds), owned_copy(cells.first));
}

void cell_centres(Matrix<const float> sorted, Vector<const int64_t> bounds, int n_jobs, Matrix<float> centres) {
  require_bounds(bounds, static_cast<int64_t>(sorted.shape(0)));
  require(centres.shape(0) + 1 == bounds.size() && centres.shape(1) == sorted.shape(1), "one centre per cell is needed");
  nb::gil_scoped_release release;
  ctsne::cell_centres(sorted.data(), static_cast<int64_t>(sorted.shape(1)), span_of(bounds), n_jobs, centres.data());
}

void arrange(Matrix<const float> rows, Vector<const uint32_t> order, int n_jobs, Matrix<float> sorted, Array<float, 3> packed) {
  const std::size_t n = order.size(), dims = rows.shape(1);
  require(sorted.shape(0) == n && sorted.shape(1) == dims && packed.shape(1) == dims && packed.shape(2) == ctsne::kBlock &&
              packed.shape(0) == (n + ctsne::kBlock - 1) / ctsne::kBlock,
          "sorted and packed must have room for all rows");
  for (std::size_t i = 0; i < n; ++i) require(order(i) < rows.shape(0), "a row is outside the data");
  nb::gil_scoped_release release;
  ctsne::arrange(rows.data(), span_of(order), static_cast<int64_t>(dims), n_jobs, sorted.data(), packed.data());
}

// ---- stage 2 -------------------------------------------------------------------------------------

ctsne::Rows rows_of(const Matrix<const float>& distances, const Vector<const int32_t>& n_same,
                    const Vector<const double>& log_same, const Vector<const double>& log_other, int64_t begin,
                    int64_t end) {
  const std::size_t n = distances.shape(0), length = distances.shape(1);
  require(n > 0 && length > 0, "there are no neighbours");
  require(n_same.size() == n && log_same.size() == n && log_other.size() == n, "one entry per point is needed");
  require(0 <= begin && begin < end && end <= static_cast<int64_t>(n), "the range of points is outside the data");
  for (int64_t i = begin; i < end; ++i)
    require(n_same(i) >= 0 && n_same(i) <= static_cast<int32_t>(length), "n_same is outside the row");
  return {span_of(distances), span_of(n_same), span_of(log_same), span_of(log_other), static_cast<int64_t>(length),
          begin, end};
}

void find_bandwidths(Matrix<const float> distances, Vector<const int32_t> n_same,
                     Vector<const double> log_same, Vector<const double> log_other,
                     Vector<const double> perplexity, bool weighted, double wide, int64_t begin, int64_t end,
                     int n_jobs, Vector<double> precision, Vector<bool> reached) {
  const ctsne::Rows rows = rows_of(distances, n_same, log_same, log_other, begin, end);
  const std::size_t n = n_same.size();
  require(perplexity.size() == n && precision.size() == n && reached.size() == n, "one entry per point is needed");
  require(wide > 0, "the precision to start from must be positive");
  nb::gil_scoped_release release;
  const auto target = weighted ? ctsne::Target::kWeighted : ctsne::Target::kUnweighted;
  ctsne::find_bandwidths(rows, span_of(perplexity), target, wide, n_jobs, precision.data(), reached.data());
}

void find_split_bandwidths(Matrix<const float> distances, Vector<const int32_t> n_same,
                           Vector<const double> log_same, Vector<const double> log_other,
                           Vector<const double> same_perplexity, Vector<const double> other_perplexity, int64_t begin,
                           int64_t end, int n_jobs, Vector<double> same, Vector<double> other, Vector<bool> reached) {
  const ctsne::Rows rows = rows_of(distances, n_same, log_same, log_other, begin, end);
  const std::size_t n = n_same.size();
  require(same_perplexity.size() == n && other_perplexity.size() == n && same.size() == n && other.size() == n &&
              reached.size() == n,
          "one entry per point is needed");
  nb::gil_scoped_release release;
  ctsne::find_split_bandwidths(rows, span_of(same_perplexity), span_of(other_perplexity), n_jobs, same.data(),
                               other.data(), reached.data());
}

void fill_rows(Matrix<const float> distances, Vector<const int32_t> n_same,
               Vector<const double> log_same, Vector<const double> log_other,
               Vector<const double> same_precision, Vector<const double> other_precision,
               std::optional<Vector<const double>> mass, int64_t begin, int64_t end, int n_jobs, Matrix<float> out,
               Vector<double> perplexity, Vector<double> other_share, Vector<double> largest,
               Vector<double> log_odds) {
  const ctsne::Rows rows = rows_of(distances, n_same, log_same, log_other, begin, end);
  const std::size_t n = n_same.size();
  require(same_precision.size() == n && other_precision.size() == n && (!mass || mass->size() == n) &&
              perplexity.size() == n && other_share.size() == n && largest.size() == n && log_odds.size() == n,
          "one entry per point is needed");
  require(out.shape(0) == n && out.shape(1) == distances.shape(1), "out must have the shape of distances");
  nb::gil_scoped_release release;
  const std::span<const double> masses = mass ? span_of(*mass) : std::span<const double>();
  ctsne::fill_rows(rows, span_of(same_precision), span_of(other_precision), masses, n_jobs, out.data(),
                   {perplexity.data(), other_share.data(), largest.data(), log_odds.data()});
}

ctsne::Conditional conditional_of(const Matrix<const int32_t>& indices, const Matrix<const float>& rows) {
  const std::size_t n = indices.shape(0), length = indices.shape(1);
  require(n > 0 && length > 0 && rows.shape(0) == n && rows.shape(1) == length,
          "indices and rows must agree in shape");
  return {span_of(indices), span_of(rows), static_cast<int64_t>(n), static_cast<int64_t>(length)};
}

void require_indices(const ctsne::Conditional& given, int64_t begin, int64_t end) {
  const std::size_t first = static_cast<std::size_t>(begin * given.length);
  for (const int32_t index : given.indices.subspan(first, static_cast<std::size_t>((end - begin) * given.length)))
    require(index >= 0 && index < given.n, "an index is outside the data");
}

void count_in_degrees(Matrix<const int32_t> indices, Matrix<const float> rows, int n_jobs, Vector<int64_t> degree) {
  const auto given = conditional_of(indices, rows);
  require(static_cast<int64_t>(degree.size()) == given.n, "one entry per point is needed");
  require_indices(given, 0, given.n);
  nb::gil_scoped_release release;
  ctsne::count_in_degrees(given, n_jobs, degree.data());
}

void symmetrize(Matrix<const int32_t> indices, Matrix<const float> rows, Vector<const int64_t> degree, int64_t begin,
                int64_t end, int n_jobs, Vector<int64_t> indptr, Vector<int32_t> columns, Vector<float> values) {
  const auto given = conditional_of(indices, rows);
  require(static_cast<int64_t>(degree.size()) == given.n && static_cast<int64_t>(indptr.size()) == given.n + 1 &&
              columns.size() == values.size(),
          "one entry per point is needed");
  require(0 <= begin && begin < end && end <= given.n && indptr(begin) >= 0, "the range of points is outside the data");
  for (int64_t i = begin; i < end; ++i)
    require(degree(i) >= 0 && degree(i) <= given.n * given.length, "the counts do not fit the indices");
  require_indices(given, begin, end);
  nb::gil_scoped_release release;
  ctsne::symmetrize(given, degree.data(), begin, end, std::max(1, n_jobs), indptr.data(), span_of(columns),
                    span_of(values));
}

template <class Real>
void define_search(nb::module_& m) {
  m.def("find_exact", find_exact<Real>, "packed"_a.noconvert(), "sorted"_a.noconvert(), "ids"_a.noconvert(),
        "codes"_a.noconvert(), "points"_a.noconvert(), "scale"_a, "bounds"_a.noconvert(), "other"_a,
        "queries"_a.noconvert(), "k_same"_a.noconvert(), "k_other"_a.noconvert(), "n_jobs"_a,
        "indices"_a.noconvert(), "distances"_a.noconvert());
  m.def("find_probed", find_probed<Real>, "packed"_a.noconvert(), "sorted"_a.noconvert(), "ids"_a.noconvert(),
        "codes"_a.noconvert(), "points"_a.noconvert(), "scale"_a, "cells"_a.noconvert(), "centres"_a.noconvert(),
        "packed_centres"_a.noconvert(), "labels"_a.noconvert(), "pure"_a, "other"_a, "queries"_a.noconvert(),
        "budget"_a, "k_same"_a.noconvert(), "k_other"_a.noconvert(), "n_jobs"_a, "indices"_a.noconvert(),
        "distances"_a.noconvert());
}

}  // namespace

// Arrays are never converted on the way in: a silent copy would cost memory, and an output written
// to a copy would be lost.
NB_MODULE(_native, m) {
  m.doc() = "Compiled kernels of ctsne; private.";
  m.attr("BLOCK") = ctsne::kBlock;
  m.def("instruction_set", [] { return ctsne::kernels().name; });
  define_search<float>(m);
  define_search<double>(m);
  m.def("make_cells", make_cells, "rows"_a.noconvert(), "ranges"_a.noconvert(), "size"_a, "whole"_a, "n_jobs"_a);
  m.def("cell_centres", cell_centres, "sorted"_a.noconvert(), "bounds"_a.noconvert(), "n_jobs"_a,
        "centres"_a.noconvert());
  m.def("arrange", arrange, "rows"_a.noconvert(), "order"_a.noconvert(), "n_jobs"_a, "sorted"_a.noconvert(),
        "packed"_a.noconvert());
  m.def("find_bandwidths", find_bandwidths, "distances"_a.noconvert(),
        "n_same"_a.noconvert(), "log_same"_a.noconvert(), "log_other"_a.noconvert(),
        "perplexity"_a.noconvert(), "weighted"_a, "wide"_a, "begin"_a, "end"_a, "n_jobs"_a,
        "precision"_a.noconvert(), "reached"_a.noconvert());
  m.def("find_split_bandwidths", find_split_bandwidths, "distances"_a.noconvert(),
        "n_same"_a.noconvert(), "log_same"_a.noconvert(), "log_other"_a.noconvert(),
        "same_perplexity"_a.noconvert(), "other_perplexity"_a.noconvert(), "begin"_a, "end"_a, "n_jobs"_a,
        "same"_a.noconvert(), "other"_a.noconvert(), "reached"_a.noconvert());
  m.def("fill_rows", fill_rows, "distances"_a.noconvert(), "n_same"_a.noconvert(),
        "log_same"_a.noconvert(), "log_other"_a.noconvert(),
        "same_precision"_a.noconvert(), "other_precision"_a.noconvert(), "mass"_a.noconvert().none(), "begin"_a,
        "end"_a, "n_jobs"_a, "out"_a.noconvert(), "perplexity"_a.noconvert(), "other_share"_a.noconvert(),
        "largest"_a.noconvert(), "log_odds"_a.noconvert());
  m.def("count_in_degrees", count_in_degrees, "indices"_a.noconvert(), "rows"_a.noconvert(), "n_jobs"_a,
        "degree"_a.noconvert());
  m.def("symmetrize", symmetrize, "indices"_a.noconvert(), "rows"_a.noconvert(), "degree"_a.noconvert(), "begin"_a,
        "end"_a, "n_jobs"_a, "indptr"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert());
  ctsne_python::define_layout(m);
}
