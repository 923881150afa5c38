"""Maps of real AnnData objects: fields written, parameters kept, input refused."""

from __future__ import annotations

import inspect
import json
import logging
from pathlib import Path
from typing import Any

import anndata
import dask.array as da
import h5py
import matplotlib
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from anndata import experimental
from numpy.testing import assert_array_equal
from scipy import sparse

import ctsne
from ctsne import ConditionalTSNE
from ctsne.evaluate import mixing

from .conftest import QUICK, estimated

read_lazily: Any = getattr(experimental, "read_elem_lazy", None)
if read_lazily is None:  # its name in older versions of anndata
    read_lazily = experimental.read_elem_as_dask


def fields(adata: Any) -> list[set[str]]:
    return [set(part) for part in (adata.obs, adata.obsm, adata.obsp, adata.uns, adata.varm)]


def test_the_map_is_the_estimators_to_the_last_bit(blood: Any) -> None:
    before = fields(blood)
    result = ctsne.tl.ctsne(blood, "phase", store_graph=True, copy=True, **QUICK)
    assert result is not None and fields(blood) == before and "ctsne_distances" in result.obsp
    assert ctsne.tl.ctsne(blood, "phase", method="joint", **QUICK) is None
    assert_array_equal(result.obsm["X_ctsne"], blood.obsm["X_ctsne"])
    assert [after - earlier for after, earlier in zip(fields(blood), before, strict=True)] == [
        {"ctsne_perplexity", "ctsne_other_share", "ctsne_matched", "ctsne_largest_weight"},
        {"X_ctsne"},
        set(),
        {"ctsne"},
        set(),
    ]
    model = ConditionalTSNE(method="joint", random_state=0, **QUICK)
    model.fit(blood.obsm["X_pca"], labels=blood.obs["phase"])
    assert_array_equal(blood.obsm["X_ctsne"], model.embedding_)
    assert blood.obsm["X_ctsne"].dtype == np.float32
    for name, key in blood.uns["ctsne"]["diagnostics_keys"].items():
        expected = getattr(model.diagnostics_, name).astype(np.float32)
        assert_array_equal(blood.obs[key], expected)
    results = blood.uns["ctsne"]["results"]
    assert results["kl_divergence"] == model.kl_divergence_
    assert results["n_iter"] == 30 and results["recall"] == 1
    share = blood.uns["ctsne"]["diagnostics"]["other_share_mean"]
    assert share == pytest.approx(model.diagnostics_.other_share.mean())
    params = blood.uns["ctsne"]["params"]
    # Parameters left at None are not stored: the method sets them.
    assert params["method"] == "joint" and "align" not in params  # the default of the method
    unused = {"beta", "strength", "mixing", "bandwidth", "odds", "beta_low"}
    assert not (unused | {"n_jobs", "verbose", "callback"}) & set(params)


def test_every_parameter_of_the_estimator_is_there_with_its_default() -> None:
    theirs = inspect.signature(ConditionalTSNE).parameters
    ours = inspect.signature(ctsne.tl.ctsne).parameters
    assert set(theirs) - set(ours) == {"pca"}  # n_pcs takes its place
    differ = {
        name for name in set(theirs) & set(ours) if theirs[name].default != ours[name].default
    }
    assert differ == {"random_state", "init"}
    keyword = [name for name, entry in ours.items() if entry.kind is entry.KEYWORD_ONLY]
    assert set(ours) - set(keyword) == {"adata", "labels"}


def test_every_parameter_arrives(blood: Any) -> None:
    given: dict[str, Any] = {
        "n_components": 3,
        "method": "balanced",
        "strength": 0.4,
        "perplexity": 7,
        "n_iter": 12,
        "metric": "cosine",
        "recall": 0.9,
        "init": "random",
        "early_exaggeration": 8,
        "early_exaggeration_iter": 5,
        "exaggeration": 2,
        "learning_rate": 150,
        "dof": 0.8,
        "beta_low": 0.3,
        "align": "mean",
        "random_state": 5,
    }
    ctsne.tl.ctsne(blood, "phase", **given)
    expected = estimated(blood.obsm["X_pca"], blood.obs["phase"], **given)
    assert_array_equal(blood.obsm["X_ctsne"], expected)
    kept = {"labels": "phase", "use_rep": "X_pca", "pca": "auto", **given}
    assert blood.uns["ctsne"]["params"] == kept


