// The Python interface of stage 3, without the mesh: similarities, exact forces and descent.
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "bind/arrays.hpp"
#include "layout/descent.hpp"
#include "layout/forces.hpp"
#include "layout/pack.hpp"
#include "loops/kernels.hpp"

namespace ctsne_python {

namespace {

ctsne::Tail tail_of(double dof, int64_t dims) {
  require(dims >= 1 && dims <= ctsne::kMaxDims, "maps have one, two or three dimensions");
  require(dof > 0 && dof < 1e30, "dof must be positive and finite");
  return {static_cast<float>(dof), static_cast<int>(dims)};
}

// Checks that `order` is a permutation of n numbers.
template <class T>
void require_permutation(std::span<const T> order, int64_t n) {
  require(static_cast<int64_t>(order.size()) == n, "one place in the order per point is needed");
  std::vector<bool> seen(order.size());
  for (const T at : order) {
    require(at >= 0 && at < n && !seen[at], "order must name every row once");
    seen[at] = true;
  }
}

// A symmetric sparse matrix of similarities: as given, or packed by `packed`.
class Similarities {
 public:
  Similarities(const Vector<const int64_t>& row_starts, const Vector<const int32_t>& columns,
               const Vector<const float>& similar, int n_jobs)
      : n_jobs_(checked_jobs(n_jobs)) {
    const auto indptr = kept(row_starts);
    const auto indices = kept(columns);
    const auto values = kept(similar);
    arrays_ = {nb::cast(indptr), nb::cast(indices), nb::cast(values)};
    require(indptr.size() > 0 && indptr(0) == 0, "row starts must begin with zero");
    const int64_t n = size_of(indptr) - 1, stored = indptr(n);
    require(n <= std::numeric_limits<int32_t>::max(), "there are too many points");
    require_bounds(indptr, stored);
    require(size_of(indices) == stored && size_of(values) == stored,
            "columns and values must be as many as the row starts say");
    rows_ = ctsne::SparseRows{indptr.data(), indices.data(), values.data(), n, stored};
    nb::gil_scoped_release release;
    if (!columns_below(n, span_of(indices), n_jobs_))
      throw nb::value_error("a column is outside the matrix");
  }

  // A packed matrix from the arrays that a pickle kept.
  Similarities(const Vector<const int64_t>& row_starts, const Vector<const int32_t>& columns,
               const Vector<const uint16_t>& entries, double total, int n_jobs)
      : n_jobs_(checked_jobs(n_jobs)), total_(total) {
    const auto starts = kept(row_starts);
    const auto bases = kept(columns);
    const auto codes = kept(entries);
    arrays_ = {nb::cast(starts), nb::cast(bases), nb::cast(codes)};
    require(starts.size() > 0 && starts(0) == 0, "row starts must begin with zero");
    const int64_t n = size_of(starts) - 1, groups = starts(n);
    require_bounds(starts, groups);
    require(size_of(bases) == groups && size_of(codes) == 16 * groups,
            "groups must be as many as the row starts say");
    for (int64_t group = 0; group < groups; ++group)
      for (int64_t lane = 0; lane < 8; ++lane)
        require(bases(group) >= 0 && int64_t{bases(group)} + codes(16 * group + lane) < n,
                "a column is outside the matrix");
    rows_ = ctsne::PackedRows{starts.data(), bases.data(), codes.data(), n, 8 * groups};
  }

  nb::tuple state() const {
    const bool packed = std::holds_alternative<ctsne::PackedRows>(rows_);
    const auto copy = [](const nb::object& array) { return array.attr("copy")(); };
    return nb::make_tuple(packed, copy(arrays_[0]), copy(arrays_[1]), copy(arrays_[2]), total_,
                          n_jobs_);
  }

  static void restore(Similarities& self, const nb::tuple& state) {
    require(state.size() == 6, "not the state of similarities");
    const auto starts = from_state<Vector<const int64_t>>(state[1]);
    const auto columns = from_state<Vector<const int32_t>>(state[2]);
    const int n_jobs = from_state<int>(state[5]);
    if (from_state<bool>(state[0]))
      new (&self) Similarities(starts, columns, from_state<Vector<const uint16_t>>(state[3]),
                               from_state<double>(state[4]), n_jobs);
    else
      new (&self) Similarities(starts, columns, from_state<Vector<const float>>(state[3]), n_jobs);
  }

