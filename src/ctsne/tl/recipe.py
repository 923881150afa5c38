"""From counts to principal components, as the paper did it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ctsne._core.checks import check_count, check_matrix, is_sparse
from ctsne._core.messages import warn
from ctsne.labels import Labels, encode_labels

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = ["recipe_heiter23"]

# Seurat's defaults, which the authors took for the pancreas data: counts of a cell after
# normalisation, and the largest value after scaling.
TARGET_SUM = 1e4
LARGEST_SCALED = 10.0
# The logarithm of a million counts in one gene: fractions that stay below are hardly counts.
LARGEST_LOG = 14.0
# What scanpy says of genes in batches.
BATCH_COLUMNS = ["highly_variable_nbatches", "highly_variable_intersection"]


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
    """Reduce a count matrix to principal components as the paper did with its two real datasets.

    Variable genes, normalisation, standardisation, 50 principal components (Heiter et al. 2023,
    section 4 and supplement). Where the paper is silent, the authors' published scripts decide.

    - **Pancreas** (Seurat's ``panc8``: counts; technology in ``obs["tech"]``):
      ``recipe_heiter23(adata)``. These are Seurat's defaults. Variable genes by the variance of
      counts around its trend (``flavor="seurat_v3"``), counts divided by the cell's total, times
      10,000, log(1 + x), each gene scaled to mean 0 and variance 1 over all cells and cut off at
      10. The technology plays no part here: it is what the map factors out.
    - **Human immune cells** (the file of Luecken et al. 2022: ``X`` is already normalised and
      logarithmic; batches in ``obs["batch"]``):
      ``recipe_heiter23(adata, batch_key="batch", normalize=False)``. These are scib's steps.
      Dispersion ranks genes within each batch (``flavor="cell_ranger"``), those variable in most
      batches come first, and each gene is scaled to mean 0 and variance 1 within each batch,
      without a cut-off.

    Parameters
    ----------
    adata : AnnData
        Cells by genes, in memory. ``X`` holds counts (fractions are fine: some protocols of
        ``panc8`` have them), or with ``normalize=False`` log-normalised values.
    batch_key : str, optional
        Column of ``adata.obs``. Chooses and scales genes batch by batch.
    normalize : bool, default=True
        Whether ``X`` has to be normalised first. With False and no ``batch_key``, genes are ranked
        by dispersion over all cells, because the other ranking needs counts.
    n_top_genes : int, default=2000
        Number of variable genes; all of them, with a warning, where there are fewer.
    n_comps : int, default=50
        Number of principal components; as many as there can be, with a warning, where cells or
        variable genes are fewer.
    random_state : int, default=0
        Seed of the principal components.
    copy : bool, default=False
        Return a copy with the results instead of writing them into ``adata``.

    Returns
    -------
    AnnData or None
        The copy if ``copy=True``, else None. These fields are set; ``X``, the layers and the genes
        stay as they are:

        - ``obsm["X_pca"]``: principal components of the cells, what the map is made of
        - ``varm["PCs"]``: loadings, zero for genes not chosen
        - ``uns["pca"]``: their variance and share of it
        - ``var["highly_variable"]`` and the figures behind it, as scanpy names them; ``uns["hvg"]``
        - ``uns["recipe_heiter23"]``: the parameters used

    Raises
    ------
    ImportError
        If scanpy is not installed.
    TypeError, ValueError
        If ``adata`` or a parameter cannot work, with nothing changed.

    Notes
    -----
    Of a sparse ``X`` only the variable genes are made dense, ``n_obs * n_top_genes`` numbers.
    Differences from the authors' own programs: scanpy also cuts off at -10, which no
    gene with many zeros reaches, and their pancreas components come from Seurat in R.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> from ctsne import ConditionalTSNE
    >>> from ctsne.tl import recipe_heiter23
    >>> rates = np.random.default_rng(0).gamma(1.0, 2.0, size=(2, 400))
    >>> tech = np.repeat(["a", "b"], 60)
    >>> counts = np.random.default_rng(1).poisson(rates[(tech == "b").astype(int)])
    >>> adata = anndata.AnnData(counts.astype("float32"))
    >>> recipe_heiter23(adata, n_top_genes=200, n_comps=20)
    >>> adata.obsm["X_pca"].shape
    (120, 20)
    >>> model = ConditionalTSNE(perplexity=10, n_iter=300, random_state=0)
    >>> adata.obsm["X_ctsne"] = model.fit_transform(adata.obsm["X_pca"], labels=tech)
    """
    scanpy, AnnData = _import_scanpy()
    X = _check_values(adata, AnnData)
    batches = None if batch_key is None else _check_batches(adata, batch_key)
    n_obs, n_vars = X.shape
    n_top_genes = _at_most(n_vars, n_top_genes, "n_top_genes", f"{n_vars} genes")
    n_comps = _at_most(
        min(n_obs, n_top_genes) - 1, n_comps, "n_comps",
        f"{n_obs} cells and {n_top_genes} variable genes",
    )  # fmt: skip
    seed = check_count(random_state, "random_state", low=0, high=2**32 - 1)
    _warn_of_wrong_values(X, normalize=normalize)

    totals = _totals(X) if normalize else None
    flavor = "seurat_v3" if normalize and batches is None else "cell_ranger"
    if flavor == "cell_ranger":  # ranks log values, so those of all genes are needed
        X, totals = _log_normalized(X, totals), None
    genes = _rank_genes(scanpy, AnnData(X), batches, flavor=flavor, n_top_genes=n_top_genes)
    chosen = genes["highly_variable"].to_numpy()
    values = _dense(_log_normalized(X[:, chosen], totals))
    reduced = AnnData(_scaled(scanpy, values, batches))
    scanpy.pp.pca(reduced, n_comps=n_comps, svd_solver="arpack", random_state=seed)

    # Nothing is written before all that can fail is done.
    target = adata.copy() if copy else adata
    for name in genes.columns:
        target.var[name] = genes[name].to_numpy()
    target.obsm["X_pca"] = reduced.obsm["X_pca"]
    target.varm["PCs"] = np.zeros((n_vars, n_comps))
    target.varm["PCs"][chosen] = reduced.varm["PCs"]
    target.uns["hvg"] = {"flavor": flavor}
    target.uns["pca"] = {
        **reduced.uns["pca"],
        "params": {"zero_center": True, "use_highly_variable": True, "mask_var": "highly_variable"},
    }
    target.uns["recipe_heiter23"] = {
        "normalize": bool(normalize),
        "n_top_genes": n_top_genes,
        "n_comps": n_comps,
        "random_state": seed,
        # Older files of AnnData hold no None.
        **({} if batch_key is None else {"batch_key": batch_key}),
    }
    return target if copy else None


def _import_scanpy() -> tuple[Any, Any]:
    """Import what works on AnnData objects, only when one is there."""
    try:
        import scanpy
        from anndata import AnnData
    except ImportError as error:
        raise ImportError(
            f"this recipe needs scanpy, which cannot be imported ({error}): "
            'pip install "ctsne[scanpy]"'
        ) from error
    return scanpy, AnnData


def _check_values(adata: Any, AnnData: Any) -> Any:
    """Return ``adata.X`` as finite numbers, none of them negative, dense or CSR."""
    if not isinstance(adata, AnnData):
        raise TypeError(
            f"adata must be an AnnData object, got {type(adata).__name__}; make one of an array "
            "with anndata.AnnData(array), cells in rows and genes in columns"
        )
    if adata.isbacked or not (isinstance(adata.X, np.ndarray) or is_sparse(adata.X)):
        kind = "backed by a file" if adata.isbacked else f"of type {type(adata.X).__name__}"
        raise TypeError(
            f"adata.X must be an array or a sparse matrix in memory, but it is {kind}; "
            "adata.to_memory() reads a file or a lazy array"
        )
    X = check_matrix(adata.X, argument="adata.X")
    if X.shape[1] < 2:
        raise ValueError(f"adata must have at least 2 genes, got {X.shape[1]}")
    if X.min() < 0:
        raise ValueError(
            f"adata.X holds negative values (least: {X.min():g}), so it is neither counts nor "
            "log-normalised; if it is scaled already, go back to adata.raw.to_adata() or to a "
            'layer: adata.X = adata.layers["counts"]'
        )
    # Of sparse formats scanpy knows the older class only; nothing is copied here.
    return sp.csr_matrix(X) if is_sparse(X) else X


def _check_batches(adata: Any, batch_key: object) -> Labels:
    """Return the batches, each of at least two cells and none missing."""
    if batch_key not in adata.obs:
        raise ValueError(
            f"batch_key must be a column of adata.obs, got {batch_key!r:.60}; the columns are "
            f"{', '.join(map(repr, adata.obs.columns)) or '(none)'}"
        )
    batches = encode_labels(adata.obs[batch_key])
    if batches.n_missing:
        raise ValueError(
            f"adata.obs[{batch_key!r}] is missing for {batches.n_missing} cells; remove them or "
            "give them a batch of their own"
        )
    if batches.counts.min() < 2:
        alone = batches.names[int(batches.counts.argmin())]
        raise ValueError(
            f"every batch must have at least 2 cells to be scaled, but {alone!r:.60} in "
            f"adata.obs[{batch_key!r}] has one; remove it or join it with another"
        )
    return batches


def _at_most(largest: int, value: object, argument: str, what: str) -> int:
    """Return a number of at least one, with a warning where there is less than was asked for."""
    number = check_count(value, argument, low=1)
    if largest < 1:
        raise ValueError(f"{argument} must be at least 1, but {what} allow none")
    if number > largest:
        warn(f"{argument}={number} is more than {what} allow; using {largest}")
    return min(number, largest)


def _warn_of_wrong_values(X: Any, *, normalize: bool) -> None:
    """Warn of log values to be normalised once more, and of counts taken for log values."""
    values = X.data if is_sparse(X) else X
    small = X.max() < LARGEST_LOG
    if normalize and small and (values % 1).any():
        warn(
            f"adata.X holds fractions and nothing above {X.max():.3g}, as if it were log-normalised"
            " already, and is normalised again; pass normalize=False if it is"
        )
    if not normalize and not (values % 1).any():
        warn(
            "adata.X holds whole numbers only, as if they were counts, and is taken as "
            "log-normalised; pass normalize=True if it is not"
        )


def _totals(X: Any) -> NDArray[np.float64]:
    """Count what each cell has."""
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
    """Logarithm of counts as if every cell had as many; without totals, values as they are."""
    if totals is None:
        return X
    factors = (TARGET_SUM / totals).astype(X.dtype)[:, None]
    return np.log1p(X.multiply(factors).tocsr() if is_sparse(X) else X * factors)


def _dense(X: Any) -> NDArray[np.floating]:
    return np.ascontiguousarray(X.toarray() if is_sparse(X) else X)


def _rank_genes(
    scanpy: Any, data: Any, batches: Labels | None, *, flavor: str, n_top_genes: int
) -> Any:
    """Let scanpy choose the variable genes; a table with a row for each gene."""
    options: dict[str, Any] = {}
    if flavor == "seurat_v3":
        options["check_values"] = False  # fractional counts are fine
    else:
        # One batch, too, is ranked as a batch, because then scanpy leaves unexpressed genes out.
        codes = np.zeros(data.n_obs, int) if batches is None else batches.codes
        data.obs["batch"] = codes.astype(str)
        data.strings_to_categoricals()
        options["batch_key"] = "batch"
    try:
        scanpy.pp.highly_variable_genes(data, flavor=flavor, n_top_genes=n_top_genes, **options)
    except ImportError as error:
        raise ImportError(
            f'variable genes of counts need scikit-misc ({error}): pip install "ctsne[scanpy]"'
        ) from error
    except ValueError as error:
        raise ValueError(
            f"the genes of adata could not be ranked by their variability ({error}); that happens "
            "with few cells (in a batch) or few counts: remove small batches, and genes of few "
            "cells with scanpy.pp.filter_genes(adata, min_cells=3)"
        ) from error
    if batches is None:
        return data.var.drop(columns=BATCH_COLUMNS, errors="ignore")
    return data.var


def _scaled(
    scanpy: Any, values: NDArray[np.floating], batches: Labels | None
) -> NDArray[np.floating]:
    """Genes with mean zero and variance one, over all cells or in each batch."""
    if batches is None:
        return np.asarray(scanpy.pp.scale(values, max_value=LARGEST_SCALED))
    for batch in range(batches.n_labels):
        cells = batches.codes == batch
        values[cells] = scanpy.pp.scale(values[cells])
    return values
