// Between a fine mesh and a coarse one, exactly: a B-spline is a sum of narrower ones.
#pragma once

#include "loops/fft.hpp"
#include "loops/kernels.hpp"
#include "loops/simd.hpp"

namespace ctsne::CTSNE_ISA {

// Weights of the narrow splines in a wide one, the middle at kSplineReach: the coefficients of
// (1 + z + .. + z^(c-1))^order / c^(order-1), for splines c times as wide.
struct LayerTable {
  float weight[2 * kSplineReach + 1] = {};

  constexpr LayerTable() {
    double w[2 * kSplineReach + 1] = {1.0};
    for (int order = 0; order < kSplineOrder; ++order) {
      for (int64_t k = 2 * kSplineReach; k >= 0; --k) {
        double sum = 0;
        for (int64_t j = 0; j < kCoarser && j <= k; ++j) sum += w[k - j];
        w[k] = order + 1 < kSplineOrder ? sum / kCoarser : sum;
      }
    }
    for (int64_t k = 0; k <= 2 * kSplineReach; ++k) weight[k] = static_cast<float>(w[k]);
  }
};
static constexpr LayerTable kLayers;

// The fine nodes [first, last) under the spline of a coarse node, and its middle.
struct Under {
  int64_t middle, first, last;
  Under(int64_t coarse, int64_t fine) {
    middle = kCoarser * (coarse - kCoarseShift);
    first = middle - kSplineReach < 0 ? 0 : middle - kSplineReach;
    last = middle + kSplineReach + 1 < fine ? middle + kSplineReach + 1 : fine;
  }
  float weight(int64_t node) const { return kLayers.weight[node - middle + kSplineReach]; }
};

// The coarse nodes [first, last) whose splines cover a fine node.
struct Over {
  int64_t node, first, last;
  explicit Over(int64_t fine) {
    node = fine + kCoarser * kCoarseShift;  // counted from the first coarse node
    first = (node - kSplineReach + kCoarser - 1) / kCoarser;
    last = (node + kSplineReach) / kCoarser + 1;
  }
  float weight(int64_t coarse) const {
    return kLayers.weight[node - kCoarser * coarse + kSplineReach];
  }
};

// Scratch has room for kLanes rows of the fine mesh, and for its columns of kLanes values.
static void coarsen_rows(const MeshLayers& m, const float* fine, int64_t row, float* coarse,
                         float* scratch) {
  Floats* const columns = reinterpret_cast<Floats*>(scratch + kLanes * m.fine_width);
  for (int lane = 0; lane < kLanes; ++lane) {
    float* const to = scratch + lane * m.fine_width;
    const Under rows(row + lane, m.nodes[0]);
    for (int64_t c = 0; c < m.fine_width; c += kLanes) {
      Floats sum = {};
      for (int64_t r = rows.first; r < rows.last; ++r)
        sum += rows.weight(r) * load_as<Floats>(fine + r * m.fine_width + c);
      __builtin_memcpy(to + c, &sum, sizeof(sum));
    }
  }
  for (int64_t c = 0; c < m.fine_width; c += kLanes)
    load_columns(scratch + c, m.fine_width, columns + c);
  for (int64_t c = 0; c < m.coarse_width; c += kLanes) {
    Floats sums[kLanes] = {};
    for (int k = 0; k < kLanes; ++k) {
      const Under nodes(c + k, m.nodes[1]);
      for (int64_t node = nodes.first; node < nodes.last; ++node)
        sums[k] += nodes.weight(node) * columns[node];
    }
    store_columns(sums, coarse + row * m.coarse_width + c, m.coarse_width);
  }
}

static void lengthen_rows(const MeshLayers& m, const float* coarse, int64_t row, float* rows,
                          float* scratch) {
  Floats* const columns = reinterpret_cast<Floats*>(scratch);
  for (int64_t c = 0; c < m.coarse_width; c += kLanes)
    load_columns(coarse + row * m.coarse_width + c, m.coarse_width, columns + c);
  for (int64_t c = 0; c < m.fine_width; c += kLanes) {
    Floats sums[kLanes] = {};
    for (int k = 0; k < kLanes && c + k < m.nodes[1]; ++k) {
      const Over nodes(c + k);
      for (int64_t node = nodes.first; node < nodes.last; ++node)
        sums[k] += nodes.weight(node) * columns[node];
    }
    store_columns(sums, rows + row * m.fine_width + c, m.fine_width);
  }
}

static void add_rows(const MeshLayers& m, const float* rows, int64_t row, float* fine) {
  const Over over(row);
  for (int64_t c = 0; c < m.fine_width; c += kLanes) {
    Floats sum = load_as<Floats>(fine + row * m.fine_width + c);
    for (int64_t r = over.first; r < over.last; ++r)
      sum += over.weight(r) * load_as<Floats>(rows + r * m.fine_width + c);
    __builtin_memcpy(fine + row * m.fine_width + c, &sum, sizeof(sum));
  }
}

}  // namespace ctsne::CTSNE_ISA
