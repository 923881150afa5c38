"""Columns to colour by, in the form the page stores them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ctsne._core.messages import label_text
from ctsne.labels import Labels, encode_labels
from ctsne.pl.palette import palette

# Numeric columns with more values than this get a colour scale.
_MOST_VALUES = 30
# Columns with more labels than this are identifiers, such as barcodes.
MOST_LABELS = 1_000
# Longer texts are cut; the page shows far less of them.
_LONGEST_TEXT = 500


@dataclass(frozen=True, eq=False)
class Column:
    """A column of all points: labels, numbers on a scale, or too many texts for colours."""

    name: str
    kind: Literal["labels", "numbers", "texts"]
    labels: Labels
    numbers: NDArray[np.float64] | None = None  # of a scale

    def content(self, rows: NDArray[np.int64]) -> tuple[dict[str, Any], NDArray[Any]]:
        """Return facts, and the rows' codes or steps of the scale from 1; 0 is missing."""
        if self.numbers is not None:
            return self._scale(self.numbers, rows)
        labels = self.labels
        codes = labels.codes[rows]
        used = np.unique(codes[codes >= 0])
        lookup = np.zeros(labels.n_labels + 1, np.int64)  # the last one is for code -1
        lookup[used] = np.arange(1, len(used) + 1)
        names = [labels.names[code] for code in used]
        facts = {
            "name": self.name, "kind": self.kind, "labels": [short_text(name) for name in names],
            "missing": labels.n_missing, "all": labels.n_labels,
        }  # fmt: skip
        if self.kind == "labels":
            colors = palette(labels)
            facts["colors"] = [colors[name] for name in names]
            facts["counts"] = labels.counts[used].tolist()
        return facts, lookup[codes].astype(np.min_scalar_type(len(used)))

    def _scale(self, numbers: NDArray[Any], rows: NDArray[Any]) -> tuple[dict[str, Any], Any]:
        present = numbers[np.isfinite(numbers)]
        low, high = float(present.min()), float(present.max())
        values = numbers[rows]
        found = np.isfinite(values)
        steps = np.zeros(len(rows), np.uint16)
        # Halved before subtracting, because the range of the largest floats would overflow.
        share = (values[found] / 2 - low / 2) / (high / 2 - low / 2)
        steps[found] = 1 + np.rint(share * 65534).astype(np.uint16)
        missing = len(numbers) - len(present)
        facts = {"name": self.name, "kind": self.kind, "low": low, "high": high, "missing": missing}
        return facts, steps


def read_column(name: str, values: Any, *, n: int, as_labels: bool) -> Column:
    """Read a column of ``n`` points; ``as_labels`` treats numbers and identifiers as labels too."""
    labels = encode_labels(values, n=n, argument=f"columns[{name!r:.60}]")
    if as_labels:
        return Column(name, "labels", labels)
    numbers = _numbers(labels)
    if numbers is not None:
        return Column(name, "numbers", labels, numbers)
    return Column(name, "labels" if labels.n_labels <= MOST_LABELS else "texts", labels)


def _numbers(labels: Labels) -> NDArray[np.float64] | None:
    """Return the numbers of a column with many different ones, NaN where they are missing."""
    if not all(type(name) in (int, float) for name in labels.names):
        return None
    try:
        values = np.array([*labels.names, np.nan], np.float64)
    except OverflowError:  # whole numbers of hundreds of digits
        return None
    if len(np.unique(values[np.isfinite(values)])) <= _MOST_VALUES:
        return None
    return values[labels.codes]


def short_text(label: object, most: int = _LONGEST_TEXT) -> str:
    """Return a label as text, cut to a length that someone may read."""
    text = label_text(label)
    return text if len(text) <= most else text[: most - 1] + "…"
