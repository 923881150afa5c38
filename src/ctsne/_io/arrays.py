"""Arrays of NumPy: one matrix, or a matrix with its columns; never a pickle."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.messages import listed
from ctsne._io.column_names import matching
from ctsne._io.parts import Parts, check_labels, check_numbers, numbered, selected
from ctsne._io.paths import load

__all__ = [
    "array_parts",
    "columns_from",
    "is_ours",
    "label_array",
    "place_of",
    "read_arrays",
    "read_npy",
    "refuse_pickled",
]

_SPARSE = {"format", "shape", "data"}
# Names that are taken in an archive of ours; a column of such a name has a number.
_TAKEN = ("X", "columns", "embedding", "features", "kinds", "names", "provenance")


def array_parts(
    path: Path, *, labels: Sequence[str], elsewhere: Sequence[str], features: Sequence[str] | None
) -> Parts:
    """Return the matrix of a .npy or .npz, with the columns that stand beside it."""
    notes: tuple[str, ...] = ()
    if path.suffix.lower() == ".npy":
        arrays = {"X": read_npy(path)}
        key = "X"
    else:
        arrays, pickled = read_arrays(path)
        refuse_pickled(labels, [name for name in pickled if name not in elsewhere], path)
        if pickled:
            notes = (f"Python objects, not read: {listed(pickled)} (save them with .astype(str))",)
        key = _matrix_key(arrays, path)
    X = arrays.pop(key)
    if len(X.shape) != 2:
        raise ValueError(
            f"{path} must hold a matrix with a row for each point, got an array of shape {X.shape}"
        )
    n, d = X.shape
    known = arrays.pop("features", None)
    all_features = numbered(key, d)
    if known is not None and known.shape == (d,) and known.dtype.kind == "U":
        all_features = tuple(known.tolist())
    names = arrays.get("names")
    if names is not None and names.shape == (n,) and names.dtype.kind == "U":
        del arrays["names"]
    else:
        names = None
    chosen = all_features if features is None else matching(features, all_features, where=str(path))
    X = check_numbers(selected(X, all_features, chosen), chosen, names, path=path)
    if is_ours(arrays):
        columns = columns_from(arrays)
    else:
        columns = {name: label_array(a) for name, a in arrays.items() if _is_column(a, n)}
    check_labels(labels, [*columns, *elsewhere], where=str(path))
    source = f"{key} ({len(chosen)} columns)"
    return Parts(X, tuple(chosen), columns, names, source, notes)


def read_npy(path: Path) -> NDArray[Any]:
    """Return the array of a .npy file."""
    try:
        with path.open("rb") as file:
            array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(_refusal(path, error)) from error
    return array


def read_arrays(path: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the arrays of a .npz file, and the names of those that are pickles: left unread."""
    arrays: dict[str, Any] = {}
    pickled = []
    try:
        # Opened here, because NumPy leaves a broken file open.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            if set(stored.files) >= _SPARSE:
                return {"X": _read_sparse(path)}, ()
            for name in stored.files:
                try:
                    arrays[name] = stored[name]
                except ValueError as error:
                    if "allow_pickle" not in str(error):
                        raise
                    pickled.append(name)
    except (ValueError, EOFError, OSError, AttributeError, zipfile.BadZipFile) as error:
        raise ValueError(_refusal(path, error)) from error
    if pickled and (not arrays or "X" in pickled):
        raise ValueError(_refusal(path, "allow_pickle"))
    return arrays, tuple(pickled)


def refuse_pickled(labels: Sequence[str], pickled: Sequence[str], path: Path) -> None:
    """Refuse a label that is there but cannot be read."""
    for name in labels:
        if name in pickled:
            raise ValueError(
                f"{name!r:.60} in {path} holds Python objects (a pickle), which are not read "
                f"because they could run any program; save it with {name}.astype(str)"
            )


def _read_sparse(path: Path) -> Any:
    from scipy.sparse import csr_array, load_npz

    return csr_array(load_npz(path))


def _refusal(path: Path, error: object) -> str:
    if "allow_pickle" in str(error):
        return (
            f"{path} holds Python objects (a pickle), which are not read because they could run "
            "any program; save text with labels.astype(str) and numbers with X.astype(float)"
        )
    return f"{path} cannot be read as arrays of NumPy: {error}"


def _matrix_key(arrays: dict[str, Any], path: Path) -> str:
    if "X" in arrays:
        return "X"
    flat = [name for name, array in arrays.items() if array.ndim == 2 and array.dtype.kind in "iuf"]
    wide = [name for name in flat if arrays[name].shape[1] > 1] or flat
    if len(wide) != 1:
        found = listed(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(
            f"{path} must hold one matrix named X, or one matrix only; it holds {found}"
        )
    return wide[0]


def _is_column(array: NDArray[Any], n: int) -> bool:
    return array.shape in ((n,), (n, 1)) and array.dtype.kind in "biufSUmM"


def label_array(array: NDArray[Any]) -> NDArray[Any]:
    """Return a stored array as a column; empty text is missing."""
    array = array.reshape(-1)
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    if array.dtype.kind == "U" and (array == "").any():
        missing = array == ""
        array = array.astype(object)
        array[missing] = None
    return array


def is_ours(arrays: Mapping[str, Any]) -> bool:
    """Tell whether an archive says itself what its columns are."""
    return {"columns", "kinds"} <= arrays.keys() and arrays["columns"].size == arrays["kinds"].size


def place_of(name: str, number: int) -> str:
    """Return where a column stands in an archive of ours: under its name, or else its number."""
    # NumPy takes ".npy" off a name.
    plain = name not in _TAKEN and "/" not in name and not name.endswith(".npy")
    return name if plain else f"columns/{number}"


def columns_from(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of an archive of ours; see `ctsne._io.archives`."""
    columns: dict[str, Any] = {}
    pairs = zip(arrays["columns"].tolist(), arrays["kinds"].tolist(), strict=True)
    for number, (name, kind) in enumerate(pairs):
        place = place_of(name, number)
        column = arrays[place]
        if kind != "values":
            labels = json.loads(arrays[f"{place}/labels"].item())
            if column.dtype.kind != "U":
                column = np.array([*labels, None], object)[column]
            column = label_array(column)
            if kind == "categories":
                pandas = load("pandas")
                column = pandas.Series(pandas.Categorical(column, categories=labels))
        columns[name] = column
    return columns
