"""The measures of a map in an AnnData object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ctsne._core.checks import check_jobs, is_sparse
from ctsne._core.components import reduced_features
from ctsne._io.anndata import column_of, map_of
from ctsne.evaluate import evaluate as evaluate_arrays
from ctsne.tl._representation import check_adata, choose_representation

if TYPE_CHECKING:
    import pandas as pd
    from anndata import AnnData

__all__ = ["evaluate"]


def evaluate(
    adata: AnnData,
    labels: object = None,
    *,
    other: object = None,
    basis: str = "ctsne",
    use_rep: str | None = None,
    n_pcs: int | None = None,
    k: int = 30,
    sample: float | None = None,
    random_state: int | None = 0,
    n_jobs: int = -1,
) -> pd.DataFrame:
    """Measure a map: what it keeps of the data, and how it mixes labels.

    Any map can be measured, so that maps of other tools stand beside ours: ``basis="umap"``.
    ``adata`` is not changed.

    Parameters
    ----------
    adata : AnnData
    labels : str, list of str or array-like of length n_obs, optional
        The label that was factored out, and that neighbourhoods are adjusted for: a column of
        ``adata.obs``, the combination of several, or the labels themselves.
    other : str, list of str or array-like of length n_obs, optional
        The label that should be seen in the map.
    basis : str, default="ctsne"
        The map: ``adata.obsm[basis]``, or ``adata.obsm["X_" + basis]``.
    use_rep, n_pcs : optional
        What the map is compared with, as in :func:`ctsne.tl.ctsne`. By default what it was made of,
        if it is a map of ours, else what such a map would be made of.
    k, sample, random_state, n_jobs
        As in :func:`ctsne.evaluate.evaluate`.

    Returns
    -------
    pandas.DataFrame
        One row for each measure, as in :func:`ctsne.evaluate.evaluate`; labels have the names of
        their columns.

    Examples
    --------
    >>> import anndata
    >>> from ctsne.datasets import make_synthetic
    >>> from ctsne.tl import ctsne, evaluate
    >>> data = make_synthetic(300, random_state=0)
    >>> adata = anndata.AnnData(data.X)
    >>> adata.obs["batch"], adata.obs["type"] = data.known, data.hidden
    >>> ctsne(adata, "batch", method="joint", perplexity=20, n_iter=300)
    >>> table = evaluate(adata, "batch", other="type")
    >>> sorted(set(table["label"].dropna()))
    ['batch', 'type']
    """
    check_adata(adata)
    embedding = map_of(adata, basis)
    known = None if labels is None else column_of(adata, labels, argument="labels")
    hidden = None if other is None else column_of(adata, other, argument="other")
    if use_rep is None and n_pcs is None:
        use_rep, n_pcs = _made_of(adata, basis)
    matrix = choose_representation(adata, use_rep, n_pcs).matrix
    if is_sparse(matrix):  # as the estimator has it
        matrix = reduced_features(matrix, metric="euclidean", n_jobs=check_jobs(n_jobs))
    return evaluate_arrays(
        embedding,
        matrix,
        known,
        other=hidden,
        k=k,
        sample=sample,
        random_state=random_state,
        n_jobs=n_jobs,
    )


def _made_of(adata: Any, basis: str) -> tuple[str | None, int | None]:
    """Return representation and number of its columns that a map was made of, where it says so."""
    params = _params(adata, basis)
    if "neighbors_key" in params:  # the graph may say what it was made of
        params = _params(adata, params["neighbors_key"])
    use_rep, n_pcs = params.get("use_rep"), params.get("n_pcs")
    if use_rep != "X" and use_rep not in adata.obsm:
        return None, None
    return use_rep, None if n_pcs is None else int(n_pcs)


def _params(adata: Any, key: str) -> Mapping[str, Any]:
    entry = adata.uns.get(key)
    params = entry.get("params") if isinstance(entry, Mapping) else None
    return params if isinstance(params, Mapping) else {}
