"""What the charts of several named curves share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import as_numbers
from ctsne.labels import encode_labels
from ctsne.pl._legend import Entry
from ctsne.pl._look import MARKERS
from ctsne.pl._text import shown_text
from ctsne.pl.palette import palette


def check_curves(curves: Any, *, argument: str) -> dict[Any, NDArray[np.float64]]:
    """Return the arrays of a mapping from names, or refuse it."""
    if not isinstance(curves, Mapping) or not curves:
        raise TypeError(
            f"{argument} must be a mapping from names to arrays, such as "
            f"{{'joint': [0.1, 0.2]}}, with at least one; got {type(curves).__name__}"
        )
    return {
        name: np.asarray(as_numbers(values, argument=f"{argument}[{name!r}]"), np.float64)
        for name, values in curves.items()
    }


def curve_styles(names: list[Any]) -> dict[Any, Entry]:
    """Return a colour and a marker for each name; the same names always have the same."""
    texts = [str(name) for name in names]
    colors = palette(texts)
    markers = list(MARKERS)
    ranks = encode_labels(texts).codes.tolist()
    return {
        name: Entry(shown_text(text), colors[text], markers[rank % len(markers)], "-")
        for name, text, rank in zip(names, texts, ranks, strict=True)
    }
