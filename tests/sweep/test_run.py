from __future__ import annotations

import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist

from ctsne import ConditionalTSNE
from ctsne._core.files import WriteError, sole_writer
from ctsne.datasets import make_synthetic
from ctsne.evaluate import adjusted_rnx, data_neighbors, laplacian, map_neighbors, measure_map
from ctsne.evaluate.mixing import expected_laplacian
from ctsne.layout import align
from ctsne.methods import align_value
from ctsne.storage.archive import read_archive, write_archive
from ctsne.sweep import SweepResult, load_sweep, sweep, worker

DATA = make_synthetic(240, random_state=0)
FRAME = pd.DataFrame(DATA.X)
SMALL = ConditionalTSNE(
    method="revised", perplexity=12, n_iter=60, early_exaggeration_iter=25, random_state=0
)
GRID: list[dict[str, Any]] = [
    {"method": "tsne"},
    {"bandwidth": ["r", "p"], "beta": [0.5, 1e-3]},
    {"method": "original", "beta": 0.1},
    {"method": ["balanced", "joint"], "strength": [0.3, 1]},
    {"perplexity": 20, "beta": 0.1, "beta_low": 0.5},
]


def run(grid: Any = GRID, **options: Any) -> SweepResult:
    options = {"estimator": SMALL, "progress": False, "other": DATA.hidden, **options}
    return sweep(DATA.X, DATA.known, grid, **options)


def same_tables(a: SweepResult, b: SweepResult) -> None:
    timeless = (result.table.drop(columns="seconds") for result in (a, b))
    first, second = timeless
    assert first.equals(second)


def test_maps_are_those_of_the_estimator(monkeypatch: pytest.MonkeyPatch) -> None:
    search, searches = worker.neighbors_of, []

    def counted(*arguments: Any, **more: Any) -> Any:
        searches.append(arguments)
        return search(*arguments, **more)

    monkeypatch.setattr(worker, "neighbors_of", counted)
    result = run()
    assert len(result.maps) == 11 and len(searches) == 2  # joint aligns, the others do not
    a, b = (swept.embedding for swept in result.maps[:2])
    np.testing.assert_allclose(align(b, a), b, atol=1e-4)  # maps lie on each other
    for swept in result.maps:
        model = ConditionalTSNE(**{**SMALL.get_params(), **swept.parameters})
        embedding = model.fit_transform(DATA.X, labels=DATA.known)
        assert swept.measures["kl_divergence"] == model.kl_divergence_
        assert swept.embedding is not None
        np.testing.assert_allclose(pdist(swept.embedding), pdist(embedding), rtol=1e-4, atol=1e-5)
        mixed = laplacian(embedding, DATA.known, k=30)
        assert swept.measures["laplacian"] == pytest.approx(mixed, abs=1e-12)
        assert swept.measures["mixing"] == mixed / expected_laplacian(DATA.known)
        kept = adjusted_rnx(embedding, DATA.X, DATA.known, k=30)
        assert swept.measures["adjusted_rnx"] == pytest.approx(kept, abs=1e-12)
        hidden = laplacian(embedding, DATA.hidden, k=30)
        assert swept.measures["other_laplacian"] == pytest.approx(hidden, abs=1e-12)
        assert swept.measures["other_mixing"] == hidden / expected_laplacian(DATA.hidden)