  // The matrix with row i at order[i], columns likewise, in 4.5 bytes per entry instead of 8.
  std::shared_ptr<Similarities> packed(Vector<const int32_t> order) const {
    const auto* given = std::get_if<ctsne::SparseRows>(&rows_);
    require(given != nullptr, "the matrix is packed already");
    require_permutation(span_of(order), given->count);
    std::optional<ctsne::Packer> packer;
    {
      nb::gil_scoped_release release;
      packer.emplace(*given, span_of(order), n_jobs_);
    }
    auto starts = empty<int64_t>(given->count + 1);
    auto bases = empty<int32_t>(packer->groups());
    auto codes = empty<uint16_t>(16 * packer->groups());
    std::shared_ptr<Similarities> out(new Similarities(n_jobs_));
    out->arrays_ = {nb::cast(starts), nb::cast(bases), nb::cast(codes)};
    out->rows_ = ctsne::PackedRows{starts.data(), bases.data(), codes.data(), given->count,
                                   8 * packer->groups()};
    out->total_ = packer->total();
    nb::gil_scoped_release release;
    packer->write(starts.data(), bases.data(), codes.data());
    packer.reset();
    return out;
  }

  template <class Work>
  auto with_rows(Work&& work) const {
    return std::visit(work, rows_);
  }

  int64_t count() const {
    return with_rows([](const auto& rows) { return rows.count; });
  }
  double total() const { return total_; }

  // Copies, because a changed column would be followed without another check.
  auto packed_arrays() const {
    const auto* packed = std::get_if<ctsne::PackedRows>(&rows_);
    require(packed != nullptr, "the matrix is not packed");
    const auto rows = static_cast<std::size_t>(packed->count);
    const auto groups = static_cast<std::size_t>(packed->starts[rows]);
    return std::make_tuple(array_of(std::span(packed->starts, rows + 1)),
                           array_of(std::span(packed->bases, groups)),
                           array_of(std::span(packed->codes, 16 * groups)));
  }

 private:
  explicit Similarities(int n_jobs) : n_jobs_(n_jobs) {}

  static bool columns_below(int64_t n, std::span<const int32_t> columns, int n_jobs) {
    constexpr int64_t kTogether = 1 << 16;
    const auto count = static_cast<int64_t>(columns.size());
    const double outside =
        ctsne::parallel_sum(count, kTogether, n_jobs, [&](int64_t begin, int64_t end) {
          uint32_t most = 0;  // as unsigned numbers, negative ones are largest
          for (int64_t k = begin; k < end; ++k)
            most = std::max(most, static_cast<uint32_t>(columns[k]));
          return static_cast<int64_t>(most) < n ? 0.0 : 1.0;
        });
    return outside == 0;
  }

  int n_jobs_;
  double total_ = 1.0;  // packed values are rounded, and so is their sum
  std::array<nb::object, 3> arrays_;
  std::variant<ctsne::SparseRows, ctsne::PackedRows> rows_;
};

// A map in the making: positions, last steps and gains.
class Descent {
 public:
  Descent(std::shared_ptr<Similarities> similarities, Matrix<const float> start, double dof,
          int n_jobs)
      : Descent(std::move(similarities), dof, n_jobs, start.shape(0), start.shape(1)) {
    std::copy(start.data(), start.data() + start.size(), y_.data());
    std::fill(update_.data(), update_.data() + start.size(), 0.0f);
    std::fill(gains_.data(), gains_.data() + start.size(), 1.0f);
  }

  // The same map with point order[i] at place i, under the same similarities in that order.
  std::shared_ptr<Descent> reordered(Vector<const int64_t> order,
                                     std::shared_ptr<Similarities> similarities) const {
    require_permutation(span_of(order), size_of(y_));
    std::shared_ptr<Descent> out(new Descent(std::move(similarities),
                                             static_cast<double>(tail_.dof), n_jobs_, y_.shape(0),
                                             y_.shape(1)));
    const std::size_t dims = y_.shape(1);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t from = static_cast<std::size_t>(order(i)) * dims;
      for (std::size_t axis = 0; axis < dims; ++axis) {
        out->y_.data()[i * dims + axis] = y_.data()[from + axis];
        out->update_.data()[i * dims + axis] = update_.data()[from + axis];
        out->gains_.data()[i * dims + axis] = gains_.data()[from + axis];
      }
    }
    return out;
  }

