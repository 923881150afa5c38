"""The section of one dataset of cells: everything that the paper shows of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import common
import numpy as np
import pandas as pd
from authors import compare, curve_table, full_tables, summary
from bandwidths import draw_solutions, log_weights, similarities, solutions
from cell_pictures import draw_boxes, draw_maps, shown_maps
from cell_scores import (
    BALANCED,
    DRAWS,
    JOINT,
    N_ITER,
    PERPLEXITY,
    SHARE,
    UNALIGNED,
    K,
    Scored,
    draw_points,
    score_curves,
    score_maps,
    time_fits,
)
from cells import Cells, Paper, Source, as_labels, read_cells
from common import Data, number
from dominated import (
    Rows,
    dominated_rows,
    draw_outlier,
    example,
    method_table,
    outlier_table,
    pattern_table,
    rows_on_p,
)
from figure5_pictures import draw_curves, draw_scores, draw_trade_offs
from figure5_setup import MEASURES
from numpy.typing import NDArray
from stand_in import OUTLIERS, make_stand_in

from ctsne import pl
from ctsne.evaluate.mixing import expected_laplacian
from ctsne.neighbors import find_neighbors, paper_lengths

# The nearest cells that t-SNE and the original look at: three times the perplexity.
NEAREST = 3 * PERPLEXITY
# The paper's Figure 4.
ROOTS_CELL, ROOTS_BETA = 12823, 1e-4
ROOTS_LABELS = ("indrop", "beta")
DPI = 62


@dataclass(frozen=True, eq=False)
class Made:
    """Everything that the parts of a section need."""

    paper: Paper
    source: Source
    data: Data
    obs: pd.DataFrame
    scored: Scored
    shown: dict[str, NDArray[np.float32]]
    rows: Rows
    seconds: dict[str, float]
    output: Path
    name: str

    def picture(self, part: str, figure: Any, alt: str, *, dpi: int = DPI) -> str:
        """Save a picture of this section."""
        return common.picture(self.output, f"{self.name}_{part}", figure, alt, dpi=dpi)


def make(
    paper: Paper,
    source: Source,
    output: Path,
    reduce: Callable[[Any, str], NDArray[np.float32]],
    *,
    n_cells: int | None = None,
    n_iter: int = N_ITER,
    betas: Sequence[float] = common.BETAS,
) -> Made:
    """Read or make the cells, reduce them, and compute maps and scores.

    ``reduce`` gives the components of the cells; its second argument is the column to factor out.
    ``n_cells`` makes a smaller stand-in.
    """
    if source.is_stand_in:
        adata = make_stand_in(paper, n_cells=n_cells)
        cells = Cells(adata.X, adata.obs)
    else:
        cells = read_cells(source, paper)
    known, hidden = source.labels or (paper.known_name, paper.hidden_name)
    name = source.section(paper.name)
    X = np.asarray(cells.values) if cells.reduced else reduce(cells, known)
    data = Data(name, X, as_labels(cells.obs[known]), as_labels(cells.obs[hidden]), known, hidden)
    scored = score_maps(data, betas, n_iter=n_iter)
    return Made(
        paper,
        source,
        data,
        cells.obs,
        scored,
        shown_maps(scored, paper.beta),
        rows_on_p(data, paper.beta),
        time_fits(data, paper.beta, n_iter=n_iter),
        output,
        name,
    )


def heading(made: Made, figures: str) -> list[str]:
    """Return the title and what these cells are."""
    paper, data = made.paper, made.data
    size = f"{len(data.X):,} cells, {len(np.unique(data.known))} values of `{data.known_name}`"
    if made.source.is_paper:
        return [
            f"## {paper.title}: {figures}",
            f"{size}, as in the paper: the file was checked against what the paper says of it.",
        ]
    if made.source.is_stand_in:
        outliers = " and a few outliers" if OUTLIERS[paper.name] else ""
        return [
            f"## Stand-in for the experiment `{paper.name}`: made-up cells, not the paper's data",
            f"**These cells are made up** (`stand_in.py`): {size}, with the paper's labels, a "
            f"strong uneven effect of the label{outliers}. They show that the program draws every "
            "figure and table of this experiment. The authors' values next to ours are of the real "
            "cells, so differences, *within*, *outside*, *yes* and *no* below say nothing about "
            "the method or the paper. With the public file, `--file` makes the real section.",
        ]
    return [
        f"## {paper.title}, other data: {made.source.file.name if made.source.file else ''}",
        f"**Not the paper's data**: {size}, factored out to find `{data.hidden_name}`. Everything "
        "is as for the paper's file, which is not part of this project. The authors' values next "
        "to ours are of their cells: agreement is not expected, and *within* and *outside* only "
        "show how near these data come.",
    ]


def maps_part(made: Made) -> list[str]:
    """Draw the maps by both labels."""
    known, hidden = made.data.known_name, made.data.hidden_name
    by_known, by_hidden = (
        made.picture(f"maps_{name}", draw_maps(made.shown, labels), f"Maps by {name}", dpi=70)
        for name, labels in ((known, made.data.known), (hidden, made.data.hidden))
    )
    return [
        "### Maps",
        f"By `{known}`, which is factored out, and by `{hidden}`. The original starts at random, "
        "as in the authors' program, all others from principal components; revised r and p have "
        "the bandwidth on r and on p.",
        by_known,
        by_hidden,
    ]


def scores_part(made: Made) -> list[str]:
    """Compare the scores with the authors', and draw them over beta and as trade-offs."""
    scored, data = made.scored, made.data
    authors = common.load_authors("authors_results.csv", made.paper.name)
    random = expected_laplacian(data.known)
    compared = compare(scored.draws, authors)
    lines = scored.means.drop(BALANCED, level="line")
    _write_scores(made)
    return [
        "### Scores",
        f"At k = {K}, one map per setting, perplexity {PERPLEXITY}, {N_ITER:,} iterations. Mean "
        f"and range of {len(DRAWS)} draws of {100 * SHARE:.0f} % of the cells "
        f"({int(SHARE * len(data.X)):,}), drawn with replacement as the authors drew their one "
        f"sample. Random labels have a Laplacian of {number(random)} (`{data.known_name}`) and "
        f"{number(expected_laplacian(data.hidden))} (`{data.hidden_name}`). β = 1 of the original "
        f'is t-SNE. `{JOINT}` aligns cells of other labels (`align="local"`, the default), '
        f"`{UNALIGNED}` compares them as the paper's methods do.",
        made.picture(
            "scores",
            draw_scores(scored.draws, authors, random, (JOINT, UNALIGNED)),
            "Three scores over beta and strength, ours and the authors'",
        ),
        "Both trade-offs, the authors' on the left and ours on the right; the markers grow with "
        "the strength.",
        made.picture(
            "trade_off",
            draw_trade_offs(lines, authors),
            "R_NX and hidden Laplacian against known Laplacian",
        ),
        summary(compared, repeats="draws"),
        _draw_text(scored),
        f"All cells; ours is the mean of {len(DRAWS)} draws ± half their range:",
        *full_tables(compared),
        f"Every map's scores, by draw and on all cells: [{made.name}.csv]({made.name}.csv).",
    ]


