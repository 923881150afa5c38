"""What the tests of the estimator share: short fits, and every way to condition."""

from typing import Any

from ctsne import ConditionalTSNE

METHODS = ("tsne", "original", "revised", "balanced", "joint")
# Every way to condition, the first five being the named methods.
WAYS: tuple[dict[str, Any], ...] = (
    *({"method": method} for method in METHODS),
    {"method": "revised", "bandwidth": "p"},
    {"method": "balanced", "strength": 0.5, "beta_low": 0.1},
    {"method": "joint", "strength": 1, "odds": 5},
)
ALIGNMENTS = ("none", "mutual", "local", "mean", "auto")


def name(way: object) -> str:
    return "-".join(map(str, way.values())) if isinstance(way, dict) else str(way)


def make(**parameters: Any) -> ConditionalTSNE:
    """A short run: two phases, and enough of each for momentum to matter."""
    short = {"perplexity": 10, "n_iter": 40, "early_exaggeration_iter": 15, "random_state": 0}
    return ConditionalTSNE(**{**short, **parameters})
