// Shared by the files that know Python: array types, checks of arguments, and calls of kernels.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

namespace nb = nanobind;

namespace ctsne_python {

using std::int32_t;
using std::int64_t;

template <class T, int D>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<D>, nb::c_contig, nb::device::cpu>;
template <class T>
using Vector = Array<T, 1>;
template <class T>
using Matrix = Array<T, 2>;
// Points as they are given.
using Original = std::variant<Matrix<const float>, Matrix<const double>>;

// Arrays are never converted on the way in: a silent copy would cost memory, and an output written
// to a copy would be lost.
inline auto array_arg(const char* name) { return nb::arg(name).noconvert(); }

template <class A>
auto span_of(const A& array) {
  return std::span(array.data(), array.size());
}

template <class A>
int64_t size_of(const A& array, int axis = 0) {
  return static_cast<int64_t>(array.shape(axis));
}

template <class T>
std::vector<T> copy_of(const Vector<const T>& array) {
  return {array.data(), array.data() + array.size()};
}

template <class T>
const T* data_or_null(const std::optional<Vector<T>>& array) {
  return array ? array->data() : nullptr;
}

inline void require(bool holds, const char* message) {
  if (!holds) throw nb::value_error(message);
}

template <class T>
void require_size(const Vector<T>& array, int64_t n) {
  require(size_of(array) == n, "one entry per point is needed");
}

inline int checked_jobs(int n_jobs) {
  constexpr int kMost = 1024;  // results do not depend on it, and every worker takes memory
  require(n_jobs >= 1, "n_jobs must be at least 1");
  return std::min(n_jobs, kMost);
}

// Bounds of consecutive ranges: [bounds[g], bounds[g+1]), all inside [0, last].
inline void require_bounds(const Vector<const int64_t>& bounds, int64_t last) {
  require(bounds.size() > 0 && bounds(0) >= 0 && bounds(bounds.size() - 1) <= last,
          "the bounds are outside the data");
  for (std::size_t k = 0; k + 1 < bounds.size(); ++k)
    require(bounds(k) <= bounds(k + 1), "bounds must not decrease");
}

// Arrays come from NumPy, which asks for huge pages: kernels that stream large arrays need them.
template <class T, class... Sizes>
nb::object empty_array(Sizes... sizes) {
  constexpr char kind = std::is_same_v<T, bool>       ? 'b'
                        : std::is_floating_point_v<T> ? 'f'
                        : std::is_signed_v<T>         ? 'i'
                                                      : 'u';
  constexpr char type[] = {kind, '0' + sizeof(T), '\0'};  // as NumPy names types: f4, i8, b1
  return nb::module_::import_("numpy").attr("empty")(nb::make_tuple(sizes...), type);
}

template <class T, class... Sizes>
Array<T, sizeof...(Sizes)> empty(Sizes... sizes) {
  return nb::cast<Array<T, sizeof...(Sizes)>>(empty_array<T>(sizes...));
}

template <class T>
Vector<T> array_of(std::span<const T> values) {
  auto out = empty<T>(values.size());
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

// An array to refer to later. All but read-only arrays of NumPy are copied, because nothing tells
// when their checked content changes.
template <class T>
Vector<const T> kept(const Vector<const T>& array) {
  const nb::object given = nb::cast(array);
  if (nb::hasattr(given, "flags") && !nb::cast<bool>(given.attr("flags").attr("writeable")))
    return array;
  const auto own = array_of(std::span<const T>(array.data(), array.size()));
  return nb::cast<Vector<const T>>(nb::cast(own));
}

// What a pickle kept, or a TypeError.
template <class T>
T from_state(const nb::handle& kept) {
  T value;
  if (!nb::try_cast<T>(kept, value)) throw nb::type_error("a part of the state has another type");
  return value;
}

// Calls work(begin, end) on slices of [begin, end) without the interpreter lock. Between slices
// Ctrl-C is heard.
template <class Work>
void in_slices(int64_t begin, int64_t end, int64_t step, Work&& work) {
  for (; begin < end; begin += step) {
    {
      nb::gil_scoped_release release;
      work(begin, std::min(end, begin + step));
    }
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
}

void define_search(nb::module_& m);
void define_queries(nb::module_& m);
void define_similarity(nb::module_& m);
void define_layout(nb::module_& m);
void define_mesh(nb::module_& m);
void define_place(nb::module_& m);

}  // namespace ctsne_python
