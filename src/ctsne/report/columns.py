"""Columns to colour by: labels, numbers on a scale, or too many texts for colours."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.messages import label_text, shown
from ctsne.io.anndata import HEXADECIMAL
from ctsne.labels import Column, encode_column
from ctsne.neighbors.matching import UNMATCHED
from ctsne.pl.palette import palette, stored_colors

# Numeric columns with more values than this get a colour scale.
_MOST_VALUES = 30
# Columns with more labels than this are identifiers, such as barcodes.
MOST_LABELS = 1_000
# Longer texts are cut; the page shows far less of them.
_LONGEST_TEXT = 500
# The ends of a feature's scale leave out a thousandth of the values if that makes the scale shorter
# than this share of it.
_MOST_CUT = 0.25
# The column that says how many counterparts a point has among points with other labels.
MATCHED = "counterparts under other labels"


@dataclass(frozen=True, eq=False)
class PageColumn:
    """A column of all points: ``labels``, with or without colours, or ``numbers`` on a scale."""

    name: str
    labels: Column | None = None
    numbers: NDArray[np.float64] | None = None
    colored: bool = True  # False for labels that are only shown at the pointer
    group: str = "column"  # or "gene" or "diagnostic"
    limits: tuple[float, float] | None = None  # of the scale; by default those of the numbers
    about: str = ""  # how to read it
    colors: Mapping[Any, str] | None = None  # of labels; by default by their names

    def pack(self, rows: NDArray[np.int64]) -> tuple[dict[str, Any], NDArray[Any]]:
        """Return facts, and codes or steps of the scale from 1 for the rows; 0 is missing."""
        facts: dict[str, Any] = {"name": self.name, "group": self.group, "about": self.about}
        if self.numbers is not None:
            short = self.group == "gene"
            limits = self.limits or _ends(self.numbers, cut=short)
            scale, steps = _pack_numbers(self.numbers[rows], limits, short)
            return facts | scale, steps
        assert self.labels is not None
        labels, codes = self.labels, self.labels.codes[rows]
        counts = np.bincount(codes + 1, minlength=labels.n_labels + 1)
        used = np.flatnonzero(counts[1:])
        lookup = np.zeros(labels.n_labels + 1, np.min_scalar_type(len(used)))
        lookup[used] = np.arange(1, len(used) + 1)  # the last one stays 0, for code -1
        names = [labels.names[code] for code in used]
        facts |= {"kind": "labels" if self.colored else "texts", "missing": int(counts[0])}
        facts |= {"labels": [short_text(name) for name in names], "all": labels.n_labels}
        if self.colored:
            colors = self.colors or palette(labels)
            facts["colors"] = [colors[name] for name in names]
            facts["counts"] = counts[1:][used].tolist()
        return facts, lookup[codes]


def _ends(numbers: NDArray[np.float64], *, cut: bool) -> tuple[float, float]:
    """Return the ends of a scale, without extreme values that would leave few steps to others."""
    present = numbers[np.isfinite(numbers)]
    if not len(present):
        return 0.0, 0.0
    low, high = float(present.min()), float(present.max())
    if cut:
        first, last = map(float, np.quantile(present, [0.001, 0.999], method="nearest"))
        if 0 < last / 4 - first / 4 < _MOST_CUT * (high / 4 - low / 4):
            return first, last
    return low, high


def _pack_numbers(
    values: NDArray[np.float64], limits: tuple[float, float], short: bool
) -> tuple[dict[str, Any], NDArray[Any]]:
    """Pack numbers in steps of 16 bits, or ``short`` in 8; those beyond the limits are cut."""
    (low, high), found = limits, np.isfinite(values)
    kind = np.uint8 if short else np.uint16
    top = int(np.iinfo(kind).max)
    steps = np.zeros(len(values), kind)
    # Halved before subtracting, because the range of the largest floats would overflow.
    share = (values[found] / 2 - low / 2) / ((high / 2 - low / 2) or 1.0)
    steps[found] = 1 + np.rint(share.clip(0, 1) * (top - 1)).astype(kind)
    cut = [bool((share < 0).any()), bool((share > 1).any())]
    facts = {"kind": "numbers", "low": low, "high": high, "top": top, "cut": cut}
    return facts | {"missing": int((~found).sum())}, steps


def read_column(
    name: str, values: Any, *, n: int, as_labels: bool, colors: Any = None
) -> PageColumn:
    """Read a column of ``n`` points; ``as_labels`` treats numbers and identifiers as labels too."""
    numbers = None if as_labels else _plain_numbers(values)
    if numbers is None or len(numbers) != n or not _is_scale(numbers):
        labels = encode_column(values, n=n, argument=f"columns[{name!r:.60}]")
        numbers = labels.numbers if labels.numbers is not None else _label_numbers(labels)
        numbers = None if as_labels else numbers
        if numbers is None:
            known = stored_colors(values, labels)
            known = known if colors is None else _given(name, colors, labels)
            colored = as_labels or labels.n_labels <= MOST_LABELS
            return PageColumn(name, labels, colored=colored, colors=known)
    return PageColumn(name, numbers=numbers)


def _given(name: str, colors: Any, labels: Column) -> dict[Any, str]:
    if not isinstance(colors, Mapping):
        what = f"palette[{name!r:.60}] must be a mapping from labels to colours"
        raise TypeError(f"{what}, got {type(colors).__name__}")
    by_text = {label_text(label): color for label, color in colors.items()}
    for label, color in by_text.items():
        if not isinstance(color, str) or not HEXADECIMAL.fullmatch(color):
            what = f"colours such as '#0072B2', got {shown(color)} for {shown(label)}"
            raise ValueError(f"palette[{name!r:.60}] must hold {what}")
    return {label: by_text.get(label_text(label), own) for label, own in palette(labels).items()}


def _plain_numbers(values: Any) -> NDArray[np.float64] | None:
    """Return a column of NumPy's numbers, which need not be encoded to be counted."""
    dtype = getattr(values, "dtype", None)
    plain = isinstance(dtype, np.dtype) and dtype.kind in "iuf" and np.ndim(values) == 1
    if not plain or isinstance(values, np.ma.MaskedArray):
        return None
    return np.asarray(values, np.float64)


