"""One table of methods, and everything else asks it."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ctsne
from ctsne import ConditionalTSNE
from ctsne.fit.pipeline import wanted_lists
from ctsne.labels import encode_labels
from ctsne.methods import (
    DEFAULT_METHOD,
    KNOBS,
    METHODS,
    is_used,
    swept_grid,
    users_of,
)
from ctsne.settings import DEFAULTS, knob_value

SIGNATURE = inspect.signature(ConditionalTSNE).parameters
WITH_KNOB = [name for name, method in METHODS.items() if method.knob]
SOURCE = Path(str(ctsne.__file__)).parent


def test_defaults_are_those_of_the_estimator() -> None:
    assert list(DEFAULTS) == list(SIGNATURE)
    assert {name: each.default for name, each in SIGNATURE.items()} == DEFAULTS
    assert ConditionalTSNE().get_params() == DEFAULTS


def test_every_parameter_in_the_table_is_one_of_the_estimator() -> None:
    for name, method in METHODS.items():
        assert method.name == name and method.title
        assert set(method.uses) <= set(SIGNATURE)
        assert method.knob is None or (method.knob in KNOBS and method.knob in SIGNATURE)
        assert method.splits_neighbors == ("align" in method.uses)
    assert set(KNOBS) == {method.knob for method in METHODS.values()} - {None}
    assert DEFAULT_METHOD in METHODS and DEFAULTS["method"] == DEFAULT_METHOD == "joint"
    assert [method.name for method in METHODS.values() if method.knob is None] == ["tsne"]


@pytest.mark.parametrize("name", WITH_KNOB)
def test_grids_go_from_nothing_to_the_strongest(name: str) -> None:
    method = METHODS[name]
    for grid in (method.grid, method.short_grid):
        assert grid[0] == method.grid[0] == (0 if method.knob == "strength" else 1)
        assert list(grid) == sorted(set(grid), reverse=method.knob == "beta")
    low, high = sorted((method.grid[0], method.grid[-1]))
    assert all(low <= value <= high for value in method.short_grid)
    assert low <= method.default <= high
    assert len(method.short_grid) < len(method.grid)


@pytest.mark.parametrize("name", WITH_KNOB)
def test_levels_pass_through_the_grid(name: str) -> None:
    method = METHODS[name]
    levels = np.linspace(0, 1, len(method.grid))
    values = [method.knob_at(float(level)) for level in levels]
    np.testing.assert_allclose(values, method.grid, rtol=1e-9, atol=1e-12)
    assert isinstance(method.knob_at(1), float)


def test_the_knob_has_a_default() -> None:
    found = {name: knob_value({**DEFAULTS, "method": name}) for name in METHODS}
    expected = {"joint": 0.7, "revised": 1e-4, "balanced": 1.0, "original": 0.1, "tsne": None}
    assert found == expected
    assert knob_value({**DEFAULTS, "strength": 0.0}) == 0
    assert knob_value({**DEFAULTS, "strength": {"a": 1}}) == {"a": 1}


USED: dict[str, set[str]] = {
    "joint": {"strength", "align"},
    "revised": {"beta", "align", "bandwidth"},
    "balanced": {"strength", "align"},
    "original": {"beta"},
    "tsne": set(),
}


@pytest.mark.parametrize("name", METHODS)
def test_which_parameters_have_an_effect(name: str) -> None:
    given = {**DEFAULTS, "method": name}
    selective = set().union(*USED.values())
    assert {each for each in selective if is_used(each, given)} == USED[name]
    assert all(is_used(each, given) for each in set(SIGNATURE) - selective)


@pytest.mark.parametrize("below", [{"beta_low": 0.5}, {"odds": 3}])
def test_what_conditions_the_map_takes_the_place_of_the_original_beta(below: Any) -> None:
    for name in METHODS:
        given = {**DEFAULTS, "method": name, **below}
        knob = METHODS[name].knob
        if knob is not None:
            assert is_used(knob, given) == (name != "original")


def test_who_uses_a_parameter() -> None:
    assert users_of("strength") == ["joint", "balanced"]
    assert users_of("beta") == ["revised", "original"]
    assert users_of("bandwidth") == ["revised"]
    assert users_of("align") == ["joint", "revised", "balanced"]
    assert users_of("perplexity") == []


def test_grids_of_a_sweep() -> None:
    assert swept_grid("tsne") == [{"method": "tsne"}]
    (whole,) = swept_grid("joint")
    assert whole == {"method": "joint", "strength": list(METHODS["joint"].grid)}
    _, short = swept_grid("tsne", "revised", short=True)
    assert short["beta"] == list(METHODS["revised"].short_grid[1:])
    whole["strength"].clear()  # a list of its own each time
    assert swept_grid("joint")[0]["strength"]


@pytest.mark.parametrize("name", METHODS)
def test_lengths_in_the_table_are_those_of_the_lists(name: str) -> None:
    """What memory is estimated by, and small labels are warned of."""
    method = METHODS[name]
    X = np.random.default_rng(0).normal(size=(400, 3))
    labels = np.arange(400) % 2
    model = ConditionalTSNE(method=name, perplexity=12, n_iter=1, n_jobs=1, random_state=0)
    settings = ctsne.settings.check_settings(model.get_params(), X, encode_labels(labels))
    assert np.atleast_2d(wanted_lists(settings)[1])[0].sum() == round(method.list_length * 12)
    model.fit(X, labels=labels)
    stored = model.affinities_.nnz / 400
    assert stored <= 2 * method.row_length * 12 + 2


def test_no_other_module_lists_the_methods() -> None:
    """Two names of methods side by side, as text, are a list that would have to be kept."""
    names = "|".join(METHODS)
    listed = re.compile(rf"""(["'])({names})\1\s*[,:|]\s*[^\n]{{0,20}}?(["'])({names})\3""")
    found = []
    for file in sorted(SOURCE.rglob("*.py")):
        if file.name == "methods.py":
            continue
        code = re.sub(r'"""(?s:.*?)"""', "", file.read_text(encoding="utf-8"))
        found += [
            f"{file.relative_to(SOURCE)}: {match[0]}"
            for match in listed.finditer(code)
            if match[2] != match[4]
        ]
    assert found == []
