"""Which map of a sweep to take, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ctsne.sweep.swept import SweptMap

__all__ = ["SUGGESTED_MIXING", "Suggestion", "choose_map"]

# The share of random mixing to reach if nothing else is said. A starting point, not a rule.
SUGGESTED_MIXING = 0.5
# Two maps whose purity differs by less are alike: seeds make as much of a difference.
SEED_NOISE = 0.005

Group = Sequence[SweptMap]


@dataclass(frozen=True)
class Suggestion:
    """A map to take, and the reason in a sentence.

    Attributes
    ----------
    map : SweptMap or None
        None if no map mixes that far.
    reason : str
        Why it is this one, or why there is none.
    """

    map: SweptMap | None
    reason: str


def choose_map(lines: Sequence[Sequence[Group]], mixing: float) -> Suggestion:
    """Choose from maps grouped by line and setting, the weakest first, seeds in a group.

    The rule is the same as that of the page (``state.js``).
    """
    groups = [group for line in lines for group in line]
    reaching = [group for group in groups if _mean(group, "mixing") >= mixing]
    plain = [group for group in reaching if group[0].parameters.get("method") == "tsne"]
    if plain:
        return Suggestion(
            _best_seed(plain[0], mixing),
            f"plain t-SNE already mixes the label to {_mean(plain[0], 'mixing'):.2f} of random, so "
            f"at a target of {mixing:g} there is nothing to take out",
        )
    if not reaching:
        most = max(groups, key=lambda group: _mean(group, "mixing"))
        return Suggestion(
            None,
            f"no setting mixes the label to {mixing:g} of random; the most is "
            f"{_mean(most, 'mixing'):.2f}, with {most[0].title}",
        )
    if all("other_laplacian" in group[0].measures for group in reaching):
        chosen = _purest([group for group in reaching if not _is_beaten(group, groups)])
        reason = (
            f"of the maps that mix the label to {mixing:g} of random or more, and that no other "
            "map beats in both mixing and neighbours kept, it is the one in which the label to "
            "look for is purest (the weaker of equals)"
        )
    else:
        weakest = [
            next(group for group in line if group in reaching)
            for line in lines
            if any(group in reaching for group in line)
        ]
        chosen = max(weakest, key=lambda group: _mean(group, "adjusted_rnx"))
        reason = f"the weakest setting that mixes the label to {mixing:g} of random"
        if len(lines) > 1:
            reason += "; of all methods that get there, it keeps most neighbours"
    return Suggestion(_best_seed(chosen, mixing), reason)


def _purest(groups: Sequence[Group]) -> Group:
    """Return the purest group; of those that differ by no more than seeds do, the least mixed."""
    purest = min(groups, key=lambda group: _mean(group, "other_laplacian"))
    spread = float(np.std([swept.measures["other_laplacian"] for swept in purest]))
    enough = _mean(purest, "other_laplacian") + max(SEED_NOISE, spread)
    alike = [group for group in groups if _mean(group, "other_laplacian") <= enough]
    return min(alike, key=lambda group: _mean(group, "mixing"))


def _is_beaten(group: Group, others: Sequence[Group]) -> bool:
    """Tell whether another setting mixes more and keeps more."""
    return any(
        _mean(other, "mixing") > _mean(group, "mixing")
        and _mean(other, "adjusted_rnx") > _mean(group, "adjusted_rnx")
        for other in others
    )


def _best_seed(group: Group, mixing: float) -> SweptMap:
    """Return the seed that keeps most neighbours, of those that mix far enough."""
    reaching = [swept for swept in group if swept.measures["mixing"] >= mixing]
    return max(reaching, key=lambda swept: swept.measures["adjusted_rnx"])


def _mean(group: Group, measure: str) -> float:
    return float(np.mean([swept.measures[measure] for swept in group]))
