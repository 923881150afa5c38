"""Sweeps on disk: a folder with one file per map and an index, or everything in one file."""

import hashlib
import json
import math
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ctsne._core.checks import check_path
from ctsne._core.files import INDEX, reading
from ctsne._core.vocabulary import chosen_by
from ctsne.affinity.result import KEPT_DIAGNOSTICS
from ctsne.labels import Column
from ctsne.methods import METHODS
from ctsne.settings import DEFAULTS
from ctsne.storage import record as records
from ctsne.storage.archive import read_archive, write_archive
from ctsne.storage.record import Record
from ctsne.storage.schema import COUNT, POSITIONS, TEXT, Array, Number, check, require

MAP_FILE = re.compile(r"map-[A-Za-z0-9.-]{1,60}-[0-9a-f]{16}\.npz")
_POINT = Array("float32", "n")
_ABOUT_LABELS = replace(_POINT, gaps=True)
# A number that could not be measured is missing in JSON.
_NUMBER = (None, Number())
_FACTS = {
    "measures": {str: _NUMBER},
    "seconds": _NUMBER,
    "alignment": str,
    "alignment_scores": {str: _NUMBER},
}
_POSITIONS = {
    "embedding": POSITIONS,
    "diagnostics": {
        **dict.fromkeys(("perplexity", "largest_weight"), _POINT),
        # Missing if the method ignores labels.
        **dict.fromkeys(("other_share", "matched"), (None, _ABOUT_LABELS)),
    },
}
# The place of a map in the grid, and why it failed.
_PLACED = {"line": str, "seedless_line": str, "knob": TEXT, "error": TEXT}
_PARTS = {"parts": {str: [_NUMBER]}}
_ENTRY = {**_FACTS, **_PLACED, **_PARTS, "parameters": {str: object}, "file": TEXT}
_SWEEP = {
    "record": object,
    "maps": [{**_ENTRY, "positions": (None, _POSITIONS)}],
    "labels": records.COLUMNS,
    "other": records.COLUMNS,
    "sampled_from": (None, COUNT),
}


@dataclass(frozen=True, eq=False)
class StoredSweep:
    """Everything that the file of a sweep, or the index of its folder, keeps.

    The entry of a map holds its parameters, positions (None if it failed), diagnostics, facts,
    error and file, and its place in the grid: its lines and the knob that varies along them.
    """

    record: Record  # with all parameters of the estimator
    maps: Sequence[Mapping[str, Any]]
    labels: Mapping[str, Column]
    other: Mapping[str, Column]
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


def map_file(folder: Path, title: str, depends_on: object) -> Path:
    """Name the file of a map by its title and everything that the map depends on."""
    digest = hashlib.sha256(json.dumps(depends_on).encode()).hexdigest()[:16]
    words = re.sub(r"[^A-Za-z0-9.]+", "-", title).strip("-")[:60]
    return folder / f"map-{words}-{digest}.npz"


def write_map_file(path: Path, entry: Mapping[str, Any]) -> None:
    """Write the file of one map, completely or not at all."""
    write_archive(path, "map", {**_plain_facts(entry), **_plain_positions(entry)})


def read_map_file(path: Path) -> dict[str, Any]:
    """Read the file of one map: positions, diagnostics and facts."""
    if path.is_symlink():
        raise ValueError(f"{path} is a link, which is not followed")
    tree = read_archive(path, "map")
    with reading(path, "a valid ctsne map"):
        check(tree, {**_FACTS, **_POSITIONS})
        return {**_facts(tree), **_positions(tree), "file": path.name}


def write_sweep(path: Path, sweep: StoredSweep) -> None:
    """Write a sweep to one file, or the index of a folder that has files of its maps."""
    folder = path if path.is_dir() else None
    entries = []
    for entry in sweep.maps:
        file = entry["file"]
        if folder is None or file is None or not (folder / file).is_file():
            file = None
        here = file is None and entry["embedding"] is not None
        made = {
            **_plain_facts(entry, _FACTS | _PARTS),
            **{name: entry[name] for name in _PLACED},
            "parameters": records.plain_parameters(entry["parameters"]),
            "file": file,
            "positions": _plain_positions(entry) if here else None,
        }
        entries.append(made)
    tree = {
        "record": sweep.record.to_tree(),
        "maps": entries,
        "labels": records.plain_columns(sweep.labels),
        "other": records.plain_columns(sweep.other),
        "sampled_from": sweep.sampled_from,
    }
    write_archive(path if folder is None else folder / INDEX, "sweep", tree)


