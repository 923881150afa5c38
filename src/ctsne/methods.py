"""The table of methods: what each conditions, its knob, and its functions in every stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log10
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ctsne._core.vocabulary import JOINT_LENGTH, read_table

# The stages are imported where they are called: help texts need this table, but no numerics.
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ctsne.affinity import Affinities
    from ctsne.neighbors import Neighbors

    Settings = Any  # ctsne.settings.Settings, which knows this table
    PerLabel = tuple[NDArray[np.float64], ...]  # one array per label column


@dataclass(frozen=True, eq=False, kw_only=True)
class Method:
    """One method. Its callables read the settings of a fit (:class:`ctsne.settings.Settings`)."""

    # Facts of methods.toml, which explains them.
    name: str
    title: str
    color: str
    knob: str | None = None
    default: float
    grid: Sequence[float]
    short_grid: Sequence[float]
    splits_neighbors: bool
    align: str = "none"
    uses: Sequence[str] = ()
    # Neighbours that are searched, and that get a similarity, in units of the perplexity.
    list_length: float = 3
    row_length: float = 3
    # Wanted lengths of the lists, from settings and the patterns of the lists.
    lengths: Callable[[Settings, tuple[int, ...]], NDArray[np.int64]]
    affinities: Callable[[Neighbors, Settings], Affinities]
    # The weight of differently labelled pairs in the map, per label of each column.
    beta_low: Callable[[Settings], PerLabel] | None = None

    @property
    def no_effect(self) -> float:
        """The value of the knob that conditions nothing."""
        return 0.0 if self.knob == "strength" else 1.0

    def knob_at(self, level: float) -> float:
        """Return the knob at a level from 0 to 1, from the weakest of the grid to the strongest."""
        if self.knob == "strength":
            return float(level)
        place = level * (len(self.grid) - 1)
        lower = min(int(place), len(self.grid) - 2)
        low, high = (log10(value) for value in self.grid[lower : lower + 2])
        return float(10 ** (low + (place - lower) * (high - low)))


def _paper_lengths(settings: Settings, patterns: tuple[int, ...]) -> NDArray[np.int64]:
    from ctsne.neighbors import paper_lengths

    return paper_lengths(patterns, settings.perplexity)


def _balanced_lengths(settings: Settings, patterns: tuple[int, ...]) -> NDArray[np.int64]:
    from ctsne.neighbors import balanced_lengths

    return balanced_lengths(settings.labels, patterns, settings.perplexity, settings.knob)


def _joint_lengths(settings: Settings, patterns: tuple[int, ...]) -> NDArray[np.int64]:
    from ctsne.neighbors import joint_lengths

    return joint_lengths(patterns, settings.perplexity)


def _plain(neighbors: Neighbors, settings: Settings) -> Affinities:
    from ctsne.affinity import tsne_affinities

    return tsne_affinities(neighbors, perplexity=settings.perplexity, n_jobs=settings.n_jobs)


def _revised(neighbors: Neighbors, settings: Settings) -> Affinities:
    from ctsne.affinity import revised_affinities

    how = {"beta": settings.knob, "bandwidth": settings.bandwidth, "n_jobs": settings.n_jobs}
    return revised_affinities(neighbors, settings.labels, perplexity=settings.perplexity, **how)


def _by_strength(neighbors: Neighbors, settings: Settings) -> Affinities:
    from ctsne.affinity import balanced_affinities, joint_affinities

    make = joint_affinities if settings.method.name == "joint" else balanced_affinities
    perplexity, strength, n_jobs = settings.perplexity, settings.knob, settings.n_jobs
    return make(neighbors, settings.labels, perplexity=perplexity, strength=strength, n_jobs=n_jobs)


def _joint_beta_low(settings: Settings) -> PerLabel:
    from ctsne.affinity import beta_from_odds, joint_odds

    return beta_from_odds(settings.labels, [joint_odds(strengths) for strengths in settings.knob])


# The functions of each method, and lengths that are not those of most.
_STAGES: dict[str, dict[str, Any]] = {
    "joint": {
        "list_length": 2 * JOINT_LENGTH,
        "row_length": JOINT_LENGTH,
        "lengths": _joint_lengths,
        "affinities": _by_strength,
        "beta_low": _joint_beta_low,
    },
    "revised": {"lengths": _paper_lengths, "affinities": _revised},
    "balanced": {"lengths": _balanced_lengths, "affinities": _by_strength},
    "original": {"lengths": _paper_lengths, "affinities": _plain, "beta_low": attrgetter("knob")},
    "tsne": {"lengths": _paper_lengths, "affinities": _plain},
}
METHODS = {
    name: Method(name=name, **{**facts, **_STAGES[name]})
    for name, facts in read_table("ctsne", "methods.toml").items()
}
DEFAULT_METHOD = "joint"
# The methods that a sweep compares with t-SNE by default.
SWEPT_METHODS = (DEFAULT_METHOD, "revised")
KNOBS = ("strength", "beta")
# Parameters that only some methods use.
_SELECTIVE = {name for method in METHODS.values() for name in method.uses} | set(KNOBS)


def is_used(name: str, parameters: Mapping[str, Any]) -> bool:
    """Return whether a parameter of the estimator has an effect, given all of them."""
    method = METHODS[parameters["method"]]
    map_given = any(parameters.get(each) is not None for each in ("beta_low", "odds"))
    if name == method.knob and not method.splits_neighbors and map_given:
        return False  # the knob conditions only the map, and odds or beta_low replaces it there
    return name not in _SELECTIVE or name == method.knob or name in method.uses


def align_value(given: Mapping[str, Any]) -> Any:
    """Return the alignment: the one given, or the method's default, which needs features."""
    if given["align"] is not None:
        return given["align"]
    return "none" if given["metric"] == "precomputed" else METHODS[given["method"]].align


def users_of(name: str) -> list[str]:
    """Return the methods that use a parameter which others ignore."""
    return [each.name for each in METHODS.values() if name == each.knob or name in each.uses]


def swept_grid(*names: str, short: bool = False) -> list[dict[str, Any]]:
    """Return the grid of a sweep over some methods; one without a knob is a single setting."""
    # With t-SNE among them, the others leave out their weakest value, which conditions nothing.
    grid: list[dict[str, Any]] = []
    for name in names:
        method = METHODS[name]
        if method.knob is None:
            grid.append({"method": name})
            continue
        values = method.short_grid if short else method.grid
        grid.append({"method": name, method.knob: list(values[1:] if "tsne" in names else values)})
    return grid
