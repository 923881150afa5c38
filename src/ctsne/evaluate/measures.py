"""All measures of one map, by name or as a table: every number that is reported comes from here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import check_features, check_kind, check_matrix
from ctsne._core.vocabulary import MEASURED_POINTS, NEIGHBORHOOD, of_column, split_measure
from ctsne.affinity.result import Diagnostics
from ctsne.evaluate.labels_nearby import expected_lisi, knn_accuracy, lisi
from ctsne.evaluate.mixing import expected_laplacian, laplacian, mixing
from ctsne.evaluate.neighbors_in_data import (
    DataNeighbors,
    check_same_points,
    data_neighbors,
    read_labels,
)
from ctsne.evaluate.neighbors_in_map import MapNeighbors, nearest, search_map
from ctsne.evaluate.rnx import adjusted_jaccard, adjusted_rnx, ranked_curve
from ctsne.evaluate.sampling import check_k, sample_points
from ctsne.labels import JOINT, Column, Labels, encode_column
from ctsne.neighbors.lists import available

if TYPE_CHECKING:
    import pandas as pd

# At most this many points are ranked against all others. The area varies by .1 to .2 between
# points, so its standard error is below .01.
_RANKED_POINTS = 500
_LISI_PERPLEXITY = 30.0
_COLUMNS = ["measure", "label", "k", "value", "expected", "points"]
# Values for a random map or random labels; those of other measures depend on the labels.
_EXPECTED = {"mixing": 1.0, "adjusted_rnx": 0.0, "aligned_rnx": 0.0, "rnx": 0.0}


def measure_map(
    embedding: ArrayLike,
    data: DataNeighbors,
    *,
    other: object = None,
    k: int | None = None,
    n_jobs: int = -1,
) -> dict[str, float]:
    """Measure how a map mixes labels and which neighbours it keeps.

    Parameters
    ----------
    data : DataNeighbors
        The neighbours in the data, with the label that was factored out, from
        :func:`ctsne.evaluate.data_neighbors`. It also determines the points that are measured.
    k : int, optional
        Neighbourhood size; by default that of ``data``.
    embedding, other, n_jobs
        As in :func:`ctsne.evaluate.evaluate`.

    Returns
    -------
    dict of str to float
        ``rnx``; with labels also ``mixing``, ``adjusted_rnx``, ``aligned_rnx`` (if ``data`` has an
        alignment), ``adjusted_jaccard``, ``laplacian`` and ``ilisi``; with ``other`` also
        ``other_mixing``, ``other_laplacian``, ``other_clisi`` and ``other_knn_accuracy``. With
        several columns these are of their combination; ``mixing (donor)``, ``laplacian (donor)``
        and ``ilisi (donor)`` are of the column ``donor`` alone, and so for each.
        nan if a measure cannot be taken, such as the neighbours kept if ``data`` is a graph.

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.evaluate import data_neighbors, measure_map
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> measures = measure_map(X, data_neighbors(X, np.arange(100) % 2))
    >>> measures["adjusted_rnx"], round(measures["mixing"], 1)
    (1.0, 1.0)
    """
    check_kind(data, DataNeighbors, "data")
    positions = check_features(embedding, argument="embedding")
    n = len(positions)
    check_same_points(data.n, n)
    k = check_k(data.k if k is None else k, n=n)
    if k > data.k:
        raise ValueError(f"k must be at most {data.k}, the neighbours in data; got {k}")
    hidden = None if other is None else encode_column(other, n=n, argument="other")
    perplexity = _lisi_perplexity(n)
    found = search_map(positions, data.points, max(k, round(3 * perplexity)), n_jobs)
    measures: dict[str, float] = {}

    def keep(name: str, measure: Callable[..., Any], data: DataNeighbors) -> None:
        # A graph of distances does not hold all neighbours.
        measures[name] = float(measure(found, data, k=k)) if data.complete else float("nan")

    if data.labels is not None:
        measures["mixing"] = mixing(nearest(found, k), data.labels)
        keep("adjusted_rnx", adjusted_rnx, data)
        if data.aligned is not None:
            keep("aligned_rnx", adjusted_rnx, replace(data, indices=data.aligned))
    keep("rnx", adjusted_rnx, data.without_labels())
    if data.labels is not None:
        keep("adjusted_jaccard", adjusted_jaccard, data)
        measures["laplacian"] = float(laplacian(found, data.labels, k=k))
        if perplexity >= 1:  # fewer than five points have no such neighbourhood
            measures["ilisi"] = float(lisi(found, data.labels, perplexity=perplexity))
    if data.columns is not None:
        measures |= _by_column(found, data.columns, k, perplexity)
    if hidden is not None:
        measures["other_mixing"] = mixing(nearest(found, k), hidden)
        measures["other_laplacian"] = float(laplacian(found, hidden, k=k))
        if perplexity >= 1:
            measures["other_clisi"] = float(lisi(found, hidden, perplexity=perplexity))
        measures["other_knn_accuracy"] = float(knn_accuracy(found, hidden, k=k))
    return measures


def _by_column(found: MapNeighbors, columns: Labels, k: int, perplexity: float) -> dict[str, float]:
    """Measure how each of several columns is mixed."""
    measures: dict[str, float] = {}
    for name, labels in zip(columns.names, columns.columns, strict=True):
        measures[of_column("mixing", name)] = mixing(nearest(found, k), labels)
        measures[of_column("laplacian", name)] = float(laplacian(found, labels, k=k))
        if perplexity >= 1:
            lisi_of_column = float(lisi(found, labels, perplexity=perplexity))
            measures[of_column("ilisi", name)] = lisi_of_column
    return measures


def _lisi_perplexity(n: int) -> float:
    return min(_LISI_PERPLEXITY, (n - 2) / 3)


def evaluate(
    embedding: ArrayLike,
    X: Any,
    labels: object = None,
    *,
    other: object = None,
    k: int = NEIGHBORHOOD,
    metric: str = "euclidean",
    pca: int | str | None = "auto",
    align: Any = "none",
    sample: float | None = MEASURED_POINTS,
    random_state: int | None = 0,
    diagnostics: Diagnostics | None = None,
    data: DataNeighbors | None = None,
    n_jobs: int = -1,
) -> pd.DataFrame:
    """Measure a map: which neighbours it keeps, and how it mixes labels.

    Parameters
    ----------
    embedding : array-like of shape (n, d')
        Positions in the map.
    X : array-like or sparse matrix of shape (n, d)
        The data: features, or distances with ``metric="precomputed"``.
    labels : array-like of shape (n,) or (n, c), mapping of name to column, optional
        The label that was factored out. Neighbourhoods are adjusted for it. With several columns,
        they are adjusted for each combination of values, and the mixing of each column is measured.
    other : array-like of shape (n,) or (n, c), optional
        A label that should be visible in the map.
    k : int, default=30
        Neighbourhood size, from 1 to n - 2.
    metric, pca, align, sample, random_state, n_jobs
        As in :func:`ctsne.evaluate.data_neighbors`. Use the values that the map was made with.
    diagnostics : Diagnostics, optional
        ``ConditionalTSNE.diagnostics_``, to be summarized in the table.
    data : DataNeighbors, optional
        Neighbours in the data with the same labels, to measure many maps with one search. They
        also determine metric, alignment and sample.

    Returns
    -------
    pandas.DataFrame
        One row per measure: ``measure``; ``label``, the name of the column it is about (or "labels"
        and "other"), if it is about one; ``k``; ``value``; ``expected``, the value for a random map
        or random labels, if known; ``points``, how many were measured. The measures are those of
        :func:`ctsne.evaluate.measure_map`, and the area under the R_NX curve at up to 500 points.
        Measures of ``other`` lose their prefix ``other_``, and those of one of several columns
        their suffix: ``label`` tells them apart.

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne.evaluate import evaluate
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> table = evaluate(X, X, np.arange(100) % 2, k=10)
    >>> float(table.set_index("measure").value["adjusted_rnx"])
    1.0
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("evaluate returns a pandas table: pip install pandas") from error
    positions = check_features(embedding, argument="embedding")
    n = len(positions)
    k = check_k(k, n=n)
    known, parts = (None, None) if labels is None else read_labels(labels, n)
    hidden = None if other is None else encode_column(other, n=n, argument="other")
    if diagnostics is not None:
        check_kind(diagnostics, Diagnostics, "diagnostics")
    if data is not None:
        check_kind(data, DataNeighbors, "data")
    if data is None:
        matrix = check_matrix(X)
        check_same_points(matrix.shape[0], n)
        data = data_neighbors(
            matrix,
            known if parts is None else parts,
            k=k,
            metric=metric,
            pca=pca,
            align=align,
            sample=sample,
            random_state=random_state,
            n_jobs=n_jobs,
        )
    elif data.n != n or data.k < k:
        raise ValueError(
            f"data must hold {k} neighbours among {n} points, got {data.k} among {data.n}"
        )
    elif not np.array_equal(_codes(data.labels), _codes(known)):
        raise ValueError("data must have been searched with the same labels")
    data = replace(data, columns=parts)
    name = _name(labels, "labels") if parts is None else JOINT.join(parts.names)
    columns = {"": (known, name), "other_": (hidden, _name(other, "other"))}
    by_column = {} if parts is None else dict(zip(parts.names, parts.columns, strict=True))
    rows: list[tuple[object, ...]] = []
    for name, value in measure_map(positions, data, other=hidden, k=k, n_jobs=n_jobs).items():
        base, label = split_measure(name)
        short = base.removeprefix("other_")
        if label is None:
            column, label = columns[base.removesuffix(short)]
        else:
            column = by_column[label]
        size, expected = k, _EXPECTED.get(short, np.nan)
        if short == "laplacian":
            expected = expected_laplacian(column)
        elif short.endswith("lisi"):
            size, expected = round(3 * _lisi_perplexity(n)), expected_lisi(column)
        shown = None if short == "rnx" else label
        rows.append((short, shown, size, value, expected, len(data.points)))
    drawn = sample_points(len(data.points), _RANKED_POINTS, random_state)
    area, label = float("nan"), columns[""][1]
    if data.complete and data.features is not None:
        ranked = replace(data, points=data.points[drawn])
        area = float(ranked_curve(positions, ranked, np.array([n - 2]), False, n_jobs).area)
    name, shown = ("rnx_area", None) if known is None else ("adjusted_rnx_area", label)
    rows.append((name, shown, n - 2, area, 0.0, len(drawn)))
    if diagnostics is not None:
        random_share = float(available(known, n)[1].mean() / (n - 1))
        for name, value in summarize_diagnostics(diagnostics).items():
            about = (label, random_share) if name == "other_share_mean" else (None, np.nan)
            rows.append((name, about[0], None, value, about[1], n))
    return pd.DataFrame(rows, columns=_COLUMNS).astype({"k": "Int64"})


def _codes(labels: Column | None) -> NDArray[np.int32]:
    return np.empty(0, np.int32) if labels is None else labels.codes


def _name(column: object, default: str) -> str:
    """Return the name of a data frame's column."""
    name = getattr(column, "name", None)
    return name if isinstance(name, str) and name else default


def summarize_diagnostics(diagnostics: Diagnostics) -> dict[str, float]:
    """Summarize the perplexity and the weight on other labels over all points.

    Parameters
    ----------
    diagnostics : Diagnostics
        As in ``ConditionalTSNE.diagnostics_``.

    Returns
    -------
    dict of str to float
        ``perplexity_mean``, ``perplexity_median``, ``perplexity_p05`` (the fifth percentile),
        ``other_share_mean``, ``other_share_median``, ``largest_weight_mean`` and ``reached``, the
        share of points that have the perplexity asked for.

    Examples
    --------
    >>> from ctsne.affinity import tsne_affinities
    >>> from ctsne.evaluate import summarize_diagnostics
    >>> from ctsne.neighbors import find_neighbors
    >>> neighbors = find_neighbors([[0.0], [1.0], [2.0]], k_same=2)
    >>> summary = summarize_diagnostics(tsne_affinities(neighbors, perplexity=1.5).diagnostics)
    >>> round(summary["perplexity_mean"], 3), round(summary["reached"], 3)
    (1.667, 0.667)
    """
    check_kind(diagnostics, Diagnostics, "diagnostics")
    perplexity, other_share = diagnostics.perplexity, diagnostics.other_share
    return {
        "perplexity_mean": float(np.mean(perplexity)),
        "perplexity_median": float(np.median(perplexity)),
        "perplexity_p05": float(np.quantile(perplexity, 0.05)),
        "other_share_mean": float(np.mean(other_share)),
        "other_share_median": float(np.median(other_share)),
        "largest_weight_mean": float(np.mean(diagnostics.largest_weight)),
        "reached": float(np.mean(diagnostics.reached)),
    }
