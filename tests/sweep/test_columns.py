"""Sweeps over several label columns: grids, measures of each, targets for each, files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctsne import ConditionalTSNE
from ctsne.evaluate import mixing
from ctsne.sweep import SweepResult, load_sweep, sweep
from ctsne.sweep.grid import expand_grid

from .made_up import BASE, made_up

TSNE = {"method": "tsne"}

RNG = np.random.default_rng(0)
N = 150
DONOR = RNG.choice(["d1", "d2", "d3"], N)
BATCH = RNG.choice(["a", "b"], N)
X = RNG.normal(size=(N, 5))
X[:, 0] += 3.0 * (BATCH == "b")
BOTH = {"donor": DONOR, "batch": BATCH}
SMALL = ConditionalTSNE(perplexity=10, n_iter=60, early_exaggeration_iter=30, random_state=0)


def columns(
    grid: Any, donor: list[float], batch: list[float], rnx: list[float], other: Any = None
) -> SweepResult:
    mixed = {"mixing": [0.5] * len(donor), "mixing (donor)": donor, "mixing (batch)": batch}
    return made_up(grid, {**mixed, "adjusted_rnx": rnx, "other_mixing": other})


def chosen(result: SweepResult, wanted: Any) -> int | None:
    found = result.suggest(wanted).map
    return None if found is None else result.maps.index(found)


# ---- the grid ------------------------------------------------------------------------------------


def test_values_listed_by_column_are_combined_the_weakest_first() -> None:
    points = expand_grid({"strength": {"donor": [0.2, 0.8], "batch": [0.9, 0.1]}}, BASE)
    assert [point.parameters["strength"] for point in points] == [
        {"donor": 0.2, "batch": 0.1},
        {"donor": 0.8, "batch": 0.1},
        {"donor": 0.2, "batch": 0.9},
        {"donor": 0.8, "batch": 0.9},
    ]
    assert len({point.line for point in points}) == 1
    grid = {"method": "revised", "beta": {"donor": [1e-4, 1], "batch": 0.1}}
    found = [point.parameters["beta"] for point in expand_grid(grid, BASE)]
    assert found == [{"donor": 1, "batch": 0.1}, {"donor": 1e-4, "batch": 0.1}]


def test_one_mapping_and_lists_of_mappings_stay_as_they_are() -> None:
    one = {"donor": 0.2, "batch": 0.1}
    assert [p.parameters["strength"] for p in expand_grid({"strength": one}, BASE)] == [one]
    several = [{"donor": 0.9, "batch": 0.1}, one, 0.5]
    assert [p.parameters["strength"] for p in expand_grid({"strength": several}, BASE)] == several


# ---- the choice ----------------------------------------------------------------------------------


def test_a_number_is_for_every_column() -> None:
    result = columns(
        [TSNE, {"strength": [0.3, 0.6, 0.9]}],
        [0.1, 0.6, 0.7, 0.9],
        [0.2, 0.3, 0.65, 0.8],
        [0.6, 0.5, 0.4, 0.3],
    )
    assert chosen(result, 0.5) == 2
    assert chosen(result, {"donor": 0.5, "batch": 0.3}) == 1
    assert chosen(result, {"donor": 0.8, "batch": 0.1}) == 3
    assert "that reach these targets" in result.suggest({"batch": 0.3, "donor": 0.5}).reason
    assert result.suggest(0.95).reason == (
        "no setting reaches a mixing of 0.95; this one mixes donor to 0.90 and batch to 0.80 of "
        "random, the most of all"
    )


def test_tsne_that_mixes_every_column_is_taken() -> None:
    result = columns([TSNE, {"strength": [0.5]}], [0.8, 0.9], [0.7, 0.9], [0.5, 0.4])
    assert chosen(result, 0.6) == 0
    assert result.suggest(0.6).reason == (
        "t-SNE already mixes donor to 0.80 and batch to 0.70 of random, so there is nothing to "
        "factor out"
    )


def test_each_column_may_reach_its_target_with_another_seed() -> None:
    grid = {"strength": [0.5], "random_state": [0, 1]}
    result = columns(grid, [0.8, 0.4], [0.4, 0.8], [0.3, 0.5])
    assert chosen(result, 0.6) == 1  # no seed reaches both: the one that keeps more


def test_a_column_that_cannot_be_measured_has_no_target() -> None:
    nan = float("nan")
    result = columns({"strength": [0.3, 0.6]}, [nan, nan], [0.4, 0.8], [0.5, 0.4])
    assert chosen(result, 0.6) == 1
    assert chosen(result, {"donor": 0.9, "batch": 0.6}) == 1
    nothing = columns({"strength": [0.3]}, [nan], [nan], [0.5])
    with pytest.raises(ValueError, match="there is nothing to choose by"):
        nothing.suggest()


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"donor": 0.5, "bach": 0.5}, "mixing names 'bach'.*'donor', 'batch'.*mean 'batch'"),
        ({"donor": 0.5}, "mixing must give a number for every label column.* none for 'batch'"),
        ({"donor": 0.5, "batch": 2}, r"mixing\['batch'\] must be"),
        (1.5, "mixing must be"),
        ("half", "mixing must be"),
    ],
)
def test_targets_that_cannot_be(wanted: Any, message: str) -> None:
    result = columns({"strength": [0.3]}, [0.4], [0.5], [0.6])
    for ask in (result.suggest, result.best, result.targets):
        with pytest.raises((TypeError, ValueError), match=message):
            ask(wanted)


def test_a_mapping_is_no_target_for_one_label() -> None:
    with pytest.raises(TypeError, match="mixing must be a number"):
        made_up({"strength": [0.5]}, {"mixing": [0.5]}).suggest({"donor": 0.5})


# ---- maps ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def swept() -> SweepResult:
    grid = [TSNE, {"method": "joint", "strength": [0, 0.6, {"donor": 0, "batch": 1}]}]
    return sweep(X, BOTH, grid, estimator=SMALL, progress=False)


def test_every_map_is_that_of_the_estimator(swept: SweepResult) -> None:
    for each in swept.maps:
        assert each.error is None and each.embedding is not None
        model = ConditionalTSNE(**{**SMALL.get_params(), **each.parameters})
        Y = model.fit_transform(X, labels=BOTH)
        for name, column in BOTH.items():
            assert each.measures[f"mixing ({name})"] == pytest.approx(mixing(Y, column), abs=1e-9)


def test_a_column_with_strength_zero_is_left_out(swept: SweepResult) -> None:
    alone = sweep(X, BATCH, {"method": "joint", "strength": [1]}, estimator=SMALL, progress=False)
    measures = swept.maps[-1].measures
    assert measures["mixing (batch)"] == pytest.approx(alone.maps[0].measures["mixing"])
    plain, weakest = swept.maps[0].measures, swept.maps[1].measures
    assert weakest["mixing (donor)"] == plain["mixing (donor)"]


def test_the_table_and_the_texts_name_the_columns(swept: SweepResult) -> None:
    assert {"mixing", "mixing (donor)", "mixing (batch)"} <= set(swept.table.columns)
    assert "strength donor=0, batch=1" in swept.maps[-1].title
    assert re.search(r"mixing \(donor\) \d\.\d\d, mixing \(batch\) ", repr(swept))


def test_stored_and_read_again(swept: SweepResult, tmp_path: Path) -> None:
    swept.save(tmp_path / "sweep.npz")
    again = load_sweep(tmp_path / "sweep.npz")
    assert [each.measures for each in again.maps] == [each.measures for each in swept.maps]
    assert [each.parameters for each in again.maps] == [each.parameters for each in swept.maps]
    wanted = {"donor": 0.1, "batch": 0.5}
    assert again.suggest(wanted).reason == swept.suggest(wanted).reason


def test_a_folder_is_resumed_with_the_same_columns_only(tmp_path: Path) -> None:
    def made(labels: Any) -> set[str]:
        sweep(X, labels, {"strength": [0.5]}, estimator=SMALL, progress=False, folder=tmp_path)
        return {file.name for file in tmp_path.glob("map-*")}

    first = made(BOTH)
    assert len(first) == 1 and made(BOTH) == first
    assert len(made({"person": DONOR, "batch": BATCH})) == 2  # its title has another name
    assert len(made({"donor": BATCH, "batch": DONOR})) == 3


@pytest.mark.parametrize(
    ("labels", "grid", "message"),
    [
        (BOTH, {"strength": [{"donor": 0.5}]}, "every label column.*'batch'.*setting"),
        (BOTH, {"strength": [{"donor": 0.5, "batc": 1}]}, "'batc'.*did you mean 'batch'"),
        (BOTH, {"strength": {"donor": [], "batch": [1]}}, "grid has no value for 'strength'"),
        (dict.fromkeys("abcd", BATCH), {"strength": [1]}, "labels has 4 columns"),
    ],
)
def test_refused_before_any_work(labels: Any, grid: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        sweep(X, labels, grid, estimator=SMALL, progress=False)
