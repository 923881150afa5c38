"""The paper's preprocessing against its steps in plain NumPy, and against scib's functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from preprocessing import immune_components, pancreas_components
from scipy import sparse

anndata = pytest.importorskip("anndata")
sc = pytest.importorskip("scanpy")

N_GENES = 600


@pytest.fixture
def counts() -> Any:
    """Three cell types in two batches of 180 and 120 cells, with genes that mark each."""
    rng = np.random.default_rng(0)
    batch = np.repeat(["x", "y"], [180, 120])
    cell_type = rng.choice(3, size=300)
    fold = np.ones((300, N_GENES))
    for number in range(3):
        fold[cell_type == number, 40 * number : 40 * (number + 1)] *= 6
    fold[batch == "y", 150:250] *= 4
    rates = rng.lognormal(0, 0.3, size=(300, 1)) * rng.gamma(0.5, 1.5, size=N_GENES)
    values = rng.poisson(rates * fold).astype(np.float32)
    values[rng.integers(300, size=20), np.arange(500, 520)] = 40  # genes with a single peak
    obs = pd.DataFrame({"batch": batch}, index=[f"cell{number}" for number in range(300)])
    return anndata.AnnData(sparse.csr_matrix(values), obs=obs)


def log_normalized(counts: Any) -> Any:
    logged = counts.copy()
    sc.pp.normalize_total(logged, target_sum=1e4)
    sc.pp.log1p(logged)
    return logged


def assert_components(found: NDArray[Any], scaled: NDArray[np.float64]) -> None:
    """Compare with a singular value decomposition, up to the sign of each component."""
    left, singular, _ = np.linalg.svd(scaled - scaled.mean(axis=0), full_matrices=False)
    expected = (left * singular)[:, : found.shape[1]]
    signs = np.sign((found * expected).sum(axis=0))
    np.testing.assert_allclose(found * signs, expected, atol=1e-3 * np.abs(expected).max())


def test_pancreas_steps_are_seurats_defaults(counts: Any) -> None:
    before = counts.copy()
    found = pancreas_components(counts, n_top_genes=200, n_comps=10)
    assert (counts.X != before.X).nnz == 0 and not len(counts.var.columns)
    sc.pp.highly_variable_genes(counts, flavor="seurat_v3", n_top_genes=200)
    values = log_normalized(before)[:, counts.var["highly_variable"]].X.toarray().astype(float)
    scaled = (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)
    assert scaled.max() > 10  # otherwise the cut-off would not be tested
    assert_components(found, np.minimum(scaled, 10))


def test_immune_steps_are_those_of_scib(counts: Any) -> None:
    logged = log_normalized(counts)
    found = immune_components(logged, n_top_genes=200, n_comps=10)
    times, dispersion = np.zeros(N_GENES), np.zeros(N_GENES)
    for batch in ("x", "y"):
        part = logged[logged.obs["batch"] == batch].copy()
        sc.pp.filter_genes(part, min_cells=1)
        sc.pp.highly_variable_genes(part, flavor="cell_ranger", n_top_genes=200)
        genes = logged.var_names.get_indexer(part.var_names)
        times[genes] += part.var["highly_variable"]
        dispersion[genes] += part.var["dispersions_norm"].fillna(0)
    scaled = logged.X.toarray().astype(float)[:, np.lexsort((dispersion, times))[-200:]]
    for batch in ("x", "y"):
        rows = (logged.obs["batch"] == batch).to_numpy()
        spread = scaled[rows].std(axis=0, ddof=1)
        scaled[rows] -= scaled[rows].mean(axis=0)
        scaled[rows] /= np.where(spread == 0, 1, spread)
    assert scaled.max() > 10  # nothing is cut off here
    assert_components(found, scaled)


@pytest.mark.filterwarnings("ignore")  # scib warns about its own dependencies
def test_immune_steps_are_the_functions_that_the_authors_call(counts: Any) -> None:
    scib = pytest.importorskip("scib")
    logged = log_normalized(counts)
    logged.obs["batch"] = logged.obs["batch"].astype("category")
    found = immune_components(logged, n_top_genes=200, n_comps=10)
    chosen = scib.preprocessing.hvg_batch(
        logged.copy(), batch_key="batch", target_genes=200, adataOut=True
    )
    scaled = scib.preprocessing.scale_batch(chosen, "batch")
    assert (scaled.obs_names == logged.obs_names).all() and scaled.n_vars == 200
    assert_components(found, np.asarray(scaled.X, np.float64))
