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
#include "layers.hpp"
#include "mix.hpp"
#include "near.hpp"
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

// Ranges that follow each other: g is [bounds[g], bounds[g+1]).
void require_ranges(const Vector<const int64_t>& bounds, std::size_t ranges, std::size_t n) {
  require(bounds.size() == ranges + 1 && bounds(0) >= 0 && bounds(ranges) <= static_cast<int64_t>(n),
          "ranges need one bound more than there are of them, inside the map");
  for (std::size_t g = 0; g < ranges; ++g) require(bounds(g) <= bounds(g + 1), "bounds must not fall");
}

double repel_ranges(Matrix<const float> axes, double dof, Vector<const int64_t> bounds,
                    Vector<const float> coefficient, int n_jobs, Matrix<float> force) {
  const auto tail = tail_of(dof, axes.shape(0));
  require_output(axes.shape(1), axes.shape(0), force);
  require_ranges(bounds, coefficient.size(), axes.shape(1));
  const auto axis = axes_of(axes);
  nb::gil_scoped_release release;
  return ctsne::repel_ranges(tail, axis.data(), span_of(bounds), span_of(coefficient), n_jobs, force.data());
}

// Meshes of one shape, the first axis numbers them.
template <class T>
using Grids = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

template <class T>
ctsne::MeshShape mesh_of(const Grids<T>& grids, const Matrix<const float>& y, const std::vector<int64_t>& nodes,
                         const std::vector<double>& origin, double spacing) {
  const std::size_t rank = nodes.size();
  require(rank >= 1 && rank <= ctsne::kMaxDims && y.shape(1) == rank && grids.ndim() == rank + 1 &&
              origin.size() == rank && spacing > 0,
          "the mesh does not fit the map");
  ctsne::MeshShape mesh{};
  mesh.dims = static_cast<int>(rank);
  mesh.spacing = static_cast<float>(spacing);
  mesh.size = 1;
  for (std::size_t axis = rank; axis-- > 0;) {
    // A row of weights is eight wide, the last of them zero: those must lie inside the array too.
    const int64_t room = axis + 1 == rank ? 8 - ctsne::kSplineOrder : 0;
    const auto size = static_cast<int64_t>(grids.shape(axis + 1));
    require(nodes[axis] >= ctsne::kSplineOrder && nodes[axis] + room <= size, "the mesh has too few nodes");
    mesh.nodes[axis] = nodes[axis];
    mesh.stride[axis] = mesh.size;
    mesh.origin[axis] = static_cast<float>(origin[axis]);
    mesh.size *= size;
  }
  return mesh;
}

void require_charges(const std::optional<Vector<const float>>& charge, std::size_t n) {
  require(!charge || charge->size() == n, "one charge per point is needed");
}

void spread(Matrix<const float> y, Vector<const int64_t> bounds, std::optional<Vector<const float>> source_charge,
            std::vector<int64_t> nodes, std::vector<double> origin, double spacing, int n_jobs, Grids<float> grids) {
  const auto mesh = mesh_of(grids, y, nodes, origin, spacing);
  require_ranges(bounds, grids.shape(0), y.shape(0));
  require_charges(source_charge, y.shape(0));
  nb::gil_scoped_release release;
  ctsne::spread(mesh, y.data(), span_of(bounds), data_or_null(source_charge), n_jobs, grids.data());
}

double gather(Grids<const float> grids, Matrix<const float> y, Vector<const int64_t> bounds,
              Vector<const double> offset, double coefficient, std::optional<Vector<const float>> target_charge,
              std::vector<int64_t> nodes, std::vector<double> origin, double spacing, int n_jobs,
              Matrix<float> force) {
  const auto mesh = mesh_of(grids, y, nodes, origin, spacing);
  require_output(y.shape(0), y.shape(1), force);
  require_ranges(bounds, grids.shape(0), y.shape(0));
  require(offset.size() == grids.shape(0), "one offset per mesh is needed");
  require_charges(target_charge, y.shape(0));
  nb::gil_scoped_release release;
  return ctsne::gather(mesh, grids.data(), y.data(), span_of(bounds), span_of(offset), static_cast<float>(coefficient),
                       data_or_null(target_charge), n_jobs, force.data());
}

