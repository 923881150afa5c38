"""One measure against another."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from ctsne import pl

X = {"revised": [0.0, 0.2, 0.4], "_$joint$": [0.1, 0.5], "original": [0.0]}
Y = {"revised": [0.6, 0.5, 0.4], "original": [0.6], "_$joint$": [0.6, 0.4]}


def test_a_line_with_growing_markers_for_each_name() -> None:
    ax = pl.trade_off(X, Y, xlabel="Laplacian", ylabel="kept")
    for line, points, name in zip(ax.lines, ax.collections, X, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([X[name], Y[name]]))
        np.testing.assert_array_equal(points.get_offsets(), line.get_xydata())
        sizes = points.get_sizes()
        assert len(sizes) == len(X[name]) and (np.diff(sizes) > 0).all()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Laplacian", "kept")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(X)


def test_colours_and_markers_are_those_of_the_measures() -> None:
    ax = pl.trade_off(X, Y)
    other = pl.measures({name: X[name] for name in reversed(X)}, Y)
    color = {name: to_hex(line.get_color()) for name, line in zip(X, ax.lines, strict=True)}
    assert color == {
        name: to_hex(line.get_color()) for name, line in zip(Y, other.lines, strict=True)
    }
    signs = {
        text.get_text(): line.get_marker()
        for text, line in zip(ax.get_legend().get_texts(), ax.get_legend().get_lines(), strict=True)
    }
    assert signs == {name: line.get_marker() for name, line in zip(Y, other.lines, strict=True)}
    assert len(set(color.values())) == len(set(signs.values())) == 3


@pytest.mark.parametrize(
    ("x", "y", "error", "message"),
    [
        ({}, {}, TypeError, "x must be a mapping"),
        ({"a": [1]}, [1], TypeError, "y must be a mapping"),
        ({"a": [1]}, {"b": [1]}, ValueError, "same names, but only one has 'a'"),
        ({"a": [1, 2]}, {"a": [1]}, ValueError, r"'a', got shapes \(2,\) and \(1,\)"),
        ({"a": [[1]]}, {"a": [[1]]}, ValueError, "one value per setting"),
    ],
)
def test_bad_input_is_refused(x: object, y: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        pl.trade_off(x, y)
    assert not plt.get_fignums()
