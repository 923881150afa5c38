"""What to do next with a finished map: which labels stay apart, why, and the change that helps."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.messages import label_text
from ctsne._core.vocabulary import MEASURED_POINTS, NEIGHBORHOOD, SUGGESTED_MIXING
from ctsne.evaluate import MapNeighbors, laplacian, map_neighbors, mixing, mixing_by_label
from ctsne.evaluate.mixing import expected_shares
from ctsne.evaluate.trust import DOUBTFUL
from ctsne.fit.mixing import MISSED, fewer_neighbors, sample_settings
from ctsne.fit.pipeline import affinities_of, layout_of, neighbors_of, without_counterparts
from ctsne.fit.steps import USUAL_SLOPE
from ctsne.labels import UNNAMED, Column, Labels, encode_column, encode_labels
from ctsne.neighbors.matching import UNMATCHED
from ctsne.settings import Settings

# A change is tried by a short run: a sixth of the usual iterations, few of them exaggerated. On
# real data it predicts the mixing of the whole map with a median error of .01.
RUN_ITERATIONS, RUN_EXAGGERATED, FEWEST_ITERATIONS = 120, 60, 500
# Of more points, half are sampled, at most as many. A sample mixes differently: it is mapped with
# and without the change, and the difference counts.
RUN_POINTS = 5000
# A change that gains less is not worth another map, and smaller labels are not worth a line.
LEAST_GAIN, FEWEST_POINTS = 0.02, 10
# Where only some labels of a mixed column are apart, this much is asked for at once.
LARGEST_GAP = 0.15
# Missing counterparts explain little trust if at least this share of such points has none.
LEAST_ALONE = 0.2
_NAMED = 3


@dataclass(frozen=True)
class Apart:
    """A label that is mixed less than the target."""

    column: str
    label: object
    mixing: float
    points: int = 0  # with this label
    where: object = None  # the value of a column to look for that most of the points apart have
    unmatched: float = 0.0  # share of the points apart that have no counterpart
    of_number: bool = False  # the label is a range


@dataclass(frozen=True)
class Advice:
    """Which labels of a map stay apart, and the one change that helps.

    ``cause`` is ``"strength"``, ``"counterparts"`` or empty. ``change`` holds parameters of the
    estimator; ``reaches`` the mixing expected with them, by label column, and of the first label
    apart as ``label_reaches``, if that was estimated.
    """

    target: float
    mixing: Mapping[str, float]
    apart: tuple[Apart, ...] = ()
    cause: str = ""
    change: Mapping[str, Any] = field(default_factory=dict)
    reaches: Mapping[str, float] = field(default_factory=dict)
    label_reaches: float | None = None
    unmatched: str | None = None  # points without counterparts, if there are many

    def lines(self, spell: Callable[[str, Any], str] | None = None) -> list[str]:
        """Return the advice in a few lines; ``spell`` writes a parameter and its value."""
        alone = [] if self.unmatched is None or self.cause == "counterparts" else [self.unmatched]
        if not self.apart:
            columns = " and ".join(name for name in self.mixing if name != UNNAMED)
            labels = f"labels of {columns}" if columns else "labels"
            return [f"all {labels} are mixed to {self.target:g} of random or more", *alone]
        named = [_apart_text(each, len(self.mixing) > 1) for each in self.apart[:_NAMED]]
        more = f" and {len(self.apart) - _NAMED} more" if len(self.apart) > _NAMED else ""
        spell = spell or (lambda name, value: f"{name}={value!r}")
        change = "".join(spell(name, value) for name, value in self.change.items())
        if change:
            change += self._gain()
        if self.cause == "counterparts":
            why = "most of the points apart have no counterpart under other labels"
            change = change or "they may be a population that only one label has, best left apart"
        else:
            why = "most of their points have counterparts under other labels"
            change = change or "a stronger setting would hardly mix them further"
        return [f"labels that stay apart: {', '.join(named)}{more}", f"{why}: {change}", *alone]

    def _gain(self) -> str:
        """Return what the change reaches: of the column, or of a label if that is mixed enough."""
        if self.label_reaches is None:
            return " may find some" if self.cause == "counterparts" else " should mix them further"
        first = self.apart[0]
        name, value = first.column, self.reaches[first.column]
        if name == UNNAMED or self.mixing[name] >= self.target - MISSED:
            name, value = label_text(first.label), self.label_reaches
        return f" would mix {name} to about {value:.2f}"


def _apart_text(apart: Apart, several: bool) -> str:
    name = f"{apart.column} " * (several or apart.of_number) + label_text(apart.label)
    where = "" if apart.where is None else f", mostly {label_text(apart.where)}"
    return f"{name} (mixing {apart.mixing:.2f}{where})"


def advise(
    embedding: NDArray[np.floating],
    settings: Settings,
    points: Any,
    aligned: NDArray[np.floating] | None,
    *,
    matched: Mapping[str, NDArray[np.floating]],
    other: Mapping[str, Any] | None = None,
) -> Advice | None:
    """Return what to do next with a map, made with some settings of points and aligned points.

    There is no advice without labels, nor for a requested mixing, where the fit says what was
    missed. Columns to look for, ``other``, say where labels stay apart.
    """
    labels, knob = settings.labels, settings.method.knob
    if labels is None or knob is None or settings.mixing is not None:
        return None
    near = neighbors_in_map(embedding, settings.n_jobs)
    seen = {} if other is None else encode_labels(other, argument="other").by_name
    found = find_apart(near, labels, matched, seen)
    found = replace(found, unmatched=without_counterparts(matched, settings, hint=False))
    apart, mixed = found.apart, found.mixing
    if not apart:
        return found
    if found.cause == "counterparts":
        alignable = settings.list_labels is not None and settings.metric != "precomputed"
        if alignable and np.array_equal(settings.align, "none"):
            align = settings.method.align if settings.method.align != "none" else "mutual"
            return replace(found, change={"align": align})
        return found
    value, then = _stronger(settings, apart[0], mixed)
    if then is None:
        return found
    reached = _estimate(points, aligned, settings, then, replace(found, change={knob: value}))
    gains = [reached.reaches[name] - mixed[name] for name in reached.reaches]
    gains.append((reached.label_reaches or 1.0) - apart[0].mixing)
    return reached if max(gains) >= LEAST_GAIN else found


def doubt_line(
    trust: NDArray[np.floating],
    labels: Labels | None = None,
    other: Mapping[str, Any] | None = None,
    matched: NDArray[np.floating] | None = None,
) -> str:
    """Say how many points have little trust, the labels of most of them, and what they lack."""
    rows = np.flatnonzero(trust < DOUBTFUL)
    share = len(rows) / len(trust)
    if not len(rows):
        return "no point is likely to lie elsewhere"
    seen = [encode_column(values) for values in (other or {}).values()]
    kind = _where(rows, [column for column in seen if column.n_labels])
    words = [] if kind is None else [label_text(kind)]
    for name, column in ({} if labels is None else labels.by_name).items():
        label = _where(rows, [column] if column.n_labels else [])
        called = "label" if name == UNNAMED else name
        words += [] if label is None else [f"of {called} {label_text(label)}"]
    mostly = f"; mostly {' '.join(words)}" if words and len(rows) >= FEWEST_POINTS else ""
    many = "less than 1 %" if share < 0.005 else f"{100 * share:.0f} %"
    alone = 0.0 if matched is None else float((matched[rows] < UNMATCHED).mean())
    lack = f"{100 * alone:.0f} % of them have no counterpart under other labels"
    lack = f"; {lack}" if alone >= LEAST_ALONE else ""
    return f"{many} of the points would have mostly other neighbours in another map{mostly}{lack}"


def neighbors_in_map(
    embedding: NDArray[np.floating], n_jobs: int = -1, k: int = NEIGHBORHOOD
) -> MapNeighbors:
    """Return the neighbours by which the mixing of labels is measured."""
    k = min(k, len(embedding) - 2)
    return map_neighbors(embedding, k=k, sample=MEASURED_POINTS, n_jobs=n_jobs)


def find_apart(
    near: MapNeighbors,
    labels: Labels,
    matched: Mapping[str, NDArray[np.floating]],
    other: Mapping[str, Any],
    targets: Mapping[str, float] | None = None,
) -> Advice:
    """Return which labels of a map stay apart and why, those with most points first.

    ``matched`` and ``targets`` are by label column; a column may have none.
    """
    seen = [encode_column(values) for values in other.values()]
    least = {name: (targets or {}).get(name, SUGGESTED_MIXING) for name in labels.names}
    apart = [
        found
        for name, column in labels.by_name.items()
        for found in _labels_apart(near, name, column, matched.get(name), seen, least[name])
    ]
    apart.sort(key=lambda found: _concern(found, least), reverse=True)
    mixed = {name: mixing(near, column) for name, column in labels.by_name.items()}
    found = Advice(min(least.values()), mixed, tuple(apart))
    if not apart:
        return found
    weights = [_concern(label, least) for label in apart]
    lacking = float(np.average([label.unmatched for label in apart], weights=weights)) > 0.5
    return replace(found, cause="counterparts" if lacking else "strength")


def along_path(
    found: Advice, labels: Labels, knob: str, stronger: Sequence[tuple[Any, MapNeighbors]]
) -> Advice:
    """Return the advice with the first stronger map that mixes enough, or about as far as any."""
    if found.cause != "strength" or not stronger:
        return found
    first = found.apart[0]
    tried = [(value, *_mixing_in(near, labels, first)) for value, near in stronger]
    most = max(mixed for _, _, mixed in tried)
    least = min(found.target - MISSED, most - LEAST_GAIN)
    value, reaches, label = next(one for one in tried if one[2] >= least)
    if label - first.mixing < LEAST_GAIN:
        return found
    return replace(found, change={knob: value}, reaches=reaches, label_reaches=label)


def _mixing_in(near: MapNeighbors, labels: Labels, apart: Apart) -> tuple[dict[str, float], float]:
    columns = labels.by_name
    of_label = mixing_by_label(near, columns[apart.column]).get(apart.label, np.nan)
    return {name: mixing(near, column) for name, column in columns.items()}, of_label


def _labels_apart(
    near: MapNeighbors,
    name: str,
    column: Column,
    matched: NDArray[np.floating] | None,
    seen: list[Column],
    target: float,
) -> list[Apart]:
    shares = np.asarray(laplacian(near, column, k=near.k, pointwise=True))
    random = expected_shares(column)
    places, found = {label: code for code, label in enumerate(column.names)}, []
    for label, value in mixing_by_label(near, column).items():
        code = places[label]
        if value >= target - MISSED or column.counts[code] < FEWEST_POINTS:
            continue
        own = column.codes[near.points] == code
        alone = own & (shares < 0.5 * target * random[code])
        rows = near.points[alone if alone.any() else own]
        unmatched = 0.0 if matched is None else float((matched[rows] < UNMATCHED).mean())
        count, number = int(column.counts[code]), column.numbers is not None
        found.append(Apart(name, label, value, count, _where(rows, seen), unmatched, number))
    return found


def _concern(apart: Apart, least: Mapping[str, float]) -> float:
    """Return how many points would have to mix."""
    return apart.points * (least[apart.column] - apart.mixing)


def _where(rows: NDArray[np.integer], seen: list[Column]) -> object:
    """Return the value that most of some points have, but not as many of all points."""
    for column in seen:
        codes = column.codes[rows]
        counts = np.bincount(codes[codes >= 0], minlength=column.n_labels)
        top = int(counts.argmax())
        share = counts[top] / max(1, counts.sum())
        if share > 0.5 and share > 1.2 * column.counts[top] / column.counts.sum():
            return column.names[top]
    return None


def _stronger(
    settings: Settings, first: Apart, mixed: Mapping[str, float]
) -> tuple[Any, Settings | None]:
    """Return a stronger value for the column of a label apart, from the grid of the method."""
    labels, method = settings.labels, settings.method
    assert labels is not None
    numbers = [float(values[0]) for values in settings.knob]
    place = labels.names.index(first.column)
    grid = np.array(method.grid)
    levels = np.linspace(0, 1, len(grid))
    scale = grid if method.knob == "strength" else -np.log(grid)
    now = numbers[place] if method.knob == "strength" else -np.log(numbers[place])
    level = float(np.interp(now, scale, levels))
    if level == 1 or any(len(set(values.tolist())) > 1 for values in settings.knob):
        return None, None  # nothing is stronger, or values were chosen label by label
    gap = SUGGESTED_MIXING - mixed[first.column]
    if gap <= MISSED:  # only some labels are apart
        gap = min(SUGGESTED_MIXING - first.mixing, LARGEST_GAP)
    further = np.flatnonzero(levels >= min(1.0, level + gap / USUAL_SLOPE) - 1e-9)
    numbers[place] = float(grid[further[0]])
    pairs = zip(labels.columns, numbers, strict=True)
    knob = tuple(np.full(column.n_labels, number) for column, number in pairs)
    return labels.one_or_by_name(numbers), replace(settings, knob=knob)


def _estimate(
    points: Any, aligned: NDArray[np.floating] | None, now: Settings, then: Settings, found: Advice
) -> Advice:
    """Return the advice with what other settings reach, unless that would take too long."""
    assert now.labels is not None
    n, first = now.labels.n_points, found.apart[0]
    sampled = n > RUN_POINTS
    if now.n_iter < FEWEST_ITERATIONS or (sampled and now.metric == "precomputed"):
        return found
    rows = np.random.default_rng(0).permutation(n)[: min(RUN_POINTS, n // 2)]
    rows = np.sort(rows) if sampled else np.arange(n)
    features = points[rows] if sampled else points

    def run(settings: Settings) -> tuple[dict[str, float], float]:
        k = round(fewer_neighbors(NEIGHBORHOOD, settings, rows))
        settings = sample_settings(settings, rows) if sampled else settings
        schedule = replace(settings.schedule, early_exaggeration_iter=RUN_EXAGGERATED)
        settings = replace(settings, schedule=schedule, rng=np.random.default_rng(0))
        moved = aligned if aligned is None else aligned[rows]
        matrix = affinities_of(neighbors_of(features, settings, moved), settings).matrix
        places = None if settings.metric == "precomputed" else features
        layout = layout_of(matrix, places, settings)
        layout.advance(RUN_ITERATIONS)
        near = neighbors_in_map(layout.embedding, settings.n_jobs, k)
        assert settings.labels is not None
        return _mixing_in(near, settings.labels, first)

    reaches, label = run(then)
    if sampled:
        before, label_before = run(now)
        reaches = {name: found.mixing[name] + reaches[name] - before[name] for name in reaches}
        label += first.mixing - label_before
    return replace(found, reaches=reaches, label_reaches=label)
