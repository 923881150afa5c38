"""The HTML table that a notebook shows for a fitted model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.html import facts_table
from ctsne._fit.fitting import point_diagnostics
from ctsne.affinity.result import DOMINATED, Diagnostics
from ctsne.methods import METHODS, is_used

__all__ = ["dominated_text", "fitted_html"]


def fitted_html(model: Any) -> str:
    """Summarize a fitted ``ConditionalTSNE``; return an empty string before the fit."""
    if not hasattr(model, "embedding_"):
        return ""
    n, dimensions = model.embedding_.shape
    space = {1: "one dimension", 2: "two dimensions", 3: "three dimensions"}[dimensions]
    facts = [
        ("map", f"{n:,} points in {space}"),
        ("method", _setting(model)),
        ("labels", "none" if model.labels_ is None else model.labels_.describe()),
        ("layout", f"{model.n_iter_} iterations, KL divergence {model.kl_divergence_:.4f}"),
        *_neighborhoods(model),
    ]
    if model.mixing_ is not None:
        facts.insert(3, ("mixing", f"{model.mixing_:.2f} of random"))
    return facts_table(facts)


def dominated_text(largest_weight: NDArray[np.floating]) -> str:
    """Count the points that are dominated by one neighbour."""
    number = int(np.count_nonzero(largest_weight > DOMINATED))
    points = _count(number, len(largest_weight)) if number else "no points"
    return f"{points} have a neighbour with more than half of their weight"


def _setting(model: Any) -> str:
    method = METHODS[model.method]
    below = {name: getattr(model, name) for name in ("odds", "beta_low")}
    given = {name: value for name, value in below.items() if value is not None}
    labelled = model.labels_ is not None and model.labels_.n_labels > 1
    if not labelled or (method.knob is None and not given):
        return "t-SNE: nothing is factored out"
    words = [method.title]
    if method.knob is not None and is_used(method.knob, model.get_params(deep=False)):
        found = f" (found for mixing {model.mixing:g})" if model.mixing is not None else ""
        words.append(f"{method.knob} {_value(getattr(model, f'{method.knob}_'))}{found}")
    if model.diagnostics_.alignment != "none":
        words.append(f"align {model.diagnostics_.alignment}")
    return ", ".join([*words, *(f"{name} {_value(value)}" for name, value in given.items())])


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _neighborhoods(model: Any) -> Iterable[tuple[str, str]]:
    diagnostics: Diagnostics = model.diagnostics_
    n = len(diagnostics.reached)
    share = point_diagnostics(model).get("other_share")
    if share is not None:
        yield "other labels", f"{share.mean():.0%} of a point's weight on average"
    missed = int(n - np.count_nonzero(diagnostics.reached))
    yield "perplexity", f"not reached by {_count(missed, n)}" if missed else "reached by all points"
    yield "dominated", dominated_text(diagnostics.largest_weight)
    if diagnostics.recall < 1:
        yield "search", f"{diagnostics.recall:.1%} of the true neighbours found"


def _count(number: int, n: int) -> str:
    return f"{number:,} of {n:,} points"
