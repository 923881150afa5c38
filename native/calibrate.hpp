// The bandwidth of every point by perplexity, and the rows of similarities that follow from it.
//
// A row is softmax(log_weight - precision * d²) with precision = 1 / (2 sigma²). Everything is kept
// as logarithms, so weights may be as small as 1e-300.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <vector>

#include "kernels.hpp"
#include "parallel.hpp"

namespace ctsne {

struct Bandwidth {
  double precision;
  bool reached;
};

// Entropy is solved to this; perplexity is then right to the same relative error.
constexpr double kEntropyTolerance = 1e-7;
// Perplexity counts as reached within this relative distance.
constexpr double kReached = 1e-5;

class RowSolver {
 public:
  RowSolver(std::span<const double> d2, std::span<const double> log_weight)
      : d2_(d2), log_weight_(log_weight) {}

  double entropy(double precision) const {
    const RowSums sums = kernels().row_sums(d2_.data(), log_weight_.data(), size(), precision);
    return std::log(sums.total) - sums.weighted / sums.total;
  }

  // Precision where the entropy equals `target`, given entropy < target at `high` precision and
  // >= target at `low`: false position on the logarithm, with the Illinois remedy.
  double bracketed(double low, double at_low, double high, double at_high, double target) const {
    double a = std::log(low), b = std::log(high), fa = at_low - target, fb = at_high - target;
    int side = 0;
    for (int step = 0; step < 200; ++step) {
      const double c = step % 8 == 7 ? 0.5 * (a + b) : (fa * b - fb * a) / (fa - fb);
      const double fc = entropy(std::exp(c)) - target;
      if (std::abs(fc) < kEntropyTolerance || std::abs(b - a) < 1e-14) return std::exp(c);
      if (fc >= 0) {
        a = c, fa = fc;
        if (side == 1) fb *= 0.5;
        side = 1;
      } else {
        b = c, fb = fc;
        if (side == -1) fa *= 0.5;
        side = -1;
      }
    }
    return std::exp(0.5 * (a + b));
  }

  // With one weight for all, entropy falls steadily with precision: one solution at most.
  Bandwidth monotone(double target) const {
    const double widest = std::log(static_cast<double>(size()));
    if (target >= widest) return {0.0, target - widest < kReached};
    const double nearest = *std::min_element(d2_.begin(), d2_.end());
    double spread = 0, gap = std::numeric_limits<double>::infinity();
    std::int64_t ties = 0;
    for (const double d : d2_) {
      spread += d - nearest;
      if (d > nearest) gap = std::min(gap, d - nearest);
      else ++ties;
    }
    const double narrowest = std::log(static_cast<double>(ties));
    if (target <= narrowest + kEntropyTolerance)  // so many ties at the nearest distance: keep just them
      return {ties == size() ? 0.0 : 60.0 / gap, narrowest - target < kReached};
    // Within the limits of floating-point numbers: distances may be of any scale.
    double high = std::clamp(static_cast<double>(size()) / spread, 1e-290, 1e290);
    double at_high = entropy(high), low = high, at_low = at_high;
    while (at_high >= target && high < 1e300) low = high, at_low = at_high, at_high = entropy(high *= 4);
    while (at_low < target && low > 1e-300) high = low, at_high = at_low, at_low = entropy(low *= 0.25);
    return {bracketed(low, at_low, high, at_high, target), true};
  }

  // With unequal weights several precisions can satisfy the target (paper, Fig. 4). This takes the one
  // that the authors' program takes, whose tables it reproduces: from a wide kernel (`start`) the
  // precision is doubled, or halved, until the target lies between, and the interval is then bisected.
  // False where that finds no interval.
  bool from_wide(double target, double start, Bandwidth& found) const {
    double low = start, high = start;
    if (entropy(start) >= target) {
      do {
        if ((high *= 2) > 1e300) return false;
      } while (entropy(high) >= target);
      low = high / 2;
    } else {
      do {
        if ((low /= 2) < 1e-300 || low * spread() < 1e-6) return false;
      } while (entropy(low) < target);
      high = low * 2;
    }
    for (int step = 0; step < 100; ++step) {
      const double middle = 0.5 * (low + high), off = entropy(middle) - target;
      found = {middle, true};
      if (std::abs(off) < kEntropyTolerance) break;
      (off > 0 ? low : high) = middle;
    }
    return true;
  }

