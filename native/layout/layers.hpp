// Takes charges from fine meshes to coarse ones, and potentials back, in parallel bands of rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "loops/kernels.hpp"
#include "parallel/parallel.hpp"

namespace ctsne {

// How many coarse nodes have splines that reach these fine nodes.
inline std::int64_t coarse_nodes(std::int64_t fine) {
  return (fine - 1 + kSplineReach) / kCoarser + 1 + kCoarseShift;
}

// Scratch of the workers, aligned: rows of both meshes are whole bands of the widest vectors.
class LayerScratch {
 public:
  LayerScratch(const MeshLayers& layers, int workers)
      : room_((2 * layers.fine_width + layers.coarse_width) * kernels().lanes / kLine),
        lines_(std::make_unique_for_overwrite<Line[]>(static_cast<std::size_t>(room_ * workers))) {}
  float* of(int worker) { return lines_[static_cast<std::size_t>(worker * room_)].floats; }

 private:
  static constexpr std::int64_t kLine = 16;
  struct alignas(64) Line {
    float floats[kLine];
  };
  std::int64_t room_;
  std::unique_ptr<Line[]> lines_;
};

inline void coarsen(const MeshLayers& layers, const float* fine, std::int64_t grids, int workers,
                    float* coarse) {
  const Kernels& run = kernels();
  const std::int64_t each = layers.coarse_rows / run.lanes,
                     size = layers.coarse_rows * layers.coarse_width;
  workers = worthwhile(workers, 0.5 * static_cast<double>(grids * layers.fine_size));
  LayerScratch scratch(layers, workers);
  parallel_for(grids * each, workers, [&](int worker, std::int64_t at) {
    const std::int64_t g = at / each, row = at % each * run.lanes;
    run.coarsen_rows(layers, fine + g * layers.fine_size, row, coarse + g * size,
                     scratch.of(worker));
  });
}

// Adds the potentials of the coarse meshes to those of the fine ones.
inline void refine(const MeshLayers& layers, const float* coarse, std::int64_t grids, int workers,
                   float* fine) {
  const Kernels& run = kernels();
  const std::int64_t each = layers.coarse_rows / run.lanes,
                     size = layers.coarse_rows * layers.coarse_width;
  workers = worthwhile(workers, 0.5 * static_cast<double>(layers.fine_size));
  LayerScratch scratch(layers, workers);
  const auto rows = std::make_unique_for_overwrite<float[]>(
      static_cast<std::size_t>(layers.coarse_rows * layers.fine_width));
  for (std::int64_t g = 0; g < grids; ++g) {
    parallel_for(each, workers, [&](int worker, std::int64_t band) {
      run.lengthen_rows(layers, coarse + g * size, band * run.lanes, rows.get(),
                        scratch.of(worker));
    });
    parallel_blocks(layers.nodes[0], run.lanes, workers,
                    [&](int, std::int64_t begin, std::int64_t end) {
                      for (std::int64_t row = begin; row < end; ++row)
                        run.add_rows(layers, rows.get(), row, fine + g * layers.fine_size);
                    });
  }
}

}  // namespace ctsne
