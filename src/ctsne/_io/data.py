"""Any file of data as one thing: a matrix, and the columns that describe its rows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.messages import unknown
from ctsne._io.arrays import array_parts
from ctsne._io.columns import content_checksum
from ctsne._io.h5ad import h5ad_parts
from ctsne._io.label_files import read_label_file
from ctsne._io.paths import TABLE_SUFFIXES, check_input, file_sha256, suffix_of
from ctsne._io.tables import table_parts
from ctsne.labels import combine_columns

__all__ = ["Dataset", "read_data"]


@dataclass(frozen=True, eq=False)
class Dataset:
    r"""Data as they were read from a file.

    Parameters
    ----------
    X : ndarray or sparse matrix, shape (n, d)
        What the map is made of; finite numbers.
    features : tuple of str
        Names of its columns.
    columns : dict
        Every column that is not a feature, by name: arrays or pandas columns of length n, missing
        entries kept.
    names : ndarray of str or None
        Names of the rows, if the file has them.
    source : str
        In words, what the matrix was taken from.
    notes : tuple of str
        What a user should be told: columns left out, and why.
    path : Path
        The file.
    sha256 : str
        Checksum of its bytes.
    label_path, label_sha256 : optional
        The file of labels, if there is one.
    warnings : tuple of str
        What may not be as the user thinks: features that were hardly meant, or are missing.
    called : str, optional
        What the file calls the names of the rows.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from ctsne._io import read_data
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "cells.csv")
    ...     _ = path.write_text("PC1,PC2,batch,sex\n1,2,a,f\n3,4,b,m\n5,6,a,f\n")
    ...     data = read_data(path, labels=["batch"])
    >>> data.X.shape, data.features, data.source
    ((3, 2), ('PC1', 'PC2'), '2 numeric columns')
    >>> data.labels(["batch", "sex"]).tolist()
    ['a | f', 'b | m', 'a | f']
    """

    X: Any
    features: tuple[str, ...]
    columns: dict[str, Any]
    names: NDArray[np.str_] | None
    source: str
    notes: tuple[str, ...]
    path: Path
    sha256: str
    label_path: Path | None = None
    label_sha256: str | None = None
    warnings: tuple[str, ...] = ()
    called: str | None = None

    def labels(self, names: Sequence[str]) -> Any:
        """Return a label column, or the combination of several.

        Parameters
        ----------
        names : sequence of str
            One name or more.

        Returns
        -------
        array or pandas column, length n
            One column as it is. Of several, text such as ``"a | f"``; missing (None) where one of
            them is missing.

        Raises
        ------
        ValueError
            If there is no such column, with the one that may have been meant.
        """
        if isinstance(names, str):
            names = [names]
        if not names:
            raise ValueError("name at least one label column")
        for name in names:
            if name not in self.columns:
                raise ValueError(self._no_column(name))
        if len(names) == 1:
            return self.columns[names[0]]
        return combine_columns([self.columns[name] for name in names])

    def checksum(self, names: Sequence[str] = ()) -> str:
        """Return a checksum of matrix and labels, the same whatever file format holds them."""
        return content_checksum(self.X, self.labels(names) if names else None)

    def take(self, rows: NDArray[np.int64]) -> Dataset:
        """Return some of the points.

        Parameters
        ----------
        rows : ndarray of int

        Returns
        -------
        Dataset
        """
        return replace(
            self,
            X=self.X[rows],
            columns={name: take_rows(column, rows) for name, column in self.columns.items()},
            names=None if self.names is None else self.names[rows],
        )

    def _no_column(self, name: str) -> str:
        if name in self.features:
            return (
                f"{name!r:.60} in {self.path} is a feature, so not a label; to factor it out, "
                "name it with --labels"
            )
        return unknown(name, list(self.columns), what="column", where=str(self.path))


def take_rows(column: Any, rows: NDArray[np.int64]) -> Any:
    """Return some entries of a column, of pandas or not."""
    return column.iloc[rows] if hasattr(column, "iloc") else column[rows]


def read_data(
    path: str | os.PathLike[str],
    *,
    labels: Sequence[str] = (),
    label_file: str | os.PathLike[str] | None = None,
    use_rep: str | None = None,
    layer: str | None = None,
    features: Sequence[str] | None = None,
) -> Dataset:
    """Read data from a file, whatever its format.

    In a table (.csv, .tsv, both with .gz, .parquet, .feather) numeric columns that are not labels
    are the features. An .npz holds them as ``X``, with an array for each column beside it; an .npy
    is the matrix alone. Of an .h5ad, ``obsm["X_pca"]`` is taken if it is there, else ``X``.

    Parameters
    ----------
    path : path
        The file; the end of its name tells its format.
    labels : sequence of str
        Columns that are labels, even if they hold numbers.
    label_file : path, optional
        A table or NumPy file with more columns for the same points. Joined by row names, or by a
        column of the same name that tells the points apart, if both files have them, else by
        order. A column of both must be the same in both.
    use_rep : str, optional
        For .h5ad: a key of ``obsm``, or ``"X"``.
    layer : str, optional
        For .h5ad: a layer.
    features : sequence of str, optional
        Names of the columns to use; ``*`` and ``?`` stand for any text: ``["PC*"]``.

    Returns
    -------
    Dataset
        Matrix and columns.

    Raises
    ------
    ValueError
        If the file is not there, cannot be read or does not hold what was asked for.
    ImportError
        If its format needs a package that is not installed.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from ctsne._io import read_data
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/cells.npz", X=np.eye(3), batch=np.array(["a", "b", "a"]))
    ...     data = read_data(f"{folder}/cells.npz", labels=["batch"])
    >>> data.labels(["batch"]).tolist()
    ['a', 'b', 'a']
    """
    source = check_input(path)
    suffix = suffix_of(source)
    if suffix != ".h5ad" and (use_rep is not None or layer is not None):
        raise ValueError(f"--use-rep and --layer are for .h5ad files; {source} is none")
    # Before the content: a file that is replaced meanwhile must not pass for what was read.
    sha256 = file_sha256(source)
    extra = None if label_file is None else read_label_file(label_file, labels=labels)
    known: dict[str, Any] = {
        "labels": labels,
        "elsewhere": () if extra is None else tuple(extra.columns),
        "features": features,
    }
    if suffix in TABLE_SUFFIXES:
        parts = table_parts(source, **known)
    elif suffix == ".h5ad":
        parts = h5ad_parts(source, use_rep=use_rep, layer=layer, **known)
    else:
        parts = array_parts(source, **known)
    if extra is not None:
        parts = extra.joined_to(parts, source)
    return Dataset(
        parts.X,
        parts.features,
        parts.columns,
        parts.names,
        parts.source,
        parts.notes,
        source,
        sha256,
        None if extra is None else extra.path,
        None if extra is None else extra.sha256,
        parts.warnings,
        parts.called,
    )
