"""Finished maps in a folder, so that an interrupted sweep goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import is_sparse
from ctsne._core.files import replaced_file
from ctsne.labels import Labels

__all__ = [
    "Facts",
    "FinishedMap",
    "Store",
    "data_checksum",
    "key_after",
    "open_store",
    "plain_value",
    "setting_key",
]

_FORMAT = 3
# Parameters that do not change the map.
IRRELEVANT = ("n_jobs", "verbose", "callback", "callback_every", "mixing")


@dataclass(frozen=True)
class Facts:
    """What is known of a map beside its positions."""

    kl_divergence: float
    n_iter: int
    seconds: float
    similarities: dict[str, float]


@dataclass(frozen=True, eq=False)
class FinishedMap:
    """A map as the layout left it, and its diagnostics: one array of all points each."""

    embedding: NDArray[np.float32]
    facts: Facts
    diagnostics: dict[str, NDArray[np.float32]]


@dataclass(frozen=True)
class Store:
    """A folder with one file a map, named by what the map was computed from.

    Files are NumPy archives without pickles: ``embedding``, one array for each of the
    ``diagnostics``, and ``facts`` as JSON.
    """

    folder: Path

    def load(self, key: str) -> FinishedMap | None:
        """Return a stored map, or None if there is none that can be read."""
        try:
            with self._path(key).open("rb") as file, np.load(file, allow_pickle=False) as stored:
                facts = Facts(**json.loads(str(stored["facts"])))
                diagnostics = {name: stored[name] for name in stored["diagnostics"].tolist()}
                return FinishedMap(stored["embedding"], facts, diagnostics)
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
            return None

    def save(self, key: str, finished: FinishedMap) -> None:
        """Store a map, whole or not at all."""
        arrays: dict[str, Any] = {
            "embedding": finished.embedding,
            "facts": np.array(json.dumps(asdict(finished.facts))),
            "diagnostics": np.array(list(finished.diagnostics), dtype=np.str_),
            **finished.diagnostics,
        }
        with replaced_file(self._path(key)) as temporary, temporary.open("wb") as file:
            np.savez(file, **arrays)

    def _path(self, key: str) -> Path:
        return self.folder / f"map-{key}.npz"


def open_store(folder: str | os.PathLike[str] | None) -> Store | None:
    """Make the folder if need be; refuse what cannot be one."""
    if folder is None:
        return None
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise ValueError(f"folder must name a folder, but {path} is a file")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"folder cannot be made: {path} ({error.strerror})") from error
    if not os.access(path, os.W_OK):
        raise ValueError(f"folder cannot be written to: {path}")
    return Store(path)


def data_checksum(matrix: Any, labels: Labels) -> str:
    """Tell data and labels apart from all others."""
    digest = hashlib.sha256()
    arrays = [matrix.data, matrix.indices, matrix.indptr] if is_sparse(matrix) else [matrix]
    for array in (*arrays, labels.codes):
        digest.update(f"{array.dtype}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    digest.update(f"{matrix.shape}{labels.names}".encode())
    return digest.hexdigest()


def setting_key(data: str, parameters: Mapping[str, Any], *, version: str) -> str:
    """Name a map by all that it depends on."""
    relevant = {
        name: plain_value(value) for name, value in parameters.items() if name not in IRRELEVANT
    }
    return _digest([_FORMAT, version, data, sorted(relevant.items())])


def key_after(key: str, previous: str) -> str:
    """Name a map that started from another one, which it depends on too."""
    return _digest([key, previous])


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]


def plain_value(value: Any) -> Any:
    """Return a parameter's value as JSON can hold it; large arrays become their checksum."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | int | float):
        return float(value)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return sorted([str(key), plain_value(number)] for key, number in value.items())
    array = np.ascontiguousarray(value)
    return [str(array.dtype), array.shape, hashlib.sha256(array.data).hexdigest()]
