// The hot loops, as plain functions on pointers: one table of them per instruction set.
//
// native/kernels.cpp is compiled several times, each time filling one table; dispatch.cpp chooses.
// Nothing here allocates, throws, or knows of threads: the drivers in the other headers do that.
#pragma once

#include <cstdint>

namespace ctsne {

constexpr int kBlock = 16;        // points in one packed block of neighbour candidates
constexpr int kSplineOrder = 6;   // B-spline order of the mesh: degree 5, six nodes along each axis
constexpr int kMaxDims = 3;

// One query of the neighbour search and the list of candidates it has so far.
struct ScanQuery {
  const float* x;         // its coordinates
  std::int32_t code;      // points with this code are passed over, where points have codes
  float limit;            // candidates farther than this cannot enter the list any more
  std::int32_t keep;      // how many candidates the list must retain
  std::int32_t filled;    // how many it holds now
  std::int32_t capacity;  // how many it can hold
  float* d2;              // squared distances of the candidates
  std::uint32_t* at;      // positions of the candidates
};

// The candidates of a scan: points packed in blocks of kBlock, [block][dimension][lane].
struct ScanPoints {
  const float* packed;
  const std::int32_t* codes;  // of every position, or null; as long as whole blocks
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

struct MeshShape {
  int dims;
  std::int64_t nodes[kMaxDims];   // nodes along each axis that may be written
  std::int64_t stride[kMaxDims];  // distance between neighbouring nodes along each axis, in floats
  float origin[kMaxDims];
  float spacing;
};

struct Kernels {
  const char* name;

  // Offers the points at positions [begin, end) to every query.
  void (*scan)(const ScanPoints&, std::int64_t begin, std::int64_t end, ScanQuery*, int count);
  // Drops all but about the `keep` nearest candidates of a query.
  void (*shrink)(ScanQuery&);
  // The nearest of all points for each of `count` rows.
  void (*nearest)(const ScanPoints&, const float* const* x, std::int64_t count, std::int32_t* out);
  double (*squared_distance_f32)(const float*, const float*, std::int64_t dims);
  double (*squared_distance_f64)(const double*, const double*, std::int64_t dims);

  // Softmax sums of log_weight - precision * d2, and the normalised row itself.
  RowSums (*row_sums)(const double* d2, const double* log_weight, std::int64_t k, double precision);
  void (*row_exp)(const double* d2, const double* log_weight, std::int64_t k, double precision,
                  double log_total, double* row);

  // out[i] = sum_j p_ij (y_i - y_j) / (1 + d²/dof), times (dof+1)/(2 dof), rows [begin, end).
  void (*attract)(Tail, const std::int64_t* indptr, const std::int32_t* indices, const float* values,
                  const float* y, std::int64_t begin, std::int64_t end, float* out);
  // sum_ij p_ij log K(d_ij) over rows [begin, end).
  double (*log_kernel_sum)(Tail, const std::int64_t* indptr, const std::int32_t* indices,
                           const float* values, const float* y, std::int64_t begin, std::int64_t end);

  // Adds coefficient * (sum_j c_j K_ij, -gradient/2 of it) for targets [begin, end) and sources
  // [from, to), a point itself left out; positions as one array per axis; charge may be null (all one).
  void (*repel)(Tail, const float* const* axis, const float* charge, std::int64_t from, std::int64_t to,
                std::int64_t begin, std::int64_t end, float coefficient, const float* target_charge,
                double* potential, float* force);

  // Adds the charges of points[0..count) to grid planes [first, last) of the first axis.
  void (*spread)(const MeshShape&, const float* y, const float* charge, const std::int32_t* points,
                 std::int64_t count, std::int64_t first, std::int64_t last, float* grid);
  // Adds coefficient * (value, -gradient/2) of the grid's spline at points [begin, end).
  void (*gather)(const MeshShape&, const float* grid, const float* y, std::int64_t begin,
                 std::int64_t end, double offset, float coefficient, const float* target_charge,
                 double* potential, float* force);
};

// The table for this processor; CTSNE_ISA=baseline|avx2|avx512 in the environment asks for a lesser one.
const Kernels& kernels();

}  // namespace ctsne
