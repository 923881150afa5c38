from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ctsne.settings import DEFAULTS
from ctsne.sweep import SweepResult

from .made_up import made_up

BASE = {**DEFAULTS, "method": "revised", "random_state": 0}


def result(
    grid: Any, mixing: list[float], rnx: list[float], **measures: list[float]
) -> SweepResult:
    return made_up(grid, {"mixing": mixing, "adjusted_rnx": rnx, **measures}, BASE)


def test_mixing_that_cannot_be_measured_is_not_chosen_by() -> None:
    swept = result({"beta": [1, 0.1]}, [math.nan, 0.3], [0.5, 0.4])
    assert swept.best(0).parameters == {"beta": 0.1}
    with pytest.raises(ValueError, match="cannot be measured"):
        result({"beta": [1]}, [math.nan], [0.5]).best(0)


def test_find_looks_at_all_parameters() -> None:
    grid = [{"method": "joint", "strength": [0.5, 1]}, {"beta": [0.1]}]
    swept = result(grid, [0.1, 0.2, 0.3], [0.3, 0.2, 0.1])
    assert swept.find(method="joint", strength=1.0) == (swept.maps[1],)
    assert swept.find(method="revised") == (swept.maps[2],)
    assert swept.find(perplexity=30) == swept.maps
    assert swept.find(strength=0.7) == ()
    with pytest.raises(ValueError, match="'strenght' is not a parameter"):
        swept.find(strenght=1)


def test_table_has_what_the_estimator_adds_and_leaves_out_what_a_method_does_not_use() -> None:
    grid = [{"method": "joint", "strength": [0.5]}, {"beta": [0.1]}, {"method": "tsne"}]
    table = result(grid, [0.1, 0.2, 0.3], [0.3, 0.2, 0.1]).table
    assert table.columns.tolist() == [
        "method",
        "strength",
        "beta",
        "mixing",
        "adjusted_rnx",
        "seconds",
        "error",
    ]
    assert table.method.tolist() == ["joint", "revised", "tsne"]
    assert table.strength.isna().tolist() == [False, True, True]
    assert table.beta.isna().tolist() == [True, False, True]


def test_title_says_the_setting() -> None:
    grid = [
        {"method": "joint", "strength": 0.4},
        {"beta": 1e-10, "init": np.zeros((3, 2))},
        {"beta": [{"a": np.float32(0.5), "b": 1e-8}]},
    ]
    assert [swept.title for swept in result(grid, [0.1] * 3, [0.1] * 3).maps] == [
        "joint, strength 0.4",
        "beta 1e-10, init array of shape (3, 2)",
        "beta a=0.5, b=1e-08",
    ]


def test_shows_itself_in_a_few_words() -> None:
    swept = result({"beta": [1, 0.1]}, [0.25, 0.5], [0.5, 0.4], other_mixing=[0.1, 0.2])
    assert repr(swept) == (
        "SweepResult of 2 maps\n"
        "  SweptMap(beta 1: mixing 0.25, adjusted_rnx 0.50, other_mixing 0.10)\n"
        "  SweptMap(beta 0.1: mixing 0.50, adjusted_rnx 0.40, other_mixing 0.20)"
    )
    many = result({"beta": [0.9**i for i in range(25)]}, [0.5] * 25, [0.5] * 25)
    assert repr(many).endswith("and 5 more")


def test_lines_hold_what_differs_in_strength_alone() -> None:
    grid = [
        {"method": "tsne"},
        {"method": "joint", "strength": [1, 0.5]},
        {"bandwidth": ["p", "r"], "beta": [0.5, 0.1]},
    ]
    swept = result(grid, [0.1] * 7, [0.3] * 7)
    lines = swept.lines()
    assert [line.title for line in lines] == [
        "t-SNE",
        "joint",
        "revised, bandwidth p",
        "revised, bandwidth r",
    ]
    assert [line.knob for line in lines] == [None, "strength", "beta", "beta"]
    assert lines[1].maps == (swept.maps[2], swept.maps[1])  # the weakest first
    assert lines[3].maps == (swept.maps[5], swept.maps[6])
    seeds = result({"beta": [1, 0.1], "random_state": [0, 1]}, [0.1] * 4, [0.3] * 4).lines()
    assert [line.title for line in seeds] == [f"revised, random_state {seed}" for seed in (0, 1)]
