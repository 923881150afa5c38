"""The paper's recipe against its steps done one by one with scanpy and with plain NumPy."""

from __future__ import annotations

import builtins
import sys
from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from numpy.typing import NDArray
from scipy import sparse

from ctsne import ConditionalTSNE
from ctsne.evaluate import laplacian
from ctsne.tl import recipe_heiter23

N_GENES = 600


def make_counts() -> anndata.AnnData:
    """Three cell types in two batches of 180 and 120 cells, each with genes of its own."""
    rng = np.random.default_rng(0)
    batch = np.repeat(["x", "y"], [180, 120])
    cell_type = rng.choice(["a", "b", "c"], size=300)
    rates = rng.gamma(0.5, 1.5, size=N_GENES)
    fold = np.ones((300, N_GENES))
    for number, name in enumerate("abc"):
        fold[cell_type == name, 40 * number : 40 * (number + 1)] *= 6
    fold[batch == "y", 150:250] *= 4
    depth = rng.lognormal(0, 0.3, size=(300, 1))
    counts = rng.poisson(depth * rates * fold).astype(np.float32)
    counts[:, -80:] = 0  # genes without expression,
    counts[rng.integers(300, size=20), np.arange(500, 520)] = 40  # and some with one lone peak
    order = rng.permutation(300)
    obs = pd.DataFrame(
        {"batch": batch[order], "cell_type": cell_type[order]},
        index=[f"cell{i}" for i in range(300)],
    )
    var = pd.DataFrame(index=[f"gene{i}" for i in range(N_GENES)])
    return anndata.AnnData(sparse.csr_matrix(counts[order]), obs=obs, var=var)


@pytest.fixture
def adata() -> anndata.AnnData:
    return make_counts()


@pytest.fixture
def logged() -> anndata.AnnData:
    adata = make_counts()
    adata.layers["counts"] = adata.X.copy()
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    return adata


def same_components(found: Any, expected: Any, tolerance: float = 1e-3) -> None:
    """Equal up to the sign of each component."""
    signs = np.sign((found * expected).sum(axis=0))
    np.testing.assert_allclose(found * signs, expected, atol=tolerance * np.abs(expected).max())


def components(scaled: NDArray[np.float64], n_comps: int) -> NDArray[np.float64]:
    centred = scaled - scaled.mean(axis=0)
    left, singular, _ = np.linalg.svd(centred, full_matrices=False)
    return (left * singular)[:, :n_comps]


def test_pancreas_steps_are_those_of_seurat(adata: Any) -> None:
    chain = adata.copy()
    sc.pp.highly_variable_genes(chain, flavor="seurat_v3", n_top_genes=200)
    sc.pp.normalize_total(chain, target_sum=1e4)
    sc.pp.log1p(chain)
    chosen = chain.var["highly_variable"].to_numpy()
    values = chain.X.toarray().astype(np.float64)[:, chosen]
    scaled = (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)
    assert scaled.max() > 10  # so that the cut-off is seen
    recipe_heiter23(adata, n_top_genes=200, n_comps=10)
    np.testing.assert_array_equal(adata.var["highly_variable"], chosen)
    assert adata.var["highly_variable"].dtype == bool and chosen.sum() == 200
    same_components(adata.obsm["X_pca"], components(np.minimum(scaled, 10), 10))
    assert adata.uns["hvg"] == {"flavor": "seurat_v3"}


def genes_by_batch(logged: Any, n_top: int) -> set[str]:
    """Rank within batches first; then by the number of batches, then by mean dispersion."""
    tables = []
    for batch in ("x", "y"):
        part = logged[logged.obs["batch"] == batch].copy()
        sc.pp.filter_genes(part, min_cells=1)
        sc.pp.highly_variable_genes(part, flavor="cell_ranger", n_top_genes=n_top)
        tables.append(part.var.reindex(logged.var_names))
    times = sum((table["highly_variable"] == True).astype(int) for table in tables)  # noqa: E712
    dispersion = sum(table["dispersions_norm"].fillna(0) for table in tables) / 2
    order = pd.DataFrame({"times": times, "dispersion": dispersion})
    return set(order.sort_values(["times", "dispersion"], ascending=False).index[:n_top])


