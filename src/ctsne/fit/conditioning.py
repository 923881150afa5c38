"""Checks of how much to factor out, before any work starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import check_number
from ctsne._core.messages import shown, value_text
from ctsne.affinity import beta_from_odds
from ctsne.labels import Column, Labels
from ctsne.methods import KNOBS, METHODS, Method, is_used, users_of
from ctsne.neighbors.patterns import alike_counts

# More would leave next to nothing of the repulsion between labels.
LARGEST_ODDS = 1e6
Floats = NDArray[np.float64]


def knob_value(given: Mapping[str, Any]) -> Any:
    """Return the value of the method's knob: the one given, or its default."""
    method = METHODS[given["method"]]
    if method.knob is None:
        return None
    return method.default if given[method.knob] is None else given[method.knob]


def check_mixing(
    given: Mapping[str, Any], method: Method, labels: Column | Labels | None
) -> float | Floats | None:
    """Return the mixing to aim at, of each label column if there are several.

    Parameters that contradict it are refused.
    """
    if given["mixing"] is None:
        return None
    mixing: float | Floats
    if isinstance(labels, Labels):
        mixing = check_per_label(given["mixing"], "mixing", labels, high=1.0)
    elif isinstance(given["mixing"], Mapping):
        only = "a mapping by column needs several label columns"
        raise TypeError(
            f"mixing must be a number from 0 to 1, got {shown(given['mixing'])}; {only}"
        )
    else:
        mixing = check_number(given["mixing"], "mixing", low=0, high=1)
    text = f"mixing={value_text(given['mixing'])}"
    if method.knob is None:
        raise ValueError(
            f"{text} needs a method that conditions, but "
            f'method="{method.name}" does not use labels; leave one of them out'
        )
    for name in KNOBS:
        if given[name] is not None:
            raise ValueError(
                f"{text} finds the value of {method.knob} itself, but "
                f"{name}={shown(given[name])} was given too; leave one of them out"
            )
    if not is_used(method.knob, given):
        raise ValueError(
            f'{text} cannot be reached with method="{method.name}" and a given odds or '
            f"beta_low, which replaces {method.knob}; leave that out"
        )
    return mixing


def check_knobs(given: Mapping[str, Any], labels: Column | Labels | None) -> dict[str, Floats]:
    """Check every knob that was given, and return their values per label or label column."""
    values = {name: given[name] for name in KNOBS if given[name] is not None}
    knob = METHODS[given["method"]].knob
    if knob is not None:
        values[knob] = knob_value(given)
    return {
        name: check_per_label(value, name, labels, high=1.0, open_low=name == "beta")
        for name, value in values.items()
    }


def check_below(given: Mapping[str, Any], labels: Column | Labels | None) -> Floats | None:
    """Return the requested conditioning of the map, as the paper's beta per label or column."""
    odds, beta_low = given["odds"], given["beta_low"]
    if odds is not None and beta_low is not None:
        both = f"odds={shown(odds)} and beta_low={shown(beta_low)}"
        raise ValueError(f"{both} set the same thing; leave one of them out")
    if beta_low is not None:
        return check_per_label(beta_low, "beta_low", labels, high=1.0, open_low=True)
    if odds is None:
        return None
    values = check_per_label(odds, "odds", labels, low=1.0, high=LARGEST_ODDS)
    return values if labels is None else beta_from_odds(labels, values)


def usable_labels(
    method: Method, labels: Column | Labels | None, *, below: bool, y_given: bool
) -> tuple[Column | Labels | None, str | None]:
    """Return the labels if there is something to factor out, else None; and a warning.

    Columns with less than two labels are left out.
    """
    if method.knob is None and not below:
        return None, None
    if labels is None:
        hint = " y is ignored: pass the labels as labels=." if y_given else ""
        return None, (
            f'no labels given, so method="{method.name}" has nothing to factor out: this is plain '
            f't-SNE. Pass labels=... to fit, or method="tsne" if that is what you want.{hint}'
        )
    if isinstance(labels, Labels):
        return _usable_columns(labels)
    if labels.n_labels < 2:
        hold = f"the labels hold {labels.describe()}"
        return None, f"{hold}: there is nothing to factor out, so this is plain t-SNE."
    return labels, None


