// Neighbour candidates: a tile of squared distances in registers, compared with each list's limit.
#pragma once

#include "loops/kernels.hpp"
#include "loops/simd.hpp"

namespace ctsne::CTSNE_ISA {

constexpr int kBlockVectors = kBlock / kLanes;
constexpr int kTile = kLanes == 16 ? 8 : kLanes == 8 ? 4 : 2;

// Squared distances of `Q` queries to one block, by differences: these never cancel.
template <int Q>
static inline void block_distances(const float* column, int64_t dims, const float* const* x,
                                   Floats (&sum)[Q][kBlockVectors]) {
  for (int q = 0; q < Q; ++q)
    for (int v = 0; v < kBlockVectors; ++v) sum[q][v] = Floats{};
  for (int64_t dim = 0; dim < dims; ++dim, column += kBlock) {
    Floats candidate[kBlockVectors];
    for (int v = 0; v < kBlockVectors; ++v) candidate[v] = load_as<Floats>(column + v * kLanes);
    for (int q = 0; q < Q; ++q) {
      const float at = x[q][dim];
      for (int v = 0; v < kBlockVectors; ++v) {
        const Floats difference = candidate[v] - at;
        sum[q][v] += difference * difference;
      }
    }
  }
}

// Appends the lanes of a mask to a list; up to kLanes entries past its end are overwritten.
static inline void append(ScanQuery& query, Floats d2, unsigned mask, uint32_t first) {
  query.filled += compress(d2, mask, first, query.d2 + query.filled, query.at + query.filled);
}

// Counts the values that are at most the limit.
static inline int32_t count_within(const float* values, int32_t count, float limit) {
  int32_t within = 0;
#pragma omp simd reduction(+ : within)
  for (int32_t k = 0; k < count; ++k) within += values[k] <= limit ? 1 : 0;
  return within;
}

// Keeps the nearest candidates of a list, at least query.keep of them, and lowers the limit so that
// all candidates dropped now or later are farther than it.
static void shrink(ScanQuery& query) {
  const int32_t enough = query.keep + query.keep / 8;
  if (query.filled <= enough) return;
  // Candidates that are equally far stay together if they fit, with more margin than rounding takes,
  // so that the exact search need not look for them again.
  const int32_t fitting = query.most - 2 * kBlock;
  constexpr float kMargin = 0x1p-10f;
  // Equal rows too, if the list can grow: coordinates are at most 1, rounded to 2^-24.
  const bool grows = query.capacity < query.most;
  const float least = grows ? 0x1p-38f : 0.0f;
  // The new limit lies in (low, high]: fewer than `keep` are within low, at least `keep` within
  // high.
  float low = -1.0f, high = 0.0f;
#pragma omp simd reduction(max : high)
  for (int32_t k = 0; k < query.filled; ++k) high = query.d2[k] > high ? query.d2[k] : high;
  int32_t within = query.filled;
  while (within > enough) {
    const float middle = low < 0.0f ? 0.5f * high : low + 0.5f * (high - low);
    if (!(middle > low && middle < high)) break;  // neighbouring floats: the rest are ties
    if (within <= fitting && high - (low > 0.0f ? low : 0.0f) <= kMargin * high + least) break;
    const int32_t count = count_within(query.d2, query.filled, middle);
    if (count >= query.keep)
      high = middle, within = count;
    else
      low = middle;
  }
  if (grows || (within > enough && within <= fitting)) {
    // Not beyond a limit that excluded ties before. A list that can grow has dropped nothing within
    // its limit, and the ties themselves differ by rounding.
    float wider = high + kMargin * high + least;
    if (grows && wider > query.limit) wider = query.limit;
    if (wider > high && wider <= query.limit &&
        count_within(query.d2, query.filled, wider) <= fitting)
      high = wider;
  }
  // With more ties than fit, the first ones stay and the limit excludes later ones.
  const bool tied = within > enough && within > fitting;
  int32_t room = tied ? query.keep - count_within(query.d2, query.filled, low) : 0;
  int32_t kept = 0;
  for (int32_t k = 0; k < query.filled; ++k) {
    const float d2 = query.d2[k];
    const bool stays = tied ? d2 <= low || (d2 <= high && room-- > 0) : d2 <= high;
    query.d2[kept] = d2;
    query.at[kept] = query.at[k];
    kept += stays ? 1 : 0;
  }
  query.filled = kept;
  query.limit = tied ? low : high;
  // Ties that stay are not counted again before as many have come.
  if (kept > enough && query.capacity < 2 * kept)
    query.capacity = 2 * kept < query.most ? 2 * kept : query.most;
}

// Offers the lanes lanes_of(q) of a block to each query.
template <int Q, class QueryAt, class LanesOf>
static inline void scan_block(const ScanPoints& points, int64_t block, QueryAt query_at,
                              LanesOf lanes_of) {
  const float* x[Q];
  for (int q = 0; q < Q; ++q) x[q] = query_at(q).x;
  Floats sum[Q][kBlockVectors];
  block_distances<Q>(points.packed + block * points.dims * kBlock, points.dims, x, sum);
  const auto first = static_cast<uint32_t>(block * kBlock);
  for (int q = 0; q < Q; ++q) {
    ScanQuery& query = query_at(q);
    for (int v = 0; v < kBlockVectors; ++v) {
      unsigned mask =
          mask_at_most(sum[q][v], Floats{} + query.limit) & (lanes_of(q) >> (v * kLanes));
      if (!mask) continue;
      if (points.codes) mask &= ~mask_equal(points.codes + first + v * kLanes, query.code);
      append(query, sum[q][v], mask, first + static_cast<uint32_t>(v * kLanes));
    }
    if (query.filled > query.capacity - kBlock) shrink(query);
  }
}

// Which lanes of a block lie in [begin, end).
static inline unsigned lanes_between(int64_t block, int64_t begin, int64_t end) {
  constexpr unsigned kAll = (1u << kBlock) - 1;
  const int64_t skipped = begin - block * kBlock, length = end - block * kBlock;
  unsigned lanes = kAll;
  if (skipped > 0) lanes &= kAll << skipped;
  if (length < kBlock) lanes &= kAll >> (kBlock - length);
  return lanes;
}

static void scan(const ScanPoints& points, int64_t begin, int64_t end, ScanQuery* queries,
                 int count) {
  const int64_t first = begin / kBlock, last = (end + kBlock - 1) / kBlock;
  int q = 0;
  const auto query_at = [&](int k) -> ScanQuery& { return queries[q + k]; };
  for (; q + kTile <= count; q += kTile)
    for (int64_t block = first; block < last; ++block) {
      const unsigned lanes = lanes_between(block, begin, end);
      scan_block<kTile>(points, block, query_at, [=](int) { return lanes; });
    }
  for (; q < count; ++q)
    for (int64_t block = first; block < last; ++block) {
      const unsigned lanes = lanes_between(block, begin, end);
      scan_block<1>(points, block, query_at, [=](int) { return lanes; });
    }
}

template <int Q>
static inline void scan_tile(const ScanPoints& points, int64_t first, int64_t blocks,
                             ScanQuery* const* queries, const uint16_t* const* lanes) {
  for (int64_t block = 0; block < blocks; ++block) {
    unsigned any = 0;
    for (int q = 0; q < Q; ++q) any |= lanes[q][block];
    if (!any) continue;
    scan_block<Q>(
        points, first + block, [&](int q) -> ScanQuery& { return *queries[q]; },
        [&](int q) -> unsigned { return lanes[q][block]; });
  }
}

static void scan_lanes(const ScanPoints& points, int64_t first, int64_t blocks,
                       ScanQuery* const* queries, const uint16_t* const* lanes, int count) {
  int q = 0;
  for (; q + kTile <= count; q += kTile)
    scan_tile<kTile>(points, first, blocks, queries + q, lanes + q);
  for (; q + kTile / 2 <= count; q += kTile / 2)
    scan_tile<kTile / 2>(points, first, blocks, queries + q, lanes + q);
  for (; q < count; ++q) scan_tile<1>(points, first, blocks, queries + q, lanes + q);
}

// Finds the nearest point for `Q` rows; the first of equally near ones.
template <int Q>
static inline void nearest_of(const ScanPoints& points, const float* const* x, int32_t* nearest) {
  Floats best[Q][kBlockVectors];
  Ints where[Q][kBlockVectors];
  for (int q = 0; q < Q; ++q)
    for (int v = 0; v < kBlockVectors; ++v)
      best[q][v] = Floats{} + __builtin_inff(), where[q][v] = Ints{};
  const int64_t blocks = (points.n + kBlock - 1) / kBlock;
  for (int64_t block = 0; block < blocks; ++block) {
    Floats sum[Q][kBlockVectors];
    block_distances<Q>(points.packed + block * points.dims * kBlock, points.dims, x, sum);
    for (int q = 0; q < Q; ++q) {
      for (int v = 0; v < kBlockVectors; ++v) {
        const Ints nearer = sum[q][v] < best[q][v];
        best[q][v] = nearer ? sum[q][v] : best[q][v];
        where[q][v] = nearer ? Ints{} + static_cast<int32_t>(block) : where[q][v];
      }
    }
  }
  for (int q = 0; q < Q; ++q) {
    float least = __builtin_inff();
    int32_t at = 0;
    for (int v = 0; v < kBlockVectors; ++v) {
      for (int lane = 0; lane < kLanes; ++lane) {
        const int32_t candidate = where[q][v][lane] * kBlock + v * kLanes + lane;
        const float d2 = best[q][v][lane];
        if (d2 < least || (d2 == least && candidate < at)) least = d2, at = candidate;
      }
    }
    nearest[q] = at;
  }
}

static void nearest(const ScanPoints& points, const float* const* x, int64_t count, int32_t* out) {
  int64_t q = 0;
  for (; q + kTile <= count; q += kTile) nearest_of<kTile>(points, x + q, out + q);
  for (; q < count; ++q) nearest_of<1>(points, x + q, out + q);
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