@pytest.mark.parametrize("normalize", [True, False])
def test_immune_steps_are_those_of_scib(adata: Any, logged: Any, normalize: bool) -> None:
    data = adata if normalize else logged
    recipe_heiter23(data, batch_key="batch", normalize=normalize, n_top_genes=200, n_comps=10)
    chosen = data.var["highly_variable"].to_numpy()
    assert set(data.var_names[chosen]) == genes_by_batch(logged, 200)
    scaled = logged.X.toarray().astype(np.float64)[:, chosen]
    for batch in ("x", "y"):
        rows = (data.obs["batch"] == batch).to_numpy()
        spread = scaled[rows].std(axis=0, ddof=1)
        scaled[rows] -= scaled[rows].mean(axis=0)
        scaled[rows] /= np.where(spread == 0, 1, spread)
    assert scaled.max() > 10  # nothing is cut off here
    same_components(data.obsm["X_pca"], components(scaled, 10))
    assert data.uns["hvg"] == {"flavor": "cell_ranger"}
    assert data.var["highly_variable_nbatches"].max() == 2


def test_log_values_without_batches_are_ranked_by_dispersion(logged: Any) -> None:
    recipe_heiter23(logged, normalize=False, n_top_genes=200, n_comps=10)
    expressed = logged.copy()
    sc.pp.filter_genes(expressed, min_cells=1)
    sc.pp.highly_variable_genes(expressed, flavor="cell_ranger", n_top_genes=200)
    chosen = logged.var_names[logged.var["highly_variable"]]
    assert set(chosen) == set(expressed.var_names[expressed.var["highly_variable"]])
    assert "highly_variable_nbatches" not in logged.var
    values = logged[:, chosen].X.toarray().astype(np.float64)
    scaled = (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)
    same_components(logged.obsm["X_pca"], components(np.minimum(scaled, 10), 10))


@pytest.mark.parametrize("batch_key", [None, "batch"])
def test_fields_are_those_of_scanpy_and_nothing_else_changes(adata: Any, batch_key: Any) -> None:
    before = adata.copy()
    assert recipe_heiter23(adata, batch_key=batch_key, n_top_genes=150, n_comps=12) is None
    assert adata.shape == before.shape and (adata.X != before.X).nnz == 0
    pd.testing.assert_frame_equal(adata.obs, before.obs)
    assert adata.obsm["X_pca"].shape == (300, 12) and adata.obsm["X_pca"].dtype == np.float32
    loadings = adata.varm["PCs"]
    assert loadings.shape == (N_GENES, 12)
    np.testing.assert_array_equal(loadings.any(axis=1), adata.var["highly_variable"])
    np.testing.assert_allclose(loadings.T @ loadings, np.eye(12), atol=1e-5)
    pca = adata.uns["pca"]
    np.testing.assert_allclose(pca["variance"], adata.obsm["X_pca"].var(axis=0, ddof=1), rtol=1e-4)
    np.testing.assert_allclose(
        pca["variance_ratio"] / pca["variance_ratio"][0], pca["variance"] / pca["variance"][0]
    )
    assert pca["params"]["mask_var"] == "highly_variable"
    expected = {"normalize": True, "n_top_genes": 150, "n_comps": 12, "random_state": 0}
    if batch_key:
        expected["batch_key"] = batch_key
    assert adata.uns["recipe_heiter23"] == expected


@pytest.mark.parametrize("batch_key", [None, "batch"])
@pytest.mark.parametrize(
    "convert",
    [
        lambda X: X.toarray(),
        lambda X: X.tocsc(),
        lambda X: sparse.csr_array(X),
        lambda X: X.astype(np.int64),
        lambda X: X.toarray().astype(np.int32),
        lambda X: X.astype(np.float64),
    ],
    ids=["dense", "csc", "array", "integers", "dense integers", "double"],
)
def test_result_does_not_depend_on_the_storage(adata: Any, convert: Any, batch_key: Any) -> None:
    other = adata.copy()
    other.X = convert(adata.X)
    stored = other.X.dtype
    for data in (adata, other):
        recipe_heiter23(data, batch_key=batch_key, n_top_genes=200, n_comps=10)
    np.testing.assert_array_equal(adata.var["highly_variable"], other.var["highly_variable"])
    np.testing.assert_allclose(adata.obsm["X_pca"], other.obsm["X_pca"], atol=2e-3)
    assert other.X.dtype == stored


