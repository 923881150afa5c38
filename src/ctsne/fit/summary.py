"""A fitted model in short: the diagnostics it keeps with a map, and HTML for notebooks."""

import html
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.messages import value_text
from ctsne.affinity.result import DOMINATED, TRUST, kept_diagnostics
from ctsne.fit.advice import doubt_line
from ctsne.labels import UNNAMED
from ctsne.methods import METHODS, is_used

LEFT = "text-align:left;vertical-align:top"
_LONGEST = 200


def is_conditioned(model: Any) -> bool:
    """Return whether a fitted model had labels to factor out."""
    labels = model.labels_
    return labels is not None and any(column.n_labels > 1 for column in labels.columns)


def point_diagnostics(model: Any) -> dict[str, NDArray[np.float32]]:
    """Return the diagnostics per point that are kept with the map of a fitted model."""
    know_labels = is_conditioned(model) and METHODS[model.method].splits_neighbors
    kept = kept_diagnostics(model.diagnostics_, know_labels=know_labels)
    return kept | ({TRUST: model.trust_} if hasattr(model, "trust_") else {})


def facts_table(facts: Iterable[tuple[str, str]]) -> str:
    """Return a table with one row per fact: its name and its value."""
    rows = "".join(
        f'<tr><th style="{LEFT}">{html.escape(name)}</th>'
        f'<td style="{LEFT}">{escaped(value)}</td></tr>'
        for name, value in facts
    )
    return f'<table class="ctsne"><tbody>{rows}</tbody></table>'


def with_page(page: str, summary: str) -> str:
    """Return the page that a notebook shows with a summary below it, or the summary alone."""
    if not page:
        return summary
    # Of a notebook that is not trusted, programs keep summaries but not pages.
    hint = "In short (if there is no page above, trust this notebook)"
    return f"{page}<details><summary>{hint}</summary>{summary}</details>"


def escaped(text: str) -> str:
    """Return text that is safe inside HTML, shortened if it is long."""
    return html.escape(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")


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
    reached = f"not reached by {missed:,} of {n:,} points" if missed else "reached by all points"
    facts += [("perplexity", reached), ("dominated", dominated_text(diagnostics.largest_weight))]
    if hasattr(model, "trust_"):
        doubt = doubt_line(model.trust_, model.labels_, matched=diagnostics.matched)
        facts.append(("trust", doubt))
    if diagnostics.recall < 1:
        facts.append(("search", f"{diagnostics.recall:.1%} of the true neighbours found"))
    return facts_table(facts)


def _labels(model: Any) -> list[tuple[str, str]]:
    """Describe each label column: its labels, and if there are several, its knob and mixing."""
    labels = model.labels_
    if labels is None:
        return [("labels", "none")]
    facts = []
    knob = METHODS[model.method].knob or ""
    values, mixed = getattr(model, f"{knob}_", None), model.mixing_
    for name, column in labels.by_name.items():
        words = [column.describe()]
        if labels.n_columns > 1 and values is not None:
            words.append(f"{knob} {value_text(values[name])}")
        if labels.n_columns > 1 and mixed is not None and name in mixed:
            words.append(f"mixing {mixed[name]:.2f} of random")
        facts.append(("labels" if name == UNNAMED else f"label {name}", "; ".join(words)))
    return facts


def dominated_text(largest_weight: NDArray[np.floating]) -> str:
    """Count the points that are dominated by one neighbour."""
    number = int(np.count_nonzero(largest_weight > DOMINATED))
    points = f"{number:,} of {len(largest_weight):,} points" if number else "no points"
    return f"{points} have a neighbour with more than half of their weight"


def _setting(model: Any) -> str:
    method = METHODS[model.method]
    values = {name: getattr(model, name) for name in ("odds", "beta_low")}
    in_map = [f"{name} {value_text(value)}" for name, value in values.items() if value is not None]
    if not is_conditioned(model) or (method.knob is None and not in_map):
        return "t-SNE: nothing is factored out"
    words = [method.title]
    if method.knob is not None and is_used(method.knob, model.get_params(deep=False)):
        found = ""
        if model.mixing is not None:
            found = f" (found for mixing {value_text(model.mixing)})"
        words.append(f"{method.knob} {value_text(getattr(model, f'{method.knob}_'))}{found}")
    if model.diagnostics_.alignment != "none":
        words.append(f"align {model.diagnostics_.alignment}")
    return ", ".join([*words, *in_map])
