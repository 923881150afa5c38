"""New cells in the map of an AnnData object or of a model."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import anndata
import numpy as np
import pandas as pd
import pytest

import ctsne
from ctsne import ConditionalTSNE, tl
from ctsne.cli.main import main
from ctsne.datasets import make_synthetic
from ctsne.storage.record import record_in

QUICK: dict[str, Any] = {"perplexity": 8, "n_iter": 40, "early_exaggeration_iter": 20}
NEW = 40
# Of so few cells, some are far from all others.
pytestmark = pytest.mark.filterwarnings("ignore:.* no neighbour in the map closer than")


def cells(n: int = 160) -> Any:
    """Features as components and as genes, two label columns."""
    data = make_synthetic(n, random_state=0)
    obs = pd.DataFrame({"batch": data.known, "type": data.hidden}).astype("category")
    obs.index = obs.index.map(lambda row: f"c{row}")
    adata = anndata.AnnData(data.X, obs=obs)
    adata.var_names = [f"gene{gene}" for gene in range(adata.n_vars)]
    adata.obsm["X_pca"] = data.X[:, :6].copy()
    adata.layers["log"] = data.X + 1.0
    adata.obsm["X_harmony"] = data.X[:, :4] - (data.known == "blue")[:, None]
    return adata


@pytest.fixture(scope="module")
def halves() -> tuple[Any, Any]:
    whole = cells()
    return whole[:-NEW].copy(), whole[-NEW:].copy()


def embedded(reference: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tl.ctsne(reference, options.pop("labels", "batch"), copy=True, **QUICK, **options)


def fitted(reference: Any, **options: Any) -> ConditionalTSNE:
    model = ConditionalTSNE(random_state=0, **QUICK, **options)
    return model.fit(reference.obsm["X_pca"], labels=reference.obs["batch"])


def with_record(made: Any, **changes: Any) -> Any:
    """Return a copy whose settings record says something else."""
    changed, record = made.copy(), record_in(made.uns["ctsne"])
    assert record is not None
    changed.uns["ctsne"]["record"] = replace(record, **changes).to_json()
    return changed


def test_a_map_and_its_model_place_cells_alike(halves: tuple[Any, Any]) -> None:
    reference, new = halves[0], halves[1].copy()
    model = fitted(reference)
    wanted = model.place(new.obsm["X_pca"], new.obs["batch"])
    made = embedded(reference)
    assert np.array_equal(made.obsm["X_ctsne"], model.embedding_)
    tl.transform(new, made)
    assert np.array_equal(new.obsm["X_ctsne"], wanted.embedding)
    assert np.array_equal(new.obs["ctsne_far"], wanted.far)
    assert np.array_equal(new.obs["ctsne_distance"], wanted.distance)
    assert np.array_equal(new.obs["ctsne_other_share"], wanted.other_share)
    entry = new.uns["ctsne"]
    assert entry["far_distance"] == wanted.far_distance
    assert entry["params"]["labels"] == "batch"
    assert entry["diagnostics_keys"]["distance"] == "ctsne_distance"
    again = halves[1].copy()
    tl.transform(again, model, "batch")
    assert np.array_equal(again.obsm["X_ctsne"], wanted.embedding)


def test_a_stored_reference_and_result(halves: tuple[Any, Any], tmp_path: Path) -> None:
    """Everything survives a file."""
    made = embedded(halves[0], strength={"blue": 0.3, "orange": 0.8}, align="mutual")
    made.write_h5ad(tmp_path / "reference.h5ad")
    placed = [
        tl.transform(halves[1], one, copy=True)
        for one in (made, anndata.read_h5ad(tmp_path / "reference.h5ad"))
    ]
    assert np.array_equal(placed[0].obsm["X_ctsne"], placed[1].obsm["X_ctsne"])
    placed[0].write_h5ad(tmp_path / "new.h5ad")
    assert anndata.read_h5ad(tmp_path / "new.h5ad").obs["ctsne_far"].dtype == bool


@pytest.mark.parametrize(
    "options",
    [
        {"method": "original"},
        {"method": "tsne", "n_components": 1},
        {"use_rep": "X"},
        {"layer": "log"},
        {"n_pcs": 3},
        {"use_rep": "X", "n_pcs": 4},
        {"align": "X_harmony"},
        {"mixing": 0.8},
        {"metric": "cosine"},
        {"labels": ["batch", "type"]},
        {"odds": 3.0},
    ],
    ids=str,
)
def test_every_way_to_make_a_map(halves: tuple[Any, Any], options: dict[str, Any]) -> None:
    made = embedded(halves[0], **options)
    new = tl.transform(halves[1], made, copy=True)
    assert new.obsm["X_ctsne"].shape == (NEW, made.obsm["X_ctsne"].shape[1])
    assert np.isfinite(new.obsm["X_ctsne"]).all()
    # Cells of the map land near themselves.
    own = tl.transform(made, made, key_added="again", copy=True)
    off = np.linalg.norm(own.obsm["X_again"] - made.obsm["X_ctsne"], axis=1)
    assert np.median(off) < 0.3 * np.ptp(made.obsm["X_ctsne"])


def test_genes_are_found_by_name(halves: tuple[Any, Any]) -> None:
    reference, new = halves
    made = embedded(reference, use_rep="X")
    one = tl.transform(new, made, copy=True)
    other = tl.transform(new[:, ::-1].copy(), made, copy=True)
    assert np.array_equal(one.obsm["X_ctsne"], other.obsm["X_ctsne"])
    with pytest.raises(ValueError, match="lacks 1 of the 10 columns of the reference: 'gene0'"):
        tl.transform(new[:, 1:].copy(), made)


def test_a_label_column_that_is_missing_is_named(halves: tuple[Any, Any]) -> None:
    reference, new = halves
    made = embedded(reference, labels=["batch", "type"])
    new = new.copy()
    del new.obs["type"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        without = tl.transform(new, made, copy=True)
    assert any("adata.obs has no column 'type'" in str(each.message) for each in caught)
    new.obs["type"] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = tl.transform(new, made, copy=True)
    assert not np.array_equal(one.obsm["X_ctsne"], without.obsm["X_ctsne"])


def test_a_named_representation_needs_no_names(halves: tuple[Any, Any]) -> None:
    """A model of a table, whose columns have names that AnnData does not know."""
    reference, new = halves
    table = pd.DataFrame(reference.obsm["X_pca"]).add_prefix("component ")
    model = ConditionalTSNE(random_state=0, **QUICK).fit(table, labels=list(reference.obs["batch"]))
    with pytest.raises(ValueError, match="name the representation that holds them with use_rep"):
        tl.transform(new, model, "batch")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        made = tl.transform(new, model, "batch", use_rep="X_pca", copy=True)
        wanted = model.transform(new.obsm["X_pca"], new.obs["batch"])
    assert np.array_equal(made.obsm["X_ctsne"], wanted)


def test_variable_genes_of_the_reference(halves: tuple[Any, Any]) -> None:
    reference, new = (each.copy() for each in halves)
    del reference.obsm["X_pca"], new.obsm["X_pca"]
    reference.var["highly_variable"] = np.arange(10) % 2 == 0
    made = embedded(reference)
    assert made.uns["ctsne"]["params"]["highly_variable"]
    new.var["highly_variable"] = False  # what the new cells say does not matter
    wanted = tl.transform(new, made, copy=True).obsm["X_ctsne"]
    model = ConditionalTSNE(random_state=0, **QUICK)
    model.fit(reference.X[:, ::2], labels=reference.obs["batch"])
    assert np.array_equal(model.transform(new.X[:, ::2], new.obs["batch"]), wanted)


def test_components_of_the_new_cells_alone_are_refused(halves: tuple[Any, Any]) -> None:
    reference, new = (each.copy() for each in halves)
    rng = np.random.default_rng(0)
    reference.varm["PCs"] = rng.normal(size=(10, 6))
    reference.varm["PCs"][3] = np.nan  # a gene that was left out
    new.varm["PCs"] = reference.varm["PCs"].copy()
    made = embedded(reference)
    tl.transform(new, made, copy=True)  # the same axes
    new.varm["PCs"] = rng.normal(size=(10, 6))
    with pytest.raises(ValueError, match="has other axes than that of the reference"):
        tl.transform(new, made)
    del new.obsm["X_pca"]
    with pytest.raises(ValueError, match=r"project the new cells .*ref\.varm\['PCs'\]"):
        tl.transform(new, made)


def test_the_advice_on_components_works(halves: tuple[Any, Any]) -> None:
    import scanpy as sc

    ref, adata = (each.copy() for each in halves)
    sc.pp.pca(ref, n_comps=5)
    made = embedded(ref)
    # As the message says.
    X = np.asarray(adata[:, ref.var_names].X - ref.X.mean(axis=0)) @ ref.varm["PCs"]
    adata.obsm["X_pca"] = X
    own = np.asarray(ref.X - ref.X.mean(axis=0)) @ ref.varm["PCs"]
    assert np.allclose(own, ref.obsm["X_pca"], atol=1e-4)
    tl.transform(adata, made)
    assert not adata.obs["ctsne_far"].all()


def test_labels_named_given_new_or_missing(halves: tuple[Any, Any]) -> None:
    made, new = embedded(halves[0]), halves[1].copy()
    plain = tl.transform(new, made, copy=True).obsm["X_ctsne"]
    given = tl.transform(new, made, new.obs["batch"].to_numpy(), copy=True).obsm["X_ctsne"]
    assert np.array_equal(plain, given)
    new.obs["colour"] = new.obs.pop("batch")
    named = tl.transform(new, made, "colour", copy=True).obsm["X_ctsne"]
    assert np.array_equal(plain, named)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        without = tl.transform(new, made, copy=True)
    assert not np.array_equal(plain, without.obsm["X_ctsne"])
    assert "labels" not in without.uns["ctsne"]["params"]
    with pytest.raises(ValueError, match="no column 'color'"):
        tl.transform(new, made, "color")


def test_columns_of_labels_are_found_by_name(halves: tuple[Any, Any]) -> None:
    made, new = halves[0].copy(), halves[1].copy()
    for adata in (made, new):
        adata.obs["plate"] = np.where(np.arange(adata.n_obs) % 3, "a", "b")
    tl.ctsne(made, ["batch", "plate"], perplexity=8, n_iter=40)
    plain = tl.transform(new, made, copy=True).obsm["X_ctsne"]
    turned = tl.transform(new, made, ["plate", "batch"], copy=True)
    assert np.array_equal(plain, turned.obsm["X_ctsne"])
    assert list(turned.uns["ctsne"]["params"]["labels"]) == ["batch", "plate"]


def test_a_model_of_the_command_line(
    halves: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    halves[0].write_h5ad("reference.h5ad")
    options = "--labels batch -o reference.h5ad -q --perplexity 8 --n-iter 40 --model model.ctsne"
    assert main(["embed", "reference.h5ad", *options.split()]) == 0
    model = ctsne.load("model.ctsne")
    placed = tl.transform(halves[1], model, copy=True)  # knows its column and representation
    wanted = model.transform(halves[1].obsm["X_pca"], halves[1].obs["batch"])
    assert np.array_equal(placed.obsm["X_ctsne"], wanted)
    # So does the map in the file.
    again = tl.transform(halves[1], anndata.read_h5ad("reference.h5ad"), copy=True)
    assert np.array_equal(again.obsm["X_ctsne"], wanted)


def test_an_earlier_map_is_replaced(halves: tuple[Any, Any]) -> None:
    made, new = embedded(halves[0]), embedded(halves[1], store_graph=True)
    assert "ctsne_connectivities" in new.obsp and "ctsne_neighbors" in new.uns
    tl.transform(new, made)
    assert "ctsne_connectivities" not in new.obsp and "ctsne_neighbors" not in new.uns
    assert "ctsne_far" in new.obs
    tl.ctsne(new, "batch", **QUICK)
    assert "ctsne_far" not in new.obs and "ctsne_distance" not in new.obs


def test_what_cannot_work_is_refused_and_changes_nothing(halves: tuple[Any, Any]) -> None:
    made, new = embedded(halves[0]), halves[1].copy()
    before = (set(new.obs), set(new.obsm), set(new.uns))
    array = embedded(halves[0], labels=halves[0].obs["batch"].to_numpy())
    other = made.copy()
    del other.uns["ctsne"]
    placed = tl.transform(new, made, copy=True)
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (ConditionalTSNE(), {}, "not fitted"),
        ("model.ctsne", {}, "ctsne.load reads a model"),
        (halves[0], {}, "no map \"?'ctsne"),
        (made, {"basis": "umap"}, "no map 'umap'"),
        (array, {}, "given as an array"),
        (with_record(made, options={"neighbors_key": "neighbors"}), {}, "made from a graph"),
        (with_record(made, parameters={"align": np.ones(3)}), {}, "aligned with an array"),
        (with_record(made, parameters={"mixing": 0.5}, results={}), {}, "not stored"),
        (with_record(made, parameters={"method": "jont"}), {}, "did you mean 'joint'"),
        (other, {}, "no map made by ctsne"),
        (placed, {}, "no map made by ctsne"),
        (made, {"key_added": "a/b"}, "key_added must be a name"),
        (made, {"align": "X_pca"}, "has no effect"),
        (made, {"use_rep": "X_harmony"}, "has 4 columns"),
        (made, {"perplexity": -1}, "perplexity"),
    ]
    for reference, options, message in cases:
        with pytest.raises((ValueError, TypeError), match=message):
            tl.transform(new, reference, **options)
    assert (set(new.obs), set(new.obsm), set(new.uns)) == before
