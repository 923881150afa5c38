"""The methods: what each conditions, what steers it, and which parameters it looks at.

Every other place asks this table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, log10
from typing import TYPE_CHECKING, Any

# The stages are imported where they are called: help texts need this table, and no numbers.
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ctsne._fit.settings import Settings
    from ctsne.affinity import Affinities
    from ctsne.neighbors import Neighbors

    Lengths = tuple[NDArray[np.int32], NDArray[np.int32]]

__all__ = [
    "DEFAULT_METHOD",
    "KNOBS",
    "METHODS",
    "SWEPT_METHODS",
    "Method",
    "is_used",
    "swept_grid",
    "users_of",
]

# Rows of ``joint`` in units of the perplexity: short ones keep the neighbourhood as a whole and mix
# further, longer ones keep more of the very nearest.
JOINT_LENGTH = 5 / 3


@dataclass(frozen=True, eq=False)
class Method:
    """One method.

    Attributes
    ----------
    name : str
    title : str
        What texts call it.
    knob : str or None
        The parameter that sets how much it conditions.
    default : float
        Value of the knob if none is given.
    grid : tuple of float
        Values of the knob for a sweep, the weakest first.
    short_grid : tuple of float
        Fewer of them, for a first look at several methods.
    two_lists : bool
        Whether neighbours with the same and with other labels are searched separately.
    list_length, row_length : float
        Neighbours of a point that are searched, and that get a similarity, in units of the
        perplexity.
    uses : tuple of str
        Parameters that it looks at and not all methods do, beside its knob.
    lengths : callable
        Settings and number of points to the lengths of both lists.
    affinities : callable
        Neighbours and settings to similarities.
    beta_low : callable or None
        Settings to the weight of differently labelled pairs in the map, one for each label.
    """

    name: str
    title: str
    knob: str | None
    default: float
    grid: tuple[float, ...]
    short_grid: tuple[float, ...]
    two_lists: bool
    list_length: float
    row_length: float
    uses: tuple[str, ...]
    lengths: Callable[[Settings, int], Lengths]
    affinities: Callable[[Neighbors, Settings], Affinities]
    beta_low: Callable[[Settings], NDArray[np.float64]] | None = None

    def knob_at(self, level: float) -> float:
        """Value of the knob at a level from 0, the weakest, to 1, the strongest of the grid."""
        if self.knob == "strength":
            return float(level)
        place = level * (len(self.grid) - 1)
        below = min(int(place), len(self.grid) - 2)
        low, high = (log10(value) for value in self.grid[below : below + 2])
        return float(10 ** (low + (place - below) * (high - low)))


def _paper_lengths(settings: Settings, n: int) -> Lengths:
    from ctsne.neighbors import paper_lengths

    labels = settings.labels if settings.method.two_lists else None
    return paper_lengths(labels, n, settings.perplexity)


def _balanced_lengths(settings: Settings, n: int) -> Lengths:
    from ctsne.neighbors import balanced_lengths

    assert settings.labels is not None
    return balanced_lengths(settings.labels, settings.perplexity, settings.knob)


def _joint_lengths(settings: Settings, n: int) -> Lengths:
    from ctsne.neighbors import half_lengths

    # Each list as long as a row: how much of it is used depends on the point.
    return half_lengths(settings.labels, n, 2 * ceil(JOINT_LENGTH * settings.perplexity))


def _plain(neighbors: Neighbors, settings: Settings) -> Affinities:
    from ctsne.affinity import tsne_affinities

    return tsne_affinities(neighbors, perplexity=settings.perplexity, n_jobs=settings.n_jobs)


def _revised(neighbors: Neighbors, settings: Settings) -> Affinities:
    from ctsne.affinity import revised_affinities

    return revised_affinities(
        neighbors, settings.labels, perplexity=settings.perplexity, beta=settings.knob,
        bandwidth=settings.bandwidth, n_jobs=settings.n_jobs,
    )  # fmt: skip


def _balanced(neighbors: Neighbors, settings: Settings) -> Affinities:
    from ctsne.affinity import balanced_affinities

    return balanced_affinities(
        neighbors, settings.labels, perplexity=settings.perplexity, strength=settings.knob,
        n_jobs=settings.n_jobs,
    )  # fmt: skip


def _joint(neighbors: Neighbors, settings: Settings) -> Affinities:
    from ctsne.affinity import joint_affinities

    return joint_affinities(
        neighbors, settings.labels, perplexity=settings.perplexity, strength=settings.knob,
        n_jobs=settings.n_jobs,
    )  # fmt: skip


def _joint_below(settings: Settings) -> NDArray[np.float64]:
    from ctsne.affinity import beta_from_odds, joint_odds

    assert settings.labels is not None
    return beta_from_odds(settings.labels, joint_odds(settings.knob))


_STRENGTHS = tuple(round(0.1 * step, 1) for step in range(11))
_SHORT_STRENGTHS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)

METHODS = {
    method.name: method
    for method in (
        Method(
            "joint",
            "joint",
            "strength",
            0.6,
            _STRENGTHS,
            _SHORT_STRENGTHS,
            True,
            2 * JOINT_LENGTH,
            JOINT_LENGTH,
            ("align",),
            _joint_lengths,
            _joint,
            _joint_below,
        ),
        Method(
            "revised",
            "revised",
            "beta",
            1e-4,
            # Large steps change little at the far end; it matters where labels lie far apart only.
            (1, 0.3, 0.1, 0.03, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-13, 1e-16,
             1e-20, 1e-30),
            (1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-12, 1e-20),
            True,
            3,
            3,
            ("align", "bandwidth"),
            _paper_lengths,
            _revised,
        ),
        Method(
            "balanced",
            "balanced",
            "strength",
            1.0,
            _STRENGTHS,
            _SHORT_STRENGTHS,
            True,
            3,
            3,
            ("align",),
            _balanced_lengths,
            _balanced,
        ),
        Method(
            "original",
            "original",
            "beta",
            0.1,
            (1, 0.8, 0.6, 0.4, 0.3, 0.2, 0.1, 0.06, 0.03, 1e-2, 1e-3, 1e-4, 1e-8),
            (1, 0.6, 0.3, 0.1, 0.03, 1e-2, 1e-3, 1e-4),
            False,
            3,
            3,
            (),
            _paper_lengths,
            _plain,
            lambda settings: settings.knob,
        ),
        Method(
            "tsne", "t-SNE", None, 1.0, (1.0,), (1.0,), False,
            3, 3, (), _paper_lengths, _plain,
        ),
    )
}  # fmt: skip
DEFAULT_METHOD = "joint"
# What a sweep compares if nothing is said, beside t-SNE.
SWEPT_METHODS = (DEFAULT_METHOD, "revised")
KNOBS = ("strength", "beta")
# Parameters that only some methods look at.
_SELECTIVE = {name for method in METHODS.values() for name in method.uses} | set(KNOBS)


def is_used(name: str, parameters: Mapping[str, Any]) -> bool:
    """Tell whether a parameter of the estimator has any effect, given all of them."""
    method = METHODS[parameters["method"]]
    below_given = any(parameters.get(each) is not None for each in ("beta_low", "odds"))
    if name == method.knob and not method.two_lists and below_given:
        return False  # the knob conditions the map only, and something else does so already
    return name not in _SELECTIVE or name == method.knob or name in method.uses


def users_of(name: str) -> list[str]:
    """List the methods that look at a parameter which others ignore."""
    return [each.name for each in METHODS.values() if name == each.knob or name in each.uses]


def swept_grid(*names: str, short: bool = False) -> list[dict[str, Any]]:
    """Return the grid of a sweep over some methods; one without a knob is a single setting.

    Where t-SNE is among them, the others leave out their weakest value, which conditions nothing.
    """
    grid: list[dict[str, Any]] = []
    for name in names:
        method = METHODS[name]
        if method.knob is None:
            grid.append({"method": name})
            continue
        values = method.short_grid if short else method.grid
        grid.append({"method": name, method.knob: list(values[1:] if "tsne" in names else values)})
    return grid
