// The Python interface of the particle mesh: charges on grids, convolved, and forces read from
// them.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "layout/convolve.hpp"
#include "layout/forces.hpp"
#include "layout/layers.hpp"
#include "layout/mix.hpp"
#include "layout/near.hpp"
#include "layout/spread.hpp"
#include "loops/kernels.hpp"

namespace ctsne_python {

namespace {

using Grids = nb::ndarray<nb::numpy, float, nb::c_contig, nb::device::cpu>;  // of any dimension

// The transform of a kernel in the plane, and the tables of the transforms.
class PlaneKernel {
 public:
  // `doubled` with zeros, or on a mesh that wraps around.
  PlaneKernel(Matrix<const float> transform, std::tuple<int64_t, int64_t> nodes, bool doubled)
      : transform_(std::move(transform)),
        doubled_(doubled),
        columns_(std::get<0>(nodes), 2 * size_of(transform_)),
        rows_(std::get<1>(nodes), width()) {
    const int64_t frequencies = (doubled ? columns_.plan.n : columns_.plan.n / 2) + 1;
    require(size_of(transform_) == frequencies, "the transform does not fit the nodes");
  }

  int64_t width() const { return size_of(transform_, 1); }
  const float* transform() const { return transform_.data(); }

  ctsne::MeshTransform mesh(int64_t width) const {
    const int64_t n = rows_.plan.n;
    return {rows_.plan, columns_.plan,
            width,      std::max(width, columns_.plan.n),
            doubled_,   doubled_ ? n + 1 : n / 2 + 1};
  }

 private:
  struct Axis {
    Axis(int64_t n, int64_t most) {
      require(n > 0 && n <= most, "the transform does not fit the nodes");
      require(ctsne::factorize(n, plan),
              "the length of a transform must be a product of 2, 3 and 5");
      const int64_t before = ctsne::twiddle_floats(plan);
      twiddles.resize(static_cast<std::size_t>(before + 2 * n));
      ctsne::fill_twiddles(plan, twiddles.data());
      plan.twiddles = twiddles.data();
      plan.half = twiddles.data() + before;
    }
    Axis(const Axis&) = delete;
    Axis& operator=(const Axis&) = delete;

    ctsne::FftPlan plan{};
    std::vector<float> twiddles;
  };

  Matrix<const float> transform_;
  bool doubled_;
  Axis columns_, rows_;
};

// Grids of the same mesh, one per group of points.
class Mesh {
 public:
  Mesh(Grids grids, const std::vector<int64_t>& nodes, double spacing, int n_jobs)
      : grids_(std::move(grids)), spacing_(spacing), n_jobs_(checked_jobs(n_jobs)) {
    const std::size_t rank = nodes.size();
    require(rank >= 1 && rank <= ctsne::kMaxDims && grids_.ndim() == rank + 1 &&
                grids_.shape(0) > 0 && spacing > 0,
            "the mesh needs one to three axes, grids and a spacing");
    shape_.dims = static_cast<int>(rank);
    shape_.spacing = static_cast<float>(spacing);
    shape_.size = 1;
    for (std::size_t axis = rank; axis-- > 0;) {
      // A row of weights is eight wide, the last of them zero: those must lie inside the array too.
      const int64_t room = axis + 1 == rank ? 8 - ctsne::kSplineOrder : 0;
      const int64_t size = size_of(grids_, static_cast<int>(axis) + 1);
      require(nodes[axis] >= ctsne::kSplineOrder && nodes[axis] + room <= size,
              "the mesh has too few nodes");
      shape_.nodes[axis] = nodes[axis];
      shape_.stride[axis] = shape_.size;
      shape_.size *= size;
    }
    require(shape_.nodes[0] * groups() <= std::numeric_limits<int32_t>::max(),
            "the mesh has too many nodes");
  }

  // Puts the points of each group, [bounds[g], bounds[g+1]), on a grid of its own.
  void spread(Matrix<const float> y, Vector<const int64_t> bounds,
              const std::vector<double>& origin, std::optional<Vector<const float>> charge) {
    const auto shape = placed(y, bounds, origin);
    if (charge) require_size(*charge, size_of(y));
    nb::gil_scoped_release release;
    ctsne::spread(shape, y.data(), span_of(bounds), data_or_null(charge), n_jobs_, grids_.data());
  }