  nb::tuple state() const {
    return nb::make_tuple(similarities_, y_, update_, gains_, static_cast<double>(tail_.dof),
                          n_jobs_);
  }

  static void restore(Descent& self, const nb::tuple& state) {
    require(state.size() == 6, "not the state of a map");
    const auto y = from_state<Matrix<const float>>(state[1]);
    const auto update = from_state<Matrix<const float>>(state[2]);
    const auto gains = from_state<Matrix<const float>>(state[3]);
    for (const auto& each : {update, gains})
      require(each.shape(0) == y.shape(0) && each.shape(1) == y.shape(1),
              "positions, steps and gains must agree in shape");
    auto similarities = from_state<std::shared_ptr<Similarities>>(state[0]);
    require(similarities != nullptr, "the state has no similarities");
    new (&self) Descent(std::move(similarities), y, from_state<double>(state[4]),
                        from_state<int>(state[5]));
    std::copy(update.data(), update.data() + update.size(), self.update_.data());
    std::copy(gains.data(), gains.data() + gains.size(), self.gains_.data());
  }

  Matrix<float> attraction() const {
    auto out = empty<float>(y_.shape(0), y_.shape(1));
    nb::gil_scoped_release release;
    similarities_->with_rows(
        [&](const auto& rows) { ctsne::attract(tail_, rows, y_.data(), n_jobs_, out.data()); });
    return out;
  }

  double log_kernel_sum() const {
    nb::gil_scoped_release release;
    return similarities_->with_rows(
        [&](const auto& rows) { return ctsne::log_kernel_sum(tail_, rows, y_.data(), n_jobs_); });
  }

  auto step(Matrix<const float> repulsion, double pull, double push, double learning_rate,
            double momentum, double longest) {
    require(repulsion.shape(0) == y_.shape(0) && repulsion.shape(1) == y_.shape(1),
            "repulsion must have the shape of the map");
    // Beyond these limits every step is a longest one, and products would not be finite.
    const auto limited = [](double value, double most) {
      return static_cast<float>(std::clamp(value, -most, most));
    };
    const ctsne::StepOptions options{limited(pull, 1e9), limited(push, 3e38),
                                     limited(learning_rate, 1e15), limited(momentum, 1.0),
                                     limited(longest, 1e15)};
    ctsne::Extent extent;
    {
      nb::gil_scoped_release release;
      extent = similarities_->with_rows([&](const auto& rows) {
        return ctsne::descend(tail_, options, rows, repulsion.data(), n_jobs_, y_.data(),
                              moved_.data(), update_.data(), gains_.data());
      });
    }
    const auto axes = [&](const std::array<float, ctsne::kMaxDims>& of) {
      return std::vector<float>(of.begin(), of.begin() + tail_.dims);
    };
    return std::make_tuple(axes(extent.low), axes(extent.high));
  }

  const Matrix<float>& y() const { return y_; }
  double total() const { return similarities_->total(); }

 private:
  Descent(std::shared_ptr<Similarities> similarities, double dof, int n_jobs, std::size_t n,
          std::size_t dims)
      : similarities_(std::move(similarities)),
        tail_(tail_of(dof, static_cast<int64_t>(dims))),
        n_jobs_(checked_jobs(n_jobs)),
        y_(empty<float>(n, dims)),
        moved_(empty<float>(n, dims)),
        update_(empty<float>(n, dims)),
        gains_(empty<float>(n, dims)) {
    require(similarities_->count() == static_cast<int64_t>(n), "the matrix does not fit the map");
  }

  std::shared_ptr<Similarities> similarities_;
  ctsne::Tail tail_;
  int n_jobs_;
  Matrix<float> y_, moved_, update_, gains_;
};

// Exact repulsion: sums over all pairs of the points of a map.
class PairSum {
 public:
  PairSum(Matrix<const float> y, double dof, int n_jobs)
      : tail_(tail_of(dof, size_of(y, 1))),
        n_jobs_(checked_jobs(n_jobs)),
        n_(size_of(y)),
        coordinates_(y.size()) {
    for (int axis = 0; axis < tail_.dims; ++axis) {
      float* const to = coordinates_.data() + axis * n_;
      for (int64_t i = 0; i < n_; ++i) to[i] = y.data()[i * tail_.dims + axis];
      axes_[axis] = to;
    }
  }

