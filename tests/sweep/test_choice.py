"""Which map is suggested, and the reason in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ctsne._core.vocabulary import SUGGESTED_MIXING
from ctsne.sweep import Suggestion, SweepResult
from ctsne.sweep.choice import SEED_NOISE

from .made_up import BASE, made_up

TSNE = {"method": "tsne"}
JOINT = {"method": "joint", "strength": [0.5, 1]}
REVISED = {"method": "revised", "beta": [0.1, 1e-4]}


def result(
    grid: Any, mixing: list[float], rnx: list[float], other: list[float] | None = None
) -> SweepResult:
    return made_up(grid, {"mixing": mixing, "adjusted_rnx": rnx, "other_mixing": other})


def place(swept: SweepResult, suggestion: Suggestion) -> int | None:
    return None if suggestion.map is None else swept.maps.index(suggestion.map)


def test_best_is_the_map_of_the_suggestion() -> None:
    swept = result([TSNE, JOINT], [0.1, 0.6, 0.9], [0.5, 0.4, 0.3])
    assert SUGGESTED_MIXING == 0.5
    for mixing in (0.3, 0.5, 0.7):
        assert swept.best(mixing) is swept.suggest(mixing).map
    assert swept.best() is swept.suggest().map is swept.suggest(0.5).map


def test_one_line_without_another_label() -> None:
    swept = result(JOINT, [0.6, 0.9], [0.3, 0.4])
    found = swept.suggest(0.5)
    assert place(swept, found) == 0  # the weaker, though the other keeps more
    assert found.reason == "the weakest setting that mixes the label to 0.5 of random"


def test_several_lines_without_another_label() -> None:
    swept = result([JOINT, REVISED], [0.6, 0.9, 0.55, 0.9], [0.3, 0.6, 0.4, 0.2])
    found = swept.suggest(0.5)
    assert place(swept, found) == 2
    assert found.reason.endswith("; of all methods that reach it, this one keeps most neighbours")
    assert place(swept, swept.suggest(0.7)) == 1


def test_tsne_that_mixes_far_enough_is_taken() -> None:
    for other in (None, [0.3, 0.1, 0.2]):
        swept = result([TSNE, JOINT], [0.6, 0.8, 0.9], [0.3, 0.5, 0.6], other)
        found = swept.suggest(0.5)
        assert place(swept, found) == 0
        assert found.reason.startswith("plain t-SNE already mixes the label to 0.60 of random")
        assert "nothing to factor out" in found.reason and "target of 0.5" in found.reason
        assert place(swept, swept.suggest(0.7)) != 0


def test_nothing_mixes_that_far() -> None:
    swept = result([TSNE, JOINT], [0.1, 0.3, 0.45], [0.5, 0.4, 0.3])
    found = swept.suggest(0.5)
    assert found.map is None
    assert found.reason == (
        "no setting mixes the label to 0.5 of random; the most is 0.45, with joint, strength 1"
    )
    with pytest.raises(ValueError, match=r"the most is 0\.45, with joint, strength 1; ask for"):
        swept.best(0.5)


def test_the_purest_of_those_that_are_not_beaten() -> None:
    grid = [JOINT, REVISED]
    # The third is purest, but the second mixes more and keeps more.
    swept = result(grid, [0.6, 0.9, 0.7, 0.8], [0.6, 0.5, 0.4, 0.3], [0.20, 0.10, 0.02, 0.15])
    found = swept.suggest(0.5)
    assert place(swept, found) == 1
    assert "no other map beats" in found.reason and "purest" in found.reason


def test_maps_that_differ_by_less_than_seeds_are_alike() -> None:
    noise = SEED_NOISE
    swept = result(JOINT, [0.6, 0.9], [0.6, 0.5], [0.100 + 0.9 * noise, 0.100])
    assert place(swept, swept.suggest(0.5)) == 0  # the less mixed
    swept = result(JOINT, [0.6, 0.9], [0.6, 0.5], [0.100 + 1.1 * noise, 0.100])
    assert place(swept, swept.suggest(0.5)) == 1


def test_seeds_of_the_purest_say_what_is_alike() -> None:
    grid = {**JOINT, "random_state": [0, 1]}
    mixing, rnx = [0.6, 0.6, 0.9, 0.9], [0.5, 0.6, 0.4, 0.3]
    # The purest setting varies by .03 between its seeds, so .02 more is not a difference.
    swept = result(grid, mixing, rnx, [0.12, 0.12, 0.07, 0.13])
    found = swept.suggest(0.5)
    assert place(swept, found) == 1  # of the weaker setting, the seed that keeps most
    swept = result(grid, mixing, rnx, [0.12, 0.12, 0.10, 0.10])
    assert place(swept, swept.suggest(0.5)) == 2


def test_means_over_seeds_and_then_a_seed_that_reaches() -> None:
    grid = {**JOINT, "random_state": [0, 1]}
    swept = result(grid, [0.65, 0.4, 0.9, 0.9], [0.3, 0.9, 0.2, 0.2])
    found = swept.suggest(0.5)
    assert place(swept, found) == 0  # the other seed keeps more, but does not mix that far
    assert place(swept, swept.suggest(0.55)) == 2  # the mean of the weaker is .525


def test_lines_are_told_apart_by_all_but_the_strength() -> None:
    grid = {"method": "revised", "bandwidth": ["p", "r"], "beta": [0.1, 1e-4]}
    swept = result(grid, [0.6, 0.9, 0.6, 0.9], [0.3, 0.2, 0.4, 0.2])
    assert place(swept, swept.suggest(0.5)) == 2
    assert [len(line) for line in swept.candidates()] == [2, 2]


@pytest.mark.parametrize("mixing", [-0.1, 1.1, "much", None, float("nan"), True])
def test_refuses(mixing: Any) -> None:
    swept = result(JOINT, [0.6, 0.9], [0.3, 0.2])
    with pytest.raises((TypeError, ValueError), match="mixing must be"):
        swept.suggest(mixing)


def test_nothing_finished_is_an_error() -> None:
    with pytest.raises(ValueError, match="no finished map"):
        SweepResult((), (), BASE).suggest()


def test_agrees_with_a_plain_rule() -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        n = 8
        grid = [
            {"method": "joint", "strength": [0.2, 0.5, 0.7, 1]},
            {"method": "revised", "beta": [0.5, 0.1, 1e-2, 1e-4]},
        ]
        mixing, rnx, other = rng.random((3, n)).round(2)
        swept = result(grid, list(mixing), list(rnx), list(other))
        reaching = [i for i in range(n) if mixing[i] >= 0.5]
        if not reaching:
            assert swept.suggest(0.5).map is None
            continue
        free = [
            i
            for i in reaching
            if not any(mixing[j] > mixing[i] and rnx[j] > rnx[i] for j in range(n))
        ]
        least = min(other[i] for i in free)
        alike = [i for i in free if other[i] <= least + SEED_NOISE]
        expected = min(alike, key=lambda i: mixing[i])
        assert place(swept, swept.suggest(0.5)) == expected
