"""Principal components of the paper's two real datasets (Heiter et al. 2023, section 4).

Variable genes, normalisation, standardisation, 50 components, with details from the authors'
published scripts. Their pancreas components come from Seurat in R; scanpy's `scale` also cuts off
at -10, which no gene with many zeros reaches.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scanpy as sc
from anndata import AnnData
from numpy.typing import NDArray

N_TOP_GENES, N_COMPS = 2000, 50


def pancreas_components(
    adata: Any, *, n_top_genes: int = N_TOP_GENES, n_comps: int = N_COMPS
) -> NDArray[np.float32]:
    """Reduce the counts of Seurat's ``panc8`` with Seurat's defaults.

    Variable genes by the variance of counts around its trend; counts per 10,000, log(1 + x); each
    gene scaled to mean 0 and variance 1 over all cells and cut off at 10. Some protocols of
    ``panc8`` have fractional counts.
    """
    data = AnnData(adata.X.astype(np.float32))
    sc.pp.highly_variable_genes(
        data, flavor="seurat_v3", n_top_genes=n_top_genes, check_values=False
    )
    sc.pp.normalize_total(data, target_sum=1e4)
    sc.pp.log1p(data)
    return _components(sc.pp.scale(_variable_genes(data), max_value=10), n_comps)


def immune_components(
    adata: Any,
    batch_key: str = "batch",
    *,
    n_top_genes: int = N_TOP_GENES,
    n_comps: int = N_COMPS,
) -> NDArray[np.float32]:
    """Reduce the human immune cells of Luecken et al. 2022, whose ``X`` is log-normalised.

    scib's steps: genes ranked by dispersion within each batch, those variable in most batches
    first; each gene scaled to mean 0 and variance 1 within each batch, without a cut-off.
    """
    batches = adata.obs[batch_key].astype("category")
    data = AnnData(adata.X.astype(np.float32), obs=batches.to_frame("batch"))
    sc.pp.highly_variable_genes(
        data, flavor="cell_ranger", n_top_genes=n_top_genes, batch_key="batch"
    )
    values = _variable_genes(data)
    for batch in batches.cat.categories:
        cells = (batches == batch).to_numpy()
        values[cells] = sc.pp.scale(values[cells])
    return _components(values, n_comps)


def _variable_genes(data: AnnData) -> NDArray[np.float32]:
    values = data[:, data.var["highly_variable"]].X
    return np.ascontiguousarray(values.toarray() if hasattr(values, "toarray") else values)


def _components(values: NDArray[np.float32], n_comps: int) -> NDArray[np.float32]:
    return np.asarray(sc.pp.pca(values, n_comps=n_comps, svd_solver="arpack", random_state=0))
