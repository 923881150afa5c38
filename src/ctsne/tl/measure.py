"""Measured maps of an AnnData object: one that it holds, or those of many settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from ctsne._core.vocabulary import FEATURE_METRICS, MEASURED_POINTS, NEIGHBORHOOD
from ctsne.estimator import ConditionalTSNE
from ctsne.evaluate import evaluate as evaluate_arrays
from ctsne.io.anndata import columns_of, find_entry, labels_of, map_name, map_of
from ctsne.sweep import SweepResult
from ctsne.sweep import sweep as sweep_arrays
from ctsne.sweep.grid import Grid
from ctsne.tl.fields import check_adata, find_alignment, find_features, warn_of_counts

if TYPE_CHECKING:
    import pandas as pd
    from anndata import AnnData


def evaluate(
    adata: AnnData,
    labels: object = None,
    *,
    other: object = None,
    basis: str = "ctsne",
    use_rep: str | None = None,
    n_pcs: int | None = None,
    layer: str | None = None,
    metric: str | None = None,
    k: int = NEIGHBORHOOD,
    sample: float | None = MEASURED_POINTS,
    random_state: int | None = 0,
    n_jobs: int = -1,
) -> pd.DataFrame:
    """Measure a map: which neighbours of the data it keeps, and how it mixes labels.

    Maps of other tools can be measured too: ``basis="umap"``. ``adata`` is not changed.

    Parameters
    ----------
    adata : AnnData
    labels, other : str, list of str or array-like of length n_obs, optional
        The label that was factored out, which neighbourhoods are adjusted for, and the label to
        look for in the map: a column of ``adata.obs``, several, or the labels themselves. The
        mixing of each of several ``labels`` is measured, besides that of their combination. By
        default ``labels`` are the columns that a map of :func:`ctsne.tl.ctsne` was made with.
    basis : str, default="ctsne"
        The map in ``adata.obsm``, with or without ``"X_"``.
    use_rep, n_pcs, layer, metric : optional
        The data to compare with, as in :func:`ctsne.tl.ctsne`. By default those that a map of
        ctsne was made of; for other maps, the default of :func:`ctsne.tl.ctsne`.
    k, sample, random_state, n_jobs
        As in :func:`ctsne.evaluate.evaluate`.

    Returns
    -------
    pandas.DataFrame
        One row per measure, as in :func:`ctsne.evaluate.evaluate`.

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
    if labels is None:
        names = [str(name) for name in np.ravel(_params(adata, map_name(basis)).get("labels", []))]
        labels = names if names and set(names) <= set(adata.obs) else None
    known, (hidden,) = labels_of(adata, labels), columns_of(adata, other=other)
    data, made_with = _compared_with(adata, basis, use_rep, n_pcs, layer)
    if metric is not None:
        made_with["metric"] = metric
    return evaluate_arrays(
        embedding,
        data,
        known,
        other=hidden,
        k=k,
        sample=sample,
        random_state=random_state,
        n_jobs=n_jobs,
        **made_with,
    )


def _compared_with(
    adata: Any, basis: str, use_rep: str | None, n_pcs: int | None, layer: str | None
) -> tuple[Any, dict[str, Any]]:
    """Return the data to compare a map with, and the metric, components and alignment it has."""
    params = _params(adata, map_name(basis))
    if "neighbors_key" in params:  # compare with the features that the graph was made of
        params = _params(adata, params["neighbors_key"])
    metric, align = params.get("metric"), params.get("align", "none")
    made_with = {
        "metric": metric if metric in FEATURE_METRICS else "euclidean",
        "align": "none" if align == "array" else find_alignment(adata, align),
    }
    if use_rep is not None or n_pcs is not None or layer is not None:
        source = find_features(adata, use_rep, n_pcs, layer)
        return source.matrix, {**made_with, "pca": source.pca}
    if params.get("highly_variable"):  # even if components have been added since
        adata = SimpleNamespace(obsm={}, X=adata.X, var=adata.var)
    elif params.get("use_rep") == "X" or params.get("use_rep") in adata.obsm:
        use_rep, n_pcs = params["use_rep"], params.get("n_pcs")
    source = find_features(adata, use_rep, n_pcs, params.get("layer"))
    pca = params.get("pca", source.pca)
    return source.matrix, {**made_with, "pca": None if pca == "none" else pca}


def _params(adata: Any, key: str) -> Mapping[str, Any]:
    entry = adata.uns.get(find_entry(adata.uns, key) or key)
    params = entry.get("params") if isinstance(entry, Mapping) else None
    return params if isinstance(params, Mapping) else {}


def sweep(
    adata: AnnData,
    labels: object,
    grid: Grid | None = None,
    *,
    other: object = None,
    use_rep: str | None = None,
    n_pcs: int | None = None,
    layer: str | None = None,
    estimator: ConditionalTSNE | None = None,
    path: bool = False,
    k: int | None = None,
    sample: float | None = MEASURED_POINTS,
    folder: str | os.PathLike[str] | None = None,
    progress: bool = True,
    n_jobs: int | None = -1,
) -> SweepResult:
    """Make and measure the maps of many settings with one neighbour search.

    ``adata`` is not changed. Pass the chosen setting to :func:`ctsne.tl.ctsne`, with the other
    parameters of the estimator, or store its map: ``adata.obsm["X_ctsne"] = best.embedding``.

    Parameters
    ----------
    adata : AnnData
    labels, other : str, list of str or array-like of length n_obs
        The label to factor out and, optional, the label to look for in the maps, as in
        :func:`ctsne.tl.evaluate`.
    grid : mapping or list of mappings, optional
        Parameters of :class:`ctsne.ConditionalTSNE` and their values, as in
        :func:`ctsne.sweep.sweep`; by default t-SNE, ``"joint"`` and the paper's ``"revised"``.
    use_rep, n_pcs, layer
        The features, as in :func:`ctsne.tl.ctsne`.
    estimator, path, k, sample, folder, progress, n_jobs
        As in :func:`ctsne.sweep.sweep`.

    Returns
    -------
    SweepResult

    Examples
    --------
    >>> import anndata
    >>> from ctsne import ConditionalTSNE, tl
    >>> from ctsne.datasets import make_synthetic
    >>> data = make_synthetic(300, random_state=0)
    >>> adata = anndata.AnnData(data.X)
    >>> adata.obs["batch"] = data.known
    >>> result = tl.sweep(
    ...     adata, "batch", {"method": "joint", "strength": [0, 1]}, progress=False,
    ...     estimator=ConditionalTSNE(perplexity=20, n_iter=300, random_state=0),
    ... )
    >>> best = result.best(mixing=0.5)
    >>> tl.ctsne(adata, "batch", perplexity=20, n_iter=300, **best.parameters)
    """
    check_adata(adata)
    known, (hidden,) = labels_of(adata, labels), columns_of(adata, other=other)
    source = find_features(adata, use_rep, n_pcs, layer)
    warn_of_counts(source)
    if n_pcs is not None:
        estimator = clone(ConditionalTSNE(random_state=0) if estimator is None else estimator)
        estimator.set_params(pca=source.pca)
    return sweep_arrays(
        source.matrix,
        known,
        grid,
        other=hidden,
        estimator=estimator,
        path=path,
        k=k,
        sample=sample,
        folder=folder,
        progress=progress,
        n_jobs=n_jobs,
    )
