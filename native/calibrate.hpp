// The bandwidth of every point by perplexity, and the rows of similarities that follow from it.
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

#include "kernels.hpp"
#include "parallel.hpp"

namespace ctsne {

struct Bandwidth {
  double precision;
  bool reached;
};

// Entropy is solved to this, well below what counts as reached: where perplexity hardly changes with
// sigma, a small error of it is a large one of the row.
constexpr double kEntropyTolerance = 1e-10;
// Perplexity counts as reached within this relative distance.
constexpr double kReached = 1e-5;

class RowSolver {
 public:
  RowSolver(std::span<const double> d2, std::span<const double> log_weight)
      : d2_(d2), log_weight_(log_weight) {
    const auto [nearest, farthest] = std::minmax_element(d2.begin(), d2.end());
    spread_ = *farthest - *nearest;
    for (const double d : d2) {
      if (d > *nearest) gap_ = std::min(gap_, d - *nearest);
      else ++ties_;
    }
  }

  // With one weight for all, entropy falls steadily with precision: one solution at most.
  Bandwidth monotone(double target) const {
    const double widest = std::log(static_cast<double>(d2_.size()));
    if (target >= widest - kEntropyTolerance) return {0.0, target - widest < kReached};
    const double narrowest = std::log(static_cast<double>(ties_));
    if (target <= narrowest + kEntropyTolerance)  // so many ties at the nearest distance: keep just them
      return {spread_ > 0 ? kNegligible / gap_ : 0.0, narrowest - target < kReached};
    Point low = at(2 / spread_), high = low;
    while (high.entropy >= target) low = high, high = at(4 * high.precision);
    while (low.entropy < target) high = low, low = at(0.25 * low.precision);
    return {crossing(low, high, target), true};
  }

  // With unequal weights several precisions can satisfy the target (paper, Fig. 4). This takes the one
  // that the authors' program takes, whose tables it reproduces: from a wide kernel (`start`) the
  // precision is doubled, or halved, until the target lies between, and the interval is then bisected.
  // Where that finds no interval, `scanned` decides.
  Bandwidth from_wide(double target, double start) const {
    double low = start, high = start;
    if (entropy(start) >= target) {
      do {
        if (high > narrow()) return scanned(target);
        high *= 2;
      } while (entropy(high) >= target);
      low = high / 2;
    } else {
      do {
        if (low * spread_ < 1e-6) return scanned(target);
        low /= 2;
      } while (entropy(low) < target);
      high = low * 2;
    }
    double middle = low;
    for (int step = 0; step < 100; ++step) {
      middle = 0.5 * (low + high);
      const double off = entropy(middle) - target;
      if (std::abs(off) < kEntropyTolerance) break;
      (off > 0 ? low : high) = middle;
    }
    return {middle, true};
  }

 private:
  struct Point {
    double precision, entropy;
  };

  static constexpr double kNegligible = 60;  // exp(-60) counts for nothing

  double entropy(double precision) const {
    const auto size = static_cast<std::int64_t>(d2_.size());
    const RowSums sums = kernels().row_sums(d2_.data(), log_weight_.data(), size, precision);
    return std::log(sums.total) - sums.weighted / sums.total;
  }

  Point at(double precision) const { return {precision, entropy(precision)}; }

  // Precision above which only the nearest points count, whatever the weights.
  double narrow() const {
    const auto [least, most] = std::minmax_element(log_weight_.begin(), log_weight_.end());
    return (*most - *least + kNegligible) / gap_;
  }

