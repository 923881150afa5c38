"""Whether trust finds the points that other maps of the same data place elsewhere.

Ten further maps of every set, with other starts, strengths and nine tenths of the points, show
which points change their neighbours. Yardsticks are the ideas of scDEED (Xia et al. 2024) and
EMBEDR (Johnson et al. 2022), written anew.
"""

from __future__ import annotations

import time
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from common import K, load_real, number, picture, table, write, write_section
from numpy.typing import NDArray
from real import parallel
from scipy.spatial.distance import cdist
from sklearn.metrics import roc_auc_score
from suggestion import SETS

from ctsne import ConditionalTSNE
from ctsne.affinity.result import strongest_entries
from ctsne.estimator import model_of_map
from ctsne.evaluate import map_neighbors
from ctsne.evaluate.trust import DOUBTFUL
from ctsne.methods import METHODS

# The formula of trust and its constants were chosen on these sets; the others were not looked at.
DEVELOPED = ("sc_mixology", "kang_muscat", "vowels", "fsdd", "gas_drift")
MOST_POINTS = 4000
MAPS = 10
STRENGTH = METHODS["joint"].default or 0.0
CHANGES = (-0.1, 0.0, 0.1)
KEPT_POINTS = 0.9
# The points whose map neighbours change most are called unstable.
UNSTABLE = 0.25
MISPLACED = 0.02
# What is asked for: of the mean and of every set, and of points that were moved; and of the time.
MEAN, LEAST, FOUND, COST = 0.80, 0.70, 0.95, 0.5
TRUST, KEPT, MATCHED = "trust", "30 neighbours kept", "matched"
SCDEED, EMBEDR = "scDEED's idea", "EMBEDR's idea"
SCORES = (TRUST, KEPT, MATCHED, SCDEED, EMBEDR)
EDGES = (0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)

Floats = NDArray[np.floating]


def run(output: Path) -> None:
    """Measure all sets."""
    found = parallel(_measure, [(name,) for name in SETS])
    made = pd.DataFrame([row for row, _ in found])
    write(output / "trust.csv", made.to_csv(index=False, float_format="%.6g"))
    points = pd.concat([each for _, each in found], ignore_index=True)
    report(made, points, output)


