"""Arrays in files (.npy and .npz), and checksums of arrays."""

import hashlib
import math
import sys
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.files import require_room
from ctsne._core.messages import label_text

# Numbers converted to double precision at a time, so that a checksum needs little memory.
_BLOCK = 2**20


class PickledError(Exception):
    """An array holds Python objects."""


def read_array(file: IO[bytes], size: int) -> NDArray[Any]:
    """Return the array of an open .npy file, whose size must match what its header declares."""
    form = np.lib.format
    headers = {(1, 0): form.read_array_header_1_0, (2, 0): form.read_array_header_2_0}
    shape, _, dtype = headers[form.read_magic(file)](file)
    if dtype.hasobject:
        raise PickledError
    if min(shape, default=0) < 0 or math.prod(shape) * max(1, dtype.itemsize) > size:
        raise ValueError(f"its header declares {dtype} of shape {shape}, but it has {size} bytes")
    file.seek(0)
    array: NDArray[Any] = form.read_array(file, allow_pickle=False)
    if dtype.kind == "U" and array.size:
        codes = np.ascontiguousarray(array).view(np.dtype(np.uint32).newbyteorder(dtype.byteorder))
        if codes.max() > sys.maxunicode:  # Python fails as soon as it sees such a text
            raise ValueError("it holds text with characters that do not exist")
    return array


def read_npz(path: Path) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """Return the arrays of a .npz file, and the names of pickled ones, which are not read."""
    arrays: dict[str, NDArray[Any]] = {}
    pickled: list[str] = []
    with zipfile.ZipFile(path) as archive:
        # Not by np.load, which confuses the columns "x" and "x.npy".
        files = [entry for entry in archive.infolist() if entry.filename.endswith(".npy")]
        entries = {entry.filename.removesuffix(".npy"): entry for entry in files}
        require_room(sum(entry.file_size for entry in files), path)
        for name, entry in entries.items():
            with archive.open(entry) as file:
                try:
                    arrays[name] = read_array(file, entry.file_size)
                except PickledError:
                    pickled.append(name)
    return arrays, pickled


def content_checksum(*values: Any) -> str:
    """Return the SHA-256 of arrays, sparse matrices, columns and single values, in order."""
    # Numbers count by value, whatever their type; everything else counts as text.
    digest = hashlib.sha256()
    for value in values:
        if hasattr(value, "tocsr"):  # sparse; SciPy is not imported here, to keep the help fast
            matrix = value.tocsr()
            if not matrix.has_canonical_format or not np.all(matrix.data):
                matrix = matrix.copy()
                matrix.sum_duplicates()
                matrix.eliminate_zeros()
            digest.update(f"sparse {matrix.shape}".encode())
            arrays = [matrix.indptr, matrix.indices, matrix.data]
        else:
            arrays = [np.asarray(value)]
        for array in arrays:
            number = array.dtype.kind in "biuf"
            digest.update(f"{'number' if number else 'text'} {array.shape}".encode())
            rows = np.atleast_1d(array)
            step = max(1, _BLOCK // max(1, rows[:1].size))
            for start in range(0, len(rows), step):
                digest.update(_bytes_of(rows[start : start + step], number=number))
    return digest.hexdigest()


def _bytes_of(block: Any, *, number: bool) -> bytes | memoryview:
    if number:
        return (np.ascontiguousarray(block, np.float64) + 0.0).data  # -0 becomes 0
    texts = "\0".join(map(label_text, block.ravel().tolist()))
    return f"{texts}\0".encode("utf-8", "surrogatepass")