def _write_scores(made: Made) -> None:
    """Write the scores of every map, on each draw and on all cells."""
    draws = made.scored.draws.rename(columns={"seed": "draw"})
    everything = made.scored.table.assign(draw="all")
    table = pd.concat([draws.astype({"draw": str}), everything], ignore_index=True)
    columns = ["line", "setting", "draw", *MEASURES, "seconds"]
    text = table[columns].to_csv(index=False, float_format="%.5g")
    common.write(made.output / f"{made.name}.csv", text)


def _draw_text(scored: Scored) -> str:
    """Compare the draws with all cells."""
    keys = ["line", "setting"]
    every = scored.table.set_index(keys)[list(MEASURES)]
    off = scored.draws.set_index(keys)[list(MEASURES)] - every.reindex(
        scored.draws.set_index(keys).index
    )
    parts = [f"{name} {number(off[m].abs().max())}" for m, (_, name) in MEASURES.items()]
    return (
        "A single draw differs from the score of all cells by up to (over all maps and draws): "
        + ", ".join(parts)
        + ". So much of a difference from the authors' values may come from their sample alone."
    )


def curves_part(made: Made) -> list[str]:
    """Compare the curves over neighbourhood sizes with the authors'."""
    authors = common.load_authors("authors_curves.csv", made.paper.name)
    curves = score_curves(made.data, made.scored, authors)
    name = f"{made.name}_curves.csv"
    common.write(made.output / name, curves.to_csv(index=False, float_format="%.4g"))
    sizes = curves["k"].unique()
    return [
        "### Curves over neighbourhood sizes",
        f"On the first draw, at {len(sizes)} sizes from k = {sizes.min()} to {sizes.max():,}:",
        curve_table(curves),
        made.picture(
            "curves", draw_curves(curves, made.paper.beta), "Scores over k, ours and the authors'"
        ),
        f"All curves: [{name}]({name}).",
    ]