def read_sweep(path: str | os.PathLike[str]) -> StoredSweep:
    """Read a sweep from its file or its folder; raise ValueError if there is none."""
    file = check_path(path, "path")
    if file.is_dir():
        file = file / INDEX
        if not file.is_file():
            raise ValueError(f"{path} does not contain a finished sweep")
    tree = read_archive(file, "sweep")
    with reading(file, "a valid ctsne sweep"):
        check(tree, _SWEEP)
        record = Record.from_dict(tree["record"])
        maps = [_entry(entry, file.parent) for entry in tree["maps"]]
        labels, other = records.columns_from(tree["labels"]), records.columns_from(tree["other"])
        sizes = [column.n_points for column in (*labels.values(), *other.values())]
        _check_maps(maps, record.parameters, sizes, tree["sampled_from"])
        return StoredSweep(record, maps, labels, other, tree["sampled_from"])


def _plain_facts(entry: Mapping[str, Any], names: Collection[str] = _FACTS) -> dict[str, Any]:
    """Return the facts about a map as JSON can hold them, None for a number that is not finite."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: plain(number) for name, number in value.items()}
        if np.ndim(value):
            return [plain(number) for number in value]
        number = value.item() if isinstance(value, np.generic) else value
        return number if isinstance(number, str) or math.isfinite(number) else None

    return {name: plain(entry[name]) for name in names}


def _facts(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts about a map, NaN where a number is missing."""

    def restored(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: restored(number) for name, number in value.items()}
        return math.nan if value is None else value

    return {name: restored(tree[name]) for name in _FACTS}


def _plain_positions(entry: Mapping[str, Any]) -> dict[str, Any]:
    diagnostics = {name: entry["diagnostics"].get(name) for name in KEPT_DIAGNOSTICS}
    return {"embedding": np.asarray(entry["embedding"]), "diagnostics": diagnostics}


def _positions(tree: Mapping[str, Any]) -> dict[str, Any]:
    n, dims = tree["embedding"].shape
    require(n >= 2 and 1 <= dims <= 3, "map", "of one to three dimensions", (n, dims))
    found = {name: tree["diagnostics"][name] for name in KEPT_DIAGNOSTICS}
    diagnostics = {name: np.array(array) for name, array in found.items() if array is not None}
    return {"embedding": np.array(tree["embedding"]), "diagnostics": diagnostics}


def _entry(entry: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return a map of the index, with its positions from there or from its own file."""
    file, positions = entry["file"], entry.pop("positions")
    sources = (file is not None) + (positions is not None) + (entry["error"] is not None)
    require(sources == 1, "maps", "in the index, in a file, or failed", (file, entry["error"]))
    made: dict[str, Any] = {"embedding": None, "diagnostics": {}}
    if file is not None:
        if not MAP_FILE.fullmatch(file):  # a damaged index must not name other files
            raise ValueError(f"{file!r:.60} is not the name of a map")
        made = read_map_file(folder / file)
    elif positions is not None:
        made = _positions(positions)
    parameters = records.parameters_from(entry["parameters"])
    parts = {name: np.array(values, np.float64) for name, values in entry["parts"].items()}
    return {**entry, **made, **_facts(entry), "parts": parts, "parameters": parameters}


def _check_maps(
    maps: Sequence[Mapping[str, Any]],
    estimator: Mapping[str, Any],
    labelled: Sequence[int],
    sampled_from: int | None,
) -> None:
    """Refuse a sweep whose maps and labels do not belong together."""
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
    measured = {
        (*chosen_by(entry["measures"]), *((name, len(x)) for name, x in entry["parts"].items()))
        for entry in finished
    }
    mixed = all("mixing" in entry["measures"] for entry in finished)
    require(mixed and len(measured) <= 1, "measures", "the same for all maps", measured)
    sizes = {*labelled, *(shape[0] for shape in shapes)}
    require(len(sizes) <= 1, "labels", "those of its maps", sizes)
    enough = sampled_from is None or sampled_from >= max(sizes, default=0)
    require(enough, "number of points", f"at least those of a map, {sizes}", sampled_from)
