"""Figure 4: two bandwidths, one perplexity."""

from __future__ import annotations

from pathlib import Path

import common
import numpy as np
from bandwidths import draw_solutions, log_weights, similarities, solutions

from ctsne.affinity import revised_affinities
from ctsne.labels import encode_labels
from ctsne.neighbors import find_neighbors, paper_lengths

# The picture shows a point with several bandwidths at this beta. With the paper's 1e-4, hardly any
# of the synthetic points has several (see the table).
BETA = 1e-10
BETAS = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-20, 1e-30)
# Solutions are searched between consecutive values. Below the first only the nearest points count;
# beyond the last, distance does not matter.
SIGMAS = np.geomspace(0.2, 20, 400)


def run(output: Path) -> None:
    """Count the bandwidths of every point at every beta, and draw those of one point."""
    data = common.load_paper()
    labels = encode_labels(data.known)
    lengths = paper_lengths((0, 1), common.PERPLEXITY)
    neighbors = find_neighbors(data.X, labels, lengths=lengths)
    squared = neighbors.distances.astype(np.float64) ** 2
    across = data.known[neighbors.indices] != data.known[:, None]

    several, rows = {}, []
    for beta in BETAS:
        weights = log_weights(data.known, across, beta)
        found = [
            solutions(d2, w, SIGMAS, common.PERPLEXITY)
            for d2, w in zip(squared, weights, strict=True)
        ]
        several[beta] = np.array([len(each) > 1 for each in found])
        taken = revised_affinities(
            neighbors, labels, perplexity=common.PERPLEXITY, beta=[np.full(2, beta)], bandwidth="r"
        ).diagnostics.sigma
        widest = [
            np.argmin(np.abs(np.log(found[i] / taken[i]))) == len(found[i]) - 1
            for i in np.flatnonzero(several[beta])
        ]
        rows.append(
            [
                f"{beta:.0e}",
                int((~several[beta]).sum()),
                int(several[beta].sum()),
                f"{100 * np.mean(widest):.0f} %" if widest else "–",
            ]
        )

    point = int(
        np.random.default_rng(0).choice(np.flatnonzero(several[BETA] & (data.known == "blue")))
    )
    weights = log_weights(data.known, across, BETA)[point]
    sigmas = solutions(squared[point], weights, SIGMAS, common.PERPLEXITY)
    figure = draw_solutions(
        squared[point],
        weights,
        sigmas,
        data.known[neighbors.indices[point]],
        sigmas=SIGMAS,
        perplexity=common.PERPLEXITY,
        ticks=(0.3, 0.5, 1, 2),
    )
    image = common.picture(
        output, "figure4", figure, "Perplexity over bandwidth, and similarities at two bandwidths"
    )
    least, most = (
        float(similarities(squared[point], weights, sigma)[across[point]].sum())
        for sigma in sigmas[[0, -1]]
    )
    richest = max(BETAS, key=lambda beta: several[beta].sum())
    common.write_section(
        output,
        "figure4",
        "## Figure 4: two bandwidths, one perplexity",
        "With the bandwidth on r, σ is chosen so that the conditioned row has perplexity u. "
        f"Row {point} of the synthetic data (a blue point picked at random among those with "
        f"several solutions), β = {BETA:.0e}, u = {common.PERPLEXITY}: the perplexity is not "
        f"monotone in σ, so {len(sigmas)} values of σ reach it.",
        image,
        f"The smallest, σ = {sigmas[0]:.3f}, gives {common.number(least, 2)} of the row to the "
        f"other colour, the largest, σ = {sigmas[-1]:.3f}, {common.number(most, 2)}: "
        + ("" if least < 0.5 < most else "**not** ")
        + "the “opposite characteristics” of the paper. The "
        f"table counts the {len(data.X)} points with one solution and with several. `ctsne` "
        "searches like the authors' program, from a kernel as wide as the data, and does not "
        "always reach the same solution: the last column shows how often it is the largest.",
        common.table(["β", "one σ", "several", "the largest is taken"], rows),
        "**Where this differs from the paper.** Its example is a cell of the pancreas data, at "
        "perplexity 50 and β = 1e-4; the experiment `pancreas` draws that cell from the file. On "
        f"the synthetic data, {int(several[1e-4].sum())} of {len(data.X)} points have several σ at "
        f"β = 1e-4, and {int(several[richest].sum())} at β = {richest:.0e}, the most in the table. "
        "The authors give no numbers for this figure.",
    )
