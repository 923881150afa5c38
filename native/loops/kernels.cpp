// Compiled once per instruction set (CMakeLists.txt sets CTSNE_ISA and the flags).
#include "loops/kernels.hpp"

#include "loops/attraction.hpp"
#include "loops/fft.hpp"
#include "loops/layers.hpp"
#include "loops/mesh.hpp"
#include "loops/near.hpp"
#include "loops/place.hpp"
#include "loops/repulsion.hpp"
#include "loops/rows.hpp"
#include "loops/scan.hpp"
#include "loops/step.hpp"

#define CTSNE_TEXT_OF(name) #name
#define CTSNE_TEXT(name) CTSNE_TEXT_OF(name)

namespace ctsne::CTSNE_ISA {

extern const Kernels table;
const Kernels table = {
    .name = CTSNE_TEXT(CTSNE_ISA),
    .lanes = kLanes,
    .scan = scan,
    .scan_lanes = scan_lanes,
    .shrink = shrink,
    .nearest = nearest,
    .squared_distance_f32 = squared_distance<float>,
    .squared_distance_f64 = squared_distance<double>,
    .row_sums = row_sums,
    .row_exp = row_exp,
    .attract = attract<SparseRows>,
    .attract_packed = attract<PackedRows>,
    .log_kernel_sum = log_kernel_sum<SparseRows>,
    .log_kernel_sum_packed = log_kernel_sum<PackedRows>,
    .step = step,
    .repel = repel,
    .repel_near = repel_near,
    .spread = spread,
    .gather = gather,
    .place = place,
    .project = project,
    .transform_rows = transform_rows,
    .convolve_columns = convolve_columns,
    .restore_rows = restore_rows,
    .coarsen_rows = coarsen_rows,
    .lengthen_rows = lengthen_rows,
    .add_rows = add_rows,
};

}  // namespace ctsne::CTSNE_ISA
