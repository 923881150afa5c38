"""Names of labels on a map: on their own points, or with a line that ends on one of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
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
# Neighbours among these that tell how dense a label is; a place is typical of a label if its share
# is at least this part of its largest share.
_AROUND, _TYPICAL = 16, 0.9
# The number of points from which the typical distance is estimated, and the share of it within
# which half of a compact label's points lie.
_ALL, _TOGETHER = 2000, 0.7
# Points (1/72 inch): width of the outline on each side of a letter, and space between names.
_OUTLINE, _SPACE = 1.2, 0.5
# A name lies on its own points if at least this share of the points below it are of its label, and
# at least this many points and this part of the label, but no larger part, which would be hidden.
_OWN, _FEWEST, _SEEN, _HIDDEN = 0.7, 3, 0.03, 0.3
# Heights of the text that a name is moved at most to save a line, to cover empty space only, to
# keep a line off another name, and to leave a whole label visible.
_LINED, _FILLED, _CROSSED, _COVERED = 2.0, 5.0, 5.0, 30.0
# Share of the map that a name may be moved, shortest line and, in heights of the text, the farthest
# place of names that the legend lists too, and of the settings beside dots.
_FARTHEST, _SHORTEST, _NEAR, _BESIDE = 0.3, 0.35, 5.0, 2.2
# Points (1/72 inch) across a dot; points of a line that are compared with names; cells per height
# of a text in which points are counted.
_DOT, _STEPS, _CELLS = 7.0, 12, 8

_Array = NDArray[np.float64]
# Costs of places for a box, by its number, given the boxes placed before: infinite where it must
# not lie.
_Cost = Callable[[int, _Array, _Array], _Array]


class Place(NamedTuple):
    """Where the points of each label are, in units of the map."""

    middle: _Array  # of shape (labels, 2): the point of each label in its midst, where it is dense
    compact: NDArray[np.bool_]  # of shape (labels,): whether it lies together, and not all over
    points: NDArray[np.floating]  # all of them
    codes: NDArray[np.integer]  # their labels, -1 if missing
    typical: NDArray[np.int64]  # some points where their label is as dense as anywhere


def places_of(labels: Column, points: NDArray[np.floating]) -> Place:
    """Find where the points of each of the largest labels are."""
    from scipy.spatial import cKDTree

    rows, codes = _sample(labels)
    every, n_labels = np.asarray(points[rows], np.float64), labels.n_labels
    middle, compact = np.full((n_labels, 2), np.nan), np.zeros(n_labels, bool)
    typical = np.zeros(len(rows), bool)
    if not len(rows):
        return Place(middle, compact, points, labels.codes, rows)
    # A sampled point stands for several.
    weights = (labels.counts / np.maximum(np.bincount(codes, minlength=n_labels), 1))[codes]
    near = cKDTree(every).query(every, min(_AROUND, len(rows)))[1].reshape(len(rows), -1)
    share = np.where(codes[near] == codes[:, None], weights[near], 0).sum(axis=1)
    share /= weights[near].sum(axis=1)
    labelled = np.flatnonzero(labels.codes >= 0)
    some = np.random.default_rng(0).choice(len(labelled), min(_ALL, len(labelled)), replace=False)
    usual_points = np.asarray(points[labelled[some]], np.float64)
    ends = np.searchsorted(codes, np.arange(n_labels + 1))
    for code in _largest(labels):
        mine = slice(ends[code], ends[code + 1])
        own = every[mine]
        apart = np.linalg.norm(own[:, None] - own, axis=2)
        far = apart.mean(axis=0)
        # Its own points must be nearer to its middle than points in general.
        usual = np.median(np.linalg.norm(usual_points - own[far.argmin()], axis=1))
        compact[code] = np.median(apart[far.argmin()]) < _TOGETHER * usual
        typical[mine] = share[mine] >= _TYPICAL * share[mine].max()
        middle[code] = own[np.where(typical[mine], far, np.inf).argmin()]
    return Place(middle, compact, points, labels.codes, rows[typical])


def _sample(labels: Column) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return some points of each label, in the order of the labels, and their codes."""
    order = np.random.default_rng(0).permutation(len(labels.codes))
    order = order[np.argsort(labels.codes[order], kind="stable")][labels.n_missing :]
    starts = np.cumsum(labels.counts) - labels.counts
    rank = np.arange(len(order)) - np.repeat(starts, labels.counts)
    rows = order[rank < _SAMPLE]
    return rows, labels.codes[rows].astype(np.int64)


def _largest(labels: Column) -> NDArray[np.int64]:
    order = np.argsort(-labels.counts, kind="stable")[:_MOST_NAMES]
    return order[labels.counts[order] > 0]


