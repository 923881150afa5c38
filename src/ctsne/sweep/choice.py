"""The rule that chooses a map of a sweep, with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ctsne.sweep.result import SweptMap

# How much the mixing of the other label, as a share of random mixing, varies between seeds of one
# setting: maps that differ by less are equally pure. Measured as 0.005 in the Laplacian score of
# three equally frequent labels, whose score for random labels is 2/3.
SEED_NOISE = 0.0075


@dataclass(frozen=True)
class Suggestion:
    """A map to use, with the reason in a sentence.

    Attributes
    ----------
    map : SweptMap or None
        None if no map mixes that far.
    reason : str
        Why this map was chosen, or why none was.

    Examples
    --------
    >>> from ctsne.sweep import Suggestion
    >>> Suggestion(None, "no setting mixes the label to 0.9 of random").map is None
    True
    """

    map: SweptMap | None
    reason: str


def choose_map(lines: Sequence[Sequence[Sequence[SweptMap]]], mixing: float) -> Suggestion:
    """Choose from maps grouped by line, strength and seed; ``state.js`` has the same rule."""
    groups = [group for line in lines for group in line]
    reaching = [group for group in groups if _mean(group, "mixing") >= mixing]
    plain = [group for group in reaching if group[0].parameters.get("method") == "tsne"]
    if plain:
        return Suggestion(
            _best_seed(plain[0], mixing),
            f"plain t-SNE already mixes the label to {_mean(plain[0], 'mixing'):.2f} of random, so "
            f"for a target of {mixing:g} there is nothing to factor out",
        )
    if not reaching:
        most = max(groups, key=lambda group: _mean(group, "mixing"))
        return Suggestion(
            None,
            f"no setting mixes the label to {mixing:g} of random; the most is "
            f"{_mean(most, 'mixing'):.2f}, with {most[0].title}",
        )
    if all(np.isfinite(group[0].measures.get("other_mixing", np.nan)) for group in reaching):
        chosen = _purest([group for group in reaching if not _is_beaten(group, groups)])
        reason = (
            f"of the maps that mix the label to {mixing:g} of random or more, and that no other "
            "map beats in both mixing and neighbours kept, this one keeps the other label purest "
            "(the weaker of equals)"
        )
    else:
        by_line = ([group for group in line if group in reaching] for line in lines)
        weakest = [found[0] for found in by_line if found]
        chosen = max(weakest, key=lambda group: _mean(group, "adjusted_rnx"))
        reason = f"the weakest setting that mixes the label to {mixing:g} of random"
        if len(lines) > 1:
            reason += "; of all methods that reach it, this one keeps most neighbours"
    return Suggestion(_best_seed(chosen, mixing), reason)


def _purest(groups: Sequence[Sequence[SweptMap]]) -> Sequence[SweptMap]:
    """Return the purest group; among equally pure ones, the least mixed."""
    purest = min(groups, key=lambda group: _mean(group, "other_mixing"))
    spread = float(np.std([swept.measures["other_mixing"] for swept in purest]))
    enough = _mean(purest, "other_mixing") + max(SEED_NOISE, spread)
    alike = [group for group in groups if _mean(group, "other_mixing") <= enough]
    return min(alike, key=lambda group: _mean(group, "mixing"))


def _is_beaten(group: Sequence[SweptMap], others: Sequence[Sequence[SweptMap]]) -> bool:
    """Return whether another setting mixes more and keeps more neighbours."""
    return any(
        _mean(other, "mixing") > _mean(group, "mixing")
        and _mean(other, "adjusted_rnx") > _mean(group, "adjusted_rnx")
        for other in others
    )


def _best_seed(group: Sequence[SweptMap], mixing: float) -> SweptMap:
    """Return the seed that keeps most neighbours, among those that mix far enough."""
    reaching = [swept for swept in group if swept.measures["mixing"] >= mixing]
    return max(reaching, key=lambda swept: swept.measures["adjusted_rnx"])


def _mean(group: Sequence[SweptMap], measure: str) -> float:
    return float(np.mean([swept.measures[measure] for swept in group]))
