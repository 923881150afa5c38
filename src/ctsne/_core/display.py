"""What a notebook shows of a fitted model and of a sweep: the essentials as HTML.

Colours are translucent and text has the notebook's own colour, so that it reads on a dark ground
too. All text that comes from the user's data is escaped.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

from ctsne._core.html import LEFT, NUMBER, escaped, facts_table, shortened
from ctsne._fit.display import dominated_text

if TYPE_CHECKING:
    from ctsne.sweep.result import SweepResult
    from ctsne.sweep.swept import SweptMap

__all__ = ["sweep_html", "swept_map_html"]

# What to choose a map by, and what it means.
_MEASURES = {
    "mixing": "how far the label is mixed: 0 not at all, 1 as random labels would be",
    "adjusted_rnx": "share of neighbours kept, adjusted for the label: 0 as in a random map, 1 all",
    "other_laplacian": "how far the other label is mixed, as a share of neighbours: less is purer",
}


def swept_map_html(swept: SweptMap) -> str:
    """Show the setting of one map of a sweep and the measures to choose by."""
    facts = [("setting", swept.title)]
    if swept.error is not None:
        return facts_table([*facts, ("failed", swept.error)])
    for name, meaning in _MEASURES.items():
        if name in swept.measures:
            facts.append((name, f"{swept.measures[name]:.2f} ({meaning})"))
    if "largest_weight" in swept.diagnostics:
        facts.append(("dominated", dominated_text(swept.diagnostics["largest_weight"])))
    return facts_table(facts)


def sweep_html(result: SweepResult) -> str:
    """Show the table of a sweep with the suggested map marked."""
    suggested, told = _suggestion(result)
    measures = [name for name in _MEASURES if any(name in swept.measures for swept in result.maps)]
    head = "".join(
        f'<th title="{html.escape(_MEASURES[name])}" style="{NUMBER}">{name}</th>'
        for name in measures
    )
    rows = "".join(_row(swept, measures, chosen=swept is suggested) for swept in result.maps)
    maps = "1 map" if len(result.maps) == 1 else f"{len(result.maps)} maps"
    return (
        f'<div class="ctsne"><p>Sweep of {maps}. {html.escape(told)}</p>'
        '<div style="max-height:32em;overflow:auto"><table>'
        f'<thead><tr><th></th><th style="{LEFT}">setting</th>{head}'
        f'<th style="{NUMBER}">seconds</th></tr></thead><tbody>{rows}</tbody></table></div></div>'
    )


def _suggestion(result: SweepResult) -> tuple[SweptMap | None, str]:
    try:
        suggested = result.suggest()
    except ValueError as error:  # it says why, and what to do
        text = str(error)
        return None, text[0].upper() + text[1:] + "."
    if suggested.map is None:
        return None, f"No map is suggested: {suggested.reason}."
    title = shortened(suggested.map.title)
    return suggested.map, f"Suggested by suggest(): {title}; {suggested.reason}."


def _row(swept: SweptMap, measures: list[str], *, chosen: bool) -> str:
    mark = '<span title="suggested" role="img" aria-label="suggested">★</span>' if chosen else ""
    ground = "background:rgba(230,159,0,.22)" if chosen else ""
    weight = "font-weight:bold;" if chosen else ""
    title = html.escape(shortened(swept.title))
    cells = f'<td>{mark}</td><td style="{weight}{LEFT}">{title}</td>'
    if swept.error is not None:
        wide = len(measures) + 1
        cells += f'<td colspan="{wide}" style="{LEFT}">failed: {escaped(swept.error)}</td>'
    else:
        cells += "".join(_measured(swept.measures.get(name, np.nan)) for name in measures)
        cells += f'<td style="{NUMBER}">{swept.seconds:.1f}</td>'
    return f'<tr style="{ground}">{cells}</tr>'


def _measured(value: float) -> str:
    """Write a share with a bar behind it, as long as the share is large."""
    if not np.isfinite(value):
        return f'<td style="{NUMBER}">–</td>'
    wide = f"{100 * min(max(value, 0.0), 1.0):.0f}%"
    bar = f"linear-gradient(90deg,rgba(86,180,233,.4) {wide},transparent {wide})"
    return f'<td style="{NUMBER};background:{bar}">{value:.2f}</td>'
