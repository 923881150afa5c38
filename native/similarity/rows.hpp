// Rows of similarities: bandwidths by perplexity, and the rows that follow from them.
//
// A row is softmax(log_weight - precision * d²) with precision = 1 / (2 sigma²). Everything is kept
// as logarithms, so weights may be as small as 1e-300.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "loops/kernels.hpp"
#include "parallel/parallel.hpp"
#include "similarity/bandwidth.hpp"

namespace ctsne {

// The neighbours of all points. Row i holds `lists` lists one after the other, of lengths
// lengths[i * lists + m], each with one log weight. The first list holds the points that differ in
// no label; the others those that do, one list per pattern of differing columns. Unlabelled
// neighbours belong to the first list: where points of the own label have almost no weight, an
// unlabelled one in another list would dominate the row.
struct Rows {
  std::span<const float> distances;
  std::span<const std::int32_t> lengths;
  std::span<const double> log_weights;
  std::int64_t length;      // neighbours per row
  std::int64_t lists;       // lists per row
  std::int64_t begin, end;  // the rows to compute

  // Calls work(m, first, size) for the lists of a row that hold points.
  template <class Work>
  void for_lists(std::int64_t i, Work&& work) const {
    std::int64_t first = 0;
    for (std::int64_t m = 0; m < lists; ++m) {
      const std::int64_t size = lengths[i * lists + m];
      if (size > 0) work(m, first, size);
      first += size;
    }
  }
};

constexpr std::int64_t kRowsAtOnce = 64;

// Calls work(worker, begin, end) for blocks of the rows to compute.
template <class Work>
void for_rows(const Rows& rows, int workers, Work&& work) {
  parallel_blocks(rows.end - rows.begin, kRowsAtOnce, workers,
                  [&](int worker, std::int64_t begin, std::int64_t end) {
                    work(worker, rows.begin + begin, rows.begin + end);
                  });
}

// One row in double precision with the weight of every entry.
struct RowScratch {
  explicit RowScratch(std::int64_t length)
      : d2(length), log_weight(length), zero(length, 0.0), out(length) {}
  std::vector<double> d2, log_weight, zero, out;

  void load(const Rows& rows, std::int64_t i) {
    const float* distances = rows.distances.data() + i * rows.length;
    // Only differences of squares count; squares of large distances would lose their digits.
    const double nearest = *std::min_element(distances, distances + rows.length);
    for (std::int64_t k = 0; k < rows.length; ++k) {
      const double d = distances[k];
      d2[k] = (d - nearest) * (d + nearest);
    }
    rows.for_lists(i, [&](std::int64_t m, std::int64_t first, std::int64_t size) {
      std::fill_n(log_weight.begin() + first, size, rows.log_weights[i * rows.lists + m]);
    });
  }
};

enum class Target { kUnweighted, kWeighted };  // the distribution that gets the perplexity: p or r

// `wide` is the precision of a kernel as wide as the data, from which the search starts.
inline void find_bandwidths(const Rows& rows, double perplexity, Target which, double wide,
                            int workers, double* precision, bool* reached) {
  workers = useful(workers, (rows.end - rows.begin + kRowsAtOnce - 1) / kRowsAtOnce);
  std::vector<RowScratch> scratch(static_cast<std::size_t>(workers), RowScratch(rows.length));
  const double target = std::log(perplexity);
  for_rows(rows, workers, [&](int worker, std::int64_t begin, std::int64_t end) {
    RowScratch& row = scratch[worker];
    for (std::int64_t i = begin; i < end; ++i) {
      row.load(rows, i);
      const bool equal =
          which == Target::kUnweighted ||
          std::equal(row.log_weight.begin() + 1, row.log_weight.end(), row.log_weight.begin());
      const Bandwidth found = equal ? RowSolver(row.d2, row.zero).monotone(target)
                                    : RowSolver(row.d2, row.log_weight).from_wide(target, wide);
      precision[i] = found.precision;
      reached[i] = found.reached;
    }
  });
}

// Calibrates the lists of every row separately, each to its own perplexity.
inline void find_split_bandwidths(const Rows& rows, std::span<const double> perplexities,
                                  int workers, double* precisions, bool* reached) {
  workers = useful(workers, (rows.end - rows.begin + kRowsAtOnce - 1) / kRowsAtOnce);
  std::vector<RowScratch> scratch(static_cast<std::size_t>(workers), RowScratch(rows.length));
  for_rows(rows, workers, [&](int worker, std::int64_t begin, std::int64_t end) {
    RowScratch& row = scratch[worker];
    for (std::int64_t i = begin; i < end; ++i) {
      row.load(rows, i);
      const std::span<const double> d2(row.d2), zero(row.zero);
      std::fill_n(precisions + i * rows.lists, rows.lists, 0.0);
      reached[i] = true;
      rows.for_lists(i, [&](std::int64_t m, std::int64_t first, std::int64_t size) {
        const std::int64_t place = i * rows.lists + m;
        const Bandwidth found =
            RowSolver(d2.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(size)),
                      zero.first(static_cast<std::size_t>(size)))
                .monotone(std::log(perplexities[place]));
        precisions[place] = found.precision;
        reached[i] = reached[i] && found.reached;
      });
    }
  });
}