@pytest.mark.parametrize(("method", "knob"), [("joint", "strength"), ("revised", "beta")])
@pytest.mark.filterwarnings("ignore::ctsne._core.messages.CtsneWarning")  # how near it comes
def test_what_was_found_for_a_mixing_is_kept(
    blood: Any, method: str, knob: str, tmp_path: Path
) -> None:
    cells = blood[::3].copy()
    cells.obs["half"] = np.arange(cells.n_obs) % 2
    cells.obsm["X_pca"][:, 0] += 3.0 * cells.obs["half"]
    options = {"method": method, "perplexity": 10, "n_iter": 100}
    ctsne.tl.ctsne(cells, "half", mixing=0.6, **options)
    entry = cells.uns["ctsne"]
    assert entry["params"]["mixing"] == 0.6 and knob not in entry["params"]
    assert entry["results"]["mixing"] == mixing(cells.obsm["X_ctsne"], cells.obs["half"])
    ctsne.tl.ctsne(cells, "half", key_added="given", **{knob: entry["results"][knob]}, **options)
    assert_array_equal(cells.obsm["X_given"], cells.obsm["X_ctsne"])
    cells.write_h5ad(tmp_path / "cells.h5ad")
    assert anndata.read_h5ad(tmp_path / "cells.h5ad").uns["ctsne"]["results"] == entry["results"]


@pytest.mark.filterwarnings("ignore::ctsne._core.messages.CtsneWarning")
@pytest.mark.parametrize("kind", ["array", "frame", "key", "key of a frame"])
def test_a_corrected_representation(blood: Any, kind: str, tmp_path: Path) -> None:
    corrected = blood.obsm["X_pca"] - np.where(blood.obs["phase"] == "S", 2, 0)[:, None]
    frame = pd.DataFrame(corrected, index=blood.obs_names, columns=[f"d{i}" for i in range(50)])
    blood.obsm["X_harmony"] = frame if kind == "key of a frame" else corrected
    align = {"array": corrected, "frame": frame}.get(kind, "X_harmony")
    ctsne.tl.ctsne(blood, "phase", align=align, **QUICK)
    expected = estimated(blood.obsm["X_pca"], blood.obs["phase"], align=corrected)
    assert_array_equal(blood.obsm["X_ctsne"], expected)
    plain = estimated(blood.obsm["X_pca"], blood.obs["phase"])
    assert not np.array_equal(blood.obsm["X_ctsne"], plain)
    # Which one it was is kept, where it has a name.
    stored = "X_harmony" if "key" in kind else "array"
    assert blood.uns["ctsne"]["params"]["align"] == stored
    blood.write_h5ad(tmp_path / "cells.h5ad")
    assert anndata.read_h5ad(tmp_path / "cells.h5ad").uns["ctsne"]["params"]["align"] == stored


@pytest.mark.parametrize("kind", ["category", str, "codes", "bool", "object"])
def test_columns_of_any_type(blood: Any, kind: Any) -> None:
    phase = blood.obs["phase"]
    blood.obs["column"] = {
        "codes": lambda: phase.cat.codes,
        "bool": lambda: phase == "S",
        "object": lambda: phase.astype(object).where(phase != "G2M", None),
    }.get(kind, lambda: phase.astype(kind))()
    for labels in ("column", ["column"]):
        ctsne.tl.ctsne(blood, labels, **QUICK)
        expected = estimated(blood.obsm["X_pca"], blood.obs["column"].to_numpy())
        assert_array_equal(blood.obsm["X_ctsne"], expected)
        assert blood.uns["ctsne"]["params"]["labels"] == "column"


@pytest.mark.filterwarnings("ignore:Observation names are not unique:UserWarning")
@pytest.mark.parametrize("convert", [np.asarray, list, pd.Categorical, lambda column: column])
def test_labels_that_are_not_a_column(blood: Any, convert: Any) -> None:
    blood.obs_names = ["same"] * 700  # does no harm
    labels = convert(blood.obs.pop("phase"))
    ctsne.tl.ctsne(blood, labels, **QUICK)
    assert_array_equal(blood.obsm["X_ctsne"], estimated(blood.obsm["X_pca"], labels))
    assert "labels" not in blood.uns["ctsne"]["params"]


