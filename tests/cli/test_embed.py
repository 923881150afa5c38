"""``ctsne embed``: from a file to a map, whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from types import SimpleNamespace
from typing import IO, Any

import anndata
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
import scipy.sparse as sp

from ctsne import ConditionalTSNE
from ctsne._core.files import WriteError
from ctsne.cli.main import main
from ctsne.fit.advice import doubt_line
from ctsne.io import read_map
from ctsne.io.dataset import looks_like_counts
from ctsne.layout.descent import Layout
from ctsne.storage.record import read_record

Run = Callable[..., str]
RunJson = Callable[..., dict[str, Any]]


def test_the_map_is_that_of_the_estimator(cells: str, frame: pd.DataFrame, run: Run) -> None:
    run("embed cells.csv --labels batch --index cell -o map.csv")
    # As text has it: shortest digits that give the number back.
    X = frame.filter(like="PC").to_numpy()
    model = ConditionalTSNE(
        perplexity=8, n_iter=40, early_exaggeration_iter=20, random_state=0
    ).fit(X, labels=frame["batch"])
    made = read_map("map.csv")
    assert np.array_equal(made.embedding, model.embedding_)
    assert np.allclose(made.columns["ctsne_perplexity"], model.diagnostics_.perplexity)
    assert list(made.columns["type"]) == list(frame["type"])
    assert made.names is not None and list(made.names) == list(frame["cell"])


@pytest.mark.parametrize(
    "name",
    ["map.csv", "map.tsv.gz", "map.parquet", "map.h5ad"],
)
def test_the_same_command_twice_gives_the_same_bytes(name: str, cells: str, run: Run) -> None:
    sums = []
    for _ in range(2):
        run(f"embed cells.csv --labels batch -o {name}")
        sums.append({p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in Path().iterdir()})
    assert sums[0] == sums[1]
    assert read_record(name).labels == ("batch",)


@pytest.fixture
def adata(frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What ``cells.h5ad`` in the working folder holds."""
    import anndata

    monkeypatch.chdir(tmp_path)
    obs = frame.set_index("cell")[["batch", "type"]].astype("category")
    adata = anndata.AnnData(np.zeros((len(frame), 3), np.float32), obs=obs)
    adata.obsm["X_pca"] = frame.filter(like="PC").to_numpy()
    adata.write_h5ad("cells.h5ad")
    return adata


def test_into_the_h5ad(adata: Any, frame: pd.DataFrame, run: Run) -> None:
    import anndata

    run("embed cells.h5ad --labels batch type -o cells.h5ad")
    again = anndata.read_h5ad("cells.h5ad")
    assert again.obsm["X_ctsne"].shape == (len(frame), 2)
    assert np.array_equal(again.obsm["X_pca"], adata.obsm["X_pca"])
    assert read_record("cells.h5ad").inputs[0].sha256 is None


def test_a_link_to_the_h5ad(
    adata: Any, capsys: pytest.CaptureFixture[str], fail: Run, quick: list[str]
) -> None:
    Path("link.h5ad").symlink_to("cells.h5ad")
    before = Path("cells.h5ad").read_bytes()
    command = ["--labels", "batch", *quick, "-o"]
    assert "there is no file missing.h5ad" in fail("embed", "missing.h5ad", *command, "link.h5ad")
    assert Path("link.h5ad").is_symlink() and Path("cells.h5ad").read_bytes() == before
    assert main(["embed", "link.h5ad", *command, "./link.h5ad"]) == 0
    said = "ctsne: link.h5ad was a link; it is now a file, and the file it pointed to is kept\n"
    assert said in capsys.readouterr().err
    assert not Path("link.h5ad").is_symlink() and Path("cells.h5ad").read_bytes() == before


