"""Charts of neighbours by label: the mixing of every label, and shares of other labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne.evaluate import MapNeighbors, mixing_by_label
from ctsne.io.anndata import category_colors, column_of, is_anndata, map_name, map_of
from ctsne.labels import Column, encode_column
from ctsne.methods import users_of
from ctsne.pl import figures
from ctsne.pl.figures import Entry, add_legend, load
from ctsne.pl.palette import label_colors

if TYPE_CHECKING:
    from anndata import AnnData
    from matplotlib.axes import Axes

# Group names with more characters than this per inch of the axis are slanted.
_CHARACTERS_PER_INCH = 11


def label_mixing(
    embedding_or_neighbors: ArrayLike | MapNeighbors | AnnData,
    labels: object,
    *,
    k: int = 30,
    basis: str = "ctsne",
    palette: Mapping[Any, Any] | None = None,
    width: str | float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the mixing of each label as bars.

    A bar is the share of random mixing, :func:`ctsne.evaluate.mixing_by_label`: 0 is not mixed at
    all, and a bar that reaches the line at 1 is mixed as random labels would be.

    Parameters
    ----------
    embedding_or_neighbors : array-like of shape (n, d), MapNeighbors or AnnData
        Positions in the map, or its neighbours (of all points or of a sample). For an AnnData
        object, ``basis`` names the map and ``labels`` may name a column of ``obs``.
    labels : array-like of shape (n,)
        Any label column; points without a label are left out.
    k : int, default=30
        Neighbourhood size, unless neighbours are given; smaller for fewer points.
    basis, palette, width, ax
        As in :func:`ctsne.pl.embedding`.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from ctsne import pl
    >>> ax = pl.label_mixing([[0.0], [1.0], [3.0], [7.0]], ["a", "a", "b", "b"], k=1)
    >>> [float(bar.get_width()) for bar in ax.patches]
    [0.0, 0.75]
    """
    if is_anndata(embedding_or_neighbors):
        adata: Any = embedding_or_neighbors
        embedding_or_neighbors = map_of(adata, basis)
        palette = category_colors(adata, labels) if palette is None else palette
        labels = column_of(adata, labels, argument="labels")
    column = encode_column(labels)
    if not column.n_labels:
        raise ValueError("labels must name at least one label, but all are missing")
    colors = label_colors(column, palette)
    mixed = mixing_by_label(embedding_or_neighbors, column, k=k)
    widths = [mixed.get(name, np.nan) for name in column.names]  # NaN without measured points
    names = [figures.shown_text(name).replace("\n", " ") for name in column.names]
    texts = [f"{name}  ({n:,})" for name, n in zip(names, column.counts.tolist(), strict=True)]
    n, usual = column.n_labels, 4.4 + 0.07 * max(map(len, texts))
    ax = figures.chart_axes(ax, width=usual, height=1.0 + 0.24 * n, fixed=width)
    scale = figures.scale_of(ax)
    ax.barh(range(n), widths, height=0.72, color=colors[:-1])
    # A white outline keeps the line visible on a bar of any colour.
    for color, weight, line in (("white", 3.4, "-"), (figures.INK, 1.6, ":")):
        ax.axvline(1.0, color=color, linewidth=weight * scale, linestyle=line)
    ax.set(xlim=(0, 1.02 * max(1.0, *mixed.values())), ylim=(n - 0.5, -0.5))
    figures.set_ticks(ax.yaxis, texts)
    figures.finish_chart(ax, xlabel="mixing, as a share of random mixing", grid="x")
    random = Entry("random labels", figures.INK, "", ":")
    add_legend(ax, [random], loc="lower right", bbox_to_anchor=(1.0, 1.0))
    return ax


