// Charges to a mesh and potentials from it, with B-splines: value and analytic gradient.
#pragma once

#include <math.h>

#include "../kernels.hpp"
#include "simd.hpp"

namespace ctsne::CTSNE_ISA {

static_assert(kSplineOrder <= 8, "a row of spline weights must fit eight lanes");

// Weights of the kSplineOrder nodes around a position, and their derivatives, padded with zeros.
struct Spline {
  int64_t first;
  float weight[8];
  float slope[8];
};

static inline void spline_at(float position, int64_t nodes, Spline& s) {
  const float floor_position = floorf(position);
  const float f = position - floor_position;
  s.first = static_cast<int64_t>(floor_position) - (kSplineOrder / 2 - 1);
  // The plan leaves room around the map; this keeps even a wild position inside the array.
  if (!(s.first >= 0)) s.first = 0;
  if (s.first > nodes - kSplineOrder) s.first = nodes - kSplineOrder;
  for (int k = 0; k < 8; ++k) s.weight[k] = s.slope[k] = 0.0f;
  float* w = s.weight;
  w[0] = 1.0f - f;
  w[1] = f;
  for (int order = 3; order <= kSplineOrder; ++order) {
    if (order == kSplineOrder) {
      s.slope[0] = -w[0];
      for (int k = 1; k < kSplineOrder; ++k) s.slope[k] = w[k - 1] - w[k];
    }
    const float scale = 1.0f / static_cast<float>(order - 1);
    w[order - 1] = scale * f * w[order - 2];
    for (int k = order - 2; k > 0; --k) {
      const float left = f + static_cast<float>(order - 1 - k), right = static_cast<float>(k + 1) - f;
      w[k] = scale * (left * w[k - 1] + right * w[k]);
    }
    w[0] = scale * (1.0f - f) * w[0];
  }
}

static inline Floats8 load8(const float* from) { return *reinterpret_cast<const Floats8Anywhere*>(from); }

static inline float dot8(Floats8 a, const float* b) {
  const Floats8 product = a * load8(b);
  return ((product[0] + product[4]) + (product[1] + product[5])) +
         ((product[2] + product[6]) + (product[3] + product[7]));
}

template <int D>
static inline void splines_at(const MeshShape& shape, const float* y, Spline* s) {
  const float scale = 1.0f / shape.spacing;
  for (int a = 0; a < D; ++a) spline_at((y[a] - shape.origin[a]) * scale, shape.nodes[a], s[a]);
}

template <int D>
static void spread_in(const MeshShape& shape, const float* y, const float* charge, const int32_t* points,
                      int64_t count, int64_t first, int64_t last, float* grid) {
  Spline s[3];
  for (int64_t p = 0; p < count; ++p) {
    const int64_t i = points[p];
    splines_at<D>(shape, y + i * D, s);
    const float amount = charge ? charge[i] : 1.0f;
    if (D == 1) {
      for (int k = 0; k < kSplineOrder; ++k)
        if (s[0].first + k >= first && s[0].first + k < last)
          grid[s[0].first + k] += amount * s[0].weight[k];
      continue;
    }
    const Spline& row = s[D - 1];
    const Floats8 weights = load8(row.weight) * amount;
    for (int k = 0; k < kSplineOrder; ++k) {
      const int64_t plane = s[0].first + k;
      if (plane < first || plane >= last) continue;
      for (int m = 0; m < (D == 3 ? kSplineOrder : 1); ++m) {
        float scale = s[0].weight[k];
        float* at = grid + plane * shape.stride[0] + row.first;
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

static void spread(const MeshShape& shape, const float* y, const float* charge, const int32_t* points,
                   int64_t count, int64_t first, int64_t last, float* grid) {
  auto* add = shape.dims == 1 ? spread_in<1> : shape.dims == 2 ? spread_in<2> : spread_in<3>;
  add(shape, y, charge, points, count, first, last, grid);
}

template <int D>
static void gather_in(const MeshShape& shape, const float* grid, const float* y, int64_t begin,
                      int64_t end, double offset, float coefficient, const float* target_charge,
                      double* potential, float* force) {
  Spline s[3];
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
    potential[i] += static_cast<double>(weight) * (static_cast<double>(dot8(value, row.weight)) + offset);
    const float scale = -0.5f * weight / shape.spacing;
    if (D > 1) force[i * D] += scale * dot8(slope0, row.weight);
    if (D == 3) force[i * D + 1] += scale * dot8(slope1, row.weight);
    force[i * D + D - 1] += scale * dot8(value, row.slope);
  }
}

static void gather(const MeshShape& shape, const float* grid, const float* y, int64_t begin, int64_t end,
                   double offset, float coefficient, const float* target_charge, double* potential,
                   float* force) {
  auto* read = shape.dims == 1 ? gather_in<1> : shape.dims == 2 ? gather_in<2> : gather_in<3>;
  read(shape, grid, y, begin, end, offset, coefficient, target_charge, potential, force);
}

}  // namespace ctsne::CTSNE_ISA
