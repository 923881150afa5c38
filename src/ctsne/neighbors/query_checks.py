"""Checks of what a search for queries is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctsne.neighbors.patterns import Codes


def check_codes(codes: ArrayLike, n: int, columns: int | None) -> Codes:
    """Return labels as a table of int32, or refuse them."""
    given = np.asarray(codes)
    if given.dtype.kind not in "iu" or given.ndim != 2:
        raise TypeError(
            "codes must be a table of whole numbers with one column per label column, got "
            f"{given.dtype} of shape {given.shape}"
        )
    if len(given) != n:
        raise ValueError(f"codes has {len(given)} rows but X has {n}")
    if columns is not None and given.shape[1] != columns:
        raise ValueError(f"codes has {given.shape[1]} columns but the reference has {columns}")
    if given.size and (given.min() < -1 or given.max() > np.iinfo(np.int32).max):
        raise ValueError("codes must be numbers of labels, or -1 where one is missing")
    return np.ascontiguousarray(given, np.int32)


def check_list_lengths(lengths: ArrayLike, count: int, lists: int) -> tuple[NDArray[np.int64], int]:
    """Return the wanted lengths of every query's lists, and their sum."""
    given = np.asarray(lengths)
    if given.dtype.kind not in "iu" or given.shape not in ((lists,), (count, lists)):
        raise TypeError(
            f"lengths must be {lists} whole numbers, one per pattern, or as many per query; got "
            f"{given.dtype} of shape {given.shape}"
        )
    wanted = np.broadcast_to(given.astype(np.int64), (count, lists))
    total = given.sum(axis=-1)
    if given.size and (given.min() < 0 or np.max(total) < 1 or np.ptp(total)):
        raise ValueError(
            "lengths must not be negative, and must have the same positive sum for all queries"
        )
    return wanted, int(np.max(total, initial=0))


def check_own(own: NDArray[np.integer], count: int, n: int) -> NDArray[np.int64]:
    """Return one reference point per query, or refuse them."""
    points = np.asarray(own)
    if points.dtype.kind not in "iu" or points.shape != (count,):
        raise TypeError(f"own must hold one reference point per query, got shape {points.shape}")
    if count and (points.min() < 0 or points.max() >= n):
        raise ValueError(f"own must be numbers of reference points, from 0 to {n - 1}")
    return points.astype(np.int64)


def stored_array(
    arrays: Mapping[str, NDArray[Any]], name: str, dtype: type, shape: tuple[int | None, ...]
) -> NDArray[Any]:
    """Return an array of a stored index, if it has the right type and shape."""
    array = arrays.get(name)
    if (
        not isinstance(array, np.ndarray)
        or array.dtype != dtype
        or array.ndim != len(shape)
        or any(size not in (None, found) for size, found in zip(shape, array.shape, strict=True))
    ):
        raise ValueError(f"{name} of a search index is missing, or has another type or shape")
    return np.ascontiguousarray(array)
