"""Bars of the mixing of each label."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from ctsne import pl
from ctsne.evaluate import map_neighbors


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


def test_bad_input_is_refused() -> None:
    positions = np.eye(4)[:, :2]
    with pytest.raises(ValueError, match="k must be a whole number of at least 1"):
        pl.label_mixing(positions, ["a", "a", "b", "b"], k=0)
    with pytest.raises(ValueError, match="labels must have one entry for each of the 4"):
        pl.label_mixing(positions, ["a", "b"], k=1)
    with pytest.raises(ValueError, match="labels must name at least one label"):
        pl.label_mixing(positions, [None] * 4, k=1)
    assert not plt.get_fignums()
