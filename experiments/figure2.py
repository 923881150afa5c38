"""Figure 2: which points are near enough to one point to pull it."""

from __future__ import annotations

from math import ceil
from pathlib import Path

import common
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from similarity_profile import similarity_profile

# Light and dark shades of blue and orange distinguish the six combinations.
PALETTE = {
    "blue circle": "#0072B2",
    "blue square": "#56B4E9",
    "blue triangle": "#1B3A57",
    "orange circle": "#D55E00",
    "orange square": "#E69F00",
    "orange triangle": "#7A3E00",
}
LENGTH = ceil(3 * common.PERPLEXITY)


def pick_point(combination: NDArray[np.str_]) -> int:
    """Pick a random blue circle, the same every time."""
    circles = np.flatnonzero(combination == "blue circle")
    return int(np.random.default_rng(0).choice(circles))


def combine(data: common.Data) -> NDArray[np.str_]:
    """Combine colour and shape of each point into one label."""
    return np.array([f"{c} {s}" for c, s in zip(data.known, data.hidden, strict=True)])


def run(output: Path) -> None:
    """Draw the distances from one point, and count colours among the neighbours of all points."""
    data = common.load_paper()
    combination = combine(data)
    point = pick_point(combination)
    distances = cdist(data.X, data.X)
    np.fill_diagonal(distances, np.inf)  # a point is not its own neighbour
    order = np.argsort(distances, axis=1)
    others = np.flatnonzero(np.arange(len(data.X)) != point)
    cut = float(distances[point, order[point, LENGTH - 1]])

    ax = similarity_profile(
        distances[point, others], None, combination[others], cut=cut, palette=PALETTE
    )
    image = common.picture(output, "figure2", ax.figure, "Distances from one point, by label")

    near = order[:, :LENGTH]
    other_color = data.known[near] != data.known[:, None]
    first_other = np.argmax(data.known[order] != data.known[:, None], axis=1) + 1
    rows = []
    for label in PALETTE:
        far = distances[point, others[combination[others] == label]]
        rows.append(
            [
                label,
                len(far),
                int((combination[near[point]] == label).sum()),
                common.number(far.min(), 2),
                common.number(float(np.median(far)), 2),
            ]
        )
    pulling = [row[0] for row in rows if row[2]]
    as_paper = set(pulling) <= {"blue circle", "blue square"}
    common.write_section(
        output,
        "figure2",
        "## Figure 2: who pulls",
        f"Distances from one blue circle (row {point} of the data, picked at random) to all other "
        f"points. In t-SNE and the original ct-SNE only the nearest 3u = {LENGTH} pull: those to "
        "the left of the dashed line.",
        image,
        common.table(
            ["label", "points", f"among the nearest {LENGTH}", "nearest at", "median distance"],
            rows,
        ),
        f"All points that pull this one are {' or '.join(pulling)}, "
        + ("as the paper says. " if as_paper else "which is **not what the paper says**. ")
        + f"Of all {len(data.X)} points, {int(other_color.any(axis=1).sum())} have a point of "
        f"the other colour among their nearest {LENGTH}; the first one is at best the "
        f"{first_other.min()}th nearest. So the original ct-SNE cannot know which orange points "
        "are similar to which blue ones: only chance or the start can mix the colours. The authors "
        "give no numbers for this figure.",
    )
