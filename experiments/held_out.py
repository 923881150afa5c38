"""Fit half of a dataset, place the other half, and compare what their positions are worth.

Both halves take both roles, so every point counts once as fitted and once as placed. In a second
split, one label is never fitted: all its points are placed, next to half of the others.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from common import (
    N_ITER,
    PAIRS,
    PERPLEXITY,
    Data,
    K,
    difference,
    load,
    number,
    picture,
    table,
    write,
    write_section,
)
from held_out_picture import DATASET, NEW, draw
from numpy.typing import NDArray
from real import LARGE, TSNE, parallel

from ctsne import ConditionalTSNE
from ctsne.labels import encode_column

METHODS: dict[str, dict[str, Any]] = {
    TSNE: {"method": "tsne"},
    "original": {"method": "original"},
    "revised": {"method": "revised"},
    "balanced": {"method": "balanced"},
    "joint": {"method": "joint"},
    "joint, mutual": {"method": "joint", "align": "mutual"},
}
SKIPPED = ("original", "balanced")
# Neighbours that vote for the hidden label.
VOTERS = 15
WITHIN = 0.02
# Points measured of each kind, at most.
MEASURED = 2000


class Measures(NamedTuple):
    """What the positions of some points among the reference points are worth."""

    accuracy: float  # of the hidden label, by votes of the nearest reference points in the map
    accuracy_data: float  # the same in the data
    rnx: float  # neighbours among the reference points that the map keeps


def run(output: Path) -> None:
    """Split all datasets in both ways, for every method."""
    tasks = [
        (name, method, unseen, swap)
        for name in PAIRS
        for unseen in (False, True)
        for method in methods_of(name, unseen=unseen)
        for swap in (False, True)
    ]
    measured = pd.DataFrame([row for part in parallel(_rows, tasks) for row in part])
    write(output / "held_out.csv", measured.to_csv(index=False, float_format="%.6g"))
    report(measured, output)


def methods_of(name: str, *, unseen: bool) -> list[str]:
    """List the methods compared: fewer on the largest datasets, to save time.

    If one of two labels is left out, nothing remains to be factored out: all methods are t-SNE.
    """
    if unseen and len(np.unique(load(name).known)) == 2:
        return [TSNE]
    return [each for each in METHODS if name not in LARGE or each not in SKIPPED]


def split(data: Data, *, unseen: bool, swap: bool) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which points are fitted, and which have the label that is left out of the fit.

    The smallest label is left out, so that as many as possible remain to be factored out.
    """
    n = len(data.X)
    half = np.zeros(n, np.bool_)
    half[np.random.default_rng(0).permutation(n)[: n // 2]] = True
    names, counts = np.unique(data.known, return_counts=True)
    left_out = (data.known == names[counts.argmin()]) & unseen
    return (half ^ swap) & ~left_out, left_out


def _rows(name: str, method: str, unseen: bool, swap: bool) -> list[dict[str, Any]]:
    data = load(name)
    fitted, left_out = split(data, unseen=unseen, swap=swap)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one label left, unmatched points, far points
        model = ConditionalTSNE(
            **METHODS[method], perplexity=PERPLEXITY, n_iter=N_ITER, random_state=0, n_jobs=1
        ).fit(data.X[fitted], labels=data.known[fitted])
        positions = np.empty((len(data.X), 2), np.float32)
        positions[fitted] = model.embedding_
        # t-SNE knows no labels, neither of the reference nor of new points.
        new = None if METHODS[method]["method"] == "tsne" else data.known[~fitted]
        positions[~fitted] = model.transform(data.X[~fitted], labels=new)
    parts = {"fitted": fitted, "placed": ~fitted & ~left_out}
    if unseen:
        parts["unseen"] = left_out
    return [
        {
            "dataset": name,
            "method": method,
            "split": "unseen" if unseen else "random",
            "swap": swap,
            "part": part,
            **measure(data, positions, fitted, points)._asdict(),
        }
        for part, points in parts.items()
    ]


def measure(
    data: Data,
    positions: NDArray[np.floating],
    fitted: NDArray[np.bool_],
    points: NDArray[np.bool_],
) -> Measures:
    """Measure some points against the fitted ones; a fitted point is not its own neighbour."""
    reference = np.flatnonzero(fitted)
    chosen = np.flatnonzero(points)
    if len(chosen) > MEASURED:
        chosen = np.random.default_rng(0).choice(chosen, MEASURED, replace=False)
    known, hidden = encode_column(data.known).codes, encode_column(data.hidden).codes
    own = np.where(fitted[chosen], np.searchsorted(reference, chosen), -1)
    in_map = _order(positions[reference], positions[chosen], own)
    in_data = _order(data.X[reference], data.X[chosen], own)
    right = [_right(hidden[reference], hidden[chosen], order) for order in (in_map, in_data)]
    # As the adjusted R_NX: as many of the same and of other labels as the map has.
    near = in_map[:, :K]
    same = known[reference][near] == known[chosen, None]
    is_same = known[reference][in_data] == known[chosen, None]
    rank = np.where(is_same, np.cumsum(is_same, 1), np.cumsum(~is_same, 1))
    n_same = same.sum(1, keepdims=True)
    wanted = rank <= np.where(is_same, n_same, K - n_same)
    rows = zip(near, in_data, wanted, strict=True)
    shared = np.array([np.isin(found, true[kept]).sum() for found, true, kept in rows])
    chance = K**2 / in_data.shape[1]
    return Measures(*map(np.nanmean, right), float(((shared - chance) / (K - chance)).mean()))


def _order(
    reference: NDArray[np.floating], points: NDArray[np.floating], own: NDArray[np.integer]
) -> NDArray[np.integer]:
    """Rank reference points by distance from each point, without the point itself."""
    a, b = reference.astype(np.float64), points.astype(np.float64)
    squared = (a**2).sum(1) - 2 * b @ a.T
    itself = own >= 0
    squared[itself, own[itself]] = np.inf
    order = np.argsort(squared, axis=1, kind="stable")
    return order[:, :-1] if itself.any() else order


def _right(
    reference: NDArray[np.integer], own: NDArray[np.integer], order: NDArray[np.integer]
) -> NDArray[np.floating]:
    """Return whether the most frequent label of the nearest points is one's own: 0 or 1.

    NaN for points without a label, without a labelled neighbour, or of a type that the reference
    does not have.
    """
    near = reference[order[:, :VOTERS]]
    votes = (near[:, :, None] == near[:, None, :]).sum(2) * (near >= 0)
    winner = near[np.arange(len(near)), votes.argmax(1)]
    counted = (own >= 0) & (winner >= 0) & np.isin(own, reference)
    return np.where(counted, winner == own, np.nan)


def report(measured: pd.DataFrame, output: Path) -> None:
    """Write the section."""
    means = measured.groupby(["split", "dataset", "method", "part"], sort=False).mean(
        numeric_only=True
    )
    header = ["dataset", "method", "fitted", "placed", "difference", "R_NX fitted", "R_NX placed"]
    tables, verdicts = {}, {}
    for kind in ("random", "unseen"):
        rows, within, cases = [], 0, 0
        for name, method in _cases(measured[measured["split"] == kind]):
            fitted, placed = (means.loc[(kind, name, method, part)] for part in header[2:4])
            apart = difference(placed["accuracy"], fitted["accuracy"])
            good = placed["accuracy"] >= fitted["accuracy"] - WITHIN
            within, cases = within + good, cases + 1
            row = [
                name,
                method,
                number(fitted["accuracy"]),
                number(placed["accuracy"]),
                apart if good else f"**{apart}**",
                number(fitted["rnx"]),
                number(placed["rnx"]),
            ]
            if kind == "unseen":
                new = means.loc[(kind, name, method, "unseen")]
                row += [number(new[each]) for each in ("accuracy", "accuracy_data", "rnx")]
            rows.append(row)
        more = ["unseen", "unseen, in the data", "R_NX unseen"] if kind == "unseen" else []
        tables[kind] = table([*header, *more], rows)
        done = "reached" if within == cases else "**missed**, in bold"
        verdicts[kind] = f"At most {number(WITHIN, 2)} below: {within} of {cases} cases ({done})."
    write_section(
        output,
        "held_out",
        "## New points: half fitted, half placed",
        "`model.fit` on a random half of a dataset, `model.transform` of the other half with its "
        "labels, then with the halves swapped; means of both. *fitted* and *placed* are the "
        f"accuracies of the hidden label by votes of the {VOTERS} nearest fitted points in the "
        "map (a fitted point does not vote for itself). R_NX compares the "
        f"{K} nearest fitted points in the map with those in the data, adjusted for the label. At "
        f"most {MEASURED:,} points of each kind are measured. Raw values: "
        "[held_out.csv](held_out.csv).",
        tables["random"],
        verdicts["random"],
        "### A label that was not fitted",
        "The smallest label is left out of the fit. Its points are placed together with those of "
        "the other half. *unseen* is the accuracy of the points of this label, and *in the data* "
        "that of the nearest fitted points in the data. If there are two labels, the reference has "
        "only one, and every method is t-SNE. Types that the reference does not have do not count.",
        tables["unseen"],
        verdicts["unseen"],
        f"`joint` on {DATASET}: above, a map of two studies and {NEW}, the third, placed on it. "
        "Below, all three fitted together, turned to match. Colours are the cell types.",
        picture(
            output,
            "held_out",
            draw(),
            "Four maps of pancreas cells: a reference of two studies, the third study placed on "
            "it, all studies fitted together, and the third study in that map",
        ),
    )


def _cases(measured: pd.DataFrame) -> list[tuple[str, str]]:
    pairs = zip(measured["dataset"], measured["method"], strict=True)
    return list(dict.fromkeys(pairs))
