"""Which alignment finds the right counterparts, and whether the commuting score predicts it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from common import PAIRS, Data, load, number, table, write_section
from numpy.typing import NDArray
from real import aligned, parallel

from ctsne._core.vocabulary import ALIGNMENTS, TRIED_ALIGNMENTS
from ctsne.labels import encode_column
from ctsne.neighbors import find_neighbors
from ctsne.neighbors.alignment import commuting_share

# Nearest points of other labels that count as counterparts.
COUNTERPARTS = 25


def run(output: Path) -> None:
    """Score the alignments of all datasets."""
    tasks = [(name, how) for name in PAIRS for how in ALIGNMENTS]
    scores = dict(zip(tasks, parallel(_scores, tasks), strict=True))
    rows, agree = [], 0
    for name in PAIRS:
        chosen = max(TRIED_ALIGNMENTS, key=lambda how: scores[name, how][0])
        truest = max(TRIED_ALIGNMENTS, key=lambda how: scores[name, how][1])
        agree += scores[name, chosen][1] >= scores[name, truest][1]
        cells = [" / ".join(map(number, scores[name, how])) for how in ALIGNMENTS]
        rows.append([name, *cells, chosen, truest])
    better = [name for name in PAIRS if scores[name, "mutual"][1] >= scores[name, "none"][1]]
    write_section(
        output,
        "alignment",
        "## Alignment: finding counterparts",
        "Two numbers per alignment. The first is how well it *commutes*: the share of my "
        "neighbours' counterparts that are my counterparts' neighbours, which needs no second "
        f"label. The second is the share of a point's {COUNTERPARTS} nearest points of other "
        'labels, in the aligned space, that have its hidden label. `align="auto"` takes the one '
        f"of {', '.join(TRIED_ALIGNMENTS)} that commutes best. `local` moves every point "
        "separately, so its score proves nothing.",
        table(["dataset", *ALIGNMENTS, "auto takes", "truest of the three"], rows),
        f"`auto` takes the alignment with the most correct counterparts on {agree} of {len(rows)} "
        f"datasets; `mutual` is at least as correct as `none` on {len(better)}.",
    )


def _scores(name: str, how: str) -> tuple[float, float]:
    data = load(name)
    points = aligned(data, how)
    commutes = commuting_share(data.X, points, encode_column(data.known), n_jobs=1)
    return commutes, true_share(points, data)


def true_share(points: NDArray[np.floating], data: Data) -> float:
    """Return the share of the nearest points of other labels with the same hidden label."""
    found = find_neighbors(points, encode_column(data.known), lengths=(0, COUNTERPARTS), n_jobs=1)
    hidden = encode_column(data.hidden).codes
    near = hidden[found.indices]
    # If there are too few, the list is filled up with points of the same label.
    wanted = np.arange(near.shape[1]) >= found.lengths[:, :1]
    wanted &= (near >= 0) & (hidden >= 0)[:, None]
    return float((near == hidden[:, None])[wanted].mean())
