"""The labels of a sweep in its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.messages import label_text
from ctsne.labels import Column
from ctsne.sweep.result import SweepResult, SweptMap
from ctsne.sweep.stored import require

_PLAIN = (str, bool, int, float)


def packed_columns(result: SweepResult, arrays: dict[str, Any]) -> dict[str, Any]:
    """Return the labels of a sweep as JSON can hold them, and add their codes to the arrays."""
    columns = []
    for number, (name, labels) in enumerate(result.columns.items()):
        codes = labels.codes.astype(np.min_scalar_type(-max(1, labels.n_labels)))
        arrays[f"column-{number}"] = codes
        texts = [each if type(each) in _PLAIN else label_text(each) for each in labels.names]
        columns.append({"name": name, "labels": texts})
    return {"columns": columns, "known": list(result.known), "other": result.other}


def read_columns(
    content: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], maps: Sequence[SweptMap]
) -> dict[str, Any]:
    """Return the labels of a stored sweep; none if it was stored without them."""
    columns: dict[str, Column] = {}
    lengths = {len(each.embedding) for each in maps if each.embedding is not None}
    for number, entry in enumerate(content.get("columns", ())):
        name, names, codes = entry["name"], entry["labels"], arrays[f"column-{number}"]
        fits = isinstance(names, list) and all(type(each) in _PLAIN for each in names)
        require(isinstance(name, str) and fits, "labels", "be text or numbers, with a name")
        whole = codes.dtype.kind == "i" and codes.ndim == 1 and lengths <= {len(codes)}
        inside = whole and bool(((codes >= -1) & (codes < len(names))).all())
        require(inside, "codes of labels", f"be one whole number below {len(names)} per point")
        counts = np.bincount(codes[codes >= 0], minlength=len(names)).astype(np.int64)
        columns[name] = Column(codes.astype(np.int32), tuple(names), counts)
    known, other = content.get("known", []), content.get("other")
    require(isinstance(known, list), "known labels", "be a list")
    named = all(isinstance(name, str) and name in columns for name in known)
    there = other is None or (isinstance(other, str) and other in columns)
    require(named and there, "known and other labels", "be among its columns")
    return {"columns": columns, "known": tuple(known), "other": other}
