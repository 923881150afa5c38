"""All measures of one map, by name or as a table: every number that is reported comes from here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import check_data, check_features, check_kind
from ctsne._core.messages import load
from ctsne._core.vocabulary import MEASURED_POINTS, NEIGHBORHOOD, of_column, split_measure
from ctsne.affinity.result import Diagnostics
from ctsne.evaluate import neighbors
from ctsne.evaluate.mixing import expected_laplacian, knn_accuracy, laplacian, number_r2
from ctsne.evaluate.neighbors import DataNeighbors, MapNeighbors
from ctsne.evaluate.rnx import adjusted_jaccard, adjusted_rnx, rnx_area, rnx_within
from ctsne.evaluate.sampling import check_k, sample_points
from ctsne.evaluate.standard import representation, standard_table, tsne_map
from ctsne.labels import JOINT, Column, Labels, encode_labels
from ctsne.labels.columns import UNNAMED

if TYPE_CHECKING:
    import pandas as pd

# At most this many points are ranked against all others. The area varies by .1 to .2 between
# points, so its standard error is below .01.
_RANKED_POINTS = 500
_COLUMNS = ["measure", "label", "k", "value", "expected", "points"]
# Values for a random map or random labels; those of other measures depend on the labels.
_EXPECTED = {"mixing": 1.0, "adjusted_rnx": 0.0, "aligned_rnx": 0.0, "rnx": 0.0, "rnx_within": 0.0}


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
        alignment), ``adjusted_jaccard`` and ``laplacian``; with ``other`` also ``other_mixing``,
        ``other_laplacian``, ``other_knn_accuracy`` and ``other_rnx_within``. With several columns
        these are of their combination; ``mixing (donor)`` and ``laplacian (donor)`` are of the
        column ``donor`` alone, and so for each. A number has ``r2`` too. With several columns of
        ``other``, there are only those of each: ``other_mixing (type)``.
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
    neighbors.check_same_points(data.n, n)
    k = check_k(data.k if k is None else k, n=n)
    if k > data.k:
        raise ValueError(f"k must be at most {data.k}, the neighbours in data; got {k}")
    hidden = {} if other is None else encode_labels(other, n=n, argument="other").by_name
    found = neighbors.search_map(positions, data.points, k, n_jobs)
    measures: dict[str, float] = {}

    def keep(name: str, measure: Callable[..., Any], data: DataNeighbors) -> None:
        # A graph of distances does not hold all neighbours.
        measures[name] = float(measure(found, data, k=k)) if data.complete else float("nan")

    if data.labels is None:
        keep("rnx", adjusted_rnx, data)
    else:
        mixed = _label_measures(found, data.labels, k)
        measures["mixing"] = mixed["mixing"]
        keep("adjusted_rnx", adjusted_rnx, data)
        if data.aligned is not None:
            keep("aligned_rnx", adjusted_rnx, replace(data, indices=data.aligned))
        keep("rnx", adjusted_rnx, data.without_labels())
        keep("adjusted_jaccard", adjusted_jaccard, data)
        measures |= mixed
        for name, column in _several(data.columns).items():
            mixed = _label_measures(found, column, k)
            measures |= {of_column(measure, name): value for measure, value in mixed.items()}
    for name, column in hidden.items():
        mixed = _label_measures(found, column, k)
        mixed["knn_accuracy"] = knn_accuracy(found, column, k=k)
        if data.metric != "precomputed":  # workers of a sweep have no distances
            mixed["rnx_within"] = rnx_within(positions, data, column, k, n_jobs)
        for measure, value in mixed.items():
            key = f"other_{measure}"
            measures[key if len(hidden) == 1 else of_column(key, name)] = value
    return measures


def _several(columns: Labels | None) -> dict[str, Column]:
    """Return the columns by name if there is more than one to measure by itself."""
    if columns is None or columns.n_columns == 1:
        return {}
    return columns.by_name


def _label_measures(found: MapNeighbors, column: Column, k: int) -> dict[str, float]:
    score, random = float(laplacian(found, column, k=k)), expected_laplacian(column)
    measures = {"mixing": score / random if random > 0 else float("nan"), "laplacian": score}
    if column.numbers is not None:
        measures["r2"] = number_r2(found, column)
    return measures


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
    data: DataNeighbors | None = None,
    standard: bool | Mapping[str, Any] = False,
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
    other : array-like of shape (n,) or (n, c), mapping of name to column, optional
        A label that should be visible in the map, or up to three columns, each measured by itself.
    k, metric, pca, align, sample, random_state, n_jobs
        As in :func:`ctsne.evaluate.data_neighbors`. Use the values that the map was made with.
    data : DataNeighbors, optional
        Neighbours in the data with the same labels, to measure many maps with one search. They
        also determine metric, alignment and sample.
    standard : bool or mapping of str to map, representation or graph, default=False
        Add the measures of scib-metrics (:func:`ctsne.evaluate.standard_measures`), their names
        preceded by ``scib_``: of the map, in further columns of a t-SNE map of the same data and of
        the data, and of what a mapping holds. Needs ``labels`` and ``other``.

    Returns
    -------
    pandas.DataFrame
        One row per measure: ``measure``; ``label``, the name of the column it is about (or "label"
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
    pd = load("pandas")
    positions = check_features(embedding, argument="embedding")
    n = len(positions)
    k = check_k(k, n=n)
    known, columns = (None, None) if labels is None else neighbors.read_labels(labels, n)
    hidden = None if other is None else encode_labels(other, n=n, argument="other")
    if standard is not False and (known is None or hidden is None or hidden.n_columns > 1):
        what = "standard=True needs labels and one column of other: the label factored out"
        how = "such as the batch, and the label to look for, such as the cell type"
        raise ValueError(f"{what}, {how}")
    if data is None:
        matrix = check_data(X)
        neighbors.check_same_points(matrix.shape[0], n)
        data = neighbors.data_neighbors(
            matrix,
            columns,
            k=k,
            metric=metric,
            pca=pca,
            align=align,
            sample=sample,
            random_state=random_state,
            n_jobs=n_jobs,
        )
    check_kind(data, DataNeighbors, "data")
    if not np.array_equal(_codes(data.labels), _codes(known)):
        raise ValueError("data must have been searched with the same labels")
    data = replace(data, columns=columns)
    label = None if columns is None else JOINT.join(columns.names)
    by_label: dict[Any, Column | None] = {label: known, **_several(columns)}
    points = len(data.points)
    rows: list[tuple[object, ...]] = []
    for name, value in measure_map(positions, data, other=hidden, k=k, n_jobs=n_jobs).items():
        measure, of_label = split_measure(name)
        if hidden is not None and measure.startswith("other_"):
            measure = measure.removeprefix("other_")
            of_label = of_label or hidden.names[0]
            column: Column | None = hidden.by_name[of_label]
            of_label = "other" if hidden.names == (UNNAMED,) else of_label
        else:
            of_label = of_label or label
            column = by_label[of_label]
        expected = _EXPECTED.get(measure, np.nan)
        if measure == "laplacian":
            expected = expected_laplacian(column)
        about = None if measure == "rnx" else of_label
        rows.append((measure, about, k, value, expected, points))
    drawn = sample_points(points, _RANKED_POINTS, random_state)
    area = float("nan")
    if data.complete and data.features is not None:
        ranked = replace(data, points=data.points[drawn])
        area = rnx_area(positions, ranked, n_jobs)
    name = "rnx_area" if known is None else "adjusted_rnx_area"
    rows.append((name, label, n - 2, area, 0.0, len(drawn)))
    table = pd.DataFrame(rows, columns=_COLUMNS).astype({"k": "Int64"})
    if standard is False or known is None or hidden is None:
        return table
    tsne = tsne_map(X, data, n_jobs)
    plain = list(measure_map(tsne, data, other=hidden, k=k, n_jobs=n_jobs).values())
    table["tsne"] = plain + [np.nan] * (len(table) - len(plain))
    maps = {"value": positions, "tsne": tsne, "data": representation(X, data)}
    more = standard if isinstance(standard, Mapping) else {}
    scores = standard_table({**maps, **more}, known, hidden.combined, n_jobs)
    named = "other" if hidden.names == (UNNAMED,) else hidden.names[0]
    scores["label"] = scores["label"].map({"labels": label, "other": named})
    return pd.concat([table, scores], ignore_index=True).astype({"k": "Int64"})


def _codes(labels: Column | None) -> NDArray[np.int32]:
    return np.empty(0, np.int32) if labels is None else labels.codes


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
    >>> neighbors = find_neighbors([[0.0], [1.0], [2.0]], lengths=2)
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
