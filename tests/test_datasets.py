"""The synthetic data: the paper's recipe, and clusters that can be told apart."""

from __future__ import annotations

import os
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctsne.datasets import LARGEST_NOISE, SMALLEST_GAP, Synthetic, make_synthetic

REFERENCE = Path(os.environ.get("CTSNE_REFERENCE", "no-such-folder")) / "synthetic_dataset.csv"


def separation(X: np.ndarray, hidden: np.ndarray) -> tuple[float, float]:
    """Smallest distance of two hidden centres and largest scatter around them, as measured."""
    groups = [X[hidden == name, 4:6] for name in np.unique(hidden)]
    centres = [group.mean(axis=0) for group in groups]
    gap = min(float(np.linalg.norm(a - b)) for a, b in combinations(centres, 2))
    return gap, max(float(group.std(axis=0).max()) for group in groups)


def test_sizes_are_those_of_the_paper() -> None:
    data = make_synthetic(random_state=0)
    assert data.X.shape == (1500, 10) and data.X.dtype == np.float64
    for colour, count in {"blue": 200, "orange": 300}.items():
        for shape in ("circle", "square", "triangle"):
            assert ((data.known == colour) & (data.hidden == shape)).sum() == count


def test_columns_are_z_scored() -> None:
    X = make_synthetic(random_state=1).X
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1, rtol=1e-12)


def test_each_label_lives_in_its_own_columns() -> None:
    data = make_synthetic(6000, random_state=2)
    blue = data.known == "blue"
    gap = np.abs(data.X[blue].mean(axis=0) - data.X[~blue].mean(axis=0))
    # Two groups of 40 % and 60 % with all variance between them are 1 / sqrt(.24) apart.
    assert np.linalg.norm(gap[:4]) == pytest.approx(2 / np.sqrt(0.24), rel=0.15)
    assert np.all(gap[4:] < 0.15)
    for name in np.unique(data.hidden):
        inside = data.X[data.hidden == name].mean(axis=0)
        assert np.all(np.abs(np.delete(inside, [4, 5])) < 0.15)


@pytest.mark.parametrize("seed", range(40))
def test_hidden_clusters_are_clear_for_every_seed(seed: int) -> None:
    data = make_synthetic(random_state=seed)
    gap, noise = separation(data.X, data.hidden)
    # The rule holds for the centres; 500 points measure them to a few per cent.
    assert gap > 0.97 * SMALLEST_GAP
    assert noise < 1.1 * LARGEST_NOISE


@pytest.mark.skipif(not REFERENCE.is_file(), reason="CTSNE_REFERENCE is not set")
def test_the_authors_draw_obeys_the_rule() -> None:
    table = np.genfromtxt(REFERENCE, delimiter=",", skip_header=1)
    gap, noise = separation(table[:, 3:], table[:, 1])
    assert gap > SMALLEST_GAP and noise < LARGEST_NOISE


def test_the_same_seed_gives_the_same_data_and_a_generator_moves_on() -> None:
    first, second, other = (vars(make_synthetic(60, random_state=seed)) for seed in (3, 3, 4))
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert not np.array_equal(first["X"], other["X"])
    rng = np.random.default_rng(0)
    drawn = [make_synthetic(20, random_state=rng).X for _ in range(2)]
    assert not np.array_equal(*drawn)


@pytest.mark.parametrize("n", [8, 9, 10, 11, 50, 101])
def test_any_size_has_all_six_groups_of_even_size(n: int) -> None:
    data = make_synthetic(n, random_state=0)
    assert len(data.X) == len(data.known) == len(data.hidden) == n
    for colour in ("blue", "orange"):
        shapes, counts = np.unique(data.hidden[data.known == colour], return_counts=True)
        assert shapes.size == 3 and np.ptp(counts) <= 1
    assert int((data.known == "blue").sum()) == round(0.4 * n)


def test_it_cannot_be_changed() -> None:
    data = make_synthetic(20, random_state=0)
    assert isinstance(data, Synthetic)
    with pytest.raises(AttributeError):
        data.X = data.X  # type: ignore[misc]


@pytest.mark.parametrize(
    ("argument", "value", "error"),
    [
        ("n", 7, ValueError),
        ("n", -1, ValueError),
        ("n", 20.5, TypeError),
        ("n", "many", TypeError),
        ("random_state", -1, ValueError),
        ("random_state", "seed", TypeError),
    ],
)
def test_bad_arguments_are_refused(argument: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=f"{argument} must be a whole number"):
        make_synthetic(**{argument: value})
