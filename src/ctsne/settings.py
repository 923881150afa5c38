"""The parameters of a fit, checked once: which columns count, what repels, the knob at a level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from math import ceil
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ctsne._core import checks
from ctsne._core.components import check_components
from ctsne._core.messages import shown, value_text
from ctsne._core.vocabulary import BANDWIDTHS, METRICS, STARTS
from ctsne.affinity import beta_from_odds, joint_odds
from ctsne.labels import Labels
from ctsne.labels.columns import check_period
from ctsne.layout import Schedule
from ctsne.layout.descent import Callback
from ctsne.layout.repulsion import check_dof
from ctsne.methods import DEFAULT_METHOD, KNOBS, METHODS, Method, align_value, is_used, users_of
from ctsne.neighbors.alignment import check_align
from ctsne.neighbors.patterns import alike_counts

LARGEST_START = 1e5  # points farther apart than this feel no repulsion in single precision
LARGEST_ODDS = 1e6  # more would leave next to nothing of the repulsion between labels
# As given: a number, or numbers by label, by column, or by column and label.
GivenNumbers = float | Mapping[Any, Any] | None
# As checked: one array per label column, with one number per label.
PerLabel = tuple[NDArray[np.float64], ...]


@dataclass(kw_only=True, eq=False, repr=False)
class Parameters:
    """The parameters of ``ConditionalTSNE`` with their defaults, as the user gives them."""

    n_components: int = 2
    method: str = DEFAULT_METHOD
    mixing: GivenNumbers = None
    strength: GivenNumbers = None
    beta: GivenNumbers = None
    align: str | ArrayLike | None = None
    odds: GivenNumbers = None
    beta_low: GivenNumbers = None
    numbers_period: float | Mapping[str, float] | None = None
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
    labels: Labels | None  # the columns with something to factor out
    knob: PerLabel  # strength or beta; empty if the method has none
    beta_low: PerLabel | None  # requested conditioning of the map
    mixing: NDArray[np.float64] | None  # to find the knob for, one entry per column
    align: str | NDArray[np.floating]
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
    warnings: list[str] = field(default_factory=list)

    @cached_property
    def effective(self) -> Settings:
        """The settings without label columns that have no effect, such as those of strength 0."""
        # A single column stays: with beta = 1 or strength 0, the paper's methods still search
        # neighbours with the same and with other labels.
        labels = self.labels
        if labels is None or labels.n_columns == 1:
            return self
        effect = np.zeros(labels.n_columns, bool)
        if self.knob and (self.method.splits_neighbors or self.beta_low is None):
            effect |= [bool((knob != self.method.no_effect).any()) for knob in self.knob]
        if self.beta_low is not None:
            effect |= [bool((beta != 1).any()) for beta in self.beta_low]
        return self.of_columns(np.flatnonzero(effect).tolist()) if effect.any() else self.as_tsne()

    def as_tsne(self) -> Settings:
        """Return the settings without anything to factor out."""
        plain: dict[str, Any] = {"labels": None, "knob": (), "beta_low": None, "mixing": None}
        return replace(self, method=METHODS["tsne"], align="none", **plain)

    def of_columns(self, places: Sequence[int]) -> Settings:
        """Return the settings of some label columns."""
        if self.labels is None or len(places) == self.labels.n_columns:
            return self

        def kept(values: PerLabel) -> PerLabel:
            return tuple(values[place] for place in places) if values else ()

        return replace(
            self,
            labels=self.labels.keep(places),
            knob=kept(self.knob),
            beta_low=None if self.beta_low is None else kept(self.beta_low),
            mixing=None if self.mixing is None else self.mixing[list(places)],
        )

    @property
    def list_labels(self) -> Labels | None:
        """The labels that split neighbours into lists; None if the method has one list."""
        return self.effective.labels if self.effective.method.splits_neighbors else None

    @property
    def map_beta(self) -> PerLabel | None:
        """The conditioning of the map, requested or part of the method; None if there is none."""
        effective = self.effective
        beta = effective.beta_low
        if effective.labels is None:
            return None
        if beta is None and effective.method.conditions_map:
            beta = effective.knob  # of original; the strength of joint says the odds
            if effective.method.name == "joint":
                beta = beta_from_odds(effective.labels, [*map(joint_odds, beta)])
        return None if beta is None or all((each == 1).all() for each in beta) else beta

    def at_levels(self, levels: Sequence[float] | NDArray[np.float64]) -> Settings:
        """Return the settings with the knob of each column at a level from 0 to 1."""
        assert self.labels is not None
        knob = tuple(
            np.full(column.n_labels, self.method.knob_at(float(level)))
            for column, level in zip(self.labels.columns, levels, strict=True)
        )
        return replace(self, knob=knob)


def check_settings(
    given: Mapping[str, Any], X: Any, labels: Labels | None, *, y_given: bool = False
) -> Settings:
    """Check every parameter of an estimator against checked data; the result holds warnings."""
    n = X.shape[0]
    warnings: list[str] = []
    method = METHODS[checks.check_choice(given["method"], "method", tuple(METHODS))]
    perplexity = checks.check_perplexity(given["perplexity"], n)
    metric = checks.check_choice(given["metric"], "metric", METRICS)
    if metric == "precomputed":
        _check_distances(X, perplexity)
    if metric == "cosine":
        checks.check_directions(X)
    if (X.max() == 0) if metric == "precomputed" else checks.all_identical(X):
        warnings.append("all points of X are identical: their positions in the map mean nothing.")
    n_components = checks.check_count(given["n_components"], "n_components", low=1, high=3)
    mixing = _check_mixing(given, method, labels)
    knobs = _check_knobs(given, labels)
    beta_low = _check_beta_low(given, labels)
    for _, period in _numbers_in(given["numbers_period"], "numbers_period"):
        None if period is None else check_period(period)
    align = check_align(align_value(given), n, metric)
    if labels is not None and (method.knob is not None or beta_low is not None):
        labels.refuse_identifiers()
    settings = Settings(
        method=method,
        labels=labels,
        knob=knobs.get(method.knob or "", ()),
        beta_low=beta_low,
        mixing=mixing,
        align=align if method.splits_neighbors else "none",
        bandwidth=checks.check_choice(given["bandwidth"], "bandwidth", BANDWIDTHS),
        perplexity=perplexity,
        metric=metric,
        pca=check_components(given["pca"], X.shape, metric),
        recall=checks.check_number(given["recall"], "recall", low=0.5, high=1),
        n_components=n_components,
        init=_check_init(given["init"], n, n_components, metric),
        n_iter=checks.check_count(given["n_iter"], "n_iter", low=1),
        schedule=_check_schedule(given, n),
        dof=check_dof(given["dof"]),
        n_jobs=checks.check_jobs(given["n_jobs"]),
        # Last, as it advances a RandomState.
        rng=np.random.default_rng(checks.check_seed(given["random_state"]).randint(2**31 - 1)),
    )
    settings, unlabelled = _with_usable_labels(settings, y_given=y_given)
    messages = (unlabelled, _small_labels_warning(settings), *unused_warnings(given))
    warnings += [text for text in messages if text is not None]
    return replace(settings, warnings=warnings)


def knob_value(given: Mapping[str, Any]) -> Any:
    """Return the value of the method's knob: the one given, or its default."""
    method = METHODS[given["method"]]
    if method.knob is None:
        return None
    return method.default if given[method.knob] is None else given[method.knob]


