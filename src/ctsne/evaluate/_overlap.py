"""How many neighbours two lists share, for every neighbourhood size at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne.evaluate.neighborhoods import DataNeighbors, MapNeighbors, resolve_both, take_rows
from ctsne.neighbors.lists import available, different_labels

# Entries worked on at a time: bounds the memory beside the neighbour lists.
_CHUNK_ENTRIES = 2**21
# From this share of all points on, a table with an entry for each point is faster than a sort.
_DENSE_SHARE = 1 / 16


def overlaps(a: NDArray[np.int32], b: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    """Count for every k what the first k of n points in two rows share; no row repeats one."""
    rows, k = a.shape
    if k < _DENSE_SHARE * n:
        places = _places_in_short_rows(a, b)
    else:
        # Where each point stands in the second row (k if it does not), then in both.
        position = np.arange(k, dtype=np.int32)
        row = np.arange(rows)[:, None]
        place = np.full(rows * n, k, np.int32)
        place[b + row * n] = position
        last = np.maximum(place[a + row * n], position)
        places = (last + row * (k + 1)).ravel()
    joined = np.bincount(places, minlength=rows * (k + 1)).reshape(rows, k + 1)
    return np.asarray(np.cumsum(joined[:, :k], axis=1))


def _places_in_short_rows(a: NDArray[np.int32], b: NDArray[np.int32]) -> NDArray[np.int64]:
    """From which position on both lists have a point they share, counted on from row to row."""
    k = a.shape[1]
    # Entries of the two lists that are equal come to stand side by side, each with its position.
    bits = int(2 * k - 1).bit_length()
    both = np.hstack([a, b]).astype(np.int64) << bits | np.arange(2 * k)
    both.sort(axis=1)
    row, at = np.nonzero(both[:, 1:] >> bits == both[:, :-1] >> bits)
    mask = (1 << bits) - 1
    last = np.maximum(both[row, at] & mask, (both[row, at + 1] & mask) - k)
    return np.asarray(row * (k + 1) + last)


def chunks(rows: int, length: int) -> Iterator[slice]:
    """Yield slices of rows of some length that hold a bounded number of entries."""
    step = max(1, _CHUNK_ENTRIES // length)
    for start in range(0, rows, step):
        yield slice(start, min(rows, start + step))


def forced_neighbors(
    near: NDArray[np.int32], data: DataNeighbors
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Count, for every k, neighbours that any map would share, and those that chance gives.

    Where a map has all points of a label in a neighbourhood, the adjusted neighbourhood in the data
    has them too: that is no merit of the map. Returns the forced ones, and what a random choice of
    the others would share on average.
    """
    rows, k = near.shape
    size = np.arange(1, k + 1)
    forced = np.zeros((rows, k), np.int64)
    chance = np.broadcast_to(size**2 / (data.n - 1), (rows, k)).copy()
    if data.labels is None:
        return forced, chance
    other = np.cumsum(different_labels(data.labels, data.points[:, None], near), axis=1)
    own = size - other
    for part, rest, there, beside in (
        (own, other, *(each[data.points, None] for each in available(data.labels, data.n))),
        (other, own, *(each[data.points, None] for each in available(data.labels, data.n)[::-1])),
    ):
        whole = (part == there) & (there > 0)
        forced += np.where(whole, part, 0)
        chance = np.where(whole, rest**2 / np.maximum(beside, 1), chance)
    return forced, chance


def shared_neighbors(
    embedding: ArrayLike | MapNeighbors,
    X: ArrayLike | DataNeighbors,
    labels: object,
    *,
    k: int,
    sample: float | None,
    random_state: object,
    n_jobs: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Count the k neighbours of each point that map and data share; forced ones, and by chance."""
    low, high = resolve_both(
        embedding, X, labels, k=k, sample=sample, random_state=random_state, n_jobs=n_jobs
    )
    parts = []
    for rows in chunks(len(low.points), 4 * low.k):
        near, data = low.indices[rows], take_rows(high, rows)
        forced, chance = forced_neighbors(near, data)
        shared = overlaps(near, data.adjusted(near), low.n)
        parts.append((shared[:, -1], forced[:, -1], chance[:, -1]))
    shared, forced, chance = (np.concatenate(each) for each in zip(*parts, strict=True))
    return shared, forced, chance
