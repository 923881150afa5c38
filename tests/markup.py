"""Read HTML as a browser would, with labels that try to break out of it."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np

from ctsne import ConditionalTSNE
from ctsne.datasets import make_synthetic

DATA = make_synthetic(240, random_state=0)
HOSTILE = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(2)'>",
    "&lt;b&gt;",
    "💥 \u202eevil",
)
LABELS = np.array(HOSTILE, dtype=object)[np.arange(240) % len(HOSTILE)]


def make(**parameters: Any) -> ConditionalTSNE:
    return ConditionalTSNE(
        **{
            "perplexity": 15,
            "n_iter": 40,
            "early_exaggeration_iter": 20,
            "random_state": 0,
            **parameters,
        }
    )


class Reader(HTMLParser):
    """Collect elements, their attributes, and text, as a browser would."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, "elements must be closed in order"

    def handle_data(self, data: str) -> None:
        self.text += data


def read(markup: str) -> Reader:
    reader = Reader(markup)
    assert reader.open == []
    return reader
