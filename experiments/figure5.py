"""Figure 5: scores over beta and strength, next to the authors' values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import common
import numpy as np
import pandas as pd
from authors import at, compare, curve_table, full_tables, summary
from curves import rnx_curve
from figure5_claims import check_claims, compare_at_equal_mixing
from figure5_pictures import draw_curves, draw_scores, draw_trade_offs
from figure5_setup import ALIKE, AUTHORS, CLUSTER, CURVE_BETA, LINES, MEASURES, RANDOM
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from ctsne.evaluate.mixing import expected_laplacian


def run(output: Path) -> None:
    """Map the data at all settings, compare with the authors and draw."""
    data = common.load_paper()
    grids = {line: common.LINES[AUTHORS.get(line, line)] for line in LINES}
    from_random, random_maps = common.sweep_lines(
        data, {RANDOM: grids.pop(RANDOM)}, make_start=common.random_start
    )
    scores, maps = common.sweep_lines(data, grids)
    scores = pd.concat([scores, from_random], ignore_index=True)
    embeddings = [swept.embedding for swept in (*maps, *random_maps)]
    kept = ["line", "seed", "setting", *MEASURES, "adjusted_jaccard", "kl_divergence", "seconds"]
    scores[kept].to_csv(output / "figure5.csv", index=False, float_format="%.5g")
    authors = common.load_authors("authors_results.csv")
    compared = compare(scores, authors)
    curves = _curves(data, scores, embeddings)
    curves.to_csv(output / "figure5_curves.csv", index=False, float_format="%.5g")

    random = expected_laplacian(data.known)
    means = scores.groupby(["line", "setting"])[list(MEASURES)].mean()
    common.write_section(
        output,
        "figure5",
        "## Figure 5: scores over β and strength on the synthetic data",
        f"All at k = {common.K}, perplexity {common.PERPLEXITY}, {common.N_ITER} iterations; mean "
        f"and range of {len(common.SEEDS)} seeds. R_NX measures how many neighbours the map keeps, "
        "adjusted for the colour. The Laplacian of the known label (colour) should rise to "
        f"{common.number(random)}, its value for random colours; that of the hidden "
        "label (shape) should stay 0 (random shapes: "
        f"{common.number(expected_laplacian(data.hidden))}). β = 1 and strength 0 condition "
        "nothing. The original ct-SNE is shown from the random start of the authors' program and "
        "from the start of all other lines. Bands show the range of the seeds; the dotted line is "
        "the value for random colours.",
        common.picture(
            output,
            "figure5_scores",
            draw_scores(scores, authors, random),
            "Three scores over beta and strength, ours and the authors'",
            dpi=75,
        ),
        "Both trade-offs, the authors' on the left and ours on the right; the markers grow with "
        "the strength.",
        common.picture(
            output,
            "figure5_trade_off",
            draw_trade_offs(means, authors),
            "R_NX and hidden Laplacian against known Laplacian",
            dpi=80,
        ),
        "### Next to the authors' values",
        summary(compared),
        _systematic(compared),
        f"All cells; ours is the mean of {len(common.SEEDS)} seeds ± half their range:",
        *full_tables(compared),
        "### Curves over neighbourhood sizes",
        _curve_summary(curves),
        common.picture(
            output,
            "figure5_curves",
            draw_curves(curves, CURVE_BETA),
            "Scores over k, ours and the authors'",
            dpi=75,
        ),
        "### The paper's statements, checked",
        check_claims(means, random),
        "### At equal mixing",
        compare_at_equal_mixing(scores, random),
        "Every map's scores: [figure5.csv](figure5.csv); the curves: "
        "[figure5_curves.csv](figure5_curves.csv).",
    )


def _systematic(compared: pd.DataFrame) -> str:
    """Describe the bias of the original's cells, which a count of cells hides."""
    cells = compared[(compared["line"] == RANDOM) & (compared["beta"] <= 1e-3)]
    parts = []
    for measure, (_, name) in MEASURES.items():
        part = cells[cells["measure"] == measure]
        below = sum(cell.difference < 0 for cell in part.itertuples())
        beyond = sum(
            not cell.ours.min() <= cell.authors <= cell.ours.max() for cell in part.itertuples()
        )
        parts.append(
            f"{name} {common.number(np.mean([cell.mean() for cell in part['ours']]))} against "
            f"{common.number(part['authors'].mean())} (ours is lower at {below} of {len(part)} β; "
            f"at {beyond} theirs is outside the range of our seeds)"
        )
    hidden = cells[cells["measure"] == "other_laplacian"]
    fewer = (hidden["difference"] < 0).mean()
    last = cells[cells["beta"].isin([1e-20, 1e-30])].groupby("measure")["authors"].nunique()
    return (
        "**The original from a random start, β ≤ 1e-3, on average, ours against theirs:** "
        + "; ".join(parts)
        + "."
        + (
            " The original has a wide spread, so these cells count as within, but they differ in "
            f"one direction: ours merges {'fewer' if fewer > 0.5 else 'more'} wrong shapes."
            if abs(fewer - 0.5) > 0.3
            else ""
        )
        + (
            " The authors' runs seem to share one start, because those at β = 1e-20 and 1e-30 are "
            "identical, so they are weaker evidence than their number suggests."
            if (last == 1).all()
            else ""
        )
    )


