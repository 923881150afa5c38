// Attraction: streams the rows of the sparse similarities, and reads the positions of the columns.
//
// Rows are read eight entries at a time, in both formats.
#pragma once

#include "loops/kernels.hpp"
#include "loops/simd.hpp"

namespace ctsne::CTSNE_ISA {

// Eight entries of a row, in columns base + column[k]. Beyond the end of the row, entries have a
// valid column and value zero.
template <class Column>
struct Eight {
  int64_t base;
  Column column[8];
  Floats8 value;
};

static inline int64_t groups_of(const SparseRows& p, int64_t i) {
  return (p.indptr[i + 1] - p.indptr[i] + 7) / 8;
}
static inline int64_t groups_of(const PackedRows& p, int64_t i) {
  return p.starts[i + 1] - p.starts[i];
}

static inline Eight<int32_t> entries(const SparseRows& p, int64_t i, int64_t group) {
  const int64_t begin = p.indptr[i] + 8 * group, left = p.indptr[i + 1] - begin;
  Eight<int32_t> eight;
  eight.base = 0;
  if (left >= 8) {
    for (int k = 0; k < 8; ++k) eight.column[k] = p.indices[begin + k];
    eight.value = *reinterpret_cast<const Floats8Anywhere*>(p.values + begin);
  } else {
    alignas(32) float value[8] = {};
    for (int k = 0; k < 8; ++k)
      eight.column[k] = k < left ? p.indices[begin + k] : static_cast<int32_t>(i);
    for (int k = 0; k < left; ++k) value[k] = p.values[begin + k];
    eight.value = *reinterpret_cast<const Floats8Anywhere*>(value);
  }
  return eight;
}

static inline Eight<uint16_t> entries(const PackedRows& p, int64_t i, int64_t group) {
  group += p.starts[i];
  const uint16_t* code = p.codes + 2 * 8 * group;
  Eight<uint16_t> eight;
  eight.base = p.bases[group];
  for (int k = 0; k < 8; ++k) eight.column[k] = code[k];
  eight.value = reinterpret_cast<Floats8>(widened(code + 8) << kPackedShift);
  return eight;
}

// Differences between a position and those of eight entries, per axis.
template <int D, class Column>
static inline void differences(const Eight<Column>& e, const float* y, const float* at,
                               Floats8* d) {
  const float* from = y + e.base * D;
  if constexpr (D == 2 && kLanes >= 8) {
    // In the plane a position is one 8-byte load, and shuffles separate the axes; a gather
    // instruction would take several times as long. (Compilers do this badly for narrow vectors.)
    typedef double Pair __attribute__((may_alias, aligned(4)));
    typedef double Pairs __attribute__((vector_size(32)));
    const Pair* pairs = reinterpret_cast<const Pair*>(from);
    const Column* c = e.column;
    const Pairs low = {pairs[c[0]], pairs[c[1]], pairs[c[4]], pairs[c[5]]};
    const Pairs high = {pairs[c[2]], pairs[c[3]], pairs[c[6]], pairs[c[7]]};
    const Floats8 a = reinterpret_cast<Floats8>(low), b = reinterpret_cast<Floats8>(high);
    d[0] = at[0] - CTSNE_SHUFFLE(a, b, 0, 2, 8, 10, 4, 6, 12, 14);
    d[1] = at[1] - CTSNE_SHUFFLE(a, b, 1, 3, 9, 11, 5, 7, 13, 15);
  } else {
    for (int axis = 0; axis < D; ++axis) {
      Floats8 place;
      for (int k = 0; k < 8; ++k) place[k] = from[static_cast<int64_t>(e.column[k]) * D + axis];
      d[axis] = at[axis] - place;
    }
  }
}

template <int D>
static inline Floats8 squared_length(const Floats8* d) {
  Floats8 sum = d[0] * d[0];
  for (int axis = 1; axis < D; ++axis) sum += d[axis] * d[axis];
  return sum;
}

template <int D, class Rows>
static void attract_rows(float dof, const Rows& p, const float* y, int64_t begin, int64_t end,
                         float* out) {
  const float factor = (dof + 1.0f) / (2.0f * dof), inverse_dof = 1.0f / dof;
  for (int64_t i = begin; i < end; ++i) {
    Floats8 force[D] = {};
    const int64_t groups = groups_of(p, i);
    for (int64_t group = 0; group < groups; ++group) {
      const auto eight = entries(p, i, group);
      Floats8 d[D];
      differences<D>(eight, y, y + i * D, d);
      const Floats8 pull = eight.value / (1.0f + squared_length<D>(d) * inverse_dof);
      for (int axis = 0; axis < D; ++axis) force[axis] += pull * d[axis];
    }
    for (int axis = 0; axis < D; ++axis) out[(i - begin) * D + axis] = factor * sum8(force[axis]);
  }
}

template <class Rows>
static void attract(Tail tail, const Rows& p, const float* y, int64_t begin, int64_t end,
                    float* out) {
  auto* rows = tail.dims == 1   ? attract_rows<1, Rows>
               : tail.dims == 2 ? attract_rows<2, Rows>
                                : attract_rows<3, Rows>;
  rows(tail.dof, p, y, begin, end, out);
}

template <int D, class Rows>
static double log_kernel_rows(float dof, const Rows& p, const float* y, int64_t begin,
                              int64_t end) {
  double sum = 0;
  for (int64_t i = begin; i < end; ++i) {
    Floats8 row = {};
    const int64_t groups = groups_of(p, i);
    for (int64_t group = 0; group < groups; ++group) {
      const auto eight = entries(p, i, group);
      Floats8 d[D];
      differences<D>(eight, y, y + i * D, d);
      Floats8 logs = 1.0f + squared_length<D>(d) * (1.0f / dof);
      for (int k = 0; k < 8; ++k) logs[k] = log_from_one(logs[k]);
      row += eight.value * logs;
    }
    sum += static_cast<double>(sum8(row));
  }
  return -0.5 * (dof + 1.0) * sum;
}

template <class Rows>
static double log_kernel_sum(Tail tail, const Rows& p, const float* y, int64_t begin, int64_t end) {
  auto* rows = tail.dims == 1   ? log_kernel_rows<1, Rows>
               : tail.dims == 2 ? log_kernel_rows<2, Rows>
                                : log_kernel_rows<3, Rows>;
  return rows(tail.dof, p, y, begin, end);
}

}  // namespace ctsne::CTSNE_ISA
