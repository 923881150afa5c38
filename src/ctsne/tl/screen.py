"""Which column of an AnnData object to factor out."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ctsne.evaluate.screen import screen as screen_arrays
from ctsne.io.anndata import obs_columns
from ctsne.io.tables import candidates
from ctsne.tl.fields import check_adata, find_features

if TYPE_CHECKING:
    import pandas as pd
    from anndata import AnnData


def screen(
    adata: AnnData,
    *,
    use_rep: str | None = None,
    n_pcs: int | None = None,
    layer: str | None = None,
    metric: str = "euclidean",
    n_jobs: int = -1,
) -> pd.DataFrame:
    """Rank the columns of ``adata.obs`` that could be labels, and propose one to factor out.

    The proposal is logged. ``adata`` is not changed.

    Parameters
    ----------
    adata : AnnData
    use_rep, n_pcs, layer, metric, n_jobs
        As in :func:`ctsne.tl.ctsne`.

    Returns
    -------
    pandas.DataFrame
        One row per column: number of ``values`` and of ``missing`` ones, ``mixing`` among the
        nearest neighbours in the data (the smallest first; 1 is random), the ``kind`` that the
        name suggests, and a ``note``. ``attrs`` has the ``proposal`` (None if no column
        dominates), the ``advice`` in words, and ``relations`` such as nested columns.

    Examples
    --------
    >>> import anndata
    >>> from ctsne.datasets import make_synthetic
    >>> from ctsne.tl import screen
    >>> data = make_synthetic(300, random_state=0)
    >>> adata = anndata.AnnData(data.X)
    >>> adata.obs["batch"], adata.obs["cell_type"] = data.known, data.hidden
    >>> table = screen(adata)
    >>> table.attrs["proposal"], table.loc["cell_type", "kind"]
    ('batch', 'analysis')
    """
    import pandas as pd

    check_adata(adata)
    features = find_features(adata, use_rep, n_pcs, layer)
    columns = candidates(obs_columns(adata.obs))
    found = screen_arrays(features.matrix, columns, metric=metric, pca=features.pca, n_jobs=n_jobs)
    names = ["name", "values", "missing", "mixing", "kind", "note"]
    table = pd.DataFrame(map(vars, found.columns), columns=names).set_index("name")
    relations = [str(relation) for relation in found.relations]
    table.attrs = {"proposal": found.proposal, "advice": found.advice, "relations": relations}
    for text in (*relations, found.advice):
        logging.getLogger("ctsne").info(text)
    return table