def test_what_the_map_is_made_of_is_not_replaced_by_it(adata: Any, run: Run, fail: Run) -> None:
    command = "embed cells.h5ad --labels batch -o cells.h5ad"
    run(command)
    before = Path("cells.h5ad").read_bytes()
    assert 'would overwrite its input, obsm["X_ctsne"]; use another --key' in fail(
        f"{command} --use-rep X_ctsne"
    )
    assert Path("cells.h5ad").read_bytes() == before
    text = run(f"{command} --use-rep X_ctsne --key second")
    drawn = "ctsne plot cells.h5ad -o cells.png --color batch type --key second"
    assert f"\nnext, to draw the map: {drawn}\n" in text
    drawn = "ctsne plot cells.h5ad -o cells-before-after.png --before-after --key second"
    assert f"\nnext, to draw it next to t-SNE: {drawn}\n" in text
    assert "next to t-SNE" not in run(f"{command} --method tsne --key plain")


@pytest.mark.parametrize(
    ("output", "name"),
    [("-o labels.csv", "labels.csv"), ("-o X.csv", "X.csv"), ("-o link.csv", "X.csv")],
)
def test_no_output_replaces_an_input(
    output: str,
    name: str,
    frame: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fail: Run,
) -> None:
    monkeypatch.chdir(tmp_path)
    frame.filter(like="PC").to_csv("X.csv", index=False)
    frame[["batch"]].to_csv("labels.csv", index=False)
    Path("link.csv").symlink_to("X.csv")
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    message = fail(f"embed X.csv --label-file labels.csv --labels batch {output}")
    assert f"the output would replace the input {name}; name another output" in message
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


def test_the_other_label_is_measured_and_no_feature(
    cells: str, frame: pd.DataFrame, run_json: RunJson
) -> None:
    frame.to_csv(cells, index=False)  # with the plate, a number
    command = "embed cells.csv --labels batch"
    content = run_json(f"{command} --other plate -o a.csv")
    run_json(f"{command} --features 'PC*' -o b.csv")
    assert np.array_equal(read_map("a.csv").embedding, read_map("b.csv").embedding)
    assert 0.5 < content["measures"]["other_mixing"] < 1.5  # it is random


def test_a_column_with_the_name_of_the_combination(
    cells: str, frame: pd.DataFrame, fail: Run
) -> None:
    frame.assign(**{"batch | type": "x"}).to_csv(cells, index=False)
    command = "embed cells.csv --labels batch type --combine -o map.csv"
    message = fail(command)
    assert "has a column 'batch | type', the name of the combination of --labels" in message


def test_reports_the_result(cells: str, run: Run, run_json: RunJson) -> None:
    text = run("embed cells.csv --labels batch -o map.csv")
    assert text.startswith("map: map.csv (120 points; joint, strength 0.7)\nmixing of batch: ")
    assert "\nneighbours kept: 0." in text and " (adjusted R_NX)\n" in text
    content = run_json("embed cells.csv --labels batch -o map.csv")
    assert content["output"] == "map.csv" and content["settings"]["perplexity"] == 8
    assert 0 <= content["measures"]["mixing"] <= 1.2 and content["seconds"] > 0
    assert 0 < content["measures"]["adjusted_rnx"] < 1
    assert content["found"] == {"strength": 0.7} and content["settings"]["strength"] is None
    text = run("embed cells.csv --labels batch -o m.csv --method revised")
    assert text.startswith("map: m.csv (120 points; revised, beta 0.0001)\n")


