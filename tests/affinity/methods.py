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
    name, _, bandwidth = method.partition(" ")
    if name == "tsne":
        return affinity.tsne_affinities(neighbors, perplexity=perplexity, n_jobs=n_jobs)
    known = encode_labels(labels)
    more: dict[str, Any] = {"bandwidth": bandwidth} if bandwidth else {}
    more["beta" if name == "revised" else "strength"] = per_label(known, knob)
    function = getattr(affinity, f"{name}_affinities")
    return function(neighbors, known, perplexity=perplexity, n_jobs=n_jobs, **more)


def as_reference(neighbors: Neighbors) -> tuple[Floats, formulas.Lists]:
    """Return squared distances as the lists have them, nan where there are none, and the lists."""
    D2 = np.full((len(neighbors.indices),) * 2, np.nan)
    np.put_along_axis(D2, neighbors.indices, neighbors.distances.astype(float) ** 2, axis=1)
    return D2, formulas.Lists(neighbors.indices, neighbors.lengths, neighbors.patterns)


def reference_rows(
    method: Method, neighbors: Neighbors, labels: Labels, perplexity: float, knob: Any
) -> Floats:
    """Return the conditional rows of a method over given lists by the formulas, n × n."""
    name, _, bandwidth = method.partition(" ")
    return formulas.conditional_rows(
        name,
        *as_reference(neighbors),
        labels.codes,
        perplexity,
        per_label(labels, knob),
        bandwidth=bandwidth or "r",
        scale=neighbors.scale,
    )
