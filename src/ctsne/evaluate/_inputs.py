"""The check that all measures on neighbourhoods share."""

from __future__ import annotations

from ctsne._validation import check_count


def check_k(k: object, *, n: int) -> int:
    """Return a neighbourhood size that n points allow and that is not all of them."""
    if n < 3:
        raise ValueError(f"a measure on neighbourhoods needs at least 3 points, got {n}")
    size = check_count(k, "k", low=1)
    if size > n - 2:
        raise ValueError(f"k must be at most {n - 2} for {n} points, got {size}")
    return size
