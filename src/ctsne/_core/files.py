"""Files written whole or not at all, and checksums of files and of their content."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ctsne._core.messages import label_text

__all__ = ["content_checksum", "file_checksum", "replaced_file"]

# Numbers converted to double precision at a time, so that a checksum needs little memory.
_BLOCK = 2**20


@contextlib.contextmanager
def replaced_file(target: Path) -> Iterator[Path]:
    """Give a new empty file that replaces the target at the end.

    Moving a file within one folder is atomic, so a killed run never leaves half a file; after an
    error the target is unchanged. A link stays a link, and a file keeps its permissions.
    """
    target = target.resolve()
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    # tempfile makes files that only the user can read, which results should not be.
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    temporary.touch(exist_ok=False)
    try:
        if mode is not None:  # before there is anything to read
            temporary.chmod(mode | stat.S_IWUSR)
        yield temporary
        if mode is not None:
            temporary.chmod(mode)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def file_checksum(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content_checksum(*parts: Any) -> str:
    """Return the SHA-256 of arrays, sparse matrices, columns and single values, in this order.

    Numbers count by value, not by type: float32 data read from a table as float64 keep their
    checksum. Everything else counts as text.

    Examples
    --------
    >>> import numpy as np
    >>> from ctsne._core.files import content_checksum
    >>> content_checksum(np.float32([1, 2]), "batch") == content_checksum([1.0, 2.0], "batch")
    True
    """
    digest = hashlib.sha256()
    for part in parts:
        if hasattr(part, "tocsr"):  # sparse; the help of the command line does without SciPy
            matrix = part.tocsr()
            if not matrix.has_canonical_format or not np.all(matrix.data):
                matrix = matrix.copy()
                matrix.sum_duplicates()
                matrix.eliminate_zeros()
            digest.update(f"sparse {matrix.shape}".encode())
            arrays = [matrix.indptr, matrix.indices, matrix.data]
        else:
            arrays = [np.asarray(part)]
        for array in arrays:
            _add_array(array, digest)
    return digest.hexdigest()


def _add_array(array: Any, digest: hashlib._Hash) -> None:
    number = array.dtype.kind in "biuf"
    digest.update(f"{'number' if number else 'text'} {array.shape}".encode())
    rows = np.atleast_1d(array)
    step = max(1, _BLOCK // max(1, rows[:1].size))
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        if number:
            values = np.ascontiguousarray(block, np.float64) + 0.0  # -0 becomes 0
            digest.update(values.data)
        else:
            texts = "\0".join(map(label_text, block.ravel().tolist()))
            digest.update(f"{texts}\0".encode("utf-8", "surrogatepass"))
