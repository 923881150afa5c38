"""NumPy archives (.npz) of columns: any name, categories in their order, no pickle, fixed bytes."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._files import replaced_file
from ctsne.io.arrays import label_array, read_arrays
from ctsne.io.columns import label_text
from ctsne.io.paths import load
from ctsne.labels import encode_labels

__all__ = ["column_arrays", "columns_from", "read_columns", "write_archive", "write_columns"]

# Names that are taken; a column of such a name has its own folder in the archive.
_TAKEN = ("X", "categories", "columns", "embedding", "features", "names", "provenance")


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
    >>> from ctsne.io import read_columns, write_columns
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
    if "columns" not in arrays:
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
    arrays: dict[str, NDArray[Any]] = {"columns": np.array(list(columns), str)}
    if names is not None:
        arrays["names"] = np.asarray(names, str)
    for name, column in columns.items():
        arrays[_place(name)] = _plain_array(column)
        if hasattr(column, "cat"):
            categories = [label_text(value) for value in column.cat.categories.tolist()]
            arrays[f"categories/{name}"] = np.array(categories, str)
    return arrays


def columns_from(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the columns that `column_arrays` took apart."""
    columns: dict[str, Any] = {}
    for name in arrays["columns"].tolist():
        column = label_array(arrays[_place(name)])
        categories = arrays.get(f"categories/{name}")
        if categories is not None:
            pandas = load("pandas")
            column = pandas.Series(pandas.Categorical(column, categories=categories.tolist()))
        columns[name] = column
    return columns


def _place(name: str) -> str:
    return f"columns/{name}" if name in _TAKEN or "/" in name else name


def _plain_array(column: Any) -> NDArray[Any]:
    """Return numbers, dates or text; of missing entries, NaN or empty text."""
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "biufUmM":
        return np.asarray(column)
    if getattr(dtype, "kind", "O") in "iuf" and not hasattr(column, "cat"):  # with gaps, of pandas
        return np.asarray(column.to_numpy(np.float64, na_value=np.nan))
    labels = encode_labels(column)
    texts = np.array([*map(label_text, labels.names), ""], str)
    return np.asarray(texts[labels.codes])
