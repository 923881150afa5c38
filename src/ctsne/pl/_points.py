"""The points of one map: as dots, or as a density when there are very many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import check_features, check_number
from ctsne.pl._look import MARKERS, MISSING_MARKER, Look
from ctsne.pl._matplotlib import RULE, load

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Above this many points a density is drawn: dots would hide each other and take long.
MOST_DOTS = 100_000
_OPACITY = 0.7
# The height of the strip that a map of one dimension becomes, as a share of its length.
_STRIP = 0.2
_PIXELS_PER_INCH = 100
# A pixel with a single point must still be seen.
_LEAST_OPACITY = 0.3


def check_positions(positions: ArrayLike, *, argument: str = "positions") -> NDArray[np.floating]:
    """Return finite positions in the plane; one column becomes a strip."""
    points = check_features(positions, argument=argument)
    if points.shape[1] == 1:
        length = float(np.ptp(points)) or 1.0
        height = np.random.default_rng(0).uniform(-_STRIP / 2, _STRIP / 2, len(points)) * length
        return np.column_stack([points[:, 0], height])
    if points.shape[1] != 2:
        raise ValueError(
            f"{argument} must have 2 columns (or 1, drawn as a strip), got {points.shape[1]}; "
            f"draw two of them at a time: {argument}[:, [0, 1]]"
        )
    return points


def check_drawing(look: Look, size: object) -> float | None:
    """Return the size of the dots, and refuse shapes where there would be no dots."""
    if size is not None:
        return check_number(size, "size", low=0, open_low=True, hint="an area in square points")
    if look.n > MOST_DOTS and look.shapes is not None:
        raise ValueError(
            f"shape cannot be seen in a density, which is drawn above {MOST_DOTS:,} points; got "
            f"{look.n:,}: draw a sample of them, leave shape out, or give size to draw dots"
        )
    return None


def draw_points(
    ax: Axes, points: NDArray[np.floating], look: Look, size: float | None = None
) -> None:
    """Draw one map into a square frame with equal units and no ticks."""
    low, high = points.min(axis=0), points.max(axis=0)
    # float64, as the sum of two large float32 may not be one.
    middle = (low.astype(np.float64) + high) / 2
    half = 0.54 * max(float((high - low).max()), 1e-12)
    box = (middle[0] - half, middle[0] + half, middle[1] - half, middle[1] + half)
    if size is None and look.n > MOST_DOTS:
        _draw_density(ax, points, look, box)
    else:
        _draw_dots(ax, points, look, size)
    ax.set(xlim=box[:2], ylim=box[2:], aspect="equal", xticks=[], yticks=[], xlabel="", ylabel="")
    for spine in ax.spines.values():
        spine.set(color=RULE, linewidth=0.8)


def _draw_dots(ax: Axes, points: NDArray[np.floating], look: Look, size: float | None) -> None:
    if size is None:
        side = min(ax.bbox.width, ax.bbox.height) / ax.figure.dpi
        size = min(50.0, 300 * side**2 * look.n**-0.75)
    # A fixed shuffled order, so that no label hides another; only missing ones lie below.
    order = np.random.default_rng(0).permutation(look.n)
    order = order[np.argsort(~look.missing[order], kind="stable")]
    sizes: Any = size
    if look.shapes is not None:
        scale = {**MARKERS, MISSING_MARKER: 1.6}
        factors = np.array([scale[marker] for marker in look.markers])
        sizes = size * factors[look.shapes.codes[order]]
    dots = ax.scatter(
        points[order, 0],
        points[order, 1],
        s=sizes,
        c=look.point_colors()[order],
        alpha=_OPACITY,
        linewidths=0,
        rasterized=True,
    )
    if look.shapes is not None:
        # One collection with a path for each point keeps the shuffled order across the shapes.
        styles = [load("markers").MarkerStyle(marker) for marker in look.markers]
        paths = [style.get_path().transformed(style.get_transform()) for style in styles]
        dots.set_paths([paths[code] for code in look.shapes.codes[order].tolist()])


def _draw_density(
    ax: Axes,
    points: NDArray[np.floating],
    look: Look,
    box: tuple[float, float, float, float],
) -> None:
    """Shade each pixel by the logarithm of its count, in the mean of its points' colours."""
    side = min(ax.bbox.width, ax.bbox.height) / ax.figure.dpi
    pixels = int(np.clip(side * _PIXELS_PER_INCH, 100, 1000))
    start, length = np.array(box[::2]), box[1] - box[0]
    cells = ((points - start) * (pixels / length)).astype(np.int64).clip(0, pixels - 1)
    cell = cells[:, 1] * pixels + cells[:, 0]
    colors = look.point_colors()
    # Missing labels lie below the others, as they do among dots.
    for chosen in (look.missing, ~look.missing):
        if chosen.any():
            ax.imshow(
                _shade(cell[chosen], colors[chosen], pixels),
                extent=box,
                origin="lower",
                interpolation="nearest",
            )


def _shade(
    cell: NDArray[np.int64], colors: NDArray[np.float64], pixels: int
) -> NDArray[np.float64]:
    count = np.bincount(cell, minlength=pixels**2)
    image = np.zeros((pixels**2, 4))
    filled = count > 0
    for channel in range(3):
        total = np.bincount(cell, colors[:, channel], minlength=pixels**2)
        # Rounding may lift a mean just above 1, which matplotlib would not take.
        image[filled, channel] = np.minimum(total[filled] / count[filled], 1.0)
    darkness = np.log(count[filled]) / max(np.log(count.max()), 1e-12)
    image[filled, 3] = _LEAST_OPACITY + (1 - _LEAST_OPACITY) * np.minimum(darkness, 1.0)
    return image.reshape(pixels, pixels, 4)