def test_aligned_maps_are_those_of_the_estimator(tmp_path: Path) -> None:
    moved = DATA.X + 2.0 * (DATA.known == "blue")[:, None]
    grid = [
        {"method": "joint", "align": ["none", "mutual", "local", "mean", "auto", moved]},
        {"method": ["revised", "balanced"], "align": "mean"},
        {"method": "joint", "odds": [1, 30]},
    ]
    result = run(grid, folder=tmp_path)
    assert len(result.maps) == 10
    losses = [swept.measures["kl_divergence"] for swept in result.maps]
    assert len(set(losses[:4])) == 4  # every alignment gives a map of its own
    for swept in result.maps:
        model = ConditionalTSNE(**{**SMALL.get_params(), **swept.parameters})
        embedding = model.fit_transform(DATA.X, labels=DATA.known)
        assert swept.measures["kl_divergence"] == model.kl_divergence_
        kept = adjusted_rnx(embedding, DATA.X, DATA.known, k=30)  # of the data as they are
        assert swept.measures["adjusted_rnx"] == pytest.approx(kept, abs=1e-12)
        how = align_value({**model.get_params(), "align": swept.parameters.get("align")})
        data = data_neighbors(DATA.X, DATA.known, align=how)
        assert data.alignment == swept.alignment == model.diagnostics_.alignment
        assert swept.alignment_scores == model.diagnostics_.alignment_scores
        aligned = measure_map(embedding, data).get("aligned_rnx")
        assert swept.measures.get("aligned_rnx") == pytest.approx(aligned, abs=1e-12)
        np.testing.assert_array_equal(
            swept.diagnostics["matched"], model.diagnostics_.matched.astype(np.float32)
        )
    # Another array is another map, though it is called the same.
    run({"method": "joint", "align": moved + 1e-9 * moved**2}, folder=tmp_path)
    assert len(list(tmp_path.glob("map-*.npz"))) == 11


def test_any_number_of_workers_and_interruptions_give_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = {"bandwidth": ["r", "p"], "beta": [0.5, 0.1, 1e-3]}
    whole = run(grid, n_jobs=2)
    make, made = worker._make, []

    def interrupted(*arguments: Any) -> Any:
        if len(made) == 4:
            raise KeyboardInterrupt
        made.append(arguments)
        return make(*arguments)

    monkeypatch.setattr(worker, "_make", interrupted)
    with pytest.warns(UserWarning, match=r"interrupted: .* of 6 maps .* same folder to resume"):
        half = run(grid, folder=tmp_path, n_jobs=1)
    assert len(half.maps) < 6
    assert len(list(tmp_path.glob("map-*.npz"))) == 4

    def counted(*arguments: Any) -> Any:
        made.append(arguments)
        return make(*arguments)

    monkeypatch.setattr(worker, "_make", counted)
    with pytest.raises(ValueError, match="does not contain a finished sweep"):
        load_sweep(tmp_path)
    same_tables(run(grid, folder=tmp_path, n_jobs=1), whole)
    assert len(made) == 6  # the four were not made again
    loaded = load_sweep(tmp_path)
    same_tables(loaded, whole)
    for a, b in zip(loaded.maps, whole.maps, strict=True):
        assert np.array_equal(a.embedding, b.embedding)
    assert len(list(tmp_path.iterdir())) == 7  # the maps, and an index
    same_tables(run(grid, folder=tmp_path, n_jobs=1), whole)
    assert len(made) == 6


def test_other_data_labels_or_parameters_are_not_taken_for_the_same(tmp_path: Path) -> None:
    grid = {"beta": [0.1]}
    run(grid, folder=tmp_path)
    variants: list[dict[str, Any]] = [
        {"estimator": ConditionalTSNE(**{**SMALL.get_params(), "n_iter": 70})},
        {"estimator": ConditionalTSNE(**{**SMALL.get_params(), "init": DATA.X[:, :2] * 1e-4})},
    ]
    for count, options in enumerate(variants, start=2):
        run(grid, folder=tmp_path, **options)
        assert len(list(tmp_path.glob("map-*.npz"))) == count
    sweep(
        DATA.X + 1e-3 * DATA.X**2,
        DATA.known,
        grid,
        estimator=SMALL,
        folder=tmp_path,
        progress=False,
    )
    sweep(DATA.X, DATA.hidden, grid, estimator=SMALL, folder=tmp_path, progress=False)
    assert len(list(tmp_path.glob("map-*.npz"))) == 5


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:100])


