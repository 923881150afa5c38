"""The HTML that a notebook shows for a sweep and for one of its maps."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

from ctsne._core import page_html
from ctsne._core.vocabulary import chosen_by, measure_about, measure_title
from ctsne.fit.display import (
    LEFT,
    NUMBER,
    dominated_text,
    escaped,
    facts_table,
    shortened,
    with_page,
)

if TYPE_CHECKING:
    from ctsne.sweep.result import SweepResult, SweptMap


def swept_map_html(swept: SweptMap) -> str:
    """Show the setting of a map and the measures to choose by."""
    facts = [("setting", swept.title)]
    if swept.error is not None:
        return facts_table([*facts, ("failed", swept.error)])
    if swept.alignment != "none":
        scores = ", ".join(f"{name} {score:.2f}" for name, score in swept.alignment_scores.items())
        facts.append(("alignment", swept.alignment + (f" (scores: {scores})" if scores else "")))
    for name in chosen_by(swept.measures):
        meaning = measure_about(name).meaning.partition(". ")[0]  # its first sentence
        facts.append((measure_title(name), f"{swept.measures[name]:.2f} ({meaning})"))
    if "largest_weight" in swept.diagnostics:
        facts.append(("dominated", dominated_text(swept.diagnostics["largest_weight"])))
    return facts_table(facts)


def sweep_html(result: SweepResult) -> str:
    """Show the page of a sweep, and its table with the suggested map marked."""
    suggested, text = _suggestion(result)
    measures = chosen_by(dict.fromkeys(name for swept in result.maps for name in swept.measures))
    meanings = {name: html.escape(measure_about(name).meaning) for name in measures}
    head = "".join(
        f'<th title="{meaning}" style="{NUMBER}">{escaped(measure_title(name))}</th>'
        for name, meaning in meanings.items()
    )
    rows = "".join(_row(swept, measures, chosen=swept is suggested) for swept in result.maps)
    maps = "1 map" if len(result.maps) == 1 else f"{len(result.maps)} maps"
    table = (
        f'<div class="ctsne"><p>Sweep of {maps}. {html.escape(text)}</p>'
        '<div style="max-height:32em;overflow:auto"><table>'
        f'<thead><tr><th></th><th style="{LEFT}">setting</th>{head}'
        f'<th style="{NUMBER}">seconds</th></tr></thead><tbody>{rows}</tbody></table></div></div>'
    )
    return with_page(page_html(result), table)


def _suggestion(result: SweepResult) -> tuple[SweptMap | None, str]:
    try:
        suggested = result.suggest()
    except ValueError as error:  # the message says why, and what to do
        text = str(error)
        return None, text[0].upper() + text[1:] + "."
    if suggested.map is None:
        return None, f"No map is suggested: {suggested.reason}."
    title = shortened(suggested.map.title)
    return suggested.map, f"Suggested by suggest(): {title}; {suggested.reason}."


def _row(swept: SweptMap, measures: list[str], *, chosen: bool) -> str:
    # Translucent colours can be read on a dark background too.
    mark = '<span title="suggested" role="img" aria-label="suggested">★</span>' if chosen else ""
    background = "background:rgba(230,159,0,.22)" if chosen else ""
    weight = "font-weight:bold;" if chosen else ""
    cells = f'<td>{mark}</td><td style="{weight}{LEFT}">{escaped(swept.title)}</td>'
    if swept.error is not None:
        width = len(measures) + 1
        cells += f'<td colspan="{width}" style="{LEFT}">failed: {escaped(swept.error)}</td>'
    else:
        cells += "".join(_measured(swept.measures.get(name, np.nan)) for name in measures)
        cells += f'<td style="{NUMBER}">{swept.seconds:.1f}</td>'
    return f'<tr style="{background}">{cells}</tr>'


def _measured(value: float) -> str:
    """Write a share with a bar of that length behind it."""
    if not np.isfinite(value):
        return f'<td style="{NUMBER}">–</td>'
    width = f"{100 * min(max(value, 0.0), 1.0):.0f}%"
    bar = f"linear-gradient(90deg,rgba(86,180,233,.4) {width},transparent {width})"
    return f'<td style="{NUMBER};background:{bar}">{value:.2f}</td>'
