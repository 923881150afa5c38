"""Colours of labels: the same for the same labels, and far enough apart."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

from ctsne import pl
from ctsne.labels import encode_column
from ctsne.methods import METHODS
from ctsne.pl.palette import (
    COLORS,
    MANY_COLORS,
    MEASURE_COLORS,
    METHOD_COLORS,
    MISSING,
    color_distances,
    label_colors,
    measure_colors,
    oklab,
)

# Okabe and Ito, "Color universal design" (2008).
_OKABE_ITO = "#000000 #E69F00 #56B4E9 #009E73 #F0E442 #0072B2 #D55E00 #CC79A7"
VISIONS = ("normal", "protan", "deutan")


def nearest(colors: list[str], vision: str) -> float:
    """The smallest distance of two colours in OKLab, as some eyes see them."""
    points = oklab(colors)[VISIONS.index(vision)]
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    return float(distances[np.triu_indices(len(points), 1)].min())


def test_oklab_is_that_of_ottosson() -> None:
    # https://bottosson.github.io/posts/oklab and, for blind eyes, Machado et al. (2009).
    normal, protan, deutan = oklab(["#ffffff", "#ff0000", "#0000ff"])
    expected = [[1, 0, 0], [0.62796, 0.22486, 0.12585], [0.45201, -0.03246, -0.31153]]
    np.testing.assert_allclose(normal, expected, atol=2e-4)
    for blind in (protan, deutan):  # white stays white, and red loses its redness
        np.testing.assert_allclose(blind[0], [1, 0, 0], atol=2e-3)
        assert abs(blind[1, 1]) < 0.05


@pytest.mark.parametrize(
    ("count", "vision", "least"),
    [
        (8, "normal", 0.12),
        (8, "protan", 0.05),
        (8, "deutan", 0.05),
        (13, "normal", 0.12),
        (30, "normal", 0.09),
        (30, "deutan", 0.03),
        (60, "normal", 0.06),
    ],
)
def test_colours_are_told_apart(count: int, vision: str, least: float) -> None:
    colors = list(pl.palette(range(count)).values())
    assert len(set(colors)) == count
    assert nearest([*colors, MISSING], vision) > least
    # And from the white they are drawn on.
    assert (oklab(colors)[VISIONS.index(vision), :, 0] < 0.93).all()


def test_up_to_eight_labels_are_okabe_and_ito() -> None:
    assert set(pl.palette(range(8)).values()) == set(_OKABE_ITO.split())


def test_the_same_labels_have_the_same_colours_in_any_order() -> None:
    colors = pl.palette(["b", "a", "c", "a"])
    assert list(colors) == ["a", "b", "c"]
    assert pl.palette(["c", "c", "b", "a"]) == colors
    ordered = pd.Series(["b", "a", "c"], dtype=pd.CategoricalDtype(["c", "b", "a", "unused"]))
    assert list(pl.palette(ordered)) == ["c", "b", "a"]
    assert pl.palette(ordered) == colors


def test_missing_labels_are_grey() -> None:
    assert pl.palette(["a", None])[None] == MISSING
    assert pl.palette([1.0, float("nan")]) == {1.0: COLORS[0], None: MISSING}
    assert None not in pl.palette(["a", "b"])


def test_more_labels_than_colours_share_them() -> None:
    colors = pl.palette(range(130))
    assert len(colors) == 130 and colors[0] == colors[60] == colors[120] == COLORS[0]


def contrast(color: str, other: str) -> float:
    """The ratio of luminances by which texts and lines are read (WCAG)."""
    levels = []
    for each in (color, other):
        rgb = np.array([int(each[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        light = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        levels.append(float(light @ [0.2126, 0.7152, 0.0722]))
    return (max(levels) + 0.05) / (min(levels) + 0.05)


def test_colours_of_methods_and_measures_are_read_on_light_and_dark_pages() -> None:
    assert set(METHOD_COLORS) == set(METHODS)
    measures = [color for colors in MEASURE_COLORS.values() for color in colors]
    for colors in (list(METHOD_COLORS.values()), measures):
        for color in colors:
            assert contrast(color, "#ffffff") >= 2.9 and contrast(color, "#16181d") >= 2.9
        assert nearest(colors, "normal") > 0.15
        assert min(nearest(colors, "protan"), nearest(colors, "deutan")) > 0.07


def test_many_colours_are_seen_on_light_and_dark_pages() -> None:
    assert not {"#000000", "#F0E442"} & set(MANY_COLORS)
    lightness = oklab(MANY_COLORS)[0, :, 0]
    assert lightness.min() > 0.4 and lightness.max() < 0.87


def test_the_mixing_of_several_columns_has_several_colours() -> None:
    names = ["mixing (a)", "mixing (b)", "adjusted_rnx", "other_mixing", "rnx"]
    colors = measure_colors(names)
    assert list(colors) == names and len(set(colors.values())) == 5
    assert measure_colors(["mixing"])["mixing"] == colors["mixing (a)"]
    assert measure_colors(["adjusted_rnx"])["adjusted_rnx"] == colors["adjusted_rnx"]


def test_distances_are_those_of_the_eyes_that_see_least() -> None:
    colors = ["#D55E00", "#009E73", "#0072B2"]
    found = color_distances(colors)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        seen = {vision: nearest([colors[i], colors[j]], vision) for vision in VISIONS}
        least = min(seen["normal"], 2.2 * seen["protan"], 2.2 * seen["deutan"])
        assert found[i, j] == found[j, i] == pytest.approx(least)
    assert (np.diag(found) == 0).all()


def test_a_given_palette_is_followed() -> None:
    labels = encode_column(["a", "b", None])
    assert label_colors(labels, {"b": "red", "a": (0, 0, 1), "z": "k"}) == [
        "#0000ff",
        "#ff0000",
        MISSING.lower(),
    ]
    assert label_colors(labels, {"b": "red", "a": "blue", None: "black"})[-1] == "#000000"


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"a": "red"}, ValueError, "no colour for 'b'; make it from all labels"),
        ({}, ValueError, "no colour for 'a', 'b'"),
        ({"a": "red", "b": "blurple"}, ValueError, "got 'blurple' for 'b'"),
        (["red", "blue"], TypeError, "mapping from labels to colours.*got list"),
        ("viridis", TypeError, "mapping"),
    ],
)
def test_bad_palettes_are_refused(given: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        pl.embedding([[0, 0], [1, 1]], ["a", "b"], palette=given)


# Colours by the places of labels in a map


def grid(side: int, n: int = 30, *, spread: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """Groups in a grid, the larger the later, with a label each."""
    rng = np.random.default_rng(0)
    counts = n + np.arange(side**2)
    labels = np.repeat(np.arange(side**2), counts)
    centres = np.column_stack(np.divmod(np.arange(side**2), side)).astype(float)
    return centres[labels] + spread * rng.normal(size=(len(labels), 2)), labels


def beside(side: int) -> list[tuple[int, int]]:
    """Pairs of groups that touch."""
    cells = range(side**2)
    right = [(i, i + 1) for i in cells if (i + 1) % side]
    return right + [(i, i + side) for i in cells if i + side < side**2]


@pytest.mark.parametrize(("side", "least"), [(4, 0.25), (5, 0.22), (7, 0.18)])
def test_neighbours_in_the_map_have_distant_colours(side: int, least: float) -> None:
    positions, labels = grid(side)
    plain, arranged = pl.palette(labels), pl.palette(labels, positions)
    assert set(plain.values()) == set(arranged.values())
    pairs = beside(side)

    def distances(colors: dict[object, str]) -> np.ndarray:
        apart = color_distances([colors[i] for i in range(side**2)])
        return np.array([apart[pair] for pair in pairs])

    found = distances(arranged)
    assert found.mean() > 1.05 * distances(plain).mean()
    assert np.quantile(found, 0.1) > least
    assert found.min() > 1.4 * distances(plain).min()


def test_it_is_the_same_each_time_and_in_any_order() -> None:
    positions, labels = grid(4)
    expected = pl.palette(labels, positions)
    assert pl.palette(labels, positions) == expected
    names = pd.Categorical(labels, categories=range(15, -1, -1))
    assert pl.palette(names, positions) == expected
    assert next(iter(pl.palette(names, positions))) == 15


def test_eight_labels_stay_as_they_are() -> None:
    positions, labels = grid(4)
    few = labels % 8
    assert pl.palette(few, positions) == pl.palette(few)
    assert list(pl.palette(few, positions).values()) == list(COLORS)


def test_missing_labels_and_shared_colours() -> None:
    positions, labels = grid(9)
    column = labels.astype(object)
    column[::7] = None
    colors = pl.palette(column, positions)
    assert colors[None] == MISSING and len(colors) == 82
    assert set(colors.values()) - {MISSING} == set(MANY_COLORS)
    # 21 of the colours appear twice, never next to each other.
    assert all(colors[one] != colors[other] for one, other in beside(9))


def test_it_is_fast() -> None:
    rng = np.random.default_rng(0)
    positions, labels = rng.normal(size=(300_000, 2)), rng.integers(0, 60, 300_000)
    start = time.perf_counter()
    pl.palette(labels, positions)
    assert time.perf_counter() - start < 5  # a tenth of it on an idle machine


@pytest.mark.parametrize(
    ("embedding", "error", "message"),
    [
        (np.zeros((3, 2)), ValueError, "embedding must have 256 rows"),
        (np.full((256, 2), np.nan), ValueError, "embedding contains .* NaN"),
        ("umap", TypeError, "embedding must"),
    ],
)
def test_bad_maps_are_refused(embedding: object, error: type[Exception], message: str) -> None:
    labels = np.repeat(np.arange(16), 16)
    with pytest.raises(error, match=message):
        pl.palette(labels, embedding)


def test_pictures_are_coloured_by_their_map() -> None:
    positions, labels = grid(5)
    ax = pl.embedding(positions, labels)
    legend = ax.get_legend()
    shown = {
        int(text.get_text()): line.get_color().upper()
        for text, line in zip(legend.get_texts(), legend.get_lines(), strict=True)
    }
    assert shown == pl.palette(labels, positions)
    first, second = pl.maps({"one": positions, "other": -positions}, labels)
    assert len(np.unique(first.collections[0].get_facecolors(), axis=0)) == 25
    np.testing.assert_array_equal(
        first.collections[0].get_facecolors(), second.collections[0].get_facecolors()
    )
