"""More entries than 32 bits can count, in arrays whose zeros were never written.

Memory that is only read as zeros is not there: all its pages are one and the same. So these arrays
take many gigabytes of addresses and hardly any memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ctsne import _native
from ctsne._core.checks import MOST_POINTS, check_matrix
from ctsne.affinity.result import symmetric_matrix

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="zeros may take memory here"),
]
BEYOND = 2**31 + 1000
# Enough for the page tables, and for a machine that does not share pages of zeros after all.
_LEAST_FREE = 4 * 2**30


@pytest.fixture
def untouched() -> Callable[..., Any]:
    """Make zeros that take no memory until they are written."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    if free < _LEAST_FREE:
        pytest.skip(f"only {free / 2**30:.1f} GiB of memory are free")

    def make(shape: Any, dtype: type) -> NDArray[Any]:
        try:
            return np.zeros(shape, dtype)
        except MemoryError:
            pytest.skip("this machine hands out no more addresses than it has memory")

    return make


def test_attraction_beyond_32_bits(untouched: Callable[..., Any]) -> None:
    # Row 1 is all zeros, and so long that rows 2 and 3 are stored beyond what 32 bits can address.
    rng = np.random.default_rng(0)
    y = rng.normal(size=(4, 2)).astype(np.float32)
    columns = np.array([1, 2, 3, 0, 1, 3, 0, 1, 2], np.int32)
    values = rng.random(9).astype(np.float32)
    indices, data = untouched(BEYOND + 6, np.int32), untouched(BEYOND + 6, np.float32)
    indices[:3], indices[-6:] = columns[:3], columns[3:]
    data[:3], data[-6:] = values[:3], values[3:]
    small = (np.array([0, 3, 3, 6, 9]), columns, values)
    large = (np.array([0, 3, BEYOND, BEYOND + 3, BEYOND + 6]), indices, data)
    forces = []
    for array in large:
        array.flags.writeable = False  # what can be written is copied
    for rows in (small, large):
        descent = _native.Descent(_native.Similarities(*rows, 2), y, 1.0, 2)
        forces.append(descent.attraction())
    assert np.array_equal(*forces)
    assert forces[0][3].any()


def test_loss_beyond_32_bits(untouched: Callable[..., Any]) -> None:
    y = np.array([[0, 0], [0, 0], [1, 2], [3, -1]], np.float32)
    columns, values = np.array([3, 0, 2, 1], np.int32), np.array([1, 2, 3, 4], np.float32)
    indices, data = untouched(BEYOND + 3, np.int32), untouched(BEYOND + 3, np.float32)
    indices[0], indices[-3:] = columns[0], columns[1:]
    data[0], data[-3:] = values[0], values[1:]
    small = (np.array([0, 1, 1, 2, 4]), columns, values)
    large = (np.array([0, 1, BEYOND, BEYOND + 1, BEYOND + 3]), indices, data)
    for array in large:
        array.flags.writeable = False
    sums = [
        _native.Descent(_native.Similarities(*rows, 1), y, 1.0, 1).log_kernel_sum()
        for rows in (small, large)
    ]
    assert sums[0] == sums[1] < 0


def test_symmetrising_beyond_32_bits(untouched: Callable[..., Any]) -> None:
    n, length = 2**15, 2**16 + 3
    indices, rows = untouched((n, length), np.int32), untouched((n, length), np.float32)
    few = np.zeros((n, 3), np.int32), np.zeros((n, 3), np.float32)
    rng = np.random.default_rng(0)
    for i in (0, 1, n // 2, n - 2, n - 1):
        for column, j in enumerate(rng.choice(np.delete(np.arange(n), i), 3, replace=False)):
            value = rng.random()
            few[0][i, column], few[1][i, column] = j, value
            indices[i, column - 3], rows[i, column - 3] = j, value
    assert (n - 1) * length > 2**31
    expected, found = symmetric_matrix(*few, 1), symmetric_matrix(indices, rows, 2)
    assert found.nnz == 30
    for attribute in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, attribute), getattr(expected, attribute))


def test_rows_beyond_32_bits(untouched: Callable[..., Any]) -> None:
    n, length = 2**15, 2**16 + 3
    rng = np.random.default_rng(0)
    distances = untouched((n, length), np.float32)
    distances[-2:] = last = np.sort(rng.random((2, length)).astype(np.float32))
    results = []
    for d in (distances, last):
        m = len(d)
        rows = _native.ConditionalRows(d, np.full((m, 1), length, np.int32), np.zeros((m, 1)), 2)
        last_two = {"begin": m - 2, "end": m}
        precision, reached = rows.find_bandwidths(50.0, False, 1.0, **last_two)
        found = rows.fill(precision[:, None], **last_two)
        results.append([part[-2:] for part in (precision, reached, *found)])
    for large, small in zip(*results, strict=True):
        np.testing.assert_array_equal(large, small)
    assert results[0][1].all()


def test_more_points_than_can_be_numbered() -> None:
    many = np.broadcast_to(np.float32(0), (MOST_POINTS + 1, 2))
    with pytest.raises(ValueError, match=r"X has 2147483648 rows.*take a sample"):
        check_matrix(many)
