"""Which column dominates, what goes with it, and what is proposed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats.contingency import association

from ctsne.evaluate import mixing
from ctsne.evaluate.screen import Screening, cramers_v, screen
from ctsne.labels.candidates import label_columns, number_columns

N = 600
RNG = np.random.default_rng(0)
PATIENT = np.arange(N) % 6
STIM = PATIENT // 3
TYPE = RNG.integers(4, size=N)
NOISE = RNG.integers(3, size=N)


def points(patient: float, stim: float = 0.0, kind: float = 3.0) -> Any:
    """Return points that are apart by patient, treatment and type."""
    X = RNG.normal(size=(N, 20))
    X[np.arange(N), PATIENT] += patient
    X[np.arange(N), 6 + STIM] += stim
    X[np.arange(N), 8 + TYPE] += kind
    return X


def screened(X: Any, **columns: Any) -> Screening:
    return screen(X, label_columns(columns))


@given(st.integers(2, 5), st.integers(2, 5), st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_cramers_v_is_corrected_for_bias(r: int, c: int, seed: int, noise: float) -> None:
    rng = np.random.default_rng(seed)
    one = np.append(np.arange(r), rng.integers(r, size=200))
    other = np.where(rng.random(len(one)) < noise, rng.integers(c, size=len(one)), one % c)
    other[:c] = np.arange(c)
    table = np.zeros((r, c), int)
    np.add.at(table, (one, other), 1)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    n, (r, c) = table.sum(), table.shape
    # Bergsma (2013), equations 4 and 5, from the plain value of SciPy.
    phi = association(table, "cramer") ** 2 * (min(r, c) - 1)
    better = max(0, phi - (r - 1) * (c - 1) / (n - 1))
    sides = [size - (size - 1) ** 2 / (n - 1) - 1 for size in (r, c)]
    assert cramers_v(table) == pytest.approx(min(1, np.sqrt(better / min(sides))), abs=1e-9)


def test_independent_columns_have_no_association() -> None:
    rng = np.random.default_rng(0)
    values = []
    for _ in range(50):
        table = np.zeros((8, 8), int)
        np.add.at(table, tuple(rng.integers(8, size=(2, 300))), 1)
        values.append(cramers_v(table))
    assert np.mean(values) < 0.06  # without the correction .15


def test_columns_are_ranked_by_mixing_in_the_data() -> None:
    X = points(patient=6.0)
    found = screened(X, noise=NOISE, cell_type=TYPE, patient=PATIENT, cell=np.arange(N))
    assert [column.name for column in found.columns] == ["patient", "cell_type", "noise"]
    assert found.columns[0].mixing < 0.05 and found.columns[2].mixing == pytest.approx(1, abs=0.05)
    # Data in three dimensions are a map of themselves.
    (only,) = screened(X[:, :3], batch=NOISE).columns
    assert only.mixing == pytest.approx(mixing(X[:, :3], NOISE))


def test_the_nuisance_is_proposed_and_not_the_treatment() -> None:
    found = screened(points(patient=4.0, stim=8.0), stim=STIM, patient=PATIENT, leiden=TYPE)
    assert found.columns[0].name == "stim" and found.proposal == "patient"
    (nested,) = found.relations
    assert (nested.kind, nested.one, nested.other, nested.exact) == (
        "nested",
        "patient",
        "stim",
        True,
    )
    assert "factoring out patient removes stim too" in str(nested)
    assert "also removes stim" in found.advice


def test_a_treatment_is_not_proposed_without_saying_so() -> None:
    found = screened(points(0.0, stim=9.0, kind=0.1), stim=STIM, batch=NOISE, cell_type=TYPE)
    assert found.proposal == "stim"
    assert "only if it is not your question" in found.advice
    assert "nuisance is batch (1.0" in found.advice


def test_unknown_names_are_judged_by_strength() -> None:
    found = screened(points(6.0), x1=NOISE, x2=PATIENT, x3=TYPE)
    assert found.proposal == "x2" and "unless it is what you look for" in found.advice
    assert screened(points(0.0, kind=9.0), louvain=TYPE).proposal == "louvain"


def test_nothing_is_proposed_where_nothing_dominates() -> None:
    found = screened(points(0.0), batch=NOISE)
    assert found.proposal is None and found.columns[0].mixing > 0.9
    assert screened(points(0.0), cell=np.arange(N)).columns == ()


@pytest.mark.parametrize("n", [2, 3, 4, 8])
def test_few_points(n: int) -> None:
    columns = label_columns({"batch": list("ab" * 4)})
    found = screen(np.arange(n)[:, None] * 1.0, {"batch": columns["batch"].take(np.arange(n))})
    assert np.isnan(found.columns[0].mixing) == (n == 2)


def test_equal_nearly_equal_and_confounded_columns() -> None:
    plate = np.where(np.arange(N) < 12, (PATIENT + 1) % 6, PATIENT)
    half = np.where(np.arange(N) % 3 == 0, NOISE, PATIENT)
    gaps = np.where(np.arange(N) % 5 == 0, None, PATIENT.astype(str).astype(object))
    found = screened(points(6.0), batch=PATIENT, run=gaps, plate=plate, lane=half, noise=NOISE)
    texts = {frozenset((x.one, x.other)): (x.kind, x.exact) for x in found.relations}
    assert texts[frozenset(("batch", "run"))] == ("same", True)
    assert texts[frozenset(("batch", "plate"))] == ("same", False)
    assert texts[frozenset(("batch", "lane"))][0] == "confounded"
    assert not any("noise" in pair for pair in texts)
    assert found.columns[0].missing in (0, N // 5)


@pytest.mark.skipif("CTSNE_DATA" not in os.environ, reason="needs real data")
@pytest.mark.parametrize(
    ("name", "proposal"),
    {
        "pancreas3": "study",
        "sc_mixology": "batch",
        "gas_drift": "batch",
        "fsdd": "speaker",
        "cell_lines": "dataset",
    }.items(),
)
def test_proposals_for_real_data(name: str, proposal: str) -> None:
    data = np.load(Path(os.environ["CTSNE_DATA"]) / f"{name}.npz")
    columns = {str(column): data[str(column)] for column in data["columns"]}
    assert screened(data["X"], **columns).proposal == proposal


def test_a_number_is_ranked_by_its_gap_and_proposed_last() -> None:
    depth = RNG.normal(size=N)
    X = points(patient=0.0, kind=0.0)
    X[:, 0] += 20 * depth
    numbers = number_columns({"depth": depth, "random": RNG.normal(size=N)})
    found = screen(X, {**label_columns({"noise": NOISE}), **numbers})
    shares = {column.name: column.mixing for column in found.columns}
    assert found.columns[0].name == "depth" and found.columns[0].kind == "number"
    assert shares["depth"] == pytest.approx(mixing(X, numbers["depth"]), abs=0.02)
    assert shares["depth"] < 0.4 < 0.9 < shares["random"]
    assert found.proposal == "depth" and found.advice.startswith("factor out the number depth")
    X[np.arange(N), PATIENT] += 40.0
    both = screen(X, {**label_columns({"patient": PATIENT}), **numbers})
    assert both.proposal == "patient"
