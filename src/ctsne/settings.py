"""The estimator's parameters, checked against the data before any work starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

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
    check_seed,
    is_sparse,
)
from ctsne._core.components import check_components
from ctsne._core.vocabulary import BANDWIDTHS, METRICS, STARTS
from ctsne.fit import conditioning
from ctsne.labels import Column, Labels
from ctsne.layout import Schedule
from ctsne.layout.descent import Callback
from ctsne.layout.repulsion import check_dof
from ctsne.methods import DEFAULT_METHOD, METHODS, Method
from ctsne.neighbors.alignment import check_align

# Points farther apart than this feel no repulsion in single precision.
LARGEST_START = 1e5
PerLabel = float | Mapping[Any, float] | None


@dataclass(kw_only=True, eq=False, repr=False)
class Parameters:
    """The parameters of ``ConditionalTSNE`` with their defaults, as the user gives them."""

    n_components: int = 2
    method: str = DEFAULT_METHOD
    mixing: PerLabel = None
    strength: PerLabel = None
    beta: PerLabel = None
    align: str | ArrayLike = "none"
    odds: PerLabel = None
    beta_low: PerLabel = None
    bandwidth: str = "r"
    perplexity: float = 30
    metric: str = "euclidean"
    pca: int | str | None = "auto"
    recall: float = 0.99
    init: str | ArrayLike = "pca"
    n_iter: int = 750
    early_exaggeration: float = 12
    early_exaggeration_iter: int = 250
    exaggeration: float = 1
    learning_rate: float | str = "auto"
    dof: float = 1
    callback: Callback | None = None
    callback_every: int = 50
    n_jobs: int | None = -1
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0


# A misspelt parameter is reported with the name that the user called.
Parameters.__init__.__qualname__ = "ConditionalTSNE.__init__"
DEFAULTS: dict[str, Any] = {each.name: each.default for each in fields(Parameters)}


@dataclass(frozen=True)
class Settings:
    """The estimator's parameters in the form that the stages take."""

    method: Method
    # With several label columns, one entry per column instead of one per label.
    knob: NDArray[np.float64]  # strength or beta per label
    beta_low: NDArray[np.float64] | None  # requested conditioning of the map per label
    align: str | NDArray[np.floating]
    # To find the knob for; an array with one entry per column if there are several.
    mixing: Any
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
    labels: Column | Labels | None
    warnings: list[str] = field(default_factory=list)

    def conditioned(self) -> Settings:
        """Return the settings without label columns that have no effect, such as strength 0."""
        labels = self.labels
        if not isinstance(labels, Labels):
            return self
        effect = np.zeros(labels.n_columns, bool)
        if self.method.two_lists or (self.method.knob is not None and self.beta_low is None):
            effect |= self.knob != (0 if self.method.knob == "strength" else 1)
        if self.beta_low is not None:
            effect |= self.beta_low != 1
        places = np.flatnonzero(effect).tolist()
        if len(places) == labels.n_columns:
            return self
        if not places:
            none = np.empty(0)
            return replace(
                self, method=METHODS["tsne"], labels=None, knob=none, beta_low=None, align="none"
            )
        knob, beta_low = (
            None if values is None else conditioning.of_columns(values, labels, places)
            for values in (self.knob if len(self.knob) else None, self.beta_low)
        )
        kept = labels.keep(places)
        return replace(
            self, labels=kept, knob=np.empty(0) if knob is None else knob, beta_low=beta_low
        )


def check_settings(
    given: Mapping[str, Any],
    X: Any,
    labels: Column | Labels | None,
    *,
    y_given: bool = False,
) -> Settings:
    """Check every parameter of an estimator against checked data; the result holds warnings."""
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
        warnings.append("all points of X are identical: their positions in the map mean nothing.")
    n_components = check_count(given["n_components"], "n_components", low=1, high=3)
    mixing = conditioning.check_mixing(given, method, labels)
    knobs = conditioning.check_knobs(given, labels)
    beta_low = conditioning.check_below(given, labels)
    align = check_align(given["align"], n, metric)
    below = beta_low is not None
    used, unlabelled = conditioning.usable_labels(method, labels, below=below, y_given=y_given)
    if used is None:
        method, mixing = METHODS["tsne"], None
    knob = knobs.get(method.knob or "", np.empty(0))
    if isinstance(labels, Labels) and used is not None and used is not labels:
        places = conditioning.usable_places(labels)
        knob = conditioning.of_columns(knob, labels, places) if len(knob) else knob
        if beta_low is not None:
            beta_low = conditioning.of_columns(beta_low, labels, places)
        if mixing is not None:
            each = np.asarray(mixing)[places]
            mixing = each if len(each) > 1 else float(each[0])
    small = None
    if used is not None and method.two_lists:
        small = conditioning.small_labels_warning(used, method, perplexity, knob)
    warnings += [
        text
        for text in (unlabelled, small, *conditioning.unused_warnings(given))
        if text is not None
    ]
    return Settings(
        method=method,
        knob=knob,
        beta_low=beta_low,
        mixing=mixing,
        labels=used,
        warnings=warnings,
        metric=metric,
        perplexity=perplexity,
        n_components=n_components,
        align=align if used is not None and method.two_lists else "none",
        bandwidth=check_choice(given["bandwidth"], "bandwidth", BANDWIDTHS),
        pca=check_components(given["pca"], X.shape, metric),
        recall=check_number(given["recall"], "recall", low=0.5, high=1),
        init=_check_init(given["init"], n, n_components, metric),
        n_iter=check_count(given["n_iter"], "n_iter", low=1),
        schedule=_check_schedule(given, n),
        dof=check_dof(given["dof"]),
        n_jobs=check_jobs(given["n_jobs"]),
        rng=_generator(given["random_state"]),  # last, as it advances a RandomState
    )


def _check_distances(X: Any, perplexity: float) -> None:
    """Refuse anything but distances, and a graph too sparse for the perplexity."""
    n = X.shape[0]
    if X.shape != (n, n):
        raise ValueError(
            'with metric="precomputed", X must be a square matrix of distances between the points, '
            f"got shape {X.shape}; for features use another metric"
        )
    if X.min() < 0:
        must = 'with metric="precomputed", X must hold distances, which are not negative'
        raise ValueError(f"{must}, got {X.min()}; turn similarities into distances first")
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
            f"init must be one of {', '.join(map(repr, STARTS))}, or one position per point, of "
            f"shape ({n}, {n_components}); got an array of shape {array.shape}"
        )
    check_finite(array, argument="init", columns=getattr(init, "columns", None))
    largest = float(np.abs(array).max())
    if largest > LARGEST_START:
        raise ValueError(
            f"init must hold positions of at most {LARGEST_START:g}, got {largest:g}; about 1e-4 "
            "across gives the best maps"
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
    n_early = check_count(given["early_exaggeration_iter"], "early_exaggeration_iter", low=0)
    rate = check_number(rate, "learning_rate", low=0, open_low=True, hint='or "auto"')
    return Schedule(
        early_exaggeration=early,
        early_exaggeration_iter=n_early,
        exaggeration=late,
        learning_rate=rate,
        early_learning_rate=early_rate,
    )


def _generator(random_state: Any) -> np.random.Generator:
    return np.random.default_rng(check_seed(random_state).randint(2**31 - 1))