def knob_by_column(settings: Settings, labels: Labels) -> Any:
    """Return the knob that a fit used: of its label column, or by name if there are several."""
    # A column has one number, or a mapping of label to number if they differ. Columns that were
    # left out have the value that conditions nothing.
    values: dict[str, Any] = dict.fromkeys(labels.names, settings.method.no_effect)
    if settings.labels is not None:
        own = zip(settings.labels.by_name.items(), settings.knob, strict=True)
        for (name, column), numbers in own:
            values[name] = dict(zip(column.names, numbers.tolist(), strict=True))
            if len(set(numbers.tolist())) == 1:
                values[name] = float(numbers[0])
    return labels.one_or_by_name(list(values.values()))


def _check_mixing(
    given: Mapping[str, Any], method: Method, labels: Labels | None
) -> NDArray[np.float64] | None:
    """Return the mixing to aim at, one per label column; refuse parameters that contradict it."""
    if given["mixing"] is None:
        return None
    mixing = given["mixing"]
    values = mixing if isinstance(mixing, Mapping) else {"mixing": mixing}
    if labels is not None:
        values = labels.per_column(mixing, argument="mixing")
    hint = "or a mapping from each label column to such a number"
    numbers = []
    for name, value in values.items():
        what = "mixing" if value is mixing else f"mixing[{shown(name, 40)}]"
        percent = isinstance(value, int | float) and 1 < value <= 100
        offer = f"{value / 100:g} is {value:g} percent" if percent else hint
        numbers.append(checks.check_number(value, what, low=0, high=1, hint=offer))
    text = f"mixing={value_text(mixing)}"
    if method.knob is None:
        how = f'but method="{method.name}" does not use labels'
        raise ValueError(f"{text} needs a method that conditions, {how}; leave one of them out")
    for name in KNOBS:
        if given[name] is not None:
            found = f"{text} finds the value of {method.knob} itself"
            how = f"but {name}={shown(given[name])} was given too; leave one of them out"
            raise ValueError(f"{found}, {how}")
    if not is_used(method.knob, given):
        why = f'method="{method.name}" and a given odds or beta_low, which replaces {method.knob}'
        raise ValueError(f"{text} cannot be reached with {why}; leave that out")
    return np.array(numbers)