def _label_numbers(labels: Column) -> NDArray[np.float64] | None:
    """Return the numbers of a column with many different ones, NaN where they are missing."""
    if not all(type(name) in (int, float) for name in labels.names):
        return None
    try:
        values = np.array([*labels.names, np.nan], np.float64)
    except OverflowError:  # whole numbers of hundreds of digits
        return None
    return values[labels.codes] if _is_scale(values) else None


def _is_scale(numbers: NDArray[np.float64]) -> bool:
    return len(np.unique(numbers[np.isfinite(numbers)])) > _MOST_VALUES


def read_feature(name: str, values: Any, *, n: int) -> PageColumn:
    """Read a feature of ``n`` points, such as a gene: numbers on a scale, however few differ."""
    argument = f"features[{name!r:.60}]"
    try:
        if hasattr(values, "isna"):  # a pandas column, whose gaps NumPy does not know
            values = values.to_numpy(np.float64, na_value=np.nan)
        numbers = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{argument} must hold numbers") from None
    if numbers.shape != (n,):
        raise ValueError(f"{argument} must have the shape ({n},), got {numbers.shape}")
    return PageColumn(name, numbers=numbers, group="gene")


def matched_column(matched: NDArray[Any]) -> PageColumn:
    """Describe how well points are matched under other labels, with 0 at the end of the scale."""
    without = int(np.count_nonzero(matched < UNMATCHED))
    about = (
        "0: no counterpart under other labels; 1: as many as random labels would give. "
        f"{without:,} of {len(matched):,} points have none (below {UNMATCHED:g})."
    )
    values, limits = np.asarray(matched, np.float64).clip(0, 1), (0.0, 1.0)
    return PageColumn(MATCHED, numbers=values, group="diagnostic", limits=limits, about=about)


def short_text(label: object, most: int = _LONGEST_TEXT) -> str:
    """Return a label as text, cut to a length that someone may read."""
    text = label_text(label)
    return text if len(text) <= most else text[: most - 1] + "…"
