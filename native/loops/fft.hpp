// The convolution of a plane mesh with the kernel, by Fourier transforms of many rows or columns at
// once: one per lane, with real and imaginary parts in separate vectors.
//
// A mesh that must not wrap around is doubled with zeros. Of n values followed by n zeros, the even
// frequencies are the transform of the values, and the odd ones that of the values times
// exp(-i pi j/n): two transforms of length n that never read a zero. The inverse works the same
// way.
#pragma once

#include <utility>

#include "loops/kernels.hpp"
#include "loops/simd.hpp"

namespace ctsne::CTSNE_ISA {

struct Complex {
  Floats re, im;
};

// Multiplication by a twiddle factor, and by its conjugate.
static inline Complex turn(Complex a, const float* w) {
  return {a.re * w[0] - a.im * w[1], a.re * w[1] + a.im * w[0]};
}
static inline Complex turn_back(Complex a, const float* w) {
  return {a.re * w[0] + a.im * w[1], a.im * w[0] - a.re * w[1]};
}
static inline Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
static inline Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
static inline Complex operator*(Complex a, float b) { return {a.re * b, a.im * b}; }
static inline Complex times_i(Complex a) { return {-a.im, a.re}; }

template <int R>
static inline void butterfly(Complex* a);

template <>
inline void butterfly<2>(Complex* a) {
  const Complex b = a[1];
  a[1] = a[0] - b, a[0] = a[0] + b;
}

template <>
inline void butterfly<3>(Complex* a) {
  const Complex sum = a[1] + a[2], side = times_i((a[2] - a[1]) * 0.866025403784438647f);
  const Complex middle = a[0] - sum * 0.5f;
  a[0] = a[0] + sum, a[1] = middle + side, a[2] = middle - side;
}

template <>
inline void butterfly<4>(Complex* a) {
  const Complex s02 = a[0] + a[2], d02 = a[0] - a[2], s13 = a[1] + a[3], d13 = times_i(a[3] - a[1]);
  a[0] = s02 + s13, a[1] = d02 + d13, a[2] = s02 - s13, a[3] = d02 - d13;
}

template <>
inline void butterfly<5>(Complex* a) {
  constexpr float c1 = 0.309016994374947424f, c2 = -0.809016994374947424f;
  constexpr float s1 = 0.951056516295153572f, s2 = 0.587785252292473129f;
  const Complex s14 = a[1] + a[4], d14 = a[4] - a[1], s23 = a[2] + a[3], d23 = a[3] - a[2];
  const Complex m1 = a[0] + s14 * c1 + s23 * c2, m2 = a[0] + s14 * c2 + s23 * c1;
  const Complex t1 = times_i(d14 * s1 + d23 * s2), t2 = times_i(d14 * s2 - d23 * s1);
  a[0] = a[0] + s14 + s23;
  a[1] = m1 + t1, a[2] = m2 + t2, a[3] = m2 - t2, a[4] = m1 - t1;
}

// One pass of Stockham's transform: R parts of x, m * s apart, to runs of y.
template <int R>
static const float* pass(int64_t m, int64_t s, const float* twiddle, const Complex* x, Complex* y) {
  for (int64_t p = 0; p < m; ++p, twiddle += 2 * (R - 1)) {
    for (int64_t q = 0; q < s; ++q) {
      Complex a[R];
      for (int r = 0; r < R; ++r) a[r] = x[q + s * (p + m * r)];
      butterfly<R>(a);
      y[q + s * R * p] = a[0];
      for (int r = 1; r < R; ++r) y[q + s * (R * p + r)] = turn(a[r], twiddle + 2 * (r - 1));
    }
  }
  return twiddle;
}

// Transforms n elements of x, with y as scratch; returns the one that holds the result.
static Complex* transform(const FftPlan& plan, Complex* x, Complex* y) {
  const float* twiddle = plan.twiddles;
  int64_t length = plan.n, stride = 1;
  for (int k = 0; k < plan.passes; ++k) {
    const int radix = plan.radix[k];
    length /= radix;
    twiddle = radix == 4   ? pass<4>(length, stride, twiddle, x, y)
              : radix == 2 ? pass<2>(length, stride, twiddle, x, y)
              : radix == 3 ? pass<3>(length, stride, twiddle, x, y)
                           : pass<5>(length, stride, twiddle, x, y);
    stride *= radix;
    Complex* const last = x;
    x = y, y = last;
  }
  return x;
}

// Exchanges blocks of kSpan lanes between two rows, across the diagonal.
template <int kSpan, bool kHigh, int... kLane>
static inline Floats exchanged(Floats a, Floats b, std::integer_sequence<int, kLane...>) {
  return CTSNE_SHUFFLE(
      a, b,
      ((kLane & kSpan) ? kLane + kLanes - (kHigh ? 0 : kSpan) : kLane + (kHigh ? kSpan : 0))...);
}

// Transposes kLanes rows of kLanes values.
template <int kSpan = 1>
static inline void transpose(Floats* v) {
  if constexpr (kSpan < kLanes) {
    for (int i = 0; i < kLanes; ++i) {
      if (i & kSpan) continue;
      const Floats a = v[i], b = v[i + kSpan];
      v[i] = exchanged<kSpan, false>(a, b, std::make_integer_sequence<int, kLanes>());
      v[i + kSpan] = exchanged<kSpan, true>(a, b, std::make_integer_sequence<int, kLanes>());
    }
    transpose<2 * kSpan>(v);
  }
}

// Reads kLanes columns of kLanes rows, `stride` apart.
static inline void load_columns(const float* from, int64_t stride, Floats* v) {
  for (int lane = 0; lane < kLanes; ++lane) v[lane] = load_as<Floats>(from + lane * stride);
  transpose(v);
}
static inline void store_columns(Floats* v, float* to, int64_t stride) {
  transpose(v);
  for (int lane = 0; lane < kLanes; ++lane)
    __builtin_memcpy(to + lane * stride, &v[lane], sizeof(Floats));
}

// Room for a band of rows or a block of columns.
struct Scratch {
  Complex *even, *odd, *spare, *first, *second;
  Scratch(const MeshTransform& mesh, float* scratch) {
    const int64_t room = mesh.longest;
    even = reinterpret_cast<Complex*>(scratch);
    odd = even + room, spare = odd + room, first = spare + room, second = first + room;
  }
};

// Two real rows make one complex row; symmetry separates their transforms, `first` and `second`.
static void transform_rows(const MeshTransform& mesh, const float* grid, int64_t row,
                           float* spectrum, float* scratch) {
  const Scratch s(mesh, scratch);
  const int64_t n = mesh.rows.n, width = mesh.width, evens = n / 2 + 1;
  for (int64_t c = 0; c < n; c += kLanes) {
    Floats re[kLanes], im[kLanes];
    load_columns(grid + row * width + c, width, re);
    load_columns(grid + (row + kLanes) * width + c, width, im);
    for (int k = 0; k < kLanes; ++k) s.even[c + k] = {re[k], im[k]};
  }
  for (int64_t j = 0; mesh.doubled && j < n; ++j)
    s.odd[j] = turn(s.even[j], mesh.rows.half + 2 * j);
  const auto part = [&](Complex a, Complex mirror, int64_t column) {
    s.first[column] = {a.re + mirror.re, a.im - mirror.im};
    s.second[column] = {a.im + mirror.im, mirror.re - a.re};
  };
  Complex* const even = transform(mesh.rows, s.even, s.spare);
  for (int64_t k = 0; k < evens; ++k) part(even[k], even[k == 0 ? 0 : n - k], k);
  if (mesh.doubled) {
    Complex* const odd = transform(mesh.rows, s.odd, even == s.even ? s.spare : s.even);
    for (int64_t k = 0; 2 * k + 1 <= n; ++k) part(odd[k], odd[n - 1 - k], evens + k);
  }
  for (int64_t c = mesh.frequencies; c % kLanes != 0; ++c) s.first[c] = s.second[c] = Complex{};
  for (int64_t c = 0; c < mesh.frequencies; c += kLanes) {
    for (int which = 0; which < 2; ++which) {
      const Complex* from = (which ? s.second : s.first) + c;
      float* to = spectrum + 2 * width * (row + which * kLanes) + c;
      Floats re[kLanes], im[kLanes];
      for (int k = 0; k < kLanes; ++k) re[k] = from[k].re, im[k] = from[k].im;
      store_columns(re, to, 2 * width);
      store_columns(im, to + width, 2 * width);
    }
  }
}

// The inverse: a transform with real and imaginary parts exchanged before and after it.
static void restore_rows(const MeshTransform& mesh, const float* spectrum, int64_t row, float* grid,
                         float* scratch) {
  const Scratch s(mesh, scratch);
  const int64_t n = mesh.rows.n, width = mesh.width, evens = n / 2 + 1;
  for (int64_t c = 0; c < mesh.frequencies; c += kLanes) {
    for (int which = 0; which < 2; ++which) {
      const float* from = spectrum + 2 * width * (row + which * kLanes) + c;
      Complex* to = (which ? s.second : s.first) + c;
      Floats re[kLanes], im[kLanes];
      load_columns(from, 2 * width, re);
      load_columns(from + width, 2 * width, im);
      for (int k = 0; k < kLanes; ++k) to[k] = {re[k], im[k]};
    }
  }
  const auto join = [&](int64_t column, Complex* at, Complex* mirror) {
    const Complex a = s.first[column], b = s.second[column];
    *mirror = {b.re - a.im, a.re + b.im};
    *at = {a.im + b.re, a.re - b.im};
  };
  for (int64_t k = 0; k < evens; ++k) join(k, s.even + k, s.even + (k == 0 ? 0 : n - k));
  Complex* const even = transform(mesh.rows, s.even, s.spare);
  Complex* odd = nullptr;
  if (mesh.doubled) {
    for (int64_t k = 0; 2 * k + 1 <= n; ++k) join(evens + k, s.odd + k, s.odd + (n - 1 - k));
    odd = transform(mesh.rows, s.odd, even == s.even ? s.spare : s.even);
  }
  for (int64_t c = 0; c < n; c += kLanes) {
    Floats re[kLanes], im[kLanes];
    for (int k = 0; k < kLanes; ++k) {
      const int64_t j = c + k;
      re[k] = im[k] = Floats{};
      if (j >= n) continue;  // past the nodes, where potentials are read with weight zero
      re[k] = even[j].im, im[k] = even[j].re;
      if (!mesh.doubled) continue;
      const Complex twisted = turn_back({odd[j].im, odd[j].re}, mesh.rows.half + 2 * j);
      re[k] += twisted.re, im[k] += twisted.im;
    }
    store_columns(re, grid + row * width + c, width);
    store_columns(im, grid + (row + kLanes) * width + c, width);
  }
}

// Forward, times the kernel, and back, for kLanes columns of the spectrum.
static void convolve_columns(const MeshTransform& mesh, const float* kernel, int64_t column,
                             float* spectrum, float* scratch) {
  const Scratch s(mesh, scratch);
  const int64_t n = mesh.columns.n, width = mesh.width;
  for (int64_t r = 0; r < n; ++r) {
    const float* from = spectrum + 2 * width * r + column;
    s.even[r] = {load_as<Floats>(from), load_as<Floats>(from + width)};
    if (mesh.doubled) s.odd[r] = turn(s.even[r], mesh.columns.half + 2 * r);
  }
  const auto filter = [&](Complex* x, Complex* y, int64_t odd) {
    Complex* const z = transform(mesh.columns, x, y);
    for (int64_t k = 0; k < n; ++k) {
      const int64_t twice = 2 * k + odd <= n ? 2 * k + odd : 2 * (n - k) - odd;
      const int64_t frequency = mesh.doubled ? twice : twice / 2;
      const Floats factor = load_as<Floats>(kernel + frequency * width + column);
      z[k] = {z[k].im * factor, z[k].re * factor};
    }
    return transform(mesh.columns, z, z == x ? y : x);
  };
  const Complex* const even = filter(s.even, s.spare, 0);
  const Complex* const odd =
      mesh.doubled ? filter(s.odd, even == s.even ? s.spare : s.even, 1) : nullptr;
  for (int64_t r = 0; r < n; ++r) {
    float* to = spectrum + 2 * width * r + column;
    Floats re = even[r].im, im = even[r].re;
    if (mesh.doubled) {
      const Complex twisted = turn_back({odd[r].im, odd[r].re}, mesh.columns.half + 2 * r);
      re += twisted.re, im += twisted.im;
    }
    __builtin_memcpy(to, &re, sizeof(Floats));
    __builtin_memcpy(to + width, &im, sizeof(Floats));
  }
}

}  // namespace ctsne::CTSNE_ISA