def test_copy_leaves_the_original_alone(adata: Any) -> None:
    result = recipe_heiter23(adata, n_top_genes=200, n_comps=10, copy=True)
    assert result is not None
    assert not adata.obsm and not adata.varm and not adata.uns and not len(adata.var.columns)
    recipe_heiter23(adata, n_top_genes=200, n_comps=10)
    np.testing.assert_array_equal(result.obsm["X_pca"], adata.obsm["X_pca"])


def test_twice_gives_the_same(adata: Any) -> None:
    first = recipe_heiter23(adata, n_top_genes=200, n_comps=10, copy=True)
    second = recipe_heiter23(first, n_top_genes=200, n_comps=10, copy=True)
    assert first is not None and second is not None
    np.testing.assert_array_equal(first.obsm["X_pca"], second.obsm["X_pca"])


def test_repeated_gene_names_do_no_harm(adata: Any) -> None:
    expected = recipe_heiter23(adata, batch_key="batch", n_top_genes=200, n_comps=10, copy=True)
    assert expected is not None
    adata.var_names = ["same"] * N_GENES
    recipe_heiter23(adata, batch_key="batch", n_top_genes=200, n_comps=10)
    np.testing.assert_array_equal(adata.obsm["X_pca"], expected.obsm["X_pca"])


def test_view_becomes_an_object_of_its_own(adata: Any) -> None:
    view = adata[adata.obs["batch"] == "x"]
    with pytest.warns(anndata.ImplicitModificationWarning, match="view"):
        recipe_heiter23(view, n_top_genes=200, n_comps=10)
    assert view.obsm["X_pca"].shape == (180, 10) and not adata.obsm


def test_file_keeps_everything(adata: Any, tmp_path: Path) -> None:
    recipe_heiter23(adata, batch_key="batch", n_top_genes=200, n_comps=10)
    adata.write_h5ad(tmp_path / "data.h5ad")
    read = anndata.read_h5ad(tmp_path / "data.h5ad")
    np.testing.assert_array_equal(read.obsm["X_pca"], adata.obsm["X_pca"])
    np.testing.assert_array_equal(read.varm["PCs"], adata.varm["PCs"])
    np.testing.assert_array_equal(read.var["highly_variable"], adata.var["highly_variable"])
    assert dict(read.uns["recipe_heiter23"]) == adata.uns["recipe_heiter23"]
    recipe_heiter23(read, batch_key="batch", n_top_genes=200, n_comps=10)  # text is categorical now
    np.testing.assert_array_equal(read.obsm["X_pca"], adata.obsm["X_pca"])


def test_file_on_disk_is_refused(adata: Any, tmp_path: Path) -> None:
    adata.write_h5ad(tmp_path / "data.h5ad")
    backed = anndata.read_h5ad(tmp_path / "data.h5ad", backed="r")
    with pytest.raises(TypeError, match=r"backed by a file.*to_memory"):
        recipe_heiter23(backed)
    backed.file.close()


def test_map_of_the_components_shows_cell_types(adata: Any) -> None:
    recipe_heiter23(adata, n_top_genes=200, n_comps=20)
    X, batch, cell_type = adata.obsm["X_pca"], adata.obs["batch"], adata.obs["cell_type"]
    plain, conditioned = (
        ConditionalTSNE(method=method, perplexity=20, random_state=0).fit_transform(X, labels=batch)
        for method in ("tsne", "joint")
    )
    assert laplacian(plain, batch, k=20) < 0.1  # the batches lie apart
    assert laplacian(conditioned, batch, k=20) > 0.3  # and together; .48 would be random
    assert laplacian(conditioned, cell_type, k=20) < 0.1


def test_real_blood_cells() -> None:
    scaled = sc.datasets.pbmc68k_reduced()
    with pytest.raises(ValueError, match=r"negative values.*adata\.raw\.to_adata\(\)"):
        recipe_heiter23(scaled)
    blood = scaled.raw.to_adata()
    recipe_heiter23(blood, normalize=False, n_top_genes=500)
    assert blood.obsm["X_pca"].shape == (700, 50)
    # Cells stay with their kind: most of the ten nearest are of the same sort.
    assert laplacian(blood.obsm["X_pca"], blood.obs["bulk_labels"], k=10) < 0.45
    with pytest.warns(UserWarning, match="log-normalised already.*normalize=False"):
        recipe_heiter23(blood, n_top_genes=500)