def test_no_labels_are_plain_t_sne_with_the_estimators_warning(blood: Any) -> None:
    blood.obs["ctsne_other_share"] = 0.5  # of a map before
    blood.uns["ctsne"] = {"record": "", "diagnostics_keys": {}}
    with pytest.warns(UserWarning, match="no labels given"):
        ctsne.tl.ctsne(blood, None, **QUICK)
    assert_array_equal(blood.obsm["X_ctsne"], estimated(blood.obsm["X_pca"], None, method="tsne"))
    # Similarities that know of no labels have no share on others.
    assert "ctsne_other_share" not in blood.obs
    assert set(blood.uns["ctsne"]["diagnostics_keys"]) == {"perplexity", "largest_weight"}
    assert "other_share_mean" not in blood.uns["ctsne"]["diagnostics"]


@pytest.mark.parametrize("backed", ["dense", "sparse"], indirect=True)
def test_backed_by_a_file(backed: Any, small: Any, tmp_path: Path) -> None:
    for adata in (backed, small):
        ctsne.tl.ctsne(adata, "phase", use_rep="X", store_graph=True, **QUICK)
    assert backed.isbacked
    assert_array_equal(backed.obsm["X_ctsne"], small.obsm["X_ctsne"])
    ctsne.tl.ctsne(backed, "phase", key_added="pcs", n_pcs=5, **QUICK)
    backed.write_h5ad(tmp_path / "other.h5ad")
    read = anndata.read_h5ad(tmp_path / "other.h5ad")
    assert_array_equal(read.obsm["X_ctsne"], small.obsm["X_ctsne"])
    assert set(read.obsm) == {"X_umap", "X_ctsne", "X_pcs"}
    assert (read.obsp["ctsne_distances"] != small.obsp["ctsne_distances"]).nnz == 0
    assert read.uns["ctsne_neighbors"] == small.uns["ctsne_neighbors"]
    assert read.uns["pcs"]["params"]["labels"] == "phase"


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_computed_by_dask(form: Any, small: Any, tmp_path: Path) -> None:
    small.X = form(small.X)
    small.layers["same"] = small.X.copy()
    small.write_h5ad(tmp_path / "cells.h5ad")
    lazy = small.copy()
    choices = [{}, {"use_rep": "X"}, {"layer": "same"}, {"use_rep": "X_umap", "align": "X_umap"}]
    with h5py.File(tmp_path / "cells.h5ad") as file:
        lazy.X = read_lazily(file["X"])
        lazy.layers["same"] = read_lazily(file["layers/same"])
        lazy.obsm["X_umap"] = read_lazily(file["obsm/X_umap"])
        for choice in choices:
            for adata in (small, lazy):
                ctsne.tl.ctsne(adata, "phase", **choice, **QUICK)
            assert_array_equal(lazy.obsm["X_ctsne"], small.obsm["X_ctsne"])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_dask_computes_only_genes_that_are_used(form: Any, small: Any) -> None:
    def check(block: Any, block_info: Any = None) -> Any:
        assert block_info[0]["chunk-location"][1] == 0, "genes that are not variable were computed"
        return block

    n = small.n_vars // 2
    small.var["highly_variable"] = np.arange(small.n_vars) < n - 3
    small.X = form(small.X)
    lazy = small.copy()
    lazy.X = da.from_array(small.X, chunks=(30, n)).map_blocks(check, meta=small.X[:0])
    for adata in (small, lazy):
        ctsne.tl.ctsne(adata, "phase", **QUICK)
        ctsne.tl.evaluate(adata)
    assert_array_equal(lazy.obsm["X_ctsne"], small.obsm["X_ctsne"])


