"""One search of neighbours that serves all settings and all measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._fit.pipeline import alignment_of, listed_labels, search_neighbors
from ctsne._fit.settings import Settings
from ctsne.evaluate.neighborhoods import DataNeighbors
from ctsne.labels import Labels
from ctsne.neighbors import Neighbors, find_neighbors, merge_neighbors, select_neighbors
from ctsne.neighbors.lists import available, fill_lists
from ctsne.sweep.store import plain_value

__all__ = ["lists_for", "measured_lists", "shared_lengths", "shared_neighbors"]


def shared_neighbors(
    features: Any, labels: Labels, settings: Sequence[Settings], *, k: int
) -> dict[str, Neighbors]:
    """Find lists so long that those of every setting, and of measures at ``k``, are in them.

    There is one search for each alignment, and always one of the data as they are, for measures.
    """
    same, other = shared_lengths(features.shape[0], settings, k=k)
    plain = search_neighbors(features, labels, same, other, settings[0])
    found = {alignment_key("none"): plain}
    for each in settings:
        key = alignment_key(each.align)
        if key not in found:
            aligned = alignment_of(features, each).points
            found[key] = search_neighbors(features, labels, same, other, each, aligned)
    return found


def alignment_key(align: str | NDArray[np.floating]) -> str:
    """Name an alignment; arrays by their content."""
    return align if isinstance(align, str) else str(plain_value(align))


def shared_lengths(n: int, settings: Sequence[Settings], *, k: int) -> tuple[int, int]:
    """Return the lengths of the lists that serve every setting, and measures at ``k``."""
    longest_same = longest_other = min(k, n - 1)
    for each in settings:
        same, other = each.method.lengths(each, n)
        if listed_labels(each) is None:  # one list of any labels: it may all be of either kind
            other = same
        longest_same = max(longest_same, int(same.max()))
        longest_other = max(longest_other, int(other.max()))
    return longest_same, longest_other


def lists_for(settings: Settings, found: Mapping[str, Neighbors]) -> Neighbors:
    """Return the lists that the method wants, as if searched for it (where that is exact)."""
    neighbors = found[alignment_key(settings.align)]
    same, other = settings.method.lengths(settings, len(neighbors.indices))
    if listed_labels(settings) is None:
        return merge_neighbors(neighbors, int(same[0] + other[0]))
    return select_neighbors(neighbors, same, other)


def measured_lists(
    found: Mapping[str, Neighbors],
    features: Any,
    labels: Labels,
    points: NDArray[np.int64],
    k: int,
    settings: Settings,
) -> DataNeighbors:
    """Return the lists that measures of neighbourhoods of up to ``k`` want: the true ones."""
    neighbors = found[alignment_key("none")]
    n = len(neighbors.indices)
    if neighbors.recall < 1:
        exact = find_neighbors(
            features, labels, k_same=k, k_other=k, metric=settings.metric,
            n_jobs=settings.n_jobs, rows=points,
        )  # fmt: skip
        return DataNeighbors(points, n, labels, k, exact.indices, exact.distances, exact.n_same)
    same, other = fill_lists(np.full(n, k), 2 * k, *available(labels, n))
    chosen = select_neighbors(neighbors, same, other)
    return DataNeighbors(
        points, n, labels, k, chosen.indices[points], chosen.distances[points], same[points]
    )
