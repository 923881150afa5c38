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

from ctsne._validation import (
    METRICS,
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
from ctsne.labels import Labels
from ctsne.layout import Schedule
from ctsne.layout.start import STARTS

# Farther apart than this, single precision sees no repulsion any more.
LARGEST_START = 1e5
METHODS = ("tsne", "original", "revised", "balanced", "joint")
# Those whose similarities know of labels.
CONDITIONED_ABOVE = ("revised", "balanced", "joint")


@dataclass(frozen=True)
class Settings:
    """What the estimator was asked for, in the form the stages take it."""

    method: str
    bandwidth: str
    perplexity: float
    metric: str
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
    beta: NDArray[np.float64]
    strength: NDArray[np.float64]
    beta_low: NDArray[np.float64] | None
    warnings: list[str] = field(default_factory=list)


def altered(estimator: Any, **parameters: Any) -> Any:
    """Make an unfitted estimator with other parameters.

    Unlike scikit-learn's ``clone`` it copies no values: a callback may hold what cannot be copied.
    """
    return type(estimator)(**{**estimator.get_params(deep=False), **parameters})


def check_same_rows(X: Any, labels: Any, *, argument: str = "labels") -> None:
    """Refuse a label column of a data frame whose rows stand in another order than those of X."""
    rows: Any = getattr(X, "index", None)
    labelled: Any = getattr(labels, "index", None)
    if not hasattr(rows, "equals") or not hasattr(labelled, "equals"):
        return
    if len(rows) == len(labelled) and not rows.equals(labelled):
        raise ValueError(
            f"{argument} and X have different row names (index), so it is not clear which label "
            f"belongs to which point; reorder with {argument}.loc[X.index], or pass "
            f"{argument}.to_numpy() if the order is the same"
        )


def check_settings(
    estimator: Any, X: Any, labels: Labels | None, *, y_given: bool = False
) -> Settings:
    """Check every parameter of an estimator against numbers ``X``, dense or sparse.

    Returns settings with the warnings to give; raises ValueError or TypeError for what cannot work.
    """
    n = X.shape[0]
    warnings: list[str] = []
    method = check_choice(estimator.method, "method", METHODS)
    perplexity = check_perplexity(estimator.perplexity, n)
    metric = check_choice(estimator.metric, "metric", (*METRICS, "precomputed"))
    if metric == "precomputed":
        _check_distances(X, perplexity)
    if metric == "cosine":
        check_directions(X)
    if all_identical(X, metric):
        warnings.append(
            "all points of X are identical: there is no structure to show, so where they lie in "
            "the map means nothing."
        )
    n_components = check_count(estimator.n_components, "n_components", low=1, high=3)
    check_callback(estimator)
    check_number(estimator.mixing, "mixing", low=0, high=1)
    beta = _check_per_label(estimator.beta, "beta", labels, open_low=True)
    strength = _check_per_label(estimator.strength, "strength", labels, open_low=False)
    beta_low = None
    if estimator.beta_low is not None:
        beta_low = _check_per_label(estimator.beta_low, "beta_low", labels, open_low=True)
    used = _usable_labels(method, beta_low is not None, labels, warnings, y_given=y_given)
    if used is not None and method in ("revised", "joint", "balanced"):
        _warn_of_small_labels(
            used, perplexity, strength if method == "balanced" else None, warnings
        )
    return Settings(
        method=method if used is not None else "tsne",
        bandwidth=check_choice(estimator.bandwidth, "bandwidth", ("r", "p")),
        perplexity=perplexity,
        metric=metric,
        recall=check_number(estimator.recall, "recall", low=0.5, high=1),
        n_components=n_components,
        init=_check_init(estimator.init, n, n_components, metric),
        n_iter=check_count(estimator.n_iter, "n_iter", low=1),
        schedule=_check_schedule(estimator, n),
        dof=check_number(estimator.dof, "dof", low=0.05, high=1000),
        n_jobs=check_jobs(estimator.n_jobs),
        verbose=check_verbose(estimator),
        labels=used,
        beta=beta,
        strength=strength,
        beta_low=beta_low,
        warnings=warnings,
        rng=_generator(estimator.random_state),  # last: it moves a RandomState on
    )


def check_callback(estimator: Any) -> None:
    """Refuse a callback that cannot be called, or not every so many iterations."""
    if estimator.callback is not None and not callable(estimator.callback):
        raise TypeError(
            f"callback must be a function of (iteration, loss, embedding) or None, "
            f"got {estimator.callback!r:.60}"
        )
    check_count(estimator.callback_every, "callback_every", low=1)


def check_verbose(estimator: Any) -> int:
    """Return how much to log; True is 1."""
    verbose = estimator.verbose
    return check_count(int(verbose) if isinstance(verbose, bool) else verbose, "verbose", low=0)


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


def all_identical(X: Any, metric: str) -> bool:
    """Whether there is but one place for all points of X, features or distances."""
    if metric == "precomputed":
        return bool(X.max() == 0)
    if is_sparse(X):
        return not (X.max(axis=0) - X.min(axis=0)).toarray().any()
    return bool((X[1] == X[0]).all() and (X[0] == X).all())


def _check_per_label(
    value: Any, argument: str, labels: Labels | None, *, open_low: bool
) -> NDArray[np.float64]:
    """One number in the unit interval for each label; without labels none, but checked alike."""
    hint = "or a mapping from each label to such a number"
    if argument != "beta_low":
        hint += ', or "auto"'
    numbers = (
        {f"{argument}[{key!r:.40}]": number for key, number in value.items()}
        if isinstance(value, Mapping)
        else {argument: value}
    )
    for name, number in numbers.items():
        check_number(number, name, low=0, high=1, open_low=open_low, hint=hint)
    return np.empty(0) if labels is None else labels.per_label(value, argument=argument)


def _usable_labels(
    method: str,
    conditioned_below: bool,
    labels: Labels | None,
    warnings: list[str],
    *,
    y_given: bool,
) -> Labels | None:
    """Return the labels if there is something to factor out, else None with a warning."""
    if method == "tsne" and not conditioned_below:
        return None
    if labels is None:
        warnings.append(
            f'no labels given, so method="{method}" has nothing to factor out: this is plain '
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
    perplexity: float,
    strength: NDArray[np.float64] | None,
    warnings: list[str],
) -> None:
    """Warn of labels that cannot fill their points' lists of same-label neighbours.

    The lists are those of :func:`ctsne.neighbors.paper_lengths`, or with a strength those of
    :func:`ctsne.neighbors.balanced_lengths`.
    """
    n = labels.n_points
    total = min(ceil(3 * perplexity), n - 1)
    wanted = np.full(labels.n_labels, (total + 1) // 2)
    if strength is not None:
        share = strength * (labels.counts.sum() - labels.counts) / (n - 1)
        wanted = total - np.minimum(np.ceil(3 * share * perplexity), total - 1).astype(np.int64)
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


def _check_schedule(estimator: Any, n: int) -> Schedule:
    early = check_number(estimator.early_exaggeration, "early_exaggeration", low=0, open_low=True)
    late = check_number(estimator.exaggeration, "exaggeration", low=0, open_low=True)
    rate, early_rate = estimator.learning_rate, None
    if isinstance(rate, str):
        check_choice(rate, "learning_rate", ("auto",))
        # Larger steps give wider maps; in space these take meshes that are slow or too coarse.
        least = 12.0 if estimator.n_components == 3 else 1.0
        rate, early_rate = (max(200.0, n / max(least, factor)) for factor in (late, early))
    return Schedule(
        early_exaggeration=early,
        early_exaggeration_iter=check_count(
            estimator.early_exaggeration_iter, "early_exaggeration_iter", low=0
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
