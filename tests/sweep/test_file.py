from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ctsne import ConditionalTSNE
from ctsne.datasets import make_synthetic
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
    result.save(tmp_path / "sweep.npz")
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
    assert loaded.maps[3].parameters["beta"] == {0: 0.1, 1: 0.5}
    assert np.array_equal(loaded.maps[3].parameters["init"], result.maps[3].parameters["init"])
    start = result.maps[3].parameters["init"]
    assert len(loaded.find(init=start)) == len(result.find(init=start)) == 1
    assert loaded.best(0.0).title == result.best(0.0).title
    assert [line.title for line in loaded.lines()] == [line.title for line in result.lines()]


def test_the_same_sweep_gives_the_same_bytes(result: SweepResult, tmp_path: Path) -> None:
    for name in ("one.npz", "two.npz"):
        result.save(tmp_path / name)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def test_failed_maps_are_kept_with_their_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from ctsne.sweep import work

    def fail(*_: object) -> None:
        raise MemoryError("too large")

    monkeypatch.setattr(work, "layout_of", fail)
    with pytest.warns(UserWarning, match="1 of 1 settings failed"):
        failed = sweep(DATA.X, KNOWN, {"beta": [1]}, estimator=SMALL, progress=False)
    failed.save(tmp_path / "sweep.npz")
    (stored,) = load_sweep(tmp_path / "sweep.npz").maps
    assert stored.embedding is None
    assert stored.error == "MemoryError: too large"
    assert load_sweep(tmp_path / "sweep.npz").lines() == ()


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04half"])
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "other.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"other\.npz holds no sweep"):
        load_sweep(tmp_path / "other.npz")
    np.savez(tmp_path / "array.npz", X=np.zeros(3))
    with pytest.raises(ValueError, match=r"array\.npz holds no sweep"):
        load_sweep(tmp_path / "array.npz")
    with pytest.raises(FileNotFoundError):
        load_sweep(tmp_path / "none.npz")


def test_what_cannot_be_written_leaves_the_old_file(result: SweepResult, tmp_path: Path) -> None:
    path = tmp_path / "sweep.npz"
    result.save(path)
    before = path.read_bytes()
    odd = SweepResult(result.maps, result._points, {"callback": object()})
    with pytest.raises(TypeError, match="cannot be saved"):
        odd.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