  // Where the search from a wide kernel fails: the smallest sigma that satisfies the target, or else
  // comes nearest to it. A hump of the entropy is as narrow as one over the weights' logarithm, hence
  // the small steps. `start` must be so large that the entropy has not reached the target before.
  Bandwidth scanned(double target, double start) const {
    if (spread() <= 0) return {0.0, std::abs(entropy(1.0) - target) < kReached};
    constexpr double kStep = 0.98;
    const double last = 1e-5 / spread();
    double high = std::max(start, last), at_high = entropy(high);
    if (at_high >= target) return {high, at_high - target < kReached};
    double best = high, at_best = at_high;
    while (high > last) {
      const double low = high * kStep, at_low = entropy(low);
      if (at_low >= target) return {bracketed(low, at_low, high, at_high, target), true};
      if (at_low > at_best) best = low, at_best = at_low;
      high = low, at_high = at_low;
    }
    return {best, target - at_best < kReached};
  }

  std::int64_t size() const { return static_cast<std::int64_t>(d2_.size()); }

 private:
  double spread() const {
    const auto [nearest, farthest] = std::minmax_element(d2_.begin(), d2_.end());
    return *farthest - *nearest;
  }

  std::span<const double> d2_, log_weight_;
};

// The neighbours of all points: row i holds n_same[i] points that are not of another label, then
// points that are. A pair with an unlabelled point weighs one; the others as `log_same`/`log_other`
// of the row say.
struct Rows {
  std::span<const float> distances;
  std::span<const std::int32_t> indices;
  std::span<const std::int32_t> n_same;
  std::span<const std::int32_t> codes;      // label of every point, negative where missing
  std::span<const double> log_same;         // per point
  std::span<const double> log_other;
  std::int64_t length;                      // neighbours per row

  std::int64_t count() const { return static_cast<std::int64_t>(n_same.size()); }
};

// One row in double precision with the weight of every entry.
struct RowScratch {
  explicit RowScratch(std::int64_t length) : d2(length), log_weight(length), zero(length, 0.0), out(length) {}
  std::vector<double> d2, log_weight, zero, out;

