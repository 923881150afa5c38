from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from ctsne._io.columns import content_checksum, first_difference
from ctsne.labels import combine_columns

TEXTS = st.none() | st.text("a| '\"\\", max_size=6)


@given(rows=st.lists(st.tuples(TEXTS, TEXTS, st.none() | st.integers(0, 2)), min_size=1))
def test_a_combination_tells_apart_what_its_parts_do(rows: list[tuple[object, ...]]) -> None:
    texts = combine_columns([list(column) for column in zip(*rows, strict=True)]).tolist()
    for row, text in zip(rows, texts, strict=True):
        assert (text is None) == (None in row)
    present = {row: text for row, text in zip(rows, texts, strict=True) if text is not None}
    assert len(set(present.values())) == len(present)
    for row, text in zip(rows, texts, strict=True):
        assert text == present.get(row)


def test_combinations_read_well() -> None:
    whole = pd.Series([1.0, 2.0, np.nan])
    categories = pd.Categorical(["x", None, "y"], categories=["y", "x"])
    assert combine_columns([whole, categories]).tolist() == ["1 | x", None, None]
    assert combine_columns([["a | b", "a"], ["c", "b | c"]]).tolist() == [
        "'a | b' | 'c'",
        "'a' | 'b | c'",
    ]


@pytest.mark.parametrize("limit", [-1.0, 1.0])  # few zeros, or many
@pytest.mark.parametrize("block", [2**22, 7])
def test_the_checksum_knows_content_and_not_form(
    limit: float, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32)
    X[limit > X] = 0
    labels = np.array(["b", "a", "b"] * 10)
    checksum = content_checksum(X, labels)
    monkeypatch.setattr("ctsne._io.columns._BLOCK", block)
    written = np.array([[float(str(float(value))) for value in row] for row in X])
    halves = np.repeat(X.ravel() / 2, 2), np.tile(np.repeat(np.arange(4), 2), 30)
    twice = sp.csr_matrix((*halves, np.arange(0, 241, 8)), X.shape)
    zeros = sp.csr_matrix((X.ravel(), np.tile(np.arange(4), 30), np.arange(0, 121, 4)), X.shape)
    same = [
        (np.asfortranarray(X), pd.Series(labels)),
        (sp.csc_matrix(X), labels.tolist()),
        (zeros, labels),
        (twice, labels),
        (written, pd.Categorical(labels, categories=["b", "z", "a"])),
        (np.where(X == 0, -0.0, X), labels.astype(object)),
    ]
    assert {content_checksum(*pair) for pair in same} == {checksum}
    changed = X.copy()
    changed[3, 1] += 1
    other = [
        (changed, labels),
        (1e9 + changed.astype(float), labels),
        (1e9 + changed[:, ::-1].astype(float), labels),
        (X[::-1], labels),
        (sp.csr_matrix(X[:, ::-1]), labels),
        (X.reshape(-1, 2), labels),
        (X, np.roll(labels, 1)),
        (X, np.where(labels == "b", "c", labels)),
        (X, np.where(labels == "b", None, labels)),
        (X, None),
    ]
    assert len({content_checksum(*pair) for pair in other} | {checksum}) == len(other) + 1


@pytest.mark.parametrize(
    ("one", "other", "row"),
    [
        (["a", "b"], pd.Categorical(["a", "b"]), None),
        (["a", None], ["a", np.nan], None),
        (["a", None], ["a", "b"], 1),
        (["x", "1.0", "y"], ["x", 1, "z"], 2),
        (np.float32([0.1, 0.2]), [0.1, 0.2], None),
        (np.float32([0.1, 0.2]), [0.1, 0.21], 1),
        ([True, False], ["True", "False"], None),
    ],
)
def test_where_columns_differ(one: object, other: object, row: int | None) -> None:
    assert first_difference(one, other) == row
    assert first_difference(other, one) == row


def test_the_checksum_of_a_sparse_matrix_makes_it_not_dense() -> None:
    wide = sp.csr_matrix(([1.0], ([5], [7])), (10**6, 10**6))
    assert content_checksum(wide) != content_checksum(wide * 2)