def other_neighbors(data: Data) -> NDArray[np.int64]:
    """Count the points of other labels among the nearest of each point in the data."""
    near = find_neighbors(data.X, lengths=NEAREST).indices
    return np.asarray((data.known[near] != data.known[:, None]).sum(axis=1))


def neighbors_part(made: Made, counts: NDArray[np.int64]) -> list[str]:
    """Draw the boxplots of other labels among the nearest cells."""
    data = made.data
    shares = counts / NEAREST
    ylabel = f"% of the {NEAREST} nearest\nwith another {data.known_name}"
    pictures = [
        made.picture(f"boxes_{name}", draw_boxes(shares, groups, colored, ylabel), alt, dpi=75)
        for name, groups, colored, alt in (
            (data.hidden_name, data.hidden, data.known, f"Boxplots by {data.hidden_name}"),
            (data.known_name, data.known, data.hidden, f"Boxplots by {data.known_name}"),
        )
    ]
    rows = [
        [name, len(own), number(own.mean(), 1), number(float(np.median(own)), 0)]
        for name, own in ((name, counts[data.known == name]) for name in np.unique(data.known))
    ]
    return [
        f"### Other labels among the {NEAREST} nearest cells",
        f"Counted in the data, by `{data.hidden_name}` and by `{data.known_name}`; whiskers are at "
        "most 1.5 times the interquartile range, and outliers are not shown.",
        *pictures,
        common.table([data.known_name, "cells", f"of {NEAREST}: mean", "median"], rows),
    ]


def outliers_part(made: Made, *, drawn: bool = True) -> list[str]:
    """Report the cells that dominate rows with the bandwidth on p, method by method."""
    data, rows, beta = made.data, made.rows, made.paper.beta
    parts = [
        "### Rows dominated by one neighbour",
        "A row is dominated if one neighbour has more than half of its weight. At the β of the "
        "maps, and at strength 1:",
        method_table(made.scored, beta),
    ]
    if not len(rows.outliers):
        return [*parts, "With the bandwidth on p, no cell dominates another."]
    parts += [
        f"With the bandwidth on p, {len(rows.outliers):,} cells dominate "
        f"{int((rows.by >= 0).sum()):,} rows. Those with the most rows:",
        outlier_table(data, rows),
    ]
    if drawn:
        outlier = int(rows.outliers[0])
        cell = example(rows, outlier)
        title = next(name for name in made.shown if name.startswith("revised p"))
        parts += [
            f"The row of cell {cell} ({data.known[cell]}, {data.hidden[cell]}), which cell "
            f"{outlier} ({data.known[outlier]}, {data.hidden[outlier]}) dominates with "
            f"{number(float(rows.values[cell].max()))} of its weight: the effective perplexity is "
            f"{number(float(rows.perplexity[cell]), 1)} instead of {PERPLEXITY}. On the right, the "
            "map with the bandwidth on p around it.",
            made.picture(
                "outlier",
                draw_outlier(data, rows, outlier, made.shown[title]),
                "Similarities of one row, and the map around the cell that dominates it",
                dpi=80,
            ),
            f"The nearest neighbours of cell {outlier} in each map. In a circular pattern, the "
            "cells that it dominates with the bandwidth on p lie around it on all sides (evenness "
            "1; on one side: 0), whatever their type.",
            pattern_table(data, rows, outlier, made.shown),
        ]
    return parts