  void load(const Rows& rows, std::int64_t i) {
    const float* distances = rows.distances.data() + i * rows.length;
    const std::int32_t* indices = rows.indices.data() + i * rows.length;
    for (std::int64_t k = 0; k < rows.length; ++k) {
      const double d = distances[k];
      d2[k] = d * d;
      const bool neutral = rows.codes[i] < 0 || rows.codes[indices[k]] < 0;
      log_weight[k] = neutral ? 0.0 : k < rows.n_same[i] ? rows.log_same[i] : rows.log_other[i];
    }
  }
};

// A precision beyond which a row of unequal weights cannot have reached the target entropy: a mixture
// of c distributions has at most log(c) more entropy than the widest of them.
inline double scan_start(const RowScratch& row, std::initializer_list<double> weights, double target,
                         std::vector<double>& part) {
  const double share = std::max(0.0, target - std::log(static_cast<double>(weights.size())));
  double start = 0;
  for (const double weight : weights) {
    part.clear();
    for (std::size_t k = 0; k < row.d2.size(); ++k)
      if (row.log_weight[k] == weight) part.push_back(row.d2[k]);
    if (part.empty() || std::log(static_cast<double>(part.size())) < share) continue;
    const RowSolver solver(part, std::span(row.zero).first(part.size()));
    start = std::max(start, solver.monotone(share).precision);
  }
  return start;
}

enum class Target { kUnweighted, kWeighted };  // which distribution shall have the perplexity: p or r

// `wide` is the precision of a kernel as wide as the data, where the search begins.
inline void find_bandwidths(const Rows& rows, std::span<const double> perplexity, Target which, double wide,
                            int workers, double* precision, bool* reached) {
  std::vector<RowScratch> scratch(static_cast<std::size_t>(std::max(1, workers)), RowScratch(rows.length));
  std::vector<std::vector<double>> parts(scratch.size());
  for (auto& part : parts) part.reserve(rows.length);
  parallel_blocks(rows.count(), 64, workers, [&](int worker, std::int64_t begin, std::int64_t end) {
    RowScratch& row = scratch[worker];
    for (std::int64_t i = begin; i < end; ++i) {
      row.load(rows, i);
      const double target = std::log(perplexity[i]);
      const bool equal = which == Target::kUnweighted ||
                         std::equal(row.log_weight.begin() + 1, row.log_weight.end(), row.log_weight.begin());
      Bandwidth found;
      if (equal) {
        found = RowSolver(row.d2, row.zero).monotone(target);
      } else {
        const RowSolver solver(row.d2, row.log_weight);
        if (!solver.from_wide(target, wide, found))
          found = solver.scanned(
              target, scan_start(row, {rows.log_same[i], rows.log_other[i], 0.0}, target, parts[worker]));
      }
      precision[i] = found.precision;
      reached[i] = found.reached;
    }
  });
}

// The bandwidths of both lists by themselves, each to a perplexity of its own (method balanced).
inline void find_split_bandwidths(const Rows& rows, std::span<const double> same_perplexity,
                                  std::span<const double> other_perplexity, int workers,
                                  double* same_precision, double* other_precision, bool* reached) {
  std::vector<RowScratch> scratch(static_cast<std::size_t>(std::max(1, workers)), RowScratch(rows.length));
  parallel_blocks(rows.count(), 64, workers, [&](int worker, std::int64_t begin, std::int64_t end) {
    RowScratch& row = scratch[worker];
    for (std::int64_t i = begin; i < end; ++i) {
      row.load(rows, i);
      const std::span<const double> d2(row.d2), zero(row.zero);
      const auto n_same = static_cast<std::size_t>(rows.n_same[i]);
      const std::size_t n_other = d2.size() - n_same;
      Bandwidth same{0.0, true}, other{0.0, true};
      if (n_same) same = RowSolver(d2.first(n_same), zero.first(n_same)).monotone(std::log(same_perplexity[i]));
      if (n_other) other = RowSolver(d2.last(n_other), zero.first(n_other)).monotone(std::log(other_perplexity[i]));
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
  double* log_odds;  // log of (mass on other labels / mass on the rest)
};

// The rows r_{.|i}. With `mass` given (one per point), the two lists are normalised by themselves and
// mixed, `mass` on the other labels; without, the whole row is one softmax.
inline void fill_rows(const Rows& rows, std::span<const double> same_precision,
                      std::span<const double> other_precision, std::span<const double> mass, int workers,
                      float* out, RowReport report) {
  std::vector<RowScratch> scratch(static_cast<std::size_t>(std::max(1, workers)), RowScratch(rows.length));
  const Kernels& kernel = kernels();
  parallel_blocks(rows.count(), 64, workers, [&](int worker, std::int64_t begin, std::int64_t end) {
    RowScratch& row = scratch[worker];
    const double never = -std::numeric_limits<double>::infinity();
    for (std::int64_t i = begin; i < end; ++i) {
      row.load(rows, i);
      const std::int64_t n_same = rows.n_same[i], n_other = rows.length - n_same;
      const double* other_d2 = row.d2.data() + n_same;
      const double* other_weight = row.log_weight.data() + n_same;
      double log_same = never, log_other = never;  // log of the mass of each list before normalising
      if (n_same) {
        const RowSums sums = kernel.row_sums(row.d2.data(), row.log_weight.data(), n_same, same_precision[i]);
        log_same = sums.peak + std::log(sums.total);
      }
      if (n_other) {
        const RowSums sums = kernel.row_sums(other_d2, other_weight, n_other, other_precision[i]);
        log_other = sums.peak + std::log(sums.total);
      }
      double total_same, total_other;  // what to subtract from the exponents of each list
      if (mass.empty()) {
        const double peak = std::max(log_same, log_other);
        total_same = total_other = peak + std::log(std::exp(log_same - peak) + std::exp(log_other - peak));
      } else {
        total_same = log_same - std::log1p(-mass[i]);
        total_other = log_other - std::log(mass[i]);
      }
      if (n_same)
        kernel.row_exp(row.d2.data(), row.log_weight.data(), n_same, same_precision[i], total_same, row.out.data());
      if (n_other)
        kernel.row_exp(other_d2, other_weight, n_other, other_precision[i], total_other, row.out.data() + n_same);
      double entropy = 0, share = 0, largest = 0;
      for (std::int64_t k = 0; k < rows.length; ++k) {
        const double r = row.out[k];
        if (r > 0) entropy -= r * std::log(r);
        if (k >= n_same) share += r;
        largest = std::max(largest, r);
        out[i * rows.length + k] = static_cast<float>(r);
      }
      report.perplexity[i] = std::exp(entropy);
      report.other_share[i] = share;
      report.largest[i] = largest;
      report.log_odds[i] = log_other - log_same;
    }
  });
}

}  // namespace ctsne
