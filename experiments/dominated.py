"""Cells that dominate the rows of others when the bandwidth is set on p (supplement, Figure S5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from bandwidths import log_weights, similarities
from cell_scores import BALANCED, JOINT, PERPLEXITY, Scored
from common import Data, number, table
from numpy.typing import NDArray
from similarity_profile import similarity_profile

from ctsne import pl
from ctsne.affinity import revised_affinities
from ctsne.affinity.result import DOMINATED
from ctsne.evaluate import map_neighbors
from ctsne.labels import encode_labels
from ctsne.neighbors import find_neighbors, paper_lengths

# The neighbourhood of an outlier in the map, in units of the distance of the cells it dominates.
CROP = 2.5
# Neighbours of an outlier in the map that are looked at.
AROUND = 20
SHOWN = 5


@dataclass(frozen=True, eq=False)
class Rows:
    """The conditioned rows of all points with the bandwidth on p, and who dominates them."""

    indices: NDArray[np.int32]
    distances: NDArray[np.float64]
    values: NDArray[np.float64]

    @property
    def perplexity(self) -> NDArray[np.float64]:
        """The effective perplexity of each row."""
        logs = np.log(np.maximum(self.values, np.finfo(np.float64).tiny))
        return np.asarray(np.exp(-(self.values * logs).sum(axis=1)))

    @property
    def by(self) -> NDArray[np.int64]:
        """The point that has more than half of a row; -1 where none has."""
        at = self.values.argmax(axis=1)
        every = np.arange(len(at))
        return np.where(self.values[every, at] > DOMINATED, self.indices[every, at], -1)

    @property
    def outliers(self) -> NDArray[np.int64]:
        """The points that dominate others, the one with the most rows first."""
        points, counts = np.unique(self.by[self.by >= 0], return_counts=True)
        return np.asarray(points[np.argsort(-counts, kind="stable")])


def rows_on_p(data: Data, beta: float) -> Rows:
    """Compute the rows of revised ct-SNE with the bandwidth on p."""
    labels = encode_labels(data.known)
    lengths = paper_lengths((0, 1), PERPLEXITY)
    neighbors = find_neighbors(data.X, labels, lengths=lengths)
    betas = [np.full(labels.columns[0].n_labels, beta)]
    sigma = revised_affinities(
        neighbors, labels, perplexity=PERPLEXITY, beta=betas, bandwidth="p"
    ).diagnostics.sigma
    across = data.known[neighbors.indices] != data.known[:, None]
    distances = neighbors.distances.astype(np.float64)
    weights = log_weights(data.known, across, beta)
    return Rows(neighbors.indices, distances, similarities(distances**2, weights, sigma[:, None]))


def method_table(scored: Scored, beta: float) -> str:
    """Compare the rows of the methods at the paper's beta and at the largest strength."""
    rows = []
    for line, setting in _settings(beta):
        kept = scored.swept(line, setting).diagnostics
        perplexity = kept["perplexity"]
        rows.append(
            [
                line,
                f"{setting:g}",
                f"{dominated_rows(scored, line, setting):,}",
                *(number(float(q), 1) for q in np.quantile(perplexity, (0, 0.01, 0.5))),
            ]
        )
    header = ["method", "β or strength", "dominated rows", "effective perplexity: least"]
    return table([*header, "1 % of the cells below", "median"], rows)


def dominated_rows(scored: Scored, line: str, setting: float) -> int:
    """Count the cells with one neighbour that has more than half of their row."""
    return int((scored.swept(line, setting).diagnostics["largest_weight"] > DOMINATED).sum())


def _settings(beta: float) -> list[tuple[str, float]]:
    return [("revised p", beta), ("revised r", beta), (BALANCED, 1.0), (JOINT, 1.0)]


