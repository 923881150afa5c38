"""The share of a feature's variance that the place in a map explains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from ctsne.evaluate import places
from ctsne.evaluate.places import row_blocks, variance_by_place

RNG = np.random.default_rng(0)
MAP = RNG.normal(size=(600, 2))


def features() -> np.ndarray[Any, Any]:
    """Return a step, a smooth trend, noise, a constant, and a rare feature of one corner."""
    corner = (MAP > 1).all(axis=1)
    return np.column_stack(
        [MAP[:, 0] > 0, MAP[:, 1] + 5, RNG.normal(size=600), np.full(600, 3.7), 9 * corner]
    ).astype(np.float32)


def plainly(X: Any) -> list[float]:
    """Compare the variance within cells with all of it, one feature at a time."""
    cells = places._cells_of(MAP, places._CELLS)
    n_cells = cells.max() + 1
    shares = []
    for values in X.T.astype(np.float64):
        within = sum(
            ((values[cells == cell] - values[cells == cell].mean()) ** 2).sum()
            for cell in range(n_cells)
        )
        overall = ((values - values.mean()) ** 2).sum()
        shares.append(1 - within / (600 - n_cells) / (overall / 599) if overall else -np.inf)
    return shares


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_shares_are_those_of_the_plain_formula(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X = features()
    found = variance_by_place(MAP, row_blocks(kind(X)), X.shape[1])
    np.testing.assert_allclose(found, plainly(X), rtol=1e-9)
    step, trend, noise, constant, corner = found
    assert min(step, trend, corner) > 0.7 and abs(noise) < 0.15 and constant == -np.inf
    blocks = [(slice(None), slice(a, a + 2), X[:, a : a + 2]) for a in range(0, 5, 2)]
    np.testing.assert_allclose(variance_by_place(MAP, blocks, 5), found, rtol=1e-9)


def test_a_map_of_some_rows() -> None:
    X, rows = features(), np.arange(0, 600, 3)
    found = variance_by_place(MAP[rows], row_blocks(sp.csr_matrix(X)), 5, rows)
    alone = variance_by_place(MAP[rows], row_blocks(X[rows]), 5)
    np.testing.assert_allclose(found, alone, rtol=1e-9)


def test_cells_hold_equally_many_points() -> None:
    for points in (MAP, MAP[:, :1], np.zeros((600, 2))):
        counts = np.bincount(places._cells_of(points, 49))
        assert len(counts) == 49 and counts.min() >= 12 and counts.max() <= 13
    assert places._cells_of(MAP[:3], 49).tolist() == [0, 0, 0]


def test_values_that_cannot_be_compared_come_last() -> None:
    X = np.column_stack([MAP[:, 0], MAP[:, 0] * 1e300, MAP[:, 0]])
    X[7, 2] = np.nan
    found = variance_by_place(MAP, row_blocks(X), 3)
    assert found[0] > 0.8 and (found[1:] == -np.inf).all()
