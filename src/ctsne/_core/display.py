"""What a notebook shows of a fitted model and of a sweep: the essentials as HTML.

Colours are translucent and text has the notebook's own colour, so that it reads on a dark ground
too. All text that comes from the user's data is escaped.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ctsne.affinity.result import DOMINATED, Diagnostics
from ctsne.methods import METHODS, is_used

if TYPE_CHECKING:
    from ctsne.sweep.result import SweepResult
    from ctsne.sweep.swept import SweptMap

__all__ = ["fitted_html", "sweep_html", "swept_map_html"]

_LONGEST = 200
_LEFT = "text-align:left;vertical-align:top"
_NUMBER = "text-align:right;font-variant-numeric:tabular-nums"
# What to choose a map by, and what it means.
_MEASURES = {
    "mixing": "how far the label is mixed: 0 not at all, 1 as random labels would be",
    "adjusted_rnx": "share of neighbours kept, adjusted for the label: 0 as in a random map, 1 all",
    "other_laplacian": "how far the other label is mixed, as a share of neighbours: less is purer",
}


def fitted_html(model: Any) -> str:
    """Say how a fitted ``ConditionalTSNE`` came out; nothing of one that is not fitted."""
    if not hasattr(model, "embedding_"):
        return ""
    n, dimensions = model.embedding_.shape
    plane = {1: "a line", 2: "a plane", 3: "space"}[dimensions]
    facts = [
        ("map", f"{n:,} points in {plane}"),
        ("method", _setting(model)),
        ("labels", "none" if model.labels_ is None else model.labels_.describe()),
        ("layout", f"{model.n_iter_} iterations, KL divergence {model.kl_divergence_:.4f}"),
        *_neighborhoods(model),
    ]
    if model.mixing_ is not None:
        facts.insert(3, ("mixing", f"{model.mixing_:.2f} of random"))
    return _facts(facts)


def swept_map_html(swept: SweptMap) -> str:
    """Show the setting of one map of a sweep and the measures to choose by."""
    facts = [("setting", swept.title)]
    if swept.error is not None:
        return _facts([*facts, ("failed", swept.error)])
    for name, meaning in _MEASURES.items():
        if name in swept.measures:
            facts.append((name, f"{swept.measures[name]:.2f} ({meaning})"))
    if "largest_weight" in swept.diagnostics:
        facts.append(("dominated", _dominated(swept.diagnostics["largest_weight"])))
    return _facts(facts)


def sweep_html(result: SweepResult) -> str:
    """Show the table of a sweep with the suggested map marked."""
    suggested, told = _suggestion(result)
    measures = [name for name in _MEASURES if any(name in swept.measures for swept in result.maps)]
    head = "".join(
        f'<th title="{html.escape(_MEASURES[name])}" style="{_NUMBER}">{name}</th>'
        for name in measures
    )
    rows = "".join(_row(swept, measures, chosen=swept is suggested) for swept in result.maps)
    maps = "1 map" if len(result.maps) == 1 else f"{len(result.maps)} maps"
    return (
        f'<div class="ctsne"><p>Sweep of {maps}. {html.escape(told)}</p>'
        '<div style="max-height:32em;overflow:auto"><table>'
        f'<thead><tr><th></th><th style="{_LEFT}">setting</th>{head}'
        f'<th style="{_NUMBER}">seconds</th></tr></thead><tbody>{rows}</tbody></table></div></div>'
    )


def _suggestion(result: SweepResult) -> tuple[SweptMap | None, str]:
    try:
        suggested = result.suggest()
    except ValueError as error:  # it says why, and what to do
        text = str(error)
        return None, text[0].upper() + text[1:] + "."
    if suggested.map is None:
        return None, f"No map is suggested: {suggested.reason}."
    title = _shortened(suggested.map.title)
    return suggested.map, f"Suggested by suggest(): {title}; {suggested.reason}."


def _row(swept: SweptMap, measures: list[str], *, chosen: bool) -> str:
    mark = '<span title="suggested" role="img" aria-label="suggested">★</span>' if chosen else ""
    ground = "background:rgba(230,159,0,.22)" if chosen else ""
    weight = "font-weight:bold;" if chosen else ""
    title = html.escape(_shortened(swept.title))
    cells = f'<td>{mark}</td><td style="{weight}{_LEFT}">{title}</td>'
    if swept.error is not None:
        wide = len(measures) + 1
        cells += f'<td colspan="{wide}" style="{_LEFT}">failed: {_escaped(swept.error)}</td>'
    else:
        cells += "".join(_measured(swept.measures.get(name, np.nan)) for name in measures)
        cells += f'<td style="{_NUMBER}">{swept.seconds:.1f}</td>'
    return f'<tr style="{ground}">{cells}</tr>'


def _measured(value: float) -> str:
    """Write a share with a bar behind it, as long as the share is large."""
    if not np.isfinite(value):
        return f'<td style="{_NUMBER}">–</td>'
    wide = f"{100 * min(max(value, 0.0), 1.0):.0f}%"
    bar = f"linear-gradient(90deg,rgba(86,180,233,.4) {wide},transparent {wide})"
    return f'<td style="{_NUMBER};background:{bar}">{value:.2f}</td>'


def _setting(model: Any) -> str:
    method = METHODS[model.method]
    below = {name: getattr(model, name) for name in ("odds", "beta_low")}
    given = {name: value for name, value in below.items() if value is not None}
    if not _is_labelled(model) or (method.knob is None and not given):
        return "t-SNE: nothing is factored out"
    words = [method.title]
    if method.knob is not None and is_used(method.knob, model.get_params(deep=False)):
        found = f" (found for mixing {model.mixing:g})" if model.mixing is not None else ""
        words.append(f"{method.knob} {_value(getattr(model, f'{method.knob}_'))}{found}")
    if model.diagnostics_.alignment != "none":
        words.append(f"align {model.diagnostics_.alignment}")
    return ", ".join([*words, *(f"{name} {_value(value)}" for name, value in given.items())])


def _is_labelled(model: Any) -> bool:
    """Tell whether there was anything to factor out."""
    return model.labels_ is not None and model.labels_.n_labels > 1


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _neighborhoods(model: Any) -> Iterable[tuple[str, str]]:
    diagnostics: Diagnostics = model.diagnostics_
    n = len(diagnostics.reached)
    share = model._kept_diagnostics().get("other_share")
    if share is not None:
        yield "reach", f"{share.mean():.0%} of the points' weight lies on other labels, on average"
    missed = int(n - np.count_nonzero(diagnostics.reached))
    yield "perplexity", f"not reached by {_count(missed, n)}" if missed else "reached by all points"
    yield "dominated", _dominated(diagnostics.largest_weight)
    if diagnostics.recall < 1:
        yield "search", f"{diagnostics.recall:.1%} of the true neighbours found"


def _dominated(largest_weight: NDArray[np.floating]) -> str:
    number = int(np.count_nonzero(largest_weight > DOMINATED))
    points = _count(number, len(largest_weight)) if number else "no points"
    return f"{points} have a neighbour with more than half of their weight"


def _count(number: int, n: int) -> str:
    return f"{number:,} of {n:,} points"


def _facts(facts: Iterable[tuple[str, str]]) -> str:
    rows = "".join(
        f'<tr><th style="{_LEFT}">{html.escape(name)}</th>'
        f'<td style="{_LEFT}">{_escaped(value)}</td></tr>'
        for name, value in facts
    )
    return f'<table class="ctsne"><tbody>{rows}</tbody></table>'


def _escaped(text: str) -> str:
    return html.escape(_shortened(text))


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
