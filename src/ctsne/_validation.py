"""Checks at the edge: every public entry refuses bad input here, before any work starts."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

METRICS = ("euclidean", "cosine")


def check_features(X: ArrayLike, *, argument: str = "X") -> NDArray[np.floating]:
    """Return dense, finite float32 or float64 features of at least two points, C-contiguous."""
    if sp.issparse(X):
        raise TypeError(
            f"{argument} is a sparse matrix; reduce it first, for instance with "
            "sklearn.decomposition.PCA(50, svd_solver='arpack') (ConditionalTSNE does that itself)"
        )
    array: NDArray[np.floating] = check_array(
        X,
        dtype=[np.float64, np.float32],
        order="C",
        ensure_all_finite=False,
        ensure_min_samples=2,
        input_name=argument,
    )
    check_finite(array, argument=argument)
    return array


def check_finite(array: NDArray[np.floating], *, argument: str, names: Any = None) -> None:
    """Refuse NaN and infinite values, saying how many there are and where the first one stands."""
    if np.isfinite(array.sum(dtype=np.float64)):  # one quick pass for the usual case
        return
    bad = ~np.isfinite(array)
    count = int(bad.sum())
    if not count:  # the sum overflowed, no value did
        return
    row, column = np.unravel_index(int(bad.argmax()), array.shape)
    where = f"column {column}" if names is None else f"column {names[column]!r}"
    value = array[row, column]
    raise ValueError(
        f"{argument} contains {count} NaN or infinite value{'s' if count > 1 else ''}; the first is "
        f"{value} at row {row}, {where}. Remove those rows or columns, or impute them, and try again."
    )


def check_metric(metric: str) -> str:
    """Return a metric of the search on features, or refuse it."""
    if metric not in METRICS:
        raise ValueError(f"metric must be one of {', '.join(map(repr, METRICS))}; got {metric!r}")
    return metric


def check_jobs(n_jobs: int | None) -> int:
    """Return the number of threads that ``n_jobs`` asks for, as joblib counts them."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral)):
        raise TypeError(f"n_jobs must be a whole number, -1 for all cores; got {n_jobs!r}")
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; use -1 for all cores or 1 for one")
    return max(1, int(joblib.effective_n_jobs(n_jobs)))


def check_number(
    value: object,
    argument: str,
    *,
    low: float,
    high: float = float("inf"),
    open_low: bool = False,
    hint: str = "",
) -> float:
    """Return a finite number in [low, high] (or (low, high]), or refuse it."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{argument} must be a number, got {value!r}{hint and '; ' + hint}")
    number = float(value)
    if not np.isfinite(number) or number > high or number < low or (open_low and number == low):
        bounds = f"{'above' if open_low else 'at least'} {low:g}"
        if np.isfinite(high):
            bounds += f" and at most {high:g}"
        raise ValueError(f"{argument} must be {bounds}, got {value!r}{hint and '; ' + hint}")
    return number


def check_count(value: object, argument: str, *, low: int) -> int:
    """Return a whole number of at least ``low``, or refuse it."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{argument} must be a whole number, got {value!r}")
    if value < low:
        raise ValueError(f"{argument} must be at least {low}, got {value!r}")
    return int(value)


def check_choice(value: object, argument: str, choices: tuple[str, ...]) -> str:
    """Return one of the choices, or refuse it with all of them named."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{argument} must be one of {', '.join(map(repr, choices))}; got {value!r}")
    return value


def check_perplexity(value: object, n: int) -> float:
    """Return a perplexity that ``n`` points can have, or refuse it with the largest that works."""
    number = check_number(value, "perplexity", low=1, hint="it is roughly a number of neighbours")
    if number > n - 1:
        raise ValueError(
            f"perplexity={value} is too large for {n} points (n_samples={n}): the largest that works "
            f"is {n - 1}, and at most a third of the points ({max(1, n // 3)}) is advisable"
        )
    return number
