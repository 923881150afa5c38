"""Very many points: what can be seen in the shaded picture, pixel by pixel."""

from __future__ import annotations

import time

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from ctsne import pl
from ctsne.pl.palette import MISSING
from ctsne.pl.points import MOST_DOTS

N = MOST_DOTS + 20_000


def rendered(ax: plt.Axes) -> np.ndarray:
    """The pixels inside the Axes, red, green and blue from 0 to 1, at 150 dots per inch."""
    ax.figure.set_dpi(150)
    ax.figure.canvas.draw()
    pixels = np.asarray(ax.figure.canvas.buffer_rgba())[..., :3] / 255
    left, bottom, right, top = (round(x) for x in ax.bbox.extents)
    return pixels[len(pixels) - top + 2 : len(pixels) - bottom - 2, left + 2 : right - 2]


def near(pixels: np.ndarray, color: str, within: float = 0.2) -> np.ndarray:
    return np.abs(pixels - to_rgb(color)).max(axis=-1) < within


def blob(n: int = N, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 2))


def test_more_points_than_dots_are_an_image() -> None:
    ax = pl.embedding(blob())
    assert not ax.collections and len(ax.images) == 1
    (image,) = ax.images
    left, right, bottom, top = image.get_extent()
    assert image.origin == "lower" and (left, right) == ax.get_xlim()
    assert top - bottom == pytest.approx(right - left)
    assert bottom <= ax.get_ylim()[0] and top >= ax.get_ylim()[1]
    # Fine enough for print at the size of the figure.
    assert image.get_array().shape[0] >= 280 * ax.get_window_extent().width / ax.figure.dpi


def test_places_are_right() -> None:
    positions = np.concatenate([blob() * 0.01, [[10.0, 0.0], [0.0, 10.0]]])
    pixels = rendered(pl.embedding(positions))
    dark = pixels.min(axis=-1) < 0.8
    rows, columns = np.nonzero(dark)
    side = len(pixels)
    # Three places: the dense one at the lower left, one point at the right and one at the top.
    assert dark[int(0.85 * side) :, : int(0.15 * side)].any()
    assert columns.max() > 0.9 * side and rows.min() < 0.1 * side
    assert not dark[int(0.2 * side) : int(0.8 * side), int(0.2 * side) : int(0.8 * side)].any()


def test_a_single_point_is_seen_and_small() -> None:
    far = np.array([[9.0, 9.0]])
    pixels = rendered(pl.embedding(np.concatenate([blob(), far]), palette=None))
    corner = pixels[: len(pixels) // 8, -len(pixels) // 8 :]
    seen = corner.min(axis=-1) < 0.7
    assert 1 <= seen.sum() <= 16


def test_the_inside_of_a_cloud_is_smooth() -> None:
    positions = np.random.default_rng(0).uniform(-1, 1, size=(N, 2))
    ax = pl.embedding(positions)
    opacity = np.asarray(ax.images[0].get_array())[..., 3]
    middle = opacity[300:-300, 300:-300]
    # Less than a tenth of a point per pixel: dots would leave most of them empty.
    assert np.quantile(middle, 0.01) > 0.15 and middle.std() < 0.15


def test_rare_labels_are_seen_in_the_middle_of_others() -> None:
    positions, labels = blob(), np.full(N, "many", object)
    rare = np.random.default_rng(1).choice(np.flatnonzero(abs(positions).max(axis=1) < 1), 50)
    labels[rare] = "rare"
    pixels = rendered(pl.embedding(positions, labels, palette={"many": "#0072B2", "rare": "red"}))
    spots = near(pixels, "#ff0000", 0.35)
    # Some pixels for almost every one of the 50 points, which are not more than dots.
    assert 50 <= spots.sum() <= 50 * 25


def test_colours_show_the_composition_whatever_the_density() -> None:
    shares = {"#D55E00": 0.5, "#009E73": 0.25, "#0072B2": 0.17, "#000000": 0.08}
    labels = np.random.default_rng(1).choice(list(shares), N, p=list(shares.values()))
    positions = blob()
    ax = pl.embedding(positions, labels, palette={name: name for name in shares})
    (image,) = ax.images
    pixels = np.asarray(image.get_array())
    across, along = (np.linspace(*limits, len(pixels)) for limits in (ax.get_xlim(), ax.get_ylim()))
    radius = np.hypot(across, along[:, None])
    for inner, outer in ((0.0, 0.5), (1.0, 1.5)):
        ring = pixels[(radius >= inner) & (radius < outer)][:, :3]
        for name, share in shares.items():
            assert near(ring, name, 0.02).mean() == pytest.approx(share, abs=0.05)


def test_missing_labels_lie_below_the_others() -> None:
    labels = np.where(np.arange(N) % 3 == 0, "a", None)
    ax = pl.embedding(blob(), labels, palette={"a": "#0000ff"})
    below, above = (np.asarray(image.get_array()) for image in ax.images)
    for image, color in ((below, to_rgb(MISSING)), (above, (0, 0, 1))):
        assert np.abs(image[..., :3] - color).max() < 1e-6
    pixels = rendered(ax)
    assert near(pixels, "#0000ff", 0.3).sum() > near(pixels, MISSING, 0.02).sum()


def test_numbers_are_smoothed() -> None:
    positions = blob()
    noise = np.random.default_rng(1).normal(size=N)
    pixels = rendered(pl.embedding(positions, positions[:, 0] + 0.1 * noise, legend_loc=None))
    viridis = plt.get_cmap("viridis")
    row = pixels[len(pixels) // 2]
    third = len(row) // 3
    # Blue-violet at the left, green-yellow at the right, as the scale is.
    assert row[third : third + 20, 2].mean() > row[-third - 20 : -third, 2].mean()
    assert row[-third - 20 : -third, 1].mean() > row[third : third + 20, 1].mean()
    assert np.abs(row[len(row) // 2] - viridis(0.5)[:3]).max() < 0.2


def test_the_same_points_give_the_same_picture() -> None:
    labels = np.arange(N) % 12
    one, other = (pl.embedding(blob(), labels).images for _ in range(2))
    for first, second in zip(one, other, strict=True):
        np.testing.assert_array_equal(first.get_array(), second.get_array())


@pytest.mark.slow
def test_a_million_points_of_sixty_types_take_seconds() -> None:
    rng = np.random.default_rng(0)
    labels = np.array([f"type {i}" for i in range(60)])[rng.integers(0, 60, 10**6)]
    positions = rng.normal(size=(10**6, 2)).astype(np.float32)
    start = time.perf_counter()
    pl.embedding(positions, labels).figure.canvas.draw()
    # About three seconds on two cores; the bound leaves room for a busy machine.
    assert time.perf_counter() - start < 20