def add_names(ax: Axes, labels: Column, places: Place, *, only: bool = False) -> None:
    """Write each label where its points are; names that find no room are left out."""
    # If labels are named ``only`` here, they may be moved far; else those that lie all over the map
    # are left out too.
    order = _largest(labels)
    order = order[places.compact[order] | only]
    if len(order):
        texts = [shown_text(labels.names[code]) for code in order]
        ways = functools.partial(_among_points, places=places, order=order)
        away = np.inf if only else _NEAR
        ax.add_artist(_artist_class()(ax, texts, places.middle[order], ways, away=away))


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
        make, where = _artist_class(), np.array(anchors)
        ax.add_artist(make(ax, list(texts), where, _beside_dots, away=_BESIDE, colors=inks))


class _Drawn(NamedTuple):
    """A map as it is drawn, in pixels."""

    ax: Axes
    anchors: _Array
    sizes: _Array  # of the texts with margins
    margin: float  # on both sides together
    frame: _Array  # two corners
    farthest: float


# The centres of texts, which of them have room, and the ends of their lines, NaN without one.
_Arranged = tuple[_Array, NDArray[np.bool_], _Array]


def _beside_dots(drawn: _Drawn) -> _Arranged:
    """Place texts beside dots: none covers a dot, and each is nearest to its own."""
    dot = _DOT * scale_of(drawn.ax) * drawn.ax.get_figure(root=True).dpi / 72  # type: ignore[union-attr]
    dots = np.column_stack([drawn.anchors, np.full((len(drawn.anchors), 2), dot)])
    sizes = drawn.sizes

    def cost(box: int, places: _Array, _: _Array) -> _Array:
        away = _gaps(places, sizes[box], dots[:, :2])
        return np.where(away[:, box] <= away.min(axis=1) + 1e-6, 0, np.inf)

    above = drawn.anchors + np.column_stack([0 * sizes[:, 1], (dot + sizes[:, 1]) / 2])
    centres, kept = spread(
        above, sizes, drawn.frame, cost=cost, taken=dots, farthest=drawn.farthest
    )
    return centres, kept, np.full_like(centres, np.nan)


def _among_points(drawn: _Drawn, places: Place, order: NDArray[np.int64]) -> _Arranged:
    """Place names on their own points, or over empty space with a line to one of them."""
    codes, sizes, low = places.codes, drawn.sizes, drawn.frame[0]
    points = drawn.ax.transData.transform(places.points)
    height = float(sizes[:, 1].min())
    cell = height / _CELLS
    shape = np.ceil((drawn.frame[1] - low) / cell).astype(int)[::-1] + 1
    of_point = ((points - low) / cell).astype(int)[:, ::-1].clip(0, shape - 1)
    cells = np.ravel_multi_index(tuple(of_point.T), tuple(shape))

    def sums(cells: NDArray[np.integer], weights: _Array | None = None) -> _Array:
        """Return the weights, by default 1, to the left of and below each corner of a cell."""
        grid = np.bincount(cells, weights, minlength=shape.prod()).reshape(shape)
        return np.pad(grid.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0))).astype(np.float64)

    def below(sums: _Array, places: _Array, size: _Array) -> _Array:
        """Return the weights below boxes at some places."""
        (x0, y0), (x1, y1) = (
            (((places + side * size / 2 - low) / cell).round().astype(int)).clip(0, shape[::-1]).T
            for side in (-1, 1)
        )
        return np.asarray(sums[y1, x1] - sums[y0, x1] - sums[y1, x0] + sums[y0, x0])

    known = codes >= 0
    of_label = np.bincount(codes[known])
    every, parts = sums(cells[known]), sums(cells[known], 1 / of_label[codes[known]])
    filled = sums(np.unique(cells))
    of_end = codes[places.typical]
    ends = [points[places.typical[of_end == code]] for code in order]

    @functools.cache
    def of_code(code: int) -> _Array:
        return sums(cells[codes == code])

    def on_own(box: int, where: _Array) -> tuple[NDArray[np.bool_], _Array]:
        """Tell where a name lies on its points, and which part of other labels it would hide."""
        code, size, own = order[box], sizes[box], of_code(order[box])
        covered = below(own, where, size)
        others = below(every, where, size) - covered
        # Of its own points only those safely inside count, because edges are rounded to cells.
        surely = below(own, where, size - drawn.margin - 2 * cell)
        good = (surely >= _FEWEST) & (surely >= _OWN * (surely + others))
        part = covered / of_label[code]
        good &= (part >= _SEEN) & (part <= _HIDDEN)
        return good, below(parts, where, size) - part

    def cost(box: int, where: _Array, placed: _Array) -> _Array:
        good, others = on_own(box, where)
        size, gaps = sizes[box], _gaps(where, sizes[box], ends[box])
        gap, end = gaps.min(axis=1) / height, ends[box][gaps.argmin(axis=1)]
        full = below(filled, where, size) / (size.prod() / cell**2)
        on_way = (where + share * (end - where) for share in np.linspace(0, 1, _STEPS))
        crossed = np.any([~_apart(point, np.zeros(2), placed) for point in on_way], axis=0)
        lined = _LINED + gap + _FILLED * full + _CROSSED * crossed
        lined[gap < _SHORTEST] = np.inf
        moved = np.linalg.norm(where - drawn.anchors[box], axis=1) / height / 2
        return np.asarray(np.where(good, moved, lined) + _COVERED * others)

    centres, kept = spread(drawn.anchors, sizes, drawn.frame, cost=cost, farthest=drawn.farthest)
    found = np.full_like(centres, np.nan)
    for box in np.flatnonzero(kept).tolist():
        if not on_own(box, centres[[box]])[0][0]:
            found[box] = ends[box][_gaps(centres[[box]], sizes[box], ends[box])[0].argmin()]
    return centres, kept, found


