"""Alignment: move points of other labels towards their counterparts before searching them.

Distances within a label can be trusted. Distances between labels include the effect of the label,
which a map should not show. So the list of other labels can be searched among aligned points, while
the list of the same label always uses the data as they are.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ctsne._core.checks import as_numbers, check_choice, check_data, check_directions, is_sparse
from ctsne._core.vocabulary import ALIGN_CHOICES, TREND, TRIED_ALIGNMENTS
from ctsne.labels import Column, Labels, join_columns
from ctsne.neighbors.matching import COUNTERPARTS, SMOOTHED, matched_shares
from ctsne.neighbors.points import unit_rows
from ctsne.neighbors.search import find_neighbors

# Counterparts are points that are among each other's nearest points of other labels.
PAIR_NEIGHBORS = 10
ROUNDS = 5
LOCAL_NEIGHBORS = 50  # how many paired points of the same label determine the move of a point
# Points move with the paired points near them if matched better than this, fully if matched fully.
MATCHED_ENOUGH = 0.5
# Larger data are sampled to estimate and score alignments, and to estimate shifts of labels, with
# this many points of every label beside it, twice the sample at most.
SAMPLE, SHIFT_SAMPLE, LABEL_SAMPLE = 10_000, 5000, 50
# Length of the lists and number of rows that a score uses.
SCORE_NEIGHBORS = 25
SCORE_ROWS = 600
# Of a direction that is the mean of several, less than this is left if they cancel each other.
NO_DIRECTION = 1e-6
# The trend of a number is computed at this many ranks, as means with a Gaussian of this width.
TREND_STEPS, TREND_WIDTH = 200, 0.05
SAME_UNIT = 2.0  # if distances differ by a smaller factor, two representations have the same unit

_Points = NDArray[np.floating]
_Floats = NDArray[np.float64]
_Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Alignment:
    """The points among which neighbours with other labels are searched."""

    name: str  # one of ctsne._core.vocabulary.ALIGNMENTS, or "array"
    points: _Points | None  # None if the data are used as given
    # The commuting share of each alignment tried, if "auto" chose one.
    scores: dict[str, float] = field(default_factory=dict)
    shifts: _Floats | None = None  # of each label, (n_labels, d), if its points move alike
    factor: float = 1.0  # by which a given representation was multiplied


def check_align(align: Any, n: int, metric: str) -> str | _Points:
    """Return the name of an alignment, or a representation with one row per point."""
    if isinstance(align, str):
        check_choice(align, "align", ALIGN_CHOICES)
        if align == "none":
            return align
    if metric == "precomputed":
        what = 'align needs features to move, but metric="precomputed" has only distances'
        raise ValueError(f"{what}; leave align out")
    if isinstance(align, str):
        return align
    if is_sparse(align):
        raise TypeError("align must be a dense array with a row for each point, got a sparse one")
    points = as_numbers(align, argument="align")
    if points.ndim != 2 or len(points) != n or points.shape[1] == 0:
        raise ValueError(
            f"align must be one of {', '.join(map(repr, ALIGN_CHOICES))}, or an array with "
            f"a row for each of the {n} points, such as a representation corrected for the label; "
            f"got an array of shape {points.shape}"
        )
    points = check_data(align, argument="align")
    if metric == "cosine":
        check_directions(points, argument="align")
    return np.asarray(points)


def choose_alignment(
    X: Any, labels: Labels | None, how: str | _Points, *, metric: str, n_jobs: int
) -> Alignment:
    """Align the points by name, rescale a given representation, or try alignments ("auto").

    First numbers lose their trend, the mean of the points near a point in the number. Then labels
    are aligned, several columns by the combinations of their values.
    """
    if labels is None or (isinstance(how, str) and how == "none"):
        return Alignment("none", None)
    if not isinstance(how, str):
        factor = unit_factor(how, X, labels.combined, metric=metric)
        points = how if factor == 1 else np.asarray(how * factor, how.dtype)
        return Alignment("array", points, factor=factor)
    numbers = [column for column in labels.columns if column.numbers is not None]
    if not numbers:
        return _align_labels(X, labels.combined, how, metric=metric, n_jobs=n_jobs)
    base = unit_rows(X) if metric == "cosine" else X
    points, scores = base, {}
    for column in numbers:
        points = without_trend(points, column)
    if metric == "cosine":
        points = with_directions(points, base)
    plain = [place for place, column in enumerate(labels.columns) if column.numbers is None]
    if plain:
        known = labels.keep(plain).combined
        found = _align_labels(points, known, how, metric=metric, n_jobs=n_jobs)
        points, scores = points if found.points is None else found.points, found.scores
    return Alignment(TREND, points, scores)


def _align_labels(X: Any, column: Column, how: str, *, metric: str, n_jobs: int) -> Alignment:
    if how != "auto":
        return _align(X, column, how, metric=metric, n_jobs=n_jobs)
    best, scores = Alignment("none", None), {}
    for name in TRIED_ALIGNMENTS:
        try:
            tried = _align(X, column, name, metric=metric, n_jobs=n_jobs)
        except _NoDirectionError:
            continue
        aligned = X if tried.points is None else tried.points
        scores[name] = commuting_share(X, aligned, column, metric=metric, n_jobs=n_jobs)
        if scores[name] >= max(scores.values()):
            best = tried
    return replace(best, scores=scores)


def _align(X: _Points, labels: Column, how: str, *, metric: str, n_jobs: int) -> Alignment:
    if how == "none" or labels.n_labels < 2:
        return Alignment(how, None)
    points = unit_rows(X) if metric == "cosine" else X
    if how == "mean":
        means = _label_sums(points, labels) / np.maximum(labels.counts, 1)[:, None]
        shifts = points[labels.codes >= 0].mean(axis=0, dtype=np.float64) - means
        return _shifted(how, points, labels.codes, shifts, metric)
    rows = alignment_sample(labels)
    sample, known = points[rows].astype(np.float64), labels.take(rows)
    fewer = alignment_sample(known, SHIFT_SAMPLE)
    some = known.take(fewer)
    shifts = np.zeros((labels.n_labels, points.shape[1]))
    shifts[some.counts > 0] = _mutual_shifts(sample[fewer], some.without_unused(), n_jobs)
    if how == "mutual":
        return _shifted(how, points, labels.codes, shifts, metric)
    moves = _local_moves(sample, known, shifts, n_jobs)
    places = _moved_locally(points, labels.codes, rows, moves, n_jobs)
    return Alignment(how, with_directions(places, points) if metric == "cosine" else places)


class _NoDirectionError(ValueError):
    """An alignment would leave points without a direction."""


def _shifted(how: str, points: _Points, codes: _Codes, shifts: _Floats, metric: str) -> Alignment:
    """Move every label by its shift, unless points would lose their direction and need one."""
    places = moved(points, codes, shifts)
    lost = np.abs(places).max(axis=1) < NO_DIRECTION
    if metric == "cosine" and lost.any():
        rows = f"{lost.sum():,} rows of X to zero (the first is row {lost.argmax()})"
        why = 'labels have opposite directions, and zeros have no direction for metric="cosine"'
        other = 'use another align, such as "none", or metric="euclidean"'
        raise _NoDirectionError(f'align="{how}" shifts {rows}, because {why}; {other}')
    return Alignment(how, places, shifts=shifts)


def with_directions(places: _Points, points: _Points) -> _Points:
    """Leave points where they are that would be between opposite directions and have none."""
    lost = np.abs(places).max(axis=1) < NO_DIRECTION
    return np.where(lost[:, None], points, places)


def without_trend(points: _Points, column: Column) -> _Points:
    """Take from every point the mean of the points near it in a number, but not the overall mean.

    The mean is weighted by a Gaussian of the difference in ranks. Points without a number stay.
    """
    known = np.flatnonzero(np.isfinite(column.ranks))
    if len(known) == 0:
        return points
    ranks = column.ranks[known]
    step = np.minimum((ranks * TREND_STEPS).astype(np.int64), TREND_STEPS - 1)
    shape = (TREND_STEPS, len(known))
    members = sp.csr_array((np.ones(len(known)), (step, np.arange(len(known)))), shape=shape)
    middle = (np.arange(TREND_STEPS) + 0.5) / TREND_STEPS
    gaps = column.rank_gaps(middle[:, None], middle)
    # Sparse products, because others depend on the number of threads.
    weights = sp.csr_array(np.exp(-0.5 * (gaps / TREND_WIDTH) ** 2))
    own = points[known].astype(np.float64)
    trend = (weights @ (members @ own)) / (weights @ members.sum(axis=1))[:, None]
    trend -= own.mean(axis=0)
    place = ranks * TREND_STEPS - 0.5
    low = np.floor(place).astype(np.int64)
    part = (place - low)[:, None]
    ends = np.stack([low, low + 1])
    circular = column.period is not None
    before, after = trend[ends % TREND_STEPS if circular else np.clip(ends, 0, TREND_STEPS - 1)]
    out = points.astype(np.float64)
    out[known] -= before + part * (after - before)
    return np.asarray(out, points.dtype)


def shift_to(points: _Floats, known: _Floats, how: str, *, n_jobs: int) -> _Floats:
    """Return the shift that aligns points of a new label with aligned points that stay in place.

    ``"mean"`` moves their mean to that of the others; any other alignment follows mutual nearest
    neighbours, as ``"mutual"`` does, but all the way, because only one side moves.
    """
    if how == "mean":
        return np.asarray(known.mean(axis=0) - points.mean(axis=0))
    codes = np.repeat([0, 1], [len(known), len(points)]).astype(np.int32)
    sides = Column(codes, ("known", "new"), np.bincount(codes, minlength=2).astype(np.int64))
    shift = np.zeros(points.shape[1])
    for _ in range(ROUNDS):
        difference, count = _differences(np.concatenate([known, points + shift]), sides, n_jobs)
        new = codes == 1
        shift += difference[new].sum(axis=0) / max(1, int(count[new].sum()))
    return shift


def unit_factor(points: _Points, X: _Points, labels: Column, *, metric: str) -> float:
    """Return the factor that gives a representation the unit of the data, if these differ."""
    if metric == "cosine":  # angles have no unit
        return 1.0
    rows = np.sort(np.random.default_rng(0).permutation(len(X))[:SCORE_ROWS])
    typical = []
    lengths = min(PAIR_NEIGHBORS, len(X) - 1), 0
    for representation in (X, points):
        found = find_neighbors(representation, labels, lengths=lengths, rows=rows)
        own = np.arange(found.indices.shape[1]) < found.lengths[:, :1]
        typical.append(float(np.median(found.distances[own])) if own.any() else 0.0)
    if min(typical) == 0 or 1 / SAME_UNIT < typical[0] / typical[1] < SAME_UNIT:
        return 1.0
    return typical[0] / typical[1]


def alignment_sample(labels: Column, size: int | None = None) -> NDArray[np.int64]:
    """Choose labelled points to estimate an alignment on: all, or a sample with every label."""
    rows, size = np.flatnonzero(labels.codes >= 0), SAMPLE if size is None else size
    if len(rows) <= size:
        return rows
    order = np.random.default_rng(0).permutation(rows)
    by_label = np.argsort(labels.codes[order], kind="stable")
    codes = labels.codes[order[by_label]]
    rank = np.arange(len(rows)) - np.searchsorted(codes, codes)  # within the label
    few = np.sort(by_label[rank < LABEL_SAMPLE])  # in an order that labels do not change
    return np.union1d(order[:size], order[few[:size]])


def commuting_share(
    X: _Points, aligned: _Points, labels: Column, *, metric: str = "euclidean", n_jobs: int = -1
) -> float:
    """Return the share of neighbours' counterparts that are counterparts' neighbours, at most 1."""
    if labels.n_labels < 2:
        return 0.0
    rows = alignment_sample(labels)
    known = labels.take(rows)
    k = SCORE_NEIGHBORS
    same = _graph(X[rows], known, (k, 0), metric, n_jobs)
    other = _graph(aligned[rows], known, (0, k), metric, n_jobs)
    # A pair counts if it is in the list of either point.
    same, other = (((graph + graph.T) > 0).astype(np.float32) for graph in (same, other))
    asked = np.random.default_rng(0).permutation(len(rows))[:SCORE_ROWS]
    there, back = same[asked] @ other, other[asked] @ same
    least = min(there.sum(), back.sum())
    return float(there.minimum(back).sum() / least) if least > 0 else 0.0


def _graph(
    points: _Points, labels: Column, lengths: tuple[int, int], metric: str, n_jobs: int
) -> sp.csr_array:
    found = find_neighbors(points, labels, lengths=lengths, metric=metric, n_jobs=n_jobs)
    n, length = found.indices.shape
    # Where the list asked for is too short, the other one fills the row: ignore that one.
    other = np.arange(length) >= found.lengths[:, :1]
    wanted = other if lengths[1] else ~other
    row = np.broadcast_to(np.arange(n)[:, None], (n, length))[wanted]
    return sp.csr_array((np.ones(len(row), np.float32), (row, found.indices[wanted])), shape=(n, n))


def _label_sums(values: NDArray[Any], labels: Column) -> _Floats:
    return np.asarray(_members(labels) @ values.astype(np.float64, copy=False))


def _members(labels: Column) -> sp.csr_array:
    labelled = np.flatnonzero(labels.codes >= 0)
    return sp.csr_array(
        (np.ones(len(labelled)), (labels.codes[labelled], labelled)),
        shape=(labels.n_labels, labels.n_points),
    )


def moved(points: _Points, codes: _Codes, shifts: _Floats) -> _Points:
    """Move every label by its shift, but not unlabelled points."""
    padded = np.vstack([shifts, np.zeros(points.shape[1])]).astype(points.dtype)
    return np.asarray(points + padded[codes])  # a missing label, -1, takes the zeros


def _differences(points: _Points, labels: Column, n_jobs: int) -> tuple[_Floats, NDArray[np.int64]]:
    graph = _graph(points, labels, (0, PAIR_NEIGHBORS), "euclidean", n_jobs)
    pairs = graph.multiply(graph.T).tocsr()
    count = np.diff(pairs.indptr).astype(np.int64)
    return np.asarray(pairs @ points - count[:, None] * points), count


def _mutual_shifts(points: _Floats, labels: Column, n_jobs: int) -> _Floats:
    """Find the shift of each label, repeatedly half its mean difference to its counterparts.

    Then labels that are nearest to each other move as one, and so on until two groups are left: the
    counterparts of three replicates and two others would otherwise all be replicates.
    """
    shifts = np.zeros((labels.n_labels, points.shape[1]))
    group_of: NDArray[np.int64] | None = labels.appearance
    while group_of is not None:
        codes = np.append(group_of, -1)[labels.codes].astype(np.int32)
        counts = np.bincount(codes[codes >= 0], minlength=group_of.max() + 1)
        groups = Column(codes, tuple(range(len(counts))), counts)
        for _ in range(ROUNDS):
            difference, count = _differences(moved(points, labels.codes, shifts), groups, n_jobs)
            pairs = _label_sums(count[:, None], groups)
            shifts += (0.5 * _label_sums(difference, groups) / np.maximum(pairs, 1))[group_of]
        merged = _merged(moved(points, labels.codes, shifts), groups, n_jobs)
        group_of = None if merged is None else merged[group_of]
    return shifts


def _merged(points: _Points, groups: Column, n_jobs: int) -> NDArray[np.int64] | None:
    """Give every group a new number, the same one to two that are nearest to each other.

    The nearness of two groups is how often their points are among the nearest of other groups,
    relative to random ones, in both directions. None if there are two groups, or none can merge.
    """
    if np.count_nonzero(groups.counts) <= 2:
        return None
    graph = _graph(points, groups, (0, SCORE_NEIGHBORS), "euclidean", n_jobs)
    members = _members(groups)
    named = sp.csr_array(members @ graph @ members.T)
    sizes = np.maximum(groups.counts, 1)
    by_chance = np.maximum(named.sum(axis=1), 1) / (sizes.sum() - sizes)
    ratio = sp.diags_array(1 / by_chance) @ named @ sp.diags_array(1 / sizes)
    near = sp.csr_array(ratio.multiply(ratio.T))
    best = np.asarray(near.argmax(axis=1)).ravel()  # old versions of SciPy give a column
    own = np.arange(len(best))
    together = (best[best] == own) & (near.max(axis=1).toarray().ravel() > 0)
    if not together.any():
        return None
    return np.unique(np.where(together, np.minimum(own, best), own), return_inverse=True)[1]


def _local_moves(points: _Floats, labels: Column, shifts: _Floats, n_jobs: int) -> _Floats:
    """Find the move of each point, from its shift on by half the mean difference of pairs nearby.

    Points that are hardly matched stay: a few wrong pairs would carry away a type without
    counterparts.
    """
    now = moved(points, labels.codes, shifts)
    lengths = (SMOOTHED, COUNTERPARTS)
    column = join_columns(["label"], [labels])
    found = find_neighbors(points, column, lengths=lengths, aligned=now, n_jobs=n_jobs)
    matched = matched_shares(found, column)
    part = np.maximum(0.0, (matched - MATCHED_ENOUGH) / (1 - MATCHED_ENOUGH))
    for _ in range(ROUNDS):
        difference, count = _differences(now, labels, n_jobs)
        paired = count > 0
        move = 0.5 * difference[paired] / count[paired, None]
        near = _smoothed(move, now[paired], labels.codes[paired], now, labels.codes, n_jobs)
        now = now + part * near
    return np.asarray(now - points)


def _moved_locally(
    points: _Points, codes: _Codes, rows: NDArray[np.int64], moves: _Floats, n_jobs: int
) -> _Points:
    """Move points outside the sample as the sampled points near them."""
    places = points.astype(np.float64)
    places[rows] += moves
    rest = np.setdiff1d(np.arange(len(points)), rows)
    if len(rest):
        known, asked = codes[rows], codes[rest]
        places[rest] += _smoothed(moves, points[rows], known, points[rest], asked, n_jobs)
    return places.astype(points.dtype)


def _smoothed(
    values: _Floats, places: _Points, known: _Codes, points: _Points, codes: _Codes, n_jobs: int
) -> _Floats:
    """Average values over the places nearest to each point that have its label."""
    smoothed = np.zeros((len(points), values.shape[1]))
    for code in np.unique(codes[codes >= 0]):
        sources, targets = np.flatnonzero(known == code), np.flatnonzero(codes == code)
        if len(sources) == 0:
            continue
        # One search finds them: sources and targets get two labels, and other labels are searched.
        both = np.concatenate([places[sources], points[targets]])
        side = np.repeat([0, 1], [len(sources), len(targets)]).astype(np.int32)
        found = find_neighbors(
            both,
            side,
            lengths=(0, min(LOCAL_NEIGHBORS, len(sources))),
            n_jobs=n_jobs,
            rows=np.arange(len(sources), len(both)),
        )
        smoothed[targets] = values[sources[found.indices]].mean(axis=1)
    return smoothed
