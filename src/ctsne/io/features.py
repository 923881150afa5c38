"""Single features of a file as columns: of the genes in an .h5ad, only those named are read."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ctsne._core.guards import reading
from ctsne._core.messages import listed, unknown
from ctsne.io.dataset import Dataset, checked_sparse
from ctsne.io.hdf5 import (
    checked_size,
    encoding_of,
    is_group,
    opened,
    read_element,
    sparse_shape,
)
from ctsne.io.paths import suffix_of

MOST_FEATURES = 50
# Values of a matrix are read this many at a time.
_BLOCK = 2**22

_Values = NDArray[np.float32]


@dataclass(frozen=True)
class _Source:
    """Features with the same origin, and how to read some of them."""

    words: str
    names: tuple[str, ...]
    read: Callable[[list[int]], _Values]  # one column for each place


def read_features(
    dataset: Dataset, patterns: Sequence[str] | None, *, layer: str | None = None
) -> tuple[dict[str, _Values], list[str]]:
    """Return the features that match names or patterns, and where they were taken from.

    Genes of an .h5ad are those of ``layer``, or of ``X``; those that it lacks are taken from
    ``raw``. Other features are the columns that the map is made of. Names of other columns are
    skipped, because every page shows those.
    """
    wanted = [pattern for pattern in patterns or () if pattern not in dataset.columns]
    if not wanted:
        return {}, []
    own = _Source(
        str(dataset.source), dataset.features, lambda places: _of_matrix(dataset.X, places)
    )
    if suffix_of(dataset.path) != ".h5ad":
        return _chosen(dataset, wanted, [own])
    with opened(dataset.path) as file, reading(dataset.path, "a valid .h5ad file"):
        main = "X" if layer is None else f"layers/{layer}"
        n = dataset.X.shape[0]
        genes = _genes(file, main, "var", n) + _genes(file, "raw/X", "raw/var", n)
        return _chosen(dataset, wanted, [*genes, own])


def _chosen(
    dataset: Dataset, patterns: Sequence[str], sources: Sequence[_Source]
) -> tuple[dict[str, _Values], list[str]]:
    chosen: dict[str, int] = {}  # the source of each name, in the order of the command
    for pattern in patterns:
        for number, source in enumerate(sources):
            exact = pattern in source.names
            found = [pattern] if exact else fnmatch.filter(source.names, pattern)
            if found:
                chosen |= {name: number for name in found if name not in chosen}
                break
        else:
            known = list(dict.fromkeys(name for source in sources for name in source.names))
            # Few names are searched for a close one: first those that begin alike.
            known.sort(key=lambda name: name[:2].casefold() != pattern[:2].casefold())
            message = unknown(pattern, known, what="feature", where=str(dataset.path))
            raise ValueError(f"--show: {message}")
    if len(chosen) > MOST_FEATURES:
        what = f"--show matches {len(chosen)} features of {dataset.path}"
        raise ValueError(f"{what}; a page shows at most {MOST_FEATURES}")
    values: dict[str, _Values] = {}
    words = []
    for number, source in enumerate(sources):
        names = [name for name in chosen if chosen[name] == number]
        if names:
            values |= dict(zip(names, source.read(_places(source, names, dataset)).T, strict=True))
            words.append(f"{listed(names)} from {source.words}")
    return {name: values[name] for name in chosen}, words


def _places(source: _Source, names: Sequence[str], dataset: Dataset) -> list[int]:
    place = {name: number for number, name in enumerate(source.names)}
    counts = Counter(source.names)
    for name in names:
        if counts[name] > 1:
            what = f"{counts[name]} features of {dataset.path} are called {name!r:.60}"
            raise ValueError(f"--show: {what}; make names unique, in Python: var_names_make_unique")
    return [place[name] for name in names]


def _of_matrix(X: Any, places: list[int]) -> _Values:
    part = X[:, places]
    return np.asarray(part.toarray() if hasattr(part, "toarray") else part, np.float32)


def _genes(file: Any, matrix: str, var: str, n: int) -> list[_Source]:
    """Return the genes of a matrix in an .h5ad; none if it is missing or empty."""
    if matrix not in file or var not in file or getattr(file[matrix], "shape", ()) is None:
        return []
    names = tuple(map(str, read_element(file[var]).index))
    shape = (n, len(names))
    words = matrix.replace("/", ".")
    return [_Source(words, names, lambda places: _columns(file[matrix], places, shape))]


def _columns(matrix: Any, places: list[int], shape: tuple[int, int]) -> _Values:
    """Return some columns of a matrix in an .h5ad, dense or sparse, without reading all of it."""
    checked_size(matrix, set())
    sparse = is_group(matrix)
    found = sparse_shape(matrix) if sparse else matrix.shape
    if found != shape:
        raise ValueError(f"{matrix.name} has the shape {found}, but obs and var have {shape}")
    if sparse and encoding_of(matrix) == "csc_matrix":
        return _by_column(matrix, places, shape)
    result = np.empty((shape[0], len(places)), np.float32)
    for start, block in _rows(matrix, shape) if sparse else _dense_rows(matrix, shape):
        result[start : start + block.shape[0]] = _of_matrix(block, places)
    return result


def _dense_rows(matrix: Any, shape: tuple[int, int]) -> Iterator[tuple[int, Any]]:
    step = max(1, _BLOCK // max(1, shape[1]))
    for start in range(0, shape[0], step):
        yield start, matrix[start : start + step]


def _rows(matrix: Any, shape: tuple[int, int]) -> Iterator[tuple[int, Any]]:
    """Yield blocks of rows of a sparse matrix that is stored by row."""
    starts, start = _starts(matrix), 0
    while start < shape[0]:
        stop = int(np.searchsorted(starts, starts[start] + _BLOCK, "right")) - 1
        stop = min(max(stop, start + 1), shape[0])
        part = slice(starts[start], starts[stop])
        own = starts[start : stop + 1] - starts[start]
        values = (matrix["data"][part], matrix["indices"][part], own)
        block = scipy.sparse.csr_matrix(values, shape=(stop - start, shape[1]))
        yield start, checked_sparse(block, matrix.file.filename)
        start = stop


def _by_column(matrix: Any, places: list[int], shape: tuple[int, int]) -> _Values:
    starts = _starts(matrix)
    columns = []
    for place in places:
        part = slice(starts[place], starts[place + 1])
        values = (matrix["data"][part], matrix["indices"][part], [0, part.stop - part.start])
        column = scipy.sparse.csc_matrix(values, shape=(shape[0], 1))
        columns.append(_of_matrix(checked_sparse(column, matrix.file.filename), [0]))
    return np.hstack(columns)


def _starts(matrix: Any) -> NDArray[np.int64]:
    starts: NDArray[np.int64] = matrix["indptr"][:].astype(np.int64)
    if starts[0] != 0 or starts[-1] != len(matrix["data"]) or (np.diff(starts) < 0).any():
        raise ValueError(f"{matrix.name} is damaged: its indptr does not fit its values")
    return starts
