"""Forces of groups of points, by one mesh per group and by near pairs, against the reference."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ctsne import ConditionalTSNE, _native
from ctsne.labels import encode_column
from ctsne.labels.columns import join_columns
from ctsne.layout import PairWeights, pair_weights
from ctsne.layout.mesh import REACH, plan_mesh
from ctsne.layout.repulsion import GroupPlan, RangeSum, Repulsion, groups_of

from .. import reference as formulas
from ..random_columns import as_columns

# Without near pairs, with those up to some distance, and with two layers of meshes.
REACHES = [0.0, 1.6, 2.5, 5.0, 12.0, None]


def labelled_map(
    seed: int, n: int, *, n_labels: int, missing: bool, one_beta: bool, size: float = 3.0
) -> tuple[NDArray[np.float32], PairWeights]:
    """A map in the order of its labels, and its weights."""
    rng = np.random.default_rng(seed)
    codes = rng.choice(n_labels, n, p=rng.dirichlet(np.ones(n_labels)))
    labels = as_columns(np.where(missing & (np.arange(n) % 5 == 0), -1, codes))
    n_labels = labels.combined.n_labels
    beta = 10.0 ** (np.full(n_labels, -2.0) if one_beta else rng.uniform(-6, 0, n_labels))
    weights = pair_weights(labels, [beta])
    centres = size * rng.normal(size=(5, 2))
    y = (centres[rng.integers(0, 5, n)] + 0.3 * size * rng.normal(size=(n, 2))).astype(np.float32)
    return y, weights


def by_groups(
    y: NDArray[np.float32],
    weights: PairWeights,
    reach: float | None,
    n_single: int,
    n_jobs: int = 1,
) -> tuple[NDArray[np.float32], float]:
    """Forces and potential of the groups that the largest labels make."""
    repulsion = RangeSum(len(y), weights.main, dof=1.0, n_jobs=n_jobs, exact=False)
    low, high = y.min(axis=0).tolist(), y.max(axis=0).tolist()
    plan, origin = plan_mesh(low, high, 1.0, REACH if reach is None else reach, near=reach is None)
    force = np.zeros_like(y)
    return force, repulsion.add_groups(GroupPlan(0.0, plan, origin, n_single), y, force)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(300, 500),
    n_labels=st.integers(1, 6),
    missing=st.booleans(),
    one_beta=st.booleans(),
    reach=st.sampled_from(REACHES),
    left_out=st.integers(0, 6),
)
def test_groups_are_the_reference(
    seed: int,
    n: int,
    n_labels: int,
    missing: bool,
    one_beta: bool,
    reach: float | None,
    left_out: int,
) -> None:
    y, weights = labelled_map(seed, n, n_labels=n_labels, missing=missing, one_beta=one_beta)
    (column,), main = weights.columns, weights.main
    n_single = max(0, len(main.beta) - left_out)
    if groups_of(main, n_single) is None:
        assert not one_beta
        return
    matrix = formulas.low_weights(column.codes[weights.order], column.beta)
    for label in range(n_single, len(main.beta)):  # what is left to the exact sum
        own = slice(*main.bounds[label : label + 2])
        matrix[own, own] = main.beta[label]
    np.fill_diagonal(matrix, 0.0)
    force, potential = by_groups(y, weights, reach, n_single)
    expected_potential = formulas.normalizer(y.astype(float), matrix)
    expected = formulas.gradient(np.zeros((n, n)), y.astype(float), weights=matrix)
    expected *= -0.25 * expected_potential
    assert np.linalg.norm(force - expected) < 0.01 * np.linalg.norm(expected)
    assert potential == pytest.approx(expected_potential, rel=1e-3)


@pytest.mark.parametrize("reach", REACHES)
@pytest.mark.parametrize("missing", [False, True])
def test_threads_do_not_change_a_bit(reach: float | None, missing: bool) -> None:
    y, weights = labelled_map(0, 20_000, n_labels=4, missing=missing, one_beta=True, size=20.0)
    one, potential_of_one = by_groups(y, weights, reach, 3)
    two, potential_of_two = by_groups(y, weights, reach, 3, n_jobs=2)
    assert np.array_equal(one, two) and potential_of_one == potential_of_two


def test_many_points_at_one_place_are_all_near() -> None:
    """More candidates than the loop over pairs takes at a time."""
    weights = pair_weights(as_columns(np.arange(5000) % 2), [0.1])
    alpha = weights.columns[0].alpha[0]
    y = np.zeros((5000, 2), np.float32)
    y[-1] = 40.0
    force, potential = by_groups(y, weights, 4.0, 2)
    pairs = alpha * 2500 * 2499 + alpha * 2499 * 2498 + 0.2 * 2500 * 2499
    far = (2499 * alpha + 0.1 * 2500) / (1 + 2 * 40.0**2)
    assert potential == pytest.approx(pairs + 2 * far, rel=1e-4)
    assert np.ptp(force[:2500], axis=0).max() == 0


def test_the_choice_takes_every_way() -> None:
    """Small maps have one layer, larger ones two, wide ones near pairs; tiny labels no mesh."""
    codes = np.concatenate([np.arange(20_000) % 8, np.repeat(np.arange(8, 20), 5)])
    weights = pair_weights(as_columns(codes), [0.1]).main
    repulsion = RangeSum(20_060, weights, dof=1.0, n_jobs=1, exact=None)
    small, middle, wide = (repulsion.choose([-s, -s], [s, s]) for s in (1.0, 20.0, 100.0))
    assert small is not None and small.plan.reach == 0 and small.n_single == 8
    assert middle is not None and middle.plan.near and middle.n_single == 8
    assert wide is not None and wide.plan.pairs and wide.n_single == 8
    assert repulsion.choose([-1.0] * 3, [1.0] * 3) is None
    general = RangeSum(20_060, weights, dof=2.0, n_jobs=1, exact=None)
    way = general.choose([-100.0, -100.0], [100.0, 100.0])
    assert way is not None and way.plan.reach == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pancreas3", "ifnb"])
def test_forces_of_a_real_run_at_every_phase(name: str, real_data: Callable[[str], Any]) -> None:
    data = real_data(name)
    maps: list[NDArray[np.float32]] = []
    ConditionalTSNE(
        method="original",
        beta=0.1,
        callback=lambda iteration, loss, map_now: maps.append(map_now),
        callback_every=75,
        random_state=0,
    ).fit(data.X, labels=data.known)
    weights = pair_weights(join_columns(["label"], [encode_column(data.known)]), [0.1])
    for y in maps:
        y = y[weights.order]
        exact, normaliser = Repulsion(len(y), weights=weights, exact=True, n_jobs=-1)(y)
        quick, quick_normaliser = Repulsion(len(y), weights=weights, exact=False, n_jobs=-1)(y)
        assert np.linalg.norm(quick - exact) < 0.01 * np.linalg.norm(exact)
        assert quick_normaliser == pytest.approx(normaliser, rel=1e-3)


@pytest.mark.skipif("CTSNE_ISA" in os.environ, reason="the run with a lesser instruction set")
def test_every_instruction_set() -> None:
    """The forces again with all lesser ones."""
    chosen = ["-k", "reference or near", "-m", "not slow", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-q", *chosen, __file__]
    lesser = set(_native.instruction_sets()) - {_native.instruction_set()}
    runs = [subprocess.Popen(command, env={**os.environ, "CTSNE_ISA": name}) for name in lesser]
    assert [run.wait(600) for run in runs] == [0] * len(lesser)
