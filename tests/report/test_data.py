"""The estimator of each map as it would be typed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ctsne import ConditionalTSNE
from ctsne.methods import is_used
from ctsne.report.data import read_page
from ctsne.sweep.grid import IRRELEVANT, plain_value

from .conftest import Made, made_up

NOTHING = dict.fromkeys(("other", "features", "names", "title"))


def commands(made: Made) -> list[str]:
    page = read_page(made.result, columns=made.columns, known="batch", mixing=0.5, **NOTHING)
    return [shown.command for shown in page.maps]


def calls(grid: Any, **estimator: Any) -> list[str]:
    result, columns = made_up(12, grid=grid)
    given = ConditionalTSNE(random_state=0).get_params(deep=False) | estimator
    return commands(Made(replace(result, estimator=given), columns))


def test_names_the_setting_then_what_is_no_default() -> None:
    grid = [{"method": "tsne"}, {"method": "joint", "strength": [0.6, 1]}]
    assert calls(grid, perplexity=20, n_jobs=2, bandwidth="p") == [
        'ConditionalTSNE(method="tsne", perplexity=20, random_state=0)',
        'ConditionalTSNE(method="joint", strength=0.6, perplexity=20, random_state=0)',
        'ConditionalTSNE(method="joint", strength=1, perplexity=20, random_state=0)',
    ]


def test_values_of_the_grid_win_over_those_of_the_estimator() -> None:
    grid = {"perplexity": np.array([5]), "random_state": 3}
    (call,) = calls(grid, perplexity=20, strength=0.25)
    assert call == "ConditionalTSNE(perplexity=5, random_state=3, strength=0.25)"
    (call,) = calls(grid, method="revised", perplexity=20, beta=1e-9)
    assert call == 'ConditionalTSNE(perplexity=5, random_state=3, beta=1e-09, method="revised")'


def test_a_start_is_named_by_its_shape() -> None:
    (call,) = calls({"method": "tsne"}, init=np.zeros((12, 2)))
    assert "init=<array of shape (12, 2)>" in call


def test_aligned_points_are_named_by_their_shape() -> None:
    (call,) = calls({"method": "joint"}, align=np.zeros((12, 5)))
    assert "align=<array of shape (12, 5)>" in call
    (call,) = calls({"method": "joint", "align": "mean"}, odds=3)
    assert call == 'ConditionalTSNE(method="joint", align="mean", odds=3, random_state=0)'
    (call,) = calls({"method": "tsne"}, align="mean")
    assert call == 'ConditionalTSNE(method="tsne", random_state=0)'


def test_typed_again_it_is_the_same_estimator() -> None:
    grid = [
        {
            "method": "revised",
            "beta": [{"it's": 1e-3, 'a "b"\\': np.float64(1)}],
            "bandwidth": ["p"],
        },
        {"method": "original", "beta_low": [0.1], "dof": [0.5]},
        {"method": "joint", "align": ["mutual"], "odds": [2.5]},
    ]
    made = made_up(12, grid=grid)
    for swept, call in zip(made.result.maps, commands(made), strict=True):
        again = eval(call, {"ConditionalTSNE": ConditionalTSNE}).get_params(deep=False)
        wanted = {**made.result.estimator, **swept.parameters}
        for name, value in wanted.items():
            if name not in IRRELEVANT and is_used(name, wanted):
                assert plain_value(again[name]) == plain_value(value), name
