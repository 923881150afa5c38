"""Sweeps on disk: a folder with one file per map and an index, or everything in one file.

All files are NumPy archives without pickles: arrays, and everything else as JSON text.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ctsne._core.arrays import content_checksum, read_archive, write_archive
from ctsne._core.checks import check_path
from ctsne._core.files import INDEX, check_target, reading
from ctsne._core.messages import shown, warn
from ctsne.labels import Column, Labels
from ctsne.sweep.grid import GridPoint, identity
from ctsne.sweep.result import SweepResult, SweptMap, aligned_maps
from ctsne.sweep.stored import check_facts, check_positions, check_sweep
from ctsne.sweep.stored_columns import packed_columns, read_columns

MAP_FILE = re.compile(r"map-[0-9a-f]{32}\.npz")
_FORMAT = 5
# The attributes of a grid point that an index stores.
_LINES = ("line", "seedless_line", "steering")
# The attributes of a map that both its file and an index store as text.
_FACTS = ("measures", "seconds", "alignment", "alignment_scores")


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


def map_files(
    folder: Path,
    points: list[GridPoint],
    base: Mapping[str, Any],
    matrix: Any,
    labels: Column | Labels,
    searched: tuple[int, ...],
) -> list[Path]:
    """Name the file of each map by everything it depends on, such as the length of lists."""
    names: object = labels.names
    if isinstance(labels, Labels):
        names = list(zip(labels.names, (each.names for each in labels.columns), strict=True))
    checksum = content_checksum(matrix, labels.codes, repr(names))
    common = [_FORMAT, version("ctsne"), checksum, list(searched)]
    each = [identity({**base, **point.parameters}) for point in points]
    return [_map_file(folder, [*common, parameters]) for parameters in each]


def file_after(file: Path, previous: Path) -> Path:
    """Name the file of a map that starts from another one, and so depends on that one too."""
    return _map_file(file.parent, [file.name, previous.name])


def _map_file(folder: Path, content: object) -> Path:
    digest = hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]
    return folder / f"map-{digest}.npz"


def save_map(path: Path, swept: SweptMap) -> None:
    """Store a map, completely or not at all."""
    facts = {name: getattr(swept, name) for name in _FACTS}
    names = np.array(list(swept.diagnostics), dtype=np.str_)
    arrays = {"facts": np.array(json.dumps(facts)), "diagnostics": names, **swept.diagnostics}
    write_archive(path, {"embedding": np.asarray(swept.embedding), **arrays})


def load_map(path: Path, parameters: dict[str, Any], shape: tuple[int, int]) -> SweptMap | None:
    """Return a stored map; None if there is none, or, with a warning, if it is not as it should."""
    if not os.path.lexists(path):
        return None
    check_target(path)
    try:
        swept = _read_map(path, parameters)
    except (MemoryError, OSError, ValueError) as error:
        reason = str(error)
    else:
        if swept.embedding is not None and swept.embedding.shape == shape:
            return swept
        reason = f"{path} is damaged: its shape is not {shape}"
    warn(f"{reason}; this map is made again")
    return None


def _read_map(path: Path, parameters: dict[str, Any]) -> SweptMap:
    if path.is_symlink():
        raise ValueError(f"{path} is a link, which is not followed")
    with reading(path, "a map, or it is damaged"):
        stored, _ = read_archive(path)
        facts = json.loads(str(stored["facts"]))
        check_facts(facts)
        embedding = stored["embedding"]
        diagnostics = {name: stored[name] for name in stored["diagnostics"].tolist()}
        check_positions(embedding, diagnostics)
        return SweptMap(
            parameters,
            embedding,
            error=None,
            diagnostics=diagnostics,
            file=path.name,
            **{name: facts[name] for name in _FACTS},
        )


def write_sweep(path: Path, result: SweepResult) -> None:
    """Write a sweep to one file, or the index of a folder that has files of its maps."""
    folder = path if path.is_dir() else None
    arrays: dict[str, Any] = {}

    def plain(value: object) -> object:
        """Convert what JSON does not have: NumPy's numbers and arrays."""
        if isinstance(value, np.generic):
            return value.item()
        if not isinstance(value, np.ndarray):
            raise TypeError(f"a sweep with {shown(value)} among its parameters cannot be saved")
        key = f"array-{len(arrays)}"
        arrays[key] = value if value.dtype.kind in "iuf" else value.astype(np.float64)
        return {"array": key}

    entries: list[dict[str, Any]] = []
    for number, (swept, point) in enumerate(zip(result.maps, result.points, strict=True)):
        entry = {
            "parameters": _packed(swept.parameters),
            "error": swept.error,
            **{name: getattr(point, name) for name in _LINES},
            **{name: getattr(swept, name) for name in _FACTS},
        }
        if folder is not None and swept.file is not None and (folder / swept.file).is_file():
            entry["file"] = swept.file
        elif swept.embedding is not None:
            entry["diagnostics"] = list(swept.diagnostics)
            arrays[f"embedding-{number}"] = swept.embedding
            arrays |= {f"{name}-{number}": each for name, each in swept.diagnostics.items()}
        entries.append(entry)
    estimator = _packed(result.estimator)
    content = {
        "estimator": estimator,
        "maps": entries,
        "sampled_from": result.sampled_from,
        **packed_columns(result, arrays),
    }
    text = np.array(json.dumps(content, default=plain))
    write_archive(path if folder is None else folder / INDEX, {"sweep": text, **arrays})