  // Turns the charges of each group into those that act on it.
  void mix(Vector<const float> charge, Vector<const float> own, bool unlabelled) {
    require(
        size_of(charge) == groups() && size_of(own) == groups() && groups() > (unlabelled ? 1 : 0),
        "one charge per grid is needed");
    nb::gil_scoped_release release;
    ctsne::mix_groups(span_of(charge), span_of(own), unlabelled, shape_.size, n_jobs_,
                      grids_.data());
  }

  // Adds the forces that the grids' potentials exert, and returns the potential of all points.
  double gather(Matrix<float> force, Matrix<const float> y, Vector<const int64_t> bounds,
                const std::vector<double>& origin, Vector<const double> offset, double coefficient,
                std::optional<Vector<const float>> charge) const {
    const auto shape = placed(y, bounds, origin);
    require_force(force, y);
    require(size_of(offset) == groups(), "one offset per grid is needed");
    if (charge) require_size(*charge, size_of(y));
    nb::gil_scoped_release release;
    return ctsne::gather(shape, grids_.data(), y.data(), span_of(bounds), span_of(offset),
                         static_cast<float>(coefficient), data_or_null(charge), n_jobs_,
                         force.data());
  }

  // Adds the forces of pairs nearer than the reach, and returns their potential.
  double add_near(Matrix<float> force, Matrix<const float> y, Vector<const int64_t> bounds,
                  const std::vector<double>& origin, Vector<const float> charge,
                  Vector<const float> same, double reach) const {
    require(shape_.dims == 2 && reach > 0, "near pairs are those of a plane map within a reach");
    placed(y, bounds, origin);
    require_force(force, y);
    require(size_of(charge) == groups() && size_of(same) == groups() && bounds(0) == 0,
            "every group needs a charge, from the first point on");
    ctsne::NearShape near{};
    near.reach = static_cast<float>(reach);
    double cells = 1;
    for (int axis = 0; axis < 2; ++axis) {
      const double extent = static_cast<double>(shape_.nodes[axis]) * spacing_;
      near.low[axis] = static_cast<float>(origin[axis]);
      near.high[axis] = static_cast<float>(origin[axis] + extent);
      const double across = ctsne::kNearCells * extent / reach + 2;
      near.most[axis] = static_cast<int32_t>(std::min(across, 1e9));
      cells *= across;
    }
    require(cells < 5e8, "the reach is too short for a map this wide");
    nb::gil_scoped_release release;
    return ctsne::repel_near(near, y.data(), {span_of(bounds), span_of(charge), span_of(same)},
                             n_jobs_, force.data());
  }

  // Convolves every grid with the kernel. Small grids are convolved together, as caches allow.
  void convolve(const PlaneKernel& kernel) {
    constexpr int64_t kCachedNodes = 1 << 16;
    require(shape_.dims == 2, "only grids of a plane are convolved here");
    const int64_t rows = size_of(grids_, 1), width = size_of(grids_, 2);
    const ctsne::MeshTransform mesh = kernel.mesh(width);
    require(mesh.columns.n == shape_.nodes[0] && mesh.rows.n == shape_.nodes[1] &&
                kernel.width() == width,
            "the kernel does not fit the mesh");
    require(rows % ctsne::kBandRows == 0 && width % ctsne::kBandColumns == 0 && width > mesh.rows.n,
            "the mesh needs whole bands of rows and columns");
    const int64_t together = std::min(groups(), std::max<int64_t>(1, kCachedNodes / shape_.size));
    if (!spectra_) spectra_ = empty<float>(2 * shape_.size * together);
    nb::gil_scoped_release release;
    ctsne::convolve(mesh, kernel.transform(), groups(), shape_.size, together, n_jobs_,
                    grids_.data(), spectra_->data());
  }

  // Takes the charges of a fine mesh to this one, whose nodes are kCoarser times as far apart.
  void coarsen(const Mesh& fine) {
    const auto layers = layers_of(fine, *this);
    nb::gil_scoped_release release;
    ctsne::coarsen(layers, fine.grids_.data(), groups(), n_jobs_, grids_.data());
  }

  // Adds the potentials of a coarse mesh to those of this one.
  void refine(const Mesh& coarse) {
    const auto layers = layers_of(*this, coarse);
    nb::gil_scoped_release release;
    ctsne::refine(layers, coarse.grids_.data(), groups(), n_jobs_, grids_.data());
  }

  const Grids& grids() const { return grids_; }

 private:
  int64_t groups() const { return size_of(grids_); }

