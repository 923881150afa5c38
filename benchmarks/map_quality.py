"""Judge the maps of all programs by the same loss and the same R_NX, with the same code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from child import Clock
from common import load_problem

# For more points, neighbours are searched with the default recall of ctsne.
EXACT_UP_TO = 120_000
RECALL = 0.99
SAMPLE = 2000
K = 30


def judge(
    clock: Clock,
    *,
    folder: str,
    maps: dict[str, str],
    plain: list[str],
    perplexity: float,
    jobs: int,
) -> dict[str, Any]:
    """Measure maps.

    R_NX is measured on a sample of points against exact neighbours, plain and adjusted for labels
    (which does not penalise mixing). The loss is the KL divergence of t-SNE, computed from the
    similarities of ctsne, so only the maps in `plain`, which minimise it, have one.
    """
    from ctsne.affinity import tsne_affinities
    from ctsne.evaluate import adjusted_rnx, data_neighbors
    from ctsne.layout import Layout
    from ctsne.neighbors import find_neighbors

    X, labels = load_problem(folder)
    matrix = None
    if plain:
        recall = 1.0 if len(X) <= EXACT_UP_TO else RECALL
        lengths = int(np.ceil(3 * perplexity))
        near = find_neighbors(X, lengths=lengths, recall=recall, n_jobs=jobs)
        matrix = tsne_affinities(near, perplexity=perplexity, n_jobs=jobs).matrix
        del near
    found: dict[str, Any] = {}
    data = data_neighbors(X, labels, k=K, sample=min(SAMPLE, len(X)), n_jobs=jobs)
    usual = data.without_labels()
    for name, file in maps.items():
        embedding = np.load(Path(file)).astype(np.float32)
        found[name] = {
            "rnx": adjusted_rnx(embedding, usual, k=K, n_jobs=jobs),
            "adjusted_rnx": adjusted_rnx(embedding, data, k=K, n_jobs=jobs),
        }
        if name in plain and matrix is not None:
            found[name]["kl"] = Layout(matrix, embedding, n_jobs=jobs).loss()
        clock.report(quality=found)
    return {"quality": found}
