"""The share of other-label neighbours, group by group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import as_numbers
from ctsne._io.anndata import category_colors, columns_of, is_anndata
from ctsne.labels import Labels, encode_labels
from ctsne.methods import users_of
from ctsne.pl._legend import add_legend, color_entries, make_room
from ctsne.pl._matplotlib import RULE, chart_axes, dress_chart, load
from ctsne.pl._text import LITERAL, MISSING_TEXT, shown_text
from ctsne.pl.palette import label_colors

if TYPE_CHECKING:
    from anndata import AnnData
    from matplotlib.axes import Axes

__all__ = ["other_share"]

# Longer names of groups (in characters for each inch of the axis) are written at an angle.
_CHARACTERS_PER_INCH = 11


def other_share(
    share: ArrayLike | AnnData,
    groups: object,
    *,
    by: object = None,
    basis: str = "ctsne",
    palette: Mapping[Any, Any] | None = None,
    ylabel: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw box plots of the share of other-label neighbours in each group of points.

    It tells, before any map is made, which points have neighbours with other labels at all. Boxes
    go from the first to the third quartile with a line at the median; whiskers end at the last
    point within 1.5 times the interquartile range. Points beyond are not drawn, as in the paper's
    supplement.

    Parameters
    ----------
    share : array-like of shape (n,) or AnnData
        A share for each point, from 0 to 1, such as ``ctsne.evaluate.laplacian(X, labels,
        pointwise=True)``. NaN is left out. Of an AnnData object the share of similarity on other
        labels that belongs to the map ``basis`` is drawn, ``obs[basis + "_other_share"]``;
        ``groups`` and ``by`` may then be names of columns of its ``obs``.
    groups : array-like of shape (n,)
        The label column of the groups.
    by : array-like of shape (n,), optional
        A second label column: each group has a box for each of these, in its colour.
    basis : str, default="ctsne"
        The map of an AnnData object, made by :func:`ctsne.tl.ctsne`.
    palette : mapping of label to colour, optional
        The colours of ``by``, or else of the groups, as :func:`ctsne.pl.palette` makes them by
        default.
    ylabel : str, optional
        What the axis shows.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from ctsne import pl
    >>> ax = pl.other_share([0.0, 0.2, 0.4, 0.9], ["alpha", "alpha", "beta", "beta"])
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['alpha', 'beta']
    """
    if ylabel is None:
        what = "similarity on other labels" if is_anndata(share) else "other-label neighbours"
        ylabel = f"share of {what}"
    if is_anndata(share):
        adata: Any = share
        share = _share_of(adata, basis)
        if palette is None:
            palette = category_colors(adata, groups if by is None else by)
        groups, by = columns_of(adata, groups=groups, by=by)
    shares = _check_share(share)
    rows = encode_labels(groups, n=len(shares), argument="groups")
    boxes = rows if by is None else encode_labels(by, n=len(shares), argument="by")
    colors = label_colors(boxes, palette)
    # Missing labels, code -1, form a group of their own after the others.
    n_rows = rows.n_labels + bool(rows.n_missing)
    n_boxes = 1 if by is None else boxes.n_labels + bool(boxes.n_missing)
    own = ax is None
    width = float(np.clip(1.4 + 0.18 * n_rows * (n_boxes + 1), 4.6, 14.0))
    ax = chart_axes(ax, width=width, height=4.2)
    for row in range(n_rows):
        for box in range(n_boxes):
            code = row if by is None else box
            chosen = rows.codes == _code(row, rows)
            if by is not None:
                chosen &= boxes.codes == _code(box, boxes)
            values = shares[chosen & ~np.isnan(shares)]
            if len(values):
                place = row + (box - (n_boxes - 1) / 2) * 0.8 / n_boxes
                width = 0.8 / n_boxes * (0.7 if by is None else 0.85)
                _draw_box(ax, values, place, width, colors[_code(code, boxes)])
    ax.set(xlim=(-0.6, n_rows - 0.4), ylim=(-0.02, 1.02))
    _write_groups(ax, rows)
    ax.grid(axis="y", color=RULE, linewidth=0.6)
    ax.set_axisbelow(True)
    dress_chart(ax, xlabel="", ylabel=ylabel)
    if by is not None:
        legend = add_legend(ax, color_entries(boxes, colors))
        if own:
            make_room(legend)
    return ax


def _share_of(adata: Any, basis: str) -> Any:
    name = f"{basis}_other_share"
    if name not in adata.obs:
        raise ValueError(
            f"adata.obs has no column {name!r}: ctsne.tl.ctsne(adata, labels, key_added={basis!r}) "
            f"writes it, for the methods {', '.join(users_of('align'))}"
        )
    return adata.obs[name]


def _check_share(share: Any) -> NDArray[np.float64]:
    shares = np.asarray(as_numbers(share, argument="share"), np.float64)
    if shares.ndim != 1 or not len(shares):
        raise ValueError(
            f"share must be a list with an entry for each point, got shape {shares.shape}"
        )
    present = shares[~np.isnan(shares)]
    if len(present) and (present.min() < 0 or present.max() > 1):
        raise ValueError(
            f"share must lie between 0 and 1, got {present.min():g} to {present.max():g}; "
            "divide percentages by 100"
        )
    return shares


def _code(position: int, labels: Labels) -> int:
    return position if position < labels.n_labels else -1


def _draw_box(
    ax: Axes, values: NDArray[np.float64], place: float, width: float, color: str
) -> None:
    # A pale box with a strong median, which keeps its colour when a box has no height.
    pale = 0.45 * np.array(load("colors").to_rgb(color)) + 0.55
    line = {"color": color, "linewidth": 1.2}
    ax.boxplot(
        [values],
        positions=[place],
        widths=width,
        whis=1.5,
        showfliers=False,
        showcaps=False,
        patch_artist=True,
        manage_ticks=False,
        boxprops={"facecolor": pale, "edgecolor": color, "linewidth": 1.2},
        whiskerprops=line,
        medianprops={"color": color, "linewidth": 2.4},
    )


def _write_groups(ax: Axes, rows: Labels) -> None:
    texts = [shown_text(name) for name in rows.names] + [MISSING_TEXT] * bool(rows.n_missing)
    root: Any = ax.get_figure(root=True)
    slot = ax.bbox.width / root.dpi / len(texts)
    slanted = max(map(len, texts)) > slot * _CHARACTERS_PER_INCH
    ax.set_xticks(
        range(len(texts)),
        texts,
        rotation=40 if slanted else 0,
        ha="right" if slanted else "center",
        rotation_mode="anchor",
        **LITERAL,
    )
