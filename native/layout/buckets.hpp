// Sorts points into buckets by a key, in parallel and stably: each bucket keeps the order of its
// points.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "parallel/parallel.hpp"

namespace ctsne {

class Buckets {
 public:
  // Calls write_keys(begin, end, keys) for parts of the points [from, to); it writes one key per
  // point, each below `count`.
  template <class WriteKeys>
  Buckets(std::int64_t from, std::int64_t to, std::int64_t count, int workers,
          WriteKeys&& write_keys)
      : order_(
            std::make_unique_for_overwrite<std::int32_t[]>(static_cast<std::size_t>(to - from))) {
    const auto keys =
        std::make_unique_for_overwrite<std::uint32_t[]>(static_cast<std::size_t>(to - from));
    const std::int64_t chunks = (to - from + kTogether - 1) / kTogether;
    std::vector<std::int32_t> next(static_cast<std::size_t>(chunks * count));
    parallel_blocks(to - from, kTogether, workers, [&](int, std::int64_t begin, std::int64_t end) {
      write_keys(from + begin, from + end, keys.get() + begin);
      std::int32_t* counts = next.data() + begin / kTogether * count;
      for (std::int64_t i = begin; i < end; ++i) ++counts[keys[i]];
    });
    start_.reserve(static_cast<std::size_t>(count) + 1);
    std::int32_t total = 0;
    for (std::int64_t key = 0; key < count; ++key) {
      start_.push_back(total);
      for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
        total += std::exchange(next[static_cast<std::size_t>(chunk * count + key)], total);
    }
    start_.push_back(total);
    parallel_blocks(to - from, kTogether, workers, [&](int, std::int64_t begin, std::int64_t end) {
      std::int32_t* place = next.data() + begin / kTogether * count;
      for (std::int64_t i = begin; i < end; ++i)
        order_[place[keys[i]]++] = static_cast<std::int32_t>(from + i);
    });
  }

  // How many points have a smaller key, and the points whose keys are in [first, last).
  std::int32_t before(std::int64_t key) const { return start_[static_cast<std::size_t>(key)]; }
  std::span<const std::int32_t> points(std::int64_t first, std::int64_t last) const {
    return {order_.get() + before(first), order_.get() + before(last)};
  }

 private:
  static constexpr std::int64_t kTogether = 16384;

  std::unique_ptr<std::int32_t[]> order_;
  std::vector<std::int32_t> start_;
};

}  // namespace ctsne
