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
        (10, "normal", 0.12),
        (10, "protan", 0.05),
        (10, "deutan", 0.05),
        (24, "normal", 0.1),
        (30, "normal", 0.09),
        (30, "deutan", 0.03),
        (60, "normal", 0.06),
    ],
)
def test_colours_are_told_apart(count: int, vision: str, least: float) -> None:
    labels = np.repeat(range(count), 1 + 1000 // (1 + np.arange(count)))
    colors = list(pl.palette(labels).values())
    assert len(set(colors)) == count
    assert nearest([*COLORS[:count], MISSING], vision) > least
    # And from the white they are drawn on.
    assert (oklab(colors)[VISIONS.index(vision), :, 0] < 0.93).all()


@pytest.mark.parametrize("count", [1, 5, 10, 11, 24, 25, 60])
def test_the_most_frequent_labels_have_the_colours_that_differ_most(count: int) -> None:
    names = [f"type {number}" for number in range(count)]
    labels = np.repeat(names, [64 if number < 10 else 1 for number in range(count)])
    colors = pl.palette(labels)
    assert len(set(colors.values())) == count
    first = next(size for size in (10, 24, 60) if size >= count)
    assert set(colors.values()) <= set(COLORS[:first])
    assert {colors[f"type {number}"] for number in range(min(count, 10))} <= set(COLORS[:10])


def test_six_colours_are_okabe_and_ito() -> None:
    assert set(COLORS[:6]) < set(_OKABE_ITO.split())


@pytest.mark.parametrize("count", [2, 3, 5, 10])
def test_a_sample_of_few_labels_swaps_no_colours(count: int) -> None:
    names = [f"study {number}" for number in range(count)]
    colors = pl.palette(names)
    assert len(set(colors.values())) == count
    for large in names:  # whichever of them is the most frequent
        assert pl.palette(names + [large] * 1000) == colors


def test_the_same_labels_have_the_same_colours_in_any_order() -> None:
    colors = pl.palette(["b", "a", "c"])
    assert list(colors) == ["a", "b", "c"]
    assert pl.palette(["c", "a", "b", "b", "a", "c"]) == colors
    ordered = pd.Series(["b", "a", "c"], dtype=pd.CategoricalDtype(["c", "b", "a", "unused"]))
    assert list(pl.palette(ordered)) == ["c", "b", "a"]
    assert pl.palette(ordered) == colors


def test_numbers_and_their_texts_have_the_same_colours() -> None:
    whole = pl.palette([3, 1, 2, 2])
    assert list(pl.palette(["3", "1", "2", "2"]).values()) == list(whole.values())
    assert list(pl.palette([3.0, 1.0, 2.0, np.nan]).values())[:3] == list(whole.values())


def test_a_subset_keeps_the_colours_of_its_frequent_labels() -> None:
    """Labels that vanish from a sample are rare; those that stay keep their colours."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        names = np.array([f"{seed} {number}" for number in range(20)])
        labels = rng.choice(names, 4000, p=np.repeat([0.09, 0.01], 10))
        whole = pl.palette(labels)
        some = pl.palette(labels[np.isin(labels, names[:10])])
        assert all(whole[name] == color for name, color in some.items())


def test_few_labels_of_many_mostly_keep_their_colours() -> None:
    rng, kept = np.random.default_rng(0), []
    for trial in range(200):
        names = [f"{trial} {number}" for number in range(8)]
        labels = rng.permutation(np.repeat(names, rng.integers(20, 2000, 8)))
        whole, chosen = pl.palette(labels), rng.choice(names, 5, replace=False)
        some = pl.palette(labels[np.isin(labels, chosen)])
        kept += [whole[name] == color for name, color in some.items()]
    assert np.mean(kept) > 0.75


def test_few_labels_mostly_have_the_colours_that_differ_most() -> None:
    for names in (["ctrl", "stim"], ["A", "B", "C"], ["batch1", "batch2", "batch3"], ["0", "1"]):
        assert {*pl.palette(names).values()} <= {*COLORS[:6]}
    chosen = [pl.palette([f"{trial} {name}" for name in "ABC"]).values() for trial in range(200)]
    assert np.mean([color in COLORS[:6] for colors in chosen for color in colors]) > 0.8


def test_missing_labels_are_grey() -> None:
    assert pl.palette(["a", None])[None] == MISSING
    assert pl.palette([1.0, float("nan")]) == {**pl.palette([1]), None: MISSING}
    assert None not in pl.palette(["a", "b"])


def test_more_labels_than_colours_share_them() -> None:
    colors = list(pl.palette(range(130)).values())
    assert len(colors) == 130 and set(colors) == set(COLORS)
    assert max(map(colors.count, COLORS)) == 3


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
    lightness = oklab(COLORS)[0, :, 0]
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


def test_a_palette_may_be_a_list_or_a_colour_map() -> None:
    labels = encode_column(["a", "b", "c"])
    assert label_colors(labels, ["red", "blue"])[:3] == ["#ff0000", "#0000ff", "#ff0000"]
    assert label_colors(labels, "tab10")[:3] == ["#1f77b4", "#ff7f0e", "#2ca02c"]
    assert label_colors(labels, "viridis")[:3] == ["#440154", "#21918c", "#fde725"]
    # Texts of labels, as a file of colours holds them.
    assert label_colors(encode_column([1, 2]), {"1": "red", "2": "blue"})[:2] == [
        "#ff0000",
        "#0000ff",
    ]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"a": "red"}, ValueError, "no colour for 'b'; make it from all labels"),
        ({}, ValueError, "no colour for 'a', 'b'"),
        ({"a": "red", "b": "blurple"}, ValueError, "got 'blurple' for 'b'"),
        ([], ValueError, "at least one colour"),
        (["red", "blurple"], ValueError, "got 'blurple' for 'b'"),
        (3, TypeError, "mapping from labels to colours.*got int"),
        ("virids", ValueError, "no colour map 'virids'"),
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