def other_share(
    share: ArrayLike | AnnData,
    groups: object,
    *,
    by: object = None,
    basis: str = "ctsne",
    palette: Mapping[Any, Any] | None = None,
    ylabel: str | None = None,
    width: str | float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw box plots of the share of neighbours with other labels in each group of points.

    Before any map is made, they show which points have neighbours with other labels at all. Boxes
    span the quartiles, whiskers at most 1.5 times the interquartile range; points beyond are not
    drawn, as in the paper's supplement.

    Parameters
    ----------
    share : array-like of shape (n,) or AnnData
        A share per point, from 0 to 1, such as ``ctsne.evaluate.laplacian(X, labels,
        pointwise=True)``; NaN is left out. For an AnnData object, the weight on other labels of the
        map ``basis``, ``obs[basis + "_other_share"]``; ``groups`` and ``by`` may then name columns
        of ``obs``.
    groups : array-like of shape (n,)
        The label column of the groups.
    by : array-like of shape (n,), optional
        A second label column: each group has one box per label of it, in its colour.
    ylabel : str, optional
    basis, palette, width, ax
        As in :func:`ctsne.pl.embedding`; colours are those of ``by``, or else of the groups.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from ctsne import pl
    >>> ax = pl.other_share([0.0, 0.2, 0.4, 0.9], ["alpha", "alpha", "beta", "beta"])
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['alpha', 'beta']
    """
    default = "share of neighbours with other labels"
    if is_anndata(share):
        adata: Any = share
        name = f"{map_name(basis)}_other_share"
        if name not in adata.obs:
            methods = ", ".join(users_of("align"))
            raise ValueError(f"no column {name!r}: ctsne.tl.ctsne adds it to obs for {methods}")
        share, default = adata.obs[name], "weight on other labels"
        if palette is None:
            palette = category_colors(adata, groups if by is None else by)
        groups = column_of(adata, groups, argument="groups")
        by = column_of(adata, by, argument="by")
    shares = figures.check_list(share, argument="share", entry="point")
    present = ~np.isnan(shares)
    low, high = np.fmin.reduce(shares), np.fmax.reduce(shares)
    if low < 0 or high > 1:
        raise ValueError(
            f"share must lie between 0 and 1, got {low:g} to {high:g}; divide percentages by 100"
        )
    rows = encode_column(groups, n=len(shares), argument="groups")
    boxes = None if by is None else encode_column(by, n=len(shares), argument="by")
    colors = label_colors(boxes or rows, palette)
    row_codes, box_codes = _codes(rows), [0] if boxes is None else _codes(boxes)
    n_boxes, own = len(box_codes), ax is None
    wide = 0.56 if boxes is None else 0.68 / n_boxes
    usual = float(np.clip(1.4 + 0.18 * len(row_codes) * (n_boxes + 1), 4.6, 14.0))
    ax = figures.chart_axes(ax, width=usual, height=4.2, fixed=width)
    for place, row in enumerate(row_codes):
        for number, box in enumerate(box_codes):
            shift = (number - (n_boxes - 1) / 2) * 0.8 / n_boxes
            color = colors[row if boxes is None else box]
            chosen = present & (rows.codes == row) & (boxes is None or boxes.codes == box)
            _draw_box(ax, shares[chosen], place + shift, wide, color)
    ax.set(xlim=(-0.6, len(row_codes) - 0.4), ylim=(-0.02, 1.02))
    _write_groups(ax, rows)
    figures.finish_chart(ax, ylabel=default if ylabel is None else ylabel, grid="y")
    room = (0.0, 0.0) if boxes is None else add_legend(ax, figures.label_entries(boxes, colors))
    if own:
        figures.widen(ax, room)
    return ax


def _codes(labels: Column) -> list[int]:
    """Return all codes; missing labels, code -1, come last."""
    return [*range(labels.n_labels), *[-1] * bool(labels.n_missing)]


def _draw_box(ax: Axes, values: NDArray[Any], place: float, width: float, color: str) -> None:
    if not len(values):
        return
    # A pale box with a strong median, which keeps its colour when a box has no height.
    scale = figures.scale_of(ax)
    pale = 0.45 * np.array(load("colors").to_rgb(color)) + 0.55
    hidden: dict[str, Any] = {"showfliers": False, "showcaps": False, "manage_ticks": False}
    ax.boxplot(
        [values],
        positions=[place],
        widths=width,
        whis=1.5,
        patch_artist=True,
        **hidden,
        boxprops={"facecolor": pale, "edgecolor": color, "linewidth": 1.2 * scale},
        whiskerprops={"color": color, "linewidth": 1.2 * scale},
        medianprops={"color": color, "linewidth": 2.4 * scale},
    )


def _write_groups(ax: Axes, rows: Column) -> None:
    texts = [figures.shown_text(name) for name in rows.names]
    texts += [figures.MISSING_TEXT] * bool(rows.n_missing)
    root: Any = ax.get_figure(root=True)
    slot = ax.bbox.width / root.dpi / len(texts)
    turn: dict[str, Any] = {"rotation": 0, "ha": "center"}
    if max(map(len, texts)) > slot * _CHARACTERS_PER_INCH / figures.scale_of(ax):
        turn = {"rotation": 40, "ha": "right"}
    figures.set_ticks(ax.xaxis, texts, rotation_mode="anchor", **turn)