def test_fewer_genes_and_cells_than_asked_for(adata: Any) -> None:
    small = adata[:30].copy()
    with (
        pytest.warns(UserWarning, match="n_top_genes=2000 is more than 600 genes allow; using 600"),
        pytest.warns(UserWarning, match="n_comps=50 is more than 30 cells.*using 29"),
    ):
        recipe_heiter23(small)
    assert small.var["highly_variable"].all() and small.obsm["X_pca"].shape == (30, 29)
    assert small.uns["recipe_heiter23"]["n_comps"] == 29


def test_counts_taken_for_log_values_are_pointed_out(adata: Any) -> None:
    with pytest.warns(UserWarning, match="whole numbers only.*normalize=True"):
        recipe_heiter23(adata, normalize=False, n_top_genes=200, n_comps=10)


def test_fractional_counts_are_counts(adata: Any) -> None:
    adata.X = adata.X * np.float32(1.25)
    assert adata.X.max() > 14
    recipe_heiter23(adata, n_top_genes=200, n_comps=10)  # a warning would be an error


def test_empty_cells_stay_zero(adata: Any) -> None:
    adata.X = adata.X.multiply((np.arange(300) != 3)[:, None]).tocsr()
    with pytest.warns(UserWarning, match=r"1 cells have no counts \(the first is 3\)"):
        recipe_heiter23(adata, n_top_genes=200, n_comps=10)
    assert np.isfinite(adata.obsm["X_pca"]).all()


def with_batch(adata: Any, values: list[Any]) -> Any:
    adata.obs["batch"] = pd.Categorical(values)
    return adata


@pytest.mark.parametrize(
    ("change", "parameters", "error", "match"),
    [
        (lambda a: a.X, {}, TypeError, "adata must be an AnnData object, got csr_matrix"),
        (lambda a: anndata.AnnData(obs=a.obs), {}, TypeError, "adata.X .*NoneType"),
        (lambda a: a[:, :1].copy(), {}, ValueError, "at least 2 genes"),
        (
            lambda a: a,
            {"batch_key": "bath"},
            ValueError,
            "batch_key: .*did you mean 'batch'",
        ),
        (
            lambda a: with_batch(a, [None] * 4 + ["x"] * 296),
            {"batch_key": "batch"},
            ValueError,
            r"adata.obs\['batch'\] is missing for 4 cells",
        ),
        (
            lambda a: with_batch(a, ["lone"] + ["x"] * 299),
            {"batch_key": "batch"},
            ValueError,
            "at least 2 cells to be scaled, but 'lone'",
        ),
        (
            lambda a: with_batch(a, ["pair"] * 2 + ["x"] * 298),
            {"batch_key": "batch"},
            ValueError,
            "few cells.*remove small batches",
        ),
        (
            lambda a: a,
            {"n_top_genes": 0},
            ValueError,
            "n_top_genes must be .* at least 1, got 0",
        ),
        (lambda a: a, {"n_top_genes": 1}, ValueError, "n_comps .* 1 variable genes allow none"),
        (lambda a: a, {"n_comps": 2.5}, TypeError, "n_comps must be a whole number"),
        (lambda a: a, {"random_state": None}, TypeError, "random_state must be a whole number"),
    ],
)
def test_refuses(adata: Any, change: Any, parameters: Any, error: Any, match: str) -> None:
    data = change(adata)
    parameters = {"n_top_genes": 200, "n_comps": 10, **parameters}
    with pytest.raises(error, match=match):
        recipe_heiter23(data, **parameters)
    assert not adata.obsm and not adata.uns and not len(adata.var.columns)


def test_refuses_infinite_values(adata: Any) -> None:
    row, column = adata.X[:40].nonzero()
    adata.X[row[-1], column[-1]] = np.nan
    place = f"row {row[-1]}, column {column[-1]}"
    with pytest.raises(ValueError, match=rf"adata\.X contains 1 NaN .*{place}"):
        recipe_heiter23(adata)


@pytest.mark.parametrize("missing", ["scanpy", "anndata", "skmisc.loess"])
def test_missing_packages_are_named(
    adata: Any, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == missing:
            raise ImportError(f"No module named {name!r}")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r'pip install "ctsne\[scanpy\]"'):
        recipe_heiter23(adata, n_top_genes=200, n_comps=10)


def test_scanpy_is_imported_only_when_needed() -> None:
    import subprocess

    code = "import sys, ctsne.tl; sys.exit('scanpy' in sys.modules or 'anndata' in sys.modules)"
    assert subprocess.run([sys.executable, "-P", "-c", code], check=False).returncode == 0