def test_what_to_do_next_is_said_once(
    run: Run, run_json: RunJson, capsys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    labels = np.where(np.arange(600) % 2, "one", "two")
    X = rng.normal(size=(600, 4))
    X[:, 0] += 2.5 * (labels == "one")
    pd.DataFrame(X).assign(batch=labels).to_csv("apart.csv", index=False)
    command = (
        "embed apart.csv --labels batch --align none --strength 0.2 --perplexity 20 -o map.csv"
    )
    usual = "--n-iter 750 --early-exaggeration-iter 250"
    text = run(f"{command} {usual}")
    assert "labels that stay apart: " in text and " --strength " in text
    assert "would mix batch to about 0." in text and "similarities per point" not in text
    assert "counterpart" not in capsys.readouterr().err
    found = run_json(f"{command} {usual}")["advice"]
    assert found["cause"] == "strength" and found["change"]["strength"] > 0.2
    assert {each["label"] for each in found["apart"]} == {"one", "two"}
    assert "similarities per point" in run(f"{command} --verbose")


@pytest.mark.parametrize("graph", [False, True])
def test_neighbours_kept_by_given_distances(
    graph: bool,
    frame: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run_json: RunJson,
    quick: list[str],
) -> None:
    from scipy.spatial.distance import cdist

    monkeypatch.chdir(tmp_path)
    X = frame.filter(like="PC").to_numpy()
    frame[["batch"]].to_csv("labels.csv", index=False)
    labels = ["--label-file", "labels.csv", "--labels", "batch", "-o", "map.csv", *quick]
    np.save("X.npy", X)
    # Distances cannot be aligned: only without alignment are the two maps comparable.
    command = ["embed", "X.npy", *labels, "--align", "none", "--init", "random"]
    kept = run_json(*command)["measures"]["adjusted_rnx"]
    distances = cdist(X, X)
    np.save("D.npy", distances)
    sp.save_npz("G.npz", sp.csr_array(distances))
    command = ["embed", "G.npz" if graph else "D.npy", *labels, "--metric", "precomputed"]
    found = run_json(*command, "--init", "random")["measures"]["adjusted_rnx"]
    assert found is None if graph else found == pytest.approx(kept, abs=0.02)


def test_what_the_map_is_made_of_is_named(
    cells: str, frame: pd.DataFrame, quick: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    frame.to_csv(cells, index=False)  # with the plate, a number
    command = ["embed", cells, "-o", "map.csv", *quick]
    assert main([*command, "--labels", "batch"]) == 0
    err = capsys.readouterr().err
    assert "ctsne: features: PC1 ... PC10\n" in err
    assert "left out of the map: 'plate'" in err and "--features 'PC*' plate" in err
    Path("map.csv").unlink()
    for method in ("joint", "tsne"):
        assert main([*command, "--labels", "cell", "--method", method]) == 1
        assert "--labels: 'cell' has 120 different values for 120 points" in capsys.readouterr().err
        assert not Path("map.csv").exists()


def test_a_picture_in_the_same_command(cells: str, run: Run) -> None:
    picture = "--plot map.png --color type"
    text = run(f"embed cells.csv --labels batch -o map.csv {picture}")
    assert "picture: map.png" in text
    assert Path("map.png").read_bytes().startswith(b"\x89PNG")
    assert b"ctsne plot map.csv -o map.png --color batch type" in Path("map.png").read_bytes()


def test_a_page_of_the_map(cells: str, run: Run) -> None:
    page = "--other type --page map.html"
    text = run(f"embed cells.csv --labels batch -o map.csv {page}")
    assert "page: map.html; open it in a browser" in text
    found = re.search(r'id="ctsne-facts">(.*?)</script>', Path("map.html").read_text("utf-8"))
    assert found is not None
    facts = json.loads(found[1])
    assert facts["single"] and facts["title"] == "Map with batch factored out"
    columns = [each["name"] for each in facts["columns"]]
    assert columns[facts["known"][0]] == "batch" and columns[facts["other"][0]] == "type"
    assert facts["names"] is None and "ctsne embed cells.csv --labels batch" in Path(
        "map.html"
    ).read_text("utf-8")


def test_numbers_for_each_label(cells: str, run_json: RunJson, quick: list[str]) -> None:
    command = ["embed", cells, "--labels", "batch", "-o", "map.csv", *quick]
    labels = sorted(set(pd.read_csv(cells)["batch"]))
    pairs = [f"{label}=1e-{place + 1}" for place, label in enumerate(labels)]
    content = run_json(*command, "--method", "revised", "--beta", *pairs)
    assert content["settings"]["beta"] == {
        label: 10 ** -(place + 1.0) for place, label in enumerate(labels)
    }
    odds = {label: place + 2.0 for place, label in enumerate(labels)}
    content = run_json(*command, "--odds", *(f"{label}={each}" for label, each in odds.items()))
    assert content["settings"]["odds"] == odds
    assert read_record("map.csv").parameters["odds"] == odds


@pytest.mark.parametrize(("method", "knob"), [("balanced", "strength"), ("revised", "beta")])
def test_a_mixing_is_found_and_reported(
    method: str, knob: str, cells: str, run: Run, run_json: RunJson, quick: list[str]
) -> None:
    command = ["embed", cells, "--labels", "batch", "--method", method, *quick]
    content = run_json(*command, "--mixing", "0.3", "-o", "map.csv")
    assert content["settings"]["mixing"] == 0.3 and content["settings"][knob] is None
    assert set(content["found"]) == {knob}
    text = run(*command, "--mixing", "0.3", "-o", "again.csv")
    assert f"; {method}, {knob} {content['found'][knob]:.4g})" in text.splitlines()[0]
    # It is the map of what was found, and the settings make it again.
    run(*command, f"--{knob}", repr(content["found"][knob]), "-o", "given.csv")
    made, given = read_map("map.csv"), read_map("given.csv")
    assert np.array_equal(made.embedding, given.embedding)
    assert read_record("map.csv").parameters["mixing"] == 0.3
    assert "made again, identical to the one before" in run("rerun map.csv")


@pytest.mark.parametrize("align", ["mutual", "local", "mean", "auto"])
def test_aligned_by_name(align: str, cells: str, frame: pd.DataFrame, run: Run) -> None:
    run(f"embed cells.csv --labels batch --align {align} -o map.csv")
    model = ConditionalTSNE(
        align=align, perplexity=8, n_iter=40, early_exaggeration_iter=20, random_state=0
    ).fit(frame.filter(like="PC").to_numpy(), labels=frame["batch"])
    made = read_map("map.csv")
    assert np.array_equal(made.embedding, model.embedding_)
    assert np.allclose(made.columns["ctsne_matched"], model.diagnostics_.matched)
    assert read_record("map.csv").parameters["align"] == align


def test_aligned_in_another_representation(
    adata: Any,
    frame: pd.DataFrame,
    run: Run,
    fail: Run,
    quick: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    corrected = adata.obsm["X_pca"] - 2.0 * (frame["batch"] == "blue").to_numpy()[:, None]
    adata.obsm["X_harmony"] = corrected
    adata.write_h5ad("cells.h5ad")
    command = ["embed", "cells.h5ad", "--labels", "batch", *quick]
    assert main([*command, "--align-rep", "X_harmony", "-o", "map.csv"]) == 0
    assert 'other labels are compared in obsm["X_harmony"]' in capsys.readouterr().err
    model = ConditionalTSNE(
        align=corrected, perplexity=8, n_iter=40, early_exaggeration_iter=20, random_state=0
    ).fit(adata.obsm["X_pca"], labels=frame["batch"])
    assert np.array_equal(read_map("map.csv").embedding, model.embedding_)
    assert read_record("map.csv").options["align_rep"] == "X_harmony"
    before = Path("map.csv").read_bytes()
    run("rerun map.csv")
    assert Path("map.csv").read_bytes() == before
    output = ["-o", "other.csv"]
    assert "did you mean 'X_harmony'" in fail(*command, *output, "--align-rep", "X_harmny")
    both = fail(*command, *output, "--align-rep", "X_harmony", "--align", "mean")
    assert "--align and --align-rep exclude each other" in both
    unused = fail(*command, *output, "--align-rep", "X_harmony", "--method", "original")
    assert "--align-rep is for joint, revised and balanced" in unused


def test_a_changed_representation_is_noticed(adata: Any, run: Run, fail: Run) -> None:
    """What a map was aligned by is data like any other: another one is not the same map."""
    adata.obsm["X_harmony"] = adata.obsm["X_pca"] + 1
    adata.write_h5ad("cells.h5ad")
    command = "embed cells.h5ad --labels batch --align-rep X_harmony"
    run(f"{command} -o map.csv")
    adata.obsm["X_harmony"] = adata.obsm["X_pca"][::-1].copy()
    adata.write_h5ad("cells.h5ad")
    assert "has changed" in fail("rerun map.csv")


def test_many_features_are_reduced_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tell: Run, fail: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    np.savez("wide.npz", X=rng.normal(size=(90, 101)), batch=np.arange(90) % 2)
    command = "embed wide.npz --labels batch -o map.csv"
    said = "reducing 101 features to {} principal components (change it with --pca)"
    assert said.format(50) in tell(command)
    assert said.format(7) in tell(f"{command} --pca 7")
    assert "reducing" not in tell(f"{command} --pca none")
    assert 'from 1 to 90, "auto" or None, got 91' in fail(f"{command} --pca 91")


def test_a_single_label_is_tsne(cells: str, frame: pd.DataFrame, run: Run) -> None:
    frame.assign(batch="u").drop(columns="plate").to_csv(cells, index=False)
    text = run("embed cells.csv --labels batch -o map.csv")
    assert text.startswith("map: map.csv (120 points; t-SNE)\n")


def test_without_labels_for_tsne_only(cells: str, run: Run, fail: Run) -> None:
    assert "--labels COLUMN" in fail("embed cells.csv -o map.csv")
    text = run("embed cells.csv --method tsne -o map.csv")
    assert text.startswith("map: map.csv (120 points; t-SNE)\nneighbours kept: ")
    assert "mixing" not in text and " (R_NX)\n" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--labels bacth", "did you mean 'batch'?"),
        ("-o map.doc", "its name must end in one of"),
        ("-o no/map.csv", "there is no folder no"),
        ("-o cells.csv", "would replace the input"),
        ("--plot m.gif", ".png, .svg, .pdf"),
        ("--color type", "--plot FILE"),
        ("--page m.png", "end in .html"),
        ("--page m.html --dimensions 3", "can only show maps of one or two dimensions"),
        ("--plot m.png --color typ", "did you mean 'type'?"),
        ("--plot m.png --color PC1", "not a label; --other PC1 leaves it out"),
        ("--perplexity 500", "perplexity"),
        ("--method revised --beta 7", "beta must be a number above 0"),
        ("--odds 0.5", "odds must be"),
        ("--odds 2 --beta-low 0.5", "set the same thing"),
        ("--mixing 70", "mixing must be"),
        ("--mixing 0.7 --strength 0.5", "--strength 0.5 was given too"),
        ("--mixing 0.7 --method tsne", "--mixing 0.7 needs a method that conditions"),
        ("--align mean --method tsne", "--align is for joint, revised and balanced"),
        ("--method original --beta 0.5 --odds 3", "--beta has no effect with --method original"),
        ("--method revised --strength 1", "--strength is for joint and balanced"),
        ("--method joint --beta a=1e-2", "--beta is for revised and original"),
        ("--method tsne --bandwidth p", "--bandwidth is for revised, but the method is tsne"),
        ("--use-rep X", "--use-rep"),
        ("--align-rep X", "--align-rep is for .h5ad files; cells.csv is not one"),
        ("--init none.npy", "none.npy"),
    ],
)
def test_what_cannot_work_is_refused_before_any_computing(
    options: str, message: str, cells: str, fail: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Layout, "run", None)
    assert message in fail(f"embed cells.csv --labels batch -o map.csv {options}")
    assert "did you mean cells.csv?" in fail("embed cell.csv --labels batch -o map.csv")
    assert [path.name for path in Path().iterdir()] == ["cells.csv"]


def test_ctrl_c_leaves_the_old_output(
    cells: str, run: Run, monkeypatch: pytest.MonkeyPatch, fail: Run
) -> None:
    run("embed cells.csv --labels batch -o map.csv")
    before = Path("map.csv").read_bytes()

    def stop(layout: Layout) -> float:
        if layout.iteration >= 10:
            raise KeyboardInterrupt
        return original(layout)

    original = Layout._step
    monkeypatch.setattr(Layout, "_step", stop)
    command = "embed cells.csv --labels batch --seed 5"
    said = "ctsne: interrupted: {}\n"
    told = fail(f"{command} -o map.csv", code=130)
    assert told.endswith(said.format("map.csv is unchanged"))
    assert Path("map.csv").read_bytes() == before
    told = fail(f"{command} -o new.csv", code=130)
    assert told.endswith(said.format("nothing was written"))


@contextmanager
def started_run(cells: str, *before: str) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    """Start an embed that never ends; yield it at iteration 100, with its messages."""
    endless = ["embed", cells, "--labels", "batch", "-o", "map.csv", "--n-iter", "100000000"]
    words = [sys.executable, "-P", "-m", "ctsne.cli", *endless, "--perplexity", "8", "--verbose"]
    with subprocess.Popen([*before, *words], stderr=subprocess.PIPE, text=True) as child:
        # A run that hangs, or ignores the signal, is ended, which ends its messages too.
        limit = Timer(120, child.kill)
        limit.start()
        try:
            assert child.stderr is not None
            next(line for line in child.stderr if "iteration 100:" in line)
            yield child, child.stderr
        finally:
            limit.cancel()
            child.kill()


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGKILL, -9), (signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
)
def test_a_signal_ends_a_run_and_leaves_nothing_behind(
    number: int, code: int, cells: str, run: Run
) -> None:
    if number == signal.SIGKILL:
        run("embed cells.csv --labels batch -o map.csv")
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    with started_run(cells) as (child, errors):
        begin = time.monotonic()
        child.send_signal(number)
        rest = errors.read()
        assert child.wait(timeout=60) == code and time.monotonic() - begin < 30
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before
    assert "Traceback" not in rest
    if number == signal.SIGINT:
        assert rest.endswith("ctsne: interrupted: nothing was written\n")