def test_a_graph_computed_by_dask(blood: Any) -> None:
    sc.pp.neighbors(blood, n_neighbors=12)
    lazy = blood.copy()
    lazy.obsp["distances"] = da.from_array(sparse.csr_array(blood.obsp["distances"]), chunks=350)
    for adata in (blood, lazy):
        ctsne.tl.ctsne(adata, None, method="tsne", neighbors_key="neighbors", **QUICK)
    assert_array_equal(lazy.obsm["X_ctsne"], blood.obsm["X_ctsne"])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_genes_are_not_loaded_for_a_map_of_components(
    form: Any, blood: Any, tmp_path: Path
) -> None:
    def fail(block: Any) -> Any:
        raise AssertionError("X was computed")

    blood.X = form(blood.X)
    expected = ctsne.tl.ctsne(blood, "phase", copy=True, **QUICK)
    assert expected is not None
    blood.write_h5ad(tmp_path / "cells.h5ad", compression="gzip")
    with h5py.File(tmp_path / "cells.h5ad", "r+") as file:
        values = file["X"] if form is np.asarray else file["X/data"]
        values.id.write_direct_chunk((0,) * values.ndim, b"not compressed")
        with pytest.raises(OSError, match="read"):
            values[:]
    blood.X = da.from_array(blood.X, chunks=350).map_blocks(fail, meta=blood.X[:0])
    stored = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    for adata in (blood, stored):
        ctsne.tl.ctsne(adata, "phase", **QUICK)
        assert_array_equal(adata.obsm["X_ctsne"], expected.obsm["X_ctsne"])
        ctsne.tl.evaluate(adata, "phase")
        ctsne.tl.screen(adata)
        ctsne.tl.transform(adata, adata, key_added="placed")
        quick = ConditionalTSNE(**QUICK)
        ctsne.tl.sweep(adata, "phase", {"strength": [0.5]}, estimator=quick, progress=False)
    stored.file.close()


def test_view_of_a_file(backed: Any) -> None:
    view = backed[:60]
    with pytest.raises(ValueError, match=r"view of an object backed by a file.*to_memory\(\)"):
        ctsne.tl.ctsne(view, "phase", use_rep="X_umap", **QUICK)
    result = ctsne.tl.ctsne(view, "phase", use_rep="X_umap", copy=True, **QUICK)
    assert result is not None and not result.isbacked and result.obsm["X_ctsne"].shape == (60, 2)
    whole = ctsne.tl.ctsne(backed, "phase", use_rep="X_umap", copy=True, **QUICK)
    assert whole is not None and not whole.isbacked and "X_ctsne" not in backed.obsm


def test_view_becomes_an_object_of_its_own(blood: Any) -> None:
    view = blood[blood.obs["phase"] != "G2M"]
    with pytest.warns(anndata.ImplicitModificationWarning, match="view"):
        ctsne.tl.ctsne(view, "phase", store_graph=True, **QUICK)
    assert not view.is_view and view.obsm["X_ctsne"].shape == (683, 2)
    assert view.obsp["ctsne_distances"].shape == (683, 683)
    assert "X_ctsne" not in blood.obsm and "ctsne" not in blood.uns
    assert "ctsne_distances" not in blood.obsp
    assert "ctsne_perplexity" not in blood.obs


@pytest.mark.filterwarnings("ignore:Writing zarr v2 data:UserWarning")
@pytest.mark.filterwarnings("ignore::ctsne._core.messages.CtsneWarning")
@pytest.mark.parametrize("suffix", ["h5ad", "zarr"])
def test_file_keeps_everything(blood: Any, tmp_path: Path, suffix: str) -> None:
    blood.obs["kind"] = blood.obs["bulk_labels"].astype(str)  # some contain "/"
    beta = dict.fromkeys(blood.obs["kind"].unique(), 0.1)
    options = {"method": "revised", "beta": beta, "init": 1e-4 * blood.obsm["X_umap"], **QUICK}
    ctsne.tl.ctsne(blood, "kind", random_state=None, store_graph=True, **options)
    path = tmp_path / f"cells.{suffix}"
    if suffix == "h5ad":
        blood.write_h5ad(path)
        read = anndata.read_h5ad(path)
    else:
        pytest.importorskip("zarr")
        blood.write_zarr(path)
        read = anndata.io.read_zarr(path)
    assert_array_equal(read.obsm["X_ctsne"], blood.obsm["X_ctsne"])
    for name in ("ctsne_connectivities", "ctsne_distances"):
        assert (read.obsp[name] != blood.obsp[name]).nnz == 0
    assert read.uns["ctsne_neighbors"] == blood.uns["ctsne_neighbors"]
    assert_array_equal(read.obs["ctsne_other_share"], blood.obs["ctsne_other_share"])
    written, found = blood.uns["ctsne"], read.uns["ctsne"]
    assert set(found) == set(written) and found["diagnostics"] == written["diagnostics"]
    assert json.loads(found["params"]["beta"]) == beta
    assert found["params"]["init"] == "array" and "random_state" not in found["params"]
    ctsne.tl.ctsne(read, "kind", **options)
    assert_array_equal(read.obsm["X_ctsne"], blood.obsm["X_ctsne"])