def roots_part(made: Made) -> list[str]:
    """Draw the bandwidths of one cell that give the same perplexity (Figure 4)."""
    data = made.data
    neighbors = find_neighbors(data.X, data.known, lengths=paper_lengths((0, 1), PERPLEXITY))
    squared = neighbors.distances.astype(np.float64) ** 2
    across = data.known[neighbors.indices] != data.known[:, None]
    weights = log_weights(data.known, across, ROOTS_BETA)
    typical = float(np.sqrt(np.median(squared)))
    grid = np.geomspace(typical / 100, typical * 10, 400)
    drawn = np.unique(draw_points(len(data.X), DRAWS[0]))
    several = [
        point
        for point in drawn
        if len(solutions(squared[point], weights[point], grid, PERPLEXITY)) > 1
    ]
    cell, which = ROOTS_CELL, "the cell of the paper's figure"
    if not made.source.is_paper:
        cell = int(several[0]) if several else int(drawn[0])
        which = "the first of those drawn" + (" with several solutions" if several else "")
    found = solutions(squared[cell], weights[cell], grid, PERPLEXITY)
    parts = [
        "### Figure 4: two bandwidths, one perplexity",
        f"Cell {cell} ({data.known[cell]}, {data.hidden[cell]}; {which}), β = {ROOTS_BETA:g}, "
        f"u = {PERPLEXITY}: {len(found)} values of σ reach the perplexity. Of {len(drawn)} cells "
        f"drawn at random, {len(several)} have several solutions.",
    ]
    if made.source.is_paper and (data.known[cell], data.hidden[cell]) != ROOTS_LABELS:
        parts.append(
            f"**The paper's cell {cell} is {', '.join(ROOTS_LABELS)}**: the cells of this file are "
            "in another order, so this is another cell."
        )
    if not len(found):
        return parts
    shares = [
        float(similarities(squared[cell], weights[cell], sigma)[across[cell]].sum())
        for sigma in found[[0, -1]]
    ]
    figure = draw_solutions(
        squared[cell],
        weights[cell],
        found,
        data.known[neighbors.indices[cell]],
        sigmas=grid,
        perplexity=PERPLEXITY,
        ticks=tuple(float(f"{sigma:.2g}") for sigma in dict.fromkeys((found[0], found[-1]))),
        palette=pl.palette(data.known),
    )
    return [
        *parts,
        made.picture("roots", figure, "Perplexity over bandwidth, and two rows", dpi=90),
        f"The smallest, σ = {found[0]:.2f}, gives {number(shares[0], 2)} of the row to other "
        f"labels, the largest, σ = {found[-1]:.2f}, {number(shares[1], 2)}: "
        + ("" if len(found) > 1 and shares[0] < 0.5 < shares[1] else "**not** ")
        + "the “opposite characteristics” of the paper.",
    ]


def seconds_part(made: Made) -> list[str]:
    """Compare the time of whole fits with the paper's."""
    rows = [
        [name, f"{made.paper.seconds[name]:g}", number(took, 1)]
        for name, took in made.seconds.items()
    ]
    return [
        "### Seconds",
        f"Whole fits of {len(made.data.X):,} cells at β = {made.paper.beta:g}, from components to "
        "map, on all cores of this machine. The paper's are of its own programs and machines (a "
        "laptop for the pancreas, a server for the immune cells), so only orders of magnitude can "
        "be compared.",
        common.table(["method", "the paper", "here"], rows),
    ]


def counts_of_rows(made: Made) -> dict[str, int]:
    """Count the dominated rows of the methods compared."""
    beta = made.paper.beta
    settings = {"revised p": beta, "revised r": beta, BALANCED: 1.0, JOINT: 1.0}
    return {line: dominated_rows(made.scored, line, at) for line, at in settings.items()}
