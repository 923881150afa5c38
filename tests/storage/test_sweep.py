from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctsne import ConditionalTSNE
from ctsne.datasets import make_synthetic
from ctsne.storage.archive import read_archive, write_archive
from ctsne.storage.sweep import write_map_file
from ctsne.sweep import SweepResult, load_sweep, sweep

DATA = make_synthetic(120, random_state=0)
KNOWN = (DATA.known == "blue").astype(int)
SMALL = ConditionalTSNE(
    method="revised", perplexity=10, n_iter=60, early_exaggeration_iter=20, random_state=0
)


@pytest.fixture(scope="module")
def result() -> SweepResult:
    start = np.random.default_rng(0).normal(size=(120, 2)).astype(np.float32)
    grid = [
        {"method": "tsne"},
        {"method": "joint", "strength": [1, 0]},
        {"beta": [{0: 0.1, 1: np.float32(0.5)}], "init": start},
    ]
    return sweep(DATA.X, KNOWN, grid, other=DATA.hidden, estimator=SMALL, progress=False)


def test_a_sweep_reads_back_as_it_was(result: SweepResult, tmp_path: Path) -> None:
    for name in ("sweep.npz", "again.npz"):
        result.save(tmp_path / name)
    assert (tmp_path / "sweep.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()
    loaded = load_sweep(str(tmp_path / "sweep.npz"))
    assert [repr(each) for each in loaded.maps[:3]] == [repr(each) for each in result.maps[:3]]
    assert loaded.table.drop(columns=["beta", "init"]).equals(
        result.table.drop(columns=["beta", "init"])
    )
    for swept, stored in zip(result.maps, loaded.maps, strict=True):
        assert stored.embedding is not None and swept.embedding is not None
        assert np.array_equal(stored.embedding, swept.embedding)
        assert stored.diagnostics.keys() == swept.diagnostics.keys()
        for name, values in swept.diagnostics.items():
            assert np.array_equal(stored.diagnostics[name], values)
    for found, labels in ((loaded.labels, result.labels), (loaded.other, result.other)):
        assert found is not None and labels is not None and found.names == labels.names
        assert found.combined.names == labels.combined.names
        assert np.array_equal(found.codes, labels.codes)
    assert loaded.maps[3].parameters["beta"] == {0: 0.1, 1: 0.5}
    assert np.array_equal(loaded.maps[3].parameters["init"], result.maps[3].parameters["init"])
    start = result.maps[3].parameters["init"]
    assert len(loaded.find(init=start)) == len(result.find(init=start)) == 1
    assert loaded.best(0.0).title == result.best(0.0).title
    assert [line.title for line in loaded.lines()] == [line.title for line in result.lines()]


def test_failed_maps_are_kept_with_their_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from ctsne.sweep import worker

    def fail(*_: object) -> None:
        raise MemoryError("too large")

    monkeypatch.setattr(worker, "layout_of", fail)
    with pytest.warns(UserWarning, match="1 of 1 settings failed"):
        failed = sweep(DATA.X, KNOWN, {"beta": [1]}, estimator=SMALL, progress=False)
    failed.save(tmp_path / "sweep.npz")
    (stored,) = load_sweep(tmp_path / "sweep.npz").maps
    assert stored.embedding is None
    assert str(stored.error).startswith("MemoryError: memory ran out: this needs about ")
    assert load_sweep(tmp_path / "sweep.npz").lines() == ()


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04half"])
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "other.npz").write_bytes(content)
    np.savez(tmp_path / "array.npz", X=np.zeros(3))
    np.savez_compressed(tmp_path / "packed.npz", sweep=np.zeros(2**20))
    for name in ("other.npz", "array.npz", "packed.npz"):
        with pytest.raises(ValueError, match=rf"{name} is not a valid ctsne sweep"):
            load_sweep(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        load_sweep(tmp_path / "none.npz")
    os.mkfifo(tmp_path / "sweep.npz")
    for path in (tmp_path, tmp_path / "sweep.npz"):
        with pytest.raises(ValueError, match=r"is a pipe, not a file|not contain a finished sweep"):
            load_sweep(path)


def test_what_cannot_be_written_leaves_the_old_file(result: SweepResult, tmp_path: Path) -> None:
    path = tmp_path / "sweep.npz"
    result.save(path)
    before = path.read_bytes()
    odd = replace(result, estimator={"perplexity": object()})
    with pytest.raises(TypeError, match="parameter"):
        odd.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_stores_each_map_once(tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    grid = [{"method": "tsne"}, {"method": "joint", "strength": [1, 0.5]}]
    made = sweep(DATA.X, KNOWN, grid, estimator=SMALL, folder=folder, progress=False)
    files = sorted(each.name for each in folder.iterdir())
    assert files == sorted(["sweep.npz", *(str(swept.file) for swept in made.maps)])
    with np.load(folder / "sweep.npz") as index:
        assert index.files == ["sweep.json", "labels/0/codes"]  # no map
    for path in (folder, folder / "sweep.npz"):
        loaded = load_sweep(path)
        assert loaded.table.equals(made.table)
        for stored, swept in zip(loaded.maps, made.maps, strict=True):
            assert np.array_equal(stored.embedding, swept.embedding)
            assert stored.file == swept.file and stored.alignment == swept.alignment
    # One file holds everything, wherever the sweep came from.
    loaded.save(tmp_path / "moved.npz")
    for file in folder.iterdir():
        file.unlink()
    moved = load_sweep(tmp_path / "moved.npz")
    assert all(
        np.array_equal(a.embedding, b.embedding) for a, b in zip(moved.maps, made.maps, strict=True)
    )
    # Saved to a folder without files of the maps, the index holds them itself.
    replace(moved, sampled_from=500).save(folder)
    again = load_sweep(folder)
    assert again.sampled_from == 500
    assert all(
        np.array_equal(a.embedding, b.embedding) for a, b in zip(again.maps, made.maps, strict=True)
    )


Change = Callable[[dict[str, Any]], object]


def _map(**changes: Any) -> Change:
    """Change the entry of the second map."""
    return lambda tree: tree["maps"][1].update(changes)


def _parameters(number: int, **changes: Any) -> Change:
    return lambda tree: tree["maps"][number]["parameters"].update(changes)


def _positions(**changes: Any) -> Change:
    return lambda tree: tree["maps"][1]["positions"].update(changes)


def _diagnostics(**changes: Any) -> Change:
    return lambda tree: tree["maps"][1]["positions"]["diagnostics"].update(changes)


def _of_estimator(**changes: Any) -> Change:
    return lambda tree: tree["record"]["parameters"].update(changes)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda tree: tree.update(maps=[7]), "maps"),
        (lambda tree: tree.update(more=np.zeros(3)), "more"),
        (lambda tree: tree["record"]["parameters"].pop("perplexity"), "parameters"),
        (_of_estimator(method="dance"), "method"),
        (_of_estimator(perplexity=[30]), "parameter"),
        (lambda tree: tree.update(sampled_from=3), "number of points"),
        (lambda tree: tree.update(other="nobody"), "other"),
        (lambda tree: tree["labels"].append(tree["labels"][0]), "label columns"),
        (lambda tree: tree["labels"][0].update(codes=np.full(120, 2, "i4")), "codes"),
        (lambda tree: tree["labels"][0].update(codes=np.zeros(99, "i4")), "labels"),
        (lambda tree: tree["labels"][0].pop("codes"), "codes"),
        (_parameters(1, dance=1), "parameters"),
        (_parameters(1, method="x"), "method"),
        (_parameters(3, beta={"per label": [[[], 1]]}), "label"),
        (_map(measures={"mixing": "far"}), "measures"),
        (lambda tree: tree["maps"][1]["measures"].pop("adjusted_rnx"), "measures"),
        (_map(alignment_scores=[]), "alignment_scores"),
        (_map(parts={"mixing": ["many"]}), "parts"),
        (_map(parts={"mixing": [0.5]}), "measures"),
        (_map(seconds="long"), "seconds"),
        (_map(line=1), "line"),
        (_map(knob="dance"), "knob"),
        (_map(error="failed"), "failed"),
        (_map(positions=None, file="../map.npz"), "not the name of a map"),
        (_map(positions=None), "maps"),
        (_positions(embedding=np.full((120, 2), np.nan, "f4")), "embedding"),
        (_positions(embedding=np.zeros((120, 2))), "embedding"),
        (_positions(embedding=np.zeros((99, 2), "f4")), "shape"),
        (_positions(embedding=np.zeros((120, 4), "f4")), "dimensions"),
        (_positions(embedding=None), "embedding"),
        (_diagnostics(perplexity=np.zeros(120)), "perplexity"),
        (_diagnostics(more=np.zeros(120)), "more"),
    ],
)
def test_hostile_files_are_refused_in_one_line(
    result: SweepResult, tmp_path: Path, change: Change, named: str
) -> None:
    path = tmp_path / "evil.npz"
    result.save(path)
    tree = read_archive(path, "sweep")
    change(tree)
    write_archive(path, "sweep", tree)
    with pytest.raises(ValueError) as error:
        load_sweep(path)
    message = str(error.value)
    assert message.startswith(f"{path} is not a valid ctsne sweep: ") and "\n" not in message
    assert named in message.removeprefix(str(path))


