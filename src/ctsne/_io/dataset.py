"""Data as read from a file: a matrix, and columns that describe its rows."""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import is_sparse
from ctsne._core.files import content_checksum
from ctsne._core.messages import label_text, listed, unknown
from ctsne._io.paths import load
from ctsne.labels import combine_columns, encode_labels

__all__ = [
    "Dataset",
    "check_labels",
    "check_numbers",
    "doubtful_features",
    "first_difference",
    "folded",
    "matching",
    "no_empty_text",
    "numbered",
    "plain_array",
    "selected",
    "storable",
    "take_rows",
]

_SHOWN = 12
_NUMBERED = re.compile(r"(.*?)(\d+)")
# Fewer names than this are not shortened.
_RUN = 3
# With fewer columns, one may well hold most of the variance.
_FEWEST_DOUBTED = 5
_MOST_VARIANCE = 0.5


@dataclass(frozen=True, eq=False)
class Dataset:
    """Data as read from a file.

    ``columns`` holds every column that is not a feature, as arrays or pandas columns of length n
    with missing entries kept. ``names`` are the row names if the file has them, and ``called`` the
    name of the column that held them. ``source`` says in words where the matrix was taken from;
    ``notes`` and ``warnings`` are for the user: columns left out, columns probably included by
    mistake. A label file has a matrix without columns.
    """

    X: Any
    features: tuple[str, ...]
    columns: dict[str, Any]
    names: NDArray[np.str_] | None
    source: str = ""
    notes: tuple[str, ...] = ()
    path: Path = Path()
    sha256: str = ""
    label_path: Path | None = None
    label_sha256: str | None = None
    warnings: tuple[str, ...] = ()
    called: str | None = None

    def column(self, name: str) -> Any:
        """Return a column by its name, or a feature as a dense column."""
        if name in self.columns:
            return self.columns[name]
        if name not in self.features:
            known = list(self.columns)
            raise ValueError(unknown(name, known, what="column", where=str(self.path)))
        values = self.X[:, [self.features.index(name)]]
        return np.asarray(values.toarray() if is_sparse(values) else values).ravel()

    def labels(self, names: Sequence[str]) -> Any:
        """Return a label column, or the combination of several: ``"a | f"``."""
        if not names:
            raise ValueError("name at least one label column")
        for name in names:
            if name in self.features and name not in self.columns:
                raise ValueError(
                    f"{name!r:.60} in {self.path} is used as a feature, not as a label; to factor "
                    "it out, name it with --labels"
                )
        columns = [self.column(name) for name in names]
        return columns[0] if len(columns) == 1 else combine_columns(columns)

    def checksum(self, names: Sequence[str] = (), aligned: Any = None) -> str:
        """Return a checksum of matrix, labels and aligned matrix, the same for every format."""
        return content_checksum(self.X, _texts(self.labels(names)) if names else None, aligned)

    def take(self, rows: NDArray[np.int64]) -> Dataset:
        """Return a subset of the points."""
        return replace(
            self,
            X=self.X[rows],
            columns={name: take_rows(column, rows) for name, column in self.columns.items()},
            names=None if self.names is None else self.names[rows],
        )


def take_rows(column: Any, rows: NDArray[Any]) -> Any:
    """Return some entries of a column, a pandas column or an array."""
    return column.iloc[rows].reset_index(drop=True) if hasattr(column, "iloc") else column[rows]


def _texts(column: Any) -> NDArray[np.object_]:
    """Return labels as text; None where they are missing."""
    encoded = encode_labels(column)
    return np.array([*map(label_text, encoded.names), None], object)[encoded.codes]


def check_labels(labels: Sequence[str], known: Sequence[str], *, where: str) -> None:
    """Refuse labels that are not columns of the file."""
    for name in labels:
        if name not in known:
            raise ValueError(unknown(name, known, what="column", where=where))


