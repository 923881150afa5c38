// A small parallel_for: fixed blocks of work, handed to threads as they become idle.
//
// A block writes only its own part of the output, and sums over blocks are added afterwards in the
// order of blocks. So results do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <numeric>
#include <vector>

#include "parallel/pool.hpp"

namespace ctsne {

// How many workers are worth starting for this much work: handing it over takes time.
inline int worthwhile(int workers, double nanoseconds) {
  constexpr double kWorthAThread = 25'000;
  return std::clamp(static_cast<int>(std::min(nanoseconds / kWorthAThread, 1e6)), 1,
                    std::max(1, workers));
}

// How many workers have something to do if there are this many blocks: each takes memory.
inline int useful(int workers, std::int64_t blocks) {
  return static_cast<int>(std::clamp<std::int64_t>(blocks, 1, std::max(1, workers)));
}

// Makes the scratch of every worker, each from the same arguments.
template <class Scratch, class... Args>
std::vector<Scratch> one_per_worker(int workers, const Args&... args) {
  std::vector<Scratch> out;
  out.reserve(static_cast<std::size_t>(workers));
  for (int worker = 0; worker < workers; ++worker) out.emplace_back(args...);
  return out;
}

// Calls work(worker, block) for every block in [0, blocks); worker is in [0, workers). An exception
// in a block, such as for lack of memory, ends the work and is rethrown in the caller's thread.
template <class Work>
void parallel_for(std::int64_t blocks, int workers, Work&& work) {
  workers = useful(workers, blocks);
  if (workers == 1) {
    for (std::int64_t block = 0; block < blocks; ++block) work(0, block);
    return;
  }
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  auto run = [&](int worker) {
    try {
      for (std::int64_t block; (block = next.fetch_add(1, std::memory_order_relaxed)) < blocks;)
        work(worker, block);
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
      next.store(blocks, std::memory_order_relaxed);
    }
  };
  Pool::of_this_process().run(workers, run);
  if (error) std::rethrow_exception(error);
}

// Splits n items into blocks of `size` and calls work(worker, begin, end) for each.
template <class Work>
void parallel_blocks(std::int64_t n, std::int64_t size, int workers, Work&& work) {
  parallel_for((n + size - 1) / size, workers, [&](int worker, std::int64_t block) {
    work(worker, block * size, std::min(n, (block + 1) * size));
  });
}

// Sums work(begin, end) over blocks, in their order.
template <class Work>
double parallel_sum(std::int64_t n, std::int64_t size, int workers, Work&& work) {
  std::vector<double> sums(static_cast<std::size_t>((n + size - 1) / size));
  parallel_blocks(n, size, workers, [&](int, std::int64_t begin, std::int64_t end) {
    sums[static_cast<std::size_t>(begin / size)] = work(begin, end);
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace ctsne
