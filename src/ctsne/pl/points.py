"""The points of a map: their colours and shapes, the legend, and the dots or the density."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import as_numbers, check_features, check_number
from ctsne.evaluate.trust import DOUBTFUL
from ctsne.labels import Column, encode_column
from ctsne.pl import figures
from ctsne.pl.figures import Entry, load
from ctsne.pl.palette import MISSING, REFERENCE, label_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_Points = NDArray[np.floating]
PLAIN = "#0072B2"
# Each marker with the factor that makes it look as large as a circle.
_FACTORS = (1.0, 0.85, 1.08, 0.7, 1.08, 1.15, 1.15, 1.6, 1.08, 1.08)
MARKERS = dict(zip("os^DvPX*<>", _FACTORS, strict=True))
_MISSING_MARKER, _MISSING_FACTOR = ".", 1.6
# Inches for a colour bar and its numbers, and for a line of its name.
_COLORBAR_ROOM, _COLORBAR_LINE = 0.75, 0.18
# More points than this are drawn as a density: dots would hide each other and take long.
MOST_DOTS = 100_000
# The height of the strip that a map of one dimension becomes, as a share of its length.
_STRIP = 0.2
# Least height of a frame in units of its width.
_LOWEST = 0.6
_OPACITY = 0.7
# Points fade from full opacity at the higher of these values of trust to a tenth at the lower.
_FAINT, _FAINTEST = (DOUBTFUL - 0.1, DOUBTFUL + 0.1), 0.1


@dataclass(frozen=True, eq=False)
class Look:
    """The colours and shapes of all points, and what explains them."""

    rgb: NDArray[np.float64]
    groups: NDArray[np.integer]  # the code of each point's label, -1 if it is missing
    scale: Any  # from numbers to colours, None for labels
    entries: list[Entry]
    named: int  # how many of the entries, the first, are for the labels of the colours
    size: float | None  # of the dots; None chooses one, or a density
    labels: Column | None = None  # of the colours, None for numbers
    shapes: Column | None = None
    markers: tuple[str, ...] = ()  # one per shape, and the last for missing ones
    opacity: Any = _OPACITY  # one for all points, or one per point
    name: str | None = None  # of the column of the colours


def make_look(
    color: Any,
    shape: Any,
    palette: Any,
    *,
    points: _Points,
    size: Any = None,
    title: str | None = None,
    argument: str = "color",
) -> Look:
    """Read the columns for colour and shape; names that the title does not say head the legend."""
    dots, n = None, len(points)
    if size is not None:
        dots = check_number(size, "size", low=0, open_low=True, hint="an area in square points")
    elif n > MOST_DOTS and shape is not None:
        raise ValueError(
            f"shape is not visible in a density, which is drawn above {MOST_DOTS:,} points; got "
            f"{n:,}: draw a sample of them, leave shape out, or give size to draw dots"
        )
    (color_name, color), (shape_name, shape) = named(color), named(shape)
    shown = None if color_name is None else figures.shown_text(color_name)
    headed = shown is not None and color_name != shape_name
    headed &= shown != title or shape_name is not None
    to_rgb, labels, scale, entries, on_map = load("colors").to_rgb, None, None, [], 0
    rgb, groups = np.tile(to_rgb(PLAIN), (n, 1)), np.zeros(n, np.int32)
    if is_continuous(color):
        values = _numbers(color, n, argument)
        missing = np.isnan(values)
        groups[missing] = -1
        scale = _color_scale(values[~missing])
        rgb = scale.to_rgba(values)[:, :3]
        rgb[missing] = to_rgb(MISSING)
        entries = [Entry(figures.MISSING_TEXT, MISSING)] * bool(missing.any())
    elif color is not None:
        labels = encode_column(color, n=n, argument=argument)
        colors = label_colors(labels, palette, color)
        groups = labels.codes
        rgb = np.array(list(map(to_rgb, colors)))[labels.codes]
        heading = [Entry(str(shown), marker="", heading=True)] * headed
        entries = heading + figures.label_entries(labels, colors)
        on_map = len(entries) - bool(labels.n_missing)
    look = Look(rgb, groups, scale, entries, on_map, dots, labels, name=shown)
    if shape is None:
        return look
    shapes = encode_column(shape, n=n, argument="shape")
    if shapes.n_labels > len(MARKERS):
        most, found = len(MARKERS), shapes.describe()
        raise ValueError(f"shape can show at most {most} different labels, got {found}; use color")
    markers = (*list(MARKERS)[: shapes.n_labels], _MISSING_MARKER)
    shape_entries = figures.label_entries(shapes, markers=list(markers))
    if shape_name is not None and shape_name != color_name:
        shape_entries.insert(0, Entry(figures.shown_text(shape_name), marker="", heading=True))
    return replace(look, entries=entries + shape_entries, shapes=shapes, markers=markers)


def named(column: Any) -> tuple[Any, Any]:
    """Return the name of a column, if it has one, and its values."""
    if isinstance(column, Mapping) and len(column) == 1:
        return next(iter(column.items()))
    name = getattr(column, "name", None)
    return (None if name == "" else name), column


def is_continuous(color: Any) -> bool:
    """Whether a column holds floats; whole numbers are labels."""
    try:
        kind = getattr(getattr(color, "dtype", None), "kind", None) or np.asarray(color).dtype.kind
    except ValueError:  # rows of different lengths, which encode_column refuses
        return False
    return bool(kind == "f")


def trusted_look(look: Look, trust: Any, n: int) -> Look:
    """Make points faint where their places are not to be believed."""
    values = _numbers(trust, n, "trust")
    if not ((values >= 0) & (values <= 1)).all():  # not NaN either
        raise ValueError("trust must hold numbers from 0 to 1, as ConditionalTSNE.trust() returns")
    if look.size is None and n > MOST_DOTS:
        raise ValueError(
            f"trust is not visible in a density, which is drawn above {MOST_DOTS:,} points; got "
            f"{n:,}: draw a sample of them, leave trust out, or give size to draw dots"
        )
    low, high = _FAINT
    return replace(look, opacity=_OPACITY * np.clip((values - low) / (high - low), _FAINTEST, 1))


def _numbers(color: Any, n: int, argument: str) -> NDArray[np.float64]:
    values: NDArray[Any] = as_numbers(color, argument=argument)
    if values.shape not in ((n,), (n, 1)):
        found = f"got shape {values.shape}"
        raise ValueError(f"{argument} must have one entry for each of the {n} points, {found}")
    infinite = int(np.isinf(values).sum())
    if infinite:
        raise ValueError(f"{argument} holds {infinite} infinite values; replace them by NaN")
    return values.reshape(-1).astype(np.float64)


def _color_scale(present: NDArray[np.float64]) -> Any:
    low, high = (present.min(), present.max()) if len(present) else (0.0, 1.0)
    if low == high:  # matplotlib would widen the bar, but not the scale
        pad = 0.1 * abs(low) or 1.0
        low, high = low - pad, high + pad
    return load("cm").ScalarMappable(load("colors").Normalize(low, high), "viridis")


def above_reference(look: Look) -> Look:
    """Add the reference, drawn below placed points, to their legend."""
    placed = [] if look.entries or look.scale is not None else [Entry("placed", PLAIN)]
    return replace(look, entries=[*look.entries, *placed, Entry("reference", REFERENCE)])


def add_key(
    ax: Axes,
    look: Look,
    *,
    height: float | None = None,
    names: bool = False,
    room_under: float | None = None,
) -> tuple[float, float]:
    """Put colour bar and legend to the right of a panel; return their size in inches."""
    # Where the ``names`` of labels are on the map, the legend has only the rest. It lies below the
    # panel if there is ``room_under`` it, a width in inches.
    bar, dpi, scale = 0.0, ax.figure.dpi, figures.scale_of(ax)
    side = ax.bbox.width / dpi
    if look.scale is not None:
        bar = _COLORBAR_ROOM * scale
        place = ax.inset_axes((1 + 0.12 * scale / side, 0.0, 0.16 * scale / side, 1.0))
        numbers = ax.figure.colorbar(look.scale, cax=place)
        numbers.outline.set(edgecolor=figures.RULE, linewidth=0.8 * scale)
        figures.set_tick_look(numbers.ax)
        if look.name is not None:
            bar += (look.name.count("\n") + 1) * _COLORBAR_LINE * scale
            text = {**figures.text_properties(look.name), **figures.LITERAL, "color": figures.INK}
            numbers.ax.yaxis.label.set(**text, fontsize=figures.SMALL_SIZE * scale)
    entries = look.entries[look.named :] if names else look.entries
    if not entries:
        return bar, 0.0
    if room_under is not None:
        return bar, figures.add_legend_below(ax, entries, room_under)
    anchor = (1 + bar / side, 1.0)
    wide, high = figures.add_legend(ax, entries, height=height, bbox_to_anchor=anchor)
    return bar + wide + 0.1 * scale, high


def remove_key(ax: Axes) -> None:
    """Remove what :func:`add_key` has added."""
    legend = ax.get_legend()
    if legend is not None:
        legend.remove()
    for bar in list(ax.child_axes):
        bar.remove()


def check_positions(
    positions: ArrayLike, *, argument: str = "positions", least: int = 2
) -> _Points:
    """Return finite positions in the plane; one column becomes a strip."""
    points = check_features(positions, argument=argument, least=least)
    if points.shape[1] == 1:
        length = float(np.ptp(points)) or 1.0
        height = np.random.default_rng(0).uniform(-_STRIP / 2, _STRIP / 2, len(points)) * length
        return np.column_stack([points[:, 0], height])
    if points.shape[1] != 2:
        raise ValueError(
            f"{argument} must have 2 columns (or 1), got {points.shape[1]}; draw two at a time"
        )
    return points


def draw_points(ax: Axes, points: _Points, look: Look, *, reference: _Points | None = None) -> None:
    """Draw one map into a frame that is square, or as low as the Axes if the map fits there."""
    whole = points if reference is None else np.concatenate([reference, points])
    low, high = whole.min(axis=0), whole.max(axis=0)
    # float64, because the sum of two large float32 numbers may overflow.
    middle = (low.astype(np.float64) + high) / 2
    half = 0.54 * max(float((high - low).max()), 1e-12)
    box = (middle[0] - half, middle[0] + half, middle[1] - half, middle[1] + half)
    shape = ax.bbox.height / ax.bbox.width
    if shape >= 1 or shape < 0.999 * frame_shape(whole):
        shape = 1.0
    side = min(ax.bbox.width, ax.bbox.height / shape) / ax.figure.dpi
    if reference is not None:
        plain = make_look(None, None, None, points=reference)
        light = np.full_like(plain.rgb, load("colors").to_rgb(REFERENCE))
        _draw(ax, reference, replace(plain, rgb=light), box, side)
    _draw(ax, points, look, box, side)
    across, up = box[:2], (middle[1] - shape * half, middle[1] + shape * half)
    ax.set(xlim=across, ylim=up, aspect="equal", xticks=[], yticks=[], xlabel="", ylabel="")
    for spine in ax.spines.values():
        spine.set(color=figures.RULE, linewidth=0.8 * figures.scale_of(ax))


def frame_shape(points: _Points) -> float:
    """Return the height of a map's frame in units of its width: at most square, and not too low."""
    width, height = np.ptp(points.astype(np.float64), axis=0).tolist()
    return min(1.0, max(_LOWEST, height / width)) if width > 0 else 1.0


