"""``fit_sample``: a model of some rows of a collection, with enough of every label."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import check_count
from ctsne._core.messages import shown
from ctsne.distributed.blocks import Block, Choice, joined, named, read_blocks
from ctsne.distributed.cluster import load_dask, opened_client, run_tasks, why_failed
from ctsne.distributed.collection import Collection, column_names, open_collection
from ctsne.distributed.strata import Key, draw, strata_of

if TYPE_CHECKING:
    from ctsne.estimator import ConditionalTSNE

_MOST_SEED = 2**32 - 1


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
        Rows are points. Paths may contain wildcards, and name .parquet, .feather, .h5ad, .npy or
        .npz files, or .zarr stores that are a matrix or hold one as ``X`` with arrays of labels.
        The features of a table are its numeric columns that are neither labels nor strata.
    n : int, default=200_000
        Size of the sample.
    labels : str, list of str, or array, optional
        The labels to factor out: names of columns; for a Dask array, an array of labels (Dask or
        NumPy, one column or several) or a mapping of names to such arrays.
    stratify : str or list of str, optional
        The columns of which all values keep enough points; by default the labels.
    use_rep : str, optional
        For .h5ad files, a key in ``obsm``, or "X" for all genes. By default ``obsm["X_pca"]`` if
        the first file has it, else "X".
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
    from sklearn.base import clone

    from ctsne.estimator import ConditionalTSNE

    n = check_count(n, "n", low=4)
    seed = check_count(random_state, "random_state", low=0, high=_MOST_SEED)
    if estimator is not None and not isinstance(estimator, ConditionalTSNE):
        raise TypeError(f"estimator must be a ConditionalTSNE, got {shown(estimator)}")
    strata = column_names(stratify, "stratify")
    model = ConditionalTSNE(random_state=0) if estimator is None else clone(estimator)
    with opened_client(client) as cluster:
        found = open_collection(collection, cluster, labels=labels, more=strata, use_rep=use_rep)
        strata = strata or found.labels
        counts = count_rows(found, strata, cluster)
        sample = take_sample(found, counts, n, strata, seed, cluster)
    known = {name: sample.columns[name] for name in found.labels}
    return model.fit(sample.X, labels=known if len(known) > 1 else next(iter(known.values()), None))


def count_rows(found: Collection, strata: tuple[str, ...], client: Any) -> list[dict[Key, int]]:
    """Return how many rows each shard has of every stratum."""
    count = load_dask("dask").delayed(_count, pure=False)
    tasks = [count(shard.counted, found.choice, strata, shard.name) for shard in found.shards]
    return _all(client, tasks, [shard.name for shard in found.shards])


def take_sample(
    found: Collection,
    counts: list[dict[Key, int]],
    n: int,
    strata: tuple[str, ...],
    seed: int,
    client: Any,
) -> Block:
    """Return a sample of the rows that are counted, in the order of the collection."""
    take = load_dask("dask").delayed(_take, pure=False)
    wanted = zip(found.shards, _wanted(counts, n, seed), strict=True)
    some = [(shard, own) for shard, own in wanted if own]
    tasks = [take(shard.content, found.choice, strata, own, shard.name) for shard, own in some]
    return joined(_all(client, tasks, [shard.name for shard, _ in some]))


def _all(client: Any, tasks: list[Any], names: list[str]) -> list[Any]:
    """Return all results in the order of the tasks; raise the first error."""
    results: dict[int, Any] = {}
    for number, result in run_tasks(client, tasks):
        if isinstance(result, ImportError | MemoryError | OSError | TypeError | ValueError):
            raise result
        if isinstance(result, Exception):
            raise ValueError(f"{names[number]}: {why_failed(result)}") from result
        results[number] = result
    return [results[number] for number in range(len(tasks))]


def _wanted(counts: list[dict[Key, int]], n: int, seed: int) -> list[dict[Key, NDArray[np.int64]]]:
    """Return, for every shard, the rows to take of each stratum by their number in it there."""
    # Sorted, so that the draw does not depend on the order in which strata appear.
    keys = sorted({key for each in counts for key in each}, key=lambda key: [*map(str, key)])
    table = np.array([[each.get(key, 0) for key in keys] for each in counts], np.int64)
    chosen = draw(table.sum(axis=0), n, seed)
    starts = np.cumsum(table, axis=0) - table
    wanted: list[dict[Key, NDArray[np.int64]]] = [{} for _ in counts]
    for place, (key, rows) in enumerate(zip(keys, chosen, strict=True)):
        shards = np.searchsorted(starts[:, place] + table[:, place], rows, side="right")
        for shard in np.unique(shards).tolist():
            wanted[shard][key] = rows[shards == shard] - starts[shard, place]
    return wanted


def _count(content: Any, choice: Choice, strata: tuple[str, ...], name: str) -> dict[Key, int]:
    """Count the rows of each stratum in a shard; runs on a worker."""
    counts: dict[Key, int] = {}
    only = replace(choice, features=())  # the labels are enough
    with named(name):
        for block in read_blocks(content, only):
            keys, codes = strata_of([block.columns[each] for each in strata], len(block))
            for key, number in zip(keys, np.bincount(codes).tolist(), strict=True):
                counts[key] = counts.get(key, 0) + number
    return counts


def _take(
    content: Any,
    choice: Choice,
    strata: tuple[str, ...],
    wanted: dict[Key, NDArray[np.int64]],
    name: str,
) -> Block:
    """Return the wanted rows of a shard; runs on a worker."""
    seen: dict[Key, int] = {}
    parts: list[Block] = []
    with named(name):
        for block in read_blocks(content, choice):
            keys, codes = strata_of([block.columns[each] for each in strata], len(block))
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
    return joined(parts)
