// Places a new point in a finished map: Newton's method on its own loss, with safeguards.
//
// The loss of a position is the attraction to the neighbours, -sum_j p_j log K(d_j), and the
// repulsion, the potential of the map. Both are smooth functions of one to three coordinates, so
// value, gradient and second derivatives cost little more than the gradient alone, and a handful of
// steps finds the minimum.
#pragma once

#include <math.h>

#include "loops/attraction.hpp"
#include "loops/kernels.hpp"
#include "loops/mesh.hpp"
#include "loops/repulsion.hpp"
#include "loops/simd.hpp"

namespace ctsne::CTSNE_ISA {

// Second derivatives of the spline's weights, as kSpline holds the weights.
struct CurveTable {
  alignas(32) float curve[kSplineOrder - 2][8] = {};

  constexpr CurveTable() {
    for (int power = 1; power < kSplineOrder - 1; ++power)
      for (int j = 0; j < 8; ++j)
        curve[power - 1][j] = static_cast<float>(power) * kSpline.slope[power][j];
  }
};
static constexpr CurveTable kCurve;

// How often the shift is raised to make second derivatives positive definite.
constexpr int kMostShifts = 200;

// A function of a position up to second order; the second derivatives row by row, from the
// diagonal on.
template <int D>
struct Local {
  static constexpr int kSecond = D * (D + 1) / 2;
  double value, gradient[D], second[kSecond];
};

// Adds the spline of a grid, times a factor.
template <int D>
static inline void add_grid(const MeshShape& shape, const float* grid, double offset, double factor,
                            const float* at, Local<D>& sum) {
  Spline s[D];
  Floats8 curve[D];
  for (int a = 0; a < D; ++a) {
    const float position = (at[a] - shape.origin[a]) / shape.spacing;
    s[a] = spline_at(position, shape.nodes[a]);
    curve[a] = polynomial(kCurve.curve, position - floorf(position));
  }
  // Along all axes but the last: value, slopes and curvatures.
  Floats8 value = {}, slope0 = {}, slope1 = {}, curve00 = {}, curve01 = {}, curve11 = {};
  for (int k = 0; k < (D > 1 ? kSplineOrder : 1); ++k) {
    for (int m = 0; m < (D == 3 ? kSplineOrder : 1); ++m) {
      const float* from = grid + s[D - 1].first;
      if (D > 1) from += (s[0].first + k) * shape.stride[0];
      if (D == 3) from += (s[1].first + m) * shape.stride[1];
      const Floats8 nodes = load8(from);
      const float w0 = D > 1 ? s[0].weight[k] : 1.0f, w1 = D == 3 ? s[1].weight[m] : 1.0f;
      value += nodes * (w0 * w1);
      if (D > 1) slope0 += nodes * (s[0].slope[k] * w1);
      if (D > 1) curve00 += nodes * (curve[0][k] * w1);
      if (D == 3) slope1 += nodes * (w0 * s[1].slope[m]);
      if (D == 3) curve01 += nodes * (s[0].slope[k] * s[1].slope[m]);
      if (D == 3) curve11 += nodes * (w0 * curve[1][m]);
    }
  }
  const Floats8 weight = s[D - 1].weight, slope = s[D - 1].slope, curved = curve[D - 1];
  const double first = factor / static_cast<double>(shape.spacing),
               second = first / static_cast<double>(shape.spacing);
  const auto read = [](Floats8 a) { return static_cast<double>(sum8(a)); };
  sum.value += factor * (read(value * weight) + offset);
  sum.gradient[D - 1] += first * read(value * slope);
  sum.second[Local<D>::kSecond - 1] += second * read(value * curved);
  if constexpr (D > 1) {
    sum.gradient[0] += first * read(slope0 * weight);
    sum.second[0] += second * read(curve00 * weight);
    sum.second[D - 1] += second * read(slope0 * slope);
  }
  if constexpr (D == 3) {
    sum.gradient[1] += first * read(slope1 * weight);
    sum.second[1] += second * read(curve01 * weight);
    sum.second[3] += second * read(curve11 * weight);
    sum.second[4] += second * read(slope1 * slope);
  }
}

// Adds the potential of points [from, to), times a factor.
template <int D, bool kCauchy>
static inline void add_points(float dof, const float* const* axis, int64_t from, int64_t to,
                              double factor, const float* at, Local<D>& sum) {
  const float inverse_dof = 1.0f / dof, power = -0.5f * (dof + 1.0f);
  const float *x0 = axis[0], *x1 = axis[D > 1 ? 1 : 0], *x2 = axis[D > 2 ? 2 : 0];
  const float at0 = at[0], at1 = at[D > 1 ? 1 : 0], at2 = at[D > 2 ? 2 : 0];
  float value_sum = 0, steep_sum = 0, s0 = 0, s1 = 0, s2 = 0;
  float c00 = 0, c01 = 0, c02 = 0, c11 = 0, c12 = 0, c22 = 0;
#pragma omp simd reduction(+ : value_sum, steep_sum, s0, s1, s2, c00, c01, c02, c11, c12, c22)
  for (int64_t j = from; j < to; ++j) {
    const float d0 = at0 - x0[j];
    const float d1 = D > 1 ? at1 - x1[j] : 0.0f;
    const float d2 = D > 2 ? at2 - x2[j] : 0.0f;
    const float squared = d0 * d0 + d1 * d1 + d2 * d2;
    float value, steep;
    kernel_pair<kCauchy>(squared, inverse_dof, power, &value, &steep);
    const float steeper = steep / (1.0f + squared * inverse_dof);
    value_sum += value;
    steep_sum += steep;
    s0 += steep * d0;
    s1 += steep * d1;
    s2 += steep * d2;
    c00 += steeper * d0 * d0;
    c01 += steeper * d0 * d1;
    c02 += steeper * d0 * d2;
    c11 += steeper * d1 * d1;
    c12 += steeper * d1 * d2;
    c22 += steeper * d2 * d2;
  }
  // K' = -(dof+1)/dof K u d and K'' = -(dof+1)/dof (K u - (dof+3)/dof K u² d d), u = 1/(1+d²/dof).
  const double nu = static_cast<double>(dof), first = -factor * (nu + 1) / nu,
               second = -first * (nu + 3) / nu;
  const float slopes[3] = {s0, s1, s2}, curves[3][3] = {{c00, c01, c02}, {c01, c11, c12}, {c02, c12, c22}};
  sum.value += factor * static_cast<double>(value_sum);
  int entry = 0;
  for (int a = 0; a < D; ++a) {
    sum.gradient[a] += first * static_cast<double>(slopes[a]);
    for (int b = a; b < D; ++b, ++entry)
      sum.second[entry] += second * static_cast<double>(curves[a][b]) +
                           (a == b ? first * static_cast<double>(steep_sum) : 0.0);
  }
}

// Adds the attraction to the neighbours, times a factor. Returns the curvature of a quadratic bound.
template <int D>
static inline double add_attraction(float dof, const NearPlaces& near, double factor,
                                    const float* at, Local<D>& sum) {
  const float inverse_dof = 1.0f / dof;
  Floats8 logs = {}, pulls = {}, slopes[D] = {}, curves[Local<D>::kSecond] = {};
  for (int64_t j = 0; j < near.count; j += 8) {
    const Floats8 weight = load8(near.weight + j);
    Floats8 d[D];
    for (int a = 0; a < D; ++a) d[a] = at[a] - load8(near.axis[a] + j);
    const Floats8 wide = 1.0f + squared_length<D>(d) * inverse_dof;
    Floats8 log_wide;
    for (int k = 0; k < 8; ++k) log_wide[k] = log_from_one(wide[k]);
    const Floats8 inverse = 1.0f / wide, pull = weight * inverse, steep = pull * inverse;
    logs += weight * log_wide;
    pulls += pull;
    int entry = 0;
    for (int a = 0; a < D; ++a) {
      slopes[a] += pull * d[a];
      for (int b = a; b < D; ++b, ++entry) curves[entry] += steep * d[a] * d[b];
    }
  }
  const auto read = [](Floats8 a) { return static_cast<double>(sum8(a)); };
  const double nu = static_cast<double>(dof), first = factor * (nu + 1) / nu;
  const double bound = first * read(pulls);
  sum.value += 0.5 * factor * (nu + 1) * read(logs);
  int entry = 0;
  for (int a = 0; a < D; ++a) {
    sum.gradient[a] += first * read(slopes[a]);
    for (int b = a; b < D; ++b, ++entry)
      sum.second[entry] += (a == b ? bound : 0.0) - first * 2 / nu * read(curves[entry]);
  }
  return bound;
}

// The loss at a position, and the curvature of its attraction's quadratic bound.
template <int D, bool kCauchy>
static inline Local<D> loss_at(const PlaceFields& fields, const PlaceOptions& options,
                               const NewPoint& point, const NearPlaces& near, const float* at,
                               double* bound) {
  Local<D> field{};
  const MeshShape& shape = fields.shape;
  add_grid<D>(shape, fields.grids + point.grid * shape.size, fields.offset[point.grid],
              static_cast<double>(point.share), at, field);
  if (point.from < point.to)
    add_points<D, kCauchy>(options.tail.dof, fields.axis, point.from, point.to,
                           static_cast<double>(point.own), at, field);
  // The logarithm of the potential; continued by its tangent where the potential is less than usual.
  // Far from all points the logarithm would push as hard as any neighbour pulls.
  Local<D> loss{};
  const bool dense = field.value > options.usual;
  const double value = dense ? field.value : options.usual;
  loss.value = log(value) + (dense ? 0.0 : field.value / value - 1.0);
  int entry = 0;
  for (int a = 0; a < D; ++a) {
    loss.gradient[a] = field.gradient[a] / value;
    for (int b = a; b < D; ++b, ++entry)
      loss.second[entry] = field.second[entry] / value -
                           (dense ? loss.gradient[a] * field.gradient[b] / value : 0.0);
  }
  *bound = add_attraction<D>(options.tail.dof, near, options.pull, at, loss);
  return loss;
}

// Solves (second + shift) step = -gradient; returns whether the matrix is positive definite.
template <int D>
static inline bool newton_step(const Local<D>& loss, double shift, double* step) {
  double factor[D][D], right[D];
  for (int a = 0; a < D; ++a) {
    for (int b = 0; b <= a; ++b) {
      const int entry = b * D - b * (b - 1) / 2 + a - b;
      double rest = loss.second[entry] + (a == b ? shift : 0.0);
      for (int c = 0; c < b; ++c) rest -= factor[a][c] * factor[b][c];
      if (a == b && !(rest > 0)) return false;
      factor[a][b] = a == b ? sqrt(rest) : rest / factor[b][b];
    }
    right[a] = -loss.gradient[a];
    for (int c = 0; c < a; ++c) right[a] -= factor[a][c] * right[c];
    right[a] /= factor[a][a];
  }
  for (int a = D - 1; a >= 0; --a) {
    step[a] = right[a];
    for (int c = a + 1; c < D; ++c) step[a] -= factor[c][a] * step[c];
    step[a] /= factor[a][a];
  }
  return true;
}

template <int D, bool kCauchy>
static int32_t place_in(const PlaceFields& fields, const PlaceOptions& options,
                        const NewPoint& point, const NearPlaces& near, float* at) {
  double bound = 0, tried_bound = 0, shift = 0;
  Local<D> here = loss_at<D, kCauchy>(fields, options, point, near, at, &bound);
  int32_t count = 0;
  while (count < options.steps) {
    ++count;
    double step[D], length = 0;
    const double least = bound > 1e-12 ? bound : 1e-12;
    int tries = 0;
    while (!newton_step<D>(here, shift, step) && ++tries < kMostShifts)
      shift = shift * 4 > least / 16 ? shift * 4 : least / 16;
    if (tries == kMostShifts) break;  // second derivatives are not finite
    for (int a = 0; a < D; ++a) length += step[a] * step[a];
    length = sqrt(length);
    const double shrink = length > options.longest ? options.longest / length : 1.0;
    float there[D];
    for (int a = 0; a < D; ++a) {
      there[a] = at[a] + static_cast<float>(shrink * step[a]);
      there[a] = there[a] < options.low[a] ? options.low[a] : there[a];
      there[a] = there[a] > options.high[a] ? options.high[a] : there[a];
    }
    const Local<D> tried = loss_at<D, kCauchy>(fields, options, point, near, there, &tried_bound);
    // Rounding errors of a single-precision potential are no reason to refuse a step.
    if (!(tried.value <= here.value + 1e-6 * (fabs(here.value) + 1))) {
      if (length < options.enough) break;
      shift = shift * 4 > least / 4 ? shift * 4 : least / 4;
      continue;
    }
    here = tried, bound = tried_bound;
    for (int a = 0; a < D; ++a) at[a] = there[a];
    if (length < options.enough) break;
    shift = shift > least / 64 ? shift / 4 : 0.0;
  }
  return count;
}

static int32_t place(const PlaceFields& fields, const PlaceOptions& options, const NewPoint& point,
                     const NearPlaces& near, float* at) {
  const bool cauchy = options.tail.dof == 1.0f;
  auto* in = options.tail.dims == 1   ? (cauchy ? place_in<1, true> : place_in<1, false>)
             : options.tail.dims == 2 ? (cauchy ? place_in<2, true> : place_in<2, false>)
                                      : (cauchy ? place_in<3, true> : place_in<3, false>);
  return in(fields, options, point, near, at);
}

// Multiplies `count` rows by a matrix, all sums in the order of the columns: bits of a row do not
// depend on the others.
static void project(const double* rows, int64_t count, int64_t columns, const double* matrix,
                    int64_t width, double* out) {
  constexpr int kRows = 4;
  for (int64_t first = 0; first < count; first += kRows) {
    for (int64_t begin = 0; begin < width; begin += kLanes) {
      const int64_t lanes = width - begin < kLanes ? width - begin : kLanes;
      double sums[kRows][kLanes] = {};
      const double* from[kRows];
      for (int r = 0; r < kRows; ++r)  // the last block repeats its last row
        from[r] = rows + (first + r < count ? first + r : count - 1) * columns;
      for (int64_t c = 0; c < columns; ++c) {
        const double* weights = matrix + c * width + begin;
        double padded[kLanes] = {};
        for (int64_t l = 0; l < lanes; ++l) padded[l] = weights[l];
        for (int r = 0; r < kRows; ++r)
          for (int l = 0; l < kLanes; ++l) sums[r][l] += from[r][c] * padded[l];
      }
      for (int r = 0; r < kRows && first + r < count; ++r)
        for (int64_t l = 0; l < lanes; ++l) out[(first + r) * width + begin + l] = sums[r][l];
    }
  }
}

}  // namespace ctsne::CTSNE_ISA