def spread(
    anchors: _Array,
    sizes: _Array,
    frame: _Array,
    *,
    cost: _Cost | None = None,
    taken: _Array | None = None,
    farthest: float = np.inf,
) -> tuple[_Array, NDArray[np.bool_]]:
    """Place boxes near their anchors without overlaps; return their centres and which have room."""
    # The most important box comes first and takes the free place of least ``cost``, by default the
    # nearest to its anchor. ``frame`` holds two corners, ``taken`` rows of centre and size.
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
        free = ((places >= low) & (places <= high)).all(axis=1) & _apart(places, size, placed)
        costs = np.zeros(len(places)) if cost is None else cost(box, places, placed)
        costs = np.where(free, costs, np.inf)
        best = costs.argmin()
        if np.isfinite(costs[best]):
            centres[box], kept[box] = places[best], True
            placed = np.concatenate([placed, [[*centres[box], *size]]])
    return centres, kept


def _gaps(places: _Array, size: _Array, points: _Array) -> _Array:
    away = np.maximum(np.abs(places[:, None] - points) - size / 2, 0)
    return np.asarray(np.linalg.norm(away, axis=2))


def _apart(places: _Array, size: _Array, others: _Array) -> NDArray[np.bool_]:
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
            arrange: Callable[[_Drawn], _Arranged],
            *,
            away: float,
            colors: Sequence[str] | None = None,
        ) -> None:
            """Write texts near places, at most ``away`` times their height from them."""
            super().__init__()
            self.places, self.arrange, self.away = places, arrange, away
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
            self.lines = [
                load("lines").Line2D([], [], color=figures.GREY, linewidth=0.8 * scale)
                for _ in texts
            ]
            line_outline = load("patheffects").withStroke(linewidth=2 * scale, foreground="white")
            for child in (*self.texts, *self.outlines, *self.lines):
                child.set_figure(ax.get_figure(root=False))
            for line in self.lines:
                line.set_path_effects([line_outline])

        def get_children(self) -> list[Any]:
            return [*self.texts, *self.lines]

        def draw(self, renderer: Any) -> None:
            if not self.get_visible():
                return
            places = self.axes.transData.transform(self.places)
            for text in self.texts:
                text.set_visible(True)
            boxes = [text.get_window_extent(renderer) for text in self.texts]
            pixel = scale_of(self.axes) * self.axes.get_figure(root=True).dpi / 72
            sizes = np.array([(box.width, box.height) for box in boxes])
            margin = 2 * (_OUTLINE + _SPACE) * pixel
            sizes += margin
            farthest = self.away * float(sizes[:, 1].min())
            frame = self.axes.bbox.get_points()
            drawn = _Drawn(self.axes, places, sizes, margin, frame, farthest)
            centres, kept, ends = self.arrange(drawn)
            for line, centre, size, end in zip(self.lines, centres, sizes, ends, strict=True):
                way = end - centre
                # From the edge of the text, where the way to the end leaves it.
                edge = centre + way * min(1, *(size / 2 / np.maximum(abs(way), 1)))
                line.set_data(*np.transpose([end, edge]))
                line.set_visible(bool(np.isfinite(end).all()))
                line.draw(renderer)
            for texts in (self.outlines, self.texts):
                for text, (x, y), room in zip(texts, centres, kept, strict=True):
                    text.set(x=x, y=y, visible=bool(room))
                    text.draw(renderer)

    return Names
