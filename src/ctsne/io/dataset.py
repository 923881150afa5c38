"""Data as read from a file: a matrix, and columns that describe its rows."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core import checks
from ctsne._core.arrays import content_checksum
from ctsne._core.checks import is_sparse
from ctsne._core.messages import CtsneWarning, label_text, load, quoted, unknown, warn
from ctsne.labels import combine_columns, encode_column

Names = NDArray[np.str_] | None
Texts = Sequence[str]


@dataclass(frozen=True)
class Source:
    """The part of a file or AnnData object that the matrix of a map was taken from."""

    kind: str  # "X", "layer" or "obsm" of AnnData; "table" or "array" of other files
    key: str | None  # the name of the layer, representation or array
    n_columns: int  # of all that this part has
    n_variable: int | None = None  # highly variable genes, if only those were taken
    n_selected: int | None = None  # columns that were chosen by name, if any

    @property
    def n_used(self) -> int:
        """The number of columns that were taken."""
        return self.n_selected or self.n_variable or self.n_columns

    @property
    def place(self) -> str:
        """The part alone, as one writes it in Python."""
        named = {"obsm": f'obsm["{self.key}"]', "layer": f'layers["{self.key}"]'}
        return named.get(self.kind, self.key or self.kind)

    @property
    def use_rep(self) -> str | None:
        """The representation of AnnData that this is; None for a layer and for other files."""
        return self.key if self.kind == "obsm" else "X" if self.kind == "X" else None

    @property
    def layer(self) -> str | None:
        """The layer of AnnData that this is, if it is one."""
        return self.key if self.kind == "layer" else None

    def __str__(self) -> str:
        if self.kind == "table":
            text = f"{self.n_columns} numeric column{'' if self.n_columns == 1 else 's'}"
        else:
            some = "" if self.n_variable is None else f"{self.n_variable} highly variable of "
            what = "genes" if self.kind in ("X", "layer") else "columns"
            text = f"{self.place} ({some}{self.n_columns} {what})"
        return text if self.n_selected is None else f"{self.n_selected} columns of {text}"


NO_MATRIX = Source("table", None, 0)  # of label files


@dataclass(frozen=True, eq=False)
class Dataset:
    """Data as read from a file; a label file has a matrix without columns."""

    X: Any
    features: tuple[str, ...]
    columns: dict[str, Any]  # all others, as arrays or pandas columns with missing entries kept
    names: Names  # of the rows, if the file has them
    source: Source = NO_MATRIX
    notes: tuple[str, ...] = ()  # such as columns left out
    path: Path = Path()
    called: str | None = None  # the name of the column with the row names
    warnings: tuple[CtsneWarning, ...] = ()  # such as columns probably included by mistake
    sha256: str = ""
    label_path: Path | None = None
    label_sha256: str | None = None

    def column(self, name: str) -> Any:
        """Return a column by its name, or a feature as a dense column."""
        if name in self.columns:
            return self.columns[name]
        if name not in self.features:
            known = list(self.columns)
            raise ValueError(unknown(name, known, what="column", where=str(self.path)))
        values = self.X[:, [self.features.index(name)]]
        return np.asarray(values.toarray() if is_sparse(values) else values).ravel()

    def labels(self, names: Texts) -> Any:
        """Return a label column, or the combination of several: ``"a | f"``."""
        if not names:
            raise ValueError("name at least one label column")
        for name in names:
            if name in self.features and name not in self.columns:
                what = f"{name!r:.60} in {self.path} is used as a feature, not as a label"
                raise ValueError(f"{what}; to factor it out, name it with --labels")
        columns = [self.column(name) for name in names]
        return columns[0] if len(columns) == 1 else combine_columns(columns)

    def checksum(self, names: Texts = (), aligned: Any = None) -> str:
        """Return a checksum of matrix, labels and aligned matrix, the same for every format."""
        return content_checksum(self.X, label_texts(self.labels(names)) if names else None, aligned)

    def select(self, patterns: Texts | None) -> Dataset:
        """Return the data with the features that match; all of them without patterns."""
        if patterns is None:
            return self
        where = f"{self.source.place} of {self.path}"
        chosen = tuple(matching(patterns, self.features, where=where))
        places = np.flatnonzero(np.isin(self.features, chosen))
        source = replace(self.source, n_selected=len(chosen))
        return replace(self, X=self.X[:, places], features=chosen, source=source)

    def take(self, rows: NDArray[np.intp] | slice) -> Dataset:
        """Return a subset of the points."""
        columns = {name: take_rows(column, rows) for name, column in self.columns.items()}
        names = None if self.names is None else self.names[rows]
        return replace(self, X=self.X[rows], columns=columns, names=names)


def take_rows(column: Any, rows: NDArray[Any] | slice) -> Any:
    """Return some entries of a column, a pandas column or an array."""
    return column.iloc[rows].reset_index(drop=True) if hasattr(column, "iloc") else column[rows]


def label_texts(column: Any) -> NDArray[np.object_]:
    """Return labels as text; None where they are missing."""
    encoded = encode_column(column)
    return np.array([*map(label_text, encoded.names), None], object)[encoded.codes]


def check_labels(labels: Texts, columns: Texts, elsewhere: Texts, *, where: str) -> None:
    """Refuse labels that are columns neither of the file nor of the label file."""
    known, present = [*columns, *elsewhere], {*columns, *elsewhere}
    where = f"{where} and the label file" if elsewhere else where
    for name in labels:
        if name not in present:
            how = "" if known else "; pass the labels with --label-file FILE"
            raise ValueError(unknown(name, known, what="column", where=where) + how)


def checked_sparse(X: Any, path: object) -> Any:
    """Return a sparse matrix; refuse an invalid one, whose indices could crash the interpreter."""
    checks.check_sparse(X, argument=f"{path} is damaged: its sparse matrix")
    return X


def check_numbers(data: Dataset, *, fewest: int = 2) -> Dataset:
    """Return the data with real, finite features, sparse ones as checked CSR; refuse others."""
    # Features for a map have single precision if that loses nothing, as in files of other formats.
    # Those of new points are used as they are, so that places do not depend on each other.
    X, path = data.X, data.path
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{path}: the matrix must hold real numbers, got {X.dtype}")
    if X.shape[0] < fewest or X.shape[1] < 1:
        found = f"{X.shape[0]} rows, {X.shape[1]} features"
        raise ValueError(f"{path} holds no data to make a map of: {found}")
    sparse = is_sparse(X)
    X = X.tocsr() if sparse else X
    values = X.data if sparse else X
    if X.dtype.kind != "f" or not values.size or np.isfinite([values.min(), values.max()]).all():
        return replace(data, X=checks.single_precision(X) if fewest > 1 else X)
    bad = np.nonzero(~np.isfinite(values))
    rows, columns = (X.tocoo().row[bad], X.indices[bad]) if sparse else bad
    row, column = int(rows[0]), int(columns[0])
    what = "a missing" if np.isnan(X[row, column]) else "an infinite"
    named = "" if data.names is None else f" ({str(data.names[row])!r:.40})"
    where = f"row {row + 1}{named}, column {data.features[column]!r:.60}"
    affected = [data.features[place] for place in np.unique(columns)]
    counts = f"{len(rows)} missing or infinite values in {len(affected)} of {X.shape[1]} columns"
    how = "remove those rows, impute the values, or leave the columns out with --features"
    found = f"{counts}: {quoted(affected, most=5)}"
    raise ValueError(f"{path} has {what} value in {where} ({found}); {how}")


def room_for(n: int, d: int) -> int:
    """Return the bytes that the names and starts of n rows and d columns take, however empty."""
    return 16 * n + 128 * d


def numbered(prefix: str, count: int) -> tuple[str, ...]:
    """Name features that have no names."""
    return tuple(f"{prefix}{number}" for number in range(1, count + 1))


def matching(patterns: Texts, known: Texts, *, where: str) -> list[str]:
    """Return the names that match, in the order of the file; ``*`` and ``?`` match any text."""
    chosen: set[str] = set()
    for pattern in patterns:
        found = [pattern] if pattern in known else fnmatch.filter(known, pattern)
        if not found:
            found = [name for name in known if fnmatch.fnmatch(name.lower(), pattern.lower())]
            if not found:
                raise ValueError(unknown(pattern, known, what="column", where=where))
            warn(f"{where} has no column {pattern!r:.60}; ignoring case: {quoted(found, most=4)}")
        chosen.update(found)
    return [name for name in known if name in chosen]


def first_difference(one: Any, other: Any) -> int | None:
    """Return the first row in which two columns have different labels, or None."""
    # Fractions are compared in single precision, because files of some formats hold no more.
    columns = encode_column(one), encode_column(other)
    first, second = map(label_texts, columns)
    rows = np.flatnonzero(first != second)
    text = all(isinstance(name, str) for column in columns for name in column.names)
    return next((int(row) for row in rows if text or not _close(first[row], second[row])), None)


def _close(one: str | None, other: str | None) -> bool:
    try:
        whole = f"{one}{other}".replace("-", "").isdigit()
        return not whole and math.isclose(float(one or ""), float(other or ""), rel_tol=1e-6)
    except ValueError:
        return False


def empty_as_na(column: Any) -> Any:
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
        if series.cat.categories.dtype.kind in "biuf":
            return series
        texts = [label_text(value) for value in series.cat.categories]
        if len(set(texts)) == len(texts):
            return series.cat.rename_categories(texts)
    if isinstance(series.dtype, pandas.SparseDtype):
        series = series.sparse.to_dense()
    if series.dtype.kind == "f":
        return pandas.Series(series.to_numpy(series.dtype.type, na_value=np.nan))
    text = pandas.api.types.infer_dtype(series) in ("string", "empty")
    if text or series.dtype.kind in "biumM":  # numbers, booleans and dates
        return series
    series = series.astype(object)
    return series.where(series.notna(), None).map(label_text, na_action="ignore")


_LOOKED_AT = 2**20  # values that are looked at, at most, in rows spread over the matrix
# Counts have a long tail: most are small and a few are large. The largest grey value of an image
# or answer of a questionnaire is not this many times the usual one, and indicators are all 1.
_TAIL = 10
# Outside AnnData, where a matrix may be anything, counts have more columns than this.
FEWEST_COLUMNS = 50
# With scanpy as sc.
NORMALIZE = "sc.pp.normalize_total(adata); sc.pp.log1p(adata); sc.pp.pca(adata)"


def looks_like_counts(X: Any) -> bool:
    """Tell whether a matrix seems to hold raw counts: whole numbers from 0 up with a long tail."""
    values = X.data if is_sparse(X) else X
    sample = np.asarray(values[:: max(1, -(-values.size // _LOOKED_AT))])
    sample = sample[sample != 0]
    if sample.size == 0 or sample.dtype.kind == "b" or sample.min() < 0:
        return False
    return not np.mod(sample, 1).any() and bool(sample.max() >= _TAIL * np.median(sample))
