"""The similarities of every method, called with labels and knobs of any shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from ctsne import affinity
from ctsne.affinity import Affinities
from ctsne.labels import Labels, encode_labels
from ctsne.neighbors import Neighbors


def per_label(labels: Labels, knob: Any) -> list[Any]:
    """Return one array per column, from one number, one per column, or one per label of one."""
    if np.ndim(knob) == 0 or labels.n_columns == 1:
        knob = [knob] * labels.n_columns
    return [
        np.broadcast_to(np.asarray(value, np.float64), (column.n_labels,))
        for value, column in zip(knob, labels.columns, strict=True)
    ]


def revised_affinities(neighbors: Neighbors, labels: Any, *, beta: Any, **more: Any) -> Affinities:
    known = encode_labels(labels)
    return affinity.revised_affinities(neighbors, known, beta=per_label(known, beta), **more)


def balanced_affinities(
    neighbors: Neighbors, labels: Any, *, strength: Any, **more: Any
) -> Affinities:
    known = encode_labels(labels)
    knob = per_label(known, strength)
    return affinity.balanced_affinities(neighbors, known, strength=knob, **more)


def joint_affinities(
    neighbors: Neighbors, labels: Any, *, strength: Any, **more: Any
) -> Affinities:
    known = encode_labels(labels)
    knob = per_label(known, strength)
    return affinity.joint_affinities(neighbors, known, strength=knob, **more)
