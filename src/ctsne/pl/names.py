"""Names of labels on a map, moved apart where they would overlap."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ctsne.labels import Column
from ctsne.pl import figures
from ctsne.pl.figures import load, scale_of, shown_text, text_properties

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The largest labels are named; points of each that its place is chosen from.
_MOST_NAMES, _SAMPLE = 100, 300
# The share of a label's points within its radius; the number of points from which the typical
# distance is estimated; and the share of it within which half of a compact label's points lie.
_MOST_POINTS, _ALL, _TOGETHER = 0.8, 2000, 0.7
# Points (1/72 inch): width of the outline on each side of a letter, and space between names.
_OUTLINE, _SPACE = 1.2, 0.5
# A name is not moved farther than this share of the map, and has a line to its place if more than
# this many of its heights are between them.
_FARTHEST, _LINED = 0.3, 0.5
# Maximum shift, in heights of the text: of names that the legend lists too, and of the settings
# beside dots.
_NEAR, _BESIDE = 1.6, 2.2
# Points (1/72 inch) across a dot; groups of points whose radius is less than this many heights of
# their name are not covered by names.
_DOT, _SMALL = 7.0, 1.0

_Array = NDArray[np.float64]


class Place(NamedTuple):
    """Where the points of each label are, in units of the map."""

    middle: _Array  # of shape (labels, 2): the point with the smallest mean distance to its others
    radius: _Array  # of shape (labels,): the distance within which most of its points are
    compact: NDArray[np.bool_]  # of shape (labels,): whether it lies together, and not all over


def places_of(labels: Column, points: NDArray[np.floating]) -> Place:
    """Find where the points of each of the largest labels are."""
    rows, codes = _sample(labels)
    middle, radius = np.full((labels.n_labels, 2), np.nan), np.zeros(labels.n_labels)
    compact = np.zeros(labels.n_labels, bool)
    labelled = np.flatnonzero(labels.codes >= 0)
    some = np.random.default_rng(0).choice(len(labelled), min(_ALL, len(labelled)), replace=False)
    every = np.asarray(points[labelled[some]], np.float64)
    ends = np.searchsorted(codes, np.arange(labels.n_labels + 1))
    for code in _largest(labels):
        own = np.asarray(points[rows[ends[code] : ends[code + 1]]], np.float64)
        apart = np.linalg.norm(own[:, None] - own, axis=2)
        best = apart.mean(axis=0).argmin()
        middle[code], radius[code] = own[best], np.quantile(apart[best], _MOST_POINTS)
        # Its own points must be nearer to its middle than points in general.
        usual = np.median(np.linalg.norm(every - middle[code], axis=1))
        compact[code] = np.median(apart[best]) < _TOGETHER * usual
    return Place(middle, radius, compact)


def _sample(labels: Column) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return some points of each label, in the order of the labels, and their codes."""
    order = np.random.default_rng(0).permutation(len(labels.codes))
    order = order[np.argsort(labels.codes[order], kind="stable")][labels.n_missing :]
    starts = np.cumsum(labels.counts) - labels.counts
    rank = np.arange(len(order)) - np.repeat(starts, labels.counts)
    rows = order[rank < _SAMPLE]
    return rows, labels.codes[rows].astype(np.int64)


def _largest(labels: Column) -> NDArray[np.int64]:
    """Return the codes of the labels that may be named, the largest first."""
    order = np.argsort(-labels.counts, kind="stable")[:_MOST_NAMES]
    return order[labels.counts[order] > 0]


def add_names(ax: Axes, labels: Column, places: Place, *, only: bool = False) -> None:
    """Write each label where its points are; names that find no room are left out."""
    # If labels are named ``only`` here, they may be moved far, with a line to their place; else
    # those that lie all over the map are left out too.
    order = _largest(labels)
    order = order[places.compact[order] | only]
    if len(order):
        texts = [shown_text(labels.names[code]) for code in order]
        away = np.inf if only else _NEAR
        radii, make = places.radius[order], _artist_class()
        ax.add_artist(make(ax, texts, places.middle[order], away=away, radii=radii))


def add_notes(ax: Axes, lines: Iterable[tuple[Sequence[str], _Array, str]]) -> None:
    """Write texts next to the dots of lines, in their colour; the ends of lines come first."""
    entries = []
    for texts, places, color in lines:
        ends = {0: -2, len(texts) - 1: -1}
        for dot, (text, place) in enumerate(zip(texts, places, strict=True)):
            if np.isfinite(place).all():
                entries.append((ends.get(dot, dot % 2), text, place, color))
    if entries:
        _, texts, anchors, inks = zip(*sorted(entries, key=lambda entry: entry[0]), strict=True)
        make = _artist_class()
        ax.add_artist(make(ax, list(texts), np.array(anchors), away=_BESIDE, colors=inks))


