"""Parts of .h5ad files, checked before anndata reads them: it trusts links, shapes and indices."""

import contextlib
import math
import mmap
import struct
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ctsne._core.checks import is_sparse
from ctsne._core.files import reading, reason, require_room
from ctsne._core.messages import load
from ctsne.io.dataset import checked_sparse, room_for

# No compression stores more bytes than this in one; more than that was declared, not written.
_MOST_COMPRESSED = 10**5
_SMALL = 2**20
_TEXT = 64  # bytes per text in memory
# Texts are stored in heaps, which begin like this; each has a header: number, uses, size.
_HEAP, _HEADER = b"GCOL\x01\0\0\0", struct.Struct("<HHIQ")
# Values of a matrix that are read at a time.
_VALUES = 2**22
_DEEPEST = 100
_SPARSE = ("csr_matrix", "csc_matrix")
_UNREAD = "DIMENSION_LIST"  # an attribute that HDF5 itself writes, a list of any length
_REMEDY = "if anndata.read_h5ad reads it, write it again with write_h5ad; else it is damaged"


@contextlib.contextmanager
def opened(path: Path, mode: str = "r", *, checked: bool = False) -> Iterator[Any]:
    """Open an .h5ad file with h5py; refuse other files, damaged ones and links to others."""
    # A file that is ``checked`` was just written, or copied from a file that was opened before.
    h5py = load("h5py")
    load("anndata")
    with contextlib.ExitStack() as stack:
        with reading(path, "a valid .h5ad (HDF5) file"):
            state = path.stat()
            try:
                if not checked:
                    _check_file(path, (state.st_ino, state.st_size, state.st_mtime_ns))
                file = stack.enter_context(h5py.File(path, mode))
            except BlockingIOError:
                how = "close it there first"
                raise ValueError(f"{path} is open in another program; {how}") from None
            if "obs" not in file:
                raise ValueError(f"{path} is not an .h5ad file: this HDF5 file has no obs")
            if not hasattr(file["obs"], "keys"):
                what = f"{path} was written by anndata before version 0.7"
                raise ValueError(f"{what}; read it with anndata.read_h5ad and write it again")
        if mode == "r":
            stack.enter_context(reading(path, "a valid .h5ad file"))
        yield file


@lru_cache(maxsize=8)
def _check_file(path: Path, state: tuple[int, ...]) -> None:
    """Refuse what would crash the HDF5 library or lead it to other files; once per ``state``."""
    _check_heaps(path, state[1])
    with load("h5py").File(path, "r") as file:
        _check_objects(file, path)


