// Neighbour candidates: a tile of squared distances in registers, compared with each list's limit.
#pragma once

#include "../kernels.hpp"
#include "simd.hpp"

namespace ctsne::CTSNE_ISA {

static inline void offer(ScanQuery& q, int list, float d2, uint32_t id, Shrink shrink) {
  if (!(d2 <= q.limit[list])) return;
  if (q.filled[list] == q.capacity[list]) {
    shrink(q, list);
    if (!(d2 <= q.limit[list])) return;
  }
  // Non-negative floats order as their bits do, so one integer compare orders by (distance, index).
  const uint64_t key = static_cast<uint64_t>(__builtin_bit_cast(uint32_t, d2)) << 32 | id;
  q.buffer[list][q.filled[list]++] = key;
}

// Squared distances of `Q` queries to one block by differences: no cancellation, whatever the norms.
template <int Q>
static inline void scan_block(const ScanPoints& points, int64_t block, ScanQuery* queries, Shrink shrink) {
  constexpr int kVectors = kBlock / kLanes;
  Floats sum[Q][kVectors];
  for (int q = 0; q < Q; ++q)
    for (int v = 0; v < kVectors; ++v) sum[q][v] = Floats{};
  const float* column = points.packed + block * points.dims * kBlock;
  for (int64_t dim = 0; dim < points.dims; ++dim, column += kBlock) {
    Floats candidate[kVectors];
    for (int v = 0; v < kVectors; ++v) candidate[v] = load_as<Floats>(column + v * kLanes);
    for (int q = 0; q < Q; ++q) {
      const float x = queries[q].x[dim];
      for (int v = 0; v < kVectors; ++v) {
        const Floats difference = candidate[v] - x;
        sum[q][v] += difference * difference;
      }
    }
  }
  alignas(sizeof(Floats)) float d2[Q][kBlock];  // indexed by lane below; sums stay in registers
  for (int q = 0; q < Q; ++q)
    for (int v = 0; v < kVectors; ++v) *reinterpret_cast<Floats*>(&d2[q][v * kLanes]) = sum[q][v];
  const int64_t begin = block * kBlock, end = begin + kBlock;
  for (int q = 0; q < Q; ++q) {
    ScanQuery& query = queries[q];
    const bool own = (begin >= query.own_begin && end <= query.own_end) || begin >= points.free_begin;
    const bool apart = (end <= query.own_begin || begin >= query.own_end) && end <= points.free_begin;
    const float same = query.limit[0], other = query.limit[1];
    const float limit = own ? same : apart ? other : same > other ? same : other;
    for (int v = 0; v < kVectors; ++v) {
      unsigned mask = mask_at_most(sum[q][v], Floats{} + limit);
      while (mask) {
        const int lane = __builtin_ctz(mask);
        mask &= mask - 1;
        const int64_t at = begin + v * kLanes + lane;
        if (at == query.self) continue;
        const bool in_own = (at >= query.own_begin && at < query.own_end) || at >= points.free_begin;
        offer(query, in_own ? 0 : 1, d2[q][v * kLanes + lane], points.ids[at], shrink);
      }
    }
  }
}

static void scan(const ScanPoints& points, int64_t first, int64_t last, ScanQuery* queries, int count,
                 Shrink shrink) {
  constexpr int kTile = kLanes == 16 ? 8 : kLanes == 8 ? 4 : 2;
  int q = 0;
  for (; q + kTile <= count; q += kTile)
    for (int64_t block = first; block < last; ++block)
      scan_block<kTile>(points, block, queries + q, shrink);
  for (; q < count; ++q)
    for (int64_t block = first; block < last; ++block)
      scan_block<1>(points, block, queries + q, shrink);
}

template <class Real>
static double squared_distance(const Real* a, const Real* b, int64_t dims) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t dim = 0; dim < dims; ++dim) {
    const double difference = static_cast<double>(a[dim]) - static_cast<double>(b[dim]);
    sum += difference * difference;
  }
  return sum;
}

}  // namespace ctsne::CTSNE_ISA
