from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ctsne.methods import METHODS, swept_grid
from ctsne.settings import DEFAULTS
from ctsne.sweep.grid import default_grid, expand_grid, weakest_first


def expand(grid: Any, method: str = "revised") -> list[Any]:
    return expand_grid(grid, {**DEFAULTS, "method": method})


def test_all_combinations_in_the_order_given() -> None:
    points = expand({"bandwidth": ["p", "r"], "beta": np.array([0.5, 0.1])})
    assert [point.parameters for point in points] == [
        {"bandwidth": "p", "beta": 0.5},
        {"bandwidth": "p", "beta": 0.1},
        {"bandwidth": "r", "beta": 0.5},
        {"bandwidth": "r", "beta": 0.1},
    ]
    assert len({point.line for point in points[:2]}) == 1
    assert points[0].line != points[2].line


def test_several_grids_and_single_values() -> None:
    start = np.zeros((5, 2))
    points = expand([{"method": "tsne"}, {"method": "joint", "strength": 0.5, "init": start}])
    assert points[0].parameters == {"method": "tsne"}
    assert points[0].knob is None
    assert points[1].parameters["init"] is start
    assert points[1].knob == "strength"


@pytest.mark.parametrize(
    ("grid", "knob"),
    [
        ({"beta": [1, 0.1]}, "beta"),
        ({"method": "original", "beta": [1, 0.1]}, "beta"),
        ({"method": "joint", "strength": [0, 1]}, "strength"),
        ({"beta": 0.1, "beta_low": [1, 0.1]}, "beta_low"),
        ({"method": "balanced", "strength": 0.5, "beta_low": [1, 0.1]}, "beta_low"),
        ({"beta": [1, 0.1], "beta_low": [1, 0.1]}, "beta"),
        ({"perplexity": [10, 20]}, None),
        ({"method": "original", "beta_low": [1, 0.3]}, "beta_low"),
        ({"method": "joint", "odds": [1, 10]}, "odds"),
        ({"method": "joint", "strength": [0, 1], "odds": 10}, "strength"),
        ({"method": "joint", "align": ["none", "mean"]}, None),
    ],
)
def test_what_is_varied_along_a_line(grid: dict[str, Any], knob: str | None) -> None:
    assert {point.knob for point in expand(grid)} == {knob}


def test_seeds_are_lines_of_their_own_but_share_one_without_them() -> None:
    points = expand({"random_state": [0, 1], "beta": [1, 0.1]})
    assert len({point.line for point in points}) == 2
    assert len({point.seedless_line for point in points}) == 1


def test_lines_do_not_depend_on_how_the_grid_is_divided() -> None:
    whole = expand({"beta": [1, 0.1], "random_state": [0, 1]})
    parts = expand([{"beta": b, "random_state": s} for b in (1, 0.1) for s in (0, 1)])
    assert [point.line for point in whole] == [point.line for point in parts]
    assert [point.seedless_line for point in whole] == [point.seedless_line for point in parts]


def test_what_gives_the_same_map_is_listed_once() -> None:
    grid = {"method": ["tsne", "revised", "joint"], "beta": [1, 0.1, 0.1], "strength": [0, 1]}
    assert [point.parameters for point in expand(grid)] == [
        {"method": "tsne"},
        {"method": "revised", "beta": 1},
        {"method": "revised", "beta": 0.1},
        {"method": "joint", "strength": 0},
        {"method": "joint", "strength": 1},
    ]


@pytest.mark.parametrize("name", ["init", "align"])
@pytest.mark.parametrize("array", [[[0.0, 1.0], [1.0, 0.0]], np.eye(2)])
def test_an_array_is_one_value(name: str, array: Any) -> None:
    (point,) = expand({name: array})
    assert point.parameters[name] is array
    both = expand({name: ["none" if name == "align" else "pca", array]})
    assert both[1].parameters[name] is array and len({each.line for each in both}) == 2
    many, other = np.zeros((2, 2000, 2))  # print alike
    other[1000] = 1
    assert len({each.line for each in expand({name: [many, other], "beta": [1, 0.1]})}) == 2


def test_what_conditions_nothing_is_one_map() -> None:
    points = expand({"bandwidth": ["p", "r"], "beta": [1, 0.1]})
    assert [point.parameters["beta"] for point in points] == [1, 0.1, 0.1]
    points = expand([{"method": "tsne"}, {"method": "original", "beta": [1, 0.1]}])
    assert [point.parameters.get("beta") for point in points] == [None, 0.1]


def test_a_default_and_the_same_number_are_one_map() -> None:
    points = expand([{"method": "joint"}, {"method": "joint", "strength": [0.7, 0.6]}])
    assert [point.parameters for point in points] == [
        {"method": "joint"},
        {"method": "joint", "strength": 0.6},
    ]


def test_weakest_first() -> None:
    betas = expand({"beta": [1e-4, 1, 0.1]})
    assert weakest_first(betas, range(3)) == [1, 2, 0]
    strengths = expand({"method": "joint", "strength": [1, 0, 0.5]})
    assert weakest_first(strengths, range(3)) == [1, 2, 0]
    odds = expand({"odds": [10, 1, 3]})
    assert weakest_first(odds, range(3)) == [1, 2, 0]
    per_label = expand({"beta": [{"a": 0.1}, {"a": 1}]})
    assert weakest_first(per_label, range(2)) == [0, 1]


def test_default_grid_is_tsne_then_the_default_method_and_the_paper() -> None:
    grid = default_grid()
    assert grid == swept_grid("tsne", "joint", "revised", short=True)
    assert [entry["method"] for entry in grid] == ["tsne", "joint", "revised"]
    assert grid[1]["strength"] == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert len(expand_grid(grid, DEFAULTS)) == 1 + 5 + 8


@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize("method", [name for name, each in METHODS.items() if each.knob])
def test_grids_of_methods_go_from_nothing_on(method: str, short: bool) -> None:
    (entry,) = swept_grid(method, short=short)
    knob = METHODS[method].knob
    assert knob is not None and set(entry) == {"method", knob}
    values = entry[knob]
    assert values[0] == METHODS[method].grid[0] == (0 if knob == "strength" else 1)
    points = expand_grid(entry, DEFAULTS)
    assert weakest_first(points, range(len(values))) == list(range(len(values)))
    # Beside t-SNE the weakest, which conditions nothing, would be a map twice.
    assert swept_grid("tsne", method, short=short)[1][knob] == values[1:]


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"betta": [1]}, "did you mean 'beta'"),
        ({"beta": []}, "no value for 'beta'"),
        ([], "no setting"),
        ({"n_jobs": [1, 2]}, "pass it to sweep itself"),
        ({"n_components": [1, 2]}, "different dimensions"),
        ({"metric": ["cosine"]}, "searched once"),
        ([["beta", 1]], "mapping"),
        ("beta", "mapping"),
        (5, "mapping"),
        ({"mixing": [0.1, 0.5]}, r"pass a mixing to suggest\(\)"),
        (
            {"method": "original", "beta": [1, 0.1], "beta_low": 0.3},
            "'beta', which the method ignores",
        ),
        ({"strength": [0, 1]}, 'method ignores.*"method": "joint", "strength"'),
        ({"method": "tsne", "align": ["mean"]}, 'ignores.*"method": "joint", "align"'),
        ({"method": "jont"}, "method must be one of"),
    ],
)
def test_refuses_what_is_no_grid(grid: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        expand(grid)
