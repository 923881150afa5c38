"""NumPy files: a matrix (.npy), or a matrix with its columns (.npz); never a pickle."""

from __future__ import annotations

import io
import tokenize
import zipfile
import zlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.files import write_file
from ctsne._core.messages import listed
from ctsne._io.dataset import Dataset, Names, check_labels, check_sparse, numbered

_SPARSE = {"format.npy", "shape.npy", "data.npy"}
# What NumPy, SciPy and zipfile raise for files that are damaged or something else.
_DAMAGES = (
    AttributeError, EOFError, KeyError, OSError, RuntimeError, ValueError, zipfile.BadZipFile,
    tokenize.TokenError, zlib.error,
)  # fmt: skip
_NO_PICKLES = "holds Python objects (a pickle), which are not read because they can run any code"


def read_matrix(path: Path, labels: Sequence[str], elsewhere: Sequence[str]) -> Dataset:
    """Read the matrix of a .npy or .npz file, and the columns stored with it."""
    notes: tuple[str, ...] = ()
    if path.suffix.lower() == ".npy":
        arrays: dict[str, Any] = {"X": read_npy(path)}
    else:
        arrays, pickled = read_arrays(path)
        refuse_pickled(labels, [name for name in pickled if name not in elsewhere], path)
        if pickled:
            notes = (f"skipped Python objects: {listed(pickled)} (save them with .astype(str))",)
    key = _matrix_key(arrays, path)
    X = arrays.pop(key)
    if len(X.shape) != 2:
        raise ValueError(f"{path} must hold a matrix with a row per point, got shape {X.shape}")
    n, d = X.shape
    known = _texts(arrays.pop("features", None), d)
    features = numbered(key, d) if known is None else tuple(known.tolist())
    columns, names = array_columns(arrays, n)
    check_labels(labels, [*columns, *elsewhere], where=str(path))
    return Dataset(X, features, columns, names, f"{key} ({d} columns)", notes, path)


def array_columns(arrays: Mapping[str, Any], n: int) -> tuple[dict[str, Any], Names]:
    """Return the arrays with an entry for each of n points by name, and the row names."""
    names = _texts(arrays.get("names"), n)
    columns = {
        name: label_array(array)
        for name, array in arrays.items()
        if array.shape in ((n,), (n, 1)) and array.dtype.kind in "biufSUmM"
    }
    if names is not None:
        del columns["names"]
    return columns, names


def _texts(array: Any, length: int) -> Names:
    fits = array is not None and array.shape == (length,) and array.dtype.kind == "U"
    return array if fits else None


def read_npy(path: Path) -> NDArray[Any]:
    """Return the array of a .npy file."""
    try:
        with path.open("rb") as file:
            array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    except _DAMAGES as error:
        raise ValueError(_refusal(path, error)) from error
    return array


def read_arrays(path: Path, only: Collection[str] = ()) -> tuple[dict[str, Any], list[str]]:
    """Return the arrays of a .npz file, and the names of pickled ones, which are not read."""
    arrays: dict[str, Any] = {}
    pickled: list[str] = []
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.namelist()
            if set(entries) >= _SPARSE:
                from scipy.sparse import load_npz

                return {"X": check_sparse(load_npz(path), path)}, []
            for entry in entries:
                name = entry.removesuffix(".npy")
                if name == entry or (only and name not in only):
                    continue
                try:
                    # Not by np.load, which confuses the columns "x" and "x.npy".
                    with archive.open(entry) as file:
                        arrays[name] = np.lib.format.read_array(file, allow_pickle=False)
                except ValueError as error:
                    if "allow_pickle" not in str(error):
                        raise
                    pickled.append(name)
    except _DAMAGES as error:
        raise ValueError(_refusal(path, error)) from error
    if pickled and (not arrays or "X" in pickled):
        raise ValueError(_refusal(path, "allow_pickle"))
    return arrays, pickled


def refuse_pickled(labels: Sequence[str], pickled: Sequence[str], path: Path) -> None:
    """Refuse a label that exists but cannot be read."""
    for name in labels:
        if name in pickled:
            how = f"save it with {name}.astype(str)"
            raise ValueError(f"{name!r:.60} in {path} {_NO_PICKLES}; {how}")


def _refusal(path: Path, error: object) -> str:
    if "allow_pickle" in str(error):
        return f"{path} {_NO_PICKLES}; save text as labels.astype(str), numbers as X.astype(float)"
    return f"{path} is not a valid NumPy file: {error}"


def _matrix_key(arrays: dict[str, Any], path: Path) -> str:
    if "X" in arrays:
        return "X"
    flat = [name for name, array in arrays.items() if array.ndim == 2 and array.dtype.kind in "iuf"]
    wide = [name for name in flat if arrays[name].shape[1] > 1] or flat
    if len(wide) != 1:
        found = listed(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"{path} must hold a matrix named X, or one matrix only; it holds {found}")
    return wide[0]


def label_array(array: NDArray[Any]) -> NDArray[Any]:
    """Return a stored array as a column; empty text is missing."""
    array = array.reshape(-1)
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    if array.dtype.kind == "U" and "" in array:
        array = array.astype(object)
        array[array == ""] = None
    return array


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a .npz file; equal arrays give equal bytes, and names may be any text."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            # Opened by name alone, an entry has a fixed date.
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)
    write_file(path, content.getvalue())
