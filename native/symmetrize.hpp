// r_ij = (r_{j|i} + r_{i|j}) / 2n as a sparse matrix, from rows of equal length.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "parallel.hpp"

namespace ctsne {

struct Entry {
  std::int32_t column;
  float value;
};

// What is smaller than a normal float counts for nothing in any sum, and slows every one of them.
constexpr float kSmallest = 1e-37f;

class Symmetrizer {
 public:
  Symmetrizer(std::span<const std::int32_t> indices, std::span<const float> rows, std::int64_t n, int workers)
      : n_(n), workers_(workers), indptr_(static_cast<std::size_t>(n) + 1) {
    scatter(indices, rows);
    merge();
  }

  std::int64_t stored() const { return indptr_[n_]; }

  void write(std::int64_t* indptr, std::int32_t* columns, float* values) const {
    std::copy(indptr_.begin(), indptr_.end(), indptr);
    parallel_blocks(n_, 1024, workers_, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        std::int64_t to = indptr_[i];
        for (std::int64_t k = start_[i]; to < indptr_[i + 1]; ++k, ++to) {
          columns[to] = entries_[k].column;
          values[to] = entries_[k].value;
        }
      }
    });
  }

 private:
  // Every similarity goes to its own row and, transposed, to the row of its column.
  void scatter(std::span<const std::int32_t> indices, std::span<const float> rows) {
    const std::int64_t length = static_cast<std::int64_t>(indices.size()) / n_;
    start_.assign(static_cast<std::size_t>(n_) + 1, 0);
    for (std::size_t k = 0; k < indices.size(); ++k)
      if (rows[k] > 0) ++start_[indices[k] + 1], ++start_[k / length + 1];
    for (std::int64_t i = 0; i < n_; ++i) start_[i + 1] += start_[i];
    entries_.resize(static_cast<std::size_t>(start_[n_]));
    std::vector<std::int64_t> next(start_.begin(), start_.end() - 1);
    const float half = static_cast<float>(0.5 / static_cast<double>(n_));
    for (std::int64_t i = 0; i < n_; ++i) {
      for (std::int64_t k = i * length; k < (i + 1) * length; ++k) {
        if (!(rows[k] > 0)) continue;
        const std::int32_t j = indices[k];
        entries_[next[i]++] = {j, rows[k] * half};
        entries_[next[j]++] = {static_cast<std::int32_t>(i), rows[k] * half};
      }
    }
  }

  // Sorts each row and adds what fell on the same column. Both halves of a pair are the same two
  // numbers, and two numbers add to the same sum in either order: the matrix is symmetric in bits.
  void merge() {
    parallel_blocks(n_, 256, workers_, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        Entry* first = entries_.data() + start_[i];
        Entry* last = entries_.data() + start_[i + 1];
        std::sort(first, last, [](const Entry& a, const Entry& b) { return a.column < b.column; });
        Entry* out = first;
        for (const Entry* in = first; in != last;) {
          Entry entry = *in++;
          while (in != last && in->column == entry.column) entry.value += in++->value;
          if (entry.value >= kSmallest) *out++ = entry;
        }
        indptr_[i + 1] = out - first;
      }
    });
    for (std::int64_t i = 0; i < n_; ++i) indptr_[i + 1] += indptr_[i];
  }

  std::int64_t n_;
  int workers_;
  std::vector<std::int64_t> start_;   // where each row's entries begin in entries_
  std::vector<std::int64_t> indptr_;  // row ends of the merged matrix
  std::vector<Entry> entries_;
};

}  // namespace ctsne
