// r_ij = (r_{j|i} + r_{i|j}) / 2n as a sparse matrix, from rows of equal length.
//
// The result is made in ranges of rows. Reading all indices once, in order, finds the points that
// have a neighbour in the range: they come sorted, and only the range needs memory. The result does
// not depend on how the rows are cut into ranges.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "parallel/parallel.hpp"

namespace ctsne {

// Values below normal floats add nothing to any sum, and slow all of them down.
constexpr float kSmallest = 1e-37f;

// Rows of similarities over their neighbours' indices.
struct Conditional {
  std::span<const std::int32_t> indices;
  std::span<const float> rows;
  std::int64_t n;
  std::int64_t length;  // neighbours per row
};

// Counts the points that have each point as a neighbour with positive similarity.
inline void count_in_degrees(const Conditional& given, int workers, std::int64_t* degree) {
  constexpr int kMostCounters = 8;  // each worker counts in its own memory
  workers = std::clamp(workers, 1, kMostCounters);
  std::vector<std::vector<std::uint32_t>> counts(static_cast<std::size_t>(workers));
  parallel_blocks(given.n, 4096, workers, [&](int worker, std::int64_t begin, std::int64_t end) {
    std::vector<std::uint32_t>& count = counts[worker];
    if (count.empty()) count.assign(static_cast<std::size_t>(given.n), 0);
    for (std::int64_t k = begin * given.length; k < end * given.length; ++k) {
      if (static_cast<std::uint32_t>(given.indices[k]) >= static_cast<std::uint64_t>(given.n))
        throw std::invalid_argument("an index is outside the data");
      if (given.rows[k] > 0) ++count[given.indices[k]];
    }
  });
  std::fill(degree, degree + given.n, 0);
  for (const auto& count : counts)
    for (std::size_t i = 0; i < count.size(); ++i) degree[i] += count[i];
}

struct Entry {
  std::int32_t column;
  float value;
};

// One range of rows of the result.
class SymmetricRange {
 public:
  SymmetricRange(const Conditional& given, const std::int64_t* degree, std::int64_t begin,
                 std::int64_t end)
      : given_(given),
        begin_(begin),
        end_(end),
        half_(static_cast<float>(0.5 / static_cast<double>(given.n))) {
    collect(degree);
  }

  // Writes the entries row by row, and the size of each row. Both halves of a pair are sums of the
  // same two numbers, and addition commutes: the matrix is symmetric to the last bit.
  void write(std::int32_t* columns, float* values, std::int64_t* sizes) const {
    std::vector<std::uint64_t> own;  // column in the high bits, value in the low ones, to sort both
    own.reserve(static_cast<std::size_t>(given_.length));
    std::int64_t to = 0;
    for (std::int64_t i = begin_; i < end_; ++i) {
      own.clear();
      for (std::int64_t k = i * given_.length; k < (i + 1) * given_.length; ++k)
        if (given_.rows[k] > 0)
          own.push_back(static_cast<std::uint64_t>(given_.indices[k]) << 32 |
                        std::bit_cast<std::uint32_t>(given_.rows[k] * half_));
      std::sort(own.begin(), own.end());
      const std::int64_t before = to;
      const Entry* in = transposed_.data() + start_[i - begin_];
      const Entry* last = transposed_.data() + start_[i - begin_ + 1];
      auto key = own.cbegin();
      while (key != own.cend() || in != last) {
        const bool from_own = in == last || (key != own.cend() && column_of(*key) <= in->column);
        Entry entry{from_own ? column_of(*key) : in->column, 0.0f};
        for (; key != own.cend() && column_of(*key) == entry.column; ++key)
          entry.value += std::bit_cast<float>(static_cast<std::uint32_t>(*key));
        for (; in != last && in->column == entry.column; ++in) entry.value += in->value;
        if (entry.value >= kSmallest) columns[to] = entry.column, values[to++] = entry.value;
      }
      sizes[i - begin_] = to - before;
    }
  }