def test_a_run_behind_nohup_outlives_its_terminal(cells: str) -> None:
    with started_run(cells, "nohup") as (child, errors):
        child.send_signal(signal.SIGHUP)
        next(line for line in errors if "iteration 1000:" in line)
        assert child.poll() is None
        child.send_signal(signal.SIGTERM)
        assert "Traceback" not in errors.read() and child.wait(timeout=60) == 143


@pytest.mark.parametrize("name", ["counts.h5ad", "counts.npz", "counts.csv"])
def test_raw_counts_are_reported(
    name: str,
    capsys: pytest.CaptureFixture[str],
    quick: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.gamma(2, np.exp(rng.normal(-2, 1.6, 80)) / 2, (60, 80)))
    batch = np.array(["a", "b"] * 30)
    cells = [f"c{i}" for i in range(60)]
    for X, looks in ((counts, True), (np.log1p(counts), False)):
        frame = pd.DataFrame(X, columns=[f"g{i}" for i in range(80)]).assign(batch=batch)
        frame.to_csv("counts.csv", index=False)
        np.savez("counts.npz", X=X, batch=batch)
        obs = pd.DataFrame({"batch": batch}, index=cells)
        anndata.AnnData(X.astype(np.float32), obs=obs).write_h5ad("counts.h5ad")
        assert main(["embed", name, "--labels", "batch", "-o", "map.csv", *quick]) == 0
        err = capsys.readouterr().err
        assert (f"{name} looks like raw counts" in err) is looks
        if looks and name == "counts.h5ad":  # the remedy works
            found: dict[str, Any] = {"sc": sc, "adata": sc.read_h5ad(name)}
            exec(err.partition("with scanpy as sc: ")[2].splitlines()[0], found)
            assert not looks_like_counts(found["adata"].X)
    adata = anndata.AnnData(counts.astype(np.float32), obs=obs)
    adata.obsm["X_pca"] = rng.normal(size=(60, 5))
    adata.write_h5ad("counts.h5ad")
    assert main(["embed", "counts.h5ad", "--labels", "batch", "-o", "map.csv", *quick]) == 0
    assert "looks like raw counts" not in capsys.readouterr().err


