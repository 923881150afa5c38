"""Colours of labels: the same for the same labels, and far enough apart."""

from __future__ import annotations

from collections.abc import Sequence

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
    label_colors,
    measure_colors,
)

# Okabe and Ito, "Color universal design" (2008).
_OKABE_ITO = "#000000 #E69F00 #56B4E9 #009E73 #F0E442 #0072B2 #D55E00 #CC79A7"
VISIONS = ("normal", "protan", "deutan")

# Linear RGB as normal, red-blind and green-blind eyes see it (Machado et al. 2009, severity 1).
_RED_BLIND = [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
]
_GREEN_BLIND = [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.011820, 0.042940, 0.968881],
]
_VISIONS = np.array([np.eye(3), _RED_BLIND, _GREEN_BLIND])
# From linear RGB to OKLab (Ottosson 2020), with a cube root between the two.
_TO_CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
_TO_LAB = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]


def oklab(colors: Sequence[str]) -> np.ndarray:
    """Return hexadecimal colours in OKLab, as normal, red-blind and green-blind eyes see them."""
    rgb = np.array([[int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)] for color in colors])
    light = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(light @ _VISIONS.transpose(0, 2, 1), 0, 1)
    return np.cbrt(seen @ np.transpose(_TO_CONES)) @ np.transpose(_TO_LAB)


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


def test_many_labels_have_the_same_colours_in_every_picture() -> None:
    rng = np.random.default_rng(0)
    positions, labels = rng.normal(size=(500, 2)), np.arange(500) % 25
    legend = pl.embedding(positions, labels).get_legend()
    shown = {
        int(text.get_text()): line.get_color().upper()
        for text, line in zip(legend.get_texts(), legend.get_lines(), strict=True)
    }
    assert shown == pl.palette(labels)
    first, second = pl.maps({"one": positions, "other": -positions[::-1]}, labels)
    np.testing.assert_array_equal(
        first.collections[0].get_facecolors(), second.collections[0].get_facecolors()
    )
    assert len(np.unique(first.collections[0].get_facecolors(), axis=0)) == 25
