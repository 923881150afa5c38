"""Sweeps on disk: a folder with one file per map and an index, or everything in one file."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import check_path
from ctsne._core.files import INDEX, reading
from ctsne._core.vocabulary import chosen_by
from ctsne.affinity.result import KEPT_DIAGNOSTICS
from ctsne.labels import Column
from ctsne.methods import METHODS
from ctsne.settings import DEFAULTS
from ctsne.storage.archive import read_archive, write_archive
from ctsne.storage.record import (
    Record,
    columns_from,
    parameter_arrays,
    parameters_from,
    plain_columns,
    plain_parameters,
    with_arrays,
)
from ctsne.storage.schema import COUNT, Array, Number, check_arrays, check_plain, require

MAP_FILE = re.compile(r"map-[0-9a-f]{32}\.npz")
# A number that could not be measured is missing in JSON.
_NUMBER = (None, Number())
_FACTS = {
    "measures": {str: _NUMBER},
    "seconds": _NUMBER,
    "alignment": str,
    "alignment_scores": {str: _NUMBER},
}
# The place of a map in the grid, and why it failed.
_PLACED = {"line": str, "seedless_line": str, "knob": (None, str), "error": (None, str)}
_CONTENT = {
    "record": object,
    "maps": [{**_FACTS, **_PLACED, "parameters": {str: object}, "file": (None, str)}],
    "columns": object,
    "known": [str],
    "other": (None, str),
    "sampled_from": (None, COUNT),
}
_POINT = Array("float32", ("n",))
# Diagnostics about labels are missing where the method ignores labels.
_MAP = {
    "embedding": Array("float32", ("n", "dims")),
    **{name: replace(_POINT, gaps=True, optional=True) for name in KEPT_DIAGNOSTICS},
    "perplexity": _POINT,
    "largest_weight": _POINT,
}
_GIVEN = {
    "align": Array("floating", ("n", "given"), optional=True),
    "init": Array("floating", ("n", "dims"), optional=True),
}


@dataclass(frozen=True, eq=False)
class StoredSweep:
    """Everything that the file of a sweep, or the index of its folder, keeps.

    The entry of a map holds its parameters, positions (None if it failed), diagnostics, facts,
    error and file, and its place in the grid: its lines and the knob that varies along them.
    """

    record: Record  # with all parameters of the estimator
    maps: Sequence[Mapping[str, Any]]
    columns: Mapping[str, Column]
    known: tuple[str, ...]
    other: str | None
    sampled_from: int | None


def open_folder(folder: str | os.PathLike[str]) -> Path:
    """Make the folder if necessary; refuse a path that cannot be one."""
    path = check_path(folder, "folder")
    if path.exists() and not path.is_dir():
        raise ValueError(f"folder must name a folder, but {path} is a file")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot make the folder {path} ({error.strerror})") from error
    if not os.access(path, os.W_OK):
        raise ValueError(f"cannot write to the folder {path}")
    return path


def map_file(folder: Path, depends_on: object) -> Path:
    """Name the file of a map by everything that the map depends on."""
    digest = hashlib.sha256(json.dumps(depends_on).encode()).hexdigest()[:32]
    return folder / f"map-{digest}.npz"


def write_map_file(path: Path, entry: Mapping[str, Any]) -> None:
    """Write the file of one map, completely or not at all."""
    write_archive(path, "map", _plain_facts(entry), _map_arrays(entry))


def read_map_file(path: Path) -> dict[str, Any]:
    """Read the file of one map: positions, diagnostics and facts."""
    if path.is_symlink():
        raise ValueError(f"{path} is a link, which is not followed")
    file = read_archive(path, "map")
    with reading(path, "a valid ctsne map"):
        check_plain(file.content, _FACTS, "content")
        return {**_facts(file.content), **_read_map(file.arrays), "file": path.name}


def write_sweep(path: Path, sweep: StoredSweep) -> None:
    """Write a sweep to one file, or the index of a folder that has files of its maps."""
    folder = path if path.is_dir() else None
    columns, arrays = plain_columns(sweep.columns)
    given = parameter_arrays(sweep.record.parameters)
    arrays |= {f"estimator/{name}": array for name, array in given.items()}
    entries = []
    for number, entry in enumerate(sweep.maps):
        file = entry["file"]
        if folder is None or file is None or not (folder / file).is_file():
            file = None
        parameters = plain_parameters(entry["parameters"])
        placed = {name: entry[name] for name in _PLACED}
        entries.append({**_plain_facts(entry), **placed, "parameters": parameters, "file": file})
        own = parameter_arrays(entry["parameters"])
        if file is None and entry["embedding"] is not None:
            own |= _map_arrays(entry)
        arrays |= {f"maps/{number}/{name}": array for name, array in own.items()}
    content = {
        "record": sweep.record.to_dict(),
        "maps": entries,
        "columns": columns,
        "known": list(sweep.known),
        "other": sweep.other,
        "sampled_from": sweep.sampled_from,
    }
    write_archive(path if folder is None else folder / INDEX, "sweep", content, arrays)


def read_sweep(path: str | os.PathLike[str]) -> StoredSweep:
    """Read a sweep from its file or its folder; raise ValueError if there is none."""
    file = check_path(path, "path")
    if file.is_dir():
        file = file / INDEX
        if not file.is_file():
            raise ValueError(f"{path} does not contain a finished sweep")
    archive = read_archive(file, "sweep")
    with reading(file, "a valid ctsne sweep"):
        content = archive.content
        check_plain(content, _CONTENT, "content")
        groups: dict[str, dict[str, NDArray[Any]]] = {}
        for name, array in archive.arrays.items():
            group, _, own = name.rpartition("/")
            groups.setdefault(group, {})[own] = np.array(array)
        record = Record.from_dict(content["record"])
        parameters = _parameters(record.parameters, groups.pop("estimator", {}))
        maps = [
            _entry(entry, groups.pop(f"maps/{number}", {}), file.parent)
            for number, entry in enumerate(content["maps"])
        ]
        n = _check_maps(maps, parameters, content["sampled_from"])
        codes = {f"labels/{c}": array for c, array in groups.pop("labels", {}).items()}
        columns = columns_from(content["columns"], codes, len(next(iter(codes.values()), ())))
        require(not codes or n in (0, len(codes["labels/0"])), "labels", "those of its maps", n)
        require(not groups, "arrays", "those of a sweep", sorted(groups)[:3])
        known, other = content["known"], content["other"]
        named = {*known, *([] if other is None else [other])} <= set(columns)
        require(named, "known and other labels", "among its columns", (known, other))
        record = replace(record, parameters=parameters)
        return StoredSweep(record, maps, columns, tuple(known), other, content["sampled_from"])


def _plain_facts(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts about a map as JSON can hold them, None for a number that is not finite."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: plain(number) for name, number in value.items()}
        number = value.item() if isinstance(value, np.generic) else value
        return number if isinstance(number, str) or math.isfinite(number) else None

    return {name: plain(entry[name]) for name in _FACTS}


def _facts(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts about a map, NaN where a number is missing."""

    def restored(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: restored(number) for name, number in value.items()}
        return math.nan if value is None else value

    return {name: restored(content[name]) for name in _FACTS}


