"""The estimator's parameters, checked against the data before any work starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from ctsne._validation import (
    METRICS,
    check_choice,
    check_count,
    check_finite,
    check_jobs,
    check_number,
    check_perplexity,
)
from ctsne.labels import Labels
from ctsne.layout import Schedule
from ctsne.layout.start import STARTS

METHODS = ("tsne", "original", "revised", "balanced", "joint")


@dataclass(frozen=True)
class Settings:
    """What the estimator was asked for, in the form the stages take it."""

    method: str
    bandwidth: str
    perplexity: float
    metric: str
    n_components: int
    init: str | ArrayLike
    n_iter: int
    schedule: Schedule
    dof: float
    n_jobs: int
    rng: np.random.Generator
    labels: Labels | None
    beta: NDArray[np.float64]
    strength: NDArray[np.float64]
    beta_low: NDArray[np.float64] | None
    warnings: list[str] = field(default_factory=list)


def check_settings(estimator: Any, n: int, labels: Labels | None) -> Settings:
    """Check every parameter of an estimator for data of ``n`` points.

    Returns settings with the warnings to give; raises ValueError or TypeError for what cannot work.
    """
    warnings: list[str] = []
    method = check_choice(estimator.method, "method", METHODS)
    perplexity = check_perplexity(estimator.perplexity, n)
    metric = check_choice(estimator.metric, "metric", (*METRICS, "precomputed"))
    n_components = check_count(estimator.n_components, "n_components", low=1)
    if n_components > 3:
        raise ValueError(f"n_components must be 1, 2 or 3, got {n_components}")
    if estimator.callback is not None and not callable(estimator.callback):
        raise TypeError(f"callback must be callable, got {estimator.callback!r}")
    check_count(estimator.callback_every, "callback_every", low=1)
    beta = _check_per_label(estimator.beta, "beta", labels, open_low=True)
    strength = _check_per_label(estimator.strength, "strength", labels, open_low=False)
    beta_low = None
    if estimator.beta_low is not None:
        beta_low = _check_per_label(estimator.beta_low, "beta_low", labels, open_low=True)
    used = _usable_labels(method, beta_low is not None, labels, warnings)
    if used is not None and method in ("revised", "joint", "balanced"):
        _warn_of_small_labels(used, perplexity, warnings)
    return Settings(
        method=method if used is not None else "tsne",
        bandwidth=check_choice(estimator.bandwidth, "bandwidth", ("r", "p")),
        perplexity=perplexity,
        metric=metric,
        n_components=n_components,
        init=_check_init(estimator.init, n, n_components, metric),
        n_iter=check_count(estimator.n_iter, "n_iter", low=1),
        schedule=_check_schedule(estimator, n),
        dof=check_number(estimator.dof, "dof", low=0.05, high=1000),
        n_jobs=check_jobs(estimator.n_jobs),
        rng=_generator(estimator.random_state),
        labels=used,
        beta=beta,
        strength=strength,
        beta_low=beta_low,
        warnings=warnings,
    )


def _check_per_label(
    value: Any, argument: str, labels: Labels | None, *, open_low: bool
) -> NDArray[np.float64]:
    """One number in the unit interval for each label; without labels a single one, checked alike."""
    if labels is None:
        numbers = value.values() if hasattr(value, "values") else [value]
        return np.array([check_number(v, argument, low=0, high=1, open_low=open_low) for v in numbers])
    numbers = labels.per_label(value, argument=argument)
    for number in np.unique(numbers):
        check_number(float(number), argument, low=0, high=1, open_low=open_low)
    return numbers


def _usable_labels(
    method: str, conditioned_below: bool, labels: Labels | None, warnings: list[str]
) -> Labels | None:
    """The labels if there is something to factor out, else None with a warning."""
    if method == "tsne" and not conditioned_below:
        return None
    if labels is None:
        warnings.append(
            f'no labels given, so method="{method}" has nothing to factor out: this is plain t-SNE. '
            "Pass labels=... to fit, or method=\"tsne\" if that is what you want."
        )
        return None
    if labels.n_labels < 2:
        warnings.append(
            f"the labels hold {labels.describe()}: there is nothing to factor out, this is plain t-SNE."
        )
        return None
    return labels


def _warn_of_small_labels(labels: Labels, perplexity: float, warnings: list[str]) -> None:
    share = ceil(1.5 * perplexity)
    small = np.flatnonzero(labels.counts <= share)
    if len(small):
        shown = ", ".join(f"{labels.names[i]!s:.40} ({labels.counts[i]})" for i in small[:5])
        warnings.append(
            f"{len(small)} of {labels.n_labels} labels have fewer points than their share of "
            f"neighbours ({share}): {shown}{', ...' if len(small) > 5 else ''}. Points of other labels "
            "take their place; a smaller perplexity or larger groups would avoid that."
        )


def _check_init(init: Any, n: int, n_components: int, metric: str) -> str | ArrayLike:
    if isinstance(init, str):
        check_choice(init, "init", STARTS)
        if init == "pca" and metric == "precomputed":
            raise ValueError(
                'init="pca" needs features, but metric="precomputed" has only distances; '
                'use init="spectral", init="random" or an array of positions'
            )
        return init
    if sp.issparse(init):
        raise TypeError("init must be a dense array of start positions, got a sparse matrix")
    try:
        array = np.asarray(init, np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"init must be one of {', '.join(map(repr, STARTS))} or an array of numbers, got {init!r}"
        ) from error
    if array.shape != (n, n_components):
        raise ValueError(
            f"init must have one row per point and one column per dimension of the map, "
            f"({n}, {n_components}); got an array of shape {array.shape}"
        )
    check_finite(array, argument="init")
    return array


def _check_schedule(estimator: Any, n: int) -> Schedule:
    rate = estimator.learning_rate
    if isinstance(rate, str):
        check_choice(rate, "learning_rate", ("auto",))
        rate = max(200.0, n / 12)
    return Schedule(
        early_exaggeration=check_number(
            estimator.early_exaggeration, "early_exaggeration", low=0, open_low=True
        ),
        early_exaggeration_iter=check_count(
            estimator.early_exaggeration_iter, "early_exaggeration_iter", low=0
        ),
        exaggeration=check_number(estimator.exaggeration, "exaggeration", low=0, open_low=True),
        learning_rate=check_number(rate, "learning_rate", low=0, open_low=True),
    )


def _generator(random_state: Any) -> np.random.Generator:
    seed = check_random_state(random_state).randint(2**31 - 1)
    return np.random.default_rng(seed)
