// What the files that know Python share: array types and checks of arguments.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace nb = nanobind;

namespace ctsne_python {

using std::int32_t;
using std::int64_t;

template <class T, int D>
using Array = nb::ndarray<T, nb::ndim<D>, nb::c_contig, nb::device::cpu>;
template <class T>
using Vector = Array<T, 1>;
template <class T>
using Matrix = Array<T, 2>;
template <class T>
using NumpyVector = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class A>
auto span_of(const A& array) {
  return std::span(array.data(), array.size());
}

inline void require(bool holds, const char* what) {
  if (!holds) throw nb::value_error(what);
}

template <class T>
const T* data_or_null(const std::optional<Vector<T>>& array) {
  return array ? array->data() : nullptr;
}

template <class T>
NumpyVector<T> owned(std::size_t size, T** data) {
  *data = new T[size];
  nb::capsule owner(*data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return NumpyVector<T>(*data, {size}, owner);
}

// Stage 3, in a file of its own.
void define_layout(nb::module_& m);

}  // namespace ctsne_python