def _map_arrays(entry: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    return {"embedding": np.asarray(entry["embedding"]), **entry["diagnostics"]}


def _read_map(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Return checked positions and diagnostics, in memory."""
    check_arrays(arrays, _MAP, {})
    n, dims = arrays["embedding"].shape
    require(n >= 2 and 1 <= dims <= 3, "map", "of one to three dimensions", (n, dims))
    named = [name for name in KEPT_DIAGNOSTICS if name in arrays]
    diagnostics = {name: np.array(arrays[name]) for name in named}
    return {"embedding": np.array(arrays["embedding"]), "diagnostics": diagnostics}


def _parameters(stored: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    check_arrays(arrays, _GIVEN, {})
    return with_arrays(stored, arrays)


def _entry(entry: dict[str, Any], arrays: dict[str, NDArray[Any]], folder: Path) -> dict[str, Any]:
    """Return a map of the index, with its positions from there or from its own file."""
    given = {name: arrays.pop(name) for name in _GIVEN if name in arrays}
    made: dict[str, Any] = {"embedding": None, "diagnostics": {}}
    file = entry["file"]
    if file is not None:
        if not MAP_FILE.fullmatch(file):  # a damaged index must not name other files
            raise ValueError(f"{file!r:.60} is not the name of a map")
        made = read_map_file(folder / file)
    elif entry["error"] is None:
        made = _read_map(arrays)
        arrays = {}
    require(not arrays, "arrays", "those of its maps", sorted(arrays))
    parameters = _parameters(parameters_from(entry["parameters"]), given)
    return {**entry, **made, **_facts(entry), "parameters": parameters}


def _check_maps(
    maps: Sequence[Mapping[str, Any]], estimator: Mapping[str, Any], sampled_from: int | None
) -> int:
    """Refuse a sweep whose maps do not belong together; return their number of points."""
    known = set(DEFAULTS)
    require({*estimator, "callback"} == known, "parameters", "those of this version", estimator)
    for entry in maps:
        parameters, knob = entry["parameters"], entry["knob"]
        require(set(parameters) <= known, "parameters", "known", parameters)
        method = parameters.get("method", estimator["method"])
        require(isinstance(method, str) and method in METHODS, "method", "known", method)
        varied = knob is None or knob in parameters
        require(varied, "knob", "one of the parameters of its map", knob)
    finished = [entry for entry in maps if entry["error"] is None]
    shapes = {np.shape(entry["embedding"]) for entry in finished}
    require(len(shapes) <= 1, "maps", "of the same shape", shapes)
    measured = {tuple(chosen_by(entry["measures"])) for entry in finished}
    mixed = all("mixing" in entry["measures"] for entry in finished)
    require(mixed and len(measured) <= 1, "measures", "the same for all maps", measured)
    n: int = max((shape[0] for shape in shapes), default=0)
    enough = sampled_from is None or sampled_from >= n
    require(enough, "number of points", f"at least the {n} of a map", sampled_from)
    return n
