from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from ctsne._core.arrays import content_checksum
from ctsne._core.files import file_checksum


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
    monkeypatch.setattr("ctsne._core.arrays._BLOCK", block)
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
