"""One neighbour search that serves all settings of a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._fit.pipeline import alignment_of, listed_labels, search_neighbors
from ctsne._fit.settings import Settings
from ctsne.labels import Labels
from ctsne.neighbors import Neighbors, merge_neighbors, select_neighbors
from ctsne.neighbors.alignment import Alignment
from ctsne.sweep.grid import plain_value


@dataclass(frozen=True, eq=False)
class SharedLists:
    """The lists of one alignment."""

    neighbors: Neighbors
    alignment: Alignment


def shared_neighbors(
    features: Any, labels: Labels, settings: Sequence[Settings], *, k: int
) -> dict[str, SharedLists]:
    """Search once per alignment, for lists that contain those of every setting."""
    same, other = shared_lengths(features.shape[0], settings, k=k)
    found: dict[str, SharedLists] = {}
    for each in settings:
        key = alignment_key(each.align)
        if key not in found:
            moved = alignment_of(features, each)
            lists = search_neighbors(features, labels, same, other, each, moved.points)
            found[key] = SharedLists(lists, moved)
    return found


def alignment_key(align: str | NDArray[np.floating]) -> str:
    """Name an alignment; arrays by their content."""
    return align if isinstance(align, str) else str(plain_value(align))


def shared_lengths(n: int, settings: Sequence[Settings], *, k: int) -> tuple[int, int]:
    """Return the lengths of the lists that serve every setting; at least ``k`` each."""
    longest_same = longest_other = min(k, n - 1)
    for each in settings:
        same, other = each.method.lengths(each, n)
        if listed_labels(each) is None:  # one list, which may hold one kind of label only
            other = same
        longest_same = max(longest_same, int(same.max()))
        longest_other = max(longest_other, int(other.max()))
    return longest_same, longest_other


def lists_for(settings: Settings, found: Mapping[str, SharedLists]) -> Neighbors:
    """Return the lists that a search for this setting would find (if the search is exact)."""
    neighbors = found[alignment_key(settings.align)].neighbors
    same, other = settings.method.lengths(settings, len(neighbors.indices))
    if listed_labels(settings) is None:
        return merge_neighbors(neighbors, int(same[0] + other[0]))
    return select_neighbors(neighbors, same, other)
