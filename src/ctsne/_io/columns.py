"""Label columns: several as one, and a checksum that does not depend on the file's format."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np

from ctsne._core.checks import is_sparse
from ctsne._core.messages import label_text
from ctsne.labels import encode_labels

__all__ = ["content_checksum", "first_difference"]

# Rows that are made dense at a time for the checksum hold about this many numbers.
_BLOCK = 2**22


def first_difference(one: Any, other: Any) -> int | None:
    """Return the first row in which two columns have different labels; None if there is none.

    Labels are the same if their text is, or the number that it stands for in single precision: a
    column that went through a file of another kind is still the same.

    Examples
    --------
    >>> from ctsne._io.columns import first_difference
    >>> first_difference(["1.0", None, "b"], [1, None, "c"])
    2
    """
    first, second = encode_labels(one), encode_labels(other)
    width = second.n_labels + 1
    pairs = (first.codes + 1).astype(np.int64) * width + (second.codes + 1)
    found, rows = np.unique(pairs, return_index=True)
    names, others = (None, *first.names), (None, *second.names)
    different = [
        row
        for pair, row in zip(found.tolist(), rows.tolist(), strict=True)
        if not _alike(names[pair // width], others[pair % width])
    ]
    return min(different, default=None)


def _alike(one: object, other: object) -> bool:
    if one is None or other is None:
        return one is other
    if label_text(one) == label_text(other):
        return True
    try:
        return math.isclose(float(str(one)), float(str(other)), rel_tol=1e-6)
    except ValueError:
        return False


def content_checksum(X: Any, labels: Any = None) -> str:
    """Tell data and labels apart from all others, whatever file or type holds them.

    Numbers count in double precision, dense or sparse; labels as text, without the order of
    categories.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from ctsne._io.columns import content_checksum
    >>> X = np.array([[0.0, 0.1], [2.0, 0.0]])
    >>> content_checksum(X, [1.0, 2.0]) == content_checksum(csr_array(X), ["1", "2"])
    True
    """
    digest = hashlib.sha256(f"{X.shape[0]} {X.shape[1]}".encode())
    if is_sparse(X):
        X = X.tocsr()
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
    # What is hashed depends on the numbers alone, and is never much more than there are of them:
    # all numbers if most are not zero, else those that are not zero, with their places.
    nonzero = int(np.count_nonzero(X.data if is_sparse(X) else X))
    if 2 * nonzero > X.shape[0] * X.shape[1]:
        _add_all(X, digest)
    else:
        _add_nonzero(X, digest)
    if labels is not None:
        encoded = encode_labels(labels)
        texts = [label_text(name) for name in encoded.names]
        distinct = sorted(set(texts))
        rank = {text: code for code, text in enumerate(distinct)}
        lookup = np.array([*(rank[text] for text in texts), -1], np.int64)
        digest.update(np.ascontiguousarray(lookup[encoded.codes]).data)
        digest.update("\0".join(distinct).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _add_all(X: Any, digest: hashlib._Hash) -> None:
    step = max(1, _BLOCK // X.shape[1])
    for start in range(0, X.shape[0], step):
        block = X[start : start + step]
        dense = np.asarray(block.toarray() if is_sparse(block) else block, np.float64)
        digest.update(np.ascontiguousarray(dense + 0.0).data)  # -0 becomes 0


def _add_nonzero(X: Any, digest: hashlib._Hash) -> None:
    parts = [hashlib.sha256() for _ in range(3)]
    in_row = X.nnz // max(1, X.shape[0]) if is_sparse(X) else X.shape[1]
    step = max(1, _BLOCK // max(1, in_row))
    for start in range(0, X.shape[0], step):
        if is_sparse(X):
            ends = X.indptr[start : start + step + 1]
            rows = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
            columns, values = (array[ends[0] : ends[-1]] for array in (X.indices, X.data))
            kept = values != 0
            rows, columns, values = rows[kept], columns[kept], values[kept]
        else:
            block = np.asarray(X[start : start + step])
            rows, columns = np.nonzero(block)
            values = block[rows, columns]
        arrays = ((rows + start, np.int64), (columns, np.int64), (values, np.float64))
        for part, (array, dtype) in zip(parts, arrays, strict=True):
            part.update(np.ascontiguousarray(array, dtype).data)
    for part in parts:
        digest.update(part.digest())
