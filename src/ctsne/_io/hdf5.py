"""Parts of .h5ad files, checked before anndata reads them: it trusts links, shapes and indices."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ctsne._core.guards import reading, reason, require_room
from ctsne._io.dataset import check_sparse, room_for
from ctsne._io.paths import load

# No compression stores more bytes than this in one; more than that was declared, not written.
_MOST_COMPRESSED = 10**5
_SMALL = 2**20
_TEXT = 64  # bytes per text in memory
_SPARSE = ("csr_matrix", "csc_matrix")


@contextlib.contextmanager
def opened(path: Path, mode: str = "r") -> Iterator[Any]:
    """Open an .h5ad file with h5py; refuse other files, and links to other files."""
    h5py = load("h5py")
    load("anndata")
    with contextlib.ExitStack() as stack:
        with reading(path, "a valid .h5ad (HDF5) file"):
            try:
                file = stack.enter_context(h5py.File(path, mode))
            except BlockingIOError:
                how = "close it there first"
                raise ValueError(f"{path} is open in another program; {how}") from None
            _refuse_links(file, path)
            if "obs" not in file:
                raise ValueError(f"{path} is not an .h5ad file: this HDF5 file has no obs")
            if not hasattr(file["obs"], "keys"):
                what = f"{path} was written by anndata before version 0.7"
                raise ValueError(f"{what}; read it with anndata.read_h5ad and write it again")
        if mode == "r":
            stack.enter_context(reading(path, "a valid .h5ad file"))
        yield file


def _refuse_links(file: Any, path: Path) -> None:
    """Refuse links to other files, which even a look at their names would open."""
    inside = (load("h5py").h5l.TYPE_HARD, load("h5py").h5l.TYPE_SOFT)

    def visit(name: bytes, info: Any) -> bytes | None:
        return None if info.type in inside else name

    found = file.id.links.visit(visit, info=True)
    if found is not None:
        name = found.decode("utf-8", "replace")
        how = "anndata.read_h5ad and write_h5ad make a file that holds everything itself"
        raise ValueError(f"{path} links to another file at {name!r:.60}, which is not read; {how}")


def read_element(element: Any) -> Any:
    """Return a part of an .h5ad file as AnnData holds it."""
    from anndata.io import read_elem

    path = element.file.filename
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # anndata warns about files of older versions
        try:
            require_room(_checked_size(element, set()), path)
            return check_sparse(read_elem(element), path)
        except MemoryError as error:
            raise MemoryError(f"{path}: {element.name} does not fit: {reason(error)}") from error
        except Exception as error:  # of any kind: h5py, NumPy, SciPy and anndata all read it
            what = f"{element.name} cannot be read ({reason(error)})"
            raise ValueError(f"{path} is damaged: {what}") from error


def _checked_size(element: Any, seen: set[Any]) -> int:
    """Return the bytes that a part takes in memory; refuse parts that are unsafe to read."""
    if not hasattr(element, "keys"):
        return _dataset_size(element)
    if element in seen:  # it may even contain itself
        raise ValueError(f"the group {element.name} appears twice")
    if _encoding(element) in _SPARSE:
        if seen:
            raise ValueError(f"the sparse matrix {element.name} is not a column")
        return _sparse_size(element)
    names = element.attrs.get("column-order", ())
    if any(str(name).startswith("/") for name in names):
        raise ValueError(f"column-order of {element.name} names columns of another table")
    seen.add(element)
    return sum(_checked_size(element[name], seen) for name in element)


def _encoding(group: Any) -> str:
    """Return the type of a group; before version 0.7, anndata called it a format."""
    old = group.attrs.get("h5sparse_format")
    return str(group.attrs.get("encoding-type", "")) if old is None else f"{old}_matrix"


def _dataset_size(dataset: Any) -> int:
    if dataset.is_virtual or dataset.external:
        raise ValueError(f"{dataset.name} is stored in another file, which is not read")
    if dataset.shape is None:
        return 0
    count, width = math.prod(map(int, dataset.shape)), dataset.dtype.itemsize
    if count * width > _SMALL + _MOST_COMPRESSED * dataset.id.get_storage_size():
        raise ValueError(f"{dataset.name} declares shape {dataset.shape}, but was never written")
    return count * (_TEXT if dataset.dtype.hasobject else width)


def _sparse_size(group: Any) -> int:
    """Return the size of a sparse matrix whose parts fit each other; indices are checked later."""
    shape = group.attrs["shape"] if "shape" in group.attrs else group.attrs["h5sparse_shape"]
    n, d = (int(number) for number in shape)
    parts = [group[name] for name in ("data", "indices", "indptr")]
    data, indices, indptr = parts
    size = sum(map(_dataset_size, parts))
    if data.dtype.kind not in "biuf" or any(each.dtype.kind not in "iu" for each in parts[1:]):
        raise ValueError(f"{group.name} does not hold numbers with whole numbers as indices")
    rows = n if _encoding(group) == "csr_matrix" else d
    if min(n, d) < 0 or (data.ndim, indices.shape, indptr.shape) != (1, data.shape, (rows + 1,)):
        found = ", ".join(str(each.shape) for each in parts)
        raise ValueError(f"shape ({n}, {d}) does not fit data, indices, indptr of shapes {found}")
    return size + room_for(n, d)
