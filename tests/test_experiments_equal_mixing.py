"""The comparison at equal mixing and the sentences made of it, on hand-made lines."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

# The experiments are scripts, not part of the package.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

import equal_mixing as em
import real_words as words

# Reading a line


def test_lines_are_read_in_order_of_mixing() -> None:
    # In order of strength the path passes .5 twice; in order of mixing once, halfway from .4 to .6.
    mixing, kept = [0.0, 0.6, 0.4, 0.8], [0.9, 0.5, 0.7, 0.1]
    assert em.at_mixing(mixing, kept, 0.5) == pytest.approx(0.6)
    assert em.at_mixing(mixing, kept, 0.1) == pytest.approx(0.85)


@pytest.mark.parametrize(
    ("share", "expected"), [(0.2, 0.9), (0.8, 0.3), (0.19, None), (0.81, None)]
)
def test_lines_are_read_up_to_their_ends_only(share: float, expected: float | None) -> None:
    assert em.at_mixing([0.2, 0.8], [0.9, 0.3], share) == expected


def test_failed_maps_are_left_out() -> None:
    nan = np.nan
    assert em.at_mixing([0.0, nan, 1.0], [0.8, 5.0, 0.4], 0.5) == pytest.approx(0.6)
    assert em.at_mixing([nan], [nan], 0.5) is None
    line = em.make_line([[0.0, nan], [0.0, 0.6]], [[0.8, nan], [0.8, 0.2]], [[0, nan], [0, 0.3]])
    assert em.span(line) == (0.0, 0.6)
    there = em.place(line, 0.3)
    assert there is not None
    assert there.kept == pytest.approx((0.5, 0.5, 0.5))


def test_range_is_over_the_seeds_that_get_there() -> None:
    mixing = [[0.0, 0.4], [0.0, 0.8], [0.0, 0.9]]
    kept = [[0.8, 0.8], [0.8, 0.4], [0.8, 0.2]]
    there = em.place(em.make_line(mixing, kept, np.zeros((3, 2))), 0.5)
    assert there is not None
    # Mean line: mixing 0 to .7, R_NX .8 to 1.4/3; the first seed ends at .4.
    assert there.kept.value == pytest.approx(0.8 + (1.4 / 3 - 0.8) * 5 / 7)
    assert there.kept.low == pytest.approx(0.8 - 0.6 * 5 / 9)
    assert there.kept.high == pytest.approx(max(0.8 - 0.4 * 5 / 8, there.kept.value))


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match=r"one shape, got \(1, 2\), \(1, 1\)"):
        em.make_line([0.0, 0.1], [0.5], [0.0, 0.1])


# Ranking


def flat(kept: float, impure: float, *, spread: float = 0.0, most: float = 1.0) -> em.Line:
    """Make a line of two seeds with the same values at every mixing, ``spread`` about each."""
    sides = np.array([[-spread], [spread]])
    return em.make_line(
        [[0.0, most]] * 2, kept + sides + np.zeros((2, 2)), impure + sides + np.zeros((2, 2))
    )


def test_the_best_in_both_dominates() -> None:
    found = em.standing(
        {"a": flat(0.3, 0.2), "b": flat(0.4, 0.1), "c": flat(0.9, 0, most=0.4)}, 0.5
    )
    assert list(found.places) == ["b", "a"]
    assert (found.dominant, found.unbeaten, found.short, found.past) == ("b", ("b",), ("c",), ())


def test_overlapping_seeds_are_a_tie() -> None:
    lines = {"a": flat(0.38, 0.2, spread=0.03), "b": flat(0.4, 0.1), "c": flat(0.3, 0.1)}
    found = em.standing(lines, 0.5)
    assert found.keeps_most == ("b", "a")
    assert found.purest == ("b", "c")
    assert found.dominant is None
    assert found.unbeaten == ("b",)


def test_what_prints_alike_is_a_tie() -> None:
    a, b = em.place(flat(0.4001, 0.1), 0.5), em.place(flat(0.4004, 0.102), 0.5)
    assert a is not None
    assert b is not None
    assert em.compare(a, b) == (0, 1)
    assert em.compare(b, a) == (0, -1)


def test_one_may_keep_most_and_another_be_purest() -> None:
    found = em.standing({"a": flat(0.5, 0.2), "b": flat(0.4, 0.1)}, 0.5)
    assert (found.keeps_most, found.purest) == (("a",), ("b",))
    assert (found.dominant, found.unbeaten) == (None, ())


def test_a_line_that_begins_beyond_the_share_is_not_short() -> None:
    beyond = em.make_line([0.6, 0.9], [0.5, 0.4], [0.1, 0.1])
    found = em.standing({"a": flat(0.5, 0.2), "b": beyond}, 0.5)
    assert (found.past, found.short, found.contested, found.dominant) == (("b",), (), False, None)


# Words


def test_sentences_say_who_is_best() -> None:
    lines = {
        "joint": flat(0.341, 0.086),
        "balanced": flat(0.3, 0.05),
        **{method: flat(0.4, 0.0, most=0.4) for method in words.PAPER},
    }
    assert words.standing_sentence("pancreas3", em.standing(lines, 0.5)) == (
        "On pancreas3 at .5: joint keeps most neighbours (.341), balanced is purest (.050), none "
        "best in both; none of the papers' methods gets there; original, revised p and revised r "
        "fall short."
    )
    lines["balanced"] = flat(0.3, 0.086)
    assert words.standing_sentence("toy", em.standing(lines, 0.85)).startswith(
        "On toy at .85: joint keeps most neighbours (.341), joint is purest (.086, tie with "
        "balanced), joint best or tied in both; "
    )


def test_sentences_where_there_is_little_to_compare() -> None:
    short = {"joint": flat(0.3, 0.1, most=0.4)}
    assert words.standing_sentence("toy", em.standing(short, 0.7)) == (
        "On toy at .7: no method reaches it."
    )
    both = {**short, "balanced": flat(0.2, 0.1)}
    assert words.standing_sentence("toy", em.standing(both, 0.7)) == (
        "On toy at .7: only balanced can be read (R_NX .200, Laplacian .100); joint falls short."
    )
    past = {"joint": em.make_line([0.8, 0.9], [0.3, 0.3], [0, 0])}
    assert words.standing_sentence("toy", em.standing(past, 0.7)) == (
        "On toy at .7: no line passes it; joint mixes more throughout."
    )


def test_duels_and_losses_are_counted_over_all_datasets() -> None:
    one = {"joint": flat(0.4, 0.1), "original": flat(0.3, 0.2)}
    two = {"joint": flat(0.4, 0.1), "original": flat(0.5, 0.1)}
    standings = {
        "one": [em.standing(one, share) for share in (0.3, 0.5)],
        "two": [em.standing(two, 0.5)],
    }
    assert words.duel(standings, "joint", "original") == ((2, 0, 1), (2, 1, 0))
    assert words.duel(standings, "original", "joint") == ((1, 0, 2), (0, 1, 2))
    assert words.lost_duels(standings, "joint", words.PAPER) == [
        "two at .5: it keeps .400, less than original (.500)"
    ]
    reach, dominance, ahead = words.verdict(standings)
    assert "Of 3 pairs" in reach
    assert "joint reaches 3, and one of the papers' methods at least 3" in reach
    assert dominance.startswith("No method dominates everywhere. Of the 3")
    assert "joint in 2; in 1 the best are tied" in dominance
    assert ahead.startswith("Where both can be read, joint is ahead of original")


def test_verdict_against_our_hopes() -> None:
    lines = {"joint": flat(0.3, 0.2), "original": flat(0.4, 0.1), "revised r": flat(0.2, 0.3)}
    sentences = words.verdict({"toy": [em.standing(lines, 0.5)]})
    assert sentences[1] == "original dominates everywhere."
    assert sentences[2].startswith("Where both can be read, joint is ahead of revised r more")
    assert sentences[3].startswith("That is not so against original, which is more often better")


# Tables from files