def usable_places(labels: Labels) -> list[int]:
    """Return the columns with at least two labels."""
    return [place for place, column in enumerate(labels.columns) if column.n_labels >= 2]


def _usable_columns(labels: Labels) -> tuple[Column | Labels | None, str | None]:
    places = usable_places(labels)
    empty = [place for place in range(labels.n_columns) if place not in places]
    if not empty:
        return labels, None
    some = [f"{labels.names[place]} ({labels.columns[place].describe()})" for place in empty]
    if not places:
        hold = f"the label columns hold one label or none: {', '.join(some)}"
        return None, f"{hold}. There is nothing to factor out, so this is plain t-SNE."
    left = f"the label column {some[0]} is left out: it has"
    if len(some) > 1:
        left = f"the label columns {' and '.join(some)} are left out: they have"
    return labels.keep(places), f"{left} nothing to factor out."


def of_columns(values: Floats, labels: Labels, places: Sequence[int]) -> Floats:
    """Return the values of some columns; of a single one, for each of its labels."""
    kept = values[list(places)]
    return kept if len(kept) > 1 else np.full(labels.columns[places[0]].n_labels, kept[0])


def by_column(
    labels: Labels, used: Column | Labels | None, method: Method, knob: Floats
) -> dict[str, float]:
    """Return the knob of each column by its name; that of columns left out has no effect."""
    values = dict.fromkeys(labels.names, 0.0 if method.knob == "strength" else 1.0)
    if used is not None:
        each = knob if isinstance(used, Labels) else knob[:1]
        names = [labels.names[place] for place in usable_places(labels)]
        values.update(zip(names, map(float, each), strict=True))
    return values


def small_labels_warning(
    labels: Column | Labels, method: Method, perplexity: float, knob: Floats
) -> str | None:
    """Return a warning if labels are too small for their half of the neighbours."""
    one, several = "label", "labels"
    half, balanced = 0.5, method.name == "balanced"
    if isinstance(labels, Labels):
        one, several = "combination of labels", "combinations of labels"
        half = 0.5 if method.name == "revised" else 0.5**labels.n_columns
        balanced, has = False, alike_counts(labels)
        labels = labels.combined
    else:
        has = labels.counts - 1 + labels.n_missing
    length = min(ceil(method.row_length * perplexity), labels.n_points - 1)
    share = np.full(labels.n_labels, half)
    if balanced:  # the share goes from half to that of a random draw
        share += knob * ((labels.counts - 1) / (labels.n_points - 1) - share)
    wanted = np.ceil(length * share).astype(np.int64)
    small = np.flatnonzero(has < wanted)
    if len(small) == 0:
        return None
    some = [f"{labels.names[i]!s:.40} ({labels.counts[i]})" for i in small[:5]]
    some += ["and others"] if len(small) > 5 else []
    verb, their = ("has", "its") if len(small) == 1 else ("have", "their")
    return (
        f"{len(small)} of {labels.n_labels} {several} {verb} too few points for {their} share of "
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
        methods = " and ".join(f'"{method}"' for method in users)
        below = " and a given odds or beta_low" if given["method"] in users else ""
        value = shown(given[name]) if np.ndim(given[name]) == 0 else "..."
        without = f'has no effect with method="{given["method"]}"{below}'
        messages.append(f"{name}={value} {without}: it is for {methods}.")
    return messages


def check_per_label(
    value: Any,
    argument: str,
    labels: Column | Labels | None,
    *,
    low: float = 0.0,
    high: float,
    open_low: bool = False,
) -> Floats:
    """Return one number per label, or per label column if there are several.

    Without labels, check it alike and return an empty array.
    """
    numbers = {argument: value}
    if isinstance(value, Mapping):
        numbers = {f"{argument}[{shown(key, 40)}]": number for key, number in value.items()}
    several = isinstance(labels, Labels)
    hint = f"or a mapping from each label{' column' if several else ''} to such a number"
    for name, number in numbers.items():
        check_number(number, name, low=low, high=high, open_low=open_low, hint=hint)
    if labels is None:
        return np.empty(0)
    if isinstance(labels, Labels):
        return labels.per_column(value, argument=argument)
    return labels.per_label(value, argument=argument)