def _check_heaps(path: Path, length: int) -> None:
    """Refuse damaged heaps of text, in which HDF5 would loop for ever."""
    # Data may look like the beginning of one; HDF5 refuses a heap that ends outside the file.
    start, end = 0, 0
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        while (start := mapped.find(_HEAP, start)) >= 0:
            begin = start + _HEADER.size
            size = int.from_bytes(mapped[start + len(_HEAP) : begin], "little")
            if start + size <= length:
                if start < end:
                    raise ValueError(f"heaps of text overlap at byte {start}; {_REMEDY}")
                place, end = begin, start + size
                while place <= end - _HEADER.size:
                    index, _, _, stored = _HEADER.unpack_from(mapped, place)
                    step = stored if index == 0 else _HEADER.size + -(-stored // 8) * 8
                    if step < _HEADER.size:
                        what = f"the heap of text at byte {start} does not end"
                        raise ValueError(f"{what}; {_REMEDY}")
                    place += step
            start += 1


def _check_objects(file: Any, path: Path) -> None:
    """Refuse links to other files, which even a look at their names would open."""
    h5py = load("h5py")
    seen, waiting = set(), [(file, 0)]
    while waiting:
        part, depth = waiting.pop()
        if not isinstance(part, h5py.Group):
            continue
        links: list[tuple[bytes, int]] = []
        # The callback must return None; other values end the iteration.
        part.id.links.iterate(lambda name, info: links.append((name, info.type)), info=True)  # noqa: B023
        for name, kind in links:
            if kind == h5py.h5l.TYPE_SOFT:
                continue
            place = f"{part.name.rstrip('/')}/{name.decode('utf-8', 'replace')}"
            if kind != h5py.h5l.TYPE_HARD:
                how = "anndata.read_h5ad and write_h5ad make a file that holds everything itself"
                what = f"{path} links to another file at {place!r:.60}"
                raise ValueError(f"{what}, which is not read; {how}")
            about = h5py.h5o.get_info(part.id, name)
            if about.addr not in seen:
                if depth == _DEEPEST:  # the library would overflow its stack
                    raise ValueError(f"groups are nested more than {_DEEPEST} deep")
                seen.add(about.addr)
                waiting.append((part[name], depth + 1))


def read_element(element: Any) -> Any:
    """Return a part of an .h5ad file as AnnData holds it."""
    from anndata.io import read_elem

    path = element.file.filename
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # anndata warns about files of older versions
        try:
            require_room(checked_size(element, set()), path)
            return checked_sparse(read_elem(element), path)
        except MemoryError as error:
            raise MemoryError(f"{path}: {element.name} does not fit: {reason(error)}") from error
        except Exception as error:  # of any kind: h5py, NumPy, SciPy and anndata all read it
            what = f"{element.name} of {path} cannot be read ({reason(error)})"
            raise ValueError(f"{what}; {_REMEDY}") from error


def checked_size(element: Any, seen: set[Any]) -> int:
    """Return the bytes that a part takes in memory; refuse parts that are unsafe to read."""
    for name in element.attrs:
        if name != _UNREAD:
            _check_type(element.attrs.get_id(name).get_type(), f"attribute {name!r:.60}")
    if not is_group(element):
        return _dataset_size(element)
    # A column may have two names; other groups may contain themselves, or each other many times.
    if element in seen and any(is_group(element[name]) for name in element):
        raise ValueError(f"the group {element.name} appears twice, with groups in it")
    if encoding_of(element) in _SPARSE:
        if seen:
            raise ValueError(f"the sparse matrix {element.name} cannot be a column")
        return _sparse_size(element)
    names = element.attrs.get("column-order", ())
    if any(str(name).startswith("/") for name in names):
        raise ValueError(f"column-order of {element.name} names columns of another table")
    seen.add(element)
    return sum(checked_size(element[name], seen) for name in element)


def is_group(element: Any) -> bool:
    """Tell whether a part of a file holds others, as tables and sparse matrices do."""
    return hasattr(element, "keys")


def _check_type(kind: Any, what: str) -> None:
    """Refuse lists of any length, which anndata never writes; damaged texts look like them."""
    h5t = load("h5py").h5t
    if isinstance(kind, h5t.TypeCompoundID):
        for number in range(kind.get_nmembers()):
            _check_type(kind.get_member_type(number), what)
    elif isinstance(kind, h5t.TypeArrayID):
        _check_type(kind.get_super(), what)
    elif kind.get_class() == h5t.VLEN:
        raise ValueError(f"{what} holds lists of any length, which are not read")


def encoding_of(group: Any) -> str:
    """Return the type of a group; before version 0.7, anndata called it a format."""
    old = group.attrs.get("h5sparse_format")
    return str(group.attrs.get("encoding-type", "")) if old is None else f"{old}_matrix"


def sparse_shape(group: Any) -> tuple[int, int]:
    """Return the rows and columns of a sparse matrix."""
    shape = group.attrs["shape"] if "shape" in group.attrs else group.attrs["h5sparse_shape"]
    n, d = (int(number) for number in shape)
    return n, d


def _dataset_size(dataset: Any) -> int:
    if dataset.external or dataset.is_virtual:
        raise ValueError(f"{dataset.name} is stored in other files or datasets, which are not read")
    stored = int(dataset.id.get_storage_size())
    _check_type(dataset.id.get_type(), dataset.name)
    if dataset.shape is None:
        return 0
    count, width = math.prod(map(int, dataset.shape)), dataset.dtype.itemsize
    if count * width > _SMALL + _MOST_COMPRESSED * stored:
        raise ValueError(f"{dataset.name} declares shape {dataset.shape}, but was never written")
    return count * (_TEXT if dataset.dtype.hasobject else width)


def _sparse_size(group: Any) -> int:
    """Return the size of a sparse matrix whose parts fit each other; indices are checked later."""
    n, d = sparse_shape(group)
    parts = [group[name] for name in ("data", "indices", "indptr")]
    data, indices, indptr = parts
    size = sum(map(_dataset_size, parts))
    if data.dtype.kind not in "biuf" or any(part.dtype.kind not in "iu" for part in parts[1:]):
        raise ValueError(f"{group.name} does not hold numbers with whole numbers as indices")
    rows = n if encoding_of(group) == "csr_matrix" else d
    if min(n, d) < 0 or (data.ndim, indices.shape, indptr.shape) != (1, data.shape, (rows + 1,)):
        found = ", ".join(str(part.shape) for part in parts)
        raise ValueError(f"shape ({n}, {d}) does not fit data, indices, indptr of shapes {found}")
    return size + room_for(n, d)


class StoredMatrix:
    """A matrix in an open .h5ad file, dense or sparse, of which only a part is read at a time.

    ``matrix[start:stop]`` reads rows, and ``matrix[:, places]`` chooses columns to read later.
    """

    def __init__(self, element: Any, places: NDArray[np.intp] | None = None) -> None:
        checked_size(element, set())
        self.element, self.places = element, places
        self.sparse, self.by_column = is_group(element), False
        if self.sparse:
            if encoding_of(element) not in _SPARSE:
                raise ValueError(f"{element.name} is not a matrix that can be read in parts")
            self.by_column = encoding_of(element) == "csc_matrix"
            self._starts = _starts(element)
        shape = sparse_shape(element) if self.sparse else element.shape
        self.shape = shape if places is None else (shape[0], len(places))
        self.width = shape[-1]
        self.nnz = len(element["data"]) if self.sparse else math.prod(shape)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            return StoredMatrix(self.element, np.asarray(key[1], np.intp))
        rows = self._rows(key.start, key.stop) if self.sparse else self.element[key]
        return rows if self.places is None else rows[:, self.places]

    def _rows(self, start: int, stop: int) -> Any:
        if self.by_column:
            how = "write it as a CSR matrix or a dense array, which are read by rows"
            raise ValueError(f"{self.element.name} cannot be read by rows; {how}")
        starts = self._starts[start : stop + 1]
        return self._part(starts, sp.csr_matrix, (len(starts) - 1, self.width))

    def _part(self, starts: NDArray[np.int64], kind: Any, shape: tuple[int, int]) -> Any:
        part = slice(starts[0], starts[-1])
        values = (self.element["data"][part], self.element["indices"][part], starts - starts[0])
        return checked_sparse(kind(values, shape=shape), self.element.file.filename)

    def column_part(self, start: int, stop: int) -> Any:
        """Return neighbouring columns of a matrix that is stored by column."""
        starts = self._starts[start : stop + 1]
        return self._part(starts, sp.csc_matrix, (self.shape[0], len(starts) - 1))

    def columns(self, places: Sequence[int]) -> NDArray[np.float32]:
        """Return some columns, dense, without the others in memory."""
        if self.by_column:
            return np.hstack([dense_columns(self.column_part(at, at + 1), [0]) for at in places])
        result = np.empty((self.shape[0], len(places)), np.float32)
        start = 0
        while start < self.shape[0]:
            stop = start + max(1, _VALUES // max(1, self.width))
            if self.sparse:
                most = self._starts[start] + _VALUES
                stop = max(int(np.searchsorted(self._starts, most, "right")) - 1, start + 1)
            stop = min(stop, self.shape[0])
            result[start:stop] = dense_columns(self[start:stop], places)
            start = stop
        return result


def dense_columns(X: Any, places: Sequence[int]) -> NDArray[np.float32]:
    """Return some columns of a matrix as a dense array."""
    part = X[:, places]
    return np.asarray(part.toarray() if is_sparse(part) else part, np.float32)


def _starts(matrix: Any) -> NDArray[np.int64]:
    starts: NDArray[np.int64] = matrix["indptr"][:].astype(np.int64)
    if starts[0] != 0 or starts[-1] != len(matrix["data"]) or (np.diff(starts) < 0).any():
        raise ValueError(f"{matrix.name} is damaged: its indptr does not fit its values")
    return starts
