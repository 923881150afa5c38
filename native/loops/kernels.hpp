// The hot loops, as plain functions on pointers: one table of them per instruction set.
//
// kernels.cpp is compiled several times and fills one table each time; dispatch.cpp chooses one.
// Nothing here allocates, throws or uses threads: the drivers in the other folders do.
#pragma once

#include <cstdint>

namespace ctsne {

constexpr int kBlock = 16;       // points in one packed block of neighbour candidates
constexpr int kSplineOrder = 6;  // B-spline order of the mesh: degree 5, six nodes along each axis
constexpr int kMaxDims = 3;

// The integer part of a position, 0 if it is negative or not a number; meshes have fewer nodes.
static inline std::int32_t whole(float position) {
  constexpr float kMost = 1e9f;
  position = position > 0.0f ? position : 0.0f;
  return static_cast<std::int32_t>(position < kMost ? position : kMost);
}

// One query of the neighbour search and its current list of candidates.
struct ScanQuery {
  const float* x;         // its coordinates
  std::int32_t code;      // points with this code are skipped, if points have codes
  float limit;            // candidates farther than this cannot enter the list
  std::int32_t keep;      // how many candidates the list must retain
  std::int32_t filled;    // how many it holds now
  std::int32_t capacity;  // how many it can hold before it shrinks
  std::int32_t most;      // how far the capacity may grow for candidates that are equally far
  float* d2;              // squared distances of the candidates
  std::uint32_t* at;      // positions of the candidates
};

// The candidates of a scan: points packed in blocks of kBlock, [block][dimension][lane].
struct ScanPoints {
  const float* packed;
  const std::int32_t* codes;  // of every position in whole blocks, or null
  std::int64_t n;
  std::int64_t dims;
};

struct RowSums {
  double peak;      // largest exponent
  double total;     // sum of exp(exponent - peak)
  double weighted;  // sum of (exponent - peak) exp(exponent - peak)
};

// The kernel (1 + d²/dof)^(-(dof+1)/2) of the low-dimensional similarities.
struct Tail {
  float dof;
  int dims;
};

// Similarities row by row: entries of row i at [indptr[i], indptr[i+1]).
struct SparseRows {
  const std::int64_t* indptr;
  const std::int32_t* indices;
  const float* values;
  std::int64_t count;   // rows
  std::int64_t stored;  // entries
};

// The same, packed in groups of eight: row i has groups [starts[i], starts[i+1]). Group g has
// columns bases[g] + codes[16 g + k], and values codes[16 g + 8 + k], the highest bits of floats
// without the sign.
struct PackedRows {
  const std::int64_t* starts;
  const std::int32_t* bases;
  const std::uint16_t* codes;
  std::int64_t count;
  std::int64_t stored;
};
constexpr int kPackedShift = 15;

struct StepOptions {
  float pull;  // factor on the attraction: the exaggeration
  float push;  // factor on the repulsion: one over the normaliser
  float learning_rate;
  float momentum;
  float longest;  // longer steps are shortened to this
};

struct MeshShape {
  int dims;
  std::int64_t nodes[kMaxDims];   // usable nodes along each axis
  std::int64_t stride[kMaxDims];  // distance between neighbouring nodes along each axis, in floats
  float origin[kMaxDims];
  float spacing;
  std::int64_t size;  // floats per mesh, if several follow each other
};

// What acts on new points in a finished map: potentials on grids, and points summed exactly.
struct PlaceFields {
  MeshShape shape;
  const float* grids;        // one after the other, shape.size floats each
  const double* offset;      // of each grid: added to what is read from it
  const float* const* axis;  // positions of the points summed exactly, one array per axis
};

struct PlaceOptions {
  Tail tail;
  double pull;   // factor on the attraction: the exaggeration
  double usual;  // mean potential of the points of the map
  double longest, enough;  // longer steps are shortened; a shorter one is the last
  float low[kMaxDims], high[kMaxDims];  // positions stay inside
  std::int32_t steps;                   // at most
};

// The potential that a new point feels: share times a grid, and own times that of points
// [from, to).
struct NewPoint {
  std::int64_t grid;
  float share, own;
  std::int64_t from, to;
};

// Positions and weights of a new point's neighbours. Arrays are filled up to a multiple of eight
// with weights of zero.
struct NearPlaces {
  const float* axis[kMaxDims];
  const float* weight;
  std::int64_t count;
};

// Points of a plane map in the order of cells, row by row: cell (r, c) holds points
// [start[columns r + c], start[columns r + c + 1]). All arrays except `start` can be read
// kMostLanes past the last point.
struct NearPoints {
  float *x, *y, *charge;
  std::int32_t *group, *point;  // group of each point, and its index in the map
  const std::int32_t* start;
  std::int64_t rows, columns;
};
constexpr std::int64_t kNearCells = 2;  // cells per reach, along each axis
constexpr int kMostLanes = 16;

// A Fourier transform of length n, a product of 2, 3 and 5.
struct FftPlan {
  std::int64_t n;
  int passes;
  int radix[64];
  const float* twiddles;  // of all passes, cosine and sine alternating
  const float* half;      // exp(-i pi j/n) for j below n
};

// The mesh of a plane map for its convolution: all arrays have rows of `width` floats.
struct MeshTransform {
  FftPlan rows;     // along a row, the last axis
  FftPlan columns;  // along the first axis
  std::int64_t width;
  std::int64_t longest;      // of a row and a column: the length of each of five scratch arrays
  bool doubled;              // with zeros; else the mesh wraps around
  std::int64_t frequencies;  // of a row: columns of the spectrum
};

// Two meshes of a plane map, one with nodes kCoarser times as far apart. Coarse node kCoarseShift
// is at the first fine node. A spline of the coarse mesh is a sum of splines of the fine one, up to
// kSplineReach fine nodes away.
struct MeshLayers {
  std::int64_t nodes[2];                   // of the fine mesh
  std::int64_t fine_width, fine_size;      // floats per row, and in total
  std::int64_t coarse_rows, coarse_width;  // of the coarse mesh, including its padding
};
constexpr std::int64_t kCoarser = 4, kSplineReach = kSplineOrder * (kCoarser - 1) / 2;
constexpr std::int64_t kCoarseShift = (kSplineReach + kCoarser - 1) / kCoarser;

struct Kernels {
  const char* name;
  int lanes;

