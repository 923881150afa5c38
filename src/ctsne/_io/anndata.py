"""What tools and pictures take from an AnnData object: label columns, maps and colours.

Nothing is imported for it: who has such an object has anndata.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ctsne._core.checks import check_same_rows
from ctsne._core.messages import unknown
from ctsne.labels import JOINT, combine_columns

__all__ = ["category_colors", "column_of", "columns_of", "is_anndata", "map_of"]


def is_anndata(data: Any) -> bool:
    """Whether this is an AnnData object, or one that has the same parts."""
    return hasattr(data, "obsm") and hasattr(data, "obs")


def column_of(adata: Any, column: Any, *, argument: str) -> Any:
    """Return a label column: named, several as one, or an array with an entry for each point.

    A column that was named keeps its name; that of several is their names joined.
    """
    if isinstance(column, str):
        return _obs_column(adata, column, argument)
    names = _names(adata, column)
    if names is None:
        check_same_rows(adata.obs, column, argument=argument)
        return column
    columns = [_obs_column(adata, name, argument) for name in names]
    if len(columns) == 1:
        return columns[0]
    text = combine_columns(columns)
    return type(columns[0])(text, index=adata.obs.index, name=JOINT.join(names))


def columns_of(adata: Any, **columns: Any) -> list[Any]:
    """Return the column of each argument; None stays None."""
    return [
        None if column is None else column_of(adata, column, argument=argument)
        for argument, column in columns.items()
    ]


def map_of(adata: Any, basis: object) -> Any:
    """Return the map of a name: ``obsm[basis]``, or ``obsm["X_" + basis]`` as in scanpy."""
    if not isinstance(basis, str):
        raise TypeError(
            f"basis must be the name of a map in adata.obsm, got {basis!r:.60}; for example "
            '"ctsne" or "umap"'
        )
    for key in (basis, f"X_{basis}"):
        if key in adata.obsm:
            return adata.obsm[key]
    message = unknown(basis, list(adata.obsm), what="map", where="adata.obsm")
    how = '; ctsne.tl.ctsne(adata, "batch") makes one' if basis == "ctsne" else ""
    raise ValueError(f"basis: {message}{how}")


def category_colors(adata: Any, column: Any) -> dict[Any, str] | None:
    """Return the colours that scanpy has given the categories of a column, if it has."""
    names = [column] if isinstance(column, str) else _names(adata, column) or []
    if len(names) != 1 or f"{names[0]}_colors" not in adata.uns:
        return None
    (name,) = names
    # The column may be gone, or have no categories any more: its colours stay behind.
    categories = getattr(getattr(adata.obs.get(name), "cat", None), "categories", ())
    colors = list(adata.uns[f"{name}_colors"])
    # As in scanpy: colours of another number of categories are of another time.
    if not colors or len(colors) != len(categories):
        return None
    return dict(zip(categories, colors, strict=True))


def _names(adata: Any, column: Any) -> Sequence[str] | None:
    """Return names of columns; None for what are labels."""
    if not isinstance(column, list | tuple) or not column:
        return None
    if not all(isinstance(name, str) for name in column):
        return None
    # A list of texts may also be the labels themselves, one for each point.
    if len(column) == adata.n_obs and not all(name in adata.obs for name in column):
        return None
    return column


def _obs_column(adata: Any, name: str, argument: str) -> Any:
    if name not in adata.obs:
        columns = [str(column) for column in adata.obs.columns]
        raise ValueError(f"{argument}: {unknown(name, columns, what='column', where='adata.obs')}")
    return adata.obs[name]