# scanpy 1.11 with matplotlib 3.11
@pytest.mark.filterwarnings("ignore:The set_bad function:PendingDeprecationWarning")
def test_scanpy_draws_it(blood: Any) -> None:
    ctsne.tl.ctsne(blood, "phase", **QUICK)
    axes = sc.pl.embedding(
        blood, "ctsne", color=["phase", "ctsne_other_share", "ctsne_perplexity"], show=False
    )
    assert [ax.get_title() for ax in axes] == ["phase", "ctsne_other_share", "ctsne_perplexity"]
    drawn = np.ma.getdata(axes[0].collections[0].get_offsets())
    assert_array_equal(np.sort(drawn[:, 0]), np.sort(blood.obsm["X_ctsne"][:, 0]))
    assert axes[0].get_xlabel() == "ctsne1"
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"labels": "phse"}, r"'phse' in adata.obs; did you .*'phase'\?"),
        ({"labels": np.zeros(5)}, "each of the 700 points.* got 5"),
        ({"labels": pd.Series(["a"] * 700)}, "labels and X have different row names"),
        ({"use_rep": "X_pc"}, "'X_pc' .*did you mean 'X_pca'"),
        ({"n_pcs": 51}, "n_pcs must be .* from 1 to 50, got 51"),
        ({"use_rep": "X_pca", "n_pcs": 0}, "n_pcs"),
        ({"key_added": "a/b"}, "key_added"),
        ({"key_added": "neighbors"}, r'replace adata.uns\["neighbors"\]'),
        ({"key_added": "X_umap"}, r'replace adata.obsm\["X_umap"\], not'),
        ({"use_rep": "X", "key_added": "X_pca"}, r'adata.obsm\["X_pca"\] and .* "pca_map"'),
        ({"use_rep": "odd"}, r"obsm\[.odd.\] contains 1 NaN .*row 4, column 0"),
        ({"callback": lambda *_: 1 / 0, "callback_every": 1}, "zero"),
        ({"key_added": "taken"}, r'replace adata.obs\["taken_perplexity"\]'),
        ({"metric": "precomputed"}, "neighbors_key"),
        ({"method": "jont"}, "method must be .*did you mean 'joint'"),
        ({"align": "X_harmny"}, "align: .*'X_harmny' in adata.obsm"),
        ({"align": "mutal"}, "align: .*did you mean 'mutual'"),
        ({"align": pd.DataFrame(np.ones((700, 2)))}, "align.* different row names"),
        ({"neighbors_key": "neighbors", "perplexity": 5, "align": "mean"}, "align"),
        ({"neighbors_key": "neighbours"}, "did you mean 'neighbors'"),
        ({"neighbors_key": "lost"}, r"refers to adata.obsp\['lost'\]"),
        ({"neighbors_key": "neighbors"}, r"perplexity=10 .* the 9 .*n_neighbors=31\)"),
        ({"neighbors_key": "neighbors", "metric": "cosine"}, "metric='cosine' has no effect"),
    ],
)
@pytest.mark.filterwarnings("ignore::ctsne._core.messages.CtsneWarning")
def test_refuses_with_nothing_changed(blood: Any, arguments: Any, names: str) -> None:
    blood.obsm["odd"] = np.where(np.arange(1400).reshape(700, 2) == 8, np.nan, 1.0)
    blood.obs["taken_perplexity"] = "mine"
    blood.uns["lost"] = {"distances_key": "lost"}
    before = fields(blood)
    with pytest.raises((TypeError, ValueError, ZeroDivisionError), match=names):
        ctsne.tl.ctsne(blood, **{"labels": "phase", "perplexity": 10, **arguments})
    assert fields(blood) == before


