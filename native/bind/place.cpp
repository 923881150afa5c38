// The Python interface of new points: their features, and their places in a finished map.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "layout/place.hpp"
#include "loops/kernels.hpp"
#include "parallel/parallel.hpp"

namespace ctsne_python {

namespace {

using Grids = nb::ndarray<nb::numpy, const float, nb::c_contig, nb::device::cpu>;

constexpr int64_t kPointsAtOnce = 1 << 14;
// Nodes at each side of the mesh that new points stay away from: nearer to its edge, potentials are
// less accurate.
constexpr int kEdge = 7;

bool all_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

// A finished map: its points, and what acts on new ones.
class PlaceMap {
 public:
  PlaceMap(Matrix<const float> y, Grids grids, const std::vector<int64_t>& nodes, double spacing,
           const std::vector<double>& origin, Vector<const double> offset,
           Matrix<const float> summed, double dof, double usual)
      : y_(std::move(y)), grids_(std::move(grids)), offset_(copy_of(offset)),
        summed_(std::move(summed)) {
    const std::size_t rank = nodes.size();
    require(rank >= 1 && rank <= ctsne::kMaxDims && grids_.ndim() == rank + 1 &&
                grids_.shape(0) > 0 && spacing > 0 && origin.size() == rank,
            "the mesh needs one to three axes, grids and a spacing");
    require(size_of(y_, 1) == static_cast<int64_t>(rank) &&
                size_of(summed_) == static_cast<int64_t>(rank),
            "the map and the mesh must have as many dimensions");
    require(size_of(y_) > 0, "the map has no points");
    require(size_of(offset) == size_of(grids_), "one offset per grid is needed");
    require(dof > 0, "the degrees of freedom must be positive");
    require(usual > 0 && std::isfinite(usual), "the usual potential must be positive");
    require(all_finite(span_of(y_)) && all_finite(span_of(summed_)), "positions must be finite");
    auto& shape = fields_.shape;
    shape.dims = static_cast<int>(rank);
    shape.spacing = static_cast<float>(spacing);
    shape.size = 1;
    options_.tail = {static_cast<float>(dof), static_cast<int>(rank)};
    options_.usual = usual;
    for (std::size_t axis = rank; axis-- > 0;) {
      // A row of weights is eight wide, the last of them zero: those must lie inside the array too.
      const int64_t room = axis + 1 == rank ? 8 - ctsne::kSplineOrder : 0;
      const int64_t size = size_of(grids_, static_cast<int>(axis) + 1);
      require(nodes[axis] > 2 * kEdge + 1 && nodes[axis] + room <= size,
              "the mesh has too few nodes");
      shape.nodes[axis] = nodes[axis];
      shape.stride[axis] = shape.size;
      shape.origin[axis] = static_cast<float>(origin[axis]);
      shape.size *= size;
      axes_[axis] = summed_.data() + static_cast<int64_t>(axis) * size_of(summed_, 1);
      options_.low[axis] = static_cast<float>(origin[axis] + kEdge * spacing);
      options_.high[axis] = static_cast<float>(
          origin[axis] + (static_cast<double>(nodes[axis]) - 1 - kEdge) * spacing);
    }
  }

