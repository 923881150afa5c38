"""Which points are measured, how large their neighbourhoods are, and means over them."""

from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import check_count, check_number, check_seed

Points = NDArray[np.int64]
Indices = NDArray[np.int32]
Floats = NDArray[np.float64]
Positions = NDArray[np.floating]

# Entries processed at a time, which bounds the memory needed beyond the neighbour lists.
_CHUNK_ENTRIES = 2**21


def check_k(k: object, *, n: int) -> int:
    """Return a neighbourhood size that n points allow and that is not all of them."""
    if n < 3:
        raise ValueError(f"a measure on neighbourhoods needs at least 3 points, got {n}")
    size = check_count(k, "k", low=1)
    if size > n - 2:
        raise ValueError(f"k must be at most {n - 2} for {n} points, got {size}")
    return size


def sample_points(n: int, sample: float | None = None, random_state: object = 0) -> Points:
    """Draw a share or a number of points at which a measure is taken, in increasing order."""
    if sample is None:
        return np.arange(n)
    if isinstance(sample, Integral):
        size = check_count(sample, "sample", low=1)
    else:
        hint = "or a whole number of points"
        share = check_number(sample, "sample", low=0, high=1, open_low=True, hint=hint)
        size = max(1, round(share * n))
    drawn = check_seed(random_state).permutation(n)[:size]
    return np.sort(drawn).astype(np.int64)


def mean(values: Floats) -> float:
    """Return the mean over the points that have a value; nan if none has."""
    present = values[~np.isnan(values)]
    return float(present.mean()) if len(present) else float("nan")


def chunks(rows: int, length: int) -> Iterator[slice]:
    """Yield slices of rows of some length, each with a bounded number of entries."""
    step = max(1, _CHUNK_ENTRIES // length)
    for start in range(0, rows, step):
        yield slice(start, min(rows, start + step))


def in_chunks(
    values: Callable[[slice], Floats], rows: int, length: int, pointwise: bool
) -> float | Floats:
    """Compute one value per row, a chunk of rows at a time; return them or their mean."""
    every = np.concatenate([values(part) for part in chunks(rows, length)])
    return every if pointwise else mean(every)


def divided(part: NDArray[Any], whole: NDArray[Any], above: float = 0.0) -> Floats:
    """Divide where the whole is larger than a bound; nan elsewhere."""
    result = np.full(part.shape, np.nan)
    np.divide(part, whole, out=result, where=whole > above)
    return result
