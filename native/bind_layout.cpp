// The Python face of stage 3: forces, descent and what they read.
#include "bind.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "convolve.hpp"
#include "descent.hpp"
#include "forces.hpp"
#include "kernels.hpp"
#include "pack.hpp"
#include "spread.hpp"

using namespace nb::literals;

namespace ctsne_python {

namespace {

ctsne::Tail tail_of(double dof, std::size_t dims) {
  require(dims >= 1 && dims <= ctsne::kMaxDims, "maps have one, two or three dimensions");
  require(dof > 0, "dof must be positive");
  return {static_cast<float>(dof), static_cast<int>(dims)};
}

// Checks only what is cheap: the matrix is our own, and checked where it enters.
ctsne::SparseRows rows_of(const Vector<const int64_t>& indptr, const Vector<const int32_t>& indices,
                          const Vector<const float>& values, std::size_t n) {
  require(indptr.size() == n + 1 && indices.size() == values.size() && indptr(0) == 0 &&
              indptr(n) == static_cast<int64_t>(indices.size()),
          "the sparse matrix does not fit the map");
  return {indptr.data(), indices.data(), values.data(), static_cast<int64_t>(n), indptr(n)};
}
ctsne::PackedRows rows_of(const Vector<const int64_t>& starts, const Vector<const int32_t>& bases,
                          const Vector<const uint16_t>& codes, std::size_t n) {
  require(starts.size() == n + 1 && 16 * bases.size() == codes.size() && starts(0) == 0 &&
              starts(n) == static_cast<int64_t>(bases.size()),
          "the packed matrix does not fit the map");
  return {starts.data(), bases.data(), codes.data(), static_cast<int64_t>(n), 8 * starts(n)};
}

auto pack_rows(Vector<const int64_t> indptr, Vector<const int32_t> indices, Vector<const float> values,
               Vector<const int32_t> order, int n_jobs) {
  const std::size_t n = order.size();
  const auto rows = rows_of(indptr, indices, values, n);
  std::vector<bool> seen(n);
  for (std::size_t i = 0; i < n; ++i) {
    require(order(i) >= 0 && static_cast<std::size_t>(order(i)) < n && !seen[order(i)],
            "order must name every row once");
    seen[order(i)] = true;
  }
  std::optional<ctsne::Packer> packer;
  {
    nb::gil_scoped_release release;
    packer.emplace(rows, span_of(order), n_jobs);
  }
  int64_t* starts;
  int32_t* bases;
  uint16_t* codes;
  const auto groups = static_cast<std::size_t>(packer->groups());
  const double total = packer->total();
  auto out_starts = owned<int64_t>(n + 1, &starts);
  auto out_bases = owned<int32_t>(groups, &bases);
  auto out_codes = owned<uint16_t>(16 * groups, &codes);
  {
    nb::gil_scoped_release release;
    packer->write(starts, bases, codes);
    packer.reset();
  }
  return std::make_tuple(out_starts, out_bases, out_codes, total);
}

template <class Value>
void attract(Vector<const int64_t> indptr, Vector<const int32_t> indices, Vector<const Value> values,
             Matrix<const float> y, double dof, int n_jobs, Matrix<float> out) {
  const auto tail = tail_of(dof, y.shape(1));
  const auto rows = rows_of(indptr, indices, values, y.shape(0));
  require(out.shape(0) == y.shape(0) && out.shape(1) == y.shape(1), "out must have the shape of y");
  nb::gil_scoped_release release;
  ctsne::attract(tail, rows, y.data(), n_jobs, out.data());
}

template <class Value>
double log_kernel_sum(Vector<const int64_t> indptr, Vector<const int32_t> indices, Vector<const Value> values,
                      Matrix<const float> y, double dof, int n_jobs) {
  const auto tail = tail_of(dof, y.shape(1));
  const auto rows = rows_of(indptr, indices, values, y.shape(0));
  nb::gil_scoped_release release;
  return ctsne::log_kernel_sum(tail, rows, y.data(), n_jobs);
}

void require_output(std::size_t n, std::size_t dims, const Matrix<float>& force) {
  require(force.shape(0) == n && force.shape(1) == dims, "force must have one row per point");
}

ctsne::Channel channel_of(std::size_t n, std::tuple<int64_t, int64_t> sources, std::tuple<int64_t, int64_t> targets,
                          double coefficient, const std::optional<Vector<const float>>& source_charge,
                          const std::optional<Vector<const float>>& target_charge) {
  const auto [from, to] = sources;
  const auto [begin, end] = targets;
  const auto count = static_cast<int64_t>(n);
  require(0 <= from && from <= to && to <= count && 0 <= begin && begin <= end && end <= count,
          "a range of points is outside the map");
  require((!source_charge || source_charge->size() == n) && (!target_charge || target_charge->size() == n),
          "one charge per point is needed");
  return {from, to, begin, end, static_cast<float>(coefficient), data_or_null(source_charge), data_or_null(target_charge)};
}

std::array<const float*, ctsne::kMaxDims> axes_of(const Matrix<const float>& axes) {
  std::array<const float*, ctsne::kMaxDims> out{};
  for (std::size_t a = 0; a < axes.shape(0); ++a) out[a] = axes.data() + a * axes.shape(1);
  return out;
}

double repel(Matrix<const float> axes, double dof, std::tuple<int64_t, int64_t> sources,
             std::tuple<int64_t, int64_t> targets, double coefficient,
             std::optional<Vector<const float>> source_charge, std::optional<Vector<const float>> target_charge,
             int n_jobs, Matrix<float> force) {
  const auto tail = tail_of(dof, axes.shape(0));
  require_output(axes.shape(1), axes.shape(0), force);
  const auto channel = channel_of(axes.shape(1), sources, targets, coefficient, source_charge, target_charge);
  const auto axis = axes_of(axes);
  nb::gil_scoped_release release;
  return ctsne::repel(tail, axis.data(), channel, n_jobs, force.data());
}

double repel_ranges(Matrix<const float> axes, double dof, Vector<const int64_t> bounds,
                    Vector<const float> coefficient, int n_jobs, Matrix<float> force) {
  const auto tail = tail_of(dof, axes.shape(0));
  require_output(axes.shape(1), axes.shape(0), force);
  require(bounds.size() == coefficient.size() + 1 && bounds(0) >= 0 &&
              bounds(bounds.size() - 1) <= static_cast<int64_t>(axes.shape(1)),
          "ranges need one bound more than coefficients, inside the map");
  for (std::size_t g = 0; g + 1 < bounds.size(); ++g) require(bounds(g) <= bounds(g + 1), "bounds must not fall");
  const auto axis = axes_of(axes);
  nb::gil_scoped_release release;
  return ctsne::repel_ranges(tail, axis.data(), span_of(bounds), span_of(coefficient), n_jobs, force.data());
}

template <class T>
using Grid = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

template <class T>
ctsne::MeshShape mesh_of(const Grid<T>& grid, const Matrix<const float>& y, const std::vector<int64_t>& nodes,
                         const std::vector<double>& origin, double spacing) {
  const std::size_t rank = grid.ndim();
  require(rank >= 1 && rank <= ctsne::kMaxDims && y.shape(1) == rank && nodes.size() == rank &&
              origin.size() == rank && spacing > 0,
          "the mesh does not fit the map");
  ctsne::MeshShape mesh{};
  mesh.dims = static_cast<int>(rank);
  mesh.spacing = static_cast<float>(spacing);
  int64_t stride = 1;
  for (std::size_t axis = rank; axis-- > 0;) {
    // A row of weights is eight wide, the last of them zero: those must lie inside the array too.
    const int64_t room = axis + 1 == rank ? 8 - ctsne::kSplineOrder : 0;
    const auto size = static_cast<int64_t>(grid.shape(axis));
    require(nodes[axis] >= ctsne::kSplineOrder && nodes[axis] + room <= size, "the mesh has too few nodes");
    mesh.nodes[axis] = nodes[axis];
    mesh.stride[axis] = stride;
    mesh.origin[axis] = static_cast<float>(origin[axis]);
    stride *= size;
  }
  return mesh;
}

void spread(Matrix<const float> y, std::tuple<int64_t, int64_t> sources,
            std::optional<Vector<const float>> source_charge, std::vector<int64_t> nodes,
            std::vector<double> origin, double spacing, int n_jobs, Grid<float> grid) {
  const auto mesh = mesh_of(grid, y, nodes, origin, spacing);
  const auto channel = channel_of(y.shape(0), sources, {0, 0}, 1.0, source_charge, std::nullopt);
  nb::gil_scoped_release release;
  ctsne::spread(mesh, y.data(), channel.from, channel.to, channel.source_charge, n_jobs, grid.data());
}

double gather(Grid<const float> grid, Matrix<const float> y, std::tuple<int64_t, int64_t> targets, double offset,
              double coefficient, std::optional<Vector<const float>> target_charge, std::vector<int64_t> nodes,
              std::vector<double> origin, double spacing, int n_jobs, Matrix<float> force) {
  const auto mesh = mesh_of(grid, y, nodes, origin, spacing);
  require_output(y.shape(0), y.shape(1), force);
  const auto channel = channel_of(y.shape(0), {0, 0}, targets, coefficient, std::nullopt, target_charge);
  nb::gil_scoped_release release;
  return ctsne::gather(mesh, grid.data(), y.data(), offset, channel, n_jobs, force.data());
}

auto fft_twiddles(int64_t n) {
  ctsne::FftPlan plan{};
  require(n > 0 && ctsne::factorize(n, plan), "the length of a transform must be a product of 2, 3 and 5");
  float* data;
  auto out = owned<float>(static_cast<std::size_t>(ctsne::twiddle_floats(plan) + 2 * n), &data);
  ctsne::fill_twiddles(plan, data);
  return out;
}

ctsne::FftPlan fft_of(int64_t n, const Vector<const float>& twiddles) {
  ctsne::FftPlan plan{};
  require(n > 0 && ctsne::factorize(n, plan), "the length of a transform must be a product of 2, 3 and 5");
  const int64_t before = ctsne::twiddle_floats(plan);
  require(static_cast<int64_t>(twiddles.size()) == before + 2 * n, "the twiddle factors are those of another length");
  plan.twiddles = twiddles.data();
  plan.half = twiddles.data() + before;
  return plan;
}

void convolve(Matrix<float> grid, Matrix<const float> kernel, Vector<const float> column_twiddles,
              Vector<const float> row_twiddles, std::tuple<int64_t, int64_t> nodes, int n_jobs,
              Vector<float> spectrum) {
  const ctsne::MeshTransform mesh{fft_of(std::get<1>(nodes), row_twiddles),
                                  fft_of(std::get<0>(nodes), column_twiddles),
                                  static_cast<int64_t>(grid.shape(1)),
                                  std::max(static_cast<int64_t>(grid.shape(1)), std::get<0>(nodes))};
  require(static_cast<int64_t>(grid.shape(0)) >= mesh.columns.n && grid.shape(0) % ctsne::kBandRows == 0 &&
              mesh.width > mesh.rows.n && mesh.width % ctsne::kBandColumns == 0,
          "the mesh needs whole bands of rows and columns");
  require(static_cast<int64_t>(kernel.shape(0)) == mesh.columns.n + 1 && kernel.shape(1) == grid.shape(1) &&
              spectrum.size() == 2 * grid.size(),
          "kernel and spectrum must fit the mesh");
  nb::gil_scoped_release release;
  ctsne::convolve(mesh, kernel.data(), n_jobs, grid.data(), spectrum.data());
}

template <class Value>
auto descend(Vector<const int64_t> indptr, Vector<const int32_t> indices, Vector<const Value> values, double dof,
             Matrix<const float> repulsion, double pull, double push, double learning_rate, double momentum,
             double longest, int n_jobs, Matrix<float> y, Matrix<float> moved, Matrix<float> update,
             Matrix<float> gains) {
  const auto tail = tail_of(dof, y.shape(1));
  const auto rows = rows_of(indptr, indices, values, y.shape(0));
  require(repulsion.size() == y.size() && moved.size() == y.size() && update.size() == y.size() &&
              gains.size() == y.size(),
          "forces and state must have the shape of y");
  const ctsne::StepOptions options{static_cast<float>(pull), static_cast<float>(push),
                                   static_cast<float>(learning_rate), static_cast<float>(momentum),
                                   static_cast<float>(longest)};
  ctsne::Extent extent;
  {
    nb::gil_scoped_release release;
    extent = ctsne::descend(tail, options, rows, repulsion.data(), n_jobs, y.data(), moved.data(), update.data(),
                            gains.data());
  }
  const auto axes = [&](const std::array<float, ctsne::kMaxDims>& of) {
    return std::vector<float>(of.begin(), of.begin() + tail.dims);
  };
  return std::make_tuple(axes(extent.low), axes(extent.high));
}

// What reads the similarities: as a sparse matrix, or packed.
template <class Value>
void define_rows(nb::module_& m) {
  m.def("attract", attract<Value>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(),
        "y"_a.noconvert(), "dof"_a, "n_jobs"_a, "out"_a.noconvert());
  m.def("log_kernel_sum", log_kernel_sum<Value>, "indptr"_a.noconvert(), "indices"_a.noconvert(),
        "values"_a.noconvert(), "y"_a.noconvert(), "dof"_a, "n_jobs"_a);
  m.def("descend", descend<Value>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(), "dof"_a,
        "repulsion"_a.noconvert(), "pull"_a, "push"_a, "learning_rate"_a, "momentum"_a, "longest"_a, "n_jobs"_a,
        "y"_a.noconvert(), "moved"_a.noconvert(), "update"_a.noconvert(), "gains"_a.noconvert());
}

}  // namespace

// Arrays are never converted on the way in, as in bind.cpp.
void define_layout(nb::module_& m) {
  m.attr("SPLINE_ORDER") = ctsne::kSplineOrder;
  m.def("repel", repel, "axes"_a.noconvert(), "dof"_a, "sources"_a, "targets"_a, "coefficient"_a,
        "source_charge"_a.noconvert().none(), "target_charge"_a.noconvert().none(), "n_jobs"_a,
        "force"_a.noconvert());
  m.def("repel_ranges", repel_ranges, "axes"_a.noconvert(), "dof"_a, "bounds"_a.noconvert(),
        "coefficient"_a.noconvert(), "n_jobs"_a, "force"_a.noconvert());
  m.def("spread", spread, "y"_a.noconvert(), "sources"_a, "source_charge"_a.noconvert().none(), "nodes"_a,
        "origin"_a, "spacing"_a, "n_jobs"_a, "grid"_a.noconvert());
  m.def("gather", gather, "grid"_a.noconvert(), "y"_a.noconvert(), "targets"_a, "offset"_a, "coefficient"_a,
        "target_charge"_a.noconvert().none(), "nodes"_a, "origin"_a, "spacing"_a, "n_jobs"_a,
        "force"_a.noconvert());
  m.attr("BAND_ROWS") = ctsne::kBandRows;
  m.attr("BAND_COLUMNS") = ctsne::kBandColumns;
  m.def("fft_twiddles", fft_twiddles, "n"_a);
  m.def("convolve", convolve, "grid"_a.noconvert(), "kernel"_a.noconvert(), "column_twiddles"_a.noconvert(),
        "row_twiddles"_a.noconvert(), "nodes"_a, "n_jobs"_a, "spectrum"_a.noconvert());
  define_rows<float>(m);
  define_rows<uint16_t>(m);
  m.def("pack_rows", pack_rows, "indptr"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(),
        "order"_a.noconvert(), "n_jobs"_a);
}

}  // namespace ctsne_python