def _check_knobs(given: Mapping[str, Any], labels: Labels | None) -> dict[str, PerLabel]:
    values = {name: given[name] for name in KNOBS if given[name] is not None}
    knob = METHODS[given["method"]].knob
    if knob is not None:
        values[knob] = knob_value(given)
    return {
        name: _check_numbers(value, name, labels, high=1.0, open_low=name == "beta")
        for name, value in values.items()
    }


def _check_beta_low(given: Mapping[str, Any], labels: Labels | None) -> PerLabel | None:
    """Return the requested conditioning of the map, as the paper's beta per label."""
    odds, beta_low = given["odds"], given["beta_low"]
    if odds is not None and beta_low is not None:
        both = f"odds={shown(odds)} and beta_low={shown(beta_low)}"
        raise ValueError(f"{both} set the same thing; leave one of them out")
    if beta_low is not None:
        return _check_numbers(beta_low, "beta_low", labels, high=1.0, open_low=True)
    if odds is None:
        return None
    values = _check_numbers(odds, "odds", labels, low=1.0, high=LARGEST_ODDS)
    return () if labels is None else beta_from_odds(labels, values)


def _check_numbers(
    value: Any, argument: str, labels: Labels | None, high: float, **more: Any
) -> PerLabel:
    hint = "or a mapping from each label, or label column, to such a number"
    for name, number in _numbers_in(value, argument):
        checks.check_number(number, name, **{"low": 0.0, "high": high, "hint": hint, **more})
    return () if labels is None else labels.per_label(value, argument=argument)


def _numbers_in(value: Any, argument: str) -> list[tuple[str, Any]]:
    """Return every number of a mapping, which may be nested, with its name for messages."""
    if not isinstance(value, Mapping):
        return [(argument, value)]
    inner = (_numbers_in(x, f"{argument}[{shown(key, 40)}]") for key, x in value.items())
    return [entry for entries in inner for entry in entries]


def _with_usable_labels(settings: Settings, *, y_given: bool) -> tuple[Settings, str | None]:
    """Leave out label columns with less than two labels, and say so; without any: t-SNE."""
    method, labels = settings.method, settings.labels
    if method.knob is None and settings.beta_low is None:
        return settings.as_tsne(), None
    if labels is None:
        hint = " y is ignored: pass the labels as labels=." if y_given else ""
        return settings.as_tsne(), (
            f'no labels given, so method="{method.name}" has nothing to factor out: this is plain '
            f't-SNE. Pass labels=... to fit, or method="tsne" if that is what you want.{hint}'
        )
    usable = [place for place, column in enumerate(labels.columns) if column.n_labels >= 2]
    few = {name: column for name, column in labels.by_name.items() if column.n_labels < 2}
    empty = [f"{name} ({column.describe()})" for name, column in few.items()]
    if not empty:
        return settings, None
    if not usable:
        message = "there is nothing to factor out, so this is plain t-SNE."
        return settings.as_tsne(), f"the labels hold {labels.describe()}: {message}"
    left = f"the label column {empty[0]} is left out: it has"
    if len(empty) > 1:
        left = f"the label columns {' and '.join(empty)} are left out: they have"
    return settings.of_columns(usable), f"{left} nothing to factor out."


def _small_labels_warning(settings: Settings) -> str | None:
    labels, method = settings.labels, settings.method
    if labels is None or not method.splits_neighbors:
        return None
    combined, n = labels.combined, labels.n_points
    length = min(ceil(method.row_length * settings.perplexity), n - 1)
    share = np.full(combined.n_labels, 0.5 if method.name == "revised" else 1.0)
    if method.name != "revised":
        _, first = np.unique(combined.codes, return_index=True)
        table = labels.codes[first[-combined.n_labels :]]  # without points that have no label
        for c, column in enumerate(labels.columns):
            half = np.full(column.n_labels, 0.5)
            if method.name == "balanced":  # the share goes from half to that of a random draw
                half += settings.knob[c] * ((column.counts - 1) / (n - 1) - half)
            share *= np.append(half, 1.0)[table[:, c]]
    wanted = np.ceil(length * share).astype(np.int64)
    small = np.flatnonzero(alike_counts(labels) < wanted)
    if len(small) == 0:
        return None
    some = [f"{combined.names[i]!s:.40} ({combined.counts[i]})" for i in small[:5]]
    some += ["and others"] if len(small) > 5 else []
    verb, their = ("has", "its") if len(small) == 1 else ("have", "their")
    one, several = "label", "labels"
    if labels.n_columns > 1:
        one, several = "combination of labels", "combinations of labels"
    return (
        f"{len(small)} of {combined.n_labels} {several} {verb} too few points for {their} share of "
        f"neighbours (up to {wanted[small].max()} others with the same {one}): "
        f"{', '.join(some)}. Points of other labels take their place; a smaller perplexity would "
        "avoid that."
    )


