"""All measures of one map in one table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne._core.checks import check_features
from ctsne.affinity.result import Diagnostics
from ctsne.evaluate._inputs import check_k, sample_points
from ctsne.evaluate.accuracy import knn_accuracy
from ctsne.evaluate.diagnostics import summarize_diagnostics
from ctsne.evaluate.jaccard import adjusted_jaccard
from ctsne.evaluate.laplacian import expected_laplacian, laplacian
from ctsne.evaluate.lisi import expected_lisi, lisi
from ctsne.evaluate.neighborhoods import DataNeighbors, MapNeighbors, data_neighbors, search_map
from ctsne.evaluate.rnx import adjusted_rnx, ranked_curve
from ctsne.evaluate.trust import trustworthiness
from ctsne.labels import Labels, encode_labels
from ctsne.neighbors.lists import available

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["evaluate"]

# Whole rankings are made for this many points at most. The spread of these measures between points
# is some .1 to .2, so their standard error is below .01.
_RANKED_POINTS = 500
_LISI_PERPLEXITY = 30.0


class Row(NamedTuple):
    """One measure of a map, a row of the table."""

    measure: str
    label: str | None
    k: int | None
    value: float
    expected: float
    points: int


def evaluate(
    embedding: ArrayLike,
    X: ArrayLike,
    labels: object = None,
    *,
    other: object = None,
    k: int = 30,
    sample: float | None = None,
    random_state: int | None = 0,
    diagnostics: Diagnostics | None = None,
    data: DataNeighbors | None = None,
    n_jobs: int = -1,
) -> pd.DataFrame:
    """Measure a map: what it keeps of the data, and how it mixes labels.

    Parameters
    ----------
    embedding : array-like of shape (n, d')
        Positions in the map.
    X : array-like of shape (n, d)
        The data.
    labels : array-like of shape (n,), optional
        The label that was factored out, and that neighbourhoods are adjusted for.
    other : array-like of shape (n,), optional
        The label that should be seen in the map.
    k : int, default=30
        Neighbourhood size, from 1 to n - 2.
    sample : int or float, optional
        Measure this many points (or this share of them) only; their neighbours are still searched
        among all points.
    random_state : int or None, default=0
        Chooses the sample.
    diagnostics : Diagnostics, optional
        Those of the estimator, to be summarised too.
    data : DataNeighbors, optional
        Neighbours in the data with the labels, ``k`` at least, from
        :func:`ctsne.evaluate.data_neighbors`, to measure many maps with one search. They also
        choose the sample.
    n_jobs : int, default=-1
        Number of threads; -1 uses all.

    Returns
    -------
    pandas.DataFrame
        One row for each measure: ``measure``; ``label``, the name of the column it is about (or
        "labels" and "other"), if it is about one; ``k``; ``value``; ``expected``, what a random
        map or random labels give, where that is known; ``points``, how many were measured. The
        area under the R_NX curve and trustworthiness need whole rankings and are measured at
        500 points at most.

    Raises
    ------
    ImportError
        If pandas is not installed.

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
    features = check_features(X)
    n = len(positions)
    if len(features) != n:
        raise ValueError(f"X and embedding must be of the same points, got {len(features)} and {n}")
    k = check_k(k, n=n)
    known = None if labels is None else encode_labels(labels, n=n)
    hidden = None if other is None else encode_labels(other, n=n, argument="other")
    if data is None:
        data = data_neighbors(
            features, known, k=k, sample=sample, random_state=random_state, n_jobs=n_jobs
        )
    else:
        _check_data(data, known, n, k, sample)
    found = found_for_rows(positions, data.points, k, n_jobs)
    known_name, hidden_name = _name(labels, "labels"), _name(other, "other")
    rows = map_rows(found, data, hidden, k=k, names=(known_name, hidden_name))
    rows += _ranked(positions, features, known, known_name, _few(found, random_state), k, n_jobs)
    if diagnostics is not None:
        rows += _similarities(diagnostics, known, known_name)
    return pd.DataFrame(rows, columns=Row._fields).astype({"k": "Int64"})


def found_for_rows(
    positions: NDArray[np.floating], points: NDArray[np.int64], k: int, n_jobs: int
) -> MapNeighbors:
    """Find as many neighbours in the map as :func:`map_rows` needs."""
    size = round(3 * _lisi_perplexity(len(positions)))
    return search_map(positions, points, max(k, size), n_jobs)


def map_rows(
    found: MapNeighbors,
    data: DataNeighbors,
    hidden: Labels | None,
    *,
    k: int,
    names: tuple[str, str] = ("labels", "other"),
) -> list[Row]:
    """Rows on neighbourhoods: what the map keeps of them, and how it mixes both labels.

    The label factored out is that of the data's neighbourhoods.
    """
    perplexity = _lisi_perplexity(found.n)
    rows = _kept(found, data, names[0], k)
    if data.labels is not None:
        rows += _mixed(found, data.labels, names[0], "ilisi", k, perplexity)
    if hidden is not None:
        rows += _mixed(found, hidden, names[1], "clisi", k, perplexity)
        accuracy = knn_accuracy(found, hidden, k=k)
        rows.append(Row("knn_accuracy", names[1], k, accuracy, np.nan, len(found.points)))
    return rows


def _lisi_perplexity(n: int) -> float:
    return min(_LISI_PERPLEXITY, (n - 2) / 3)


def _check_data(data: DataNeighbors, known: Labels | None, n: int, k: int, sample: object) -> None:
    if sample is not None:
        raise TypeError("sample was chosen when the neighbours in data were searched")
    if data.n != n or data.k < k:
        raise ValueError(
            f"data must hold {k} neighbours among {n} points, got {data.k} among {data.n}"
        )
    codes = [np.empty(0) if each is None else each.codes for each in (data.labels, known)]
    if not np.array_equal(codes[0], codes[1]):
        raise ValueError("data must have been searched with the same labels")


def _name(column: object, default: str) -> str:
    """Return the name that a column of a data frame has."""
    name = getattr(column, "name", None)
    return name if isinstance(name, str) and name else default


def _few(found: MapNeighbors, random_state: object) -> MapNeighbors:
    """Draw so many of the points that they can be ranked."""
    m = len(found.points)
    rows = sample_points(m, min(m, _RANKED_POINTS), random_state)
    return replace(
        found,
        points=found.points[rows],
        indices=found.indices[rows],
        distances=found.distances[rows],
    )


def _kept(found: MapNeighbors, data: DataNeighbors, name: str, k: int) -> list[Row]:
    """Rows on neighbours in the data that the map keeps."""
    m = len(found.points)
    usual = data if data.labels is None else data.without_labels()
    rows = [Row("rnx", None, k, adjusted_rnx(found, usual, k=k), 0.0, m)]
    if data.labels is not None:
        jaccard = adjusted_jaccard(found, data, k=k)
        rows += [
            Row("adjusted_rnx", name, k, adjusted_rnx(found, data, k=k), 0.0, m),
            Row("adjusted_jaccard", name, k, jaccard, np.nan, m),
        ]
    return rows


def _ranked(
    positions: NDArray[np.floating],
    features: NDArray[np.floating],
    labels: Labels | None,
    name: str,
    few: MapNeighbors,
    k: int,
    n_jobs: int,
) -> list[Row]:
    """Rows on whole rankings."""
    m, largest = len(few.points), len(positions) - 2
    curve = ranked_curve(
        positions, features, labels, few.points, np.array([largest]), n_jobs=n_jobs
    )
    area = float(curve.area)
    rows = [
        Row("rnx_area", None, largest, area, 0.0, m)
        if labels is None
        else Row("adjusted_rnx_area", name, largest, area, 0.0, m)
    ]
    if 2 * k < few.n:  # it is not defined for larger neighbourhoods
        trust = trustworthiness(few, features, k=k, n_jobs=n_jobs)
        rows.append(Row("trustworthiness", None, k, trust, np.nan, m))
    return rows


def _mixed(
    found: MapNeighbors, labels: Labels, name: str, index: str, k: int, perplexity: float
) -> list[Row]:
    """Rows on how the map mixes a label."""
    m, size = len(found.points), round(3 * perplexity)
    mixed = laplacian(found, labels, k=k)
    rows = [Row("laplacian", name, k, mixed, expected_laplacian(labels), m)]
    if perplexity >= 1:  # fewer than five points have no such neighbourhood
        value = lisi(found, labels, perplexity=perplexity)
        rows.append(Row(index, name, size, value, expected_lisi(labels), m))
    return rows


def _similarities(diagnostics: Diagnostics, labels: Labels | None, name: str) -> list[Row]:
    """Rows on the similarities in the data."""
    n = len(diagnostics.perplexity)
    random_share = float(available(labels, n)[1].mean() / (n - 1))
    return [
        Row(measure, name, None, value, random_share, n)
        if measure == "other_share_mean"
        else Row(measure, None, None, value, np.nan, n)
        for measure, value in summarize_diagnostics(diagnostics).items()
    ]
