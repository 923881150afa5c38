"""What ``ctsne embed`` measures of its map: labels mixed, and neighbours kept."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from ctsne.cli.inputs import Input

if TYPE_CHECKING:
    from ctsne.estimator import ConditionalTSNE

__all__ = ["measures_of"]


def measures_of(
    model: ConditionalTSNE, data: Input, options: argparse.Namespace
) -> dict[str, float | None]:
    """Measure a map as a sweep does, on a sample; None is what cannot be measured."""
    from ctsne._fit.fitting import point_diagnostics
    from ctsne.evaluate.mixing import NEIGHBORHOOD, mixing

    n = len(model.embedding_)
    measures: dict[str, float | None] = {"kl_divergence": float(model.kl_divergence_)}
    other = None if options.other is None else data.column(options.other)
    k = min(NEIGHBORHOOD, n - 2)
    for name, label in (("mixing", data.known), ("other_mixing", other)):
        if label is None or k < 2:
            continue
        share = mixing(model.embedding_, label, k=k, n_jobs=options.jobs)
        measures[name] = share if math.isfinite(share) else None
    measures["adjusted_rnx"] = _kept(model, data, k, options) if k >= 2 else None
    for name, values in point_diagnostics(model).items():
        measures[name] = float(values.mean())
    measures["recall"] = float(model.diagnostics_.recall)
    return measures


def _kept(model: ConditionalTSNE, data: Input, k: int, options: argparse.Namespace) -> float | None:
    """Measure the neighbours kept, by the true neighbours of the points in the sample."""
    from ctsne._core.checks import is_sparse
    from ctsne.evaluate import adjusted_rnx
    from ctsne.evaluate._inputs import sample_points
    from ctsne.evaluate.mixing import MEASURED_POINTS
    from ctsne.evaluate.neighborhoods import DataNeighbors
    from ctsne.labels import encode_labels
    from ctsne.neighbors import find_neighbors, neighbors_from_distances

    X: Any = data.X
    n = X.shape[0]
    known = None if data.known is None else encode_labels(data.known)
    points = sample_points(n, min(n, MEASURED_POINTS), 0)
    k_other = 0 if known is None else k
    if options.metric == "precomputed":
        if is_sparse(X):  # a graph, which does not hold all neighbours
            return None
        found = neighbors_from_distances(X, known, k, k_other)
        lists = found.indices[points], found.distances[points], found.n_same[points]
    else:
        found = find_neighbors(
            X.toarray() if is_sparse(X) else X, known, k_same=k, k_other=k_other,
            metric=options.metric, n_jobs=options.jobs, rows=points,
        )  # fmt: skip
        lists = found.indices, found.distances, found.n_same
    kept = adjusted_rnx(
        model.embedding_, DataNeighbors(points, n, known, k, *lists), k=k, n_jobs=options.jobs
    )
    return kept if math.isfinite(kept) else None
