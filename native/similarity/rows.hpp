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

// The neighbours of all points. Row i holds first n_same[i] points that do not have another label,
// with log weight log_same[i], then points that do, with log_other[i]. Unlabelled neighbours belong
// to the first list: where points of the own label have almost no weight, an unlabelled one in the
// second list would dominate the row.
struct Rows {
  std::span<const float> distances;
  std::span<const std::int32_t> n_same;
  std::span<const double> log_same, log_other;
  std::int64_t length;      // neighbours per row
  std::int64_t begin, end;  // the rows to compute
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
      log_weight[k] = k < rows.n_same[i] ? rows.log_same[i] : rows.log_other[i];
    }
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

// Calibrates the two lists of every row separately, each to its own perplexity.
inline void find_split_bandwidths(const Rows& rows, std::span<const double> same_perplexity,
                                  std::span<const double> other_perplexity, int workers,
                                  double* same_precision, double* other_precision, bool* reached) {
  workers = useful(workers, (rows.end - rows.begin + kRowsAtOnce - 1) / kRowsAtOnce);
  std::vector<RowScratch> scratch(static_cast<std::size_t>(workers), RowScratch(rows.length));
  for_rows(rows, workers, [&](int worker, std::int64_t begin, std::int64_t end) {
    RowScratch& row = scratch[worker];
    for (std::int64_t i = begin; i < end; ++i) {
      row.load(rows, i);
      const std::span<const double> d2(row.d2), zero(row.zero);
      const auto n_same = static_cast<std::size_t>(rows.n_same[i]);
      const std::size_t n_other = d2.size() - n_same;
      Bandwidth same{0.0, true}, other{0.0, true};
      if (n_same)
        same =
            RowSolver(d2.first(n_same), zero.first(n_same)).monotone(std::log(same_perplexity[i]));
      if (n_other)
        other = RowSolver(d2.last(n_other), zero.first(n_other))
                    .monotone(std::log(other_perplexity[i]));
      same_precision[i] = same.precision;
      other_precision[i] = other.precision;
      reached[i] = same.reached && other.reached;
    }
  });
}

struct RowReport {
  double* perplexity;
  double* other_share;
  double* largest;
  double* log_odds;  // log of (weight on other labels / weight on the rest)
};

// Computes the rows r_{.|i}. With `share` (one per point), the two lists are normalised separately
// and mixed, with that share of the weight on other labels; without, the row is one softmax.
inline void fill_rows(const Rows& rows, std::span<const double> same_precision,
                      std::span<const double> other_precision, std::span<const double> share,
                      int workers, float* out, RowReport report) {
  workers = useful(workers, (rows.end - rows.begin + kRowsAtOnce - 1) / kRowsAtOnce);
  std::vector<RowScratch> scratch(static_cast<std::size_t>(workers), RowScratch(rows.length));
  const Kernels& kernel = kernels();
  for_rows(rows, workers, [&](int worker, std::int64_t begin, std::int64_t end) {
    RowScratch& row = scratch[worker];
    const double never = -std::numeric_limits<double>::infinity();
    for (std::int64_t i = begin; i < end; ++i) {
      row.load(rows, i);
      const std::int64_t n_same = rows.n_same[i], n_other = rows.length - n_same;
      const double* other_d2 = row.d2.data() + n_same;
      const double* other_weight = row.log_weight.data() + n_same;
      double log_same = never, log_other = never;  // log weight of each list before normalising
      if (n_same) {
        const RowSums sums =
            kernel.row_sums(row.d2.data(), row.log_weight.data(), n_same, same_precision[i]);
        log_same = sums.peak + std::log(sums.total);
      }
      if (n_other) {
        const RowSums sums = kernel.row_sums(other_d2, other_weight, n_other, other_precision[i]);
        log_other = sums.peak + std::log(sums.total);
      }
      double total_same, total_other;  // to subtract from the exponents of each list
      if (share.empty()) {
        const double peak = std::max(log_same, log_other);
        total_same = total_other =
            peak + std::log(std::exp(log_same - peak) + std::exp(log_other - peak));
      } else {
        total_same = log_same - std::log1p(-share[i]);
        total_other = log_other - std::log(share[i]);
      }
      if (n_same)
        kernel.row_exp(row.d2.data(), row.log_weight.data(), n_same, same_precision[i], total_same,
                       row.out.data());
      if (n_other)
        kernel.row_exp(other_d2, other_weight, n_other, other_precision[i], total_other,
                       row.out.data() + n_same);
      double entropy = 0, on_other = 0, largest = 0;
      for (std::int64_t k = 0; k < rows.length; ++k) {
        const double r = row.out[k];
        if (r > 0) entropy -= r * std::log(r);
        if (k >= n_same) on_other += r;
        largest = std::max(largest, r);
        out[i * rows.length + k] = static_cast<float>(r);
      }
      report.perplexity[i] = std::exp(entropy);
      report.other_share[i] = on_other;
      report.largest[i] = largest;
      report.log_odds[i] = log_other - log_same;
    }
  });
}

}  // namespace ctsne
