"""Selections of a page as a column of an AnnData object."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ctsne._core.messages import shown
from ctsne.io.paths import TEXT_SUFFIXES, check_input
from ctsne.io.selections import POINT, SELECTION, is_selection, selection_of
from ctsne.io.tables import read_frame
from ctsne.tl import fields

if TYPE_CHECKING:
    from anndata import AnnData


def read_selection(
    adata: AnnData, path: str | os.PathLike[str], *, key: str = "selection", copy: bool = False
) -> AnnData | None:
    r"""Put selections that were saved on a page into ``adata.obs``.

    On the page of :func:`ctsne.report.write_report`, *Save csv* writes them. Cells are found by
    their names, which the page must have been given: ``names=adata.obs_names``. Without, the rows
    count. Cells of no selection are missing.

    Parameters
    ----------
    adata : AnnData
    path : path-like
        The csv file. Names of cells that ``adata`` does not have, or that repeat, are refused.
    key : str, default="selection"
        The column, replaced if it exists.
    copy : bool, default=False
        Return a copy instead of changing ``adata``.

    Returns
    -------
    AnnData or None
        The copy if ``copy=True``, else None. ``obs[key]`` is categorical.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from ctsne.tl import read_selection
    >>> adata = anndata.AnnData(np.eye(3, dtype="float32"))
    >>> with open("selected-points.csv", "w") as file:
    ...     _ = file.write("row,name,selection,map_1,map_2\n2,2,odd ones,0.1,0.2\n")
    >>> read_selection(adata, "selected-points.csv")
    >>> adata.obs["selection"].tolist()
    [nan, nan, 'odd ones']
    """
    import pandas as pd

    fields.check_adata(adata)
    if not isinstance(key, str) or not key:
        raise TypeError(f"key must be the name of a column, got {shown(key)}")
    source = check_input(path, TEXT_SUFFIXES)
    table = read_frame(source, as_text=(POINT, SELECTION))
    if not is_selection(table.columns):
        raise ValueError(f"{source} was not saved by a page: it needs a column {SELECTION!r}")
    values = selection_of(table, adata.obs_names, adata.n_obs, source, "adata.obs_names")
    target = adata.copy() if copy else adata
    names = list(dict.fromkeys(table[SELECTION]))
    target.obs[key] = pd.Categorical(values, categories=names)
    return target if copy else None
