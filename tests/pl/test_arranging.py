"""Colours of many labels: those that lie next to each other in a map differ."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

from ctsne import pl
from ctsne.pl.palette import COLORS, MANY_COLORS, MISSING, color_distances


def grid(side: int, n: int = 30, *, spread: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """Groups in a grid, the larger the later, with a label each."""
    rng = np.random.default_rng(0)
    counts = n + np.arange(side**2)
    labels = np.repeat(np.arange(side**2), counts)
    centres = np.column_stack(np.divmod(np.arange(side**2), side)).astype(float)
    return centres[labels] + spread * rng.normal(size=(len(labels), 2)), labels


def beside(side: int) -> list[tuple[int, int]]:
    """Pairs of groups that touch."""
    cells = range(side**2)
    right = [(i, i + 1) for i in cells if (i + 1) % side]
    return right + [(i, i + side) for i in cells if i + side < side**2]


@pytest.mark.parametrize(("side", "least"), [(4, 0.25), (5, 0.22), (7, 0.18)])
def test_neighbours_in_the_map_have_distant_colours(side: int, least: float) -> None:
    positions, labels = grid(side)
    plain, arranged = pl.palette(labels), pl.palette(labels, positions)
    assert set(plain.values()) == set(arranged.values())
    pairs = beside(side)

    def distances(colors: dict[object, str]) -> np.ndarray:
        apart = color_distances([colors[i] for i in range(side**2)])
        return np.array([apart[pair] for pair in pairs])

    found = distances(arranged)
    assert found.mean() > 1.05 * distances(plain).mean()
    assert np.quantile(found, 0.1) > least
    assert found.min() > 1.4 * distances(plain).min()


def test_it_is_the_same_each_time_and_in_any_order() -> None:
    positions, labels = grid(4)
    expected = pl.palette(labels, positions)
    assert pl.palette(labels, positions) == expected
    names = pd.Categorical(labels, categories=range(15, -1, -1))
    assert pl.palette(names, positions) == expected
    assert next(iter(pl.palette(names, positions))) == 15


def test_eight_labels_stay_as_they_are() -> None:
    positions, labels = grid(4)
    few = labels % 8
    assert pl.palette(few, positions) == pl.palette(few)
    assert list(pl.palette(few, positions).values()) == list(COLORS)


def test_missing_labels_and_shared_colours() -> None:
    positions, labels = grid(9)
    column = labels.astype(object)
    column[::7] = None
    colors = pl.palette(column, positions)
    assert colors[None] == MISSING and len(colors) == 82
    assert set(colors.values()) - {MISSING} == set(MANY_COLORS)
    # 21 of the colours appear twice, never next to each other.
    assert all(colors[one] != colors[other] for one, other in beside(9))


def test_it_is_fast() -> None:
    rng = np.random.default_rng(0)
    positions, labels = rng.normal(size=(300_000, 2)), rng.integers(0, 60, 300_000)
    start = time.perf_counter()
    pl.palette(labels, positions)
    assert time.perf_counter() - start < 5  # a tenth of it on an idle machine


@pytest.mark.parametrize(
    ("embedding", "error", "message"),
    [
        (np.zeros((3, 2)), ValueError, "embedding must have 256 rows"),
        (np.full((256, 2), np.nan), ValueError, "embedding contains .* NaN"),
        ("umap", TypeError, "embedding must"),
    ],
)
def test_bad_maps_are_refused(embedding: object, error: type[Exception], message: str) -> None:
    labels = np.repeat(np.arange(16), 16)
    with pytest.raises(error, match=message):
        pl.palette(labels, embedding)


def test_pictures_are_coloured_by_their_map() -> None:
    positions, labels = grid(5)
    ax = pl.embedding(positions, labels)
    legend = ax.get_legend()
    shown = {
        int(text.get_text()): line.get_color().upper()
        for text, line in zip(legend.get_texts(), legend.get_lines(), strict=True)
    }
    assert shown == pl.palette(labels, positions)
    first, second = pl.maps({"one": positions, "other": -positions}, labels)
    assert len(np.unique(first.collections[0].get_facecolors(), axis=0)) == 25
    np.testing.assert_array_equal(
        first.collections[0].get_facecolors(), second.collections[0].get_facecolors()
    )
