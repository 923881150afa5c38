"""Box plots of the share of other-label neighbours."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from ctsne import pl


def test_boxes_are_quartiles_and_whiskers_leave_outliers_out() -> None:
    share = np.array([0.1, 0.12, 0.14, 0.16, 0.18, 0.9, np.nan])
    ax = pl.other_share(share, ["a"] * 7)
    (box,) = ax.patches
    low, high = np.percentile(share[:6], [25, 75])
    heights = box.get_path().vertices[:, 1]
    np.testing.assert_allclose([heights.min(), heights.max()], [low, high])
    below, above, median = (np.asarray(line.get_ydata()) for line in ax.lines)
    np.testing.assert_allclose(median, [np.median(share[:6])] * 2)
    # Whiskers end at the last point within 1.5 interquartile ranges; 0.9 is beyond.
    assert below.min() == 0.1 and above.max() == 0.18


def test_a_box_for_each_pair_that_occurs() -> None:
    groups = ["x", "x", "y", "y", None, "x"]
    by = ["a", "b", "b", "b", "a", None]
    ax = pl.other_share([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], groups, by=by)
    colors = pl.palette(by)
    places = [float(box.get_path().vertices[:, 0].mean()) for box in ax.patches]
    assert [round(place) for place in places] == [0, 0, 0, 1, 2]
    assert places == sorted(places)
    assert [to_hex(box.get_edgecolor()).upper() for box in ax.patches] == [
        colors[label] for label in ("a", "b", None, "b", "a")
    ]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["x", "y", "missing"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "missing"]


def test_without_a_second_label_groups_have_their_own_colours() -> None:
    ax = pl.other_share([0.0, 1.0], ["x", "y"], palette={"x": "red", "y": "blue"}, ylabel="y")
    assert [to_hex(box.get_edgecolor()) for box in ax.patches] == ["#ff0000", "#0000ff"]
    assert ax.get_legend() is None and ax.get_ylabel() == "y"


def test_long_names_are_slanted() -> None:
    few = pl.other_share([0.0, 1.0], ["x", "y"])
    many = pl.other_share(np.linspace(0, 1, 20), [f"a group called {i}" for i in range(20)])
    assert few.get_xticklabels()[0].get_rotation() == 0
    assert many.get_xticklabels()[0].get_rotation() == 40


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"share": [10.0, 20.0]}, ValueError, "share must lie between 0 and 1.*percentages"),
        ({"share": [[0.1], [0.2]]}, ValueError, "share must be a list"),
        ({"share": ["a", "b"]}, TypeError, "share must hold numbers"),
        ({"groups": ["x"]}, ValueError, "groups must have one entry for each of the 2"),
        ({"by": ["x"]}, ValueError, "by must have one entry for each of the 2"),
    ],
)
def test_bad_input_is_refused(
    arguments: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        pl.other_share(**{"share": [0.1, 0.2], "groups": ["x", "y"], **arguments})
    assert not plt.get_fignums()
