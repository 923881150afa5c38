"""Arrays of NumPy: one matrix, or a matrix with its columns; never a pickle."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne.io.names import listed, matching
from ctsne.io.parts import Parts, check_labels, check_numbers, numbered, selected

__all__ = ["array_parts", "label_array", "read_arrays", "read_npy"]

_SPARSE = {"format", "shape", "data"}


def array_parts(
    path: Path, *, labels: Sequence[str], elsewhere: Sequence[str], features: Sequence[str] | None
) -> Parts:
    """Return the matrix of a .npy or .npz, with the columns that stand beside it."""
    notes: tuple[str, ...] = ()
    if path.suffix.lower() == ".npy":
        arrays = {"X": read_npy(path)}
        key = "X"
    else:
        arrays, notes = read_arrays(path)
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
    columns = {name: label_array(array) for name, array in arrays.items() if _is_column(array, n)}
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
    """Return the arrays of a .npz file, and a note of those that are pickles and stay unread."""
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
    if not pickled:
        return arrays, ()
    return arrays, (f"Python objects, not read: {listed(pickled)} (save them with .astype(str))",)


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