struct RowReport {
  double* perplexity;   // per row
  double* shares;       // of the weight on each list
  double* largest;      // per row
  double* log_weights;  // log weight of each list before normalising
};

// Computes the rows r_{.|i}. With `shares` (one per list), the lists are normalised separately and
// mixed; the first has what the others leave. Without, the row is one softmax.
inline void fill_rows(const Rows& rows, std::span<const double> precisions,
                      std::span<const double> shares, int workers, float* out, RowReport report) {
  workers = useful(workers, (rows.end - rows.begin + kRowsAtOnce - 1) / kRowsAtOnce);
  std::vector<RowScratch> scratch(static_cast<std::size_t>(workers), RowScratch(rows.length));
  const Kernels& kernel = kernels();
  for_rows(rows, workers, [&](int worker, std::int64_t begin, std::int64_t end) {
    RowScratch& row = scratch[worker];
    for (std::int64_t i = begin; i < end; ++i) {
      row.load(rows, i);
      const std::int64_t at = i * rows.lists;
      double* const log_weights = report.log_weights + at;
      std::fill_n(log_weights, rows.lists, -std::numeric_limits<double>::infinity());
      double peak = -std::numeric_limits<double>::infinity(), others = 0;
      rows.for_lists(i, [&](std::int64_t m, std::int64_t first, std::int64_t size) {
        const RowSums sums = kernel.row_sums(row.d2.data() + first, row.log_weight.data() + first,
                                             size, precisions[at + m]);
        log_weights[m] = sums.peak + std::log(sums.total);
        peak = std::max(peak, log_weights[m]);
      });
      double total = 0;
      for (std::int64_t m = 0; m < rows.lists; ++m) {
        total += std::exp(log_weights[m] - peak);
        if (m > 0 && !shares.empty()) others += shares[at + m];
      }
      total = peak + std::log(total);
      double entropy = 0, largest = 0;
      std::fill_n(report.shares + at, rows.lists, 0.0);
      rows.for_lists(i, [&](std::int64_t m, std::int64_t first, std::int64_t size) {
        double subtract = total;  // from the exponents of the list
        if (!shares.empty())
          subtract = log_weights[m] -
                     (m > 0 ? std::log(shares[at + m]) : std::log1p(-std::min(1.0, others)));
        kernel.row_exp(row.d2.data() + first, row.log_weight.data() + first, size,
                       precisions[at + m], subtract, row.out.data() + first);
        for (std::int64_t k = first; k < first + size; ++k) {
          const double r = row.out[k];
          if (r > 0) entropy -= r * std::log(r);
          report.shares[at + m] += r;
          largest = std::max(largest, r);
          out[i * rows.length + k] = static_cast<float>(r);
        }
      });
      report.perplexity[i] = std::exp(entropy);
      report.largest[i] = largest;
    }
  });
}

}  // namespace ctsne
