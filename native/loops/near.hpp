// Repulsion between near points: the part of the kernel that is zero beyond a distance.
#pragma once

#include "loops/kernels.hpp"
#include "loops/simd.hpp"

namespace ctsne::CTSNE_ISA {

// Candidates of one cell, in whole vectors.
struct NearTile {
  static constexpr int64_t kMost = 1024;

  alignas(64) float x[kMost + kLanes], y[kMost + kLanes], charge[kMost + kLanes];
  alignas(64) int32_t group[kMost + kLanes];
  int64_t count = 0;

  // Takes as many of the points [from, to) as fit, and returns how many.
  int64_t take(const NearPoints& p, int64_t from, int64_t to) {
    const int64_t begin = count, taken = to - from < kMost - begin ? to - from : kMost - begin;
    // Copies whole vectors; the next points overwrite any excess.
    for (int64_t k = 0; k < taken; k += kLanes) {
      const Floats x_part = load_as<Floats>(p.x + from + k),
                   y_part = load_as<Floats>(p.y + from + k);
      const Floats charge_part = load_as<Floats>(p.charge + from + k);
      const Ints group_part = load_as<Ints>(p.group + from + k);
      __builtin_memcpy(x + begin + k, &x_part, sizeof(Floats));
      __builtin_memcpy(y + begin + k, &y_part, sizeof(Floats));
      __builtin_memcpy(charge + begin + k, &charge_part, sizeof(Floats));
      __builtin_memcpy(group + begin + k, &group_part, sizeof(Ints));
    }
    count = begin + taken;
    return taken;
  }
};

// With u = d²/R² the near part of K = 1/(1+d²) is N = K q⁴, q = (1 - u) / (1 + 1/R²). q is one at
// the pole of K, d² = -1, so the rest of K is a polynomial inside the reach R: smooth enough for a
// mesh of spacing 0.4 R.
static double repel_tile(const NearPoints& p, NearTile* tile, float reach, const float* same,
                         int64_t begin, int64_t end, float* force) {
  for (int64_t k = tile->count; k % kLanes != 0; ++k)  // beyond any reach
    tile->x[k] = 1e15f, tile->y[k] = tile->charge[k] = 0.0f;
  const float reach2 = reach * reach, scale = reach2 / (reach2 + 1.0f),
              fall = 1.0f / (reach2 + 1.0f);
  double potential = 0;
  for (int64_t i = begin; i < end; ++i) {
    const float at0 = p.x[i], at1 = p.y[i], charge = p.charge[i];
    const int32_t group = p.group[i];
    const Floats own = Floats{} + same[group];
    Floats value = {}, force0 = {}, force1 = {};
    for (int64_t j = 0; j < tile->count; j += kLanes) {
      const Floats d0 = at0 - load_as<Floats>(tile->x + j), d1 = at1 - load_as<Floats>(tile->y + j);
      const Floats d2 = d0 * d0 + d1 * d1;
      Floats q = scale - fall * d2;
      q = q > 0.0f ? q : Floats{};
      Floats weight = charge * load_as<Floats>(tile->charge + j);
      weight = weight < 1.0f ? weight : Floats{} + 1.0f;
      weight = load_as<Ints>(tile->group + j) == group ? own : weight;
      const Floats inverse = 1.0f / (1.0f + d2), steep = weight * inverse * (q * q * q);
      value += steep * q;
      const Floats push = steep * (q * inverse + 4.0f * fall);
      force0 += push * d0;
      force1 += push * d1;
    }
    float sums[3];
    sums8(folded(value), folded(force0), folded(force1), sums);
    potential += static_cast<double>(sums[0]);
    force[2 * p.point[i]] += sums[1];
    force[2 * p.point[i] + 1] += sums[2];
  }
  tile->count = 0;
  return potential;
}

static double repel_near(const NearPoints& p, float reach, const float* same, int64_t row,
                         float* force) {
  NearTile tile;
  double potential = 0;
  const int64_t low = row < kNearCells ? 0 : row - kNearCells;
  const int64_t high = row + kNearCells < p.rows ? row + kNearCells : p.rows - 1;
  for (int64_t column = 0; column < p.columns; ++column) {
    const int32_t* cell = p.start + row * p.columns + column;
    if (cell[0] == cell[1]) continue;
    const int64_t left = column < kNearCells ? 0 : column - kNearCells;
    const int64_t right = column + kNearCells < p.columns ? column + kNearCells : p.columns - 1;
    for (int64_t r = low; r <= high; ++r) {
      const int64_t end = p.start[r * p.columns + right + 1];
      for (int64_t from = p.start[r * p.columns + left]; from < end;) {
        from += tile.take(p, from, end);
        if (tile.count == NearTile::kMost)
          potential += repel_tile(p, &tile, reach, same, cell[0], cell[1], force);
      }
    }
    potential += repel_tile(p, &tile, reach, same, cell[0], cell[1], force);
  }
  return potential;
}

}  // namespace ctsne::CTSNE_ISA