def check_numbers(
    X: Any, features: Sequence[str], names: NDArray[np.str_] | None, *, path: Path
) -> Any:
    """Return a matrix of real, finite values, sparse ones as checked CSR; refuse others."""
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{path}: the matrix must hold real numbers, got {X.dtype}")
    if len(X.shape) != 2:
        raise ValueError(
            f"{path} must hold a matrix with a row for each point and a column for each feature, "
            f"got an array of shape {X.shape}"
        )
    if 0 in X.shape:
        raise ValueError(f"{path} holds no data: {X.shape[0]} rows, {X.shape[1]} features")
    if is_sparse(X):
        try:  # wrong indices would crash the interpreter
            if hasattr(X, "check_format"):
                X.check_format(full_check=True)
            X = X.tocsr()
        except (ValueError, IndexError) as error:
            raise ValueError(f"{path} is damaged: its sparse matrix is invalid ({error})") from None
    values = X.data if is_sparse(X) else X
    if X.dtype.kind != "f" or not values.size or np.isfinite([values.min(), values.max()]).all():
        return X
    bad = ~np.isfinite(values)
    if is_sparse(X):
        entries = np.flatnonzero(bad)
        rows = np.searchsorted(X.indptr, entries, side="right") - 1
        columns = X.indices[entries]
    else:
        rows, columns = np.nonzero(bad)
    row, column = int(rows[0]), int(columns[0])
    what = "a missing" if np.isnan(X[row, column]) else "an infinite"
    named = "" if names is None else f" ({str(names[row])!r:.40})"
    affected = [features[position] for position in np.unique(columns)]
    raise ValueError(
        f"{path} has {what} value in row {row + 1}{named}, column {features[column]!r:.60} "
        f"({len(rows)} missing or infinite values in {len(affected)} of {len(features)} columns: "
        f"{listed(affected, most=5)}); remove those rows, impute the values, or leave the columns "
        "out with --features"
    )


def doubtful_features(X: NDArray[np.floating], features: Sequence[str]) -> tuple[str, ...]:
    """Warn of columns probably included by mistake: one that dominates, counts among fractions.

    Columns of a numbered run (PC1, PC2, ...) are trusted.
    """
    if len(features) < _FEWEST_DOUBTED:
        return ()
    found = _runs(features)
    in_run = {name for run in found if len(run) > 1 for name in run}
    single = np.array([name not in in_run for name in features])
    longest = max(found, key=len)
    pattern = longest[0].rstrip("0123456789") + "*"
    named = len(longest) > 1 and pattern != "*"
    how = f'--features "{pattern}"' if named else "--features NAME NAME ..."
    variance = X.var(axis=0, dtype=np.float64)
    whole = (np.mod(X, 1) == 0).all(axis=0)
    messages = []
    first = int(variance.argmax())
    if single[first] and variance[first] > _MOST_VARIANCE * variance.sum():
        share = 100 * variance[first] / variance.sum()
        messages.append(
            f"column {features[first]!r:.60} has {share:.0f} % of the variance of all features, so "
            f"it dominates the map; choose the features with {how}, or scale the columns"
        )
    counts = [name for name, odd in zip(features, single & whole, strict=True) if odd]
    if counts and 2 * whole.sum() < len(features):
        messages.append(
            f"whole numbers among fractions, included in the map: {listed(counts)}; if these are "
            f"labels or counts, choose the features with {how}"
        )
    return tuple(messages)


def numbered(prefix: str, count: int) -> tuple[str, ...]:
    """Name features that have no names."""
    return tuple(f"{prefix}{number}" for number in range(1, count + 1))


def matching(patterns: Sequence[str], known: Sequence[str], *, where: str) -> list[str]:
    """Return the names that match, in the order of the file; ``*`` and ``?`` match any text.

    Examples
    --------
    >>> from ctsne._io.dataset import matching
    >>> matching(["PC*", "age"], ["age", "PC1", "PC2", "sex"], where="cells.csv")
    ['age', 'PC1', 'PC2']
    """
    chosen: set[str] = set()
    names = set(known)
    for pattern in patterns:
        found = [pattern] if pattern in names else fnmatch.filter(known, pattern)
        if not found:
            raise ValueError(unknown(pattern, known, what="column", where=where))
        chosen.update(found)
    return [name for name in known if name in chosen]


def selected(
    X: Any, known: tuple[str, ...], patterns: Sequence[str] | None, *, where: str
) -> tuple[Any, tuple[str, ...]]:
    """Return the chosen columns of a matrix and their names; all of them without patterns."""
    if patterns is None:
        return X, known
    chosen = matching(patterns, known, where=where)
    kept = set(chosen)
    return X[:, [place for place, name in enumerate(known) if name in kept]], tuple(chosen)


