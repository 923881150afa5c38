"""The benchmarks: their data, their processes, recall, and what the report makes of results."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctsne.neighbors import find_neighbors

from .scripts import import_from


@pytest.fixture
def benchmarks() -> Iterator[Any]:
    """Import a module of the benchmarks by name, for one test only."""
    yield from import_from("benchmarks")


@pytest.mark.parametrize(("n", "n_labels"), [(1500, 2), (1500, 1000), (40_000, 10)])
def test_data_are_uneven_and_turned_onto_their_axes(benchmarks: Any, n: int, n_labels: int) -> None:
    simulate = benchmarks("simulate").simulate
    X, labels, types = simulate(n, d=20, n_labels=n_labels, random_state=3)
    assert X.shape == (n, 20)
    assert X.dtype == np.float32
    assert len(np.unique(labels)) == n_labels
    assert np.ptp(np.unique(types, return_counts=True)[1]) > 0
    covariance = np.cov(X.T)
    assert (np.diff(covariance.diagonal()) <= 1e-4).all()
    assert np.abs(covariance - np.diag(covariance.diagonal())).max() < 1e-4
    assert all(
        map(
            np.array_equal, (X, labels, types), simulate(n, d=20, n_labels=n_labels, random_state=3)
        )
    )


def test_the_shift_of_a_batch_differs_between_types(benchmarks: Any) -> None:
    X, labels, types = benchmarks("simulate").simulate(20_000, n_labels=2, n_types=3)
    names, batches = np.unique(types), np.unique(labels)
    shifts = [
        np.subtract(*(X[(types == name) & (labels == batch)].mean(axis=0) for batch in batches))
        for name in names
        if all(((types == name) & (labels == batch)).sum() > 50 for batch in batches)
    ]
    assert len(shifts) >= 2
    assert np.linalg.norm(shifts[0] - shifts[1]) > 0.5


def test_recall_counts_true_neighbours_once(benchmarks: Any) -> None:
    module = benchmarks("neighbor_truth")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5)).astype(np.float32)
    labels = rng.integers(3, size=400)
    labels[:2] = 3  # too few for a list of their own
    truth = module.find_truth(X, labels, k_same=10, k_other=6)
    points = truth.points
    both = find_neighbors(X, labels, lengths=(10, 6))
    plain = find_neighbors(X, lengths=16)
    assert np.array_equal(truth.k_same, both.lengths[points, 0])
    assert module.labelled_recall(truth, X, labels, both.indices[points]) == 1
    assert module.plain_recall(truth, X, plain.indices[points]) == 1
    # Half of them; the rest is the point itself, a repeat or nothing.
    half = plain.indices[points].astype(np.int64)
    half[:, 8:] = half[:, :8]
    half[:, 8:10] = points[:, np.newaxis]
    half[:, 10] = -1
    assert module.plain_recall(truth, X, half) == pytest.approx(0.5)
    assert module.labelled_recall(truth.others(), X, labels, both.indices[points]) == 1
    assert module.labelled_recall(truth.others(), X, labels, both.indices[points][:, :2]) < 0.05


def test_a_stored_truth_is_the_same(benchmarks: Any, tmp_path: Path) -> None:
    module = benchmarks("neighbor_truth")
    X = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    truth = module.find_truth(X, np.arange(50) % 2, k_same=3, k_other=2)
    truth.save(tmp_path / "truth.npz")
    again = module.Truth.load(tmp_path / "truth.npz")
    assert all(np.array_equal(value, vars(again)[name]) for name, value in vars(truth).items())


def test_maps_are_timed_by_stage_next_to_a_peer(benchmarks: Any, tmp_path: Path) -> None:
    target = tmp_path / "maps.json"
    small = "--n 300 --d 5 --labels 2 --perplexity 5 --iterations 300 --methods tsne joint"
    argv = [*small.split(), "--peers", "scikit-learn", "--json", str(target)]
    assert benchmarks("maps").main(argv) == 0
    results = json.loads(target.read_text())["results"]
    assert [found["status"] for found in results] == ["done"] * 3
    for found in results[:2]:
        stages = found["stages"]
        assert min(stages.values()) > 0
        assert sum(stages.values()) == pytest.approx(found["seconds"], rel=0.01)
    assert results[0]["kl"] == pytest.approx(results[2]["kl"], rel=0.2)


TASKS = """
import time

def good(clock, *, value):
    clock.begin()
    clock.stop()
    return {"value": value}

def slow(clock):
    clock.begin()
    clock.report(step=1)
    time.sleep(600)

def bad(clock):
    raise ValueError("no good")

def missing(clock):
    import a_package_that_nobody_has
