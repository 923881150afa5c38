"""The conditioned similarities as a neighbours entry of scanpy, to cluster on."""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ctsne.io.anndata import GRAPH_MARK, graph_fields, is_our_graph

# Entries of a graph that are sorted at once.
_ENTRIES_AT_ONCE = 2**22


def write_graph(target: Any, key: str, model: Any, params: dict[str, Any]) -> None:
    """Write the similarities of a fitted estimator as ``uns[key + "_neighbors"]``."""
    names = graph_fields(key)
    connectivities = scaled_similarities(model.affinities_)
    distances = strongest_as_distances(connectivities, ceil(model.perplexity))
    about: dict[str, Any] = {
        # scanpy counts the cell itself as one of its neighbours.
        "n_neighbors": int(np.diff(distances.indptr).max()) + 1,
        "method": "ctsne",
        "metric": "euclidean" if model.metric == "precomputed" else model.metric,
    }
    if isinstance(model.random_state, int | np.integer):
        about["random_state"] = int(model.random_state)
    # Without these, scanpy looks for a representation itself. It knows nothing of layers.
    about |= {name: params[name] for name in ("use_rep", "n_pcs") if name in params}
    target.obsp[names.connectivities] = sp.csr_matrix(connectivities)
    target.obsp[names.distances] = sp.csr_matrix(distances)
    target.uns[names.entry] = {
        "connectivities_key": names.connectivities,
        "distances_key": names.distances,
        "params": about,
        GRAPH_MARK: key,
    }


def taken_by_graph(adata: Any, key: str) -> list[str]:
    """Name what :func:`write_graph` would replace, unless an earlier map left it there."""
    names = graph_fields(key)
    if is_our_graph(adata.uns.get(names.entry)):
        return []
    places = [("uns", names.entry), ("obsp", names.connectivities), ("obsp", names.distances)]
    return [f'adata.{part}["{name}"]' for part, name in places if name in getattr(adata, part)]


def remove_graph(target: Any, key: str) -> None:
    """Remove the graph of an earlier map; one of another program is kept."""
    names = graph_fields(key)
    if is_our_graph(target.uns.get(names.entry)):
        del target.uns[names.entry]
        for name in (names.connectivities, names.distances):
            target.obsp.pop(name, None)


def scaled_similarities(affinities: sp.csr_array) -> sp.csr_array:
    """Divide similarities by the geometric mean of the largest of both points: at most 1.

    Clustering and UMAP expect a weight of about 1 between a cell and its nearest neighbour. A
    common factor would leave most weights small, because of a few pairs of near duplicates.
    """
    starts, columns = affinities.indptr, affinities.indices
    # No row is empty: each is the mean of a row that sums to one and of others.
    roots = np.sqrt(np.maximum.reduceat(affinities.data, starts[:-1]))
    values = np.empty_like(affinities.data)
    for begin, end in _blocks(starts):
        part = slice(starts[begin], starts[end])
        own = np.repeat(roots[begin:end], np.diff(starts[begin : end + 1]))
        values[part] = np.minimum(affinities.data[part] / (own * roots[columns[part]]), 1)
    return sp.csr_array((values, columns, starts), shape=affinities.shape)


def strongest_as_distances(connectivities: sp.csr_array, k: int) -> sp.csr_array:
    """Return the k strongest connections of each point, as distances of at least 1.

    A connection ``c`` gets the distance ``sqrt(1 - 2 log c)``, so the nearest neighbours are those
    of the conditioned graph. Distances between features would prefer the same label again.
    """
    starts = connectivities.indptr
    columns, values = [], []
    for begin, end in _blocks(starts):
        part, sizes = slice(starts[begin], starts[end]), np.diff(starts[begin : end + 1])
        weights, near = connectivities.data[part], connectivities.indices[part]
        rows = np.repeat(np.arange(len(sizes)), sizes)
        order = np.lexsort((near, -weights, rows))  # by row, then from strong to weak
        rank = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        kept = np.sort(order[rank < k])  # columns of a row stay in order
        columns.append(near[kept])
        values.append(np.sqrt(1 - 2 * np.log(weights[kept])))
    ends = np.concatenate([[0], np.cumsum(np.minimum(np.diff(starts), k))]).astype(starts.dtype)
    found = (np.concatenate(values), np.concatenate(columns), ends)
    return sp.csr_array(found, shape=connectivities.shape)


def _blocks(starts: NDArray[np.integer]) -> list[tuple[int, int]]:
    """Cut rows into ranges of about equally many entries, to bound the memory of each."""
    wanted = np.arange(0, int(starts[-1]), _ENTRIES_AT_ONCE)
    cuts = np.unique(np.append(np.searchsorted(starts[:-1], wanted), len(starts) - 1))
    return [(int(begin), int(end)) for begin, end in pairwise(cuts)]
