"""Points of a collection, placed on a cluster: the same bits, whole files, runs that continue."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from ctsne import ConditionalTSNE
from ctsne._core.files import file_checksum, sole_writer
from ctsne.datasets import make_synthetic
from ctsne.distributed import PlacedShards, fit_sample, place, placement
from ctsne.distributed.collection import Choice, shard_blocks
from ctsne.distributed.folder import RECORD
from ctsne.distributed.worker import load_model, place_block

from ..io.conftest import refused

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

DATA = make_synthetic(1200, random_state=0)
NAMES = [f"PC{place}" for place in range(1, DATA.X.shape[1] + 1)]
FRAME = pd.DataFrame(DATA.X, columns=NAMES).assign(batch=DATA.known, shape=DATA.hidden)
X = da.from_array(DATA.X, chunks=(500, -1))


def run(model: Any, collection: Any, out: Path, **more: Any) -> PlacedShards:
    return place(model, collection, out, progress=False, **more)


def positions(placed: PlacedShards) -> np.ndarray:
    frame = pd.concat([pd.read_parquet(path) for path in placed.files])
    return frame[["ctsne_1", "ctsne_2"]].to_numpy()


@pytest.fixture
def cells(tmp_path: Path) -> Path:
    """A folder with five shards, the last of them smaller."""
    folder = tmp_path / "cells"
    folder.mkdir()
    for number, start in enumerate(range(0, len(FRAME), 280)):
        FRAME.iloc[start : start + 280].to_parquet(folder / f"c{number}.parquet")
    return folder


# Kinds of collections


def test_arrays(client: Any, model: Any, expected: np.ndarray, tmp_path: Path) -> None:
    placed = run(model, X, tmp_path / "out", labels=DATA.known)
    assert [path.name for path in placed.files] == [f"part-{part:05d}.parquet" for part in range(3)]
    assert placed.n_points == 1200 and placed.n_found == 0
    np.testing.assert_array_equal(positions(placed), expected)
    # Readers of Parquet see one table in the folder.
    frame = pd.read_parquet(tmp_path / "out")
    assert list(frame.columns) == [
        "ctsne_1",
        "ctsne_2",
        "ctsne_distance",
        "ctsne_far",
        "ctsne_perplexity",
        "ctsne_other_share",
        "ctsne_matched",
        "ctsne_largest_weight",
        "labels",
    ]
    assert frame["labels"].tolist() == DATA.known.tolist()
    together = model.place(DATA.X, DATA.known)
    np.testing.assert_array_equal(frame["ctsne_matched"], together.matched)
    assert placed.n_far == together.far.sum() == frame["ctsne_far"].sum()
    assert not list((tmp_path / "out").glob(".*"))


def test_lazy_labels_and_unknown_lengths(
    client: Any, model: Any, expected: np.ndarray, tmp_path: Path
) -> None:
    frame = dd.from_pandas(FRAME, npartitions=3)
    values = frame[NAMES].to_dask_array()  # lengths are not known
    with warnings.catch_warnings():  # text as objects
        warnings.simplefilter("ignore", UserWarning)
        labels = frame["batch"].to_dask_array()
    for known in (labels, DATA.known):
        refused("compute_chunk_sizes", run, model, values, tmp_path / "out", labels=known)
    assert not (tmp_path / "out").exists()
    values, labels = values.compute_chunk_sizes(), labels.compute_chunk_sizes()
    placed = run(model, values, tmp_path / "out", labels=labels)
    np.testing.assert_array_equal(positions(placed), expected)


def test_data_frames(client: Any, tmp_path: Path) -> None:
    named = ConditionalTSNE(n_iter=30, random_state=0)
    named.fit(FRAME[NAMES][:300], labels=FRAME["batch"][:300])
    mixed = FRAME[["shape", *NAMES[::-1], "batch"]].assign(
        number=np.arange(1200), late=[None] * 1190 + ["x"] * 10, ctsne_1=0.0
    )
    mixed.index = [f"cell {row}" for row in range(1200)]
    placed = run(
        named, dd.from_pandas(mixed, npartitions=4, sort=False), tmp_path / "out", labels="batch"
    )
    found = pd.read_parquet(tmp_path / "out")
    np.testing.assert_array_equal(
        found[["ctsne_1", "ctsne_2"]], named.transform(FRAME[NAMES], FRAME["batch"])
    )
    assert placed.n_points == 1200
    assert found.index.tolist() == mixed.index.tolist()
    assert found["number"].tolist() == list(range(1200))
    assert found["late"].notna().sum() == 10
    assert not set(NAMES) & set(found.columns)


@pytest.mark.parametrize("rows", [100, 2**16])
@pytest.mark.filterwarnings("ignore:.* no neighbour in the map closer than")
def test_parquet_files_in_blocks(
    rows: int, model: Any, expected: np.ndarray, cells: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choice = Choice(("batch",), tuple(NAMES), others=True)
    blocks = [list(shard_blocks(str(path), choice, rows)) for path in sorted(cells.iterdir())]
    assert [len(own) for own in blocks] == ([3, 3, 3, 3, 1] if rows == 100 else [1] * 5)
    placed = [place_block(model, block, ["batch"]).embedding for own in blocks for block in own]
    np.testing.assert_array_equal(np.concatenate(placed), expected)


def test_parquet_files(
    client: Any, model: Any, expected: np.ndarray, tmp_path: Path, cells: Path
) -> None:
    placed = run(model, str(cells / "*.parquet"), tmp_path / "a", labels="batch")
    assert [path.name for path in placed.files] == [f"c{part}.parquet" for part in range(5)]
    np.testing.assert_array_equal(positions(placed), expected)
    assert pd.read_parquet(placed.files[4])["shape"].tolist() == DATA.hidden[1120:].tolist()
    with pytest.warns(UserWarning, match="no labels given") as caught:
        placed = run(model, str(cells / "*.parquet"), tmp_path / "b")
    assert len(caught) == 1  # of all shards together
    with pytest.warns(UserWarning, match="no labels given"):
        alone = model.transform(DATA.X)
    np.testing.assert_array_equal(positions(placed), alone)


def test_h5ad(client: Any, model: Any, expected: np.ndarray, tmp_path: Path) -> None:
    anndata = pytest.importorskip("anndata")
    import scipy.sparse as sp

    for part in range(3):
        rows = slice(400 * part, 400 * part + 400)
        obs = FRAME[["batch", "shape"]][rows].set_axis([f"cell {row}" for row in range(400)])
        adata = anndata.AnnData(sp.csr_matrix(DATA.X[rows]), obs=obs.astype("category"))
        adata.obsm["X_own"] = DATA.X[rows]
        adata.write_h5ad(tmp_path / f"{part}.h5ad")
    files = str(tmp_path / "*.h5ad")
    placed = run(model, files, tmp_path / "a", labels="batch", use_rep="X_own")
    np.testing.assert_array_equal(positions(placed), expected)
    found = pd.read_parquet(placed.files[1])
    assert found.index[3] == "cell 3" and found["shape"].tolist() == DATA.hidden[400:800].tolist()
    placed = run(model, files, tmp_path / "b", labels="batch")  # sparse, by rows
    np.testing.assert_allclose(positions(placed), expected, rtol=1e-3, atol=1e-3)
    refused("X_own", run, model, files, tmp_path / "c", labels="batch", use_rep="X_pca")
    adata.var_names = [f"other {gene}" for gene in range(adata.n_vars)]
    adata.write_h5ad(tmp_path / "2.h5ad")
    refused(r"1 of 3 shards .*2\.h5ad lacks", run, model, files, tmp_path / "c", labels="batch")


def test_genes_are_chosen_as_by_the_reader(client: Any, tmp_path: Path) -> None:
    anndata = pytest.importorskip("anndata")
    marked = np.arange(DATA.X.shape[1]) % 2 == 0
    genes = np.array([f"g{gene}" for gene in range(len(marked))])
    for part in range(2):
        rows = slice(600 * part, 600 * part + 600)
        order = np.arange(len(genes))[:: 1 - 2 * part]  # of the second file, the other way round
        obs = FRAME[["batch"]][rows].set_axis([f"cell {row}" for row in range(600)])
        adata = anndata.AnnData(DATA.X[rows][:, order], obs=obs)
        adata.var_names, adata.var["highly_variable"] = genes[order], marked[order]
        adata.write_h5ad(tmp_path / f"{part}.h5ad")
    small = ConditionalTSNE(n_iter=30, perplexity=10, random_state=0)
    found = fit_sample(str(tmp_path / "*.h5ad"), 10_000, labels="batch", estimator=small)
    same = small.fit(DATA.X[:, marked], labels=DATA.known)
    np.testing.assert_array_equal(found.embedding_, same.embedding_)
    placed = run(found, str(tmp_path / "*.h5ad"), tmp_path / "out", labels="batch")
    direct = same.transform(DATA.X[:, marked], DATA.known)
    np.testing.assert_array_equal(positions(placed), direct)


# Runs that end early


def test_a_finished_folder_needs_no_cluster(
    client: Any, model: Any, tmp_path: Path, cells: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, out = str(cells / "*.parquet"), tmp_path / "out"
    placed = run(model, files, out, labels="batch")
    monkeypatch.setattr(placement, "opened_client", lambda _: pytest.fail("a cluster was opened"))
    again = run(model, files, out, labels="batch")
    assert again.n_found == len(placed.files) == 5 and again.n_points == placed.n_points


def test_a_run_continues(
    client: Any, model: Any, expected: np.ndarray, tmp_path: Path, cells: Path
) -> None:
    out = tmp_path / "out"
    placed = run(model, str(cells / "*.parquet"), out, labels="batch")
    times = {path: path.stat().st_mtime_ns for path in placed.files}
    placed.files[1].unlink()
    damaged = placed.files[3].read_bytes()
    placed.files[3].write_bytes(damaged[:-100])  # by a disk, say
    (out / ".c1.parquet.0123.part").write_bytes(b"of a killed worker")
    again = run(model, str(cells / "*.parquet"), out, labels="batch")
    assert again.n_found == 3
    np.testing.assert_array_equal(positions(again), expected)
    assert placed.files[3].read_bytes() == damaged
    unchanged = [path for path in placed.files if path.stat().st_mtime_ns == times[path]]
    assert unchanged == [placed.files[part] for part in (0, 2, 4)]
    assert not list(out.glob(".*"))


def test_another_model_or_collection_is_refused(
    client: Any, model: Any, tmp_path: Path, cells: Path
) -> None:
    out, files = tmp_path / "out", str(cells / "*.parquet")
    run(model, files, out, labels="batch")
    before = {path: path.read_bytes() for path in out.iterdir()}
    other = ConditionalTSNE(n_iter=31).fit(DATA.X[:400], labels=DATA.known[:400])
    for message, arguments in (
        ("with another model", (other, files, out, "batch")),
        ("with other labels", (model, files, out, "shape")),
        ("of other shards", (model, str(cells / "c[1-4].parquet"), out, "batch")),
    ):
        with pytest.raises(ValueError, match=f"holds points placed {message}.*another folder"):
            run(*arguments[:3], labels=arguments[3])
    assert {path: path.read_bytes() for path in out.iterdir()} == before
    run(model, X, tmp_path / "arrays", labels=DATA.known)
    refused("of other data", run, model, X + 1, tmp_path / "arrays", labels=DATA.known)
    (out / RECORD).write_text("[1, 2]")
    refused("is not a record of placed points", run, model, files, out, labels="batch")


def test_bad_shards_are_named_and_can_be_corrected(
    client: Any, model: Any, tmp_path: Path, cells: Path
) -> None:
    # Of an aligned map, the labels of all shards are read first, for those it does not have.
    broken = tmp_path / "broken"
    shutil.copytree(cells, broken)
    (broken / "c3.parquet").write_bytes(b"PAR1")
    refused("c3", run, model, str(broken / "*.parquet"), tmp_path / "out", labels="batch")
    assert not (tmp_path / "out").exists()
    model = clone(model).set_params(align="none").fit(DATA.X[::3], labels=DATA.known[::3])
    expected = model.transform(DATA.X, DATA.known)
    good = [(cells / f"c{part}.parquet").read_bytes() for part in range(5)]
    frame = pd.read_parquet(cells / "c1.parquet")
    frame.iloc[3, 2] = np.nan
    frame.to_parquet(cells / "c1.parquet")
    (cells / "c3.parquet").write_bytes(good[3][:200])
    with pytest.raises(ValueError, match="2 of 5 shards could not be placed, all others") as error:
        run(model, str(cells / "*.parquet"), tmp_path / "out", labels="batch")
    assert "c1.parquet: " in str(error.value) and "NaN" in str(error.value)
    assert "c3.parquet is not a valid" in str(error.value)
    names = {path.name for path in (tmp_path / "out").glob("[!_]*")}
    assert names == {"c0.parquet", "c2.parquet", "c4.parquet"}
    for part in (1, 3):
        (cells / f"c{part}.parquet").write_bytes(good[part])
    placed = run(model, str(cells / "*.parquet"), tmp_path / "out", labels="batch")
    assert placed.n_found == 3
    np.testing.assert_array_equal(positions(placed), expected)


def test_a_killed_worker_costs_a_second_try(
    client: Any, model: Any, expected: np.ndarray, tmp_path: Path
) -> None:
    first = client.run(os.getpid)
    mark = tmp_path / "killed"

    # Not at the top of the module, which workers cannot import.
    def kill_once(block: np.ndarray, block_info: Any = None) -> np.ndarray:
        if block_info[0]["chunk-location"][0] == 1 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    array = da.from_array(DATA.X, chunks=(200, -1)).map_blocks(
        kill_once, dtype=DATA.X.dtype, meta=np.empty((0, 0))
    )
    placed = run(model, array, tmp_path / "out", labels=DATA.known)
    assert mark.exists()
    np.testing.assert_array_equal(positions(placed), expected)
    client.wait_for_workers(2)
    assert set(client.run(os.getpid).values()) != set(first.values())


def test_two_runs_in_one_folder_are_refused(client: Any, model: Any, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    failed: list[BaseException] = []

    def second() -> None:
        try:
            run(model, X, tmp_path / "out", labels=DATA.known, client=client)
        except ValueError as error:
            failed.append(error)

    with sole_writer(tmp_path / "out", "run of place"):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(60)
    assert "another run of place is writing" in str(failed[0])


# The model


def test_a_model_from_a_file_stays_there(
    client: Any, model: Any, expected: np.ndarray, tmp_path: Path
) -> None:
    model.save(tmp_path / "model.ctsne")
    placed = run(tmp_path / "model.ctsne", X, tmp_path / "out", labels=DATA.known)
    np.testing.assert_array_equal(positions(placed), expected)
    record = json.loads((tmp_path / "out" / RECORD).read_text())
    assert record["model"] == file_checksum(tmp_path / "model.ctsne")
    assert {path.name for path in (tmp_path / "out").glob("_*")} == {RECORD}
    # The same model as an object continues the run.
    assert run(model, X, tmp_path / "out", labels=DATA.known).n_found == 3


def test_workers_read_the_model_once(client: Any, model: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.ctsne"
    model.save(path)

    def load_twice(path: str, checksum: str) -> tuple[bool, int | None]:
        one, two = load_model(path, checksum), load_model(path, checksum)
        return one is two, one.n_jobs

    assert client.submit(load_twice, str(path), file_checksum(path)).result() == (True, -1)
    for wrong in ((str(path), "0" * 64), (str(tmp_path / "none.ctsne"), "1" * 64)):
        refused("cannot read the model", client.submit(load_model, *wrong).result)


def test_several_columns(client: Any, tmp_path: Path) -> None:
    frame = FRAME.assign(shape=np.where(np.arange(1200) // 2 % 2, "a", "b"))
    few = frame[::3]
    both = ConditionalTSNE(n_iter=30, align="none").fit(few[NAMES], labels=few[["batch", "shape"]])
    placed = run(
        both, dd.from_pandas(frame, npartitions=2), tmp_path / "out", labels=["batch", "shape"]
    )
    direct = both.transform(frame[NAMES], frame[["batch", "shape"]])
    np.testing.assert_array_equal(positions(placed), direct)
    placed = run(
        both, dd.from_pandas(frame, npartitions=2), tmp_path / "turned", labels=["shape", "batch"]
    )
    np.testing.assert_array_equal(positions(placed), direct)


# All combinations of labels and groups of numbers are in the model, so none is aligned anew.
@pytest.mark.filterwarnings("ignore:the map is aligned and has several label columns")
def test_numbers(client: Any, tmp_path: Path) -> None:
    frame = FRAME.assign(age=np.random.default_rng(0).uniform(20, 80, len(FRAME)))
    few = frame[::3]
    fitted = ConditionalTSNE(perplexity=8, n_iter=30).fit(
        few[NAMES], labels=few[["batch"]], numbers=few[["age"]]
    )
    shards = dd.from_pandas(frame, npartitions=2)
    placed = run(fitted, shards, tmp_path / "out", labels=["batch", "age"])
    direct = fitted.transform(frame[NAMES], frame[["batch", "age"]])
    np.testing.assert_array_equal(positions(placed), direct)
    turned = fitted.transform(frame[NAMES], frame[["batch"]].assign(age=100 - frame["age"]))
    assert (direct != turned).any(axis=1).mean() > 0.5


def test_far_points_are_counted(client: Any, model: Any, tmp_path: Path) -> None:
    far = DATA.X.copy()
    far[::100] += 1000
    placed = run(model, da.from_array(far, chunks=(400, -1)), tmp_path / "out", labels=DATA.known)
    assert placed.n_far >= 12  # without a warning for every shard
    assert pd.read_parquet(tmp_path / "out")["ctsne_far"][::100].all()


def test_new_labels_of_an_aligned_map_move_alike_in_all_shards(client: Any, tmp_path: Path) -> None:
    few = np.arange(0, 1200, 3)
    shifted, labels = DATA.X.copy(), DATA.known.astype(object)
    labels[1::4] = "new"
    shifted[1::4] += 0.5
    few = few[labels[few] != "new"]
    aligned = ConditionalTSNE(n_iter=30, align="mutual").fit(shifted[few], labels=labels[few])
    maps = []
    for chunks in (1200, 500, 130):
        array = da.from_array(shifted, chunks=(chunks, -1))
        placed = run(aligned, array, tmp_path / f"{chunks}", labels=labels.astype(str))
        maps.append(positions(placed))
    with pytest.warns(UserWarning, match="new points have no neighbour"):
        together = aligned.transform(shifted, labels)
    np.testing.assert_array_equal(maps[0], together)
    np.testing.assert_array_equal(maps[0], maps[1])
    np.testing.assert_array_equal(maps[0], maps[2])
    # A later run keeps the shifts, and needs no sample.
    placed.files[0].unlink()
    again = run(aligned, array, tmp_path / "130", labels=labels.astype(str))
    assert again.n_found == len(placed.files) - 1
    np.testing.assert_array_equal(positions(again), maps[0])


# What is refused before any work


def test_bad_arguments(client: Any, model: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    refused("model must be a fitted ConditionalTSNE", run, 3, X, out, error=TypeError)
    refused("not fitted", run, ConditionalTSNE(), X, out)
    refused(r"no file .*model\.ctsne", run, tmp_path / "model.ctsne", X, out)
    with pytest.raises(ValueError, match=f"has {len(NAMES) - 1} features, but the model"):
        run(model, X[:, 1:], out, labels=DATA.known)
    refused("there is no folder", run, model, X, tmp_path / "a" / "b", labels=DATA.known)
    refused("must have 2 dimensions", run, model, X.reshape(-1), out)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").touch()
    with pytest.raises(ValueError, match=r"holds other files \(thesis.txt\)"):
        run(model, X, tmp_path / "full", labels=DATA.known)
    with pytest.raises(ValueError, match="is a file; name a folder"):
        run(model, X, tmp_path / "full" / "thesis.txt", labels=DATA.known)
    assert not out.exists()


def test_formats(client: Any, model: Any, tmp_path: Path, cells: Path) -> None:
    for name in ("x.csv", "x.npy", "x.feather"):
        (tmp_path / name).touch()
        with pytest.raises(ValueError, match=r"must end in one of \.parquet, \.h5ad"):
            run(model, tmp_path / name, tmp_path / "out")
    with pytest.raises(ValueError, match=r"one format, got .csv, .parquet"):
        run(model, [tmp_path / "x.csv", cells / "c0.parquet"], tmp_path / "out")
    refused("is a folder", run, model, cells, tmp_path / "out")
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        FRAME[:30].to_parquet(tmp_path / folder / "x.parquet")
    placed = run(model, str(tmp_path / "[ab]" / "x.parquet"), tmp_path / "out", labels="batch")
    assert [path.name for path in placed.files] == ["00000-x.parquet", "00001-x.parquet"]
