"""Charts of neighbours: the mixing of each label, and the share of other labels by group."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from ctsne import pl
from ctsne.evaluate import map_neighbors

from .conftest import legend_of


def brute_force(positions: np.ndarray, labels: list[str | None], k: int) -> dict[str, float]:
    """Mean share of other labels among the labelled ones of the k nearest, label by label."""
    shares: dict[str, list[float]] = {}
    for i, label in enumerate(labels):
        if label is None:
            continue
        distances = np.linalg.norm(positions - positions[i], axis=1)
        distances[i] = np.inf
        near = [labels[j] for j in np.argsort(distances)[:k] if labels[j] is not None]
        if near:
            shares.setdefault(label, []).append(float(np.mean([other != label for other in near])))
    return {label: float(np.mean(values)) for label, values in shares.items()}


def test_bars_marks_and_counts() -> None:
    rng = np.random.default_rng(0)
    positions = rng.normal(size=(60, 2))
    labels = [*["b"] * 20, *["a"] * 10, *[None] * 10, *["c"] * 20]
    ax = pl.label_mixing(positions, labels, k=6)
    expected = brute_force(positions, labels, 6)
    random = {"a": 40 / 49, "b": 30 / 49, "c": 30 / 49}
    np.testing.assert_allclose(
        [bar.get_width() for bar in ax.patches], [expected[name] / random[name] for name in "abc"]
    )
    assert [to_hex(bar.get_facecolor()).upper() for bar in ax.patches] == list(
        pl.palette(["a", "b", "c"]).values()
    )
    texts = [text.get_text() for text in ax.get_yticklabels()]
    assert texts == ["a  (10)", "b  (20)", "c  (20)"]
    assert list(ax.lines[-1].get_xdata()) == [1, 1]
    # The first label is at the top.
    assert ax.yaxis_inverted()
    assert ax.get_xlabel() == "mixing, as a share of random mixing"


def test_neighbours_of_a_sample() -> None:
    positions = np.random.default_rng(0).normal(size=(50, 2))
    labels = ["a", "b"] * 24 + ["c", "c"]
    found = map_neighbors(positions, k=5, sample=10)
    assert not set(found.points) & {48, 49}
    ax = pl.label_mixing(found, labels, k=5)
    widths = [bar.get_width() for bar in ax.patches]
    whole = map_neighbors(positions, k=5).indices
    for code, name in enumerate("ab"):
        chosen = [i for i in found.points if labels[i] == name]
        shares = [np.mean([labels[j] != name for j in whole[i]]) for i in chosen]
        assert widths[code] == pytest.approx(np.mean(shares) / (26 / 49))
    assert np.isnan(widths[2])


def test_bad_mixing_is_refused() -> None:
    positions = np.eye(4)[:, :2]
    with pytest.raises(ValueError, match="k must be a whole number of at least 1"):
        pl.label_mixing(positions, ["a", "a", "b", "b"], k=0)
    with pytest.raises(ValueError, match="labels must have one entry for each of the 4"):
        pl.label_mixing(positions, ["a", "b"], k=1)
    with pytest.raises(ValueError, match="labels must name at least one label"):
        pl.label_mixing(positions, [None] * 4, k=1)
    assert not plt.get_fignums()


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
    assert legend_of(ax) == ["a", "b", "missing"]


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
def test_bad_shares_are_refused(
    arguments: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        pl.other_share(**{"share": [0.1, 0.2], "groups": ["x", "y"], **arguments})
    assert not plt.get_fignums()
