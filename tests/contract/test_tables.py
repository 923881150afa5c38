"""Bad tables, labels and distances are refused by every entry, before any work."""

import datetime
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from ctsne.evaluate import adjusted_rnx, laplacian
from ctsne.evaluate.mixing import expected_laplacian
from ctsne.labels import encode_column
from ctsne.neighbors import find_neighbors

from .helpers import LABELS, NAN, SIX, X, check_refused, make, spoilt

# Entries that take a table of numbers: how they are called, and what they call it.
Entry = Callable[[Any, Any], object]
ENTRIES: dict[str, tuple[Entry, str]] = {
    "fit": (lambda table, labels: make(perplexity=2).fit(table, labels=labels), "X"),
    "find_neighbors": (lambda table, labels: find_neighbors(table, labels, lengths=2), "X"),
    "rnx of data": (lambda table, labels: adjusted_rnx(X[:6], table, labels, k=2), "X"),
    "rnx of map": (lambda table, labels: adjusted_rnx(table, X[:6], labels, k=2), "embedding"),
    "laplacian": (lambda table, labels: laplacian(table, labels, k=2), "embedding"),
}
NUMBERS = X[:6].tolist()
DATES = [datetime.date(2024, 1, day) for day in range(1, 7)]
BAD_TABLES: dict[str, tuple[Any, str]] = {
    "one NaN": (spoilt((3, 1)), "1 NaN or infinite value; the first is nan at row 3, column 1"),
    "three NaN": (spoilt((5, 0), (2, 7), (2, 9)), "3 NaN .* values; .* row 2, column 7"),
    "infinite": (spoilt((4, 2), value=np.inf), "1 NaN or infinite value; the first is inf .*row 4"),
    "minus infinite": (spoilt((0, 0), value=-np.inf), "the first is -inf at row 0, column 0"),
    "float32 NaN": (spoilt((1, 1)).astype(np.float32), "nan at row 1, column 1"),
    "float16 infinite": (spoilt((1, 1), value=np.inf).astype("f2"), "inf at row 1, column 1"),
    "NaN of a frame": (
        pd.DataFrame(spoilt((3, 1)), columns=[f"gene{i}" for i in range(10)]),
        "nan at row 3, column 'gene1'",
    ),
    "null of a frame": (
        pl.DataFrame({"a": [1, 2, 3, 4, 5, 6], "b": [1, 2, 3, None, 5, 6]}),
        "nan at row 3, column 'b'",
    ),
    "NA of a frame": (
        pd.DataFrame({"a": range(6), "b": [0.5] * 5 + [None]}).convert_dtypes(),
        "nan at row 5, column 'b'",
    ),
    "None": ([[1.0, 2.0], [3.0, None]] * 3, "3 NaN or infinite values; .* row 1, column 1"),
    "masked": (np.ma.masked_equal(np.arange(12).reshape(6, 2), 5), "nan at row 2, column 1"),
    "empty": (np.empty((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 2"),
    "empty list": ([], "2D array.* 1D array"),
    "no features": (np.empty((6, 0)), r"0 feature\(s\) \(shape=\(6, 0\)\) while a minimum of 1"),
    "one point": (X[:1], r"1 sample\(s\) .* minimum of 2"),
    "a number": (3.0, "2D array.* 0D array"),
    "null of an Arrow table": (
        pa.table({"a": [1, 2, 3, 4, 5, 6], "b": [1, 2, 3, None, 5, 6]}),
        "nan at row 3, column 'b'",
    ),
    "text column of an Arrow table": (
        pa.table({"gene": range(6), "donor": list("abcdef")}),
        "row 0, column 'donor' holds 'a'",
    ),
    "without values yet": (pl.DataFrame(NUMBERS).lazy(), r"LazyFrame .*call .collect\(\) on it"),
    "1-D": (X[:6, 0], r"2D array.* got a 1D array of shape \(6,\). Reshape your data: \w*.reshape"),
    "3-D": (X[:6].reshape(6, 2, 5), r"2D array.* got a 3D array of shape \(6, 2, 5\)"),
    "text": (np.array(NUMBERS).astype(str), "numbers only, but row 0, column 0 holds .*text"),
    "bytes": (np.array(NUMBERS).astype(bytes), "numbers only.*text"),
    "text in a list": ([*NUMBERS[:4], [*NUMBERS[4][:9], "B cell"], NUMBERS[5]], "row 4, column 9"),
    "text column": (
        pd.DataFrame({"gene": range(6), "donor": list("abcdef")}),
        "numbers only, but row 0, column 'donor' holds 'a': this is text .*Drop such columns",
    ),
    "text column of polars": (
        pl.DataFrame({"gene": range(6), "donor": list("abcdef")}),
        "row 0, column 'donor' holds 'a'",
    ),
    "categories": (pd.DataFrame({"a": range(6), "b": pd.Categorical(SIX)}), "column 'b' holds 'a'"),
    "text that looks like numbers": ([["1", "2"]] * 6, "row 0, column 0 holds '1': this is text"),
    "a word": ("pancreas", "numbers only, but it holds 'pancreas'"),
    "nothing": (None, "contains|2D array"),
    "objects": (np.array([[{}, 1]] * 6, dtype=object), "row 0, column 0 holds {}: .*not 'dict'"),
    "a mapping": ({"a": [1.0] * 6}, "numbers only"),
    "ragged": ([[1.0, 2.0], [3.0]] * 3, "rows of equal length"),
    "complex": (X[:6] + 1j, "Complex data not supported: .*real numbers"),
    "dates": (np.array(DATES, "M8[D]")[:, None], r"numbers only, got datetime64\[D\]"),
    "spans": (np.array([[1], [2]] * 3, "m8[s]"), "numbers only, got timedelta64"),
    "date column": (pd.DataFrame({"a": range(6), "day": pd.to_datetime(DATES)}), "column 'day'"),
    "records": (np.zeros(6, [("a", "f8"), ("b", "f8")]), "numbers only"),
    "beyond all floats": ([[10**400, 1]] * 6, "row 0, column 0 .*too large"),
    "huge": (X[:6] * 1e100, "up to .*e.100, outside the range.*rescale them"),
    "tiny": (X[:6] * 1e-100, "up to .*e-100, outside the range"),
}


@pytest.mark.usefixtures("_no_work")
@pytest.mark.parametrize("table", BAD_TABLES)
@pytest.mark.parametrize("entry", ENTRIES)
def test_bad_tables_are_refused(entry: str, table: str) -> None:
    call, argument = ENTRIES[entry]
    values, says = BAD_TABLES[table]
    check_refused(lambda: call(values, SIX), argument, says)


@pytest.mark.usefixtures("_no_work")
@pytest.mark.parametrize("layout", [sp.csr_matrix, sp.csc_array, sp.coo_array, sp.lil_array])
def test_bad_sparse_tables_are_refused(layout: Any) -> None:
    table = np.zeros((80, 100))
    table[7, 3] = 1
    table[40, 60] = table[40, 61] = np.nan
    says = "2 NaN or infinite values; the first is nan at row 40, column 60"
    check_refused(lambda: make().fit(layout(table)), "X", says)
    check_refused(lambda: make().fit(layout((1, 5))), "X", "minimum of 2")
    check_refused(lambda: make().fit(layout(table.astype(complex))), "X", "Complex")
    with pytest.raises(TypeError, match=r"X is a sparse matrix.*PCA"):
        find_neighbors(layout(table), lengths=1)


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (list("ab"), "one entry for each of the 6 points.* got 2"),
        (list("aabbaba"), "got 7"),
        ([], "got 0"),
        (encode_column(list("ab")), "got 2"),
        (np.full((6, 1, 1), "a"), r"one column.*\(6, 1, 1\)"),
        ("donor", "label column.*'donor'"),
        (7, "label column"),
        ({"a": 1}, "label column"),
        ([["a"], ["b", "c"], [], [], [], []], "text, numbers or dates"),
        (pd.DataFrame(index=range(6)), "data frame without columns"),
        (np.zeros(6, complex), "text, numbers or dates.*complex"),
        (pl.DataFrame({"a": SIX}).lazy(), r"LazyFrame .*call .collect\(\) on it"),
        (pd.MultiIndex.from_arrays([SIX, SIX]), r"MultiIndex; call .to_frame\(index=False\) on it"),
    ],
)
@pytest.mark.usefixtures("_no_work")
def test_bad_labels_are_refused(entry: str, labels: Any, says: str) -> None:
    call, _ = ENTRIES[entry]
    check_refused(lambda: call(X[:6], labels), "labels", says)
    check_refused(lambda: encode_column(labels, n=6), "labels", says)


def test_measures_refuse() -> None:
    check_refused(lambda: laplacian(X[:6], None, k=2), "labels", "label column")
    check_refused(lambda: expected_laplacian(None), "labels", "label column")
    check_refused(lambda: adjusted_rnx(X[:6], X[:7], k=2), "X", "same points.* 7 and 6")
    for k in (0, 5, -1, 2.5, "2", None, True, NAN):
        check_refused(lambda k=k: adjusted_rnx(X[:6], X[:6], k=k), "k", "whole|least|most")
        check_refused(lambda k=k: laplacian(X[:6], SIX, k=k), "k", "whole|least|most")


@pytest.mark.parametrize(
    ("changes", "argument", "says"),
    [
        ({"metric": "manhattan"}, "metric", "'euclidean', 'cosine'; got 'manhattan'"),
        ({"metric": None}, "metric", "'euclidean', 'cosine'; got None"),
        ({"n_jobs": 0}, "n_jobs", "must not be 0; use -1 for all cores"),
        ({"n_jobs": "x"}, "n_jobs", "must be a whole number.*got 'x'"),
    ],
)
def test_bad_searches_are_refused(changes: dict[str, Any], argument: str, says: str) -> None:
    arguments: dict[str, Any] = {"lengths": 2, **changes}
    check_refused(lambda: find_neighbors(X[:6], SIX, **arguments), argument, says)


def test_a_search_refuses_aligned_points_of_others() -> None:
    for points, says in ((X[:5], "5 rows but X has 6"), (spoilt((3, 1)), "row 3, column 1")):
        check_refused(
            lambda p=points: find_neighbors(X[:6], SIX, lengths=(2, 2), aligned=p),  # type: ignore[misc]
            "aligned",
            says,
        )
    zeros = spoilt(*((2, column) for column in range(10)), value=0.0)
    check_refused(
        lambda: find_neighbors(X[:6], SIX, lengths=(2, 2), metric="cosine", aligned=zeros),
        "aligned",
        "all zeros .*row 2",
    )


@pytest.mark.usefixtures("_no_work")
def test_bad_distances_are_refused() -> None:
    near = np.abs(np.subtract.outer(np.arange(9.0), np.arange(9.0)))
    graph = sp.csr_array(np.where(near <= 2, near, 0))
    alone = graph.toarray()
    alone[4] = 0
    cases: list[tuple[Any, str, str]] = [
        (near[:5], "X", r"square.*\(5, 9\)"),
        (-near, "X", "negative.* -8"),
        (sp.csr_array(near[:5]), "X", "square"),
        (-graph, "X", "negative"),
        (graph, "perplexity", "point 0 has 2 neighbours in X; the largest that works is 2"),
        (sp.csr_array(alone), "X", "point 4 has 0 neighbours.*every point needs"),
        (np.where(near == 3, NAN, near), "X", "12 NaN.*row 0, column 3"),
    ]
    for table, argument, says in cases:
        model = make(metric="precomputed", init="random", perplexity=3)
        check_refused(lambda m=model, t=table: m.fit(t), argument, says)  # type: ignore[misc]
    check_refused(lambda: make(metric="precomputed").fit(near), "init", '"spectral".*"random"')
    zeros = X.copy()
    zeros[[4, 60]] = 0
    for table in (zeros, sp.csr_array(zeros)):
        says = "2 rows of X are all zeros .*row 4.*euclidean"
        check_refused(lambda t=table: make(metric="cosine").fit(t), "metric", says)  # type: ignore[misc]
    with pytest.raises(ValueError, match=r"2 rows of X are all zeros .*row 4"):
        find_neighbors(zeros, lengths=2, metric="cosine")


def test_a_refused_fit_leaves_the_last_one(request: pytest.FixtureRequest) -> None:
    model = make().fit(pd.DataFrame(X).add_prefix("gene"), labels=LABELS)
    before = dict(vars(model))
    request.getfixturevalue("_no_work")
    for table, labels in ((spoilt((0, 0)), SIX), (X[:6], SIX[:5]), (X[:3], list("aba"))):
        with pytest.raises(ValueError):
            model.fit(table, labels=labels)
        assert vars(model) == before
    mixed = pd.DataFrame(X[:, :2], columns=["gene", 1])
    with pytest.raises(TypeError, match=r"[Ff]eature names"):
        model.fit(mixed, labels=LABELS)
    assert vars(model) == before


def test_columns_of_the_same_name() -> None:
    frame = pd.DataFrame(X[:, :3], columns=["a", "b", "a"])
    with pytest.raises(ValueError, match="several columns named 'a'"):
        make().fit(frame, labels=LABELS)
    twice = pd.DataFrame({"a": LABELS, "b": LABELS}).set_axis(["a", "a"], axis=1)
    assert encode_column(twice).n_labels == 2
