"""The share of neighbours with other labels, group by group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import as_numbers
from ctsne._io.anndata import category_colors, columns_of, is_anndata
from ctsne.labels import Labels, encode_labels
from ctsne.methods import users_of
from ctsne.pl import figures
from ctsne.pl.palette import label_colors

if TYPE_CHECKING:
    from anndata import AnnData
    from matplotlib.axes import Axes

__all__ = ["other_share"]

# Group names with more characters than this per inch of the axis are slanted.
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
    """Draw box plots of the share of neighbours with other labels in each group of points.

    Before any map is made, they show which points have neighbours with other labels at all. Boxes
    span the first to the third quartile with a line at the median; whiskers end at the last point
    within 1.5 times the interquartile range. Points beyond are not drawn, as in the paper's
    supplement.

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
    basis : str, default="ctsne"
        The map of an AnnData object, made by :func:`ctsne.tl.ctsne`.
    palette : mapping of label to colour, optional
        Colours of ``by``, or else of the groups; by default that of :func:`ctsne.pl.palette`.
    ylabel : str, optional
        Axis label.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; a new figure by default.

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
        share = _share_of(adata, basis)
        if palette is None:
            palette = category_colors(adata, groups if by is None else by)
        groups, by = columns_of(adata, groups=groups, by=by)
        default = "weight on other labels"
    shares = _check_share(share)
    rows = encode_labels(groups, n=len(shares), argument="groups")
    boxes = None if by is None else encode_labels(by, n=len(shares), argument="by")
    colored = rows if boxes is None else boxes
    colors = label_colors(colored, palette)
    # Missing labels, code -1, form a group of their own after the others.
    row_codes = [*range(rows.n_labels), *([-1] if rows.n_missing else [])]
    box_codes = [*range(colored.n_labels), *([-1] if colored.n_missing else [])]
    n_boxes = 1 if boxes is None else len(box_codes)
    own = ax is None
    width = float(np.clip(1.4 + 0.18 * len(row_codes) * (n_boxes + 1), 4.6, 14.0))
    ax = figures.chart_axes(ax, width=width, height=4.2)
    for place, row in enumerate(row_codes):
        chosen = (rows.codes == row) & ~np.isnan(shares)
        if boxes is None:
            _draw_box(ax, shares[chosen], place, 0.56, colors[row])
            continue
        for number, box in enumerate(box_codes):
            shift = (number - (n_boxes - 1) / 2) * 0.8 / n_boxes
            values = shares[chosen & (boxes.codes == box)]
            _draw_box(ax, values, place + shift, 0.68 / n_boxes, colors[box])
    ax.set(xlim=(-0.6, len(row_codes) - 0.4), ylim=(-0.02, 1.02))
    _write_groups(ax, rows)
    entries = None if boxes is None else figures.color_entries(boxes, colors)
    ylabel = default if ylabel is None else ylabel
    figures.finish_chart(ax, ylabel=ylabel, grid="y", entries=entries, widen=own)
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
        raise ValueError(f"share must be a list with an entry per point, got shape {shares.shape}")
    present = shares[~np.isnan(shares)]
    if len(present) and (present.min() < 0 or present.max() > 1):
        raise ValueError(
            f"share must lie between 0 and 1, got {present.min():g} to {present.max():g}; "
            "divide percentages by 100"
        )
    return shares


def _draw_box(
    ax: Axes, values: NDArray[np.float64], place: float, width: float, color: str
) -> None:
    if not len(values):
        return
    # A pale box with a strong median, which keeps its colour when a box has no height.
    pale = 0.45 * np.array(figures.load("colors").to_rgb(color)) + 0.55
    ax.boxplot(
        [values], positions=[place], widths=width, whis=1.5, showfliers=False, showcaps=False,
        patch_artist=True, manage_ticks=False,
        boxprops={"facecolor": pale, "edgecolor": color, "linewidth": 1.2},
        whiskerprops={"color": color, "linewidth": 1.2},
        medianprops={"color": color, "linewidth": 2.4},
    )  # fmt: skip


def _write_groups(ax: Axes, rows: Labels) -> None:
    texts = [figures.shown_text(name) for name in rows.names]
    if rows.n_missing:
        texts.append(figures.MISSING_TEXT)
    root: Any = ax.get_figure(root=True)
    slot = ax.bbox.width / root.dpi / len(texts)
    turn: dict[str, Any] = {"rotation": 0, "ha": "center"}
    if max(map(len, texts)) > slot * _CHARACTERS_PER_INCH:
        turn = {"rotation": 40, "ha": "right"}
    ax.set_xticks(range(len(texts)), texts, rotation_mode="anchor", **turn, **figures.LITERAL)