def _measure(name: str) -> tuple[dict[str, Any], pd.DataFrame]:
    """Return the areas under the curve on a set, and trust and stability of its points."""
    data = load_real(name, *SETS[name])
    rows = np.sort(np.random.default_rng(0).permutation(len(data.X))[:MOST_POINTS])
    X, labels = data.X[rows], data.known[rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # points without counterparts are expected here
        begun = time.process_time()
        model = ConditionalTSNE(random_state=0, n_jobs=1).fit(X, labels=labels)
        fitted = time.process_time()
        model.trust()
        cost = (time.process_time() - fitted) / (fitted - begun)
        stays = stability(model.embedding_, [_other_map(X, labels, b) for b in range(MAPS)])
        unstable = stays <= np.quantile(stays, UNSTABLE)
        row = {"dataset": name, "points": len(X), "cost": cost, "stays": stays.mean()}
        row["doubtful"] = (model.trust_ < DOUBTFUL).mean()
        row |= {of: roc_auc_score(unstable, -score) for of, score in scores(model, X).items()}
        for how in ("anywhere", "on others"):
            moved, places = misplace(model.embedding_, how)
            again = model_of_map({"random_state": 0, "n_jobs": 1}, X, labels, places)
            again.trust()
            row |= {
                f"{how}: {of}": roc_auc_score(moved, -score)
                for of, score in scores(again, X).items()
            }
    return row, pd.DataFrame({"dataset": name, TRUST: model.trust_, "stays": stays})


def _other_map(X: Floats, labels: NDArray[Any], b: int) -> Floats:
    """Return a map of some of the points, with NaN for the others."""
    some = np.random.default_rng(100 + b).permutation(len(X))[: int(KEPT_POINTS * len(X))]
    some.sort()
    strength = STRENGTH + CHANGES[b % len(CHANGES)]
    init = ("random", "pca")[b % 2]
    model = ConditionalTSNE(random_state=b, n_jobs=1, strength=strength, init=init)
    places = np.full((len(X), 2), np.nan, np.float32)
    places[some] = model.fit(X[some], labels=labels[some]).embedding_
    return places


def stability(embedding: Floats, others: list[Floats], k: int = K) -> NDArray[np.float64]:
    """Return the mean share of each point's map neighbours that it has in other maps too."""
    n = len(embedding)
    total, times = np.zeros(n), np.zeros(n)
    for places in others:
        some = np.flatnonzero(~np.isnan(places[:, 0]))
        pair = [map_neighbors(each[some], k=k, n_jobs=1).indices for each in (embedding, places)]
        total[some] += _shared(*pair)
        times[some] += 1
    return total / np.maximum(times, 1)


def _shared(a: NDArray[np.integer], b: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return the share of the entries of each row that both have."""
    both = np.sort(np.concatenate([a, b], axis=1), axis=1)
    return (both[:, 1:] == both[:, :-1]).sum(axis=1) / a.shape[1]


def misplace(embedding: Floats, how: str) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
    """Move some points to random places: anywhere in the frame of the map, or next to others."""
    rng, n = np.random.default_rng(1), len(embedding)
    moved = np.zeros(n, np.bool_)
    moved[rng.permutation(n)[: max(1, round(MISPLACED * n))]] = True
    count, places = int(moved.sum()), embedding.copy()
    if how == "anywhere":
        places[moved] = rng.uniform(embedding.min(axis=0), embedding.max(axis=0), (count, 2))
    else:
        places[moved] = embedding[rng.permutation(n)[:count]] + rng.normal(0, 0.1, (count, 2))
    return moved, places


def scores(model: ConditionalTSNE, X: Floats) -> dict[str, Floats]:
    """Return all scores of the points of a map; larger values are more reliable."""
    embedding = model.embedding_
    found = {TRUST: model.trust_, KEPT: _kept(model), MATCHED: model.diagnostics_.matched}
    found[SCDEED] = ordered_distances(X, embedding)
    found[EMBEDR] = -point_losses(model.affinities_, embedding)
    return found


def _kept(model: ConditionalTSNE) -> Floats:
    """Return the share of the strongest similarities that are map neighbours."""
    strongest = strongest_entries(model.affinities_, K)
    near = map_neighbors(model.embedding_, k=K, n_jobs=1).indices
    there = sp.csr_array(
        (np.ones(near.size), near.ravel(), np.arange(0, near.size + 1, K)), shape=strongest.shape
    )
    return np.asarray((strongest.astype(bool) * there).sum(axis=1)) / K


def ordered_distances(X: Floats, embedding: Floats) -> NDArray[np.float64]:
    """Return scDEED's idea: how alike distances in the map are, ordered by data and by map.

    For the nearer half of all points by the data, and for the nearer half by the map, take their
    distances in the map in this order; the score is the correlation of both. scDEED compares it
    with scores of shuffled data: one threshold for all points, which changes no order.
    """
    half, result = (len(X) - 1) // 2, np.empty(len(X))
    for begin in range(0, len(X), 500):
        rows = slice(begin, begin + 500)
        far, away = cdist(X[rows], X), cdist(embedding[rows], embedding)
        own = np.arange(begin, begin + len(far))
        far[own - begin, own] = away[own - begin, own] = -1.0
        order = np.argsort(far, axis=1)[:, 1 : half + 1]
        by_data = np.take_along_axis(away, order, axis=1)
        by_map = np.sort(away, axis=1)[:, 1 : half + 1]
        a, b = (x - x.mean(axis=1, keepdims=True) for x in (by_data, by_map))
        result[rows] = (a * b).sum(axis=1) / np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    return result


def point_losses(similarities: sp.csr_array, embedding: Floats) -> NDArray[np.float64]:
    """Return EMBEDR's idea: the Kullback-Leibler divergence of each point's own similarities.

    EMBEDR compares it with the losses of shuffled data, which changes no order.
    """
    n, result = len(embedding), np.empty(len(embedding))
    for i in range(n):
        row = slice(similarities.indptr[i], similarities.indptr[i + 1])
        p = similarities.data[row].astype(np.float64)
        p /= p.sum()
        kernel = 1 / (1 + ((embedding - embedding[i]) ** 2).sum(axis=1, dtype=np.float64))
        q = kernel[similarities.indices[row]] / (kernel.sum() - 1)
        result[i] = (p * np.log(np.maximum(p, 1e-300) / q)).sum()
    return result


def report(made: pd.DataFrame, points: pd.DataFrame, output: Path) -> None:
    """Write the section."""
    rows = [
        [
            row["dataset"],
            "developed on" if row["dataset"] in DEVELOPED else "untouched",
            f"{row['points']:,}",
            *(number(row[score]) for score in SCORES),
            number(row["stays"], 2),
            f"{row['doubtful']:.0%}",
        ]
        for _, row in made.iterrows()
    ]
    untouched = made[~made["dataset"].isin(DEVELOPED)]
    for title, some in (("mean, untouched", untouched), ("mean, all", made)):
        means = [*(number(some[score].mean()) for score in SCORES), number(some["stays"].mean(), 2)]
        rows.append([title, "", "", *means, f"{some['doubtful'].mean():.0%}"])
    ways = {"anywhere": "anywhere in the frame", "on others": "next to a random point"}
    moved = [
        [row["dataset"], *(number(row[f"{how}: {score}"]) for how in ways for score in MOVED)]
        for _, row in made.iterrows()
    ]
    moved_header = [f"{how}: {score}" for how in ways for score in MOVED]
    write_section(
        output,
        "trust",
        "## Trust",
        f"Maps of {len(made)} sets (at most {MOST_POINTS:,} points), and {MAPS} others of each: "
        f"from random and from PCA starts, with seeds of their own, strengths of "
        f"{STRENGTH:g} ± {CHANGES[-1]:g}, and {KEPT_POINTS:.0%} of the points. *Stays* is the mean "
        f"share of the {K} map neighbours that a point has in the others too; the "
        f"{UNSTABLE:.0%} of the points of a set for which it is smallest are unstable. The "
        "numbers are areas under the ROC curve: how often an unstable point has a lower score than "
        f"another point. The formula was chosen on {', '.join(DEVELOPED)}, and computed once on "
        f"the others; the threshold of {DOUBTFUL:g}, which changes no area, was set with all sets "
        "known. The yardsticks' comparison with shuffled data is one threshold for all "
        "points, which does not change these areas. Raw values: [trust.csv](trust.csv).",
        table(["dataset", "", "points", *SCORES, "stays", f"trust < {DOUBTFUL:g}"], rows),
        _verdict(made, untouched),
        f"**Misplaced on purpose.** {MISPLACED:.0%} of the points of a finished map moved to "
        f"random places: {', or '.join(ways.values())}. All scores are those of the changed map.",
        table(["dataset", *moved_header], moved),
        _moved_verdict(made),
        "**What a value means.** The share of a point's map neighbours that stay in other maps, by "
        "its trust, over all points of the sets:",
        _bins(points),
        _drawn(points, output),
    )


MOVED = (TRUST, SCDEED, EMBEDR)


def _held(reached: bool) -> str:
    return "reached" if reached else "**missed**"


def _verdict(made: pd.DataFrame, untouched: pd.DataFrame) -> str:
    texts = []
    for which, some in (("all sets", made), ("the untouched sets", untouched)):
        mean, least = some[TRUST].mean(), some[TRUST].min()
        worst = some.loc[some[TRUST].idxmin(), "dataset"]
        texts.append(
            f"Over {which}, the mean is {number(mean)} (aim {number(MEAN, 2)}: "
            f"{_held(mean >= MEAN)}) and the smallest {number(least)}, {worst} (aim above "
            f"{number(LEAST, 2)}: {_held(least > LEAST)})."
        )
    cost = made["cost"].max()
    best = made[list(SCORES)].idxmax(axis=1)
    behind = made.loc[best != TRUST, "dataset"]
    texts.append(
        f"Trust takes {number(made['cost'].median(), 2)} of the processor time of the map (median; "
        f"at most {number(cost, 2)}, aim {number(COST, 2)}: {_held(cost <= COST)}; one thread)."
    )
    if len(behind):
        texts.append(f"Another score is better on {', '.join(behind)}.")
    return " ".join(texts)


def _moved_verdict(made: pd.DataFrame) -> str:
    values, theirs = (
        made[[f"{how}: {score}" for how in ("anywhere", "on others")]].to_numpy()
        for score in (TRUST, EMBEDR)
    )
    least, better = values.min(), int((theirs > values).sum())
    return (
        f"Aim: {number(FOUND, 2)} on every set; trust has at least {number(least)} "
        f"({_held(least >= FOUND)}). {EMBEDR} finds them better in {better} of {values.size} "
        f"comparisons (means {number(theirs.mean())} and {number(values.mean())})."
    )


def _bins(points: pd.DataFrame) -> str:
    rows = []
    known = points["dataset"].isin(DEVELOPED)
    for low, high in pairwise(EDGES):
        inside = (points[TRUST] >= low) & (points[TRUST] < high)
        cells = [points.loc[inside & some, "stays"] for some in (known, ~known)]
        means = (number(cell.mean(), 2) if len(cell) else "–" for cell in cells)
        rows.append([f"{low:g} to {high:g}", f"{inside.mean():.1%}", *means])
    return table(["trust", "points", "stays, developed on", "stays, untouched"], rows)


def _drawn(points: pd.DataFrame, output: Path) -> str:
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots(figsize=(5.2, 4))
    for name, each in points.groupby("dataset", sort=False):
        groups = each.groupby(pd.cut(each[TRUST], np.arange(0, 1.05, 0.1)), observed=True)
        curve = groups[[TRUST, "stays"]].mean()[groups.size() >= 10]
        style = "-" if name in DEVELOPED else "--"
        ax.plot(curve[TRUST], curve["stays"], style, marker="o", markersize=3, label=name)
    ax.axvline(DOUBTFUL, color="0.7", linewidth=0.8)
    ax.set(xlabel="trust", ylabel="map neighbours that stay in other maps", xlim=(0, 1))
    ax.set(ylim=(0, 1))
    ax.legend(fontsize=7, frameon=False, loc="lower right", ncols=2)
    alt = "Share of map neighbours that stay in other maps by trust; dashed: untouched sets"
    return picture(output, "trust", figure, alt)
