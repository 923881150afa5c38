// Spreads charges on a mesh and reads potentials from it with B-splines: value and gradient.
#pragma once

#include <math.h>

#include "loops/kernels.hpp"
#include "loops/simd.hpp"

namespace ctsne::CTSNE_ISA {

static_assert(kSplineOrder <= 8, "a row of spline weights must fit eight lanes");

// The weights of the nodes around a position, as polynomials of its place between two nodes: one
// lane per node, one row per power. Lanes past the order are zero.
struct SplineTable {
  alignas(32) float weight[kSplineOrder][8] = {};
  alignas(32) float slope[kSplineOrder - 1][8] = {};

  constexpr SplineTable() {
    // From order k - 1 to k: w_j <- ((f + k-1-j) w_{j-1} + (j+1 - f) w_j) / (k-1).
    double w[kSplineOrder][kSplineOrder] = {};  // [node][power]
    w[0][0] = 1;
    for (int order = 2; order <= kSplineOrder; ++order) {
      for (int j = order - 1; j >= 0; --j) {
        double next[kSplineOrder] = {};
        for (int power = 0; power < order; ++power) {
          const double left = j > 0 ? w[j - 1][power] : 0.0, here = w[j][power];
          next[power] += ((order - 1 - j) * left + (j + 1) * here) / (order - 1);
          if (power + 1 < kSplineOrder) next[power + 1] += (left - here) / (order - 1);
        }
        for (int power = 0; power < kSplineOrder; ++power) w[j][power] = next[power];
      }
    }
    for (int j = 0; j < kSplineOrder; ++j) {
      for (int power = 0; power < kSplineOrder; ++power)
        weight[power][j] = static_cast<float>(w[j][power]);
      for (int power = 1; power < kSplineOrder; ++power)
        slope[power - 1][j] = static_cast<float>(power * w[j][power]);
    }
  }
};
static constexpr SplineTable kSpline;

// Weights of the kSplineOrder nodes around a position and their derivatives, in eight lanes.
struct Spline {
  int64_t first;
  Floats8 weight;
  Floats8 slope;
};

static inline Floats8 load8(const float* from) {
  return *reinterpret_cast<const Floats8Anywhere*>(from);
}

template <int kPowers>
static inline Floats8 polynomial(const float (&table)[kPowers][8], float f) {
  Floats8 sum = load8(table[kPowers - 1]);
  for (int power = kPowers - 2; power >= 0; --power) sum = sum * f + load8(table[power]);
  return sum;
}

static inline Spline spline_at(float position, int64_t nodes) {
  const float floor_position = floorf(position);
  const float f = position - floor_position;
  int64_t first = whole(floor_position) - (kSplineOrder / 2 - 1);
  // The plan leaves room around the map; the limits keep any position inside the array.
  first = first < 0 ? 0 : first > nodes - kSplineOrder ? nodes - kSplineOrder : first;
  return {first, polynomial(kSpline.weight, f), polynomial(kSpline.slope, f)};
}

template <int D>
static inline void splines_at(const MeshShape& shape, const float* y, Spline* s) {
  const float scale = 1.0f / shape.spacing;
  for (int a = 0; a < D; ++a) s[a] = spline_at((y[a] - shape.origin[a]) * scale, shape.nodes[a]);
}

template <int D>
static void spread_in(const MeshShape& shape, const float* y, const float* charge,
                      const int32_t* points, int64_t count, float* grid) {
  Spline s[3];
  for (int64_t p = 0; p < count; ++p) {
    const int64_t i = points[p];
    splines_at<D>(shape, y + i * D, s);
    const float amount = charge ? charge[i] : 1.0f;
    if (D == 1) {
      for (int k = 0; k < kSplineOrder; ++k) grid[s[0].first + k] += amount * s[0].weight[k];
      continue;
    }
    const Spline& row = s[D - 1];
    const Floats8 weights = row.weight * amount;
    for (int k = 0; k < kSplineOrder; ++k) {
      for (int m = 0; m < (D == 3 ? kSplineOrder : 1); ++m) {
        float scale = s[0].weight[k];
        float* at = grid + (s[0].first + k) * shape.stride[0] + row.first;
        if (D == 3) {
          at += (s[1].first + m) * shape.stride[1];
          scale *= s[1].weight[m];
        }
        Floats8Anywhere* target = reinterpret_cast<Floats8Anywhere*>(at);
        *target = load8(at) + weights * scale;
      }
    }
  }
}

static void spread(const MeshShape& shape, const float* y, const float* charge,
                   const int32_t* points, int64_t count, float* grid) {
  auto* add = shape.dims == 1 ? spread_in<1> : shape.dims == 2 ? spread_in<2> : spread_in<3>;
  add(shape, y, charge, points, count, grid);
}

template <int D>
static double gather_in(const MeshShape& shape, const float* grid, const float* y, int64_t begin,
                        int64_t end, double offset, float coefficient, const float* target_charge,
                        float* force) {
  Spline s[3];
  double potential = 0;
  for (int64_t i = begin; i < end; ++i) {
    splines_at<D>(shape, y + i * D, s);
    const Spline& row = s[D - 1];
    Floats8 value = {}, slope0 = {}, slope1 = {};
    for (int k = 0; k < (D > 1 ? kSplineOrder : 1); ++k) {
      for (int m = 0; m < (D == 3 ? kSplineOrder : 1); ++m) {
        const float* at = grid + row.first;
        if (D > 1) at += (s[0].first + k) * shape.stride[0];
        if (D == 3) at += (s[1].first + m) * shape.stride[1];
        const Floats8 nodes = load8(at);
        const float w0 = D > 1 ? s[0].weight[k] : 1.0f, w1 = D == 3 ? s[1].weight[m] : 1.0f;
        value += nodes * (w0 * w1);
        if (D > 1) slope0 += nodes * (s[0].slope[k] * w1);
        if (D == 3) slope1 += nodes * (w0 * s[1].slope[m]);
      }
    }
    const float weight = coefficient * (target_charge ? target_charge[i] : 1.0f);
    float sums[3];  // value, slope along the first axis and along the last
    sums8(value * row.weight, slope0 * row.weight, value * row.slope, sums);
    potential += static_cast<double>(weight) * (static_cast<double>(sums[0]) + offset);
    const float scale = -0.5f * weight / shape.spacing;
    if (D > 1) force[i * D] += scale * sums[1];
    if (D == 3) force[i * D + 1] += scale * sum8(slope1 * row.weight);
    force[i * D + D - 1] += scale * sums[2];
  }
  return potential;
}

static double gather(const MeshShape& shape, const float* grid, const float* y, int64_t begin,
                     int64_t end, double offset, float coefficient, const float* target_charge,
                     float* force) {
  auto* read = shape.dims == 1 ? gather_in<1> : shape.dims == 2 ? gather_in<2> : gather_in<3>;
  return read(shape, grid, y, begin, end, offset, coefficient, target_charge, force);
}

}  // namespace ctsne::CTSNE_ISA
