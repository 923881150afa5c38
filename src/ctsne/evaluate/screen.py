"""What to factor out: how far each label or number dominates neighbourhoods in the data."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.vocabulary import NEIGHBORHOOD, SUGGESTED_MIXING
from ctsne.evaluate.mixing import mixing
from ctsne.evaluate.neighbors import MapNeighbors, data_neighbors
from ctsne.labels import Column
from ctsne.labels.candidates import KINDS, NUMBER_KIND, kind_of

# A column follows from another one if that leaves at most this share of wrong guesses, and two
# columns are confounded from this Cramér's V on.
_WRONG, _CONFOUNDED = 0.05, 0.5
_NOTES = {
    "treatment": "looks like a treatment",
    "analysis": "looks like a result of an analysis",
    NUMBER_KIND: "a number, in ten groups",
}


@dataclass(frozen=True)
class ScreenedColumn:
    """A column that could be factored out, as a label or as a number."""

    name: str
    values: int
    missing: int
    mixing: float  # among the nearest neighbours in the data, as a share of random mixing
    kind: str  # what the name suggests, or "number"
    note: str


@dataclass(frozen=True)
class Relation:
    """Two columns that cannot be factored out independently."""

    kind: str  # "same", "nested" (each value of one has one value of the other) or "confounded"
    one: str
    other: str
    cramers_v: float  # strength of the association from 0 to 1, corrected for bias
    exact: bool  # False if some points are exceptions

    def __str__(self) -> str:
        one, other, v = self.one, self.other, f"V = {self.cramers_v:.2f}"
        if self.kind == "confounded":
            what = f"{one} and {other} are confounded ({v})"
            return f"{what}: factoring out one removes part of the other"
        if self.kind == "same":
            how = "the same" if self.exact else f"nearly the same ({v})"
            return f"{one} and {other} are {how}: factoring out one removes the other too"
        each = "each" if self.exact else "nearly every"
        return f"{each} {one} has one {other} (nested): factoring out {one} removes {other} too"


@dataclass(frozen=True)
class Screening:
    """Columns that could be factored out, how they are related, and the one proposed."""

    columns: tuple[ScreenedColumn, ...]  # the one that dominates neighbourhoods most first
    relations: tuple[Relation, ...]  # those of the proposal first
    proposal: str | None  # None if no column dominates
    advice: str  # the proposal with its reason


def screen(X: Any, columns: Mapping[str, Column], **how: Any) -> Screening:
    """Rank columns that could be labels or numbers, and propose one to factor out.

    The strongest nuisance is proposed; without one, an unknown column. A treatment or a result of
    an analysis comes after them, and the advice says so; a number comes last. ``how``
    is passed to `data_neighbors`.
    """
    n = X.shape[0]
    shares = dict.fromkeys(columns, float("nan"))
    if columns and n > 2:
        near = data_neighbors(X, k=min(NEIGHBORHOOD, n - 2), **how)
        lists = MapNeighbors(near.points, n, near.indices, near.distances)
        shares = {name: mixing(lists, column) for name, column in columns.items()}
    ranked = []
    for name in sorted(columns, key=lambda name: np.nan_to_num(shares[name], nan=np.inf)):
        column = columns[name]
        kind = kind_of(name) if column.numbers is None else NUMBER_KIND
        missing = f"{column.n_missing:,} missing" if column.n_missing else ""
        note = ", ".join(filter(None, (_NOTES.get(kind), missing)))
        counts = column.n_labels, column.n_missing
        ranked.append(ScreenedColumn(name, *counts, shares[name], kind, note))
    pairs = combinations([column.name for column in ranked], 2)
    found = [_related(one, columns[one], other, columns[other]) for one, other in pairs]
    relations = [relation for relation in found if relation is not None]
    proposal, advice = _propose(ranked, relations)
    relations.sort(key=lambda relation: proposal not in (relation.one, relation.other))
    return Screening(tuple(ranked), tuple(relations), proposal, advice)


def _related(one: str, a: Column, other: str, b: Column) -> Relation | None:
    """Return how two columns are related, if they are, on the points that have both."""
    known = (a.codes >= 0) & (b.codes >= 0)
    places = a.codes[known].astype(np.int64) * b.n_labels + b.codes[known]
    table = np.bincount(places, minlength=a.n_labels * b.n_labels).reshape(a.n_labels, -1)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    if min(table.shape) < 2:
        return None
    v, forth, back = cramers_v(table), _wrong(table), _wrong(table.T)
    if max(forth, back) <= _WRONG:
        return Relation("same", one, other, v, max(forth, back) == 0)
    if min(forth, back) <= _WRONG:
        inner, outer = (one, other) if forth <= back else (other, one)
        return Relation("nested", inner, outer, v, min(forth, back) == 0)
    return Relation("confounded", one, other, v, False) if v >= _CONFOUNDED else None


def _wrong(table: NDArray[np.int64]) -> float:
    """Share of wrong guesses of the column that remain once the row is known: 1 - Goodman's λ."""
    total = table.sum()
    return float((total - table.max(axis=1).sum()) / (total - table.sum(axis=0).max()))


def cramers_v(table: NDArray[np.int64]) -> float:
    """Cramér's V of a cross-table without empty lines, corrected for bias (Bergsma 2013)."""
    n = float(table.sum())
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    rows, columns = (size - 1 for size in table.shape)
    phi = float(((table - expected) ** 2 / expected).sum()) / n - rows * columns / (n - 1)
    most = min(size - size**2 / (n - 1) for size in (rows, columns))
    return min(1.0, float(np.sqrt(max(0.0, phi) / most))) if most > 0 else 0.0


def _propose(ranked: list[ScreenedColumn], relations: list[Relation]) -> tuple[str | None, str]:
    if not ranked:
        return None, "nothing to factor out: no column has a few values that repeat"
    strong = [column for column in ranked if column.mixing < SUGGESTED_MIXING]
    if not strong:
        most = f"{SUGGESTED_MIXING:g} of random or more in the data"
        return None, f"nothing to factor out: all columns are mixed to {most}"
    found = min(strong, key=lambda column: KINDS.index(column.kind))
    name, note = found.name, _NOTES.get(found.kind)
    why = {
        "nuisance": f"factor out {name}, the least mixed of the columns that look like a nuisance",
        "unknown": f"factor out {name} unless it is what you look for: the least mixed column",
        "treatment": f"{name} {note}: factor it out only if it is not your question",
        "analysis": f"{name} {note}: factor it out to see what else there is",
        NUMBER_KIND: f"factor out the number {name}: no label dominates",
    }
    texts = [f"{why[found.kind]} (mixing {found.mixing:.2f})"]
    kinds = {column.name: column.kind for column in ranked}
    for relation in relations:
        pair = [relation.one, relation.other]
        if name in (pair[:1] if relation.kind == "nested" else pair):
            (other,) = {*pair} - {name}
            part = "part of " if relation.kind == "confounded" else ""
            if kinds[other] == "treatment":
                texts.append(f"This also removes {part}{other}, which {_NOTES['treatment']}")
    least = next((column for column in ranked if column.kind == "nuisance"), found)
    if least.kind != found.kind:
        texts.append(f"The least mixed nuisance is {least.name} ({least.mixing:.2f})")
    return name, ". ".join(texts)
