"""The estimator's parameters, checked against the data before any work starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ctsne._core.checks import (
    all_identical,
    as_numbers,
    check_choice,
    check_count,
    check_directions,
    check_finite,
    check_jobs,
    check_number,
    check_perplexity,
    is_sparse,
)
from ctsne._core.choices import BANDWIDTHS, METRICS, STARTS
from ctsne._core.components import check_components
from ctsne._fit.conditioning import (
    check_below,
    check_knobs,
    check_mixing,
    small_labels_warning,
    unused_warnings,
    usable_labels,
)
from ctsne.labels import Labels
from ctsne.layout import Schedule
from ctsne.methods import DEFAULT_METHOD, METHODS, Method
from ctsne.neighbors.alignment import check_align

__all__ = ["DEFAULTS", "Settings", "check_callback", "check_settings", "check_verbose"]

# Points farther apart than this feel no repulsion in single precision.
LARGEST_START = 1e5
# Every parameter of the estimator with its default, for maps made without one.
DEFAULTS: dict[str, Any] = {
    "n_components": 2, "method": DEFAULT_METHOD, "mixing": None, "strength": None, "beta": None,
    "align": "none", "odds": None, "beta_low": None, "bandwidth": "r", "perplexity": 30,
    "metric": "euclidean", "pca": "auto", "recall": 0.99, "init": "pca", "n_iter": 750,
    "early_exaggeration": 12, "early_exaggeration_iter": 250, "exaggeration": 1,
    "learning_rate": "auto", "dof": 1, "callback": None, "callback_every": 50, "n_jobs": -1,
    "random_state": None, "verbose": 0,
}  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """The estimator's parameters in the form that the stages take.

    ``knob`` is the strength or beta per label, ``beta_low`` the requested conditioning of the map
    per label, ``mixing`` the share of random mixing to find the knob for.
    """

    method: Method
    knob: NDArray[np.float64]
    beta_low: NDArray[np.float64] | None
    align: str | NDArray[np.floating]
    mixing: float | None
    bandwidth: str
    perplexity: float
    metric: str
    pca: int | str | None
    recall: float
    n_components: int
    init: str | NDArray[np.floating]
    n_iter: int
    schedule: Schedule
    dof: float
    n_jobs: int
    rng: np.random.Generator
    labels: Labels | None
    warnings: list[str] = field(default_factory=list)


def check_settings(
    given: Mapping[str, Any], X: Any, labels: Labels | None, *, y_given: bool = False
) -> Settings:
    """Check every parameter of an estimator against checked data ``X``, dense or sparse.

    The settings hold the warnings to give.
    """
    n = X.shape[0]
    warnings: list[str] = []
    method = METHODS[check_choice(given["method"], "method", tuple(METHODS))]
    perplexity = check_perplexity(given["perplexity"], n)
    metric = check_choice(given["metric"], "metric", METRICS)
    if metric == "precomputed":
        _check_distances(X, perplexity)
    if metric == "cosine":
        check_directions(X)
    if (X.max() == 0) if metric == "precomputed" else all_identical(X):
        warnings.append(
            "all points of X are identical: there is no structure to show, so their positions in "
            "the map mean nothing."
        )
    n_components = check_count(given["n_components"], "n_components", low=1, high=3)
    check_callback(given)
    mixing = check_mixing(given, method)
    knobs = check_knobs(given, labels)
    beta_low = check_below(given, labels)
    align = check_align(given["align"], n, metric)
    used, unlabelled = usable_labels(method, labels, below=beta_low is not None, y_given=y_given)
    if used is None:
        method, mixing = METHODS["tsne"], None
    knob = knobs.get(method.knob or "", np.empty(0))
    small = None
    if used is not None and method.two_lists:
        small = small_labels_warning(used, method, perplexity, knob)
    warnings += [text for text in (unlabelled, small, *unused_warnings(given)) if text is not None]
    return Settings(
        method=method,
        knob=knob,
        beta_low=beta_low,
        align=align if used is not None and method.two_lists else "none",
        mixing=mixing,
        bandwidth=check_choice(given["bandwidth"], "bandwidth", BANDWIDTHS),
        perplexity=perplexity,
        metric=metric,
        pca=check_components(given["pca"], X.shape, metric),
        recall=check_number(given["recall"], "recall", low=0.5, high=1),
        n_components=n_components,
        init=_check_init(given["init"], n, n_components, metric),
        n_iter=check_count(given["n_iter"], "n_iter", low=1),
        schedule=_check_schedule(given, n),
        dof=check_number(given["dof"], "dof", low=0.05, high=1000),
        n_jobs=check_jobs(given["n_jobs"]),
        labels=used,
        warnings=warnings,
        rng=_generator(given["random_state"]),  # last, as it advances a RandomState
    )


def check_callback(given: Mapping[str, Any]) -> None:
    """Refuse a callback that cannot be called, or a wrong interval between calls."""
    if given["callback"] is not None and not callable(given["callback"]):
        raise TypeError(
            f"callback must be a function of (iteration, loss, embedding) or None, "
            f"got {given['callback']!r:.60}"
        )
    check_count(given["callback_every"], "callback_every", low=1)


def check_verbose(verbose: Any) -> int:
    """Return the level of verbosity; True is 1."""
    return check_count(int(verbose) if isinstance(verbose, bool) else verbose, "verbose", low=0)


def _check_distances(X: Any, perplexity: float) -> None:
    """Refuse anything but distances, and a graph too sparse for the perplexity."""
    n = X.shape[0]
    if X.shape != (n, n):
        raise ValueError(
            'with metric="precomputed", X must be a square matrix of distances between the points, '
            f"got shape {X.shape}; for features use another metric"
        )
    if X.min() < 0:
        raise ValueError(
            'with metric="precomputed", X must hold distances, which are not negative, got '
            f"{X.min()}; turn similarities into distances first"
        )
    if not is_sparse(X):
        return
    edges = sp.coo_array(X)
    degree = np.bincount(edges.row[edges.row != edges.col], minlength=n)
    least = int(degree.min())
    if least < perplexity:
        works = f"the largest that works is {least}" if least else "every point needs some"
        raise ValueError(
            f"perplexity={perplexity:g} is too large for this graph: point {int(degree.argmin())} "
            f"has {least} neighbours in X; {works}, and three times the perplexity is advisable"
        )


def _check_init(init: Any, n: int, n_components: int, metric: str) -> str | NDArray[np.float32]:
    if isinstance(init, str):
        check_choice(init, "init", STARTS)
        if init == "pca" and metric == "precomputed":
            raise ValueError(
                'init="pca" needs features, but metric="precomputed" has only distances; '
                'use init="spectral", init="random" or an array of positions'
            )
        return init
    if is_sparse(init):
        raise TypeError("init must be a dense array of start positions, got a sparse matrix")
    array = as_numbers(init, argument="init")
    if array.shape != (n, n_components):
        raise ValueError(
            f"init must be one of {', '.join(map(repr, STARTS))}, or positions with one row per "
            f"point and one column per dimension of the map, ({n}, {n_components}); got an array "
            f"of shape {array.shape}"
        )
    check_finite(array, argument="init", columns=getattr(init, "columns", None))
    largest = float(np.abs(array).max())
    if largest > LARGEST_START:
        raise ValueError(
            f"init must hold positions of at most {LARGEST_START:g}, got {largest:g}; a start as "
            "small as 1e-4 across gives the best maps"
        )
    return np.asarray(array, np.float32)


def _check_schedule(given: Mapping[str, Any], n: int) -> Schedule:
    early = check_number(given["early_exaggeration"], "early_exaggeration", low=0, open_low=True)
    late = check_number(given["exaggeration"], "exaggeration", low=0, open_low=True)
    rate, early_rate = given["learning_rate"], None
    if isinstance(rate, str):
        check_choice(rate, "learning_rate", ("auto",))
        # Larger steps give wider maps; in three dimensions their meshes are slow or too coarse.
        least = 12.0 if given["n_components"] == 3 else 1.0
        rate, early_rate = (max(200.0, n / max(least, factor)) for factor in (late, early))
    return Schedule(
        early_exaggeration=early,
        early_exaggeration_iter=check_count(
            given["early_exaggeration_iter"], "early_exaggeration_iter", low=0
        ),
        exaggeration=late,
        learning_rate=check_number(rate, "learning_rate", low=0, open_low=True, hint='or "auto"'),
        early_learning_rate=early_rate,
    )


def _generator(random_state: Any) -> np.random.Generator:
    try:
        state = check_random_state(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "random_state must be a whole number from 0 up, a numpy.random.RandomState or None, "
            f"got {random_state!r:.60}"
        ) from error
    return np.random.default_rng(state.randint(2**31 - 1))
