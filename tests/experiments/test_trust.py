"""The calibration of trust, on made-up numbers and small maps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import trust
from common import Data

RNG = np.random.default_rng(0)


def test_stability_is_the_share_of_neighbours_that_stay() -> None:
    places = np.arange(8.0)[:, None] ** 2 * [1, 0]
    assert np.array_equal(trust.stability(places, [places, -places], k=2), np.ones(8))
    other = places.copy()
    other[[0, 7]] = other[[7, 0]]  # both ends change places
    some = places.copy()
    some[5] = np.nan  # not in this map, so the others are compared without it
    found = trust.stability(places, [other, some], k=2)
    # Point 0 keeps 1 and 2 in one map of two, point 6 one of 5 and 7, then 4 and 7.
    assert found[[0, 3, 5, 6]].tolist() == [0.5, 1, 1, 0.75]


def test_points_are_moved_and_the_others_are_not() -> None:
    places = RNG.normal(size=(200, 2)).astype(np.float32)
    for how in ("anywhere", "on others"):
        moved, changed = trust.misplace(places, how)
        assert moved.sum() == 4 and np.array_equal(changed[~moved], places[~moved])
        assert (changed[moved] != places[moved]).all()


def test_the_yardsticks_find_a_misplaced_point() -> None:
    """And by hand: distances of a perfect map correlate fully."""
    X = RNG.normal(size=(80, 2))
    assert np.allclose(trust.ordered_distances(X, X), 1)
    near = 1 / (1 + ((X[:, None] - X) ** 2).sum(axis=2))
    np.fill_diagonal(near, 0)
    changed = X.copy()
    changed[0] = X[np.argmax(((X - X[0]) ** 2).sum(axis=1))] + 0.01
    assert trust.ordered_distances(X, changed).argmin() == 0
    assert trust.point_losses(sp.csr_array(near), changed).argmax() == 0


def test_the_loss_of_a_point_is_a_divergence() -> None:
    Y = RNG.normal(size=(6, 2))
    q = 1 / (1 + ((Y[:, None] - Y) ** 2).sum(axis=2))
    np.fill_diagonal(q, 0)
    assert np.allclose(trust.point_losses(sp.csr_array(q), Y), 0, atol=1e-12)
    assert (trust.point_losses(sp.csr_array(q**3), Y) > 0).all()


def test_a_set_from_start_to_end(
    small: Data, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(trust, "load_real", lambda *_: small)
    monkeypatch.setattr(trust, "SETS", {"small": ("a", "b")})
    monkeypatch.setattr(trust, "MAPS", 2)
    row, points = trust._measure("small")
    assert {f"{how}: {score}" for how in ("anywhere", "on others") for score in trust.SCORES} < (
        row.keys()
    )
    assert len(points) == 240 and points["stays"].between(0, 1).all()
    assert row["points"] == 240 and row["cost"] > 0


@pytest.mark.parametrize(("low", "verdict"), [(0.9, "reached"), (0.6, "**missed**")])
def test_verdicts_are_computed(low: float, verdict: str, tmp_path: Path) -> None:
    def row(name: str, value: float) -> dict[str, Any]:
        scores = dict.fromkeys(trust.SCORES, 0.5) | {trust.TRUST: value}
        moved = {
            f"{how}: {score}": value + 0.08
            for how in ("anywhere", "on others")
            for score in trust.SCORES
        }
        about = {"dataset": name, "points": 100, "cost": 1.2 - value, "stays": 0.6}
        return {**about, "doubtful": 0.1, **scores, **moved}

    made = pd.DataFrame([row("vowels", 0.91), row("hapt", low)])
    points = pd.DataFrame({"dataset": "hapt", "trust": RNG.random(50), "stays": RNG.random(50)})
    trust.report(made, points, tmp_path)
    text = (tmp_path / "trust.md").read_text()
    assert f"aim above .70: {verdict}" in text and f"aim .50: {verdict}" in text
    assert f"at least {low + 0.08:.3f} ({verdict})".replace("0.", ".", 1) in text
    assert "| hapt " in text and "untouched" in text and (tmp_path / "trust.png").exists()
