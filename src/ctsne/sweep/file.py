"""A whole sweep in one file."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ctsne._core.files import replaced_file
from ctsne.sweep.grid import GridPoint
from ctsne.sweep.result import SweepResult
from ctsne.sweep.swept import SweptMap

__all__ = ["load_sweep", "write_sweep"]


def write_sweep(path: Path, result: SweepResult) -> None:
    """Write maps as arrays and all else as JSON, in one NumPy archive without pickles."""
    arrays: dict[str, Any] = {}
    entries: list[dict[str, Any]] = []
    for swept, point in zip(result.maps, result._points, strict=True):
        number = len(entries)
        if swept.embedding is not None:
            arrays[f"embedding-{number}"] = swept.embedding
        for name, values in swept.diagnostics.items():
            arrays[f"{name}-{number}"] = values
        entries.append(
            {
                "parameters": _packed(swept.parameters, arrays),
                "measures": swept.measures,
                "seconds": swept.seconds,
                "error": swept.error,
                "diagnostics": list(swept.diagnostics),
                "line": point.line,
                "seedless_line": point.seedless_line,
                "steering": point.steering,
            }
        )
    content = {
        "estimator": _packed(result._estimator, arrays),
        "maps": entries,
        "sampled_from": result.sampled_from,
    }
    text = np.array(json.dumps(content, default=_plain_number))
    with replaced_file(path) as temporary, temporary.open("wb") as file:
        np.savez(file, sweep=text, **arrays)


def load_sweep(path: str | os.PathLike[str]) -> SweepResult:
    """Read a sweep from the file that :meth:`SweepResult.save` wrote.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    SweepResult

    Raises
    ------
    ValueError
        If the file holds no sweep.

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
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            content = json.loads(str(arrays["sweep"]))
            maps, points = [], []
            for number, entry in enumerate(content["maps"]):
                swept = _swept(number, entry, arrays)
                maps.append(swept)
                lines = (entry["line"], entry["seedless_line"], entry["steering"])
                points.append(GridPoint(swept.parameters, *lines))
            estimator = _unpacked(content["estimator"], arrays)
            sampled_from = content["sampled_from"]
    except (EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} holds no sweep, or not the whole of one") from error
    return SweepResult(tuple(maps), tuple(points), estimator, sampled_from)


def _swept(number: int, entry: Mapping[str, Any], arrays: Mapping[str, Any]) -> SweptMap:
    return SweptMap(
        _unpacked(entry["parameters"], arrays),
        None if entry["error"] is not None else arrays[f"embedding-{number}"],
        entry["measures"],
        entry["seconds"],
        entry["error"],
        {name: arrays[f"{name}-{number}"] for name in entry["diagnostics"]},
    )


def _packed(parameters: Mapping[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    """Parameters for JSON, which knows neither arrays nor keys that are no text."""
    packed: dict[str, Any] = {}
    for name, value in parameters.items():
        if isinstance(value, Mapping):
            packed[name] = {"labels": list(value.items())}
        elif isinstance(value, np.ndarray | list | tuple):  # a start
            key = f"array-{len(arrays)}"
            array = np.asarray(value)  # in its own type, or ``find`` would not find it again
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
    """Numbers of NumPy, which JSON does not know."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a sweep with {value!r:.60} among its parameters cannot be saved")