def _runs(names: Sequence[str]) -> list[list[str]]:
    """Split names into runs that count up (PC1, PC2, ...) and single ones, in their order."""
    found: list[list[str]] = []
    before = None
    for name in names:
        match = _NUMBERED.fullmatch(name)
        place = None if match is None else (match[1], int(match[2]))
        if before is not None and place == (before[0], before[1] + 1):
            found[-1].append(name)
        else:
            found.append([name])
        before = place
    return [
        part for run in found for part in ([run] if len(run) >= _RUN else [[name] for name in run])
    ]


def folded(names: Sequence[str]) -> str:
    """Write names as a short list, a run that counts up by its ends.

    Examples
    --------
    >>> from ctsne._io.dataset import folded
    >>> folded(["PC1", "PC2", "PC3", "age"])
    'PC1 ... PC3, age'
    """
    parts = [run[0] if len(run) == 1 else f"{run[0]} ... {run[-1]}" for run in _runs(names)]
    shown = [part if len(part) <= 60 else f"{part[:57]}..." for part in parts[:_SHOWN]]
    if len(parts) > _SHOWN:
        shown.append(f"... ({len(names)} in all)")
    return ", ".join(shown)


def first_difference(one: Any, other: Any) -> int | None:
    """Return the first row in which two columns have different labels, or None.

    Labels are equal if their texts are, or the numbers they spell in single precision: a column
    may have passed through files of different formats.
    """
    first, second = encode_labels(one), encode_labels(other)
    width = second.n_labels + 1
    pairs = (first.codes + 1).astype(np.int64) * width + (second.codes + 1)
    found, rows = np.unique(pairs, return_index=True)
    names, others = (None, *first.names), (None, *second.names)
    different = [
        row
        for pair, row in zip(found.tolist(), rows.tolist(), strict=True)
        if not _alike(names[pair // width], others[pair % width])
    ]
    return min(different, default=None)


def _alike(one: object, other: object) -> bool:
    if one is None or other is None:
        return one is other
    if label_text(one) == label_text(other):
        return True
    try:
        return math.isclose(float(str(one)), float(str(other)), rel_tol=1e-6)
    except ValueError:
        return False


def no_empty_text(column: Any) -> Any:
    """Return a pandas column in which empty text is missing, as it is in text files."""
    if hasattr(column, "cat"):
        return column.cat.remove_categories([""]) if "" in column.cat.categories else column
    if column.dtype.kind != "O":
        return column
    empty = column.eq("").fillna(False).astype(bool)
    return column.mask(empty, None) if empty.any() else column


def storable(column: Any) -> Any:
    """Return a pandas column that any file can hold: text instead of mixed or unusual values."""
    pandas = load("pandas")
    series = pandas.Series(column).reset_index(drop=True)
    if isinstance(series.dtype, pandas.CategoricalDtype):
        categories = series.cat.categories
        if categories.dtype.kind in "biuf":
            return series
        texts = [label_text(value) for value in categories]
        if len(set(texts)) == len(texts):
            return series.cat.rename_categories(texts)
    if isinstance(series.dtype, pandas.SparseDtype):
        series = series.sparse.to_dense()
    if series.dtype.kind == "f":
        return pandas.Series(series.to_numpy(series.dtype.type, na_value=np.nan))
    kind = pandas.api.types.infer_dtype(series)
    # Numbers, booleans and dates stay as they are; of the rest, only text.
    if series.dtype.kind in "biufmM" or kind in ("string", "empty"):
        return series
    series = series.astype(object)
    return series.where(series.notna(), None).map(label_text, na_action="ignore")


def plain_array(column: Any) -> NDArray[Any]:
    """Return a column as an array without objects; missing is NaN in numbers, empty in text."""
    dtype = getattr(column, "dtype", None)
    if not isinstance(dtype, np.dtype) and getattr(dtype, "kind", "O") in "iuf":
        return np.asarray(column.to_numpy(np.float64, na_value=np.nan))  # pandas, with gaps
    values = np.asarray(column)
    if values.dtype.kind in "biufmM":
        return values
    texts = _texts(column)
    texts[texts == None] = ""  # noqa: E711
    return texts.astype(str)
