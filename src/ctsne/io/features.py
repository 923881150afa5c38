"""Single features of a file as columns: of the genes in an .h5ad, only those named are read."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.files import reading
from ctsne._core.messages import quoted, unknown
from ctsne.io.dataset import Dataset
from ctsne.io.hdf5 import StoredMatrix, dense_columns, opened, read_element
from ctsne.io.paths import suffix_of

MOST_FEATURES = 50

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
        str(dataset.source), dataset.features, lambda places: dense_columns(dataset.X, places)
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
        for name in names:
            if (count := source.names.count(name)) > 1:
                what = f"{count} features of {dataset.path} are called {name!r:.60}"
                how = "make names unique, in Python: var_names_make_unique"
                raise ValueError(f"--show: {what}; {how}")
        if names:
            places = [source.names.index(name) for name in names]
            values |= dict(zip(names, source.read(places).T, strict=True))
            words.append(f"{quoted(names)} from {source.words}")
    return {name: values[name] for name in chosen}, words


def _genes(file: Any, matrix: str, var: str, n: int) -> list[_Source]:
    """Return the genes of a matrix in an .h5ad; none if it is missing or empty."""
    if matrix not in file or var not in file or getattr(file[matrix], "shape", ()) is None:
        return []
    names = tuple(map(str, read_element(file[var]).index))

    def read(places: list[int]) -> _Values:
        stored = StoredMatrix(file[matrix])
        if stored.shape != (n, len(names)):
            shapes = f"{stored.shape}, but obs and var have {(n, len(names))}"
            raise ValueError(f"{file[matrix].name} has the shape {shapes}")
        return stored.columns(places)

    return [_Source(matrix.replace("/", "."), names, read)]