def outlier_table(data: Data, rows: Rows) -> str:
    """List the cells that dominate the most rows."""
    found = []
    for outlier in rows.outliers[:SHOWN]:
        own = rows.by == outlier
        found.append(
            [
                int(outlier),
                data.known[outlier],
                data.hidden[outlier],
                int(own.sum()),
                _most(data.known[own]),
                _most(data.hidden[own]),
                number(float(np.median(rows.perplexity[own])), 1),
            ]
        )
    header = ["cell", data.known_name, data.hidden_name, "rows", f"their {data.known_name}"]
    return table([*header, f"their {data.hidden_name}", "median effective perplexity"], found)


def _most(labels: NDArray[Any]) -> str:
    counts = pd.Series(labels).value_counts()
    return f"{counts.index[0]} ({counts.iloc[0]})"


def around(positions: NDArray[np.float32], rows: Rows, outlier: int) -> tuple[float, float]:
    """Describe the pattern around an outlier in a map.

    Returns the share of its nearest neighbours that it dominates, and how evenly the cells that it
    dominates lie around it: 0 if all are on one side, 1 if they are on all sides alike.
    """
    near = map_neighbors(positions, k=AROUND, sample=None).indices[outlier]
    own = np.flatnonzero(rows.by == outlier)
    steps = (positions[own] - positions[outlier]).astype(np.float64)
    angles = np.arctan2(steps[:, 1], steps[:, 0])
    return float((rows.by[near] == outlier).mean()), 1 - float(np.abs(np.exp(1j * angles).mean()))


def pattern_table(
    data: Data, rows: Rows, outlier: int, shown: Mapping[str, NDArray[np.float32]]
) -> str:
    """Describe the neighbourhood of an outlier in several maps."""
    found = []
    for title, positions in shown.items():
        near = map_neighbors(positions, k=AROUND, sample=None).indices[outlier]
        share, even = around(positions, rows, outlier)
        wrong = float((data.hidden[near] != data.hidden[outlier]).mean())
        found.append([title, number(share, 2), number(wrong, 2), number(even, 2)])
    header = ["map", f"of {AROUND} neighbours: dominated with p", "of another type"]
    return table([*header, "evenness of all that it dominates"], found)


def example(rows: Rows, outlier: int) -> int:
    """Return the cell of smallest effective perplexity among those that an outlier dominates."""
    own = np.flatnonzero(rows.by == outlier)
    return int(own[np.argmin(rows.perplexity[own])])


def draw_outlier(data: Data, rows: Rows, outlier: int, positions: NDArray[np.float32]) -> Any:
    """Draw the row of one dominated cell, and the map around the cell that dominates it."""
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, 4.2), width_ratios=(1.2, 1))
    colors = pl.palette(data.known)
    cell = example(rows, outlier)
    similarity_profile(
        rows.distances[cell],
        rows.values[cell],
        data.known[rows.indices[cell]],
        palette=colors,
        title=f"cell {cell}",
        ax=left,
    )
    left.get_legend().remove()
    own = rows.by == outlier
    centre = positions[outlier]
    reach = CROP * float(np.median(np.linalg.norm(positions[own] - centre, axis=1)))
    inside = (np.abs(positions - centre) < reach).all(axis=1)
    for name in np.unique(data.known):
        for chosen, size, alpha in ((~own, 8, 0.25), (own, 14, 1.0)):
            points = positions[inside & chosen & (data.known == name)]
            right.scatter(*points.T, s=size, color=colors[name], alpha=alpha, linewidths=0)
        right.scatter([], [], s=14, color=colors[name], label=str(name))
    right.scatter([], [], s=8, color="#777777", alpha=0.35, label="pale: other cells")
    right.plot(*centre, "*", color="black", ms=13, label=f"cell {outlier}, and those\nit dominates")
    right.set(xticks=[], yticks=[], aspect="equal")
    right.set_title(f"map around cell {outlier}", loc="left", fontweight="bold")
    right.legend(loc="upper left", bbox_to_anchor=(1.02, 1), frameon=False, fontsize="small")
    figure.subplots_adjust(wspace=0.12)
    return figure
