"""From counts to principal components, as in the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ctsne._core.checks import check_count, check_matrix, is_sparse
from ctsne._core.messages import shown, warn
from ctsne.io.anndata import column_of
from ctsne.labels import Column, encode_column
from ctsne.tl.fields import check_adata

if TYPE_CHECKING:
    from anndata import AnnData

# Seurat's defaults, which the authors used for the pancreas data: counts per cell after
# normalisation, and the largest value after scaling.
_TOTAL, _LARGEST_SCALED = 1e4, 10.0
# The logarithm of a million counts in one gene: fractions below it are probably not counts.
_LARGEST_LOG = 14.0
# Columns that scanpy adds for genes ranked by batch.
_OF_BATCHES = ["highly_variable_nbatches", "highly_variable_intersection"]


def recipe_heiter23(
    adata: AnnData,
    *,
    batch_key: str | None = None,
    normalize: bool = True,
    n_top_genes: int = 2000,
    n_comps: int = 50,
    random_state: int = 0,
    copy: bool = False,
) -> AnnData | None:
    """Reduce a count matrix to principal components as the paper does for its two real datasets.

    Variable genes, normalisation, standardisation, 50 principal components (Heiter et al. 2023,
    section 4 and supplement), with details from the authors' published scripts.

    - **Pancreas** (Seurat's ``panc8``: counts): ``recipe_heiter23(adata)``. These are Seurat's
      defaults: variable genes by the variance of counts around its trend
      (``flavor="seurat_v3"``), counts divided by the cell's total, times 10,000, log(1 + x), each
      gene scaled to mean 0 and variance 1 over all cells and cut off at 10.
    - **Human immune cells** (the file of Luecken et al. 2022: ``X`` is already normalised and
      logarithmic; batches in ``obs["batch"]``):
      ``recipe_heiter23(adata, batch_key="batch", normalize=False)``. These are scib's steps: genes
      ranked by dispersion within each batch (``flavor="cell_ranger"``), those variable in most
      batches first, each gene scaled to mean 0 and variance 1 within each batch, without a cut-off.

    Parameters
    ----------
    adata : AnnData
        Cells by genes, in memory. ``X`` holds counts (fractions too, as some protocols of ``panc8``
        have), or with ``normalize=False`` log-normalised values.
    batch_key : str, optional
        Column of ``adata.obs`` with batches, within which genes are ranked and scaled.
    normalize : bool, default=True
        Whether to normalise ``X`` first. With False and no ``batch_key``, genes are ranked by
        dispersion over all cells, because the other ranking needs counts.
    n_top_genes : int, default=2000
        Number of variable genes; all genes, with a warning, if there are fewer.
    n_comps : int, default=50
        Number of principal components; as many as possible, with a warning, if that is fewer.
    random_state : int, default=0
        Seed of the principal components.
    copy : bool, default=False
        Return a copy with the results instead of writing them into ``adata``.

    Returns
    -------
    AnnData or None
        The copy if ``copy=True``, else None. These fields are set; ``X``, layers and genes do not
        change, and nothing changes if an argument is not valid:

        - ``obsm["X_pca"]``: principal components of the cells, the features of the map
        - ``varm["PCs"]``, ``uns["pca"]``: loadings, zero for genes not chosen; variances
        - ``var["highly_variable"]`` and scanpy's other columns on variable genes; ``uns["hvg"]``
        - ``uns["recipe_heiter23"]``: the parameters used

    Notes
    -----
    Only the variable genes of a sparse ``X`` are made dense. Differences from the authors'
    programs: scanpy also cuts off at -10, which no gene with many zeros reaches, and their
    pancreas components come from Seurat in R.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> from ctsne.tl import recipe_heiter23
    >>> counts = np.random.default_rng(0).poisson(2.0, size=(120, 400))
    >>> adata = anndata.AnnData(counts.astype("float32"))
    >>> recipe_heiter23(adata, n_top_genes=200, n_comps=20)
    >>> adata.obsm["X_pca"].shape
    (120, 20)
    """
    try:
        import scanpy
        from anndata import AnnData
    except ImportError as error:
        raise ImportError(f'this needs scanpy ({error}): pip install "ctsne[scanpy]"') from error
    check_adata(adata)
    X = _check_values(adata)
    batches = None if batch_key is None else _check_batches(adata, batch_key)
    n_obs, n_vars = X.shape
    n_top_genes = _at_most(n_vars, n_top_genes, "n_top_genes", f"{n_vars} genes")
    most = f"{n_obs} cells and {n_top_genes} variable genes"
    n_comps = _at_most(min(n_obs, n_top_genes) - 1, n_comps, "n_comps", most)
    seed = check_count(random_state, "random_state", low=0, high=2**32 - 1)
    _warn_of_wrong_values(X, normalize=normalize)

    totals = _totals(X) if normalize else None
    flavor = "seurat_v3" if normalize and batches is None else "cell_ranger"
    if flavor == "cell_ranger":  # ranks log values of all genes
        X, totals = _log_normalized(X, totals), None
    genes = _rank_genes(scanpy, AnnData(X), batches, flavor, n_top_genes)
    chosen = genes["highly_variable"].to_numpy()
    values = _log_normalized(X[:, chosen], totals)
    values = np.ascontiguousarray(values.toarray() if is_sparse(values) else values)
    if batches is None:
        values = scanpy.pp.scale(values, max_value=_LARGEST_SCALED)
    else:
        for batch in range(batches.n_labels):
            cells = batches.codes == batch
            values[cells] = scanpy.pp.scale(values[cells])
    reduced = AnnData(np.asarray(values))
    scanpy.pp.pca(reduced, n_comps=n_comps, svd_solver="arpack", random_state=seed)

    # Nothing is written before everything that can fail is done.
    target = adata.copy() if copy else adata
    for name in genes.columns:
        target.var[name] = genes[name].to_numpy()
    target.obsm["X_pca"] = reduced.obsm["X_pca"]
    target.varm["PCs"] = np.zeros((n_vars, n_comps))
    target.varm["PCs"][chosen] = reduced.varm["PCs"]
    target.uns["hvg"] = {"flavor": flavor}
    how = {"zero_center": True, "use_highly_variable": True, "mask_var": "highly_variable"}
    target.uns["pca"] = {**reduced.uns["pca"], "params": how}
    target.uns["recipe_heiter23"] = {
        "normalize": bool(normalize),
        "n_top_genes": n_top_genes,
        "n_comps": n_comps,
        "random_state": seed,
    }
    if batch_key is not None:  # older files of AnnData cannot hold None
        target.uns["recipe_heiter23"]["batch_key"] = batch_key
    return target if copy else None


def _check_values(adata: Any) -> Any:
    """Return ``adata.X`` as finite, non-negative numbers, dense or CSR."""
    if adata.isbacked or not (isinstance(adata.X, np.ndarray) or is_sparse(adata.X)):
        kind = "backed by a file" if adata.isbacked else f"of type {type(adata.X).__name__}"
        raise TypeError(f"adata.X must be in memory, but it is {kind}; use adata.to_memory()")
    X = check_matrix(adata.X, argument="adata.X")
    if X.shape[1] < 2:
        raise ValueError(f"adata must have at least 2 genes, got {X.shape[1]}")
    if X.min() < 0:
        raise ValueError(
            f"adata.X holds negative values (down to {X.min():g}), so it is neither counts nor "
            "log-normalised; if it is scaled, use adata.raw.to_adata() or a layer"
        )
    # scanpy does not know sparse arrays, only matrices; nothing is copied here.
    return sp.csr_matrix(X) if is_sparse(X) else X


def _check_batches(adata: Any, batch_key: object) -> Column:
    """Return the batches, each of at least two cells and none missing."""
    batches = encode_column(column_of(adata, str(batch_key), argument="batch_key"))
    if batches.n_missing:
        raise ValueError(
            f"adata.obs[{batch_key!r}] is missing for {batches.n_missing} cells; remove them"
        )
    if batches.counts.min() < 2:
        alone = batches.names[int(batches.counts.argmin())]
        raise ValueError(f"a batch needs at least 2 cells to be scaled, but {shown(alone)} has one")
    return batches


def _at_most(largest: int, value: object, argument: str, what: str) -> int:
    """Return a number of at least one, reduced to the largest possible with a warning."""
    number = check_count(value, argument, low=1)
    if largest < 1:
        raise ValueError(f"{argument} must be at least 1, but {what} allow none")
    if number > largest:
        warn(f"{argument}={number} is more than {what} allow; using {largest}")
    return min(number, largest)


def _warn_of_wrong_values(X: Any, *, normalize: bool) -> None:
    """Warn of log values that would be normalised again, and of counts taken for log values."""
    fractions = ((X.data if is_sparse(X) else X) % 1).any()
    if normalize and fractions and X.max() < _LARGEST_LOG:
        warn(
            f"adata.X holds fractions and nothing above {X.max():.3g}; if it is log-normalised "
            "already, pass normalize=False"
        )
    if not normalize and not fractions:
        warn("adata.X holds whole numbers only; if they are counts, pass normalize=True")


def _totals(X: Any) -> NDArray[np.float64]:
    """Return the sum of counts per cell, 1 for empty cells."""
    totals = np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()
    empty = np.flatnonzero(totals == 0)
    if len(empty):
        warn(
            f"{len(empty)} cells have no counts (the first is {empty[0]}) and stay zero; "
            "scanpy.pp.filter_cells(adata, min_counts=1) removes them"
        )
        totals[empty] = 1.0
    return totals


def _log_normalized(X: Any, totals: NDArray[np.float64] | None) -> Any:
    """Return the logarithm of counts scaled to one total; without totals, ``X`` as it is."""
    if totals is None:
        return X
    factors = (_TOTAL / totals).astype(X.dtype)[:, None]
    return np.log1p(X.multiply(factors).tocsr() if is_sparse(X) else X * factors)


def _rank_genes(scanpy: Any, data: Any, batches: Column | None, flavor: str, count: int) -> Any:
    """Choose the variable genes with scanpy; return a table with a row per gene."""
    options: dict[str, Any] = {"flavor": flavor, "n_top_genes": count}
    if flavor == "seurat_v3":
        options["check_values"] = False  # fractional counts are fine
    else:
        # Even a single batch is ranked as one, because scanpy then leaves unexpressed genes out.
        codes = np.zeros(data.n_obs, int) if batches is None else batches.codes
        data.obs["batch"] = codes.astype(str)
        data.strings_to_categoricals()
        options["batch_key"] = "batch"
    try:
        scanpy.pp.highly_variable_genes(data, **options)
    except ImportError as error:
        how = 'pip install "ctsne[scanpy]"'
        raise ImportError(f"ranking genes of counts needs scikit-misc ({error}): {how}") from error
    except ValueError as error:
        raise ValueError(
            f"genes could not be ranked ({error}), as happens with few cells (in a batch) or few "
            "counts; remove small batches, or genes found in fewer than 3 cells"
        ) from error
    return data.var if batches is not None else data.var.drop(columns=_OF_BATCHES, errors="ignore")
