"""The rule that chooses a map of a sweep, with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ctsne._core.checks import check_number
from ctsne._core.messages import did_you_mean, quoted, shown
from ctsne._core.vocabulary import split_measure

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


def check_targets(mixing: Any, names: Sequence[str]) -> dict[str, float]:
    """Return the target of each measure of mixing: one for all columns, or one for each by name."""
    columns = {split_measure(name)[1]: name for name in names}
    if not isinstance(mixing, Mapping) or None in columns:  # one label
        several = "" if None in columns else "or a mapping from each label column to such a number"
        number = check_number(mixing, "mixing", low=0, high=1, hint=several)
        return dict.fromkeys(names, number)
    for name in mixing:
        if name not in columns:
            known = quoted(columns)
            hint = did_you_mean(name, list(map(str, columns)))
            raise ValueError(
                f"mixing names {shown(name)}, not one of the label columns ({known}){hint}"
            )
    absent = [column for column in columns if column not in mixing]
    if absent:
        must = "mixing must give a number for every label column"
        raise ValueError(f"{must}, but has none for {quoted(absent)}")
    return {
        name: check_number(mixing[column], f"mixing[{shown(column)}]", low=0, high=1)
        for column, name in columns.items()
    }


def choose_map(
    lines: Sequence[Sequence[Sequence[SweptMap]]], targets: Mapping[str, float]
) -> Suggestion:
    """Choose from maps grouped by line, strength and seed; ``state.js`` has the same rule.

    ``targets`` holds the least value of ``mixing``, or of the mixing of each of several columns.
    """
    groups = [group for line in lines for group in line]
    reaching = [group for group in groups if _excess(group, targets) >= 0]
    plain = [group for group in reaching if group[0].parameters.get("method") == "tsne"]
    if plain:
        wanted = "such targets"
        if len(set(targets.values())) == 1:
            wanted = f"a target of {next(iter(targets.values())):g}"
        return Suggestion(
            _best_seed(plain[0], targets),
            f"plain t-SNE already mixes {_mixed_to(_means(plain[0], targets), '.2f')}, so "
            f"for {wanted} there is nothing to factor out",
        )
    if not reaching:
        most = max(groups, key=lambda group: _excess(group, targets))
        reached = _means(most, targets)
        (first, *more) = reached
        by_column = ", ".join(f"{split_measure(name)[1]} {reached[name]:.2f}" for name in reached)
        return Suggestion(
            None,
            f"no setting mixes {_mixed_to(targets, 'g')}; "
            + (f"the nearest is {by_column}" if more else f"the most is {reached[first]:.2f}")
            + f", with {most[0].title}",
        )
    if all(np.isfinite(group[0].measures.get("other_mixing", np.nan)) for group in reaching):
        unbeaten = [group for group in reaching if not _is_beaten(group, groups, targets)]
        chosen = _purest(unbeaten, targets)
        reason = (
            f"of the maps that mix {_mixed_to(targets, 'g')} or more, and that no other "
            "map beats in both mixing and neighbours kept, this one keeps the other label purest "
            "(the weaker of equals)"
        )
    else:
        by_line = ([group for group in line if group in reaching] for line in lines)
        weakest = [found[0] for found in by_line if found]
        chosen = max(weakest, key=lambda group: _mean(group, "adjusted_rnx"))
        reason = f"the weakest setting that mixes {_mixed_to(targets, 'g')}"
        if len(lines) > 1:
            reason += "; of all methods that reach it, this one keeps most neighbours"
    return Suggestion(_best_seed(chosen, targets), reason)


def _mixed_to(values: Mapping[str, float], digits: str) -> str:
    """Write how far the label, or each column, is mixed."""
    columns = {split_measure(name)[1]: value for name, value in values.items()}
    if None in columns:
        return f"the label to {columns[None]:{digits}} of random"
    if len(set(columns.values())) == 1:
        return f"every column to {next(iter(columns.values())):{digits}} of random"
    texts = [f"{column} to {value:{digits}}" for column, value in columns.items()]
    return f"{', '.join(texts[:-1])} and {texts[-1]} of random"


def _means(group: Sequence[SweptMap], names: Iterable[str]) -> dict[str, float]:
    return {name: _mean(group, name) for name in names}


def _excess(group: Sequence[SweptMap], targets: Mapping[str, float]) -> float:
    """Return how far a setting exceeds its targets, by the column that exceeds its own least."""
    return min(_mean(group, name) - least for name, least in targets.items())


def _purest(groups: Sequence[Sequence[SweptMap]], names: Iterable[str]) -> Sequence[SweptMap]:
    """Return the purest group; among equally pure ones, the least mixed."""
    purest = min(groups, key=lambda group: _mean(group, "other_mixing"))
    spread = float(np.std([swept.measures["other_mixing"] for swept in purest]))
    enough = _mean(purest, "other_mixing") + max(SEED_NOISE, spread)
    alike = [group for group in groups if _mean(group, "other_mixing") <= enough]
    return min(alike, key=lambda group: sum(_means(group, names).values()))


def _is_beaten(
    group: Sequence[SweptMap], others: Sequence[Sequence[SweptMap]], names: Iterable[str]
) -> bool:
    """Return whether another setting mixes more (every column) and keeps more neighbours."""
    compared = [*names, "adjusted_rnx"]
    return any(
        all(_mean(other, name) > _mean(group, name) for name in compared) for other in others
    )


def _best_seed(group: Sequence[SweptMap], targets: Mapping[str, float]) -> SweptMap:
    """Return the seed that keeps most neighbours, among those that mix far enough."""
    reaching = [swept for swept in group if _excess([swept], targets) >= 0]
    reaching = reaching or list(group)  # each column may reach its target with another seed
    return max(reaching, key=lambda swept: swept.measures["adjusted_rnx"])


def _mean(group: Sequence[SweptMap], measure: str) -> float:
    return float(np.mean([swept.measures[measure] for swept in group]))
