"""The estimator's parameters, checked against the data before any work starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ctsne._core.checks import (
    METRICS,
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
from ctsne._fit.conditioning import check_align, check_below, check_knobs, check_mixing
from ctsne.labels import Labels
from ctsne.layout import Schedule
from ctsne.layout.start import STARTS
from ctsne.methods import DEFAULT_METHOD, KNOBS, METHODS, Method, is_used, users_of

# Farther apart than this, single precision sees no repulsion any more.
LARGEST_START = 1e5
# Every parameter of the estimator with its default, for those who make maps without one.
DEFAULTS: dict[str, Any] = {
    "n_components": 2,
    "method": DEFAULT_METHOD,
    "mixing": None,
    "strength": None,
    "beta": None,
    "align": "none",
    "odds": None,
    "beta_low": None,
    "bandwidth": "r",
    "perplexity": 30,
    "metric": "euclidean",
    "pca": "auto",
    "recall": 0.99,
    "init": "pca",
    "n_iter": 750,
    "early_exaggeration": 12,
    "early_exaggeration_iter": 250,
    "exaggeration": 1,
    "learning_rate": "auto",
    "dof": 1,
    "callback": None,
    "callback_every": 50,
    "n_jobs": -1,
    "random_state": None,
    "verbose": 0,
}


@dataclass(frozen=True)
class Settings:
    """What the estimator was asked for, in the form the stages take it.

    Attributes that need a word:

    knob : ndarray, shape (n_labels,)
        The value of what steers the method, strength or beta.
    beta_low : ndarray, shape (n_labels,), or None
        Conditioning of the map, where the user asked for it.
    align : str or ndarray
        Where points of other labels are searched.
    mixing : float or None
        The share of random mixing that the knob is to be found for.
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
    verbose: int
    rng: np.random.Generator
    labels: Labels | None
    warnings: list[str] = field(default_factory=list)


def check_settings(
    given: Mapping[str, Any], X: Any, labels: Labels | None, *, y_given: bool = False
) -> Settings:
    """Check every parameter of an estimator against numbers ``X``, dense or sparse.

    Returns settings with the warnings to give; raises ValueError or TypeError for what cannot work.
    """
    n = X.shape[0]
    warnings: list[str] = []
    method = METHODS[check_choice(given["method"], "method", tuple(METHODS))]
    perplexity = check_perplexity(given["perplexity"], n)
    metric = check_choice(given["metric"], "metric", (*METRICS, "precomputed"))
    if metric == "precomputed":
        _check_distances(X, perplexity)
    if metric == "cosine":
        check_directions(X)
    if (X.max() == 0) if metric == "precomputed" else all_identical(X):
        warnings.append(
            "all points of X are identical: there is no structure to show, so where they lie in "
            "the map means nothing."
        )
    n_components = check_count(given["n_components"], "n_components", low=1, high=3)
    check_callback(given)
    mixing = check_mixing(given, method)
    knobs = check_knobs(given, labels)
    beta_low = check_below(given, labels)
    align = check_align(given, X, metric)
    used = _usable_labels(method, beta_low is not None, labels, warnings, y_given=y_given)
    if used is None:
        method, mixing = METHODS["tsne"], None
    knob = knobs.get(method.knob or "", np.empty(0))
    if used is not None and method.two_lists:
        _warn_of_small_labels(used, method, perplexity, knob, warnings)
    warnings += _unused_knobs(given)
    return Settings(
        method=method,
        knob=knob,
        beta_low=beta_low,
        align=align if used is not None and method.two_lists else "none",
        mixing=mixing,
        bandwidth=check_choice(given["bandwidth"], "bandwidth", ("r", "p")),
        perplexity=perplexity,
        metric=metric,
        pca=_check_pca(given["pca"], X.shape, metric),
        recall=check_number(given["recall"], "recall", low=0.5, high=1),
        n_components=n_components,
        init=_check_init(given["init"], n, n_components, metric),
        n_iter=check_count(given["n_iter"], "n_iter", low=1),
        schedule=_check_schedule(given, n),
        dof=check_number(given["dof"], "dof", low=0.05, high=1000),
        n_jobs=check_jobs(given["n_jobs"]),
        verbose=check_verbose(given["verbose"]),
        labels=used,
        warnings=warnings,
        rng=_generator(given["random_state"]),  # last: it moves a RandomState on
    )


def check_callback(given: Mapping[str, Any]) -> None:
    """Refuse a callback that cannot be called, or not every so many iterations."""
    if given["callback"] is not None and not callable(given["callback"]):
        raise TypeError(
            f"callback must be a function of (iteration, loss, embedding) or None, "
            f"got {given['callback']!r:.60}"
        )
    check_count(given["callback_every"], "callback_every", low=1)


