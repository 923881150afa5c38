"""Which map is suggested, the reason in words, and what counts as noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctsne import ConditionalTSNE
from ctsne._core.vocabulary import SUGGESTED_MIXING
from ctsne.datasets import make_synthetic
from ctsne.sweep import Suggestion, SweepResult, load_sweep, sweep
from ctsne.sweep.choice import choose_maps

from .made_up import BASE, made_up

TSNE = {"method": "tsne"}
JOINT = {"method": "joint", "strength": [0.4, 0.6, 0.8]}
REVISED = {"method": "revised", "beta": [0.1, 1e-4]}


def result(
    grid: Any,
    mixing: list[float],
    rnx: list[float],
    other: list[float] | None = None,
    noise: float = 0.0,
) -> SweepResult:
    measures = {"mixing": mixing, "adjusted_rnx": rnx, "other_mixing": other}
    return made_up(grid, measures, noise=noise)


def place(swept: SweepResult, suggestion: Suggestion) -> int:
    return swept.maps.index(suggestion.map)


def test_one_target_everywhere() -> None:
    swept = result([TSNE, JOINT], [0.1, 0.6, 0.85, 0.9], [0.5, 0.4, 0.3, 0.2])
    assert SUGGESTED_MIXING == 0.8
    assert swept.best() is swept.suggest().map is swept.suggest(0.8).map is swept.maps[2]


def test_without_another_label_most_neighbours_are_kept() -> None:
    swept = result([JOINT, REVISED], [0.6, 0.9, 1, 0.85, 0.9], [0.9, 0.3, 0.2, 0.4, 0.1])
    found = swept.suggest()
    assert place(swept, found) == 3
    assert found.reason == "of the maps that reach a mixing of 0.8, this one keeps most neighbours"
    assert found.ties == ()


def test_with_another_label_the_purest() -> None:
    kept = [0.9, 0.5, 0.4, 0.3]
    swept = result([TSNE, JOINT], [0.1, 0.8, 0.9, 1], kept, [0.3, 0.2, 0.1, 0.15])
    assert place(swept, swept.suggest()) == 2
    assert "keeps the other label purest" in swept.suggest().reason


def test_the_cost_is_named_if_tsne_is_purer_though_it_mixes_too_little() -> None:
    swept = result([TSNE, JOINT], [0.1, 0.8, 0.9, 1], [0.5] * 4, [0.05, 0.2, 0.12, 0.15])
    found = swept.suggest()
    assert place(swept, found) == 2
    assert found.reason.endswith("t-SNE keeps the other label purer (mixing 0.05 against 0.12)")
    close = result([TSNE, JOINT], [0.1, 0.8, 0.9, 1], [0.5] * 4, [0.158, 0.2, 0.162, 0.17])
    assert close.suggest().reason.endswith("purer (mixing 0.158 against 0.162)")
    # Within noise, nothing is lost.
    swept = result([TSNE, JOINT], [0.1, 0.8, 0.9, 1], [0.5] * 4, [0.1, 0.12, 0.11, 0.12], 0.04)
    assert place(swept, swept.suggest()) == 1 and "purer" not in swept.suggest().reason


def test_nothing_to_factor_out_only_if_no_map_is_purer() -> None:
    mixing, kept = [0.85, 0.9, 0.95, 1], [0.5, 0.4, 0.3, 0.2]
    for other in (None, [0.1, 0.1, 0.2, 0.3]):
        swept = result([TSNE, JOINT], mixing, kept, other)
        assert place(swept, swept.suggest()) == 0
        assert "t-SNE already mixes the label to 0.85 of random" in swept.suggest().reason
        assert "nothing to factor out" in swept.suggest().reason
    swept = result([TSNE, JOINT], mixing, kept, [0.3, 0.1, 0.2, 0.3])
    assert place(swept, swept.suggest()) == 1
    assert "nothing" not in swept.suggest().reason


def test_there_is_always_an_answer() -> None:
    swept = result([TSNE, JOINT], [0.1, 0.3, 0.45, 0.4], [0.5, 0.4, 0.3, 0.2])
    found = swept.suggest()
    assert place(swept, found) == 2
    assert found.reason == (
        "no setting reaches a mixing of 0.8; this one mixes the label to 0.45 of random, the most "
        "of all"
    )
    swept = result([TSNE, JOINT], [0.1, 0.3, 0.45, 0.4], [0.5] * 4, [0.1, 0.2, 0.3, 0.4])
    assert place(swept, swept.suggest()) == 2
    assert "t-SNE keeps" in swept.suggest().reason
    # Of those that are as mixed within noise, the one that keeps most, or is purest.
    swept = result([TSNE, JOINT], [0.1, 0.3, 0.45, 0.4], [0.5, 0.4, 0.3, 0.9], noise=0.03)
    assert place(swept, swept.suggest()) == 3


def test_ties_go_to_the_weaker_and_the_answer_says_so() -> None:
    other = [0.5, 0.107, 0.105, 0.1]
    mixing, kept = [0.1, 0.85, 0.9, 1], [0.5, 0.3, 0.3, 0.3]
    swept = result([TSNE, JOINT], mixing, kept, other, 0.004)
    found = swept.suggest()
    assert place(swept, found) == 1
    assert found.reason.endswith("; strengths 0.4 to 0.8 are equivalent; 0.4 taken")
    assert found.ties == swept.maps[1:]
    swept = result([TSNE, JOINT], mixing, kept, other, 0.003)  # twice that is .006
    found = swept.suggest()
    assert place(swept, found) == 2
    assert found.reason.endswith("; strengths 0.6 to 0.8 are equivalent; 0.6 taken")
    swept = result([TSNE, JOINT], mixing, kept, other)
    assert place(swept, swept.suggest()) == 3


def test_between_methods_ties_go_to_the_first() -> None:
    swept = result([JOINT, REVISED], [0.5, 0.9, 1, 0.85, 1], [0.3] * 5, [0.1] * 5)
    found = swept.suggest()
    assert place(swept, found) == 1
    assert found.reason.endswith(
        "; strengths 0.6 to 0.8 of joint and betas 0.1 to 0.0001 of revised are equivalent; "
        "joint, strength 0.6 taken"
    )
    swept = result([JOINT], [0.9, 0.95, 1], [0.3] * 3, [0.1, 0.2, 0.1])
    assert "joint, strength 0.4 and joint, strength 0.8 are equivalent" in swept.suggest().reason


def test_seeds_are_noise_too() -> None:
    grid = {"method": "joint", "strength": [0.5, 1], "random_state": [0, 1]}
    mixing, rnx = [0.9, 0.9, 1, 1], [0.5, 0.6, 0.4, 0.3]
    swept = result(grid, mixing, rnx, [0.12, 0.12, 0.07, 0.13])
    assert place(swept, swept.suggest()) == 1  # of the weaker setting, the seed that keeps most
    swept = result(grid, mixing, rnx, [0.12, 0.12, 0.10, 0.10])
    assert place(swept, swept.suggest()) == 2


def test_means_over_seeds_and_then_a_seed_that_reaches() -> None:
    grid = {"method": "joint", "strength": [0.5, 1], "random_state": [0, 1]}
    swept = result(grid, [0.65, 0.4, 0.9, 0.9], [0.3, 0.9, 0.2, 0.2])
    assert place(swept, swept.suggest(0.5)) == 0  # the other keeps more, but mixes too little
    assert place(swept, swept.suggest(0.55)) == 2  # the mean of the weaker is .525


def test_neighbours_kept_that_cannot_be_measured_are_ties() -> None:
    swept = result(JOINT, [0.6, 0.85, 0.9], [np.nan] * 3)
    assert place(swept, swept.suggest()) == 1


def test_lines_are_told_apart_by_all_but_the_strength() -> None:
    grid = {"method": "revised", "bandwidth": ["p", "r"], "beta": [0.1, 1e-4]}
    swept = result(grid, [0.6, 0.9, 0.6, 0.9], [0.3, 0.2, 0.4, 0.2])
    assert place(swept, swept.suggest(0.5)) == 2
    assert [len(line) for line in swept.candidates()] == [2, 2]


@pytest.mark.parametrize("mixing", [-0.1, 1.1, "much", None, float("nan"), True])
def test_refuses(mixing: Any) -> None:
    swept = result(JOINT, [0.6, 0.9, 1], [0.3, 0.2, 0.1])
    with pytest.raises((TypeError, ValueError), match="mixing must be"):
        swept.suggest(mixing)


def test_nothing_finished_is_an_error() -> None:
    with pytest.raises(ValueError, match="no finished map"):
        SweepResult((), (), BASE).suggest()


MEASURES = st.lists(st.integers(0, 11).map(lambda x: x / 10), min_size=5, max_size=5)


@given(MEASURES, MEASURES, MEASURES, st.booleans(), st.integers(0, 1000))
def test_a_table_of_targets_holds_every_suggestion(
    mixing: list[float], kept: list[float], other: list[float], hidden: bool, thousandths: int
) -> None:
    swept = result(
        [TSNE, JOINT, {"method": "balanced", "strength": 1}],
        mixing,
        kept,
        other if hidden else None,
        0.05,
    )
    target = thousandths / 1000
    (axis,), found = choose_maps(swept.candidates(), swept.targets(0.8), swept.hidden)
    assert axis == sorted(axis) and 0.8 in axis
    taken = found[next(place for place, least in enumerate(axis) if least >= target)]
    assert taken.map is swept.suggest(target).map and taken.ties == swept.suggest(target).ties


@given(MEASURES, MEASURES, MEASURES)
def test_agrees_with_a_plain_rule(
    mixing: list[float], kept: list[float], other: list[float]
) -> None:
    swept = result([TSNE, JOINT, {"method": "balanced", "strength": 1}], mixing, kept, other)
    reaching = [i for i in range(5) if mixing[i] >= 0.8]
    pool = reaching or [i for i in range(5) if mixing[i] == max(mixing)]
    assert place(swept, swept.suggest()) == min(pool, key=lambda i: other[i])


def test_the_noise_is_that_of_resampled_points(tmp_path: Any) -> None:
    data = make_synthetic(600, random_state=0)
    small = ConditionalTSNE(perplexity=20, n_iter=150, random_state=0)
    grid = [TSNE, {"method": "joint", "strength": [0.3, 1]}]
    swept = sweep(data.X, data.known, grid, other=data.hidden, estimator=small, progress=False)
    for made in swept.maps:
        assert set(made.parts) == {"mixing", "adjusted_rnx", "other_mixing"}
        for name, parts in made.parts.items():
            assert parts.shape == (40,)
            assert parts.mean() == pytest.approx(made.measures[name], abs=1e-6)
    swept.save(tmp_path / "sweep.npz")
    again = load_sweep(tmp_path / "sweep.npz")
    for mixing in (0, 0.3, 0.6, 0.8, 1):
        one, other = swept.suggest(mixing), again.suggest(mixing)
        assert one.reason == other.reason and one.map.parameters == other.map.parameters
    np.testing.assert_array_equal(swept.maps[1].parts["mixing"], again.maps[1].parts["mixing"])