def _changed(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def damage(file: Path) -> None:
        tree = read_archive(file, "map")
        change(tree)
        write_archive(file, "map", tree)

    return damage


def _embedding(make: Callable[[Any], Any]) -> Callable[[Path], None]:
    return _changed(lambda tree: tree.update(embedding=make(np.array(tree["embedding"]))))


def _with_nan(array: Any) -> Any:
    array[7, 0] = np.nan
    return array


def _linked(file: Path) -> None:
    file.rename(file.with_name("elsewhere"))
    file.symlink_to("elsewhere")


@pytest.mark.parametrize(
    "damage",
    [
        _cut,
        _linked,
        _embedding(_with_nan),
        _embedding(lambda array: array[:-1]),
        _embedding(lambda array: array[:, :1]),
        _embedding(lambda array: array.astype(np.float64)),
        _changed(lambda tree: tree["diagnostics"].pop("perplexity")),
        _changed(lambda tree: tree["diagnostics"].update(perplexity=np.zeros(240))),
        _changed(lambda tree: tree.update(measures=[1])),
    ],
)
def test_a_damaged_file_is_made_again(tmp_path: Path, damage: Any) -> None:
    whole = run({"beta": [0.1]}, folder=tmp_path)
    (file,) = tmp_path.glob("map-*.npz")
    before = file.read_bytes()
    damage(file)
    with pytest.warns(UserWarning, match=rf"{file.name} is .*; this map is made again"):
        same_tables(run({"beta": [0.1]}, folder=tmp_path), whole)
    with np.load(file, allow_pickle=False) as stored:
        assert stored["embedding"].shape == (240, 2)
    assert not file.is_symlink()
    elsewhere = tmp_path / "elsewhere"
    assert not elsewhere.exists() or elsewhere.read_bytes() == before
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same_tables(run({"beta": [0.1]}, folder=tmp_path), whole)


def test_a_failed_setting_is_reported_and_not_fatal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    affinities_of, grid = worker.affinities_of, {"beta": [1, 0.1, 1e-3]}
    whole = run(grid, other=None)

    def failing(neighbors: Any, settings: Any) -> Any:
        if settings.knob[0][0] == 0.1:
            raise MemoryError("no room for this one")
        return affinities_of(neighbors, settings)

    monkeypatch.setattr(worker, "affinities_of", failing)
    with pytest.warns(UserWarning, match=r"1 of 3 settings failed.*beta=0.1.*memory ran out"):
        result = run(grid, folder=tmp_path, other=None)
    reasons = [swept.error for swept in result.maps]
    assert reasons[0] is None and reasons[2] is None
    says = r"MemoryError: memory ran out: this needs about \d+ MiB .*at once \(n_jobs\)$"
    assert re.match(says, str(reasons[1]))
    assert result.maps[1].embedding is None
    assert result.table.error.notna().tolist() == [False, True, False]
    assert result.best(0).parameters == {"beta": 1}
    monkeypatch.setattr(worker, "affinities_of", affinities_of)
    same_tables(run(grid, folder=tmp_path, other=None), whole)


def test_a_full_disk_stops_the_sweep_and_keeps_its_maps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save, made = worker.write_map_file, []

    def full(path: Path, swept: Any) -> None:
        made.append(path)
        if len(made) == 2:
            raise WriteError(f"cannot write {path}: No space left on device")
        save(path, swept)

    grid = {"beta": [1, 0.1, 0.01, 1e-3]}
    with monkeypatch.context() as patched:
        patched.setattr(worker, "write_map_file", full)
        message = r"cannot write .*map-.*: No space left on device; 1 of 4 maps are stored, run it"
        with pytest.raises(WriteError, match=message):
            run(grid, folder=tmp_path, n_jobs=1)
    assert len(made) == 2  # the others were not computed
    assert list(tmp_path.iterdir()) == [made[0]]
    monkeypatch.setattr(worker, "write_map_file", lambda *each: (made.append(each[0]), save(*each)))
    assert len(run(grid, folder=tmp_path, n_jobs=1).maps) == 4
    assert len(made) == 5  # the first was kept


def test_a_folder_is_checked_first_and_its_links_are_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, grid = tmp_path / "sweep", {"beta": [0.1]}
    folder.mkdir()
    with sole_writer(folder), pytest.raises(ValueError, match="another sweep is writing to"):
        run(grid, folder=folder)
    with monkeypatch.context() as patched:
        usage = SimpleNamespace(free=240 * 4 * 6 - 1)
        patched.setattr("ctsne._core.files.shutil.disk_usage", lambda _: usage)
        with pytest.raises(WriteError, match="No space left on device"):
            run(grid, folder=folder)
    assert not list(folder.iterdir())
    (tmp_path / "precious").write_text("mine")
    (folder / "sweep.npz").symlink_to("../precious")
    run(grid, folder=folder)
    assert (tmp_path / "precious").read_text() == "mine"
    assert not (folder / "sweep.npz").is_symlink()


def test_samples_warnings_and_progress(capsys: pytest.CaptureFixture[str]) -> None:
    result = run({"beta": [1, 0.1]}, sample=50, k=10, progress=True)
    found = map_neighbors(result.maps[0].embedding, k=10, sample=50)
    expected = laplacian(found, DATA.known, k=10)
    assert result.maps[0].measures["laplacian"] == pytest.approx(expected, abs=1e-12)
    written = capsys.readouterr()
    assert written.out == "" and written.err.splitlines()[-1].startswith("sweep: 2 of 2")
    labels = np.where(np.arange(240) < 3, "rare", DATA.known)
    with pytest.warns(UserWarning, match="share of neighbours") as caught:
        sweep(DATA.X, labels, {"beta": [1, 0.1]}, estimator=SMALL, progress=False)
    assert len(caught) == 1  # once for all settings


def test_distances_instead_of_features() -> None:
    distances = np.linalg.norm(DATA.X[:, None] - DATA.X, axis=2)
    base = ConditionalTSNE(**{**SMALL.get_params(), "metric": "precomputed", "init": "spectral"})
    grid = [{"method": "tsne"}, {"method": "balanced", "strength": [0.5]}]
    result = sweep(distances, DATA.known, grid, estimator=base, progress=False)
    for swept in result.maps:
        model = ConditionalTSNE(**{**base.get_params(), **swept.parameters})
        model.fit(distances, labels=DATA.known)
        assert swept.measures["kl_divergence"] == pytest.approx(model.kl_divergence_, abs=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grid": {"beta": [1, 2]}}, r"beta must be .* \(setting beta=2\)"),
        ({"labels": None}, "labels to factor out"),
        ({"labels": DATA.known[:-1]}, "labels"),
        ({"X": FRAME, "labels": FRAME[0][::-1]}, "labels and X have different row names"),
        ({"X": FRAME, "other": FRAME[0][::-1]}, "other and X have different row names"),
        ({"X": FRAME, "other": {"type": FRAME[0][::-1]}}, "other and X have different row names"),
        ({"other": dict.fromkeys("abcd", DATA.known)}, "other has 4 columns"),
        ({"k": 239}, "k must be"),
        ({"estimator": "revised"}, "ConditionalTSNE"),
        (
            {"folder": "here", "estimator": ConditionalTSNE(method="revised", perplexity=12)},
            "random_state must be a whole number",
        ),
        ({"folder": __file__}, "folder"),
        (
            {"estimator": ConditionalTSNE(mixing=0.5)},
            r"the estimator has mixing=0.5.*suggest\(mixing=",
        ),
        ({"grid": {"beta_low": 0.5, "odds": 2}}, "set the same thing"),
    ],
)
def test_refuses_bad_input_before_any_work(
    options: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(worker, "_make", lambda *_: pytest.fail("work was started"))
    options = {
        "X": DATA.X,
        "labels": DATA.known,
        "grid": {"beta": 1},
        "estimator": SMALL,
        **options,
    }
    with pytest.raises((TypeError, ValueError), match=message):
        sweep(progress=False, **options)


def test_sparse_data_give_the_maps_of_the_estimator() -> None:
    X = sp.random_array((150, 80), density=0.2, random_state=np.random.default_rng(0)).tocsr()
    labels = np.arange(150) % 2
    base = ConditionalTSNE(**{**SMALL.get_params(), "init": "random"})
    result = sweep(X, labels, {"beta": [1, 0.1]}, estimator=base, progress=False)
    for swept in result.maps:
        model = ConditionalTSNE(**{**base.get_params(), **swept.parameters}).fit(X, labels=labels)
        assert swept.measures["kl_divergence"] == model.kl_divergence_


@pytest.mark.parametrize("labels", [["a"] * 20, [None] * 20, list(range(20)), ["a", None] * 10])
def test_odd_labels_and_few_points(labels: list[object]) -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    small = ConditionalTSNE(method="revised", perplexity=3, n_iter=20, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        result = sweep(X, labels, {"beta": [1, 0.1]}, estimator=small, progress=False)
    assert [swept.error for swept in result.maps if swept.error] == []


def test_any_callback_and_any_random_state_will_do() -> None:
    lock = threading.Lock()
    base = ConditionalTSNE(
        **{
            **SMALL.get_params(),
            "callback": lambda *_: lock.locked(),
            "random_state": np.random.RandomState(0),
            "init": "random",
            "learning_rate": 200,
        }
    )
    a, b = run({"beta": [0.1, 0.1000001]}, estimator=base).maps
    # One start for all settings.
    assert a.measures["kl_divergence"] == pytest.approx(b.measures["kl_divergence"], abs=0.05)


def test_a_killed_worker_is_reported_and_not_fatal(monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*arguments: Any) -> Any:
        yield run_step(arguments[0][0], arguments[2])
        raise RuntimeError("a worker was killed")

    run_step = worker.run_step
    monkeypatch.setattr("ctsne.sweep.run._parallel", killed)
    with pytest.warns(UserWarning, match="1 of 2 settings failed.*RuntimeError: a worker"):
        result = run({"beta": [1, 0.1]})
    assert result.maps[0].embedding is not None


@pytest.mark.slow
def test_runs_on_a_dask_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    expected = run()
    # Only this process knows of the change: maps made here would fail.
    monkeypatch.setattr(worker, "_make", lambda *_: pytest.fail("made in this process"))
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        result = run()
    same_tables(result, expected)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_stops_soon_and_a_second_run_goes_on(tmp_path: Path, jobs: int) -> None:
    program = textwrap.dedent(f"""
        import sys, warnings
        warnings.simplefilter("error", FutureWarning)
        from ctsne.datasets import make_synthetic
        from ctsne.sweep import sweep
        data = make_synthetic(1500, random_state=0)
        betas = [1, .3, .1, .03, .01, 1e-3]
        result = sweep(data.X, data.known, {{"method": "revised", "beta": betas}},
                       folder={str(tmp_path)!r}, n_jobs={jobs}, progress=False)
        print(len(result.maps), flush=True)
    """)
    limit = time.monotonic() + 300
    with subprocess.Popen(
        [sys.executable, "-P", "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            while len(list(tmp_path.glob("map-*.npz"))) < jobs + 1:
                time.sleep(0.05)
                assert process.poll() is None and time.monotonic() < limit
            process.send_signal(signal.SIGINT)
            begin = time.monotonic()
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert time.monotonic() - begin < 30
    assert process.returncode == 0, err
    assert "interrupted: " in err
    assert 1 <= int(out) < 6
    assert len(list(tmp_path.glob("*.part"))) == 0
    kept = {file: file.stat().st_mtime_ns for file in tmp_path.glob("map-*.npz")}
    again = subprocess.run(
        [sys.executable, "-P", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    assert again.stdout.splitlines()[-1] == "6"
    assert len(list(tmp_path.glob("map-*.npz"))) == 6
    assert all(file.stat().st_mtime_ns == time for file, time in kept.items())