  // Checks a map and its groups, and puts the mesh where the map lies.
  ctsne::MeshShape placed(const Matrix<const float>& y, const Vector<const int64_t>& bounds,
                          const std::vector<double>& origin) const {
    require(size_of(y, 1) == shape_.dims && static_cast<int>(origin.size()) == shape_.dims,
            "the map and the mesh must have as many dimensions");
    require(size_of(y) <= std::numeric_limits<int32_t>::max(), "there are too many points");
    require_bounds(bounds, size_of(y));
    require(size_of(bounds) == groups() + 1, "one group of points per grid is needed");
    ctsne::MeshShape shape = shape_;
    for (int axis = 0; axis < shape.dims; ++axis)
      shape.origin[axis] = static_cast<float>(origin[axis]);
    return shape;
  }

  static void require_force(const Matrix<float>& force, const Matrix<const float>& y) {
    require(force.shape(0) == y.shape(0) && force.shape(1) == y.shape(1),
            "force must have the shape of the map");
  }

  static ctsne::MeshLayers layers_of(const Mesh& fine, const Mesh& coarse) {
    require(fine.shape_.dims == 2 && coarse.shape_.dims == 2 && fine.groups() == coarse.groups(),
            "layers are those of a plane, with as many grids");
    const auto size = [](const Mesh& mesh, int axis) { return size_of(mesh.grids_, axis + 1); };
    for (int axis = 0; axis < 2; ++axis)
      require(size(fine, axis) % ctsne::kBandColumns == 0 &&
                  size(coarse, axis) % ctsne::kBandColumns == 0 &&
                  ctsne::coarse_nodes(fine.shape_.nodes[axis]) <= size(coarse, axis),
              "the coarse mesh does not fit the fine one");
    return {{fine.shape_.nodes[0], fine.shape_.nodes[1]},
            size(fine, 1),
            fine.shape_.size,
            size(coarse, 0),
            size(coarse, 1)};
  }

  Grids grids_;
  double spacing_;
  int n_jobs_;
  ctsne::MeshShape shape_{};
  std::optional<Vector<float>> spectra_;
};

}  // namespace

void define_mesh(nb::module_& m) {
  using namespace nb::literals;
  m.attr("SPLINE_ORDER") = ctsne::kSplineOrder;
  m.attr("BAND_ROWS") = ctsne::kBandRows;
  m.attr("BAND_COLUMNS") = ctsne::kBandColumns;
  m.attr("COARSER") = ctsne::kCoarser;
  m.def(
      "coarse_nodes",
      [](int64_t fine) {
        require(fine > 0 && fine < int64_t{1} << 40, "a mesh has at least one node");
        return ctsne::coarse_nodes(fine);
      },
      "fine"_a, "Return how many nodes of a coarse mesh cover this many of a fine one.");
  nb::class_<PlaneKernel>(m, "PlaneKernel", "Transform of a kernel in the plane.")
      .def(nb::init<Matrix<const float>, std::tuple<int64_t, int64_t>, bool>(),
           array_arg("transform"), "nodes"_a, "doubled"_a);
  nb::class_<Mesh>(m, "Mesh", "Grids of one mesh, one per group of points.")
      .def(nb::init<Grids, const std::vector<int64_t>&, double, int>(), array_arg("grids"),
           "nodes"_a, "spacing"_a, "n_jobs"_a)
      .def("spread", &Mesh::spread, array_arg("y"), array_arg("bounds"), "origin"_a,
           array_arg("charge").none() = nb::none(), "Put each group's points on its grid.")
      .def("mix", &Mesh::mix, array_arg("charge"), array_arg("own"), "unlabelled"_a,
           "Turn the charges of each group into those that act on it.")
      .def("convolve", &Mesh::convolve, "kernel"_a, "Convolve every grid with the kernel.")
      .def("gather", &Mesh::gather, array_arg("force"), array_arg("y"), array_arg("bounds"),
           "origin"_a, array_arg("offset"), "coefficient"_a = 1.0,
           array_arg("charge").none() = nb::none(),
           "Add the forces read from the grids; return the potential of all points.")
      .def("add_near", &Mesh::add_near, array_arg("force"), array_arg("y"), array_arg("bounds"),
           "origin"_a, array_arg("charge"), array_arg("same"), "reach"_a,
           "Add the forces of pairs nearer than the reach; return their potential.")
      .def("coarsen", &Mesh::coarsen, "fine"_a, "Take the charges of a finer mesh.")
      .def("refine", &Mesh::refine, "coarse"_a, "Add the potentials of a coarser mesh.")
      .def_prop_ro("grids", &Mesh::grids);
}

}  // namespace ctsne_python
