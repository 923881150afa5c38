"""Which columns of a table could be factored out, and what their names suggest."""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from ctsne._core.vocabulary import read_table
from ctsne.labels.column import GROUPS, Column, encode_column, encode_number

# A label has at most this many values, and at least this many points per value on average. More
# whole numbers than this are counts, unless the name suggests a label.
_MOST_VALUES, _LEAST_POINTS, _MOST_NUMBERS = 1000, 4, 50
_LOOKED_AT = 10_000  # rows that show whether a column has too many values
# How names of each kind begin, in the order in which kinds are tried.
_WORDS = read_table("ctsne.labels", "candidates.toml")
# The order in which columns are proposed. A number is one by its values, not by its name.
NUMBER_KIND = "number"
KINDS = ("nuisance", "unknown", "treatment", "analysis", NUMBER_KIND)


def kind_of(name: str) -> str:
    """Return whether a name suggests a treatment, a nuisance, a result of an analysis, or none."""
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    found = (kind for kind, words in _WORDS.items() if re.search(rf"(?<![a-z])(?:{words})", text))
    return next(found, "unknown")


def label_columns(columns: Mapping[str, Any]) -> dict[str, Column]:
    """Return the columns that could be labels, those that are proposed first at the front."""
    found = {}
    for name, column in columns.items():
        kind = getattr(getattr(column, "dtype", None), "kind", "O")
        counts = kind in "iu" and kind_of(name) == "unknown"
        most = min(_MOST_NUMBERS if counts else _MOST_VALUES, len(column) // _LEAST_POINTS)
        # Fractions are measurements. Of many values, the first rows already have too many.
        if kind == "f" or most < 2 or _encoded(column[:_LOOKED_AT]) is None:
            continue
        labels = _encoded(column)
        if labels is not None and 2 <= labels.n_labels <= most:
            found[name] = labels
    return dict(sorted(found.items(), key=lambda item: KINDS.index(kind_of(item[0]))))


def number_columns(columns: Mapping[str, Any]) -> dict[str, Column]:
    """Return the columns that could be numbers to factor out: too many values to be labels."""
    found = {}
    for name, column in columns.items():
        values = np.asarray(column)
        # Whole numbers that are all different are identifiers.
        with suppress(TypeError, ValueError):  # texts with gaps cannot even be sorted
            if values.dtype.kind == "f" or len(np.unique(values)) < len(values):
                number = encode_number(column)
                if number.n_labels == GROUPS:
                    found[name] = number
    return found


def _encoded(column: Any) -> Column | None:
    try:
        labels = encode_column(column)
    except (TypeError, ValueError):
        return None
    return labels if labels.n_labels <= _MOST_VALUES else None