def _curves(
    data: common.Data, scores: pd.DataFrame, maps: list[NDArray[np.float32] | None]
) -> pd.DataFrame:
    """Return the mean of our curves and the authors', one row per line, beta and k."""
    authors = common.load_authors("authors_curves.csv")
    # The authors' last size is all points, where R_NX is not defined.
    authors = authors[authors["k"] < len(data.X) - 1]
    sizes = sorted(authors["k"].unique())
    parts = []
    for line, theirs in ALIKE.items():
        for beta, cells in authors[authors["line"] == theirs].groupby("beta", sort=False):
            rows = scores.index[at(scores, line, beta)]
            measured = [
                (
                    rnx_curve(maps[row], data.X, data.known, k=sizes),
                    laplacian_curve(maps[row], data.known, sizes),
                    laplacian_curve(maps[row], data.hidden, sizes),
                )
                for row in rows
            ]
            means = dict(zip(MEASURES, np.mean(measured, axis=0), strict=True))
            theirs_at = {
                f"authors_{measure}": cells[column].to_numpy()
                for measure, (column, _) in MEASURES.items()
            }
            parts.append(
                pd.DataFrame({"line": line, "beta": beta, "k": sizes, **means, **theirs_at})
            )
    return pd.concat(parts, ignore_index=True)


def laplacian_curve(
    embedding: NDArray[np.float32], labels: NDArray[Any], sizes: Sequence[int]
) -> NDArray[np.float64]:
    """Return the mean share of different labels among the nearest neighbours, for several k."""
    distances = cdist(embedding, embedding)
    np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, : max(sizes)]
    different = np.cumsum(labels[order] != labels[:, None], axis=1)
    return different.mean(axis=0)[np.subtract(sizes, 1)] / sizes


def _curve_summary(curves: pd.DataFrame) -> str:
    sizes = curves["k"].unique()
    small = curves[curves["k"] <= CLUSTER]
    largest = [
        f"{line} {common.number((part['adjusted_rnx'] - part['authors_adjusted_rnx']).abs().max())}"
        for line, part in small.groupby("line", sort=False)
    ]
    return "\n\n".join(
        [
            f"The mean of our curves against the authors' at all their β and {len(sizes)} sizes "
            f"from k = {sizes.min()} to {sizes.max()}:",
            curve_table(curves),
            "Beyond a cluster of one colour and shape (200 or 300 points), the scores describe how "
            "clusters lie relative to each other, which differs between starts. Up to k = "
            f"{small['k'].max()} the largest differences in R_NX are: {', '.join(largest)}.",
        ]
    )
