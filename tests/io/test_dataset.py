from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from ctsne.io import read_data
from ctsne.io.dataset import first_difference, looks_like_counts, matching
from ctsne.io.tables import folded
from ctsne.labels import combine_columns

from .conftest import refused

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
        ([10_000_001, 2], [10_000_001, 3], 1),
        ([10_000_001, 2], [10_000_002, 2], 0),
        ([10_000_001.0, 0.5], [10_000_002, 0.5], 0),
        (["0.1", "x"], ["0.10", "x"], 0),
        (["001", "2"], [1, 2], 0),
    ],
)
def test_where_columns_differ(one: object, other: object, row: int | None) -> None:
    assert first_difference(one, other) == row
    assert first_difference(other, one) == row


def test_features_by_name_and_by_pattern_in_the_order_of_the_file() -> None:
    known = ["a[1]", "PC2", "PC1", "age"]
    assert matching(["PC?", "a[1]"], known, where="x") == ["a[1]", "PC2", "PC1"]
    refused(r"no column 'PX\*' in x", matching, ["PC1", "PX*"], known, where="x")
    with pytest.warns(UserWarning, match=r"x has no column 'pc\*'; ignoring case: 'PC2', 'PC1'"):
        assert matching(["pc*"], known, where="x") == ["PC2", "PC1"]


def test_numbered_names_are_folded() -> None:
    many = [f"PC{i}" for i in range(1, 51)]
    assert folded([*many, "n_counts", "cluster"]) == "PC1 ... PC50, n_counts, cluster"
    assert folded(["7", "8", "9", "a1", "a3", "b1", "b2"]) == "7 ... 9, a1, a3, b1, b2"
    assert folded([f"gene_{i}_x" for i in range(99)]).endswith("_x, ... (99 in all)")


RNG = np.random.default_rng(0)
MEANS = np.exp(RNG.normal(-2, 1.6, 300))
COUNTS = RNG.poisson(RNG.gamma(2, MEANS / 2, (400, 300)))
IMAGES = np.clip(RNG.normal(150, 80, (200, 784)).round(), 0, 255) * (RNG.random((200, 784)) < 0.2)


ARE = {
    "whole": COUNTS,
    "as fractions": COUNTS.astype(np.float32),
    "deep": 20 * COUNTS,
    "sparse": sp.csr_matrix(COUNTS),
    "many": np.tile(COUNTS, (20, 1)),
    "reads": RNG.poisson(RNG.gamma(0.5, np.exp(RNG.normal(4, 2, 300)), (90, 300))),  # not molecules
    "proteins": RNG.poisson(RNG.gamma(1.2, np.exp(RNG.normal(4, 1.3, 30)), (400, 30))),
    "words": RNG.poisson(RNG.gamma(0.1, 30 / np.arange(1, 1001), (300, 1000))),
}
ARE_NOT = {
    "log": np.log1p(COUNTS),
    "sparse log": sp.csr_matrix(np.log1p(COUNTS)),
    "negative": COUNTS - 1,
    "one-hot": np.eye(100),
    "yes or no": COUNTS > 0,
    "digits": load_digits().data,
    "images": IMAGES,
    "colours": RNG.integers(0, 256, (90, 768), np.uint8),
    "answers": RNG.integers(0, 6, (200, 60)),
    "genotypes": RNG.binomial(2, 0.2, (200, 500)),
    "ranks": np.argsort(RNG.random((200, 100)), axis=1),
    "ratings": sp.csr_array(RNG.integers(1, 11, (200, 90)) * (RNG.random((200, 90)) < 0.1)),
    "scores": RNG.binomial(60, 0.4, (200, 60)),
    "zeros": np.zeros((9, 60)),
    "empty": sp.csr_matrix((9, 60)),
    "components": RNG.normal(size=(90, 50)),
}


@pytest.mark.parametrize("name", [*ARE, *ARE_NOT])
def test_raw_counts_are_told_from_other_whole_numbers(name: str) -> None:
    assert looks_like_counts({**ARE, **ARE_NOT}[name]) == (name in ARE)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda X: X, np.float32),
        (lambda X: X.astype(np.float32).astype(np.float64), np.float32),
        (lambda X: np.rint(1000 * X), np.float32),  # counts, exactly
        (lambda X: 1e-12 * X, np.float32),
        (lambda X: np.where(X > 0, X, 0.1), np.float32),  # many ties
        (lambda X: np.exp(20 * X), np.float64),  # many orders of magnitude
        (lambda X: X + 1e6, np.float64),
        (lambda X: X + 1e6 * (np.arange(len(X)) % 2)[:, None], np.float64),  # groups far apart
        (lambda X: np.column_stack([X, 1.6e9 + 60 * X]), np.float64),  # one column of times
    ],
)
def test_single_precision_where_it_loses_nothing(change: Any, kind: Any, tmp_path: Path) -> None:
    X = change(np.random.default_rng(0).normal(size=(700, 4)))
    names = [f"f{place}" for place in range(X.shape[1])]
    pd.DataFrame(X, columns=names).to_csv(tmp_path / "a.csv", index=False)
    np.savez(tmp_path / "a.npz", X=X)
    for path in (tmp_path / "a.csv", tmp_path / "a.npz"):
        found = read_data(path).X
        assert found.dtype == kind
        np.testing.assert_array_equal(found, X.astype(kind))
        np.testing.assert_array_equal(read_data(path, fewest=1).X, X)  # new points, as they are
