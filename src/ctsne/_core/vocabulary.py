"""What users type and read: values that parameters accept, defaults, and names of measures.

This module is light, because the command line's help reads it.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from typing import Any

STARTS = ("pca", "random", "spectral")
# Metrics between rows of features, and with given distances.
FEATURE_METRICS = ("euclidean", "cosine")
METRICS = (*FEATURE_METRICS, "precomputed")
BANDWIDTHS = ("r", "p")  # the row that has the requested perplexity: conditioned (r) or not (p)
# In rising order of what they assume about the effect of a label.
ALIGNMENTS = ("none", "mutual", "local", "mean")
TREND = "trend"  # the alignment of numbers alone: without their trend
# "auto" picks from these. It leaves out "none", whose score is high where each label has a close
# relative, and which has found fewer counterparts than "mutual" on all data tried.
TRIED_ALIGNMENTS = ("mutual", "local", "mean")
ALIGN_CHOICES = (*ALIGNMENTS, "auto")
# Parameters of the estimator that never change the map.
NO_EFFECT = ("n_jobs", "verbose", "callback", "callback_every")
NEIGHBORHOOD = 30  # the default size of a neighbourhood
# Length of a row of ``joint`` in units of the perplexity. Short rows keep the neighbourhood as a
# whole and mix further, longer ones keep more of the very nearest.
JOINT_LENGTH = 5 / 3
MEASURED_POINTS = 5000  # enough for a standard error below .003 in R_NX and the Laplacian score
# The default target, as a share of random mixing. A starting point, not a rule.
SUGGESTED_MIXING = 0.8


@dataclass(frozen=True)
class Measure:
    """One measure of a map."""

    title: str  # for axes, table heads and legends, with places for the names of label columns
    meaning: str  # what it measures, its scale and which end is better
    digits: int = 2  # decimals to show
    better: int = 1  # if larger is better; -1 if smaller is, 0 if neither


def read_table(package: str, name: str) -> dict[str, Any]:
    """Return a table that a package keeps beside its modules, in TOML."""
    return tomllib.loads(resources.files(package).joinpath(name).read_text("utf-8"))


_TABLE = read_table("ctsne._core", "measures.toml")
MEASURES = {name: Measure(**facts) for name, facts in _TABLE.items()}
CHOSEN_BY = ("mixing", "adjusted_rnx", "other_mixing")  # the measures to choose a map by


def of_column(name: str, column: str) -> str:
    """Return the name of a measure of one of several columns that were factored out."""
    return f"{name} ({column})"


def split_measure(name: str) -> tuple[str, str | None]:
    """Return a measure and the column it is of, the opposite of :func:`of_column`."""
    base, found, column = name.partition(" (")
    if found and base in MEASURES and column.endswith(")"):
        return base, column[:-1]
    return name, None


def chosen_by(measures: Iterable[str]) -> list[str]:
    """Return which of some measures to choose by: of several columns, the mixing of each."""
    present = list(measures)
    chosen: list[str] = []
    for name in CHOSEN_BY:
        by_column = [key for key in present if key != name and split_measure(key)[0] == name]
        chosen += by_column or ([name] if name in present else [])
    return chosen


def mixings_of(measures: Iterable[str]) -> list[str]:
    """Return the measures that a target mixing is compared with: one per column."""
    return [name for name in chosen_by(measures) if split_measure(name)[0] == "mixing"]


def measure_about(name: str) -> Measure:
    """Return the description of a measure, whether of all labels or of one column."""
    return MEASURES[split_measure(name)[0]]


def measure_title(name: str, known: str = "the label", other: str = "the other label") -> str:
    """Return what a measure is called, with the names of the label columns."""
    base, column = split_measure(name)
    if base not in MEASURES:
        return name.replace("_", " ")
    names = {"known": column or known, "other": column or other}
    return MEASURES[base].title.format(**names)