  // Offers the points at positions [begin, end) to every query.
  void (*scan)(const ScanPoints&, std::int64_t begin, std::int64_t end, ScanQuery*, int count);
  // Offers some points of the blocks [first, first + blocks): to query q those of the lanes set in
  // lanes[q][block - first].
  void (*scan_lanes)(const ScanPoints&, std::int64_t first, std::int64_t blocks,
                     ScanQuery* const* queries, const std::uint16_t* const* lanes, int count);
  // Drops all but about the `keep` nearest candidates of a query.
  void (*shrink)(ScanQuery&);
  // Finds the nearest point for each of `count` rows.
  void (*nearest)(const ScanPoints&, const float* const* x, std::int64_t count, std::int32_t* out);
  double (*squared_distance_f32)(const float*, const float*, std::int64_t dims);
  double (*squared_distance_f64)(const double*, const double*, std::int64_t dims);

  // Softmax sums of log_weight - precision * d2, and the normalised row itself.
  RowSums (*row_sums)(const double* d2, const double* log_weight, std::int64_t k, double precision);
  void (*row_exp)(const double* d2, const double* log_weight, std::int64_t k, double precision,
                  double log_total, double* row);

  // sum_j p_ij (y_i - y_j) / (1 + d²/dof), times (dof+1)/(2 dof), for rows [begin, end); `out`
  // holds only these rows.
  void (*attract)(Tail, const SparseRows&, const float* y, std::int64_t begin, std::int64_t end,
                  float* out);
  void (*attract_packed)(Tail, const PackedRows&, const float* y, std::int64_t begin,
                         std::int64_t end, float* out);
  // sum_ij p_ij log K(d_ij) over rows [begin, end).
  double (*log_kernel_sum)(Tail, const SparseRows&, const float* y, std::int64_t begin,
                           std::int64_t end);
  double (*log_kernel_sum_packed)(Tail, const PackedRows&, const float* y, std::int64_t begin,
                                  std::int64_t end);

