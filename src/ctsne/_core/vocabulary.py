"""What users type and read: values that parameters accept, defaults, and names of measures.

This module is light, because the command line's help reads it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

STARTS = ("pca", "random", "spectral")
# Metrics between rows of features, and with given distances.
FEATURE_METRICS = ("euclidean", "cosine")
METRICS = (*FEATURE_METRICS, "precomputed")
# The row that has the requested perplexity: conditioned (r) or not (p).
BANDWIDTHS = ("r", "p")
# In rising order of what they assume about the effect of a label.
ALIGNMENTS = ("none", "mutual", "local", "mean")
# The alignment of numbers alone: without their trend.
TREND = "trend"
# "auto" picks from these. It leaves out "none", whose score is high where each label has a close
# relative, and which has found fewer counterparts than "mutual" on all data tried.
TRIED_ALIGNMENTS = ("mutual", "local", "mean")
ALIGN_CHOICES = (*ALIGNMENTS, "auto")
# Parameters of the estimator that never change the map.
NO_EFFECT = ("n_jobs", "verbose", "callback", "callback_every")
# The default size of a neighbourhood.
NEIGHBORHOOD = 30
# Length of a row of ``joint`` in units of the perplexity. Short rows keep the neighbourhood as a
# whole and mix further, longer ones keep more of the very nearest.
JOINT_LENGTH = 5 / 3
# Enough for a standard error below .003 in R_NX and the Laplacian score.
MEASURED_POINTS = 5000
# The default target, as a share of random mixing. A starting point, not a rule.
SUGGESTED_MIXING = 0.8


@dataclass(frozen=True)
class Measure:
    """One measure of a map."""

    title: str  # for axes, table heads and legends, with places for the names of label columns
    meaning: str  # what it measures, its scale and which end is better
    digits: int = 2  # decimals to show
    better: int = 1  # if larger is better; -1 if smaller is, 0 if neither


_fact = partial(Measure, better=0)
MEASURES: dict[str, Measure] = {
    "mixing": Measure(
        "mixing of {known}",
        "How far the label factored out is mixed among neighbours in the map, as a share of random "
        "mixing: 0 is not mixed at all, 1 is mixed as random labels would be. Computed as the "
        "Laplacian score divided by its expected value for random labels. Of a number, it is the "
        "mean difference in ranks between neighbours, as a share of that between random points.",
    ),
    "r2": Measure(
        "R² of {known}",
        "How well the 15 nearest neighbours in the map predict the rank of a number that was "
        "factored out: 1 exactly, 0 not at all.",
        better=-1,
    ),
    "adjusted_rnx": Measure(
        "neighbours kept",
        "Share of the neighbours in the data that the map keeps, beyond chance: 1 keeps all, 0 is "
        "a random map. Neighbours with the same and with other labels are compared separately, so "
        "mixing the label does not count against the map. Technical name: adjusted R_NX.",
    ),
    "aligned_rnx": Measure(
        "aligned neighbours kept",
        "Like neighbours kept, but neighbours with other labels are those of the aligned data.",
    ),
    "rnx": Measure(
        "neighbours kept, labels ignored",
        "Share of the neighbours in the data that the map keeps, beyond chance, without looking at "
        "labels. Technical name: R_NX.",
    ),
    "adjusted_rnx_area": Measure(
        "neighbours kept at all sizes",
        "Area under the curve of adjusted R_NX, with most weight on small neighbourhoods.",
    ),
    "rnx_area": Measure(
        "neighbours kept at all sizes, labels ignored",
        "Area under the curve of R_NX, with most weight on small neighbourhoods.",
    ),
    "other_mixing": Measure(
        "mixing of {other}",
        "How far the label to look for is mixed among neighbours in the map, as a share of random "
        "mixing: 0 keeps its values apart, 1 is mixed as random labels would be.",
        better=-1,
    ),
    "laplacian": Measure(
        "Laplacian score of {known}",
        "Mean share of neighbours in the map that carry another label.",
        digits=3,
    ),
    "other_laplacian": Measure(
        "Laplacian score of {other}",
        "Mean share of neighbours in the map that carry another value of the label to look for.",
        digits=3,
        better=-1,
    ),
    "adjusted_jaccard": Measure(
        "adjusted Jaccard index",
        "Overlap of neighbourhoods in the map and in the data, adjusted for the label as the "
        "authors of the paper do it.",
        digits=3,
    ),
    "other_rnx_within": Measure(
        "neighbours kept within {other}",
        "Like neighbours kept, but among points with the same value of the label to look for: "
        "whether the map keeps what varies within a type.",
    ),
    "other_knn_accuracy": Measure(
        "accuracy for {other}",
        "Share of points whose value of the label to look for is the most frequent one among "
        "their neighbours in the map.",
        digits=3,
    ),
    "perplexity_mean": _fact("perplexity (mean)", "Mean perplexity of the points.", digits=1),
    "perplexity_p05": _fact("perplexity (5%)", "Exceeded by 95% of the points.", digits=1),
    "perplexity_median": _fact(
        "perplexity (median)",
        "Effective number of neighbours of a point in the similarities. Far below the perplexity "
        "asked for, neighbourhoods are dominated by single points.",
        digits=1,
    ),
    "other_share_mean": _fact(
        "weight on other labels",
        "Share of a point's similarity that goes to points with other labels, on average.",
    ),
    "other_share_median": _fact("weight on other labels (median)", "Median over the points."),
    "largest_weight_mean": _fact(
        "largest weight", "Largest share of a point's similarity on one neighbour, on average."
    ),
    "reached": _fact("perplexity reached", "Share of points with the perplexity asked for."),
    "kl_divergence": _fact("KL divergence", "Final loss of the layout.", digits=3),
    "n_iter": _fact("iterations", "Iterations of the layout.", digits=0),
}
# The measures to choose a map by.
CHOSEN_BY = ("mixing", "adjusted_rnx", "other_mixing")


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