"""


def test_a_measured_program_has_its_own_process_and_end(
    benchmarks: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tasks.py").write_text(TASKS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    measure = benchmarks("child").measure
    good = measure("tasks:good", {"value": [1, 2]}, jobs=1, limit=600)
    assert (good["status"], good["value"]) == ("done", [1, 2])
    assert 1 < good["memory_before"] <= good["memory_peak"]
    slow = measure("tasks:slow", {}, jobs=1, limit=0.2)
    assert (slow["status"], slow["step"], slow["limit"]) == ("too slow", 1, 0.2)
    bad = measure("tasks:bad", {}, jobs=1)
    assert (bad["status"], bad["error"]) == ("failed", "ValueError: no good")
    assert measure("tasks:missing", {}, jobs=1)["status"] == "missing"


def result(name: str, seconds: float | None = None, **more: Any) -> dict[str, Any]:
    known = {"status": "done", "seconds": seconds} if seconds else {"status": "failed"}
    return {"name": name} | known | more


def content(benchmarks: Any, program: str, results: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "program": program,
        "command": f"python benchmarks/{program}.py",
        "date": "2000-01-01",
        "machine": benchmarks("common").machine(),
        "settings": {"n": 100, "jobs": 2},
        "complete": True,
        "results": results,
    }


def test_the_report_compares_and_says_what_failed(benchmarks: Any, tmp_path: Path) -> None:
    maps = [
        result("ctsne revised-r", 2.0, memory_peak=100.0),
        result("ctsne original", 6.0),
        result("openTSNE-FFT", 42.0),
        result("UMAP", error="it broke"),
    ]
    (tmp_path / "maps-15000.json").write_text(json.dumps(content(benchmarks, "maps", maps)))
    benchmarks("report").write_report(tmp_path, tmp_path / "RESULTS.md")
    page = (tmp_path / "RESULTS.md").read_text()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines()]
    head = next(row for row in rows if "of ctsne" in row)
    compared = {row[0]: row[head.index("of ctsne")] for row in rows if len(row) == len(head)}
    assert (compared["ctsne original"], compared["openTSNE-FFT"]) == ("3.0", "21.0")
    assert "- UMAP it broke" in page
    assert "```\npython benchmarks/maps.py\n```" in page
    assert [file.name for file in tmp_path.glob("*.part")] == []


def test_parts_name_programs_that_accept_their_options(
    benchmarks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("maps", "neighbors", "placing", "ties"):
        program = benchmarks(name)
        for part in benchmarks("suites").PARTS.values():
            if part.program == f"{name}.py":
                assert program.parse(part.options.split()).n > 0
    run = benchmarks("run")
    done: list[str] = []
    monkeypatch.setattr(run, "run_part", lambda part: done.append(part) is None)
    assert run.main(["startup", "short"]) == 0
    assert done == list(benchmarks("suites").SHORT)
    with pytest.raises(SystemExit):
        run.main(["nothing"])


def test_data_with_ties_are_compared_with_normal_points(
    benchmarks: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["ties.py"])  # the report knows a program by its name
    argv = ["--n", "300", "--labels", "3", "--k", "10", "--turns", "1", "--json"]
    assert benchmarks("ties").main([*argv, str(tmp_path / "ties.json")]) == 0
    benchmarks("report").write_report(tmp_path, tmp_path / "RESULTS.md")
    results = json.loads((tmp_path / "ties.json").read_text())["results"]
    assert results[0]["ratios"] == [1, 1, 1]
    assert all(min(each["seconds"]) > 0 for each in results)
    page = (tmp_path / "RESULTS.md").read_text()
    assert all(f"| {each['data']} " in page for each in results)


def test_placed_points_are_judged_among_the_reference(benchmarks: Any) -> None:
    module = benchmarks("placing_programs")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2)).astype(np.float32)
    types = (X[:, 0] > 0).astype(np.int32)
    data = {"X": X[:400], "types": types[:400], "new_X": X[400:], "new_types": types[400:]}
    perfect = module.judge(data, X[:400], X[400:])
    assert perfect["rnx"] == pytest.approx(1)
    assert perfect["accuracy"] > 0.9
    assert abs(module.judge(data, X[:400], rng.permutation(X[400:]))["rnx"]) < 0.2


def test_a_stream_goes_through_the_new_points_again(benchmarks: Any) -> None:
    module = benchmarks("placing_programs")
    new, labels = np.arange(10.0)[:, None], np.arange(10)
    seen: list[float] = []

    def place(X: Any, labels: Any) -> Any:
        assert (X[:, 0] == labels).all()
        seen.extend(labels.tolist())
        return X

    row = module._timed(place, new, labels, 25, 4)
    assert row["points"] == 25
    assert seen == [*range(10), *range(10), *range(5)]


def test_the_table_of_placing_compares_with_the_peer(benchmarks: Any) -> None:
    row = {"points": 1000, "seconds": 1.0, "per_second": 1000.0, "cpu_microseconds": 2.0}
    done = {"status": "done", "prepared": 1.0, "accuracy": 0.9, "rnx": 0.5}
    table = benchmarks("placing").format_table(
        [
            {"name": "ctsne tsne", "placed": [row], **done},
            {"name": "openTSNE", "placed": [row | {"per_second": 40.0}], **done},
            {"name": "ctsne joint", "status": "failed"},
        ]
    )
    ours, theirs, failed = table.splitlines()[2:]
    assert "25.0" in ours and "1,000" in ours
    assert "1.0" in theirs
    assert "failed" in failed


def test_blocks_for_workers_can_be_made_again(benchmarks: Any) -> None:
    module = benchmarks("cluster")
    X, batches = module.block_of(3, 500, 10)
    assert X.shape == (500, 10) and X.dtype == np.float32
    assert set(batches.tolist()) <= set(range(module.BATCHES))
    again, other = module.block_of(3, 500, 10), module.block_of(4, 500, 10)
    assert np.array_equal(X, again[0]) and np.array_equal(batches, again[1])
    assert not np.array_equal(X, other[0])
    # All blocks come from the same clusters.
    assert np.allclose(X.mean(axis=0), other[0].mean(axis=0), atol=0.5)
