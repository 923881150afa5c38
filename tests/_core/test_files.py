from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from ctsne._core.files import content_checksum, file_checksum, replaced_file


def test_takes_the_place_of_the_target(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    with replaced_file(target) as temporary:
        temporary.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_an_error_leaves_the_target_alone(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def write_half() -> None:
        with replaced_file(target) as temporary:
            temporary.write_text("half")
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        write_half()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target = tmp_path / "far" / "a.txt"
    target.write_text("old")
    link = tmp_path / "link.txt"
    link.symlink_to(target)
    with replaced_file(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink() and target.read_text() == "new"


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o400])
def test_a_file_keeps_who_may_read_it(tmp_path: Path, mode: int) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    target.chmod(mode)
    with replaced_file(target) as temporary:
        assert temporary.stat().st_mode & 0o777 == mode | 0o200
        temporary.write_text("new")
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == mode


def test_checksum_of_a_file(tmp_path: Path) -> None:
    content = bytes(range(256)) * 5000
    (tmp_path / "a").write_bytes(content)
    assert file_checksum(tmp_path / "a") == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("block", [2**20, 7])
def test_the_checksum_depends_on_content_and_not_on_form(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32)
    labels = np.array(["b", "a", "b"] * 10)
    checksum = content_checksum(X, labels)
    monkeypatch.setattr("ctsne._core.files._BLOCK", block)
    written = np.array([[float(str(float(value))) for value in row] for row in X])
    same = [
        (X, labels),
        (np.asfortranarray(X), pd.Series(labels)),
        (written, labels.tolist()),
        (X, pd.Categorical(labels, categories=["b", "z", "a"])),
    ]
    assert {content_checksum(*pair) for pair in same} == {checksum}
    changed = X.copy()
    changed[3, 1] += 1
    other = [
        (changed, labels),
        (X[::-1], labels),
        (X.reshape(-1, 2), labels),
        (X, np.roll(labels, 1)),
        (X, np.where(labels == "b", "c", labels)),
        (X, np.where(labels == "b", None, labels)),
        (X, None),
        (X, "b"),
        (X,),
        (labels, X),
        (sp.csr_array(X), labels),
    ]
    assert len({content_checksum(*pair) for pair in other} | {checksum}) == len(other) + 1


def test_the_checksum_of_sparse_matrices() -> None:
    X = np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32)
    X[X < 1] = 0
    checksum = content_checksum(sp.csr_array(X))
    halves = np.repeat(X.ravel() / 2, 2), np.tile(np.repeat(np.arange(4), 2), 30)
    twice = sp.csr_matrix((*halves, np.arange(0, 241, 8)), X.shape)
    zeros = sp.csr_matrix((X.ravel(), np.tile(np.arange(4), 30), np.arange(0, 121, 4)), X.shape)
    for same in (sp.csc_matrix(X), sp.csr_matrix(X.astype(np.float64)), twice, zeros):
        assert content_checksum(same) == checksum
    assert zeros.nnz == X.size  # not changed
    assert content_checksum(sp.csr_array(X[:, ::-1])) != checksum
    wide = sp.csr_matrix(([1.0], ([5], [7])), (10**6, 10**6))  # too large to be dense
    assert content_checksum(wide) != content_checksum(wide * 2)
