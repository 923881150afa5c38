// k-means on a sample of the points, in a fixed number of rounds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "loops/kernels.hpp"
#include "parallel/parallel.hpp"
#include "search/arrange.hpp"

namespace ctsne {

// The centres of one k-means, and the centre that each member is nearest to.
class KMeans {
 public:
  KMeans(const float* rows, std::int64_t dims) : rows_(rows), dims_(dims) {}

  // Trains `k` centres on a sample of the members, then assigns all members.
  void run(std::span<const std::uint32_t> members, std::int64_t k, int workers) {
    k_ = k;
    assigned_.resize(members.size());
    if (k == 1) {
      std::fill(assigned_.begin(), assigned_.end(), 0);
      return;
    }
    const auto count = static_cast<std::int64_t>(members.size());
    take(members, std::min(count, kSample * k));
    start_centres();
    for (int round = 0; round < kRounds; ++round) {
      assign(workers);
      update();
    }
    take(members, count);
    assign(workers);
  }

  std::int32_t operator[](std::size_t member) const { return assigned_[member]; }

 private:
  static constexpr std::int64_t kSample = 32;  // members per centre that train it
  static constexpr int kRounds = 6;

  // Takes `count` members, evenly spaced, as the sample.
  void take(std::span<const std::uint32_t> members, std::int64_t count) {
    const auto all = static_cast<std::int64_t>(members.size());
    sample_.resize(static_cast<std::size_t>(count));
    for (std::int64_t s = 0; s < count; ++s)
      sample_[s] = rows_ + static_cast<std::int64_t>(members[s * all / count]) * dims_;
  }

  void start_centres() {
    centres_.resize(static_cast<std::size_t>(k_ * dims_));
    for (std::int64_t c = 0; c < k_; ++c)
      move_centre(c, sample_[c * static_cast<std::int64_t>(sample_.size()) / k_]);
  }

  void move_centre(std::int64_t c, const float* row) {
    std::copy(row, row + dims_, centres_.begin() + c * dims_);
  }

  void assign(int workers) {
    packed_.resize(static_cast<std::size_t>(blocks_of(k_) * kBlock * dims_));
    const auto centre = [&](std::int64_t c, float*) { return centres_.data() + c * dims_; };
    pack_blocks(k_, dims_, 1, centre, packed_.data());
    const ScanPoints centres{packed_.data(), nullptr, k_, dims_};
    const auto count = static_cast<std::int64_t>(sample_.size());
    parallel_blocks(count, 256, workers, [&](int, std::int64_t begin, std::int64_t end) {
      kernels().nearest(centres, sample_.data() + begin, end - begin, assigned_.data() + begin);
    });
  }

  void update() {
    std::vector<double> sum(centres_.size(), 0.0);
    std::vector<std::int64_t> count(static_cast<std::size_t>(k_), 0);
    for (std::size_t s = 0; s < sample_.size(); ++s) {
      const std::int64_t c = assigned_[s];
      ++count[c];
      for (std::int64_t dim = 0; dim < dims_; ++dim)
        sum[c * dims_ + dim] += static_cast<double>(sample_[s][dim]);
    }
    std::vector<std::int64_t> left = count;  // of each cell, after empty centres moved into it
    for (std::int64_t c = 0; c < k_; ++c) {
      if (count[c] == 0) {
        share_largest(c, left);
        continue;
      }
      for (std::int64_t dim = 0; dim < dims_; ++dim)
        centres_[c * dims_ + dim] =
            static_cast<float>(sum[c * dims_ + dim] / static_cast<double>(count[c]));
    }
  }

  // An empty cell's centre moves into the largest cell, if that has members to share.
  void share_largest(std::int64_t c, std::vector<std::int64_t>& left) {
    const auto largest = std::max_element(left.begin(), left.end());
    if (*largest < 2) return;
    *largest /= 2;
    const auto end = assigned_.begin() + static_cast<std::int64_t>(sample_.size());
    const auto member =
        std::find(assigned_.begin(), end, static_cast<std::int32_t>(largest - left.begin()));
    move_centre(c, sample_[member - assigned_.begin()]);
  }

  const float* rows_;
  std::int64_t dims_;
  std::int64_t k_ = 0;
  std::vector<const float*> sample_;
  std::vector<float> centres_, packed_;
  std::vector<std::int32_t> assigned_;
};

}  // namespace ctsne
