"""The comparison at equal mixing, on hand-made lines."""

from __future__ import annotations

import equal_mixing as em
import numpy as np
import pytest


def test_lines_are_read_in_order_of_strength() -> None:
    # The line passes .5 on the way up, on the way back, and up again: the weakest counts.
    mixing, kept = [0.0, 0.6, 0.4, 0.8], [0.9, 0.3, 0.2, 0.1]
    assert em.at_mixing(mixing, kept, 0.5) == pytest.approx(0.4)
    assert em.at_mixing(mixing, kept, 0.7) == pytest.approx(0.125)
    assert em.at_mixing([0.5, 0.5, 0.6], [0.3, 0.2, 0.1], 0.5) == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("share", "expected"), [(0.2, 0.9), (0.8, 0.3), (0.19, None), (0.81, None)]
)
def test_lines_are_read_up_to_their_ends_only(share: float, expected: float | None) -> None:
    assert em.at_mixing([0.2, 0.8], [0.9, 0.3], share) == expected
    assert em.at_mixing([0.2], [0.9], share) == (0.9 if share == 0.2 else None)


def test_failed_maps_are_left_out() -> None:
    nan = np.nan
    assert em.at_mixing([0.0, nan, 1.0], [0.8, 5.0, 0.4], 0.5) == pytest.approx(0.6)
    assert em.at_mixing([nan], [nan], 0.5) is None
    line = em.make_line([[0.0, nan], [0.0, 0.6]], [[0.8, nan], [0.8, 0.2]], [[0, nan], [0, 0.3]])
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


def flat(kept: float, impure: float, *, spread: float = 0.0, most: float = 1.0) -> em.Line:
    """Make a line of two seeds with the same values at every mixing, ``spread`` about each."""
    sides = np.array([[-spread], [spread]])
    return em.make_line(
        [[0.0, most]] * 2, kept + sides + np.zeros((2, 2)), impure + sides + np.zeros((2, 2))
    )


def test_methods_are_ranked_by_the_neighbours_they_keep() -> None:
    lines = {"a": flat(0.3, 0.2), "b": flat(0.4, 0.1), "c": flat(0.9, 0, most=0.4)}
    found = em.standing(lines, 0.5)
    assert list(found.places) == ["b", "a"]
    assert found.keeps_most == ("b",)


def test_overlapping_seeds_are_a_tie() -> None:
    lines = {"a": flat(0.38, 0.2, spread=0.03), "b": flat(0.4, 0.1), "c": flat(0.3, 0.1)}
    assert em.standing(lines, 0.5).keeps_most == ("b", "a")


def test_what_prints_alike_is_a_tie() -> None:
    a, b = em.place(flat(0.4001, 0.1), 0.5), em.place(flat(0.4004, 0.102), 0.5)
    assert a is not None
    assert b is not None
    assert em.compare(a, b) == (0, 1)
    assert em.compare(b, a) == (0, -1)