  // Steps some points: updates `update` and `gains`, and writes the new positions to `moved`.
  void (*step)(const StepOptions&, int dims, std::int64_t points, const float* attraction,
               const float* repulsion, const float* y, float* update, float* gains, float* moved);

  // Adds coefficient * (-gradient/2 of sum_j c_j K_ij) to the forces on targets [begin, end), of
  // sources [from, to) without the point itself, and returns the potential summed over the targets.
  // Positions have one array per axis; a null charge is one everywhere.
  double (*repel)(Tail, const float* const* axis, const float* charge, std::int64_t from,
                  std::int64_t to, std::int64_t begin, std::int64_t end, float coefficient,
                  const float* target_charge, float* force);

  // Adds the forces of all points within reach of a row of cells, and returns their potential,
  // including each point's own. same[g] is the weight of pairs inside group g.
  double (*repel_near)(const NearPoints&, float reach, const float* same, std::int64_t row,
                       float* force);

  // Adds the charges of points[0..count) to the grid.
  void (*spread)(const MeshShape&, const float* y, const float* charge, const std::int32_t* points,
                 std::int64_t count, float* grid);
  // Adds coefficient * (-gradient/2) of the grid's spline to the forces on points [begin, end), and
  // returns the value of the spline plus offset, times the coefficient, summed over the points.
  double (*gather)(const MeshShape&, const float* grid, const float* y, std::int64_t begin,
                   std::int64_t end, double offset, float coefficient, const float* target_charge,
                   float* force);

  // Moves a new point from its start to the minimum of its loss; returns the number of steps.
  std::int32_t (*place)(const PlaceFields&, const PlaceOptions&, const NewPoint&, const NearPlaces&,
                        float* at);
  // Multiplies rows by a matrix with `width` columns; the bits of a row depend on no other row.
  void (*project)(const double* rows, std::int64_t count, std::int64_t columns,
                  const double* matrix, std::int64_t width, double* out);

  // The convolution of a plane mesh in three steps: transform 2 * lanes rows of the grid, multiply
  // `lanes` columns of the spectrum by the kernel, and transform 2 * lanes rows back.
  void (*transform_rows)(const MeshTransform&, const float* grid, std::int64_t row, float* spectrum,
                         float* scratch);
  void (*convolve_columns)(const MeshTransform&, const float* kernel, std::int64_t column,
                           float* spectrum, float* scratch);
  void (*restore_rows)(const MeshTransform&, const float* spectrum, std::int64_t row, float* grid,
                       float* scratch);

  // Takes charges of the fine mesh to `lanes` rows of the coarse one, from `row` on.
  void (*coarsen_rows)(const MeshLayers&, const float* fine, std::int64_t row, float* coarse,
                       float* scratch);
  // Takes potentials of the coarse mesh to the fine one: `lanes` rows get as long as fine ones, and
  // are then added to a row of the fine mesh.
  void (*lengthen_rows)(const MeshLayers&, const float* coarse, std::int64_t row, float* rows,
                        float* scratch);
  void (*add_rows)(const MeshLayers&, const float* rows, std::int64_t row, float* fine);
};

// The best table for this processor, or the one that the environment variable CTSNE_ISA names.
// Throws std::invalid_argument if that table does not exist, or if this processor cannot run it.
const Kernels& kernels();

}  // namespace ctsne