def spread(
    anchors: _Array,
    sizes: _Array,
    frame: _Array,
    *,
    dots: _Array | None = None,
    avoided: _Array | None = None,
    farthest: float = np.inf,
) -> tuple[_Array, NDArray[np.bool_]]:
    """Place boxes near their anchors without overlaps; return their centres and which have room."""
    # The most important box comes first and takes the free place nearest to its anchor. ``frame``
    # holds two corners. No box covers ``dots`` (rows of centre and size), and each is nearest to
    # its own; what is ``avoided`` is covered only where there is no other place.
    placed = np.empty((0, 4)) if dots is None else dots
    soft = np.empty((0, 4)) if avoided is None else avoided
    step = sizes[:, 1].min() / 2
    reach = min(farthest, _FARTHEST * float((frame[1] - frame[0]).max()))
    offsets = _rings(step, reach)
    centres, kept = anchors.astype(np.float64), np.zeros(len(anchors), bool)
    for box, (anchor, size) in enumerate(zip(anchors, sizes, strict=True)):
        low, high = frame[0] + size / 2, frame[1] - size / 2
        if (low > high).any():
            continue
        # Near an edge, the first place is the nearest inside.
        places = anchor.clip(low, high) + offsets
        inside = ((places >= low) & (places <= high)).all(axis=1)
        free = inside & _apart(places, size, placed)
        if dots is not None:
            gaps = np.maximum(np.abs(places[:, None] - dots[:, :2]) - size / 2, 0)
            away = np.linalg.norm(gaps, axis=2)
            free &= away[:, box] <= away.min(axis=1) + 1e-6
        best = free & _apart(places, size, soft)
        if free.any():
            centres[box] = places[(best if best.any() else free).argmax()]
            kept[box] = True
            placed = np.concatenate([placed, [[*centres[box], *size]]])
    return centres, kept


def _apart(places: _Array, size: _Array, others: _Array) -> NDArray[np.bool_]:
    """Tell at which places a box would not overlap any of some others."""
    away = np.abs(places[:, None] - others[:, :2]) - (size + others[:, 2:]) / 2
    return np.asarray(np.all(np.any(away >= 0, axis=2), axis=1))


def _rings(step: float, reach: float) -> _Array:
    """Return places around the origin, the nearest first; names are wide, so up and down first."""
    rings = [np.zeros((1, 2))]
    for ring in range(1, int(reach / step) + 1):
        angles = np.pi / 2 + np.linspace(0, 2 * np.pi, 8 + 4 * min(ring, 6), endpoint=False)
        rings.append(ring * step * np.column_stack([np.cos(angles), np.sin(angles)]))
    return np.concatenate(rings)


@functools.cache
def _artist_class() -> Any:
    """Return the class of an artist that places texts whenever a figure is drawn, at any size."""

    class Names(load("artist").Artist):  # type: ignore[misc]
        def __init__(
            self,
            ax: Axes,
            texts: list[str],
            places: _Array,
            *,
            away: float,
            colors: Sequence[str] | None = None,
            radii: _Array | None = None,
        ) -> None:
            """Write texts near places, at most ``away`` times their height from them."""
            # Groups of points with ``radii``, in units of the data, are not covered if they are
            # small; without radii, all places are single dots.
            super().__init__()
            self.places, self.radii, self.away = places, radii, away
            self.set(zorder=5, in_layout=False)
            scale = scale_of(ax)
            look = {"fontsize": figures.SMALL_SIZE * scale, "ha": "center", "va": "center"}
            look |= {"transform": load("transforms").IdentityTransform(), "linespacing": 1.0}
            look |= figures.LITERAL
            outline = load("patheffects").Stroke(linewidth=2 * _OUTLINE * scale, foreground="white")
            make, inks = load("text").Text, colors or [figures.INK] * len(texts)
            self.texts = [
                make(**text_properties(text), color=ink, **look)
                for text, ink in zip(texts, inks, strict=True)
            ]
            # Outlines are drawn apart, because they would turn the texts of a PDF into shapes.
            self.outlines = [make(**text_properties(text), **look) for text in texts]
            for text in self.outlines:
                text.set_path_effects([outline])
            self.line = load("lines").Line2D([], [], color=figures.GREY, linewidth=0.8 * scale)
            line_outline = load("patheffects").withStroke(linewidth=2 * scale, foreground="white")
            self.line.set_path_effects([line_outline])
            for child in (*self.texts, *self.outlines, self.line):
                child.set_figure(ax.get_figure(root=False))

        def get_children(self) -> list[Any]:
            return self.texts

        def draw(self, renderer: Any) -> None:
            if not self.get_visible():
                return
            places = self.axes.transData.transform(self.places)
            for text in self.texts:
                text.set_visible(True)
            boxes = [text.get_window_extent(renderer) for text in self.texts]
            pixel = scale_of(self.axes) * self.axes.get_figure(root=True).dpi / 72
            sizes = np.array([(box.width, box.height) for box in boxes])
            sizes += 2 * (_OUTLINE + _SPACE) * pixel
            frame = self.axes.bbox.get_points()
            if self.radii is None:
                radius = np.full(len(places), _DOT / 2 * pixel)
            else:
                side = np.ptp(self.axes.get_xlim())
                radius = self.radii * (self.axes.bbox.width / side)
            small = radius < _SMALL * sizes[:, 1]
            groups = np.column_stack([places, 2 * radius, 2 * radius])[small]
            above = np.column_stack([np.zeros(len(places)), radius + sizes[:, 1] / 2])
            starts = places + np.where(small[:, None], above, 0)
            farthest = self.away * float(sizes[:, 1].min())
            kind = "dots" if self.radii is None else "avoided"
            centres, kept = spread(starts, sizes, frame, farthest=farthest, **{kind: groups})
            for text in np.flatnonzero(kept) if self.radii is not None else ():
                way, box = places[text] - centres[text], sizes[text]
                # From the edge of the text, where the way to its place leaves it.
                edge = centres[text] + way * min(1, *(box / 2 / np.maximum(abs(way), 1)))
                length = np.linalg.norm(places[text] - edge)
                if length - radius[text] > _LINED * box[1]:
                    # It ends between the edge and the middle of the points, to cover few of them.
                    end = places[text] + (edge - places[text]) * (radius[text] / 2 / length)
                    self.line.set_data(*np.transpose([end, edge]))
                    self.line.draw(renderer)
            for drawn in (self.outlines, self.texts):
                for text, (x, y), room in zip(drawn, centres, kept, strict=True):
                    text.set(x=x, y=y, visible=bool(room))
                    text.draw(renderer)

    return Names
