"""``fit_sample``: a model of some rows of a collection, with enough of every label."""

from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import clone

from ctsne._core.checks import check_count, is_sparse
from ctsne._core.messages import label_text, load, shown
from ctsne.distributed.cluster import all_results, opened_client
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
from ctsne.labels import encode_column

_MOST_SEED = 2**32 - 1
# A label keeps this many points if it has them: as many as fill its neighbours at perplexities up
# to some hundred. With many labels it is less, so that half of the sample stays proportional.
MOST_KEPT = 500

# A stratum: the values of its rows in every column as text; None where they are missing.
Stratum = tuple[str | None, ...]
# The strata of some rows, and the place of each row's stratum in this list.
Strata = tuple[list[Stratum], NDArray[np.int32]]
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
        Rows are points. Paths may contain wildcards, and name .parquet or .h5ad files, all read
        like the first one. The features are chosen as the command line does: of a table, its
        numeric columns that are neither labels nor strata. ``dask.array.from_zarr`` opens zarr.
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
    client : distributed.Client or str, optional
        As in :func:`place`.

    Returns
    -------
    ConditionalTSNE
        A fitted copy of the estimator.

    Examples
    --------
    >>> import dask.array
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
        sample = take_sample(found, read_strata(found, strata, cluster), n, seed, cluster)
    known = {name: sample.columns[name] for name in found.labels}
    return model.fit(with_names(sample), labels=known or None)


def with_names(data: Dataset) -> Any:
    """Return the matrix of a table with the names of its columns, which a model keeps."""
    if data.source.kind != "table":
        return data.X
    return load("pandas").DataFrame(data.X, columns=list(data.features))


def read_strata(found: Collection, columns: tuple[str, ...], client: Any) -> list[Strata]:
    """Return the strata of each shard, and which of them each of its rows belongs to."""
    read = load("dask", extra="dask").delayed(_strata, pure=False)
    tasks = [read(shard.counted, found.choice, columns, shard.name) for shard in found.shards]
    return all_results(client, tasks, [shard.name for shard in found.shards])


def take_sample(
    found: Collection,
    strata: Sequence[Strata],
    n: int,
    seed: int,
    client: Any,
    only: Set[Stratum] | None = None,
) -> Dataset:
    """Return a sample of the rows, perhaps only of some strata, in the order of the collection."""
    take = load("dask", extra="dask").delayed(_take, pure=False)
    # Sorted, so that the draw does not depend on the order in which strata appear.
    every = {key for own, _ in strata for key in own} if only is None else only
    number = {key: code for code, key in enumerate(sorted(every, key=lambda x: [*map(str, x)]))}
    parts = [np.array([number.get(x, -1) for x in own], np.int32)[codes] for own, codes in strata]
    codes = np.concatenate(parts)
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes + 1, minlength=len(number) + 1)
    starts, drawn = np.cumsum(counts)[:-1], draw(counts[1:], n, seed)
    own_rows = [order[start + own] for start, own in zip(starts, drawn, strict=True)]
    rows, ends = np.sort(np.concatenate(own_rows)), np.cumsum([len(part) for part in parts])
    wanted = np.split(rows, np.searchsorted(rows, ends[:-1]))
    some = [
        (shard, own - (end - len(part)))
        for shard, own, end, part in zip(found.shards, wanted, ends, parts, strict=True)
        if len(own)
    ]
    tasks = [take(shard.content, found.choice, own, shard.name) for shard, own in some]
    return _joined(all_results(client, tasks, [shard.name for shard, _ in some]))


def _strata(content: Any, choice: Choice, columns: tuple[str, ...], name: str) -> Strata:
    """Return the strata of a shard, and that of each row by its place; runs on a worker."""
    numbers: dict[Stratum, int] = {}
    parts = [np.empty(0, np.int32)]
    with name_errors(name):
        for block in shard_blocks(content, replace(choice, features=())):  # labels are enough
            keys, codes = strata_of([block.columns[own] for own in columns], block.X.shape[0])
            own = [numbers.setdefault(key, len(numbers)) for key in keys]
            parts.append(np.array(own, np.int32)[codes])
    return list(numbers), np.concatenate(parts)


def _take(content: Any, choice: Choice, rows: _Rows, name: str) -> Dataset:
    parts, first = [], 0
    with name_errors(name):
        for block in shard_blocks(content, choice):
            last = first + block.X.shape[0]
            parts.append(block.take(rows[(rows >= first) & (rows < last)] - first))
            first = last
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
    """Return how many rows of each stratum a sample of n takes: a share, but never few."""
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
