"""Maps of cells with all settings, and their scores on samples drawn as the authors drew theirs."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import common
import numpy as np
import pandas as pd
from authors import at
from common import Data
from figure5_setup import ALIKE, COMMON, MEASURES, RANDOM
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from ctsne import ConditionalTSNE
from ctsne.evaluate import DataNeighbors, adjusted_rnx, data_neighbors, laplacian, map_neighbors
from ctsne.methods import METHODS
from ctsne.sweep import SweptMap

# Section 4 of the paper: 5 % of the cells, drawn with replacement in the authors' program.
PERPLEXITY = 50
N_ITER = 1000
K = 50
SHARE = 0.05
DRAWS = range(5)
# One map per setting, as the authors made; the draws of points vary the scores.
SEED = 0

JOINT, UNALIGNED = "joint", "joint, unaligned"
# The default strength, whose map is drawn, and others around it.
STRENGTH = METHODS["joint"].default
STRENGTHS = (0.0, 0.2, 0.4, STRENGTH, 1.0)
BALANCED = "balanced"

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scored:
    """The maps of all settings with their scores.

    ``table`` has one row per map: its line, setting, seconds and scores on all cells. ``draws`` has
    one row per map and draw, in the form that the pictures and tables of Figure 5 take.
    """

    table: pd.DataFrame
    maps: list[SweptMap]
    draws: pd.DataFrame

    def swept(self, line: str, setting: float) -> SweptMap:
        """Return the map of a setting."""
        return self.maps[int(np.flatnonzero(at(self.table, line, setting))[0])]

    def positions(self, line: str, setting: float) -> NDArray[np.float32]:
        """Return the positions of a map; settings that failed were refused before."""
        return np.asarray(self.swept(line, setting).embedding)

    @property
    def means(self) -> pd.DataFrame:
        """The mean of the draws, by line and setting."""
        return self.draws.groupby(["line", "setting"])[list(MEASURES)].mean()


def draw_points(n: int, draw: int) -> NDArray[np.int64]:
    """Draw 5 % of the points with replacement."""
    return np.random.default_rng(draw).choice(n, size=int(SHARE * n))


def grids(betas: Sequence[float]) -> dict[str, dict[str, Any]]:
    """Return the lines that start from principal components, each as a grid for `sweep`."""
    lines = {
        line: {**common.LINES[line], "beta": list(betas)} for line in ("revised p", "revised r")
    }
    return {
        COMMON: {"method": "original", "beta": list(betas)},
        **lines,
        BALANCED: {"method": "balanced", "strength": [1.0]},
        JOINT: {"method": "joint", "strength": list(STRENGTHS)},
        UNALIGNED: {"method": "joint", "align": "none", "strength": list(STRENGTHS)},
    }


def score_maps(data: Data, betas: Sequence[float], *, n_iter: int = N_ITER) -> Scored:
    """Map the cells with all settings and score the maps.

    If CTSNE_SCRATCH is set, finished maps are kept in that folder. Empty it after a change of the
    package.
    """
    scratch = os.environ.get("CTSNE_SCRATCH")
    # The sweep's own measures are not used: they would take longer than the maps.
    how: dict[str, Any] = {
        "seeds": [SEED],
        "perplexity": PERPLEXITY,
        "n_iter": n_iter,
        "sample": 100,
    }
    how["folder"] = None if scratch is None else Path(scratch) / data.name
    original = {RANDOM: {"method": "original", "beta": list(betas)}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about cells without counterparts, which is expected
        table, maps = common.sweep_lines(data, grids(betas), **how)
        other, more = common.sweep_lines(data, original, make_start=common.random_start, **how)
    table, maps = pd.concat([table, other], ignore_index=True), [*maps, *more]
    lists = data_neighbors(data.X, data.known, k=K, sample=None, pca=None)
    drawn = [draw_points(len(data.X), draw) for draw in DRAWS]
    rows, every = [], []
    for (line, setting), swept in zip(table[["line", "setting"]].to_numpy(), maps, strict=True):
        scores = point_scores(data, np.asarray(swept.embedding), lists)
        every.append({name: float(np.nanmean(values)) for name, values in scores.items()})
        rows += [
            {"line": line, "setting": setting, "seed": draw, **sample_scores(scores, points)}
            for draw, points in zip(DRAWS, drawn, strict=True)
        ]
    draws = pd.DataFrame(rows).astype({"setting": np.float64})
    whole = table[["line", "setting", "seconds"]].join(pd.DataFrame(every))
    return Scored(whole, maps, draws)


def point_scores(
    data: Data, embedding: NDArray[np.float32], lists: DataNeighbors
) -> dict[str, Floats]:
    """Return the scores of every point."""
    found = map_neighbors(embedding, k=K, sample=None)
    return {
        "adjusted_rnx": np.asarray(adjusted_rnx(found, lists, k=K, pointwise=True)),
        "laplacian": np.asarray(laplacian(found, data.known, k=K, pointwise=True)),
        "other_laplacian": np.asarray(laplacian(found, data.hidden, k=K, pointwise=True)),
    }


def sample_scores(scores: dict[str, Floats], points: NDArray[np.int64]) -> dict[str, float]:
    """Average the scores over a sample as the authors' program does.

    A point drawn twice counts twice for R_NX, but once for the Laplacians.
    """
    return {
        name: float(np.nanmean(values[points if name == "adjusted_rnx" else np.unique(points)]))
        for name, values in scores.items()
    }


def score_curves(data: Data, scored: Scored, authors: pd.DataFrame) -> pd.DataFrame:
    """Return our curves over k, on the first draw, and the authors' at the same sizes.

    Other data than the authors' may be smaller; then only the sizes that they have are left.
    """
    n = len(data.X)
    theirs = authors[authors["k"] < min(n - 1, authors["k"].max())]
    sizes = sorted(theirs["k"].unique())
    points = draw_points(n, DRAWS[0])
    ranks = _ranks_by_label(data, points)
    parts = []
    for line, name in ALIKE.items():
        for beta, cells in theirs[theirs["line"] == name].groupby("beta", sort=False):
            if not at(scored.table, line, beta).any():
                continue
            # Immune cells have two curves under r at 1e-30. The second agrees with the scores of p.
            cells = cells.drop_duplicates("k").sort_values("k")
            values = curves(data, scored.positions(line, beta), points, ranks, sizes)
            beside = {f"authors_{m}": cells[c].to_numpy() for m, (c, _) in MEASURES.items()}
            parts.append(pd.DataFrame({"line": line, "beta": beta, "k": sizes, **values, **beside}))
    return pd.concat(parts, ignore_index=True)


def _ranks_by_label(data: Data, points: NDArray[np.int64]) -> NDArray[np.int32]:
    """Rank all points by their distance in the data from each of some, within either list.

    The lists of a point are those with its label and those with other labels.
    """
    X = np.asarray(data.X, np.float64)
    ranks = np.empty((len(points), len(X)), np.int32)
    for row, point in enumerate(points):
        order = _order(cdist(X[[point]], X)[0], point)
        same = data.known[order] == data.known[point]
        ranks[row, order] = np.where(same, np.cumsum(same), np.cumsum(~same)) - 1
    return ranks


def _order(distances: Floats, point: int) -> NDArray[np.int64]:
    """Order all points by distance, the point itself last."""
    distances[point] = np.inf
    return np.argsort(distances, kind="stable")


def curves(
    data: Data,
    embedding: NDArray[np.float32],
    points: NDArray[np.int64],
    ranks: NDArray[np.int32],
    sizes: Sequence[int],
) -> dict[str, Floats]:
    """Return the scores over neighbourhood sizes, by the formulas of section 4.1 of the paper.

    `ctsne.evaluate` corrects R_NX where a neighbourhood holds all points of a label, which the
    authors' curves reach and do not correct.
    """
    n, y = len(embedding), np.asarray(embedding, np.float64)
    shared, known, hidden = (np.zeros(len(sizes)) for _ in range(3))
    for row, point in enumerate(points):
        order = _order(cdist(y[[point]], y)[0], point)[: max(sizes)]
        other = data.known[order] != data.known[point]
        wrong = np.cumsum(data.hidden[order] != data.hidden[point])
        across = np.cumsum(other)
        rank = ranks[row, order]
        for at_size, k in enumerate(sizes):
            kept = np.where(other[:k], across[k - 1], k - across[k - 1])
            shared[at_size] += np.count_nonzero(rank[:k] < kept)
            known[at_size] += across[k - 1] / k
            hidden[at_size] += wrong[k - 1] / k
    size = np.asarray(sizes)
    overlap = shared / (size * len(points))
    rnx = ((n - 1) * overlap - size) / (n - 1 - size)
    return dict(zip(MEASURES, (rnx, known / len(points), hidden / len(points)), strict=True))


def time_fits(data: Data, beta: float, *, n_iter: int = N_ITER) -> dict[str, float]:
    """Return the seconds of whole fits, from features to map, on all cores."""
    methods: dict[str, dict[str, Any]] = {
        "original": {"method": "original"},
        "revised": {"method": "revised", "bandwidth": "r"},
    }
    seconds = {}
    for name, parameters in methods.items():
        model = ConditionalTSNE(
            **parameters, beta=beta, perplexity=PERPLEXITY, n_iter=n_iter, random_state=SEED
        )
        begun = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about cells without counterparts
            model.fit_transform(data.X, labels=data.known)
        seconds[name] = time.perf_counter() - begun
    return seconds
