"""Maps of very many points: a shaded image in which sparse and rare points stay visible."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Fine enough for print; screens show fewer.
_PIXELS_PER_INCH, _FEWEST, _MOST = 300, 200, 2400
# Widths in pixels, as standard deviations of Gaussians: of a single point, of one of a rare label,
# and the factors of wider neighbourhoods. A place is smoothed by the narrowest of these that holds
# enough points; where even the widest has only few, it shows single dots.
_DOT, _RARE_DOT, _WIDER = 1.4, 2.0, (4, 2, 1)
_FEW, _MANY, _ENOUGH = 3.0, 12.0, 40.0
# Side in pixels of the squares that have one colour, so that mixed labels are seen as such.
_GRAIN = 2
# Opacity of a single point, of one of a rare label, and the share of pixels below full opacity.
_SINGLE, _RARE_SINGLE, _BELOW_FULL = 0.6, 0.95, 0.97
# Labels with a smaller share of the points, and fewer of them, are drawn on top, as dots.
_RARE, _FEW_POINTS = 0.003, 500

_Image = NDArray[np.floating]


def draw_density(
    ax: Axes,
    points: NDArray[np.floating],
    rgb: NDArray[np.float64],
    groups: NDArray[np.integer],
    box: tuple[float, float, float, float],
    side: float,
    *,
    numbers: bool,
) -> None:
    """Shade a map whose square ``box`` is ``side`` inches wide, rare labels above the others.

    ``groups`` holds codes of labels, all 0 for ``numbers``; -1 is missing and lies below.
    """
    pixels = int(np.clip(side * _PIXELS_PER_INCH, _FEWEST, _MOST))
    start, length = np.array(box[::2]), box[1] - box[0]
    places = ((points - start) * (pixels / length)).astype(np.int64).clip(0, pixels - 1)
    counts = np.bincount(groups + 1)
    rare = (counts < min(_RARE * len(points), _FEW_POINTS))[groups + 1] & (groups >= 0)
    common, singles = (groups >= 0) & ~rare, (_DOT, _SINGLE)
    layers = ((groups < 0, singles), (common, singles), (rare, (_RARE_DOT, _RARE_SINGLE)))
    for chosen, (dot, opacity) in layers:
        if chosen.any():
            image = np.empty((pixels, pixels, 4), np.float32)
            image[..., :3] = _grains(places[chosen], rgb[chosen], pixels, numbers=numbers)
            image[..., 3] = _opacity(_heights(places[chosen], pixels, dot), opacity)
            ax.imshow(image, extent=box, origin="lower", interpolation="antialiased")


def _heights(places: NDArray[np.int64], pixels: int, dot: float) -> _Image:
    """Return the density in units of a single point, less smooth where points lie dense."""
    from scipy.ndimage import gaussian_filter

    cell = places[:, 1] * pixels + places[:, 0]
    count = np.bincount(cell, minlength=pixels**2).reshape(pixels, pixels).astype(np.float32)
    blurred, around = [], []
    for width in (dot * factor for factor in (*_WIDER, _WIDER[-1] / 2)):
        blurred.append(gaussian_filter(count, width, mode="constant", truncate=3.0))
        around.append(blurred[-1] * (4 * np.pi * width**2))
    found: _Image = blurred[-2].copy()
    for place, wide in enumerate(blurred[:-1]):
        few, many = (_FEW, _MANY) if place == 0 else (_MANY, _ENOUGH)
        share = _ramp((around[place] - few) / (many - few))
        # Not beside a dense place, which would have a halo: half as far there must be points too.
        share *= _ramp(around[place + 1] / _FEW)
        found += share * (wide - found)
    return found * (2 * np.pi * dot**2)


def _grains(
    places: NDArray[np.int64], rgb: NDArray[np.float64], pixels: int, *, numbers: bool
) -> _Image:
    """Return the colour of each pixel, that of its square, or else of the nearest square.

    It is the mean of ``numbers``, and that of a random point for labels: no label has their mean.
    """
    from scipy.ndimage import distance_transform_edt

    side = -(-pixels // _GRAIN)
    square = (places[:, 1] // _GRAIN) * side + places[:, 0] // _GRAIN
    colors = np.zeros((side**2, 3), np.float32)
    count = np.bincount(square, minlength=side**2)
    if numbers:
        for channel in range(3):
            total = np.bincount(square, rgb[:, channel], minlength=side**2)
            colors[:, channel] = np.minimum(total / np.maximum(count, 1), 1)
    else:
        order = np.random.default_rng(0).permutation(len(square))
        colors[square[order]] = rgb[order]
    empty = count.reshape(side, side) == 0
    near = distance_transform_edt(empty, return_distances=False, return_indices=True)
    filled: _Image = colors.reshape(side, side, 3)[tuple(near)]
    return filled.repeat(_GRAIN, axis=0).repeat(_GRAIN, axis=1)[:pixels, :pixels]


def _ramp(values: _Image) -> _Image:
    """Return a smooth step from 0 to 1."""
    share: _Image = values.clip(0, 1)
    return share * share * (3 - 2 * share)


def _opacity(height: _Image, single: float) -> _Image:
    """Return the opacity: of single points high enough to be seen, then rising as a logarithm."""
    above = np.arcsinh(np.maximum(height - 1, 0))
    most = above[above > 0]
    full = float(np.quantile(most, _BELOW_FULL)) if len(most) else 1.0
    return height.clip(0, 1) * single + (1 - single) * (above / max(full, 1e-12)).clip(0, 1)