 private:
  // Collects the transposed similarities of the range, in the order of the rows they come from.
  void collect(const std::int64_t* degree) {
    const auto count = static_cast<std::size_t>(end_ - begin_);
    start_.assign(count + 1, 0);
    for (std::size_t i = 0; i < count; ++i)
      start_[i + 1] = start_[i] + degree[begin_ + static_cast<std::int64_t>(i)];
    transposed_.resize(static_cast<std::size_t>(start_[count]));
    std::vector<std::int64_t> next(start_.begin(), start_.end() - 1);
    const auto first = static_cast<std::uint32_t>(begin_),
               width = static_cast<std::uint32_t>(count);
    for (std::int64_t i = 0; i < given_.n; ++i) {
      const std::int32_t* indices = given_.indices.data() + i * given_.length;
      const float* row = given_.rows.data() + i * given_.length;
      for (std::int64_t k = 0; k < given_.length; ++k) {
        const std::uint32_t place = static_cast<std::uint32_t>(indices[k]) - first;
        if (place >= width || !(row[k] > 0)) continue;
        if (next[place] == start_[place + 1])
          throw std::invalid_argument("the counts do not match the indices");
        transposed_[next[place]++] = {static_cast<std::int32_t>(i), row[k] * half_};
      }
    }
    if (!std::equal(next.begin(), next.end(), start_.begin() + 1))
      throw std::invalid_argument("the counts do not match the indices");
  }

  static std::int32_t column_of(std::uint64_t key) { return static_cast<std::int32_t>(key >> 32); }

  const Conditional& given_;
  std::int64_t begin_, end_;
  float half_;
  std::vector<std::int64_t> start_;  // where the transposed entries of each row begin
  std::vector<Entry> transposed_;
};

// Writes rows [begin, end) of the result, from indptr[begin] on. There must be room for the entries
// of these rows before the two of each pair are added.
inline void symmetrize(const Conditional& given, const std::int64_t* degree, std::int64_t begin,
                       std::int64_t end, int workers, std::int64_t* indptr,
                       std::span<std::int32_t> columns, std::span<float> values) {
  const auto entering = [&](std::int64_t i) {
    const auto row = given.rows.subspan(static_cast<std::size_t>(i * given.length),
                                        static_cast<std::size_t>(given.length));
    return degree[i] + std::count_if(row.begin(), row.end(), [](float r) { return r > 0; });
  };
  std::int64_t total = 0;
  for (std::int64_t i = begin; i < end; ++i) total += indptr[i + 1] = entering(i);
  if (indptr[begin] + total > static_cast<std::int64_t>(columns.size()))
    throw std::invalid_argument("there is too little room for the entries");
  // Every worker gets a range with equally many entries, so that none waits for a hub.
  struct Part {
    std::int64_t begin, end, offset;
  };
  std::vector<Part> parts{{begin, begin, indptr[begin]}};
  for (std::int64_t i = begin, passed = 0; i < end; ++i) {
    if (total > 0 && passed * workers >= total * static_cast<std::int64_t>(parts.size()))
      parts.push_back({i, i, indptr[begin] + passed});
    parts.back().end = i + 1;
    passed += indptr[i + 1];
  }
  parallel_for(static_cast<std::int64_t>(parts.size()), workers, [&](int, std::int64_t p) {
    const Part& part = parts[p];
    SymmetricRange(given, degree, part.begin, part.end)
        .write(columns.data() + part.offset, values.data() + part.offset, indptr + part.begin + 1);
  });
  // Adding the entries of pairs leaves gaps between the parts.
  for (const Part& part : parts) {
    const std::int64_t to = indptr[part.begin];
    for (std::int64_t i = part.begin; i < part.end; ++i) indptr[i + 1] += indptr[i];
    const std::int64_t count = indptr[part.end] - to;
    std::copy_n(columns.data() + part.offset, count, columns.data() + to);
    std::copy_n(values.data() + part.offset, count, values.data() + to);
  }
}

// Cuts rows into ranges of about equal work: at most `most` pieces, of at least `at_once` entries.
inline std::vector<std::int64_t> even_ranges(std::span<const std::int64_t> degree,
                                             std::int64_t per_row, std::int64_t at_once,
                                             std::int64_t most) {
  std::int64_t total = 0;
  for (const std::int64_t count : degree) total += count + per_row;
  const std::int64_t step = std::max(at_once, total / most);
  std::vector<std::int64_t> bounds{0};
  std::int64_t work = 0;
  for (std::size_t i = 0; i < degree.size(); ++i) {
    work += degree[i] + per_row;
    if (work < step && i + 1 < degree.size()) continue;
    bounds.push_back(static_cast<std::int64_t>(i) + 1);
    work = 0;
  }
  return bounds;
}

}  // namespace ctsne
