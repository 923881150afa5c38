"""Sweeps on disk: a folder with one file per map and an index, or everything in one file.

All files are NumPy archives without pickles: arrays, and everything else as JSON text.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.files import content_checksum, replaced_file
from ctsne.labels import Labels
from ctsne.sweep.grid import GridPoint, identity
from ctsne.sweep.result import SweepResult, SweptMap, aligned_maps

__all__ = ["INDEX", "MAP_FILE", "Facts", "FinishedMap", "Store", "load_sweep", "open_store"]

# The index of a folder, and the files of its maps.
INDEX = "sweep.npz"
MAP_FILE = re.compile(r"map-[0-9a-f]{32}\.npz")
_FORMAT = 4
# The attributes of a grid point that an index stores.
_LINES = ("line", "seedless_line", "steering")
_UNREADABLE = (EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile)


@dataclass(frozen=True)
class Facts:
    """Facts about a map other than its positions."""

    kl_divergence: float
    n_iter: int
    seconds: float
    similarities: dict[str, float]
    alignment: str = "none"
    alignment_scores: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class FinishedMap:
    """A map as the layout left it, with its diagnostics: arrays with one entry per point."""

    embedding: NDArray[np.float32]
    facts: Facts
    diagnostics: dict[str, NDArray[np.float32]]


@dataclass(frozen=True)
class Store:
    """A folder with one file per map, named by everything the map was computed from."""

    folder: Path

    def load(self, key: str) -> FinishedMap | None:
        """Return a stored map, or None if there is none that can be read."""
        try:
            return _read_map(self.folder / file_name(key))
        except (OSError, *_UNREADABLE):
            return None

    def save(self, key: str, finished: FinishedMap) -> None:
        """Store a map, completely or not at all."""
        arrays: dict[str, Any] = {
            "embedding": finished.embedding,
            "facts": np.array(json.dumps(asdict(finished.facts))),
            "diagnostics": np.array(list(finished.diagnostics), dtype=np.str_),
            **finished.diagnostics,
        }
        _write(self.folder / file_name(key), arrays)


def file_name(key: str) -> str:
    """Return the name of a map's file."""
    return f"map-{key}.npz"


def open_store(folder: str | os.PathLike[str] | None) -> Store | None:
    """Make the folder if necessary; refuse a path that cannot be one."""
    if folder is None:
        return None
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise ValueError(f"folder must name a folder, but {path} is a file")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot make the folder {path} ({error.strerror})") from error
    if not os.access(path, os.W_OK):
        raise ValueError(f"cannot write to the folder {path}")
    return Store(path)


def map_keys(
    points: list[GridPoint],
    base: Mapping[str, Any],
    matrix: Any,
    labels: Labels,
    searched: tuple[int, ...],
) -> dict[int, str]:
    """Name what each map depends on; an approximate search depends on the lengths of its lists."""
    checksum = content_checksum(matrix, labels.codes, repr(labels.names))
    common = [_FORMAT, version("ctsne"), checksum, list(searched)]
    return {
        index: _digest([*common, identity({**base, **point.parameters})])
        for index, point in enumerate(points)
    }


def key_after(key: str, previous: str) -> str:
    """Name a map that started from another one, on which it depends too."""
    return _digest([key, previous])


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]


def write_sweep(path: Path, result: SweepResult) -> None:
    """Write a sweep to one file, or the index of a folder that has files of its maps."""
    folder = path if path.is_dir() else None
    arrays: dict[str, Any] = {}
    entries: list[dict[str, Any]] = []
    for number, (swept, point) in enumerate(zip(result.maps, result.points, strict=True)):
        entry = {
            "parameters": _packed(swept.parameters, arrays),
            "measures": swept.measures,
            "seconds": swept.seconds,
            "error": swept.error,
            **{name: getattr(point, name) for name in _LINES},
            "alignment": swept.alignment,
            "alignment_scores": swept.alignment_scores,
        }
        if folder is not None and swept.file is not None and (folder / swept.file).is_file():
            entry["file"] = swept.file
        elif swept.embedding is not None:
            entry["diagnostics"] = list(swept.diagnostics)
            arrays[f"embedding-{number}"] = swept.embedding
            arrays |= {f"{name}-{number}": each for name, each in swept.diagnostics.items()}
        entries.append(entry)
    content = {
        "estimator": _packed(result.estimator, arrays),
        "maps": entries,
        "sampled_from": result.sampled_from,
    }
    text = np.array(json.dumps(content, default=_plain_number))
    _write(path if folder is None else folder / INDEX, {"sweep": text, **arrays})


