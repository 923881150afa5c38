"""``fit_sample``: a model of some rows of a collection, with enough of every label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import clone

from ctsne._core.checks import check_count, is_sparse
from ctsne._core.messages import label_text, shown
from ctsne.distributed.cluster import opened_client, run_tasks, why_failed
from ctsne.distributed.collection import (
    Choice,
    Collection,
    check_column_names,
    name_errors,
    open_collection,
    shard_blocks,
)
from ctsne.estimator import ConditionalTSNE
from ctsne.io import Dataset
from ctsne.io.paths import load
from ctsne.labels import encode_column

_MOST_SEED = 2**32 - 1
# A label keeps this many points if it has them: as many as fill its neighbours at perplexities up
# to some hundred. With many labels it is less, so that half of the sample stays proportional.
MOST_KEPT = 500

# A stratum: the values of its rows in every column as text; None where they are missing.
Stratum = tuple[str | None, ...]
_Rows = NDArray[np.int64]


def fit_sample(
    collection: Any,
    n: int = 200_000,
    *,
    labels: Any = None,
    stratify: Any = None,
    use_rep: str | None = None,
    estimator: ConditionalTSNE | None = None,
    random_state: int = 0,
    client: Any = None,
) -> ConditionalTSNE:
    """Fit a model to a sample of a collection that does not fit in memory.

    The sample takes the same share of every label, but at least 500 points of each (less where
    there are many labels, so that half of the sample stays proportional). It depends on
    ``random_state`` and the collection, not on the cluster. The workers read the label columns
    once to count, and the shards once to take the rows; the model is fitted in this process.

    Parameters
    ----------
    collection : Dask array, Dask data frame, or path or list of paths
        Rows are points. Paths may contain wildcards, and name .parquet or .h5ad files, or .zarr
        stores that are a matrix or hold one as ``X`` with arrays of labels. The features are chosen
        as the command line does: of a table, its numeric columns that are neither labels nor
        strata. All files are read like the first one.
    n : int, default=200_000
        Size of the sample.
    labels : str, list of str, or array, optional
        The labels to factor out: names of columns; for a Dask array, an array of labels (Dask or
        NumPy, one column or several) or a mapping of names to such arrays.
    stratify : str or list of str, optional
        The columns of which all values keep enough points; by default the labels.
    use_rep : str, optional
        For .h5ad files, a key in ``obsm``, or "X" for all genes. By default ``obsm["X_pca"]`` if
        the first file has it, else the highly variable genes that it marks, else all genes.
    estimator : ConditionalTSNE, optional
        The model to fit, which stays as it is; by default ``ConditionalTSNE(random_state=0)``.
    random_state : int, default=0
        Seed of the sample.
    client : distributed.Client, optional
        By default the current client of Dask if there is one, else a local cluster with one worker
        process per core, closed at the end.

    Returns
    -------
    ConditionalTSNE
        A fitted copy of the estimator.

    Examples
    --------
    >>> import dask.array
    >>> from ctsne import ConditionalTSNE
    >>> from ctsne.datasets import make_synthetic
    >>> from ctsne.distributed import fit_sample
    >>> data = make_synthetic(2000, random_state=0)
    >>> X = dask.array.from_array(data.X, chunks=(500, -1))
    >>> small = ConditionalTSNE(n_iter=100, random_state=0)
    >>> fit_sample(X, 300, labels=data.known, estimator=small).embedding_.shape  # doctest: +SKIP
    (300, 2)
    """
    n = check_count(n, "n", low=4)
    seed = check_count(random_state, "random_state", low=0, high=_MOST_SEED)
    if estimator is not None and not isinstance(estimator, ConditionalTSNE):
        raise TypeError(f"estimator must be a ConditionalTSNE, got {shown(estimator)}")
    strata = check_column_names(stratify, "stratify")
    model = ConditionalTSNE(random_state=0) if estimator is None else clone(estimator)
    with opened_client(client) as cluster:
        found = open_collection(collection, cluster, labels=labels, strata=strata, use_rep=use_rep)
        strata = strata or found.labels
        counts = count_rows(found, strata, cluster)
        sample = take_sample(found, counts, n, strata, seed, cluster)
    known = {name: sample.columns[name] for name in found.labels}
    return model.fit(with_names(sample), labels=known or None)


def with_names(data: Dataset) -> Any:
    """Return the matrix of a table with the names of its columns, which a model keeps."""
    if data.source.kind != "table":
        return data.X
    return load("pandas").DataFrame(data.X, columns=list(data.features))


def count_rows(found: Collection, strata: tuple[str, ...], client: Any) -> list[dict[Stratum, int]]:
    """Return how many rows each shard has of every stratum."""
    count = load("dask", extra="dask").delayed(_count, pure=False)
    tasks = [count(shard.counted, found.choice, strata, shard.name) for shard in found.shards]
    return _all_results(client, tasks, [shard.name for shard in found.shards])


def take_sample(
    found: Collection,
    counts: list[dict[Stratum, int]],
    n: int,
    strata: tuple[str, ...],
    seed: int,
    client: Any,
) -> Dataset:
    """Return a sample of the rows that are counted, in the order of the collection."""
    take = load("dask", extra="dask").delayed(_take, pure=False)
    wanted = zip(found.shards, _wanted(counts, n, seed), strict=True)
    some = [(shard, own) for shard, own in wanted if own]
    tasks = [take(shard.content, found.choice, strata, own, shard.name) for shard, own in some]
    return _joined(_all_results(client, tasks, [shard.name for shard, _ in some]))


def _all_results(client: Any, tasks: list[Any], names: list[str]) -> list[Any]:
    """Return all results in the order of the tasks; raise the first error."""
    results: dict[int, Any] = {}
    for number, result in run_tasks(client, tasks):
        if isinstance(result, ImportError | MemoryError | OSError | TypeError | ValueError):
            raise result
        if isinstance(result, Exception):
            raise ValueError(f"{names[number]}: {why_failed(result)}") from result
        results[number] = result
    return [results[number] for number in range(len(tasks))]


def _wanted(counts: list[dict[Stratum, int]], n: int, seed: int) -> list[dict[Stratum, _Rows]]:
    """Return, for every shard, the rows to take of each stratum by their number in it there."""
    # Sorted, so that the draw does not depend on the order in which strata appear.
    keys = sorted({key for own in counts for key in own}, key=lambda key: [*map(str, key)])
    table = np.array([[own.get(key, 0) for key in keys] for own in counts], np.int64)
    chosen = draw(table.sum(axis=0), n, seed)
    starts = np.cumsum(table, axis=0) - table
    wanted: list[dict[Stratum, _Rows]] = [{} for _ in counts]
    for place, (key, rows) in enumerate(zip(keys, chosen, strict=True)):
        shards = np.searchsorted(starts[:, place] + table[:, place], rows, side="right")
        for shard in np.unique(shards).tolist():
            wanted[shard][key] = rows[shards == shard] - starts[shard, place]
    return wanted


def _count(content: Any, choice: Choice, strata: tuple[str, ...], name: str) -> dict[Stratum, int]:
    """Count the rows of each stratum in a shard; runs on a worker."""
    counts: dict[Stratum, int] = {}
    only = replace(choice, features=())  # the labels are enough
    with name_errors(name):
        for block in shard_blocks(content, only):
            keys, codes = strata_of([block.columns[column] for column in strata], block.X.shape[0])
            for key, number in zip(keys, np.bincount(codes).tolist(), strict=True):
                counts[key] = counts.get(key, 0) + number
    return counts


def _take(
    content: Any,
    choice: Choice,
    strata: tuple[str, ...],
    wanted: dict[Stratum, _Rows],
    name: str,
) -> Dataset:
    """Return the wanted rows of a shard; runs on a worker."""
    seen: dict[Stratum, int] = {}
    parts: list[Dataset] = []
    with name_errors(name):
        for block in shard_blocks(content, choice):
            keys, codes = strata_of([block.columns[column] for column in strata], block.X.shape[0])
            order = np.argsort(codes, kind="stable")
            ends = np.cumsum(np.bincount(codes, minlength=len(keys)))
            rows = []
            for key, begin, end in zip(keys, (0, *ends[:-1]), ends, strict=True):
                first = seen.get(key, 0)
                seen[key] = first + int(end - begin)
                own = wanted.get(key, np.empty(0, np.int64))
                here = own[(own >= first) & (own < seen[key])] - first
                rows.append(order[begin:end][here])
            parts.append(block.take(np.sort(np.concatenate(rows))))
    return _joined(parts)


def _joined(parts: Sequence[Dataset]) -> Dataset:
    """Return several blocks as one, without the names of rows."""

    def concatenate(values: list[Any]) -> Any:
        if hasattr(values[0], "iloc"):
            return load("pandas").concat(values, ignore_index=True)
        sparse = is_sparse(values[0])
        return scipy.sparse.vstack(values, format="csr") if sparse else np.concatenate(values)

    names = parts[0].columns
    columns = {name: concatenate([part.columns[name] for part in parts]) for name in names}
    X = concatenate([part.X for part in parts])
    return replace(parts[0], X=X, columns=columns, names=None)


# Strata


def strata_of(columns: Sequence[Any], n: int) -> tuple[list[Stratum], NDArray[np.intp]]:
    """Return the strata that occur in some rows, and that of each row by its place in the list."""
    if not columns:
        return [()], np.zeros(n, np.intp)
    encoded = [encode_column(column, n=n) for column in columns]
    codes = np.stack([column.codes for column in encoded], axis=1)
    found, inverse = np.unique(codes, axis=0, return_inverse=True)
    texts = [[*map(label_text, column.names), None] for column in encoded]  # the last is missing
    keys = [tuple(own[code] for own, code in zip(texts, row, strict=True)) for row in found]
    return keys, inverse.reshape(-1)


def allocate(counts: _Rows, n: int) -> _Rows:
    """Return how many rows of each stratum a sample of n takes: a share, but never very few.

    Every stratum has the same share of its rows, except those that would fall below the smallest
    number kept; all of them together have n rows.
    """
    if counts.sum() <= n:
        return counts
    least = np.minimum(counts, min(MOST_KEPT, n // (2 * len(counts))))
    order = np.argsort(counts, kind="stable")
    # With the k smallest strata at their least, the others share what is left. The first k at
    # which none of those falls below its least is the solution.
    kept = np.concatenate([[0], np.cumsum(least[order])[:-1]])
    rest = np.cumsum(counts[order][::-1])[::-1]
    share = (n - kept) / rest
    k = int(np.argmax(share * counts[order] >= least[order]))
    wanted = np.maximum(least, share[k] * counts)
    taken: _Rows = np.floor(wanted).astype(np.int64)
    # Fractions are rounded so that the sum is n: up for the largest ones.
    up = np.argsort(taken - wanted, kind="stable")[: n - int(taken.sum())]
    taken[up] += 1
    return taken


def draw(counts: _Rows, n: int, seed: int) -> list[_Rows]:
    """Return the rows that a sample takes of each stratum, by their number in it, sorted."""
    rng = np.random.default_rng(seed)
    return [
        np.sort(rng.choice(count, taken, replace=False, shuffle=False))
        for count, taken in zip(counts.tolist(), allocate(counts, n).tolist(), strict=True)
    ]
