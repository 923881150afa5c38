"""The maps as the page stores them, and the estimator of each as it would be typed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ctsne import ConditionalTSNE
from ctsne.methods import is_used
from ctsne.pl.palette import METHOD_COLORS
from ctsne.report.maps import constructor_calls, packed_map, sweep_facts
from ctsne.sweep.grid import IRRELEVANT, plain_value

from .conftest import made_up


def calls(grid: Any, **estimator: Any) -> list[str]:
    result, _ = made_up(12, grid=grid)
    given = ConditionalTSNE(random_state=0).get_params(deep=False) | estimator
    return constructor_calls(replace(result, estimator=given))


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
    result, _ = made_up(12, grid=grid)
    for swept, call in zip(result.maps, constructor_calls(result), strict=True):
        again = eval(call, {"ConditionalTSNE": ConditionalTSNE}).get_params(deep=False)
        wanted = {**result.estimator, **swept.parameters}
        for name, value in wanted.items():
            if name not in IRRELEVANT and is_used(name, wanted):
                assert plain_value(again[name]) == plain_value(value), name


def test_a_diagnostic_with_one_value_is_stored_once() -> None:
    swept = made_up(12).result.maps[2]
    same = np.full(12, 30, np.float32) + np.linspace(0, 0.01, 12, dtype=np.float32)
    changed = replace(swept, diagnostics=swept.diagnostics | {"perplexity": same})
    packed = packed_map(changed, np.arange(12))
    assert packed.constant == {"perplexity": 30.01}
    assert set(packed.highest) == {"other_share", "largest_weight"}
    assert set(packed.arrays) == {"positions", *packed.highest}
    assert sum(each.nbytes for each in packed.arrays.values()) == 12 * 6


def test_lines_have_the_colour_of_their_method() -> None:
    lines = sweep_facts(made_up(12).result)["lines"]
    assert [line["method"] for line in lines] == ["tsne", "joint", "revised"]
    assert [line["color"] for line in lines] == [METHOD_COLORS[line["method"]] for line in lines]
