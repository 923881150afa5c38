"""Many maps of an AnnData object, and the choice of one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ctsne._io.anndata import column_of
from ctsne.evaluate.sampling import MEASURED_POINTS
from ctsne.sweep import SweepResult
from ctsne.sweep import sweep as sweep_arrays
from ctsne.sweep.grid import Grid
from ctsne.tl._representation import check_adata, check_writable, choose_representation

if TYPE_CHECKING:
    from anndata import AnnData

    from ctsne.estimator import ConditionalTSNE

__all__ = ["sweep"]


def sweep(
    adata: AnnData,
    labels: object,
    grid: Grid | None = None,
    *,
    other: object = None,
    use_rep: str | None = None,
    n_pcs: int | None = None,
    estimator: ConditionalTSNE | None = None,
    path: bool = False,
    k: int | None = None,
    sample: float | None = MEASURED_POINTS,
    folder: str | os.PathLike[str] | None = None,
    progress: bool = True,
    n_jobs: int | None = -1,
) -> SweepResult:
    """Compute and measure the maps of many settings on one search of neighbours.

    Nothing is written into ``adata``, except principal components where they had to be made. The
    setting you choose goes on to :func:`ctsne.tl.ctsne`, with what the sweep's estimator had of its
    own; or keep the map as it is: ``adata.obsm["chosen"] = result.best().embedding``.

    Parameters
    ----------
    adata : AnnData
    labels : str, list of str or array-like of length n_obs
        What to factor out: a column of ``adata.obs``, the combination of several, or the labels
        themselves.
    grid : mapping or list of mappings, optional
        Parameters of :class:`ctsne.ConditionalTSNE` and their values, as in
        :func:`ctsne.sweep.sweep`; by default t-SNE, ``"joint"`` and the paper's ``"revised"``.
    other : str, list of str or array-like of length n_obs, optional
        The label that should be seen in the maps, to be measured too.
    use_rep, n_pcs : optional
        What the maps are made of, as in :func:`ctsne.tl.ctsne`.
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
    known = column_of(adata, labels, argument="labels")
    hidden = None if other is None else column_of(adata, other, argument="other")
    # New components are kept, which must not fail after all the work.
    instead = "name with use_rep what the maps are made of"
    source = choose_representation(
        adata, use_rep, n_pcs, check=lambda _: check_writable(adata, instead=instead)
    )
    result = sweep_arrays(
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
    source.store_components(adata)
    return result
