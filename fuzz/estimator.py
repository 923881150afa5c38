"""Attack ``ConditionalTSNE`` with random parameters and random input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from harness import Finding, expect_typed

LIMIT = 30.0


def start(folder: Path) -> None:
    """Import everything, so that no case pays for it."""
    import ctsne

    ctsne.ConditionalTSNE(n_iter=1, perplexity=2).fit(np.eye(5))


def attack(rng: np.random.Generator, folder: Path) -> str | None:
    """Fit a small data set."""
    from ctsne import ConditionalTSNE

    X = rng.normal(size=(rng.integers(0, 20), 3))
    model = ConditionalTSNE(perplexity=rng.choice([1, 2, 5, 30]), n_iter=5, n_jobs=1)
    name, result = expect_typed(lambda: model.fit_transform(X))
    if name == "ok" and not np.isfinite(result).all():
        raise Finding("the map is not finite", "not finite")
    return name
