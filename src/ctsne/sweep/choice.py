"""The rule that chooses a map of a sweep, with its reason."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import check_number
from ctsne._core.messages import shown, value_text
from ctsne._core.vocabulary import chosen_by, of_column, split_measure
from ctsne.evaluate import DataNeighbors, adjusted_rnx, laplacian
from ctsne.evaluate.mixing import expected_laplacian
from ctsne.evaluate.neighbors import search_map
from ctsne.evaluate.sampling import Floats, divided
from ctsne.labels import Labels
from ctsne.labels.columns import check_columns

if TYPE_CHECKING:
    from ctsne.sweep.result import SweptMap

    _Lines = Sequence[Sequence[Sequence[SweptMap]]]  # maps by line, strength and seed

# Random parts of the points that are measured by themselves: how the difference between two maps
# varies between them gives its standard error.
PARTS = 40
STANDARD_ERRORS = 2.0  # differences of no more than this many standard errors are noise
_ROUNDING = 1e-9  # of means and differences
# A page holds the suggestions for at most this many targets of one or two columns; else the
# targets are these.
_MOST_TARGETS = 1000
_FEW_TARGETS = np.linspace(0, 1, 11).round(1).tolist()

_Score = Callable[[Mapping[str, Floats]], Floats]


@dataclass(frozen=True)
class Suggestion:
    """A map to use, with the reason in a sentence.

    Attributes
    ----------
    map : SweptMap
        The map to use.
    reason : str
        Why this map was chosen.
    ties : tuple of SweptMap
        The first maps of settings that are equivalent, this one included: their differences are
        within noise. Empty if there are none.
    """

    map: SweptMap
    reason: str
    ties: tuple[SweptMap, ...] = ()


def check_targets(mixing: Any, names: Sequence[str]) -> dict[str, float]:
    """Return the target of each measure of mixing: one for all columns, or one for each by name."""
    columns = {split_measure(name)[1]: name for name in names}
    if not isinstance(mixing, Mapping) or None in columns:  # one label
        several = "" if None in columns else "or a mapping from each label column to such a number"
        number = check_number(mixing, "mixing", low=0, high=1, hint=several)
        return dict.fromkeys(names, number)
    check_columns(mixing, list(columns), "mixing")
    return {
        name: check_number(mixing[column], f"mixing[{shown(column)}]", low=0, high=1)
        for column, name in columns.items()
    }


def measure_parts(
    embedding: NDArray[np.float32], data: DataNeighbors, hidden: Labels | None, n_jobs: int
) -> dict[str, Floats]:
    """Return the measures to choose by of random parts of the points, the same for every map."""
    found = search_map(embedding, data.points, data.k, n_jobs)
    values = {}
    for base, labels in (("mixing", data.columns), ("other_mixing", hidden)):
        for name, column in ({} if labels is None else labels.by_name).items():
            measure = base if labels is None or labels.n_columns == 1 else of_column(base, name)
            random = expected_laplacian(column)
            shares = laplacian(found, column, k=data.k, pointwise=True)
            values[measure] = np.asarray(shares) / (random if random > 0 else np.nan)
    if data.complete:
        values["adjusted_rnx"] = np.asarray(adjusted_rnx(found, data, k=data.k, pointwise=True))
    m = len(data.points)
    part = np.random.default_rng(0).permutation(m) % min(PARTS, m)

    def means(of_points: Floats) -> Floats:
        there = np.isfinite(of_points)
        totals = np.bincount(part[there], of_points[there], minlength=min(PARTS, m))
        counts = np.bincount(part[there], minlength=len(totals))
        return divided(totals, counts).round(6)  # as it is stored

    return {name: means(of_points) for name, of_points in values.items()}


class _Setting:
    """The maps of one setting, one per seed, and their measures: of all points, then of parts."""

    def __init__(self, maps: Sequence[SweptMap], place: tuple[int, int], names: Iterable[str]):
        self.maps = maps
        self.line, self.place = place
        self.plain = maps[0].parameters.get("method") == "tsne"
        self._values = {
            name: np.array([[swept.measures[name], *swept.parts.get(name, ())] for swept in maps])
            for name in names
        }

    def mean(self, name: str) -> float:
        return float(self._values[name][:, 0].mean())

    def scores(self, score: _Score) -> tuple[Floats, float]:
        """Return means over seeds, and the variance of the first of them between seeds."""
        by_seed = score(self._values)
        spread = by_seed[:, 0].var(ddof=1) / len(by_seed) if len(by_seed) > 1 else 0.0
        return by_seed.mean(axis=0), float(spread)


def choose_map(lines: _Lines, targets: Mapping[str, float], wanted: str, hidden: str) -> Suggestion:
    """Choose a map by least mixings; ``wanted`` and ``hidden`` are words for the reason."""
    measured = [name for name in chosen_by(lines[0][0][0].measures) if name not in targets]
    settings = [
        _Setting(group, (number, place), [*targets, *measured])
        for number, line in enumerate(lines)
        for place, group in enumerate(line)
    ]
    judges = [name for name in measured if split_measure(name)[0] == "other_mixing"]
    finite = [name for name in judges if all(np.isfinite(own.mean(name)) for own in settings)]
    judge = next(iter(finite), None)

    def excess(values: Mapping[str, Floats]) -> Floats:
        above = [values[name] - least for name, least in targets.items()]
        return np.asarray(np.min(above, axis=0))

    def quality(values: Mapping[str, Floats]) -> Floats:
        return values["adjusted_rnx"] if judge is None else -values[judge]

    reaching = [own for own in settings if own.scores(excess)[0][0] >= -_ROUNDING]
    candidates = reaching or _best(settings, excess)
    equal = _best(candidates, quality)
    chosen = min(equal, key=lambda own: not own.plain)  # the first, hence the weakest
    found = split_measure(judge or "")[1] or hidden
    good = "keeps most neighbours" if judge is None else f"keeps {found} purest"
    mixed = [f"{split_measure(m)[1] or 'the label'} to {chosen.mean(m):.2f}" for m in targets]
    own = f"{' and '.join(mixed)} of random"
    reason = f"of the maps that reach {wanted}, this one {good}"
    if not reaching:
        reason = f"no setting reaches {wanted}; this one mixes {own}"
        reason += f" and {good} of the most mixed" if len(candidates) > 1 else ", the most of all"
    if chosen.plain and reaching:
        reason = f"t-SNE already mixes {own}"
        reason += "" if judge is None else f", and no map keeps {found} purer beyond noise"
        reason += ", so there is nothing to factor out"
    elif len(equal) > 1:
        reason += f"; {_equivalent(equal)}"
    for plain in settings:
        if plain.plain and judge is not None and _best([chosen, plain], quality) == [plain]:
            theirs, ours = plain.mean(judge), chosen.mean(judge)
            digits = 2 + (f"{theirs:.2f}" == f"{ours:.2f}")  # as many as tell them apart
            values = f"mixing {theirs:.{digits}f} against {ours:.{digits}f}"
            reason += f"; t-SNE keeps {found} purer ({values})"
    ties = tuple(other.maps[0] for other in equal)
    # Each column may reach its target with another seed.
    enough = [x for x in chosen.maps if all(x.measures[m] >= targets[m] for m in targets)]
    best = max(enough or chosen.maps, key=lambda swept: swept.measures["adjusted_rnx"])
    return Suggestion(best, reason, ties if len(ties) > 1 else ())


def choose_maps(
    lines: _Lines, targets: Mapping[str, float], hidden: str
) -> tuple[list[list[float]], list[Suggestion]]:
    """Choose for every target: return lists of targets by column, and a choice for each product."""
    # Choices change only where a map stops to reach a target, so each holds for all targets down to
    # the next smaller one; ``targets`` are always among them.
    groups = [group for line in lines for group in line]

    def where_it_changes(name: str) -> set[float]:
        values = [[swept.measures[name] for swept in group] for group in groups]
        values += [[float(np.mean(own))] for own in values]
        return {min(max(x, 0.0), 1.0) for own in values for x in own}

    axes = [sorted({1.0, least} | where_it_changes(name)) for name, least in targets.items()]
    if math.prod(map(len, axes)) > _MOST_TARGETS:
        axes = [sorted({least, *_FEW_TARGETS}) for least in targets.values()]
    wanted = "the target" if len(targets) == 1 else "the targets"
    chosen = (dict(zip(targets, values, strict=True)) for values in product(*axes))
    return axes, [choose_map(lines, own, wanted, hidden) for own in chosen]


def _best(settings: Sequence[_Setting], score: _Score) -> list[_Setting]:
    """Return the settings whose scores differ from the best one by no more than noise."""
    scores = [own.scores(score) for own in settings]
    top, spread = max(scores, key=lambda found: np.nan_to_num(found[0][0], nan=-np.inf))

    def is_equal(found: Floats, own_spread: float) -> bool:
        differences = top - found
        parts = differences[1:][np.isfinite(differences[1:])]
        variance = spread + own_spread
        variance += parts.var(ddof=1) / len(parts) if len(parts) > 1 else 0.0
        return not differences[0] > STANDARD_ERRORS * np.sqrt(variance) + _ROUNDING

    return [own for own, found in zip(settings, scores, strict=True) if is_equal(*found)]


def _equivalent(equal: Sequence[_Setting]) -> str:
    by_line: dict[int, list[_Setting]] = {}
    for own in equal:
        by_line.setdefault(own.line, []).append(own)
    taken, texts = equal[0].maps[0].title, []
    for settings in by_line.values():
        first, last = (own.maps[0].parameters for own in (settings[0], settings[-1]))
        varied = [name for name in first if first[name] != last[name]]
        gaps = settings[-1].place - settings[0].place >= len(settings)
        if gaps or len(varied) != 1 or not isinstance(first[varied[0]], Real):
            texts += [own.maps[0].title for own in settings]
            continue
        (knob,) = varied
        low, high = value_text(first[knob]), value_text(last[knob])
        others = {name: first[name] for name in first if name != knob}
        rest = replace(settings[0].maps[0], parameters=others)
        of_line = f" of {rest.title}" if len(by_line) > 1 and rest.title else ""
        texts.append(f"{knob}s {low} to {high}{of_line}")
        taken = low if len(by_line) == 1 else taken
    *most, last_text = texts
    return f"{', '.join(most)}{' and ' * bool(most)}{last_text} are equivalent; {taken} taken"
