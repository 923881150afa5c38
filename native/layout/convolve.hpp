// The convolution of a plane mesh with a kernel given by its transform, in parallel bands.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>

#include "loops/kernels.hpp"
#include "parallel/parallel.hpp"

namespace ctsne {

// Arrays of meshes are padded to whole bands: rows to two of the widest vectors, columns to one.
constexpr std::int64_t kBandRows = 32;
constexpr std::int64_t kBandColumns = 16;

// Plans the passes of a transform; returns false if n has other factors than 2, 3 and 5.
inline bool factorize(std::int64_t n, FftPlan& plan) {
  plan.n = n;
  plan.passes = 0;
  for (const int radix : {4, 2, 3, 5})
    for (; n % radix == 0; n /= radix) plan.radix[plan.passes++] = radix;
  return n == 1;
}

// Floats in the twiddle factors of all passes; those of a half step follow them.
inline std::int64_t twiddle_floats(const FftPlan& plan) {
  std::int64_t total = 0, length = plan.n;
  for (int k = 0; k < plan.passes; ++k) {
    length /= plan.radix[k];
    total += 2 * (plan.radix[k] - 1) * length;
  }
  return total;
}

inline void fill_twiddles(const FftPlan& plan, float* out) {
  const auto put = [&](double turns) {
    *out++ = static_cast<float>(std::cos(2 * std::numbers::pi * turns));
    *out++ = static_cast<float>(-std::sin(2 * std::numbers::pi * turns));
  };
  std::int64_t length = plan.n;
  for (int k = 0; k < plan.passes; ++k) {
    const auto whole = static_cast<double>(length);
    length /= plan.radix[k];
    for (std::int64_t p = 0; p < length; ++p)
      for (int power = 1; power < plan.radix[k]; ++power)
        put(static_cast<double>(p * power) / whole);
  }
  for (std::int64_t j = 0; j < plan.n; ++j)
    put(0.5 * static_cast<double>(j) / static_cast<double>(plan.n));
}

// Convolves every grid in place, `together` at a time; `spectra` has room for twice as many grids.
inline void convolve(const MeshTransform& mesh, const float* kernel, std::int64_t grids,
                     std::int64_t size, std::int64_t together, int workers, float* grid,
                     float* spectra) {
  struct alignas(64) Line {
    float floats[16];
  };
  const Kernels& run = kernels();
  const std::int64_t rows = mesh.columns.n, band = 2 * run.lanes;
  workers = worthwhile(workers,
                       20.0 * static_cast<double>(std::min(grids, together) * rows * mesh.width));
  const std::int64_t room = (5 * mesh.longest * 2 * run.lanes + 15) / 16;
  const auto lines =
      std::make_unique_for_overwrite<Line[]>(static_cast<std::size_t>(room * workers));
  const auto scratch = [&](int worker) {
    return lines[static_cast<std::size_t>(worker * room)].floats;
  };
  for (std::int64_t first = 0; first < grids; first += together) {
    // Calls work(worker, grid, its spectrum, first row or column) for every band of these grids.
    const auto bands = [&](std::int64_t length, std::int64_t width, auto&& work) {
      const std::int64_t each = (length + width - 1) / width;
      parallel_for(
          std::min(together, grids - first) * each, workers, [&](int worker, std::int64_t at) {
            const std::int64_t g = at / each;
            work(worker, grid + (first + g) * size, spectra + 2 * g * size, at % each * width);
          });
    };
    bands(rows, band, [&](int worker, const float* own, float* spectrum, std::int64_t row) {
      run.transform_rows(mesh, own, row, spectrum, scratch(worker));
    });
    bands(mesh.frequencies, run.lanes,
          [&](int worker, const float*, float* spectrum, std::int64_t column) {
            run.convolve_columns(mesh, kernel, column, spectrum, scratch(worker));
          });
    bands(rows, band, [&](int worker, float* own, float* spectrum, std::int64_t row) {
      // Rows beyond the nodes hold rounding errors that the kernel did not scale. On a tiny map
      // these exceed the potential, and each such row shares its transform with a row of nodes.
      const std::int64_t end = row + band, empty = std::min(std::max(rows, row), end);
      std::fill_n(spectrum + 2 * empty * mesh.width, 2 * (end - empty) * mesh.width, 0.0f);
      run.restore_rows(mesh, spectrum, row, own, scratch(worker));
      std::fill_n(own + empty * mesh.width, (end - empty) * mesh.width,
                  0.0f);  // for the next charges
    });
  }
}

}  // namespace ctsne