def test_refuses_objects_without_what_it_needs(blood: Any) -> None:
    with pytest.raises(TypeError, match="adata must be an AnnData object, got ndarray"):
        ctsne.tl.ctsne(blood.X, "phase")
    without_x = anndata.AnnData(obs=blood.obs, obsm={"latent": blood.X})
    with pytest.raises(ValueError, match="choose a representation with use_rep: latent"):
        ctsne.tl.ctsne(without_x, "phase")
    del blood.uns["neighbors"]
    with pytest.raises(ValueError, match=r"there are none; scanpy.pp.neighbors\(adata\) makes one"):
        ctsne.tl.ctsne(blood, "phase", neighbors_key="neighbors")


def test_a_map_has_two_names_and_one_place(blood: Any) -> None:
    del blood.varm["PCs"]  # those of a copy differ by rounding
    ctsne.tl.ctsne(blood, "phase", **QUICK)
    tables = [ctsne.tl.evaluate(blood, "phase", basis=name) for name in ("ctsne", "X_ctsne")]
    assert tables[1].equals(tables[0])
    for name in ("ctsne", "X_ctsne"):
        drawn = ctsne.pl.embedding(blood, "phase", basis=name)
        assert len(drawn.collections[0].get_offsets()) == blood.n_obs
        placed = ctsne.tl.transform(blood[:5].copy(), blood, basis=name, copy=True)
        assert placed is not None
        assert [key for key in placed.obsm if "ctsne" in key] == ["X_ctsne"]
    ctsne.tl.ctsne(blood, "phase", key_added="X_ctsne", **QUICK)
    assert [key for key in blood.obsm if "ctsne" in key] == ["X_ctsne"]
    assert [key for key in blood.uns if "ctsne" in key] == ["ctsne"]
    before = blood.obsm["X_ctsne"].copy()
    for name in ("ctsne", "X_ctsne"):
        with pytest.raises(ValueError, match="would replace the features of the map"):
            ctsne.tl.ctsne(blood, "phase", use_rep="X_ctsne", key_added=name, **QUICK)
    assert_array_equal(blood.obsm["X_ctsne"], before)


def test_what_to_do_next_is_logged(blood: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "ctsne"):
        ctsne.tl.ctsne(blood, "phase", **QUICK)
    assert any("mixed to 0.8" in text or "stay apart" in text for text in caplog.messages)


def test_trust_is_a_column_if_asked_for(
    blood: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="ctsne"):
        ctsne.tl.ctsne(blood, "phase", trust=True, **QUICK)
    model = ConditionalTSNE(random_state=0, **QUICK)
    model.fit(blood.obsm["X_pca"], labels=blood.obs["phase"])
    assert_array_equal(blood.obs["ctsne_trust"], model.trust())
    assert blood.obs["ctsne_trust"].dtype == np.float32
    assert any(
        "would have mostly other neighbours in another map" in record.message
        for record in caplog.records
    )
    assert blood.uns["ctsne"]["diagnostics_keys"]["trust"] == "ctsne_trust"
    blood.write_h5ad(tmp_path / "cells.h5ad")
    assert "ctsne_trust" in anndata.read_h5ad(tmp_path / "cells.h5ad").obs
    ctsne.tl.ctsne(blood, "phase", **QUICK)  # a map without trust leaves none of the one before
    assert "ctsne_trust" not in blood.obs


def test_a_generator_or_a_seed_as_rng(blood: Any) -> None:
    maps = []
    for given in ({"random_state": 7}, {"rng": 7}, {"rng": np.random.default_rng(0)}):
        ctsne.tl.ctsne(blood, "phase", init="random", **given, **QUICK)
        maps.append(blood.obsm["X_ctsne"])
    assert_array_equal(maps[0], maps[1])
    assert (maps[2] != maps[0]).any()
    ctsne.tl.evaluate(blood, "phase", rng=np.random.default_rng(0))
    assert "random_state: 'int | None' = 0" in str(inspect.signature(ctsne.tl.evaluate))
    for seed in (0, 1, None):  # 0 is also the default
        with pytest.raises(TypeError, match="rng and random_state were both given"):
            ctsne.tl.ctsne(blood, "phase", random_state=seed, rng=1, **QUICK)
        with pytest.raises(TypeError, match="rng and random_state were both given"):
            ctsne.tl.evaluate(blood, "phase", random_state=seed, rng=1)
    with pytest.raises(TypeError, match=r"rng must be a whole number .* or a Generator"):
        ctsne.tl.ctsne(blood, "phase", rng="seven", **QUICK)
