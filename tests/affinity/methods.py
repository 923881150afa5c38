"""The similarities of every method, as the package and as the reference compute them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ctsne import affinity
from ctsne.affinity import Affinities
from ctsne.labels import Labels, encode_labels
from ctsne.neighbors import (
    Neighbors,
    balanced_lengths,
    find_neighbors,
    joint_lengths,
    occurring_patterns,
    paper_lengths,
)

from .. import reference as formulas

Floats = NDArray[np.float64]
Method = Literal["tsne", "revised p", "revised r", "balanced", "joint"]
METHODS: tuple[Method, ...] = ("tsne", "revised p", "revised r", "balanced", "joint")


def per_label(labels: Labels, knob: Any) -> list[Any]:
    """Return one array per column, from one number for all or one value per column."""
    values = [knob] * labels.n_columns if isinstance(knob, float | int) else knob
    return [
        np.broadcast_to(np.asarray(value, np.float64), (column.n_labels,))
        for value, column in zip(values, labels.columns, strict=True)
    ]


def lists_for(
    method: Method, X: Any, labels: Any, perplexity: float, knob: Any = 0.5, **more: Any
) -> Neighbors:
    """Search the lists that a fit searches."""
    if method == "tsne":
        return find_neighbors(X, lengths=paper_lengths((0,), perplexity), **more)
    known = encode_labels(labels)
    patterns = occurring_patterns(known)
    if method == "balanced":
        lengths = balanced_lengths(known, patterns, perplexity, per_label(known, knob))
    else:
        lengths = (joint_lengths if method == "joint" else paper_lengths)(patterns, perplexity)
    return find_neighbors(X, known, lengths=lengths, patterns=patterns, **more)


def similarities(
    method: Method,
    neighbors: Neighbors,
    labels: Any,
    perplexity: float,
    knob: Any = 0.5,
    n_jobs: int = 1,
) -> Affinities:
    """Return the similarities of a method over given lists."""
    given: dict[str, Any] = {"perplexity": perplexity, "n_jobs": n_jobs}
    if method == "tsne":
        return affinity.tsne_affinities(neighbors, **given)
    known = encode_labels(labels)
    value = per_label(known, knob)
    if method == "balanced":
        return affinity.balanced_affinities(neighbors, known, strength=value, **given)
    if method == "joint":
        return affinity.joint_affinities(neighbors, known, strength=value, **given)
    bandwidth = method.removeprefix("revised ")
    return affinity.revised_affinities(neighbors, known, beta=value, bandwidth=bandwidth, **given)


def as_reference(neighbors: Neighbors) -> tuple[Floats, formulas.Lists]:
    """Return squared distances as the lists have them, nan where there are none, and the lists."""
    D2 = np.full((len(neighbors.indices),) * 2, np.nan)
    np.put_along_axis(D2, neighbors.indices, neighbors.distances.astype(float) ** 2, axis=1)
    return D2, formulas.Lists(neighbors.indices, neighbors.lengths, neighbors.patterns)


def reference_rows(
    method: Method, neighbors: Neighbors, labels: Labels, perplexity: float, knob: Any
) -> Floats:
    """Return the conditional rows of a method over given lists by the formulas, n × n."""
    D2, lists = as_reference(neighbors)
    if method == "tsne":
        return formulas.tsne_rows(D2, lists, perplexity)
    given = D2, lists, labels.codes, perplexity, per_label(labels, knob)
    if method == "balanced":
        return formulas.balanced_rows(*given)
    if method == "joint":
        return formulas.joint_rows(*given)
    bandwidth: Any = method.removeprefix("revised ")
    return formulas.revised_rows(*given, bandwidth=bandwidth, scale=neighbors.scale)