void mix_groups(Vector<const float> charge, Vector<const float> own, bool unlabelled, int n_jobs, Grids<float> grids) {
  require(grids.ndim() > 1 && charge.size() == grids.shape(0) && own.size() == grids.shape(0) &&
              grids.shape(0) > (unlabelled ? 1 : 0),
          "one charge per mesh is needed");
  nb::gil_scoped_release release;
  ctsne::mix_groups(span_of(charge), span_of(own), unlabelled, static_cast<int64_t>(grids.size() / grids.shape(0)),
                    n_jobs, grids.data());
}

double repel_near(Matrix<const float> y, Vector<const int64_t> bounds, Vector<const float> charge,
                  Vector<const float> same, std::tuple<double, double> low, std::tuple<double, double> high,
                  double reach, int n_jobs, Matrix<float> force) {
  require(y.shape(1) == 2 && reach > 0, "near pairs are those of a plane map within a positive reach");
  require_output(y.shape(0), y.shape(1), force);
  require_ranges(bounds, charge.size(), y.shape(0));
  require(same.size() == charge.size() && bounds(0) == 0, "every group needs a charge, from the first point on");
  const auto [left, bottom] = low;
  const auto [right, top] = high;
  require(right >= left && top >= bottom && (right - left) / reach * ((top - bottom) / reach) < 1e8,
          "the reach is too short for so wide a map");
  const ctsne::NearShape shape{{static_cast<float>(left), static_cast<float>(bottom)},
                               {static_cast<float>(right), static_cast<float>(top)},
                               static_cast<float>(reach)};
  nb::gil_scoped_release release;
  return ctsne::repel_near(shape, y.data(), {span_of(bounds), span_of(charge), span_of(same)}, n_jobs, force.data());
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

void convolve(Array<float, 3> grids, Matrix<const float> kernel, Vector<const float> column_twiddles,
              Vector<const float> row_twiddles, std::tuple<int64_t, int64_t> nodes, bool doubled, int n_jobs,
              Vector<float> spectra) {
  const auto rows = static_cast<int64_t>(grids.shape(1)), width = static_cast<int64_t>(grids.shape(2));
  const ctsne::MeshTransform mesh{fft_of(std::get<1>(nodes), row_twiddles),
                                  fft_of(std::get<0>(nodes), column_twiddles), width,
                                  std::max(width, std::get<0>(nodes)), doubled,
                                  doubled ? std::get<1>(nodes) + 1 : std::get<1>(nodes) / 2 + 1};
  require(rows >= mesh.columns.n && rows % ctsne::kBandRows == 0 && width > mesh.rows.n &&
              width % ctsne::kBandColumns == 0,
          "the mesh needs whole bands of rows and columns");
  require(static_cast<int64_t>(kernel.shape(0)) == (doubled ? mesh.columns.n : mesh.columns.n / 2) + 1 && kernel.shape(1) == grids.shape(2) &&
              spectra.size() > 0 && spectra.size() % (2 * rows * width) == 0,
          "kernel and spectra must fit the mesh");
  const auto together = static_cast<int64_t>(spectra.size()) / (2 * rows * width);
  nb::gil_scoped_release release;
  ctsne::convolve(mesh, kernel.data(), static_cast<int64_t>(grids.shape(0)), rows * width, together, n_jobs,
                  grids.data(), spectra.data());
}

template <class Fine, class Coarse>
ctsne::MeshLayers layers_of(const Fine& fine, const Coarse& coarse, std::tuple<int64_t, int64_t> nodes) {
  const auto size = [](const auto& grids, int axis) { return static_cast<int64_t>(grids.shape(axis)); };
  const ctsne::MeshLayers layers{{std::get<0>(nodes), std::get<1>(nodes)}, size(fine, 2),
                                 size(fine, 1) * size(fine, 2), size(coarse, 1), size(coarse, 2)};
  bool fit = fine.shape(0) == coarse.shape(0);
  for (int axis = 0; axis < 2; ++axis)
    fit = fit && size(fine, axis + 1) % ctsne::kBandColumns == 0 && size(coarse, axis + 1) % ctsne::kBandColumns == 0 &&
          layers.nodes[axis] > 0 && layers.nodes[axis] <= size(fine, axis + 1) &&
          ctsne::coarse_nodes(layers.nodes[axis]) <= size(coarse, axis + 1);
  require(fit, "the coarse meshes do not fit the fine ones");
  return layers;
}

void coarsen(Array<const float, 3> fine, std::tuple<int64_t, int64_t> nodes, int n_jobs, Array<float, 3> coarse) {
  const auto layers = layers_of(fine, coarse, nodes);
  nb::gil_scoped_release release;
  ctsne::coarsen(layers, fine.data(), static_cast<int64_t>(fine.shape(0)), n_jobs, coarse.data());
}

void refine(Array<const float, 3> coarse, std::tuple<int64_t, int64_t> nodes, int n_jobs, Array<float, 3> fine) {
  const auto layers = layers_of(fine, coarse, nodes);
  nb::gil_scoped_release release;
  ctsne::refine(layers, coarse.data(), static_cast<int64_t>(fine.shape(0)), n_jobs, fine.data());
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
  m.def("spread", spread, "y"_a.noconvert(), "bounds"_a.noconvert(), "source_charge"_a.noconvert().none(), "nodes"_a,
        "origin"_a, "spacing"_a, "n_jobs"_a, "grids"_a.noconvert());
  m.def("gather", gather, "grids"_a.noconvert(), "y"_a.noconvert(), "bounds"_a.noconvert(), "offset"_a.noconvert(),
        "coefficient"_a, "target_charge"_a.noconvert().none(), "nodes"_a, "origin"_a, "spacing"_a, "n_jobs"_a,
        "force"_a.noconvert());
  m.def("mix_groups", mix_groups, "charge"_a.noconvert(), "own"_a.noconvert(), "unlabelled"_a, "n_jobs"_a,
        "grids"_a.noconvert());
  m.def("repel_near", repel_near, "y"_a.noconvert(), "bounds"_a.noconvert(), "charge"_a.noconvert(),
        "same"_a.noconvert(), "low"_a, "high"_a, "reach"_a, "n_jobs"_a, "force"_a.noconvert());
  m.attr("BAND_ROWS") = ctsne::kBandRows;
  m.attr("BAND_COLUMNS") = ctsne::kBandColumns;
  m.def("fft_twiddles", fft_twiddles, "n"_a);
  m.def("convolve", convolve, "grids"_a.noconvert(), "kernel"_a.noconvert(), "column_twiddles"_a.noconvert(),
        "row_twiddles"_a.noconvert(), "nodes"_a, "doubled"_a, "n_jobs"_a, "spectra"_a.noconvert());
  m.def("coarse_nodes", ctsne::coarse_nodes, "fine"_a);
  m.attr("COARSER") = ctsne::kCoarser;
  m.def("coarsen", coarsen, "fine"_a.noconvert(), "nodes"_a, "n_jobs"_a, "coarse"_a.noconvert());
  m.def("refine", refine, "coarse"_a.noconvert(), "nodes"_a, "n_jobs"_a, "fine"_a.noconvert());
  define_rows<float>(m);
  define_rows<uint16_t>(m);
  m.def("pack_rows", pack_rows, "indptr"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(),
        "order"_a.noconvert(), "n_jobs"_a);
}

}  // namespace ctsne_python
