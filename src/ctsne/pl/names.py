"""Names of labels on a map, moved apart where they would overlap."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ctsne.labels import Labels
from ctsne.pl.arranging import sampled
from ctsne.pl.figures import GREY, INK, LITERAL, SMALL_SIZE, scale_of, shown_text
from ctsne.pl.fonts import written
from ctsne.pl.loading import load

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The largest labels are named; points of each that its place is chosen from.
_MOST_NAMES, _SAMPLE = 100, 300
# Points (1/72 inch): width of the outline on each side of a letter, and space between names.
_OUTLINE, _SPACE = 1.2, 0.5
# A name is not moved farther than this share of the map, and has a line to its place if more than
# this many of its heights are between them.
_FARTHEST, _LINED = 0.3, 0.5
# Where a legend has all names too, they are moved by this many of their heights at the most.
_NEAR = 1.6
# Points (1/72 inch) across a dot that a text is beside.
_DOT = 7.0

_Array = NDArray[np.float64]


def add_names(
    ax: Axes, labels: Labels, points: NDArray[np.floating], *, only: bool = False
) -> None:  # fmt: skip
    """Write each label where its points are; names that find no room are left out.

    If names are explained ``only`` here, they may be moved far, with a line to their place.
    """
    order = np.argsort(-labels.counts, kind="stable")[:_MOST_NAMES]
    order = order[labels.counts[order] > 0]
    if not len(order):
        return
    texts = [shown_text(labels.names[code]) for code in order]
    away = np.inf if only else _NEAR
    ax.add_artist(_artist_class()(ax, texts, _middles(labels, points)[order], away=away))


def _middles(labels: Labels, points: NDArray[np.floating]) -> _Array:
    """Return a point of each label with the smallest mean distance to its others."""
    rows, codes = sampled(labels, _SAMPLE)
    middles = np.full((labels.n_labels, 2), np.nan)
    for code in np.unique(codes):
        own = np.asarray(points[rows[codes == code]], np.float64)
        apart = np.linalg.norm(own[:, None] - own, axis=2).mean(axis=0)
        middles[code] = own[apart.argmin()]
    return middles


def add_notes(
    ax: Axes,
    places: Mapping[Any, _Array],
    notes: Mapping[Any, Sequence[str]],
    colors: Mapping[Any, str],
) -> None:
    """Write a text next to each dot of some lines; the ends of lines come before their middles."""
    entries = []
    for line, texts in notes.items():
        ends = {0: -2, len(texts) - 1: -1}
        for dot, (place, text) in enumerate(zip(places[line], texts, strict=True)):
            if np.isfinite(place).all():
                entries.append((ends.get(dot, dot % 2), text, place, colors[line]))
    if entries:
        _, texts, anchors, inks = zip(*sorted(entries, key=lambda each: each[0]), strict=True)
        artist = _artist_class()(
            ax, list(texts), np.array(anchors), away=_NEAR, colors=inks, beside=True
        )
        ax.add_artist(artist)


def spread(
    anchors: _Array, sizes: _Array, frame: _Array, *, taken: _Array | None = None,
    farthest: float = np.inf,
) -> tuple[_Array, NDArray[np.bool_]]:  # fmt: skip
    """Place boxes near their anchors without overlaps; return their centres and which have room.

    ``anchors`` and ``sizes`` have a row per box, the most important first: each takes the free
    place nearest to its anchor, at most ``farthest`` away. ``frame`` holds the lower left and the
    upper right corner of where they may be, and ``taken`` rows of centres and sizes that they must
    not cover.
    """
    placed = np.empty((0, 4)) if taken is None else taken
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
        away = np.abs(places[:, None] - placed[:, :2]) - (size + placed[:, 2:]) / 2
        free = np.flatnonzero(inside & (away >= 0).any(axis=2).all(axis=1))
        if len(free):
            centres[box], kept[box] = places[free[0]], True
            placed = np.concatenate([placed, [[*centres[box], *size]]])
    return centres, kept


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
            self, ax: Axes, texts: list[str], places: _Array, *, away: float,
            colors: Sequence[str] | None = None, beside: bool = False,
        ) -> None:  # fmt: skip
            """Write texts at places of the data, or beside dots; ``away`` is in heights."""
            super().__init__()
            self.places, self.beside, self.away = places, beside, away
            self.set(zorder=5, in_layout=False)
            scale = scale_of(ax)
            look: dict[str, Any] = {
                "fontsize": SMALL_SIZE * scale, "ha": "center", "va": "center", "linespacing": 1.0,
                "transform": load("transforms").IdentityTransform(), **LITERAL,
            }  # fmt: skip
            outline = load("patheffects").Stroke(linewidth=2 * _OUTLINE * scale, foreground="white")
            make, inks = load("text").Text, colors or [INK] * len(texts)
            self.texts = [
                make(**written(text), color=ink, **look)
                for text, ink in zip(texts, inks, strict=True)
            ]
            # Outlines are drawn apart, because they would turn the texts of a PDF into shapes.
            self.outlines = [make(**written(text), **look) for text in texts]
            for text in self.outlines:
                text.set_path_effects([outline])
            self.line = load("lines").Line2D([], [], color=GREY, linewidth=0.8 * scale)
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
            starts, taken = places, None
            if self.beside:  # next to dots, none of which they cover
                taken = np.column_stack([places, np.full((len(places), 2), _DOT * pixel)])
                starts = places + (0, _DOT * pixel / 2) + (0, 0.5) * sizes
            farthest = self.away * float(sizes[:, 1].min())
            centres, kept = spread(starts, sizes, frame, taken=taken, farthest=farthest)
            for here, box, place, room in zip(centres, sizes, places, kept, strict=True):
                # From the edge of the text, where the way to its place leaves it.
                edge = here + (place - here) * min(1, *(box / 2 / np.maximum(abs(place - here), 1)))
                if room and not self.beside and abs(edge - place).max() > _LINED * box[1]:
                    self.line.set_data(*np.transpose([place, edge]))
                    self.line.draw(renderer)
            for drawn in (self.outlines, self.texts):
                for text, (x, y), room in zip(drawn, centres, kept, strict=True):
                    text.set(x=x, y=y, visible=bool(room))
                    text.draw(renderer)

    return Names
