"""What a page takes from the data of its maps: informative features, and nearest neighbours."""

import contextlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import check_jobs, is_sparse
from ctsne._core.components import check_components, projected_features
from ctsne.estimator import ConditionalTSNE, kept_points
from ctsne.evaluate.places import most_informative, row_blocks, variance_by_place
from ctsne.neighbors import find_neighbors, read_neighbors
from ctsne.sweep import SweepResult

# As many points as browsers draw at once.
MOST_POINTS = 500_000
# Features that a page has by default, and the bytes that they may take in the file.
MOST_INFORMATIVE, MOST_FEATURE_BYTES = 200, 24_000_000
# Neighbours in the data of each point, up to this many points: 54 bytes each in the file.
NEIGHBORS, MOST_JOINED = 10, 100_000
# Share of the true neighbours that is found among many points.
_RECALL = 0.99


def feature_size(n: int) -> int:
    """Return the bytes that a feature of n points takes in the file."""
    return 4 * -(-min(n, MOST_POINTS) // 3)


def feature_room(n: int, most_bytes: int = MOST_FEATURE_BYTES) -> int:
    """Return how many features of n points a page has by default."""
    return min(MOST_INFORMATIVE, most_bytes // feature_size(n))


def first_map(
    result: SweepResult | ConditionalTSNE, mixing: float | Mapping[str, float]
) -> NDArray[np.float32] | None:
    """Return the map that a page shows first: of a sweep the suggested one, if there is one."""
    if isinstance(result, ConditionalTSNE):
        return np.asarray(result.embedding_)
    finished = [swept.embedding for swept in result.maps if swept.embedding is not None]
    with contextlib.suppress(ValueError):  # mixing cannot be measured
        return result.suggest(mixing).map.embedding
    return finished[0] if finished else None


def informative(adata: Any, embedding: NDArray[Any] | None, most: int) -> dict[str, Any]:
    """Return the genes of an AnnData object that the place in a map explains best."""
    n = 0 if embedding is None else len(embedding)
    if embedding is None or adata.shape[0] != n:
        raise ValueError(f"features has {adata.shape[0]} cells but the maps have {n} points")
    if adata.X is None:
        raise ValueError("features must have genes in X, got an AnnData object without X")
    scores = variance_by_place(embedding, row_blocks(adata.X), adata.shape[1])
    best = most_informative(scores, most)
    places = np.sort(best)  # as a file needs them
    part = adata.X[:, places]
    columns = np.asarray(part.toarray() if hasattr(part, "toarray") else part).T
    return {str(adata.var_names[at]): columns[np.searchsorted(places, at)] for at in best}


def nearest_rows(X: Any, metric: str, pca: Any, n_jobs: int = -1) -> NDArray[np.int32] | None:
    """Return the nearest rows of each row of the data; None for many points, or for a graph."""
    n = X.shape[0]
    if n > MOST_JOINED or n < 2 or (metric == "precomputed" and is_sparse(X)):
        return None
    k, jobs = min(NEIGHBORS, n - 1), check_jobs(n_jobs)
    if metric == "precomputed":
        return read_neighbors(X, lengths=k).indices
    pca = check_components(pca, X.shape, metric)
    features = projected_features(X, metric=metric, pca=pca, n_jobs=jobs)[0]
    return find_neighbors(features, lengths=k, metric=metric, recall=_RECALL, n_jobs=jobs).indices


def model_rows(result: SweepResult | ConditionalTSNE, most: int) -> NDArray[np.int32] | None:
    """Return the nearest rows in the data of a model that keeps them, of at most so many points."""
    if not isinstance(result, ConditionalTSNE) or len(result.embedding_) > most:
        return None
    points, metric = kept_points(result)
    return None if points is None else nearest_rows(points, metric, None)
