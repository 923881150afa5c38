"""How far a map mixes each label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ctsne._io.anndata import category_colors, columns_of, is_anndata, map_of
from ctsne.evaluate import MapNeighbors, laplacian
from ctsne.labels import encode_labels
from ctsne.pl import figures
from ctsne.pl.palette import label_colors

if TYPE_CHECKING:
    from anndata import AnnData
    from matplotlib.axes import Axes

__all__ = ["label_mixing"]


def label_mixing(
    embedding_or_neighbors: ArrayLike | MapNeighbors | AnnData,
    labels: object,
    *,
    k: int = 30,
    basis: str = "ctsne",
    palette: Mapping[Any, Any] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw for each label the share of its points' neighbours that have another label.

    A bar is the mean of :func:`ctsne.evaluate.laplacian` over the label's points. A mark shows the
    expected value for random labels, ``(m - n_l) / (m - 1)`` among m labelled points: the label of
    a bar that reaches it is fully mixed.

    Parameters
    ----------
    embedding_or_neighbors : array-like of shape (n, d), MapNeighbors or AnnData
        Positions in the map, or its neighbours (of all points or of a sample). For an AnnData
        object, ``basis`` names the map and ``labels`` may name a column of ``obs``.
    labels : array-like of shape (n,)
        Any label column; points without a label are left out.
    k : int, default=30
        Neighbourhood size, from 1 to n - 2.
    basis : str, default="ctsne"
        The map of an AnnData object: ``obsm[basis]``, or ``obsm["X_" + basis]``.
    palette : mapping of label to colour, optional
        By default that of :func:`ctsne.pl.palette`.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from ctsne import pl
    >>> ax = pl.label_mixing([[0.0], [1.0], [3.0], [7.0]], ["a", "a", "b", "b"], k=1)
    >>> [float(bar.get_width()) for bar in ax.patches]
    [0.0, 0.5]
    """
    if is_anndata(embedding_or_neighbors):
        adata: Any = embedding_or_neighbors
        embedding_or_neighbors = map_of(adata, basis)
        palette = category_colors(adata, labels) if palette is None else palette
        (labels,) = columns_of(adata, labels=labels)
    column = encode_labels(labels)
    if not column.n_labels:
        raise ValueError("labels must name at least one label, but all are missing")
    colors = label_colors(column, palette)
    shares = np.asarray(laplacian(embedding_or_neighbors, column, k=k, pointwise=True))
    codes = column.codes
    if isinstance(embedding_or_neighbors, MapNeighbors):
        codes = codes[embedding_or_neighbors.points]
    # Points without a label, or without a labelled neighbour, have no share.
    counted = ~np.isnan(shares)
    measured = np.bincount(codes[counted], minlength=column.n_labels)
    total = np.bincount(codes[counted], shares[counted], minlength=column.n_labels)
    means = np.full(column.n_labels, np.nan)
    np.divide(total, measured, out=means, where=measured > 0)
    labelled = int(column.counts.sum())
    expected = (labelled - column.counts) / max(labelled - 1, 1)

    names = [figures.shown_text(name).replace("\n", " ") for name in column.names]
    texts = [f"{name}  ({n:,})" for name, n in zip(names, column.counts.tolist(), strict=True)]
    width = 4.4 + 0.07 * max(map(len, texts))
    ax = figures.chart_axes(ax, width=width, height=1.0 + 0.24 * column.n_labels)
    rows = np.arange(column.n_labels)
    ax.barh(rows, means, height=0.72, color=colors[:-1])
    # A white outline keeps the marks visible on a bar of any colour.
    for color, width in (("white", 4.0), (figures.INK, 1.8)):
        ax.plot(expected, rows, linestyle="none", marker="|", color=color, ms=11, mew=width)
    ax.set(xlim=(0, 1.02), ylim=(column.n_labels - 0.5, -0.5))
    ax.set_yticks(rows, texts, **figures.LITERAL)
    xlabel = f"share of {k} nearest neighbours with another label"
    figures.finish_chart(ax, xlabel=xlabel, grid="x")
    random = figures.Entry("random labels", figures.INK, "|")
    figures.add_legend(ax, [random], loc="lower right", bbox_to_anchor=(1.0, 1.0))
    return ax
