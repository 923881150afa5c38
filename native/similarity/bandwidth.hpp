// The bandwidth of one point by perplexity.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "loops/kernels.hpp"

namespace ctsne {

struct Bandwidth {
  double precision;
  bool reached;
};

// Entropy is solved to this tolerance, well below what counts as reached: where perplexity hardly
// changes with sigma, a small error in it is a large error in the row.
constexpr double kEntropyTolerance = 1e-10;
// A perplexity this close to the target, relative to it, counts as reached.
constexpr double kReached = 1e-5;

// Solves for the bandwidth of one row, softmax(log_weight - precision * d²).
class RowSolver {
 public:
  RowSolver(std::span<const double> d2, std::span<const double> log_weight)
      : d2_(d2), log_weight_(log_weight) {
    const auto [nearest, farthest] = std::minmax_element(d2.begin(), d2.end());
    spread_ = *farthest - *nearest;
    for (const double d : d2) {
      if (d > *nearest)
        gap_ = std::min(gap_, d - *nearest);
      else
        ++ties_;
    }
  }

  // With equal weights, entropy decreases with precision: there is at most one solution.
  Bandwidth monotone(double target) const {
    if (std::isnan(target)) return {0.0, false};
    const double widest = std::log(static_cast<double>(d2_.size()));
    if (target >= widest - kEntropyTolerance) return {0.0, target - widest < kReached};
    const double narrowest = std::log(static_cast<double>(ties_));
    // With as many ties at the nearest distance, only these count.
    if (target <= narrowest + kEntropyTolerance)
      return {spread_ > 0 ? kNegligible / gap_ : 0.0, narrowest - target < kReached};
    Point low = at(2 / spread_), high = low;
    while (high.entropy >= target) low = high, high = at(4 * high.precision);
    while (low.entropy < target) high = low, low = at(0.25 * low.precision);
    return {crossing(low, high, target), true};
  }

  // With unequal weights several precisions can satisfy the target (paper, Fig. 4). This finds the
  // one that the authors' program finds, so that it reproduces their tables: starting from a wide
  // kernel, the precision is doubled or halved until an interval holds the target, which is then
  // bisected. If no interval does, `scanned` decides.
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

  static constexpr double kNegligible = 60;  // exp(-60) is negligible

  double entropy(double precision) const {
    const auto size = static_cast<std::int64_t>(d2_.size());
    const RowSums sums = kernels().row_sums(d2_.data(), log_weight_.data(), size, precision);
    return std::log(sums.total) - sums.weighted / sums.total;
  }

  Point at(double precision) const { return {precision, entropy(precision)}; }

  // The precision above which only the nearest points count, whatever the weights.
  double narrow() const {
    const auto [least, most] = std::minmax_element(log_weight_.begin(), log_weight_.end());
    return (*most - *least + kNegligible) / gap_;
  }

  // Finds where the entropy equals the target, between a point at or above it and one below:
  // false position with the Illinois modification.
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

  // Finds the smallest sigma that satisfies the target, or else the one that comes nearest to it.
  Bandwidth scanned(double target) const {
    const auto miss = [&](const Point& point) { return std::abs(point.entropy - target); };
    const auto apart = [&](const Point& a, const Point& b) {
      return (a.entropy >= target) != (b.entropy >= target);
    };
    Point before, here, next = at(spread_ > 0 ? narrow() : 0.0), best = here = next;
    do {
      before = here, here = next;
      const double lower = here.precision - step_from(here.precision);
      next = at(lower > 0 && lower < here.precision ? lower : 0.0);  // always moves
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

  // How far the precision can decrease before an entry that counts changes much relative to the
  // largest. Strong weights move all weight from one list to the other within a tiny range.
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

  // Finds the extreme of the entropy around `best` by golden section, or a point beyond the target.
  Point nearest(Point high, Point best, Point low, double target) const {
    constexpr double kGolden = 0.3819660112501051;
    for (int step = 0; step < 50; ++step) {
      const bool upper = high.precision - best.precision > best.precision - low.precision;
      const Point point =
          at(best.precision + kGolden * ((upper ? high : low).precision - best.precision));
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

}  // namespace ctsne
