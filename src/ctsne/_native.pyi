"""Signatures of the compiled kernels (native/bind.cpp)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

BLOCK: int
SPLINE_ORDER: int
BAND_ROWS: int
BAND_COLUMNS: int
COARSER: int

_F32 = NDArray[np.float32]
_F64 = NDArray[np.float64]
_U16 = NDArray[np.uint16]
_I32 = NDArray[np.int32]
_I64 = NDArray[np.int64]
_U32 = NDArray[np.uint32]
_Bool = NDArray[np.bool_]
_Range = tuple[int, int]

def instruction_set() -> str: ...
def find_exact(
    packed: _F32,
    sorted: _F32,
    ids: _U32,
    codes: _I32,
    points: NDArray[np.floating],
    scale: float,
    bounds: _I64,
    other: bool,
    queries: _I64,
    k_same: _I32,
    k_other: _I32,
    n_jobs: int,
    indices: _I32,
    distances: _F32,
) -> None: ...
def find_probed(
    packed: _F32,
    sorted: _F32,
    ids: _U32,
    codes: _I32,
    points: NDArray[np.floating],
    scale: float,
    cells: _I64,
    centres: _F32,
    packed_centres: _F32,
    labels: _I64,
    pure: bool,
    other: bool,
    queries: _I64,
    budget: int,
    k_same: _I32,
    k_other: _I32,
    n_jobs: int,
    indices: _I32,
    distances: _F32,
) -> None: ...
def make_cells(
    rows: _F32, ranges: _I64, size: int, whole: int, n_jobs: int
) -> tuple[_U32, _I64, _I64]: ...
def cell_centres(sorted: _F32, bounds: _I64, n_jobs: int, centres: _F32) -> None: ...
def arrange(rows: _F32, order: _U32, n_jobs: int, sorted: _F32, packed: _F32) -> None: ...
def find_bandwidths(
    distances: _F32,
    n_same: _I32,
    log_same: _F64,
    log_other: _F64,
    perplexity: _F64,
    weighted: bool,
    wide: float,
    begin: int,
    end: int,
    n_jobs: int,
    precision: _F64,
    reached: _Bool,
) -> None: ...
def find_split_bandwidths(
    distances: _F32,
    n_same: _I32,
    log_same: _F64,
    log_other: _F64,
    same_perplexity: _F64,
    other_perplexity: _F64,
    begin: int,
    end: int,
    n_jobs: int,
    same: _F64,
    other: _F64,
    reached: _Bool,
) -> None: ...
def fill_rows(
    distances: _F32,
    n_same: _I32,
    log_same: _F64,
    log_other: _F64,
    same_precision: _F64,
    other_precision: _F64,
    mass: _F64 | None,
    begin: int,
    end: int,
    n_jobs: int,
    out: _F32,
    perplexity: _F64,
    other_share: _F64,
    largest: _F64,
    log_odds: _F64,
) -> None: ...
def count_in_degrees(indices: _I32, rows: _F32, n_jobs: int, degree: _I64) -> None: ...
def symmetrize(
    indices: _I32,
    rows: _F32,
    degree: _I64,
    begin: int,
    end: int,
    n_jobs: int,
    indptr: _I64,
    columns: _I32,
    values: _F32,
) -> None: ...
def pack_rows(
    indptr: _I64, indices: _I32, values: _F32, order: _I32, n_jobs: int
) -> tuple[_I64, _I32, _U16, float]: ...
def attract(
    indptr: _I64,
    indices: _I32,
    values: _F32 | _U16,
    y: _F32,
    dof: float,
    n_jobs: int,
    out: _F32,
) -> None: ...
def log_kernel_sum(
    indptr: _I64,
    indices: _I32,
    values: _F32 | _U16,
    y: _F32,
    dof: float,
    n_jobs: int,
) -> float: ...
def repel(
    axes: _F32,
    dof: float,
    sources: _Range,
    targets: _Range,
    coefficient: float,
    source_charge: _F32 | None,
    target_charge: _F32 | None,
    n_jobs: int,
    force: _F32,
) -> float: ...
def repel_ranges(
    axes: _F32,
    dof: float,
    bounds: _I64,
    coefficient: _F32,
    n_jobs: int,
    force: _F32,
) -> float: ...
def spread(
    y: _F32,
    bounds: _I64,
    source_charge: _F32 | None,
    nodes: Sequence[int],
    origin: Sequence[float],
    spacing: float,
    n_jobs: int,
    grids: _F32,
) -> None: ...
def gather(
    grids: _F32,
    y: _F32,
    bounds: _I64,
    offset: _F64,
    coefficient: float,
    target_charge: _F32 | None,
    nodes: Sequence[int],
    origin: Sequence[float],
    spacing: float,
    n_jobs: int,
    force: _F32,
) -> float: ...
def mix_groups(
    charge: _F32,
    own: _F32,
    unlabelled: bool,
    n_jobs: int,
    grids: _F32,
) -> None: ...
def repel_near(
    y: _F32,
    bounds: _I64,
    charge: _F32,
    same: _F32,
    low: tuple[float, float],
    high: tuple[float, float],
    reach: float,
    n_jobs: int,
    force: _F32,
) -> float: ...
def fft_twiddles(n: int) -> _F32: ...
def convolve(
    grids: _F32,
    kernel: _F32,
    column_twiddles: _F32,
    row_twiddles: _F32,
    nodes: tuple[int, int],
    doubled: bool,
    n_jobs: int,
    spectra: _F32,
) -> None: ...
def coarse_nodes(fine: int) -> int: ...
def coarsen(
    fine: _F32,
    nodes: tuple[int, int],
    n_jobs: int,
    coarse: _F32,
) -> None: ...
def refine(
    coarse: _F32,
    nodes: tuple[int, int],
    n_jobs: int,
    fine: _F32,
) -> None: ...
def descend(
    indptr: _I64,
    indices: _I32,
    values: _F32 | _U16,
    dof: float,
    repulsion: _F32,
    pull: float,
    push: float,
    learning_rate: float,
    momentum: float,
    longest: float,
    n_jobs: int,
    y: _F32,
    moved: _F32,
    update: _F32,
    gains: _F32,
) -> tuple[list[float], list[float]]: ...