def check_verbose(verbose: Any) -> int:
    """Return how much to log; True is 1."""
    return check_count(int(verbose) if isinstance(verbose, bool) else verbose, "verbose", low=0)


def _unused_knobs(given: Mapping[str, Any]) -> list[str]:
    """Name what was given to a method that does not look at it."""
    messages = []
    for name in (*KNOBS, "align"):
        if is_used(name, given) or np.array_equal(given[name], DEFAULTS[name]):
            continue
        methods = " and ".join(f'"{method}"' for method in users_of(name))
        below = " and a given odds or beta_low" if given["method"] in users_of(name) else ""
        value = f"{given[name]!r:.60}" if np.ndim(given[name]) == 0 else "..."
        messages.append(
            f'{name}={value} has no effect with method="{given["method"]}"{below}: it is for '
            f"{methods}."
        )
    return messages


def _check_distances(X: Any, perplexity: float) -> None:
    """Refuse what is no matrix or graph of distances, or a graph too sparse for the perplexity."""
    n = X.shape[0]
    if X.shape != (n, n):
        raise ValueError(
            'with metric="precomputed", X must be a square matrix of distances between the points, '
            f"got shape {X.shape}; for features use another metric"
        )
    if X.min() < 0:
        raise ValueError(
            'with metric="precomputed", X must hold distances, none of them negative, got '
            f"{X.min()}; similarities must be turned into distances first"
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


def _check_pca(pca: Any, shape: tuple[int, int], metric: str) -> int | str | None:
    if isinstance(pca, str):
        check_choice(pca, "pca", ("auto",))
    if pca is None or isinstance(pca, str):
        return pca
    if metric == "precomputed":
        raise ValueError(
            f'pca={pca!r:.60} needs features, but metric="precomputed" has only distances; leave '
            "pca out"
        )
    return check_count(pca, 'pca (or "auto" or None)', low=1, high=min(shape))


def _usable_labels(
    method: Method,
    conditioned_below: bool,
    labels: Labels | None,
    warnings: list[str],
    *,
    y_given: bool,
) -> Labels | None:
    """Return the labels if there is something to factor out, else None with a warning."""
    if method.knob is None and not conditioned_below:
        return None
    if labels is None:
        warnings.append(
            f'no labels given, so method="{method.name}" has nothing to factor out: this is plain '
            't-SNE. Pass labels=... to fit, or method="tsne" if that is what you want.'
            + (" What you passed as y is ignored: labels go to labels=." if y_given else "")
        )
        return None
    if labels.n_labels < 2:
        warnings.append(
            f"the labels hold {labels.describe()}: there is nothing to factor out, "
            "this is plain t-SNE."
        )
        return None
    return labels


def _warn_of_small_labels(
    labels: Labels,
    method: Method,
    perplexity: float,
    knob: NDArray[np.float64],
    warnings: list[str],
) -> None:
    """Warn of labels that cannot fill half of their points' neighbours, or what is left of it.

    With ``balanced`` the share of the own label goes from half to that of a random draw.
    """
    length = min(ceil(method.row_length * perplexity), labels.n_points - 1)
    share = np.full(labels.n_labels, 0.5)
    if method.name == "balanced":
        share += knob * ((labels.counts - 1) / (labels.n_points - 1) - share)
    wanted = np.ceil(length * share).astype(np.int64)
    small = np.flatnonzero(labels.counts - 1 + labels.n_missing < wanted)
    if len(small):
        shown = ", ".join(f"{labels.names[i]!s:.40} ({labels.counts[i]})" for i in small[:5])
        warnings.append(
            f"{len(small)} of {labels.n_labels} labels have too few points for their share of "
            f"neighbours (up to {wanted[small].max()} others with the same label): {shown}"
            f"{', ...' if len(small) > 5 else ''}. Points of other labels take their place; a "
            "smaller perplexity or larger groups would avoid that."
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
        # Larger steps give wider maps; in space these take meshes that are slow or too coarse.
        least = 12.0 if given["n_components"] == 3 else 1.0
        rate, early_rate = (max(200.0, n / max(least, factor)) for factor in (late, early))
    return Schedule(
        early_exaggeration=early,
        early_exaggeration_iter=check_count(
            given["early_exaggeration_iter"], "early_exaggeration_iter", low=0
        ),
        exaggeration=late,
        learning_rate=check_number(
            rate, "learning_rate", low=0, open_low=True, hint='or "auto" for a good one'
        ),
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
