"""A model of a sample: the same for every kind of collection and any cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctsne import ConditionalTSNE
from ctsne.datasets import make_synthetic
from ctsne.distributed import fit_sample
from ctsne.distributed.sample import MOST_KEPT, allocate, draw, strata_of

from ..io.conftest import refused

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

DATA = make_synthetic(1200, random_state=0)
NAMES = [f"PC{place}" for place in range(1, DATA.X.shape[1] + 1)]
SMALL = ConditionalTSNE(n_iter=30, perplexity=10, random_state=0)
LABELS = np.where(np.arange(len(DATA.X)) % 100 == 7, "rare", DATA.known)
FRAME = pd.DataFrame(DATA.X, columns=NAMES).assign(batch=LABELS, shape=DATA.hidden)


def chunked(rows: Any) -> Any:
    return da.from_array(DATA.X, chunks=(rows, -1))


def test_the_sample_depends_on_the_seed_and_the_rows_alone(client: Any, tmp_path: Path) -> None:
    for number, rows in enumerate(np.split(np.arange(len(FRAME)), [100, 650, 900])):
        FRAME.iloc[rows].to_parquet(tmp_path / f"cells{number}.parquet")
    one = fit_sample(chunked(500), 200, labels=LABELS, estimator=SMALL)
    assert one.embedding_.shape == (200, 2)
    assert not hasattr(SMALL, "embedding_")
    others = {
        "uneven": fit_sample(chunked((7, 593, 600)), 200, labels=LABELS, estimator=SMALL),
        "columns": fit_sample(
            da.from_array(DATA.X, chunks=(300, 3)),
            200,
            estimator=SMALL,
            labels=da.from_array(LABELS, chunks=70),
        ),
        "frame": fit_sample(
            dd.from_pandas(FRAME[[*NAMES, "batch"]], npartitions=5),
            200,
            labels="batch",
            estimator=SMALL,
        ),
        "files": fit_sample(
            str(tmp_path / "*.parquet"), 200, labels=["batch"], estimator=SMALL, client=client
        ),
    }
    for name, other in others.items():
        np.testing.assert_array_equal(one.embedding_, other.embedding_, err_msg=name)
    assert list(others["files"].feature_names_in_) == NAMES
    different = fit_sample(chunked(500), 200, labels=LABELS, estimator=SMALL, random_state=1)
    assert not np.array_equal(one.embedding_, different.embedding_)


def test_rare_labels_keep_their_points(client: Any) -> None:
    model = fit_sample(chunked(500), 200, labels=LABELS, estimator=SMALL)
    counts = dict(zip(model.labels_.combined.names, model.labels_.combined.counts, strict=True))
    assert counts["rare"] == (LABELS == "rare").sum() == 12
    assert sum(counts.values()) == 200


def test_strata_need_not_be_labels(client: Any) -> None:
    frame = FRAME.assign(shape=np.where(LABELS == "rare", "odd", DATA.hidden), batch=DATA.known)
    parts = dd.from_pandas(frame, npartitions=3)
    plain = fit_sample(parts, 60, labels="batch", estimator=SMALL)
    strict = fit_sample(parts, 60, labels="batch", stratify=["shape", "batch"], estimator=SMALL)
    assert plain.labels_.combined.names == strict.labels_.combined.names == ("blue", "orange")
    assert not np.array_equal(plain.embedding_, strict.embedding_)


def test_a_sample_of_everything_is_everything(client: Any) -> None:
    model = fit_sample(chunked(500), 10_000, labels=DATA.known, estimator=SMALL)
    same = ConditionalTSNE(**SMALL.get_params()).fit(DATA.X, labels=DATA.known)
    np.testing.assert_array_equal(model.embedding_, same.embedding_)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"n": 2}, ValueError, "n must be a whole number of at least 4"),
        ({"estimator": "tsne"}, TypeError, "estimator must be a ConditionalTSNE"),
        ({"random_state": None}, TypeError, "random_state must be a whole number"),
        ({"labels": LABELS[:-1]}, ValueError, "has 1199, X has 1200"),
        ({"labels": "batch"}, TypeError, "an array has no column 'batch'"),
        ({"stratify": "batch"}, ValueError, "pass them as labels"),
        ({"stratify": 3}, TypeError, "stratify must be the name of a column"),
        ({"use_rep": "X_pca"}, ValueError, "use_rep is for .h5ad files"),
        ({"collection": DATA.X}, TypeError, "the collection must be a Dask array"),
        ({"collection": "nothing/*.parquet"}, ValueError, "no file matches"),
        ({"collection": "nothing.csv"}, ValueError, "there is no file"),
        ({"collection": []}, ValueError, "name at least one file"),
        ({"client": 3}, TypeError, "client must be a distributed.Client"),
    ],
)
def test_bad_arguments(
    client: Any, change: dict[str, Any], error: type[Exception], message: str
) -> None:
    given = {"collection": chunked(500), "n": 200, "labels": None, **change}
    if "collection" in change:
        given["labels"] = None
    refused(message, fit_sample, given.pop("collection"), given.pop("n"), **given, error=error)


def test_a_column_that_does_not_exist(client: Any) -> None:
    parts = dd.from_pandas(FRAME, npartitions=2)
    for change in ({"labels": "bach"}, {"labels": "batch", "stratify": "bach"}):
        refused("did you mean 'batch'", fit_sample, parts, 100, **change)
    refused("no numeric columns", fit_sample, parts[["batch", "shape"]], 100, labels="batch")


def test_empty_partitions_are_passed_over(client: Any) -> None:
    frame = dd.from_pandas(FRAME.assign(batch=DATA.known), npartitions=4)
    some = frame.map_partitions(lambda part: part[part.index >= 700])
    model = fit_sample(some, 10_000, labels="batch", estimator=SMALL)
    same = ConditionalTSNE(**SMALL.get_params()).fit(DATA.X[700:], labels=DATA.known[700:])
    np.testing.assert_array_equal(model.embedding_, same.embedding_)
    with pytest.raises(ValueError, match="none of its partitions has rows"):
        fit_sample(frame.map_partitions(lambda part: part[:0]), 50)


# How many rows of each stratum a sample takes

COUNTS = st.lists(st.integers(1, 10**6), min_size=1, max_size=60)


@given(COUNTS, st.integers(1, 10**6))
def test_shares_are_equal_but_for_few(counts: list[int], n: int) -> None:
    sizes = np.array(counts, np.int64)
    taken = allocate(sizes, n)
    assert taken.sum() == min(n, sizes.sum())
    assert (taken <= sizes).all()
    least = np.minimum(sizes, min(MOST_KEPT, n // (2 * len(sizes))))
    assert (taken >= least).all()
    # All that are above their least have the same share, up to one row.
    above = np.flatnonzero(taken > least + 1)
    if len(above) and sizes.sum() > n:
        low = ((taken[above] - 1) / sizes[above]).max()
        assert low <= ((taken[above] + 1) / sizes[above]).min()


def test_a_rare_label_keeps_its_points() -> None:
    taken = allocate(np.array([10**9, 300, 10**6]), 200_000)
    assert taken.tolist() == [199_200, 300, 500]


def test_with_very_many_labels_shares_are_proportional() -> None:
    sizes = np.arange(1, 10_001)
    taken = allocate(sizes, 5000)
    np.testing.assert_allclose(taken, 5000 * sizes / sizes.sum(), atol=1)


@given(COUNTS, st.integers(1, 500), st.integers(0, 5))
def test_rows_are_drawn_once(counts: list[int], n: int, seed: int) -> None:
    sizes = np.array(counts, np.int64)
    rows = draw(sizes, n, seed)
    assert [len(each) for each in rows] == allocate(sizes, n).tolist()
    for each, size in zip(rows, counts, strict=True):
        assert (np.diff(each) > 0).all() and (each >= 0).all() and (each < size).all()
    again = draw(sizes, n, seed)
    assert all(np.array_equal(one, two) for one, two in zip(rows, again, strict=True))


def test_every_row_of_a_stratum_is_as_likely() -> None:
    found = np.zeros(40)
    for seed in range(400):
        (rows,) = draw(np.array([40]), 10, seed)
        found[rows] += 1
    assert found.sum() == 4000
    assert found.min() > 60 and found.max() < 140  # 100 expected, standard deviation 8.7


def test_strata_are_combinations_of_texts() -> None:
    keys, codes = strata_of([["a", None, "a", "b"], [1.0, 2.0, 1.0, float("nan")]], 4)
    assert [keys[code] for code in codes] == [("a", "1"), (None, "2"), ("a", "1"), ("b", None)]
    assert strata_of([], 3)[0] == [()]
    refused("3 points", strata_of, [["a", "b"]], 3)


def test_values_without_dimensions_are_neither_points_nor_labels() -> None:
    for labels in (np.True_, np.array(3), da.from_array(np.array(3))):
        refused(r"labels must have shape \(n,\)", fit_sample, chunked(500), 30, labels=labels)
    refused("the array must have 2 dimensions, got 0", fit_sample, da.from_array(np.array(3.0)), 30)
