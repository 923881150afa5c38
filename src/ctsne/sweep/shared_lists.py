"""One neighbour search that serves all settings of a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctsne._core.progress import Report
from ctsne.evaluate.neighbors import DataNeighbors, search_aligned, search_data
from ctsne.fit.pipeline import (
    alignment_of,
    list_lengths,
    listed_labels,
    neighbors_of,
    search_neighbors,
)
from ctsne.neighbors import Neighbors, merge_neighbors, select_neighbors
from ctsne.neighbors.alignment import Alignment
from ctsne.neighbors.patterns import read_labels
from ctsne.settings import Settings
from ctsne.sweep.grid import plain_value


@dataclass(frozen=True, eq=False)
class SharedLists:
    """The lists of one alignment: to make maps from, and to compare them with."""

    neighbors: Neighbors
    alignment: Alignment
    data: DataNeighbors


def shared_neighbors(
    settings: Sequence[Settings], data: DataNeighbors, after_part: Report | None = None
) -> list[SharedLists]:
    """Search once per alignment, for lists that contain those of every setting.

    ``after_part`` is called with the share that is done of the first search, usually the only one.
    """
    if data.columns is not None and data.columns.n_columns > 1:
        return _lists_of_columns(settings, data, after_part)
    labels = read_labels(data.labels, data.n)
    both = shared_lengths(data.n, settings, data.k)
    lengths = sum(both) if labels is None else both
    exact = search_data(data, settings[0].n_jobs)  # measures never depend on the recall
    found: dict[str, SharedLists] = {}
    keys = [str(plain_value(each.align)) for each in settings]
    for key, each in zip(keys, settings, strict=True):
        if key not in found:
            moved = alignment_of(data.features, each)
            lists = search_neighbors(data.features, labels, lengths, each, moved.points, after_part)
            after_part = None
            measured = replace(search_aligned(exact, moved, each.n_jobs), features=None)
            # Workers may be other processes, and do not need the points again.
            found[key] = SharedLists(lists, replace(moved, points=None), measured)
    return [found[key] for key in keys]


def _lists_of_columns(
    settings: Sequence[Settings], data: DataNeighbors, after_part: Report | None
) -> list[SharedLists]:
    """Search once for all settings with the same lists, which depend on the columns they use."""
    exact = search_data(data, settings[0].n_jobs)
    found: dict[str, SharedLists] = {}
    keys = []
    for each in settings:
        # The strength decides which columns are left out, and in ``balanced`` the lengths.
        lengths = each.knob if each.method.name == "balanced" else each.knob == each.method.grid[0]
        listed = (each.method.name, lengths.tolist()) if listed_labels(each) is not None else None
        keys.append(repr((plain_value(each.align), listed, each.perplexity, each.recall)))
        if keys[-1] not in found:
            moved = alignment_of(data.features, each)
            lists = neighbors_of(data.features, each, moved.points, after_part)
            after_part = None
            measured = replace(search_aligned(exact, moved, each.n_jobs), features=None)
            found[keys[-1]] = SharedLists(lists, replace(moved, points=None), measured)
    return [found[key] for key in keys]


def shared_lengths(n: int, settings: Sequence[Settings], k: int) -> tuple[int, int]:
    """Return the lengths of the lists that serve every setting; at least ``k`` each."""
    longest_same = longest_other = min(k, n - 1)
    for each in settings:
        lengths = list_lengths(each, n)
        longest_same = max(longest_same, int(lengths[:, 0].max()))
        # One list may hold one kind of label only.
        longest_other = max(longest_other, int(lengths[:, -1].max()))
    return longest_same, longest_other


def lists_for(settings: Settings, shared: SharedLists) -> Neighbors:
    """Return the lists that a search for this setting would find (if the search is exact)."""
    if shared.data.columns is not None and shared.data.columns.n_columns > 1:
        return shared.neighbors
    lengths = list_lengths(settings, len(shared.neighbors.indices))
    if listed_labels(settings) is None:
        return merge_neighbors(shared.neighbors, int(lengths[0].sum()))
    return select_neighbors(shared.neighbors, lengths)
