"""Maps of real AnnData objects: fields written, parameters kept, input refused."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path
from typing import Any

import anndata
import matplotlib
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from numpy.testing import assert_array_equal

import ctsne
from ctsne import ConditionalTSNE
from ctsne.evaluate import mixing

# So few neighbours that every label has enough.
QUICK: dict[str, Any] = {"perplexity": 3, "n_iter": 30, "early_exaggeration_iter": 10}


def fields(adata: Any) -> list[set[str]]:
    return [set(part) for part in (adata.obs, adata.obsm, adata.obsp, adata.uns, adata.varm)]


def estimated(X: Any, labels: Any, **parameters: Any) -> Any:
    return ConditionalTSNE(**{"random_state": 0, **QUICK, **parameters}).fit_transform(
        X, labels=labels
    )


def test_the_map_is_the_estimators_to_the_last_bit(blood: Any) -> None:
    assert ctsne.tl.ctsne(blood, "phase", method="joint", **QUICK) is None
    model = ConditionalTSNE(method="joint", random_state=0, **QUICK)
    model.fit(blood.obsm["X_pca"], labels=blood.obs["phase"])
    assert_array_equal(blood.obsm["X_ctsne"], model.embedding_)
    assert blood.obsm["X_ctsne"].dtype == np.float32
    assert "ctsne_neighbors" not in blood.uns
    for name, key in blood.uns["ctsne"]["diagnostics_keys"].items():
        expected = getattr(model.diagnostics_, name).astype(np.float32)
        assert_array_equal(blood.obs[key], expected)
    assert blood.uns["ctsne"]["kl_divergence"] == model.kl_divergence_
    assert blood.uns["ctsne"]["n_iter"] == 30
    assert blood.uns["ctsne"]["recall"] == 1
    share = blood.uns["ctsne"]["diagnostics"]["other_share_mean"]
    assert share == pytest.approx(model.diagnostics_.other_share.mean())


def test_it_writes_these_fields_and_no_others(blood: Any) -> None:
    before = fields(blood)
    ctsne.tl.ctsne(blood, "phase", key_added="mine", **QUICK)
    added = [after - earlier for after, earlier in zip(fields(blood), before, strict=True)]
    assert added == [
        {"mine_perplexity", "mine_other_share", "mine_matched", "mine_largest_weight"},
        {"X_mine"},
        set(),
        {"mine"},
        set(),
    ]


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
        "random_state": 5,
    }
    ctsne.tl.ctsne(blood, "phase", **given)
    expected = estimated(blood.obsm["X_pca"], blood.obs["phase"], **given)
    assert_array_equal(blood.obsm["X_ctsne"], expected)
    kept = {"labels": "phase", "use_rep": "X_pca", "align": "none", **given}
    assert blood.uns["ctsne"]["params"] == kept


def test_only_parameters_with_an_effect_are_kept(blood: Any) -> None:
    ctsne.tl.ctsne(blood, "phase", verbose=0, n_jobs=1, **QUICK)
    params = blood.uns["ctsne"]["params"]
    # Parameters left at None are not stored: the method sets them.
    assert params["method"] == "joint" and params["align"] == "none"
    unused = {"beta", "strength", "mixing", "bandwidth", "odds", "beta_low"}
    assert not (unused | {"n_jobs", "verbose", "callback"}) & set(params)
    ctsne.tl.ctsne(blood, "phase", method="revised", beta=0.01, key_added="paper", **QUICK)
    params = blood.uns["paper"]["params"]
    assert params["beta"] == 0.01 and params["bandwidth"] == "r" and "strength" not in params
    assert "found" not in blood.uns["paper"]


@pytest.mark.parametrize(("method", "knob"), [("joint", "strength"), ("revised", "beta")])
def test_what_was_found_for_a_mixing_is_kept(
    blood: Any, method: str, knob: str, tmp_path: Path
) -> None:
    blood.obs["half"] = np.arange(700) % 2
    blood.obsm["X_pca"][:, 0] += 3.0 * blood.obs["half"]
    options = {"method": method, "perplexity": 10, "n_iter": 250}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # how near it comes is tested elsewhere
        ctsne.tl.ctsne(blood, "half", mixing=0.6, **options)
    entry = blood.uns["ctsne"]
    assert entry["params"]["mixing"] == 0.6 and knob not in entry["params"]
    assert set(entry["found"]) == {knob, "mixing"}
    assert entry["found"]["mixing"] == mixing(blood.obsm["X_ctsne"], blood.obs["half"])
    ctsne.tl.ctsne(blood, "half", key_added="given", **{knob: entry["found"][knob]}, **options)
    assert_array_equal(blood.obsm["X_given"], blood.obsm["X_ctsne"])
    blood.write_h5ad(tmp_path / "cells.h5ad")
    assert anndata.read_h5ad(tmp_path / "cells.h5ad").uns["ctsne"]["found"] == entry["found"]


@pytest.mark.filterwarnings("ignore:.*no counterpart under other labels:UserWarning")
@pytest.mark.parametrize("align", ["none", "mutual", "local", "mean", "auto"])
def test_alignments_by_name(blood: Any, align: str) -> None:
    ctsne.tl.ctsne(blood, "phase", align=align, **QUICK)
    expected = estimated(blood.obsm["X_pca"], blood.obs["phase"], align=align)
    assert_array_equal(blood.obsm["X_ctsne"], expected)
    assert blood.uns["ctsne"]["params"]["align"] == align


@pytest.mark.filterwarnings("ignore:.*no counterpart under other labels:UserWarning")
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


@pytest.mark.filterwarnings("ignore:.*no counterpart under other labels:UserWarning")
def test_odds_for_each_label(blood: Any) -> None:
    odds = {"G1": 2.0, "S": 5.0, "G2M": 1.0}
    ctsne.tl.ctsne(blood, "phase", odds=odds, **QUICK)
    expected = estimated(blood.obsm["X_pca"], blood.obs["phase"], odds=odds)
    assert_array_equal(blood.obsm["X_ctsne"], expected)
    params = blood.uns["ctsne"]["params"]["odds"]
    assert dict(zip(*params.values(), strict=True)) == odds


@pytest.mark.parametrize("kind", ["category", str, "codes", "bool", "object"])
def test_columns_of_any_type(blood: Any, kind: Any) -> None:
    phase = blood.obs["phase"]
    blood.obs["column"] = {
        "codes": lambda: phase.cat.codes,
        "bool": lambda: phase == "S",
        "object": lambda: phase.astype(object).where(phase != "G2M", None),
    }.get(kind, lambda: phase.astype(kind))()
    ctsne.tl.ctsne(blood, "column", **QUICK)
    expected = estimated(blood.obsm["X_pca"], blood.obs["column"].to_numpy())
    assert_array_equal(blood.obsm["X_ctsne"], expected)


def test_a_list_of_one_column(blood: Any) -> None:
    ctsne.tl.ctsne(blood, ["phase"], **QUICK)
    assert_array_equal(blood.obsm["X_ctsne"], estimated(blood.obsm["X_pca"], blood.obs["phase"]))
    assert list(blood.uns["ctsne"]["params"]["labels"]) == ["phase"]


@pytest.mark.parametrize("convert", [np.asarray, list, pd.Categorical, lambda column: column])
def test_labels_that_are_not_a_column(blood: Any, convert: Any) -> None:
    labels = convert(blood.obs.pop("phase"))
    ctsne.tl.ctsne(blood, labels, **QUICK)
    assert_array_equal(blood.obsm["X_ctsne"], estimated(blood.obsm["X_pca"], labels))
    assert "labels" not in blood.uns["ctsne"]["params"]


def test_no_labels_are_plain_t_sne_with_the_estimators_warning(blood: Any) -> None:
    blood.obs["ctsne_other_share"] = 0.5  # of a map before
    blood.uns["ctsne"] = {"diagnostics_keys": {}}
    with pytest.warns(UserWarning, match="no labels given"):
        ctsne.tl.ctsne(blood, None, **QUICK)
    assert_array_equal(blood.obsm["X_ctsne"], estimated(blood.obsm["X_pca"], None, method="tsne"))
    # Similarities that know of no labels have no share on others.
    assert "ctsne_other_share" not in blood.obs
    assert set(blood.uns["ctsne"]["diagnostics_keys"]) == {"perplexity", "largest_weight"}
    assert "other_share_mean" not in blood.uns["ctsne"]["diagnostics"]


@pytest.mark.parametrize("backed", ["dense", "sparse"], indirect=True)
def test_backed_by_a_file(backed: Any, small: Any, tmp_path: Path) -> None:
    ctsne.tl.ctsne(backed, "phase", use_rep="X", **QUICK)
    ctsne.tl.ctsne(small, "phase", use_rep="X", **QUICK)
    assert backed.isbacked
    assert_array_equal(backed.obsm["X_ctsne"], small.obsm["X_ctsne"])
    ctsne.tl.ctsne(backed, "phase", key_added="pcs", n_pcs=5, **QUICK)
    backed.write_h5ad(tmp_path / "other.h5ad")
    read = anndata.read_h5ad(tmp_path / "other.h5ad")
    assert_array_equal(read.obsm["X_ctsne"], small.obsm["X_ctsne"])
    assert set(read.obsm) == {"X_umap", "X_ctsne", "X_pcs"}
    assert read.uns["pcs"]["params"]["labels"] == "phase"


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
        ctsne.tl.ctsne(view, "phase", **QUICK)
    assert not view.is_view and view.obsm["X_ctsne"].shape == (683, 2)
    assert "X_ctsne" not in blood.obsm and "ctsne" not in blood.uns
    assert "ctsne_perplexity" not in blood.obs


def test_copy(blood: Any) -> None:
    before = fields(blood)
    result = ctsne.tl.ctsne(blood, "phase", copy=True, **QUICK)
    assert result is not None and fields(blood) == before
    ctsne.tl.ctsne(blood, "phase", **QUICK)
    assert_array_equal(result.obsm["X_ctsne"], blood.obsm["X_ctsne"])


@pytest.mark.filterwarnings("ignore:Observation names are not unique:UserWarning")
def test_repeated_cell_names_do_no_harm(blood: Any) -> None:
    expected = estimated(blood.obsm["X_pca"], blood.obs["phase"])
    blood.obs_names = ["same"] * 700
    ctsne.tl.ctsne(blood, "phase", **QUICK)
    assert_array_equal(blood.obsm["X_ctsne"], expected)
    result = ctsne.tl.ctsne(blood, blood.obs["phase"], copy=True, **QUICK)
    assert result is not None
    assert_array_equal(result.obsm["X_ctsne"], expected)


@pytest.mark.filterwarnings("ignore:Writing zarr v2 data:UserWarning")
@pytest.mark.filterwarnings("ignore:.*no counterpart under other labels:UserWarning")
@pytest.mark.parametrize("suffix", ["h5ad", "zarr"])
def test_file_keeps_everything(blood: Any, tmp_path: Path, suffix: str) -> None:
    blood.obs["kind"] = blood.obs["bulk_labels"].astype(str)  # some contain "/"
    beta = dict.fromkeys(blood.obs["kind"].unique(), 0.1)
    ctsne.tl.ctsne(
        blood,
        "kind",
        method="revised",
        beta=beta,
        init=1e-4 * blood.obsm["X_umap"],
        random_state=None,
        store_graph=True,
        **QUICK,
    )
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
    assert dict(zip(*found["params"]["beta"].values(), strict=True)) == beta
    assert found["params"]["init"] == "array" and "random_state" not in found["params"]
    ctsne.tl.ctsne(
        read, "kind", method="revised", beta=beta, init=1e-4 * read.obsm["X_umap"], **QUICK
    )
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


def with_obs(adata: Any, name: str) -> Any:
    adata.obs[name] = "mine"
    return adata


def without(adata: Any, part: str, key: str) -> Any:
    del getattr(adata, part)[key]
    return adata


@pytest.mark.parametrize(
    ("change", "arguments", "error", "match"),
    [
        (lambda a: a.X, {}, TypeError, "adata must be an AnnData object, got ndarray"),
        (lambda a: a, {"labels": "phse"}, ValueError, r"'phse' in adata.obs; did you .*'phase'\?"),
        (lambda a: a, {"labels": ["phase", "louvian"]}, ValueError, "did you mean 'louvain'"),
        (lambda a: a, {"labels": np.zeros(5)}, ValueError, "each of the 700 points.* got 5"),
        (
            lambda a: a,
            {"labels": pd.Series(["a"] * 700)},
            ValueError,
            "labels and X have different row names",
        ),
        (
            lambda a: a,
            {"use_rep": "X_pc"},
            ValueError,
            "'X_pc' .*did you mean 'X_pca'",
        ),
        (
            lambda a: a,
            {"n_pcs": 51},
            ValueError,
            "n_pcs must be .* from 1 to 50, got 51",
        ),
        (lambda a: a, {"n_pcs": 2.5}, TypeError, "n_pcs must be a whole number"),
        (
            lambda a: a,
            {"use_rep": "X_pca", "n_pcs": 0},
            ValueError,
            "n_pcs must be .* from 1 to 50",
        ),
        (lambda a: a, {"key_added": ""}, ValueError, "key_added must be a name without slashes"),
        (lambda a: a, {"key_added": "a/b"}, ValueError, "without slashes, .* got 'a/b'"),
        (lambda a: a, {"key_added": "neighbors"}, ValueError, r'replace adata.uns\["neighbors"\]'),
        (lambda a: a, {"key_added": "X_umap"}, ValueError, r'replace adata.obsm\["X_umap"\], not'),
        (
            lambda a: a,
            {"use_rep": "X", "key_added": "X_pca"},
            ValueError,
            r'replace adata.obsm\["X_pca"\] and .*, not written by ctsne; .* "pca_map"',
        ),
        (
            lambda a: with_obs(a, "foo_perplexity"),
            {"key_added": "foo"},
            ValueError,
            r'replace adata.obs\["foo_perplexity"\]',
        ),
        (lambda a: a, {"metric": "precomputed"}, ValueError, "name a graph with neighbors_key"),
        (
            lambda a: a,
            {"method": "jont"},
            ValueError,
            "method must be .*did you mean 'joint'",
        ),
        (lambda a: a, {"align": "X_harmny"}, ValueError, "align: .*'X_harmny' in adata.obsm"),
        (lambda a: a, {"align": "X_umpa"}, ValueError, "align: .*did you mean 'X_umap'"),
        (lambda a: a, {"align": "mutal"}, ValueError, "align: .*did you mean 'mutual'"),
        (lambda a: a, {"align": np.ones((5, 2))}, ValueError, "align must be .*each of the 700"),
        (
            lambda a: a,
            {"align": pd.DataFrame(np.ones((700, 2)))},
            ValueError,
            "align.* different row names",
        ),
        (lambda a: a, {"odds": 0.5}, ValueError, "odds must be a number from 1 to"),
        (lambda a: a, {"odds": 2, "beta_low": 0.5}, ValueError, "set the same thing"),
        (lambda a: a, {"mixing": 1.5}, ValueError, "mixing must be a number"),
        (lambda a: a, {"mixing": 0.5, "strength": 0.5}, ValueError, "leave one of them out"),
        (
            lambda a: a,
            {"neighbors_key": "neighbors", "perplexity": 5, "align": "mean"},
            ValueError,
            "align needs features to move",
        ),
        (lambda a: a, {"neighbors_key": "neighbours"}, ValueError, "did you mean 'neighbors'"),
        (
            lambda a: without(a, "uns", "neighbors"),
            {"neighbors_key": "neighbors"},
            ValueError,
            r"there are none; scanpy.pp.neighbors\(adata\) makes one",
        ),
        (
            lambda a: without(a, "obsp", "distances"),
            {"neighbors_key": "neighbors"},
            ValueError,
            r"refers to adata.obsp\['distances'\], which does not exist",
        ),
        (
            lambda a: a,
            {"neighbors_key": "neighbors"},
            ValueError,
            r"perplexity=10 needs more neighbours than the 9 .*n_neighbors=31\)",
        ),
        (
            lambda a: a,
            {"neighbors_key": "neighbors", "metric": "cosine"},
            ValueError,
            "metric='cosine' has no effect with neighbors_key",
        ),
        (
            lambda a: a,
            {"neighbors_key": "neighbors", "n_pcs": 5},
            ValueError,
            "n_pcs=5 has no effect with neighbors_key",
        ),
        (
            lambda a: anndata.AnnData(obs=a.obs, obsm={"latent": a.X}),
            {},
            ValueError,
            "adata has no X; choose a representation with use_rep: latent",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:.*no counterpart under other labels:UserWarning")
@pytest.mark.filterwarnings("ignore:.*no neighbour with another label:UserWarning")
def test_refuses_with_nothing_changed(
    blood: Any, change: Any, arguments: Any, error: Any, match: str
) -> None:
    data = change(blood)
    before = fields(blood)
    with pytest.raises(error, match=match):
        ctsne.tl.ctsne(data, **{"labels": "phase", "perplexity": 10, **arguments})
    assert fields(blood) == before


def test_a_map_has_two_names_and_one_place(blood: Any) -> None:
    del blood.varm["PCs"]  # those of a copy differ by rounding
    ctsne.tl.ctsne(blood, "phase", **QUICK)
    tables = [ctsne.tl.evaluate(blood, "phase", basis=name) for name in ("ctsne", "X_ctsne")]
    # As earlier versions stored it.
    blood.obsm["ctsne"] = blood.obsm.pop("X_ctsne")
    tables += [ctsne.tl.evaluate(blood, basis=name) for name in ("ctsne", "X_ctsne")]
    for table in tables[1:]:
        assert table.equals(tables[0])
    for name in ("ctsne", "X_ctsne"):
        drawn = ctsne.pl.embedding(blood, "phase", basis=name)
        assert len(drawn.collections[0].get_offsets()) == blood.n_obs
        assert ctsne.pl.other_share(blood, "phase", basis=name).get_ylabel()
        placed = ctsne.tl.transform(blood[:5].copy(), blood, basis=name, copy=True)
        assert placed is not None
        assert [each for each in placed.obsm if "ctsne" in each] == ["X_ctsne"]
    ctsne.tl.ctsne(blood, "phase", key_added="X_ctsne", **QUICK)
    assert [each for each in blood.obsm if "ctsne" in each] == ["X_ctsne"]
    assert [each for each in blood.uns if "ctsne" in each] == ["ctsne"]


def test_never_replaces_what_the_map_is_made_of(blood: Any) -> None:
    ctsne.tl.ctsne(blood, "phase", **QUICK)
    before = blood.obsm["X_ctsne"].copy()
    for name in ("ctsne", "X_ctsne"):
        with pytest.raises(ValueError, match="would replace the features of the map"):
            ctsne.tl.ctsne(blood, "phase", use_rep="X_ctsne", key_added=name, **QUICK)
    assert_array_equal(blood.obsm["X_ctsne"], before)


def test_infinite_values_are_named_by_their_place(blood: Any) -> None:
    blood.obsm["X_pca"][3, 2] = np.nan
    with pytest.raises(ValueError, match=r"obsm\['X_pca'\] contains 1 NaN .*row 3, column 2"):
        ctsne.tl.ctsne(blood, "phase")


def test_failure_in_the_fit_leaves_nothing(small: Any) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("mine")

    before = fields(small)
    with pytest.raises(RuntimeError, match="mine"):
        ctsne.tl.ctsne(small, "phase", callback=fail, callback_every=1, **QUICK)
    assert fields(small) == before
