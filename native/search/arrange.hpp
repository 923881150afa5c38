// Points in the layout that scans read: rows in a new order, and the same rows packed in blocks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "loops/kernels.hpp"
#include "parallel/parallel.hpp"

namespace ctsne {

constexpr std::int64_t blocks_of(std::int64_t points) { return (points + kBlock - 1) / kBlock; }

// Packs rows in blocks of kBlock, [block][dimension][lane]; row_at(position, scratch) points to a
// row, which may be made in the scratch. NaN fills the last block, because no distance to it compares
// as small.
template <class RowAt>
void pack_blocks(std::int64_t n, std::int64_t dims, int workers, RowAt&& row_at, float* packed) {
  parallel_blocks(blocks_of(n), 64, workers, [&](int, std::int64_t first, std::int64_t last) {
    std::vector<float> scratch(static_cast<std::size_t>(dims));
    for (std::int64_t block = first; block < last; ++block) {
      float* column = packed + block * dims * kBlock;
      for (std::int64_t lane = 0; lane < kBlock; ++lane) {
        const std::int64_t at = block * kBlock + lane;
        const float* row = at < n ? row_at(at, scratch.data()) : nullptr;
        for (std::int64_t dim = 0; dim < dims; ++dim)
          column[dim * kBlock + lane] = row ? row[dim] : std::nanf("");
      }
    }
  });
}

// Copies rows in a new order to `sorted`, and packs them.
inline void arrange(const float* rows, std::span<const std::uint32_t> order, std::int64_t dims,
                    int workers, float* sorted, float* packed) {
  const auto row_at = [&](std::int64_t at, float*) {
    const float* row = rows + static_cast<std::int64_t>(order[at]) * dims;
    std::copy(row, row + dims, sorted + at * dims);
    return row;
  };
  pack_blocks(static_cast<std::int64_t>(order.size()), dims, workers, row_at, packed);
}

}  // namespace ctsne