  auto place(Matrix<const int32_t> indices, Matrix<const float> rows, Vector<const int32_t> grid,
             Vector<const float> share, Vector<const float> own, Matrix<const int64_t> ranges,
             double pull, int steps, int n_jobs) const {
    const int64_t count = size_of(indices), length = size_of(indices, 1);
    require(size_of(rows) == count && size_of(rows, 1) == length && length > 0,
            "rows and indices must have the same shape");
    require_size(grid, count);
    require_size(share, count);
    require_size(own, count);
    require(size_of(ranges) == count && size_of(ranges, 1) == 2, "one range per point is needed");
    require(steps >= 0 && pull > 0, "pull must be positive");
    require(all_finite(span_of(rows)) &&
                std::all_of(rows.data(), rows.data() + rows.size(),
                            [](float weight) { return weight >= 0; }),
            "weights must be finite and not negative");
    for (const int32_t index : span_of(indices))
      require(index >= 0 && index < size_of(y_), "an index is outside the map");
    for (const int32_t number : span_of(grid))
      require(number >= 0 && number < size_of(grids_), "a grid does not exist");
    for (int64_t i = 0; i < count; ++i)
      require(ranges(i, 0) >= 0 && ranges(i, 0) <= ranges(i, 1) &&
                  ranges(i, 1) <= size_of(summed_, 1),
              "a range is outside the points");
    const int workers = checked_jobs(n_jobs);
    auto out = empty<float>(count, size_of(y_, 1));
    auto taken = empty<int32_t>(count);
    ctsne::PlaceFields fields = fields_;
    fields.grids = grids_.data(), fields.offset = offset_.data(), fields.axis = axes_;
    ctsne::PlaceOptions options = options_;
    options.pull = pull, options.steps = steps;
    options.longest = 16.0 * static_cast<double>(fields.shape.spacing);
    options.enough = 1e-3 * static_cast<double>(fields.shape.spacing);
    in_slices(0, count, kPointsAtOnce, [&](int64_t begin, int64_t end) {
      const ctsne::NewPoints points{end - begin,
                                    length,
                                    indices.data() + begin * length,
                                    rows.data() + begin * length,
                                    grid.data() + begin,
                                    share.data() + begin,
                                    own.data() + begin,
                                    ranges.data() + 2 * begin};
      ctsne::place(fields, options, points, y_.data(), workers,
                   out.data() + begin * options.tail.dims, taken.data() + begin);
    });
    return std::make_tuple(out, taken);
  }

 private:
  Matrix<const float> y_;
  Grids grids_;
  std::vector<double> offset_;
  Matrix<const float> summed_;
  const float* axes_[ctsne::kMaxDims] = {};
  ctsne::PlaceFields fields_{};
  ctsne::PlaceOptions options_{};
};

auto project(Matrix<const double> rows, Matrix<const double> matrix, int n_jobs) {
  const int64_t count = size_of(rows), columns = size_of(rows, 1), width = size_of(matrix, 1);
  require(size_of(matrix) == columns && width > 0, "the matrix needs one row per column");
  const int workers = checked_jobs(n_jobs);
  auto out = empty<double>(count, width);
  in_slices(0, count, kPointsAtOnce, [&](int64_t begin, int64_t end) {
    const double work = 0.1 * static_cast<double>((end - begin) * columns * width);
    ctsne::parallel_blocks(end - begin, 64, ctsne::worthwhile(workers, work),
                           [&](int, int64_t from, int64_t to) {
                             ctsne::kernels().project(rows.data() + (begin + from) * columns,
                                                      to - from, columns, matrix.data(), width,
                                                      out.data() + (begin + from) * width);
                           });
  });
  return out;
}

}  // namespace

void define_place(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<PlaceMap>(m, "PlaceMap", "A finished map, and the potentials that act in it.")
      .def(nb::init<Matrix<const float>, Grids, const std::vector<int64_t>&, double,
                    const std::vector<double>&, Vector<const double>, Matrix<const float>,
                    double, double>(),
           array_arg("y"), array_arg("grids"), "nodes"_a, "spacing"_a, "origin"_a,
           array_arg("offset"), array_arg("summed"), "dof"_a, "usual"_a)
      .def("place", &PlaceMap::place, array_arg("indices"), array_arg("rows"), array_arg("grid"),
           array_arg("share"), array_arg("own"), array_arg("ranges"), "pull"_a,
           "steps"_a, "n_jobs"_a,
           "Place points next to their neighbours; return positions and numbers of steps.");
  m.def("project", &project, array_arg("rows"), array_arg("matrix"), "n_jobs"_a,
        "Multiply rows by a matrix; the bits of a row do not depend on the other rows.");
}

}  // namespace ctsne_python
