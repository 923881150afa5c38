// Similarities packed for streaming: 4.5 bytes per entry instead of 8, rows and columns in any
// order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "loops/kernels.hpp"
#include "parallel/parallel.hpp"

namespace ctsne {

// Row i of the packed matrix is row order[i] of the given one, columns likewise.
class Packer {
 public:
  Packer(const SparseRows& p, std::span<const std::int32_t> order, int workers)
      : workers_(workers),
        starts_(order.size() + 1),
        parts_((order.size() + kTogether - 1) / kTogether) {
    std::vector<std::int32_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<std::int32_t>(i);
    parallel_blocks(p.count, kTogether, workers, [&](int, std::int64_t begin, std::int64_t end) {
      Part& part = parts_[static_cast<std::size_t>(begin / kTogether)];
      std::int64_t entries = 0;
      for (std::int64_t i = begin; i < end; ++i)
        entries += p.indptr[order[i] + 1] - p.indptr[order[i]];
      part.bases.reserve(static_cast<std::size_t>(entries / 7 + end - begin));
      part.codes.reserve(16 * part.bases.capacity());
      std::vector<Entry> row;
      std::vector<std::int64_t> next(order.size() / kReach + 2);
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t from = p.indptr[order[i]], to = p.indptr[order[i] + 1];
        // Sorts columns by half the reach of a group, so that a group covers two such halves.
        std::fill(next.begin(), next.end(), 0);
        for (std::int64_t k = from; k < to; ++k)
          ++next[static_cast<std::size_t>(place[p.indices[k]] / kReach) + 1];
        for (std::size_t k = 1; k < next.size(); ++k) next[k] += next[k - 1];
        row.resize(static_cast<std::size_t>(to - from));
        for (std::int64_t k = from; k < to; ++k) {
          const std::int32_t column = place[p.indices[k]];
          row[static_cast<std::size_t>(next[static_cast<std::size_t>(column / kReach)]++)] = {
              column, code_of(p.values[k])};
        }
        starts_[static_cast<std::size_t>(i) + 1] = part.append(row);
      }
    });
    for (std::size_t i = 0; i < order.size(); ++i) starts_[i + 1] += starts_[i];
  }

  std::int64_t groups() const { return starts_.back(); }

  // The sum of all packed values.
  double total() const {
    double sum = 0;
    for (const Part& part : parts_) sum += part.total;
    return sum;
  }

  void write(std::int64_t* starts, std::int32_t* bases, std::uint16_t* codes) {
    std::copy(starts_.begin(), starts_.end(), starts);
    parallel_for(static_cast<std::int64_t>(parts_.size()), workers_, [&](int, std::int64_t number) {
      Part& part = parts_[static_cast<std::size_t>(number)];
      const std::int64_t first = starts_[static_cast<std::size_t>(number * kTogether)];
      std::copy(part.bases.begin(), part.bases.end(), bases + first);
      std::copy(part.codes.begin(), part.codes.end(), codes + 16 * first);
      part = Part{};
    });
  }

 private:
  static constexpr std::int64_t kTogether = 1024;
  static constexpr std::int32_t kReach = 1 << 15;

  struct Entry {
    std::int32_t column;
    std::uint16_t code;
  };

  // A positive float without its sign and last bits, rounded to within 0.2 %.
  static std::uint16_t code_of(float value) {
    return static_cast<std::uint16_t>(
        (std::bit_cast<std::uint32_t>(value) + (1u << (kPackedShift - 1))) >> kPackedShift);
  }

  struct Part {
    std::vector<std::int32_t> bases;
    std::vector<std::uint16_t> codes;
    double total = 0;

    // Groups end after eight entries, or when the next column is out of reach.
    std::int64_t append(const std::vector<Entry>& row) {
      const std::size_t before = bases.size();
      for (std::size_t k = 0; k < row.size();) {
        const std::int32_t base = row[k].column / kReach * kReach;
        bases.push_back(base);
        codes.resize(codes.size() + 16);
        std::uint16_t* group = codes.data() + codes.size() - 16;
        for (int lane = 0; lane < 8 && k < row.size() && row[k].column - base < 2 * kReach;
             ++lane, ++k) {
          group[lane] = static_cast<std::uint16_t>(row[k].column - base);
          group[lane + 8] = row[k].code;
          total += static_cast<double>(
              std::bit_cast<float>(static_cast<std::uint32_t>(row[k].code) << kPackedShift));
        }
      }
      return static_cast<std::int64_t>(bases.size() - before);
    }
  };

  int workers_;
  std::vector<std::int64_t> starts_;
  std::vector<Part> parts_;
};

}  // namespace ctsne
