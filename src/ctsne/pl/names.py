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
_STEPS = 400
# A name is not moved farther than this share of the map, and has a line to its place from there on
# where it has moved by more than this many of its heights.
_FARTHEST, _LINED = 0.3, 1.2
# Of texts beside dots: points across a dot, and heights that a text is moved away at the most.
_DOT, _AWAY = 7.0, 2.0

_Array = NDArray[np.float64]


def add_names(ax: Axes, labels: Labels, points: NDArray[np.floating]) -> None:
    """Write each label where its points are; names that find no room are left out."""
    order = np.argsort(-labels.counts, kind="stable")[:_MOST_NAMES]
    order = order[labels.counts[order] > 0]
    if not len(order):
        return
    texts = [shown_text(labels.names[code]) for code in order]
    ax.add_artist(_artist_class()(ax, texts, _middles(labels, points)[order]))


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
        artist = _artist_class()(ax, list(texts), np.array(anchors), colors=inks, beside=True)
        ax.add_artist(artist)


def spread(
    anchors: _Array, sizes: _Array, frame: _Array, *, fixed: int = 0, farthest: float = _FARTHEST
) -> tuple[_Array, NDArray[np.bool_]]:
    """Move boxes apart within a frame; return their centres and which of them have room.

    ``anchors`` and ``sizes`` have a row per box, the most important first, and ``frame`` holds the
    lower left and the upper right corner. The first ``fixed`` boxes stay where they are.
    """
    n, half = len(anchors), sizes / 2
    low, high = frame[0] + half, np.maximum(frame[1] - half, frame[0] + half)
    centres = np.concatenate([anchors[:fixed], anchors[fixed:].clip(low[fixed:], high[fixed:])])
    moves = np.arange(n) >= fixed
    # A tie is broken by the order, so that boxes at one place part too.
    side = np.sign(np.arange(n)[:, None] - np.arange(n))[..., None]
    reach = half[:, None] + half
    apart_from = ~np.eye(n, dtype=bool) & (moves[:, None] | moves)
    for _ in range(_STEPS):
        apart = centres[:, None] - centres
        over = reach - np.abs(apart)
        hit = (over > 0).all(axis=2) & apart_from
        if not hit.any():
            break
        # The shorter way out, each box half of it.
        vertical = over[..., 1] <= over[..., 0]
        way = np.where(apart == 0, side, np.sign(apart)) * over
        move = np.stack([np.where(hit & ~vertical, way[..., 0], 0).sum(axis=1),
                         np.where(hit & vertical, way[..., 1], 0).sum(axis=1)], axis=1)  # fmt: skip
        centres[moves] = (centres + 0.35 * move)[moves].clip(low[moves], high[moves])
    far = np.linalg.norm(centres - anchors, axis=1) > farthest * (frame[1] - frame[0]).max()
    kept = ~moves
    for box in np.flatnonzero(moves):
        over = reach[box, kept] - np.abs(centres[box] - centres[kept])
        kept[box] = not far[box] and not (over > 1e-6).all(axis=1).any()
    return centres, kept


@functools.cache
def _artist_class() -> Any:
    """Return the class of an artist that places texts whenever a figure is drawn, at any size."""

    class Names(load("artist").Artist):  # type: ignore[misc]
        def __init__(
            self, ax: Axes, texts: list[str], places: _Array, *,
            colors: Sequence[str] | None = None, beside: bool = False,
        ) -> None:  # fmt: skip
            """Write texts at places of the data, or beside dots there."""
            super().__init__()
            self.places, self.beside = places, beside
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
            self.line = load("lines").Line2D([], [], color=GREY, linewidth=0.6 * scale)
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
            if self.beside:
                centres, kept = _beside(places, sizes, frame, _DOT * pixel)
            else:
                centres, kept = spread(places, sizes, frame)
            for here, box, place, room in zip(centres, sizes, places, kept, strict=True):
                if room and not self.beside and abs(here - place).max() > _LINED * box[1]:
                    self.line.set_data(*np.transpose([place, here]))
                    self.line.draw(renderer)
            for drawn in (self.outlines, self.texts):
                for text, (x, y), room in zip(drawn, centres, kept, strict=True):
                    text.set(x=x, y=y, visible=bool(room))
                    text.draw(renderer)

    return Names


def _beside(
    places: _Array, sizes: _Array, frame: _Array, dot: float
) -> tuple[_Array, NDArray[np.bool_]]:
    """Place texts next to dots, none of which they cover."""
    n = len(places)
    above = places + (0, dot / 2) + (0, 0.5) * sizes
    boxes = np.concatenate([np.full((n, 2), dot), sizes])
    reach = _AWAY * sizes[:, 1].max() / (frame[1] - frame[0]).max()
    centres, kept = spread(
        np.concatenate([places, above]), boxes, frame, fixed=n, farthest=float(reach)
    )
    return centres[n:], kept[n:]