def _packed(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Prepare parameters for JSON, whose keys are text; lists of rows become arrays."""
    packed = dict(parameters)
    for name, value in parameters.items():
        if isinstance(value, Mapping):
            packed[name] = {"labels": list(value.items())}
        elif isinstance(value, list | tuple):
            packed[name] = np.asarray(value)
    return packed


def _unpacked(packed: Mapping[str, Any], arrays: Mapping[str, Any]) -> dict[str, Any]:
    parameters = dict(packed)
    for name, value in packed.items():
        if isinstance(value, dict):
            array = value.get("array")
            parameters[name] = dict(value["labels"]) if array is None else arrays[array]
    return parameters


def load_sweep(path: str | os.PathLike[str]) -> SweepResult:
    """Read a finished sweep; raise ValueError if there is none.

    Parameters
    ----------
    path : path-like
        The folder of a sweep, or a file written by :meth:`SweepResult.save`.

    Returns
    -------
    SweepResult

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
    file = check_path(path, "path")
    if file.is_dir():
        file = file / INDEX
        if not file.is_file():
            raise ValueError(f"{path} does not contain a finished sweep")
    with reading(file, "a sweep, or it is damaged"):
        arrays, _ = read_archive(file)
        content = json.loads(str(arrays["sweep"]))
        maps, points = [], []
        for number, entry in enumerate(content["maps"]):
            maps.append(_swept(number, entry, arrays, file.parent))
            lines = [entry[name] for name in _LINES]
            points.append(GridPoint(maps[-1].parameters, *lines))
        estimator = _unpacked(content["estimator"], arrays)
        sampled_from = content["sampled_from"]
        check_sweep(maps, points, estimator, sampled_from)
        # Files of maps hold them as computed; here they are rotated to match each other.
        raw = {index for index, swept in enumerate(maps) if swept.file is not None}
        return SweepResult(
            aligned_maps(maps, points, raw),
            tuple(points),
            estimator,
            sampled_from,
            **read_columns(content, arrays, maps),
        )


def _swept(
    number: int, entry: Mapping[str, Any], arrays: Mapping[str, Any], folder: Path
) -> SweptMap:
    facts = {name: entry[name] for name in _FACTS}
    check_facts(facts)
    parameters, file = _unpacked(entry["parameters"], arrays), entry.get("file")
    if file is not None:
        if not MAP_FILE.fullmatch(file):  # a damaged index must not name other files
            raise ValueError(f"{file!r:.60} is not the name of a map")
        return replace(_read_map(folder / file, parameters), **facts)
    if entry["error"] is not None:
        return SweptMap(parameters, None, error=entry["error"], **facts)
    diagnostics = {name: arrays[f"{name}-{number}"] for name in entry["diagnostics"]}
    embedding = arrays[f"embedding-{number}"]
    check_positions(embedding, diagnostics)
    return SweptMap(parameters, embedding, error=None, diagnostics=diagnostics, **facts)