def dot_size(n: int, side: float) -> float:
    """Return the area of the dots of n points on a map some inches wide, in square points."""
    return float(min(50.0, 300 * side**2 * n**-0.75))


def _draw(ax: Axes, points: _Points, look: Look, box: Any, side: float) -> None:
    if look.size is None and len(points) > MOST_DOTS:
        numbers = look.scale is not None
        draw_density(ax, points, look.rgb, look.groups, box, side, numbers=numbers)
        return
    size = look.size or dot_size(len(points), side)
    # A fixed shuffled order, so that no label hides another; only missing ones lie below.
    order = np.random.default_rng(0).permutation(len(points))
    order = order[np.argsort(look.groups[order] >= 0, kind="stable")]
    sizes: Any = size
    if look.shapes is not None:
        factors = np.array([MARKERS.get(marker, _MISSING_FACTOR) for marker in look.markers])
        sizes = size * factors[look.shapes.codes[order]]
    alpha = look.opacity if np.isscalar(look.opacity) else look.opacity[order]
    style: dict[str, Any] = {"alpha": alpha, "linewidths": 0, "rasterized": True}
    x, y = points[order].T
    dots = ax.scatter(x, y, s=sizes, c=look.rgb[order], **style)
    if look.shapes is not None:
        # One collection with a path per point keeps the shuffled order across the shapes.
        styles = map(load("markers").MarkerStyle, look.markers)
        paths = [style.get_path().transformed(style.get_transform()) for style in styles]
        dots.set_paths([paths[code] for code in look.shapes.codes[order].tolist()])


# Maps of very many points: a shaded image in which sparse and rare points stay visible

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
    points: _Points,
    rgb: NDArray[np.float64],
    groups: NDArray[np.integer],
    box: tuple[float, float, float, float],
    side: float,
    *,
    numbers: bool,
) -> None:
    """Shade a map in a square box of some inches, missing labels below and rare ones above."""
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
    # The mean of numbers, and that of a random point for labels: no label has their mean.
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
    share: _Image = values.clip(0, 1)
    return share * share * (3 - 2 * share)


def _opacity(height: _Image, single: float) -> _Image:
    """Return the opacity: of single points high enough to be seen, then rising as a logarithm."""
    above = np.arcsinh(np.maximum(height - 1, 0))
    most = above[above > 0]
    full = float(np.quantile(most, _BELOW_FULL)) if len(most) else 1.0
    return height.clip(0, 1) * single + (1 - single) * (above / max(full, 1e-12)).clip(0, 1)
