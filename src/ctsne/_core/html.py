"""Small pieces of HTML for what notebooks show.

Text takes the notebook's own colour, so that it can be read on a dark background too. Everything
that comes from the user's data is escaped.
"""

from __future__ import annotations

import html
from collections.abc import Iterable

__all__ = ["LEFT", "NUMBER", "escaped", "facts_table", "shortened"]

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


def escaped(text: str) -> str:
    """Return text that is safe inside HTML, shortened if it is long."""
    return html.escape(shortened(text))


def shortened(text: str) -> str:
    """Cut a long text and mark the cut with an ellipsis."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