def unused_warnings(given: Mapping[str, Any]) -> list[str]:
    """Return a warning per parameter that was given but is ignored by the method."""
    messages = []
    for name in (*KNOBS, "align"):
        given_by_user = given[name] is not None and not np.array_equal(given[name], "none")
        if is_used(name, given) or not given_by_user:
            continue
        users = users_of(name)
        methods = ", ".join(f'"{method}"' for method in users)
        replaced = " and a given odds or beta_low" if given["method"] in users else ""
        value = shown(given[name]) if np.ndim(given[name]) == 0 else "..."
        without = f'has no effect with method="{given["method"]}"{replaced}'
        messages.append(f"{name}={value} {without}: it is for {methods}.")
    return messages


def _check_distances(X: Any, perplexity: float) -> None:
    """Refuse anything but distances, and a graph too sparse for the perplexity."""
    n = X.shape[0]
    if X.shape != (n, n):
        must = "X must be a square matrix of distances between the points"
        got = f"got shape {X.shape}; for features use another metric"
        raise ValueError(f'with metric="precomputed", {must}, {got}')
    if X.min() < 0:
        must = 'with metric="precomputed", X must hold distances, which are not negative'
        raise ValueError(f"{must}, got {X.min()}; turn similarities into distances first")
    if not checks.is_sparse(X):
        return
    edges = sp.coo_array(X)
    degree = np.bincount(edges.row[edges.row != edges.col], minlength=n)
    least = int(degree.min())
    if least < perplexity:
        works = f"the largest that works is {least}" if least else "every point needs some"
        what = f"perplexity={perplexity:g} is too large for this graph"
        has = f"point {int(degree.argmin())} has {least} neighbours in X"
        raise ValueError(f"{what}: {has}; {works}, and three times the perplexity is advisable")


def _check_init(init: Any, n: int, n_components: int, metric: str) -> str | NDArray[np.float32]:
    if isinstance(init, str):
        checks.check_choice(init, "init", STARTS)
        if init == "pca" and metric == "precomputed":
            what = 'init="pca" needs features, but metric="precomputed" has only distances'
            raise ValueError(f'{what}; use init="spectral", init="random" or an array of positions')
        return init
    if checks.is_sparse(init):
        raise TypeError("init must be a dense array of start positions, got a sparse matrix")
    array = checks.as_numbers(init, argument="init")
    if array.shape != (n, n_components):
        what = f"init must be one of {', '.join(map(repr, STARTS))}, or one position per point"
        how = f"of shape ({n}, {n_components}); got an array of shape {array.shape}"
        raise ValueError(f"{what}, {how}")
    checks.check_finite(array, argument="init", columns=getattr(init, "columns", None))
    largest = float(np.abs(array).max())
    if largest > LARGEST_START:
        what = f"init must hold positions of at most {LARGEST_START:g}, got {largest:g}"
        raise ValueError(f"{what}; about 1e-4 across gives the best maps")
    return np.asarray(array, np.float32)


def _check_schedule(given: Mapping[str, Any], n: int) -> Schedule:
    positive = partial(checks.check_number, low=0, open_low=True)
    early = positive(given["early_exaggeration"], "early_exaggeration")
    late = positive(given["exaggeration"], "exaggeration", high=1e30)
    rate, early_rate = given["learning_rate"], None
    if isinstance(rate, str):
        checks.check_choice(rate, "learning_rate", ("auto",))
        # Larger steps give wider maps; in three dimensions their meshes are slow or too coarse.
        least = 12.0 if given["n_components"] == 3 else 1.0
        rate, early_rate = (max(200.0, n / max(least, factor)) for factor in (late, early))
    n_early = checks.check_count(given["early_exaggeration_iter"], "early_exaggeration_iter", low=0)
    rate = positive(rate, "learning_rate", hint='or "auto"')
    return Schedule(early, n_early, late, learning_rate=rate, early_learning_rate=early_rate)