  // Where the entropy equals the target between a point that has at least that and one that has less:
  // false position with the Illinois remedy.
  double crossing(Point above, Point below, double target) const {
    double fa = above.entropy - target, fb = below.entropy - target;
    double a = above.precision, b = below.precision, c = a;
    int side = 0;
    for (int step = 0; step < 200; ++step) {
      c = step % 8 == 7 ? 0.5 * (a + b) : (fa * b - fb * a) / (fa - fb);
      const double fc = entropy(c) - target;
      if (std::abs(fc) < kEntropyTolerance || std::abs(b - a) <= 1e-15 * std::abs(a)) break;
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
    return c;
  }

  // The smallest sigma that satisfies the target, or else comes nearest to it.
  Bandwidth scanned(double target) const {
    const auto miss = [&](const Point& point) { return std::abs(point.entropy - target); };
    const auto apart = [&](const Point& a, const Point& b) { return (a.entropy >= target) != (b.entropy >= target); };
    Point before, here, next = at(spread_ > 0 ? narrow() : 0.0), best = here = next;
    do {
      before = here, here = next;
      next = at(std::max(0.0, here.precision - step_from(here.precision)));
      if (apart(here, next)) return between(here, next, target);
      const bool level = miss(here) == miss(before) && miss(here) == miss(next);
      if (miss(here) <= miss(before) && miss(here) <= miss(next) && !level) {
        const Point extreme = nearest(before, here, next, target);
        if (apart(before, extreme)) return between(before, extreme, target);
        if (miss(extreme) < miss(best) - kEntropyTolerance) best = extreme;
      }
    } while (here.precision > 0);
    return {best.precision, miss(best) < kReached};
  }

  // How far the precision may fall with no entry of the row changing much (relative to the largest) while
  // it counts. Strong weights shift all mass from one list to the other within a tiny range.
  double step_from(double precision) const {
    constexpr double kChange = 0.3, kCounts = 20;
    std::size_t peak = 0;
    const auto exponent = [&](std::size_t k) { return log_weight_[k] - precision * d2_[k]; };
    for (std::size_t k = 1; k < d2_.size(); ++k)
      if (exponent(k) > exponent(peak)) peak = k;
    double step = precision;
    for (std::size_t k = 0; k < d2_.size(); ++k) {
      const double below = exponent(peak) - exponent(k), slope = std::abs(d2_[k] - d2_[peak]);
      const double change = kChange + 0.5 * std::max(0.0, below - kCounts);
      if (step * slope > change) step = change / slope;
    }
    return step;
  }

  Bandwidth between(Point a, Point b, double target) const {
    return {a.entropy >= target ? crossing(a, b, target) : crossing(b, a, target), true};
  }

  // The extreme of the entropy around `best` by golden section, or a point beyond the target if there is one.
  Point nearest(Point high, Point best, Point low, double target) const {
    constexpr double kGolden = 0.3819660112501051;
    for (int step = 0; step < 50; ++step) {
      const bool upper = high.precision - best.precision > best.precision - low.precision;
      const Point point = at(best.precision + kGolden * ((upper ? high : low).precision - best.precision));
      if ((point.entropy >= target) != (best.entropy >= target)) return point;
      if (std::abs(point.entropy - target) < std::abs(best.entropy - target)) {
        (upper ? low : high) = best;
        best = point;
      } else {
        (upper ? high : low) = point;
      }
    }
    return best;
  }

  std::span<const double> d2_, log_weight_;
  double spread_;
  double gap_ = std::numeric_limits<double>::infinity();  // from the nearest distance to the next
  std::int64_t ties_ = 0;                                 // points at the nearest distance
};

// The neighbours of all points: row i holds n_same[i] points that are not of another label, then
// points that are, weighed as `log_same` and `log_other` of the row say. An unlabelled neighbour is in
// the first list: beside points of the own label that weigh next to nothing it would otherwise take
// over the row.
struct Rows {
  std::span<const float> distances;
  std::span<const std::int32_t> n_same;
  std::span<const double> log_same;         // per point
  std::span<const double> log_other;
  std::int64_t length;                      // neighbours per row
  std::int64_t begin, end;                  // the rows to work on
};

// Calls work(worker, begin, end) for blocks of the rows to work on.
template <class Work>
void for_rows(const Rows& rows, int workers, Work&& work) {
  parallel_blocks(rows.end - rows.begin, 64, workers, [&](int worker, std::int64_t begin, std::int64_t end) {
    work(worker, rows.begin + begin, rows.begin + end);
  });
}

// One row in double precision with the weight of every entry.
struct RowScratch {
  explicit RowScratch(std::int64_t length) : d2(length), log_weight(length), zero(length, 0.0), out(length) {}
  std::vector<double> d2, log_weight, zero, out;

  void load(const Rows& rows, std::int64_t i) {
    const float* distances = rows.distances.data() + i * rows.length;
    // Differences of squares are what counts, and far from the nearest point they would lose digits.
    const double nearest = *std::min_element(distances, distances + rows.length);
    for (std::int64_t k = 0; k < rows.length; ++k) {
      const double d = distances[k];
      d2[k] = (d - nearest) * (d + nearest);
      log_weight[k] = k < rows.n_same[i] ? rows.log_same[i] : rows.log_other[i];
    }
  }
};

enum class Target { kUnweighted, kWeighted };  // which distribution shall have the perplexity: p or r

// `wide` is the precision of a kernel as wide as the data, where the search begins.
inline void find_bandwidths(const Rows& rows, std::span<const double> perplexity, Target which, double wide,
                            int workers, double* precision, bool* reached) {
  std::vector<RowScratch> scratch(static_cast<std::size_t>(std::max(1, workers)), RowScratch(rows.length));
  for_rows(rows, workers, [&](int worker, std::int64_t begin, std::int64_t end) {
    RowScratch& row = scratch[worker];
    for (std::int64_t i = begin; i < end; ++i) {
      row.load(rows, i);
      const double target = std::log(perplexity[i]);
      const bool equal = which == Target::kUnweighted ||
                         std::equal(row.log_weight.begin() + 1, row.log_weight.end(), row.log_weight.begin());
      const Bandwidth found = equal ? RowSolver(row.d2, row.zero).monotone(target)
                                    : RowSolver(row.d2, row.log_weight).from_wide(target, wide);
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
  for_rows(rows, workers, [&](int worker, std::int64_t begin, std::int64_t end) {
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
  for_rows(rows, workers, [&](int worker, std::int64_t begin, std::int64_t end) {
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