  // `charge` is that of every point of the map.
  double add(Matrix<float> force, std::tuple<int64_t, int64_t> sources,
             std::tuple<int64_t, int64_t> targets, double coefficient,
             std::optional<Vector<const float>> charge) const {
    require_force(force);
    for (const auto& [begin, end] : {sources, targets})
      require(0 <= begin && begin <= end && end <= n_, "a range of points is outside the map");
    if (charge) require_size(*charge, n_);
    const ctsne::Channel channel{{std::get<0>(sources), std::get<1>(sources)},
                                 {std::get<0>(targets), std::get<1>(targets)},
                                 static_cast<float>(coefficient),
                                 data_or_null(charge)};
    nb::gil_scoped_release release;
    return ctsne::repel(tail_, axes_.data(), channel, n_jobs_, force.data());
  }

  double add_inside(Matrix<float> force, Vector<const int64_t> bounds,
                    Vector<const float> coefficient) const {
    require_force(force);
    require_bounds(bounds, n_);
    require(bounds.size() == coefficient.size() + 1, "one coefficient per range is needed");
    nb::gil_scoped_release release;
    return ctsne::repel_ranges(tail_, axes_.data(), span_of(bounds), span_of(coefficient), n_jobs_,
                               force.data());
  }

 private:
  void require_force(const Matrix<float>& force) const {
    require(size_of(force) == n_ && size_of(force, 1) == tail_.dims,
            "force must have the shape of the map");
  }

  ctsne::Tail tail_;
  int n_jobs_;
  int64_t n_;
  std::vector<float> coordinates_;
  std::array<const float*, ctsne::kMaxDims> axes_{};
};

}  // namespace

void define_layout(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Similarities>(m, "Similarities", "A symmetric sparse matrix, as given or packed.")
      .def(nb::init<Vector<const int64_t>, Vector<const int32_t>, Vector<const float>, int>(),
           array_arg("indptr"), array_arg("indices"), array_arg("values"), "n_jobs"_a)
      .def("packed", &Similarities::packed, array_arg("order"),
           "Return the matrix with rows and columns in a new order, within 0.2 % of its values.")
      .def_prop_ro("total", &Similarities::total, "Sum of packed values; 1 for a matrix as given.")
      .def("packed_arrays", &Similarities::packed_arrays,
           "Return row starts, first columns and codes of the groups of eight entries.")
      .def("__getstate__", &Similarities::state,
           nb::sig("def __getstate__(self) -> tuple[object, ...]"))
      .def("__setstate__", &Similarities::restore,
           nb::sig("def __setstate__(self, state: tuple[object, ...], /) -> None"));
  nb::class_<Descent>(m, "Descent", "A map in the making: positions, last steps and gains.")
      .def(nb::init<std::shared_ptr<Similarities>, Matrix<const float>, double, int>(),
           "similarities"_a, array_arg("start"), "dof"_a, "n_jobs"_a)
      .def("reordered", &Descent::reordered, array_arg("order"), "similarities"_a,
           "Return the map in a new order of points, with similarities in that order.")
      .def("attraction", &Descent::attraction, "Return the attraction on every point.")
      .def("log_kernel_sum", &Descent::log_kernel_sum,
           "Return the sum of similarities times the logarithm of the map's kernel.")
      .def("step", &Descent::step, array_arg("repulsion"), nb::kw_only(), "pull"_a, "push"_a,
           "learning_rate"_a, "momentum"_a, "longest"_a,
           "Take a step; return the least and the greatest coordinate along each axis.")
      .def("__getstate__", &Descent::state, nb::sig("def __getstate__(self) -> tuple[object, ...]"))
      .def("__setstate__", &Descent::restore,
           nb::sig("def __setstate__(self, state: tuple[object, ...], /) -> None"))
      .def_prop_ro("y", &Descent::y)
      .def_prop_ro("total", &Descent::total);
  nb::class_<PairSum>(m, "PairSum", "Exact repulsion, summed over all pairs of points.")
      .def(nb::init<Matrix<const float>, double, int>(), array_arg("y"), "dof"_a, "n_jobs"_a)
      .def("add", &PairSum::add, array_arg("force"), "sources"_a, "targets"_a, "coefficient"_a,
           array_arg("charge").none() = nb::none(),
           "Add the forces of one range of points on another; return the targets' potential.")
      .def("add_inside", &PairSum::add_inside, array_arg("force"), array_arg("bounds"),
           array_arg("coefficient"),
           "Add the forces inside each range of points; return their potential.");
}

}  // namespace ctsne_python