def load_sweep(path: str | os.PathLike[str]) -> SweepResult:
    """Read a finished sweep.

    Parameters
    ----------
    path : path-like
        The folder of a sweep, or a file written by :meth:`SweepResult.save`.

    Returns
    -------
    SweepResult

    Raises
    ------
    ValueError
        If there is no complete sweep.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ctsne import ConditionalTSNE
    >>> from ctsne.datasets import make_synthetic
    >>> from ctsne.sweep import load_sweep, sweep
    >>> data = make_synthetic(300, random_state=0)
    >>> small = ConditionalTSNE(perplexity=20, n_iter=300, random_state=0)
    >>> result = sweep(data.X, data.known, {"strength": [1]}, estimator=small, progress=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result.save(Path(folder) / "sweep.npz")
    ...     load_sweep(Path(folder) / "sweep.npz").maps[0].title
    'strength 1'
    """
    file = Path(path)
    if file.is_dir():
        file = file / INDEX
        if not file.is_file():
            raise ValueError(f"{path} does not contain a finished sweep")
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as arrays:
            content = json.loads(str(arrays["sweep"]))
            maps = [
                _swept(number, entry, arrays, file.parent)
                for number, entry in enumerate(content["maps"])
            ]
            points = tuple(
                GridPoint(swept.parameters, *(entry[name] for name in _LINES))
                for swept, entry in zip(maps, content["maps"], strict=True)
            )
            estimator = _unpacked(content["estimator"], arrays)
            sampled_from = content["sampled_from"]
    except _UNREADABLE as error:
        raise ValueError(f"{path} is not a sweep, or it is damaged") from error
    # Files of maps hold them as computed; here they are laid on each other as in the sweep.
    raw = {index for index, swept in enumerate(maps) if swept.file is not None}
    return SweepResult(aligned_maps(maps, points, raw), points, estimator, sampled_from)


def _swept(
    number: int, entry: Mapping[str, Any], arrays: Mapping[str, Any], folder: Path
) -> SweptMap:
    file, embedding, diagnostics = entry.get("file"), None, {}
    if file is not None:
        if not MAP_FILE.fullmatch(file):  # a damaged index must not name other files
            raise ValueError(f"{file!r:.60} is not the name of a map")
        stored = _read_map(folder / file)
        embedding, diagnostics = stored.embedding, stored.diagnostics
    elif entry["error"] is None:
        embedding = arrays[f"embedding-{number}"]
        diagnostics = {name: arrays[f"{name}-{number}"] for name in entry["diagnostics"]}
    return SweptMap(
        _unpacked(entry["parameters"], arrays), embedding, entry["measures"], entry["seconds"],
        entry["error"], diagnostics, entry["alignment"], entry["alignment_scores"], file,
    )  # fmt: skip


def _read_map(path: Path) -> FinishedMap:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        facts = Facts(**json.loads(str(stored["facts"])))
        diagnostics = {name: stored[name] for name in stored["diagnostics"].tolist()}
        return FinishedMap(stored["embedding"], facts, diagnostics)


def _write(path: Path, arrays: Mapping[str, Any]) -> None:
    with replaced_file(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)


def _packed(parameters: Mapping[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    """Prepare parameters for JSON, which has neither arrays nor keys other than text."""
    packed: dict[str, Any] = {}
    for name, value in parameters.items():
        if isinstance(value, Mapping):
            packed[name] = {"labels": list(value.items())}
        elif isinstance(value, np.ndarray | list | tuple):  # start positions or aligned points
            key = f"array-{len(arrays)}"
            array = np.asarray(value)
            arrays[key] = array if array.dtype.kind in "iuf" else array.astype(np.float64)
            packed[name] = {"array": key}
        else:
            packed[name] = value
    return packed


def _unpacked(packed: Mapping[str, Any], arrays: Mapping[str, Any]) -> dict[str, Any]:
    parameters = {}
    for name, value in packed.items():
        if not isinstance(value, dict):
            parameters[name] = value
        elif "labels" in value:
            parameters[name] = dict(value["labels"])
        else:
            parameters[name] = arrays[value["array"]]
    return parameters


def _plain_number(value: object) -> object:
    """Convert NumPy numbers, which JSON does not have."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a sweep with {value!r:.60} among its parameters cannot be saved")
