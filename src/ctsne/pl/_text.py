"""Label values as text in a picture."""

from __future__ import annotations

import textwrap
from typing import Any

from ctsne._core.messages import label_text

# Properties of a matplotlib text that is shown as it is, with nothing read as mathematics.
LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}
MISSING_TEXT = "missing"
# Longer names lose their middle: the ends are what tells most long names apart.
_START, _END = 28, 17
_LINE = 26


def shown_text(label: object) -> str:
    """Return a label's text on one line or a few, cut if it is very long."""
    text = " ".join(label_text(label).split())
    if len(text) > _START + _END + 1:
        text = f"{text[:_START].rstrip()}…{text[-_END:].lstrip()}"
    return "\n".join(textwrap.wrap(text, _LINE)) or "(empty)"


def one_line(label: object) -> str:
    """Return a label's text for the tick of an axis."""
    return shown_text(label).replace("\n", " ")