@pytest.mark.parametrize("option", ["INPUT", "--label-file", "--init"])
def test_pipes_are_not_read(option: str, cells: str, fail: Run) -> None:
    os.mkfifo("pipe.npy")
    given = ["pipe.npy"] if option == "INPUT" else [cells, option, "pipe.npy"]
    message = fail("embed", *given, "--labels", "batch", "-o", "map.csv")
    assert "pipe.npy is a pipe, not a file; save its content to a file first" in message
    assert not Path("map.csv").exists()


def test_a_picture_that_cannot_be_written_does_not_cost_the_map(
    cells: str, fail: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ctsne.cli import plot

    def full(target: Path, content: bytes) -> None:
        raise WriteError(f"cannot write {target}: No space left on device")

    monkeypatch.setattr(plot, "write_file", full)
    message = fail("embed cells.csv --labels batch -o map.csv --plot map.png")
    assert message.endswith("cannot write map.png: No space left on device; the map is in map.csv")
    assert Path("map.csv.json").exists()


@pytest.mark.parametrize("output", ["map.csv", "map.h5ad"])
def test_space_is_checked_before_the_work(
    cells: str, fail: Run, output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = SimpleNamespace(free=10_000 if output == "map.h5ad" else 1000)
    monkeypatch.setattr("ctsne._core.files.shutil.disk_usage", lambda _: usage)
    endless = f"embed cells.csv --labels batch -o {output} --n-iter 100000000"
    assert f"cannot write {output}: No space left on device" in fail(endless)


def test_ctrl_c_while_the_map_is_moved_is_too_late(
    cells: str, fail: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace

    def interrupted(*files: Path) -> None:
        signal.raise_signal(signal.SIGINT)
        replace(*files)

    monkeypatch.setattr("ctsne._core.files.os.replace", interrupted)
    told = fail("embed cells.csv --labels batch -o map.csv", code=130)
    assert told.endswith("ctsne: interrupted: map.csv is written\n")
    assert sorted(path.name for path in Path().iterdir()) == [cells, "map.csv", "map.csv.json"]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "h5ad"])
def test_trust_is_a_column_and_a_line(
    suffix: str, cells: str, frame: pd.DataFrame, run: Run, run_json: RunJson
) -> None:
    command = f"embed cells.csv --labels batch --other type -o map.{suffix}"
    text = run(f"{command} --trust --page map.html")
    line = next(
        line
        for line in text.splitlines()
        if "would have mostly other neighbours in another map" in line
    )
    X = frame.filter(like="PC").to_numpy()
    quick = {"perplexity": 8, "n_iter": 40, "early_exaggeration_iter": 20}
    model = ConditionalTSNE(random_state=0, **quick).fit(X, labels={"batch": frame["batch"]})
    trust = model.trust()
    assert line == doubt_line(trust, model.labels_, {"type": frame["type"]})
    assert np.allclose(read_map(f"map.{suffix}").columns["ctsne_trust"], trust)
    found = re.search(r'id="ctsne-facts">(.*?)</script>', Path("map.html").read_text("utf-8"))
    assert found is not None
    assert "trust" in [each["key"] for each in json.loads(found[1])["diagnostics"]]
    content = run_json(f"{command} --trust")
    assert content["trust"] == line
    assert content["measures"]["trust"] == pytest.approx(trust.mean(), abs=1e-6)
    run(f"rerun map.{suffix}")  # also makes the column again
    assert np.allclose(read_map(f"map.{suffix}").columns["ctsne_trust"], trust)
    content = run_json(command)
    assert content["trust"] is None and "trust" not in content["measures"]
    assert "ctsne_trust" not in read_map(f"map.{suffix}").columns
