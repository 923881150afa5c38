"""HTML for notebooks: small tables in the notebook's own colours, with all text escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.messages import value_text
from ctsne.affinity.result import DOMINATED
from ctsne.fit.fitting import is_conditioned, point_diagnostics
from ctsne.labels import Labels
from ctsne.methods import METHODS, is_used
from ctsne.storage.model import label_name

LEFT = "text-align:left;vertical-align:top"
NUMBER = "text-align:right;font-variant-numeric:tabular-nums"
_LONGEST = 200


def facts_table(facts: Iterable[tuple[str, str]]) -> str:
    """Return a table with one row per fact: its name and its value."""
    rows = "".join(
        f'<tr><th style="{LEFT}">{html.escape(name)}</th>'
        f'<td style="{LEFT}">{escaped(value)}</td></tr>'
        for name, value in facts
    )
    return f'<table class="ctsne"><tbody>{rows}</tbody></table>'


def with_page(page: str, table: str) -> str:
    """Return the page that a notebook shows with a table below it, or the table alone."""
    if not page:
        return table
    # Of a notebook that is not trusted, programs keep tables but not pages.
    hint = "As a table (if there is no page above, trust this notebook)"
    return f"{page}<details><summary>{hint}</summary>{table}</details>"


def escaped(text: str) -> str:
    """Return text that is safe inside HTML, shortened if it is long."""
    return html.escape(shortened(text))


def shortened(text: str) -> str:
    """Cut a long text and mark the cut with an ellipsis."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def fitted_html(model: Any) -> str:
    """Summarize a fitted ``ConditionalTSNE``; return an empty string before the fit."""
    if not hasattr(model, "embedding_"):
        return ""
    n, dimensions = model.embedding_.shape
    space = {1: "one dimension", 2: "two dimensions", 3: "three dimensions"}[dimensions]
    facts = [("map", f"{n:,} points in {space}"), ("method", _setting(model)), *_labels(model)]
    if model.mixing_ is not None and not isinstance(model.mixing_, Mapping):
        facts.append(("mixing", f"{model.mixing_:.2f} of random"))
    loss = f"KL divergence {model.kl_divergence_:.4f}"
    facts.append(("layout", f"{model.n_iter_} iterations, {loss}"))
    diagnostics, share = model.diagnostics_, point_diagnostics(model).get("other_share")
    if share is not None:
        facts.append(("other labels", f"{share.mean():.0%} of a point's weight on average"))
    missed = int(n - np.count_nonzero(diagnostics.reached))
    reached = f"not reached by {_count(missed, n)}" if missed else "reached by all points"
    facts += [("perplexity", reached), ("dominated", dominated_text(diagnostics.largest_weight))]
    if diagnostics.recall < 1:
        facts.append(("search", f"{diagnostics.recall:.1%} of the true neighbours found"))
    return facts_table(facts)


def _labels(model: Any) -> list[tuple[str, str]]:
    """Describe the labels: each column with its strength, and its mixing if that was requested."""
    labels = model.labels_
    if not isinstance(labels, Labels):
        name = label_name(model)
        title = f"label {name}" if name else "labels"
        return [(title, "none" if labels is None else labels.describe())]
    facts = []
    knob = METHODS[model.method].knob or ""
    values, mixed = getattr(model, f"{knob}_", None) or {}, model.mixing_ or {}
    for name, column in zip(labels.names, labels.columns, strict=True):
        words = [column.describe()]
        if name in values:
            words.append(f"{knob} {value_text(values[name])}")
        if name in mixed:
            words.append(f"mixing {mixed[name]:.2f} of random")
        facts.append((f"label {name}", "; ".join(words)))
    return facts


def dominated_text(largest_weight: NDArray[np.floating]) -> str:
    """Count the points that are dominated by one neighbour."""
    number = int(np.count_nonzero(largest_weight > DOMINATED))
    points = _count(number, len(largest_weight)) if number else "no points"
    return f"{points} have a neighbour with more than half of their weight"


def _setting(model: Any) -> str:
    method = METHODS[model.method]
    values = {name: getattr(model, name) for name in ("odds", "beta_low")}
    below = [f"{name} {value_text(value)}" for name, value in values.items() if value is not None]
    if not is_conditioned(model) or (method.knob is None and not below):
        return "t-SNE: nothing is factored out"
    words = [method.title]
    if method.knob is not None and is_used(method.knob, model.get_params(deep=False)):
        found = ""
        if model.mixing is not None:
            found = f" (found for mixing {value_text(model.mixing)})"
        words.append(f"{method.knob} {value_text(getattr(model, f'{method.knob}_'))}{found}")
    if model.diagnostics_.alignment != "none":
        words.append(f"align {model.diagnostics_.alignment}")
    return ", ".join([*words, *below])


def _count(number: int, n: int) -> str:
    return f"{number:,} of {n:,} points"
