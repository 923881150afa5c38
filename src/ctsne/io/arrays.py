"""NumPy files: a matrix (.npy), or a matrix with its columns (.npz); never a pickle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.arrays import PickledError, read_array, read_npz
from ctsne._core.files import reading, require_room
from ctsne._core.messages import quoted
from ctsne.io.dataset import Dataset, Source, check_labels, checked_sparse, numbered, room_for

_VALID = "a valid NumPy file"
_SPARSE = {"format", "shape", "data"}  # the entries of every sparse matrix that SciPy saved
# The entries with the indices of its values, by format.
_INDICES = {
    **dict.fromkeys(("csr", "csc", "bsr"), ("indices", "indptr")),
    "coo": ("row", "col"),
    "dia": ("offsets",),
}
_NO_PICKLES = "holds Python objects (a pickle), which are not read because they can run any code"
_REMEDY = "save text with .astype(str), numbers with .astype(float)"


def read_matrix(path: Path, labels: Sequence[str], elsewhere: Sequence[str]) -> Dataset:
    """Read the matrix of a .npy or .npz file, and the columns stored with it."""
    arrays: dict[str, Any] = {}
    pickled: list[str] = []
    if path.suffix.lower() == ".npy":
        arrays["X"] = read_npy(path)
    else:
        with reading(path, _VALID):
            arrays, pickled = read_npz(path)
            if arrays.keys() >= _SPARSE:
                arrays, pickled = {"X": _sparse_matrix(arrays, path)}, []
    for name in pickled:
        if not arrays or name == "X" or name in {*labels} - {*elsewhere}:
            raise ValueError(f"{name!r:.60} in {path} {_NO_PICKLES}; {_REMEDY}")
    key = _matrix_key(arrays, path)
    X = arrays.pop(key)
    if len(X.shape) != 2:
        raise ValueError(f"{path} must hold a matrix with a row per point, got shape {X.shape}")
    n, d = X.shape
    require_room(room_for(n, d), path)
    features, names = (
        array
        if array is not None and array.shape == (length,) and array.dtype.kind == "U"
        else None
        for array, length in ((arrays.pop("features", None), d), (arrays.get("names"), n))
    )
    columns = {
        name: label_array(array)
        for name, array in arrays.items()
        if array.shape in ((n,), (n, 1)) and array.dtype.kind in "biufSUmM"
        if name != "names" or names is None
    }
    check_labels(labels, [*columns], elsewhere, where=str(path))
    known = numbered(key, d) if features is None else tuple(features.tolist())
    notes = (f"skipped Python objects: {quoted(pickled)} ({_REMEDY})",) if pickled else ()
    return Dataset(X, known, columns, names, Source("array", key, d), notes, path)


def read_npy(path: Path) -> NDArray[Any]:
    """Return the array of a .npy file."""
    with reading(path, _VALID), path.open("rb") as file:
        size = path.stat().st_size
        require_room(size, path)
        try:
            return read_array(file, size)
        except PickledError:
            raise ValueError(f"{path} {_NO_PICKLES}; {_REMEDY}") from None


def _sparse_matrix(arrays: Mapping[str, Any], path: Path) -> Any:
    """Return a sparse matrix from what SciPy saved, checked in full."""
    import scipy.sparse as sp

    kind = arrays["format"].item()
    kind = kind.decode("ascii") if isinstance(kind, bytes) else str(kind)
    for name in ("shape", *_INDICES[kind]):
        if arrays[name].ndim != 1 or arrays[name].dtype.kind not in "iu":
            found = f"{arrays[name].dtype} of shape {arrays[name].shape}"
            raise ValueError(f"{name} must be a list of whole numbers, got {found}")
    n, d = arrays["shape"].tolist()
    require_room(room_for(n, d), path)
    data, first, *more = (arrays[name] for name in ("data", *_INDICES[kind]))
    parts = (data, (first, *more)) if kind == "coo" else (data, first, *more)
    wrapper = getattr(sp, f"{kind}_{'array' if '_is_array' in arrays else 'matrix'}")
    return checked_sparse(wrapper(parts, shape=(n, d)), path)


def _matrix_key(arrays: dict[str, Any], path: Path) -> str:
    if "X" in arrays:
        return "X"
    flat = [name for name, array in arrays.items() if array.ndim == 2 and array.dtype.kind in "iuf"]
    wide = [name for name in flat if arrays[name].shape[1] > 1] or flat
    if len(wide) != 1:
        found = quoted(f"{name} {array.shape}" for name, array in arrays.items())
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
