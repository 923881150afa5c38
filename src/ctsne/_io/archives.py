"""NumPy archives (.npz) of columns: any name, categories in their order, no pickle, fixed bytes.

Numbers and dates are arrays as they are, and so is text, empty where it is missing; the order of
categories is in ``NAME/labels``, as JSON. An array of text is as wide in every row as its longest
entry: where one is very long, and of categories that are numbers, there are codes instead (-1 where
they are missing), which count ``NAME/labels``.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.files import replaced_file
from ctsne._core.messages import label_text
from ctsne._io.arrays import columns_from, is_ours, place_of, read_arrays
from ctsne.labels import encode_labels

# Text up to this many characters stands as it is.
_LONGEST_TEXT = 200

__all__ = ["column_arrays", "read_columns", "write_archive", "write_columns"]


def write_columns(
    path: Path, columns: Mapping[str, Any], *, names: NDArray[np.str_] | None = None
) -> None:
    """Write columns, and the names of the rows, to an .npz.

    Parameters
    ----------
    path : Path
        The file.
    columns : mapping of str to array or pandas column
        Missing entries are kept, and the order of categories.
    names : ndarray of str, optional
        Names of the rows.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ctsne._io import read_columns, write_columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "columns.npz")
    ...     write_columns(path, {"batch": ["a", None, "b"]})
    ...     columns, names = read_columns(path)
    >>> columns["batch"].tolist()
    ['a', None, 'b']
    """
    write_archive(path, column_arrays(columns, names))


def read_columns(path: Path) -> tuple[dict[str, Any], NDArray[np.str_] | None]:
    """Read what `write_columns` wrote.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    columns : dict
        The columns by name.
    names : ndarray of str or None
        The names of the rows.

    Raises
    ------
    ValueError
        If the file cannot be read or was not written by `write_columns`, whose example shows both.
    """
    arrays, _ = read_arrays(path)
    if not is_ours(arrays):
        raise ValueError(f"{path} was not written by ctsne: it does not say what its columns are")
    return columns_from(arrays), arrays.get("names")


def write_archive(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays as NumPy does, but with names that may be anything."""
    with (
        replaced_file(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name, array in arrays.items():
            # A name alone has a fixed date, so equal arrays give equal bytes.
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)


def column_arrays(
    columns: Mapping[str, Any], names: NDArray[np.str_] | None
) -> dict[str, NDArray[Any]]:
    """Return columns as arrays without objects, and what is needed to make columns of them."""
    kinds = []
    stored: dict[str, NDArray[Any]] = {}
    for number, (name, column) in enumerate(columns.items()):
        place = place_of(name, number)
        values = _plain_array(column)
        if values is not None:
            kinds.append("values")
            stored[place] = values
            continue
        kinds.append("categories" if hasattr(column, "cat") else "text")
        codes, labels = _encoded(column)
        stored[place] = codes
        stored[f"{place}/labels"] = np.array(json.dumps(labels))
        if all(isinstance(label, str) and len(label) <= _LONGEST_TEXT for label in labels):
            stored[place] = np.array([*labels, ""], str)[codes]
    arrays = {"columns": np.array(list(columns), str), "kinds": np.array(kinds, str)}
    if names is not None:
        arrays["names"] = np.asarray(names, str)
    return arrays | stored


def _plain_array(column: Any) -> NDArray[Any] | None:
    """Return numbers or dates, NaN where they are missing; None if the column holds others."""
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "biufmM":
        return np.asarray(column)
    if getattr(dtype, "kind", "O") in "iuf" and not hasattr(column, "cat"):  # with gaps, of pandas
        return np.asarray(column.to_numpy(np.float64, na_value=np.nan))
    return None


def _encoded(column: Any) -> tuple[NDArray[np.int32], list[Any]]:
    """Return codes, and what they stand for; empty text is missing."""
    if hasattr(column, "cat"):
        codes, known = column.cat.codes.to_numpy(), column.cat.categories
        if known.dtype.kind in "biuf":
            return codes.astype(np.int32), known.tolist()
        values = known.tolist()
    else:
        labels = encode_labels(column)
        codes, values = labels.codes, labels.names
    texts = [label_text(value) for value in values]
    distinct = [text for text in dict.fromkeys(texts) if text]
    rank = {text: code for code, text in enumerate(distinct)} | {"": -1}
    lookup = np.array([*(rank[text] for text in texts), -1], np.int32)
    return lookup[codes], distinct