def test_damaged_folders_are_refused(tmp_path: Path) -> None:
    made = sweep(
        DATA.X, KNOWN, {"beta": [1, 0.1]}, estimator=SMALL, folder=tmp_path, progress=False
    )
    outside = tmp_path / "outside.npz"
    evil = replace(made, maps=(replace(made.maps[0], file="outside.npz"), made.maps[1]))
    (tmp_path / str(made.maps[0].file)).rename(outside)
    evil.save(tmp_path)
    with pytest.raises(ValueError, match=r"is not a valid ctsne|is not the name of a map"):
        load_sweep(tmp_path)  # though there is such a file
    outside.rename(tmp_path / str(made.maps[0].file))
    made.save(tmp_path)
    kept = tmp_path / str(made.maps[1].file)
    large = replace(made.maps[1], embedding=made.maps[1].embedding * 1e30)
    write_map_file(kept, vars(large))
    with pytest.raises(ValueError, match="embedding"):  # too large to be rotated
        load_sweep(tmp_path)
    kept.write_bytes(kept.read_bytes()[:200])
    with pytest.raises(ValueError, match=r"is not a valid ctsne|is not the name of a map"):
        load_sweep(tmp_path)
    kept.rename(outside)
    kept.symlink_to(outside.name)
    with pytest.raises(ValueError, match=f"{kept.name} is a link, which is not followed"):
        load_sweep(tmp_path)
    kept.unlink()
    with pytest.raises(FileNotFoundError, match=kept.name):
        load_sweep(tmp_path)
