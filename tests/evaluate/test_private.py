"""Private populations, against a count by hand and on data with a type under one label only."""

from __future__ import annotations

import numpy as np
import pytest

from ctsne.evaluate import map_neighbors, private_populations


def test_only_types_under_one_label_are_listed() -> None:
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(90, 2))
    labels = np.arange(90) % 2
    types = np.where(np.arange(90) < 30, "shared", np.where(labels == 0, "left", "right"))
    found = {each.kind: each for each in private_populations(Y, labels, types, k=5)}
    assert set(found) == {"left", "right"}
    assert found["left"].label == 0 and found["left"].points == 30
    near = map_neighbors(Y, k=5).indices[types == "left"]
    assert found["left"].wrong == pytest.approx((types[near] != "left").mean())


def test_a_group_by_itself_has_no_wrong_neighbours() -> None:
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(100, 2))
    Y[:40] += 50
    types = np.where(np.arange(100) < 40, "own", "shared")
    labels = np.where(np.arange(100) < 40, "a", np.array(["a", "b"])[np.arange(100) % 2])
    (found,) = private_populations(Y, labels, types, k=10)
    assert found == ("own", "a", 40, 0.0)


def test_points_without_label_or_type_are_left_out() -> None:
    types = [None, "t", "t", "u", "u", "u"]
    labels = ["a", "a", None, "b", "b", "a"]
    found = private_populations([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], labels, types, k=1)
    assert [(each.kind, each.label, each.points) for each in found] == [("t", "a", 1)]
