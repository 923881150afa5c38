"""The contract on bad input, line by line: refused, accepted with a warning, accepted."""

import datetime
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import ctsne.fit.pipeline
from ctsne import ConditionalTSNE
from ctsne.affinity import joint_odds
from ctsne.datasets import make_synthetic
from ctsne.evaluate import (
    adjusted_rnx,
    expected_laplacian,
    laplacian,
    mixing_by_label,
    private_populations,
)
from ctsne.labels import combine_columns, encode_column, encode_labels
from ctsne.layout import Layout, Schedule, start_positions
from ctsne.neighbors import balanced_lengths, find_neighbors
from ctsne.pl import maps
from ctsne.report import write_report
from ctsne.sweep import SweepResult, load_sweep, sweep

METHODS = ("tsne", "original", "revised", "balanced", "joint")
CONDITIONED = METHODS[1:]
NAN = float("nan")

# Coordinates in steps of 1/64: far from the origin and in other units they are the same numbers.
DATA = make_synthetic(120, random_state=0)
X = np.round(DATA.X * 64) / 64
LABELS = DATA.known


def make(**parameters: Any) -> ConditionalTSNE:
    short = {"perplexity": 5, "n_iter": 20, "early_exaggeration_iter": 10, "random_state": 0}
    return ConditionalTSNE(**{**short, **parameters})


def check_map(model: ConditionalTSNE, n: int, n_components: int = 2) -> None:
    assert model.embedding_.shape == (n, n_components)
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.kl_divergence_)
    assert model.affinities_.sum() == pytest.approx(1, abs=1e-5)
    assert np.isfinite(model.diagnostics_.perplexity).all()


# Entries that take a table of numbers: how they are called, and what they call it.
Entry = Callable[[Any, Any], object]
ENTRIES: dict[str, tuple[Entry, str]] = {
    "fit": (lambda table, labels: make(perplexity=2).fit(table, labels=labels), "X"),
    "find_neighbors": (lambda table, labels: find_neighbors(table, labels, lengths=2), "X"),
    "rnx of data": (lambda table, labels: adjusted_rnx(X[:6], table, labels, k=2), "X"),
    "rnx of map": (lambda table, labels: adjusted_rnx(table, X[:6], labels, k=2), "embedding"),
    "laplacian": (lambda table, labels: laplacian(table, labels, k=2), "embedding"),
}
SIX = list("aabbab")


def spoilt(*places: tuple[int, int], value: float = NAN) -> Any:
    table = X[:6].copy()
    for place in places:
        table[place] = value
    return table


# ---- refused: the data ---------------------------------------------------------------------------

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


@pytest.fixture
def _no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every stage of a fit fails, so that what is refused is refused before it."""

    def work(*_: object, **__: object) -> None:
        pytest.fail("work was started before the input was refused")

    stages = ("find_neighbors", "read_neighbors")
    for stage in (*stages, "reduced_features", "start_positions", "Layout"):
        monkeypatch.setattr(ctsne.fit.pipeline, stage, work)


def check_refused(call: Callable[[], object], argument: str, says: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    message = str(caught.value)
    assert re.search(rf"\b{argument}\b", message), message
    assert re.search(says, message, re.DOTALL), message
    assert len(message) < 500, message


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


_COUNT = "must be a whole number.*got "


@pytest.mark.parametrize(
    ("changes", "argument", "says"),
    [
        ({"lengths": (2, -1)}, "lengths", "must not be negative"),
        ({"lengths": 0}, "lengths", "positive sum"),
        ({"lengths": "two"}, "lengths", _COUNT),
        ({"lengths": None}, "lengths", _COUNT + "object"),
        ({"lengths": 2.5}, "lengths", _COUNT + "float64"),
        ({"lengths": NAN}, "lengths", _COUNT + "float64"),
        ({"lengths": np.array([1, 2, 3])}, "lengths", _COUNT + r"int64 of shape \(3,\)"),
        ({"lengths": np.arange(12).reshape(6, 2)}, "lengths", "same positive sum"),
        ({"patterns": (1,)}, "patterns", "begin with 0"),
        ({"metric": "manhattan"}, "metric", "'euclidean', 'cosine'; got 'manhattan'"),
        ({"metric": None}, "metric", "'euclidean', 'cosine'; got None"),
        ({"n_jobs": 0}, "n_jobs", "must not be 0; use -1 for all cores"),
        ({"n_jobs": "x"}, "n_jobs", "must be a whole number.*got 'x'"),
    ],
)
def test_bad_searches_are_refused(changes: dict[str, Any], argument: str, says: str) -> None:
    arguments: dict[str, Any] = {"lengths": 2, **changes}
    check_refused(lambda: find_neighbors(X[:6], SIX, **arguments), argument, says)


# ---- refused: the parameters ---------------------------------------------------------------------

NOT_NUMBERS: tuple[Any, ...] = ("0.1", None, [0.1], True, 1j, NAN, float("inf"), -float("inf"))
NOT_COUNTS: tuple[Any, ...] = (-1, 2.5, "3", None, True, NAN, [1], 10.0)
BAD_PARAMETERS: list[tuple[str, Any, str]] = [
    *(
        ("method", value, "'joint', 'revised', 'balanced', 'original', 'tsne'")
        for value in ("umap", None, 1, "", [])
    ),
    *(("bandwidth", value, "'r', 'p'") for value in ("q", None, 1.0)),
    *(("metric", value, "'euclidean', 'cosine', 'pre") for value in ("l1", None, np.ones(3), len)),
    *(("perplexity", value, "at least 1") for value in (0, -3, 0.5, *NOT_NUMBERS)),
    ("perplexity", 10**400, "number of neighbours"),
    ("perplexity", 120, r"too large for 120 points.*largest that works is 119"),
    ("perplexity", 1e300, "largest that works is 119"),
    *(("beta", value, "above 0 and at most 1") for value in (0, -0.1, 1.1, 1e300)),
    *(("beta", value, "or a mapping") for value in NOT_NUMBERS if value is not None),
    ("beta", "auto", "or a mapping"),
    *(("beta_low", value, "above 0 and at most 1") for value in (0, -0.1, 1.1)),
    *(("beta_low", value, "or a mapping") for value in NOT_NUMBERS if value is not None),
    *(("strength", value, "from 0 to 1") for value in (-0.1, 1.1)),
    *(("strength", value, "or a mapping") for value in NOT_NUMBERS if value is not None),
    ("strength", "auto", "or a mapping"),
    *(("odds", value, "from 1 to") for value in (0, 0.9, -5, 1e7, 1e300)),
    *(("odds", value, "or a mapping") for value in NOT_NUMBERS if value is not None),
    ("odds", {"blue": 2}, "has none for 'orange'"),
    ("odds", {"blue": 2, "orange": 0.5}, r"odds\['orange'\] must be"),
    *(("mixing", value, "from 0 to 1") for value in (-0.1, 1.1, 70)),
    *(("mixing", value, "must be a number") for value in NOT_NUMBERS if value is not None),
    ("mixing", {"blue": 0.5, "orange": 0.5}, "must be a number"),
    *(("align", value, "'none', 'mutual', 'local', 'mean', 'auto'") for value in ("men", "", [])),
    *(("align", value, "a row for each of the 120 points") for value in (3.0, X[:, 0], X[:50])),
    ("align", X[:, :0], r"\(120, 0\)"),
    ("align", X[:, :, None], r"\(120, 10, 1\)"),
    ("align", np.where(np.arange(240).reshape(120, 2) == 11, NAN, 1), "1 NaN .*row 5, column 1"),
    ("align", pd.DataFrame({"a": X[:, 0], "b": NAN}), "120 NaN .*row 0, column 'b'"),
    ("align", np.full((120, 2), np.inf), "240 NaN or infinite"),
    ("align", np.full((120, 2), 1e300), "outside the range|too large|at most"),
    ("align", np.full((120, 2), "a"), "text"),
    ("align", np.full((120, 2), 1j), "real numbers"),
    ("align", sp.csr_array(X), "dense"),
    ("align", [[1.0], [1.0, 2.0]], "equal length"),
    ("align", None, "shape"),
    ("beta", {"blue": 0.1}, "has none for 'orange'"),
    ("beta", {"blue": 0.1, "organe": 0.1}, "'organe'.*did you mean 'orange'"),
    ("beta", {"blue": 0.1, "orange": 0}, r"beta\['orange'\] must be a number above 0"),
    ("beta", {"blue": 0.1, "orange": "x"}, r"beta\['orange'\] must be a number"),
    ("beta", {}, "has none for 'blue', 'orange'"),
    ("beta", pd.Series({"blue": 0.1, "orange": 0.1}), "or a mapping"),
    ("strength", {"blue": 0.1, "green": 0.1, "orange": 1}, "'green'"),
    ("strength", {"blue": 2, "orange": 1}, r"strength\['blue'\]"),
    ("beta_low", {"blue": NAN, "orange": 1}, r"beta_low\['blue'\]"),
    *(("n_components", value, "from 1 to 3|whole") for value in (0, 4, 10**30, *NOT_COUNTS)),
    *(("n_iter", value, "at least 1|whole") for value in (0, *NOT_COUNTS)),
    *(("early_exaggeration_iter", value, "at least 0|whole") for value in NOT_COUNTS),
    *(("callback_every", value, "at least 1|whole") for value in (0, *NOT_COUNTS)),
    *(("verbose", value, "at least 0|whole") for value in NOT_COUNTS if value is not True),
    *(("early_exaggeration", value, "above 0") for value in (0, -1, *NOT_NUMBERS)),
    *(("exaggeration", value, "above 0") for value in (0, -1, *NOT_NUMBERS)),
    *(("learning_rate", value, "above 0") for value in (0, -1, *NOT_NUMBERS[1:])),
    ("learning_rate", "fast", "'auto'"),
    *(("dof", value, "from 0.05 to 1000") for value in (0, -1, 1e9, *NOT_NUMBERS)),
    *(("callback", value, "function of") for value in (3, "plot", [])),
    *(("n_jobs", value, "all cores") for value in (0, "x", 2.0, True, NAN)),
    *(("random_state", value, "whole number") for value in ("seed", -1, 1.5, NAN, [])),
    *(("init", value, "'pca', 'random', 'spectral'") for value in ("umap", "", 3.0, [])),
    ("init", X[:, :3], r"\(120, 2\); got an array of shape \(120, 3\)"),
    ("init", X[:50, :2], r"\(120, 2\).*\(50, 2\)"),
    ("init", X[:, 0], r"\(120, 2\).*\(120,\)"),
    ("init", X[:, :2, None], r"\(120, 2\)"),
    ("init", np.where(np.arange(240).reshape(120, 2) == 11, NAN, 1), "1 NaN .*row 5, column 1"),
    ("init", np.full((120, 2), np.inf), "240 NaN or infinite"),
    ("init", np.full((120, 2), 1e300), "at most"),
    ("init", np.full((120, 2), "a"), "text"),
    ("init", np.full((120, 2), 1j), "real numbers"),
    ("init", sp.csr_array(X[:, :2]), "dense"),
    ("init", [[1.0], [1.0, 2.0]], "equal length"),
    ("init", None, "shape"),
]


@pytest.mark.usefixtures("_no_work")
@pytest.mark.parametrize("method", ["revised", "joint"])
@pytest.mark.parametrize(("parameter", "value", "says"), BAD_PARAMETERS)
def test_bad_parameters_are_refused(method: str, parameter: str, value: Any, says: str) -> None:
    state = np.random.RandomState(0)
    model = make(**{"method": method, "random_state": state, parameter: value})
    before = dict(vars(model))
    check_refused(lambda: model.fit(X, labels=LABELS), parameter, says)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[key] is before[key] for key in before)
    assert state.randint(10**6) == np.random.RandomState(0).randint(10**6)


@pytest.mark.parametrize("parameter", ["beta", "strength", "beta_low", "mixing", "odds"])
@pytest.mark.parametrize("labels", [None, ["a"] * 120, [None] * 120])
@pytest.mark.parametrize("value", [-0.1, 1.1, {"a": 7}, "x"])
@pytest.mark.usefixtures("_no_work")
def test_refused_where_it_would_not_matter(parameter: str, labels: Any, value: Any) -> None:
    if parameter == "odds":  # they go the other way
        value = {-0.1: -0.1, 1.1: 0.5}.get(value, value) if isinstance(value, float) else value
        value = {"a": 0.7} if isinstance(value, dict) else value
    check_refused(
        lambda: make(**{parameter: value}).fit(X, labels=labels),
        parameter,
        "at most 1|from [01] to",
    )


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("men", "'none', 'mutual', 'local', 'mean', 'auto'"),
        (X[:50], "a row for each of the 120 points"),
        (np.full((120, 2), NAN), "240 NaN"),
    ],
)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.usefixtures("_no_work")
def test_bad_alignments_are_refused_where_they_would_not_matter(
    method: str, value: Any, says: str
) -> None:
    model = make(method=method, align=value)
    check_refused(lambda: model.fit(X, labels=LABELS), "align", says)
    check_refused(lambda: model.fit(X), "align", says)


@pytest.mark.parametrize("parameters", [{"odds": 2, "beta_low": 0.5}, {"odds": 1, "beta_low": 1}])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.usefixtures("_no_work")
def test_two_ways_to_say_the_same_are_refused(method: str, parameters: dict[str, Any]) -> None:
    says = r"odds=. and beta_low=.* set the same thing; leave one of them out"
    check_refused(lambda: make(method=method, **parameters).fit(X, labels=LABELS), "odds", says)


@pytest.mark.parametrize("align", ["mutual", "local", "mean", "auto", X])
@pytest.mark.parametrize("method", ["joint", "revised", "balanced"])
@pytest.mark.usefixtures("_no_work")
def test_distances_cannot_be_aligned(method: str, align: Any) -> None:
    table = np.abs(np.subtract.outer(np.arange(120.0), np.arange(120.0)))
    model = make(method=method, align=align, metric="precomputed", init="random")
    says = 'align needs features to move, but metric="precomputed" has only distances'
    check_refused(lambda: model.fit(table, labels=LABELS), "align", says)


@pytest.mark.parametrize("align", [np.zeros((120, 2)), np.vstack([np.zeros((1, 2)), X[1:, :2]])])
@pytest.mark.usefixtures("_no_work")
def test_aligned_points_without_a_direction_are_refused(align: Any) -> None:
    model = make(metric="cosine", align=align)
    check_refused(lambda: model.fit(X, labels=LABELS), "align", "zeros")


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


# ---- accepted with a warning ---------------------------------------------------------------------


@pytest.mark.parametrize("method", CONDITIONED)
@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (None, "no labels given.*plain t-SNE.*labels="),
        (["B cell"] * 120, r"1 label \(B cell: 120\).*plain t-SNE"),
        ([None, "a"] * 60, r"1 label \(a: 60\), 60 missing.*plain t-SNE"),
        ([None] * 120, "0 labels, 120 missing.*plain t-SNE"),
    ],
)
def test_nothing_to_factor_out(method: str, labels: Any, says: str) -> None:
    with pytest.warns(UserWarning, match=says):
        model = make(method=method).fit(X, labels=labels)
    plain = make(method="tsne").fit(X)
    np.testing.assert_array_equal(model.embedding_, plain.embedding_)


@pytest.mark.parametrize("init", ["pca", "random", "spectral"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "table",
    [np.full((60, 3), 7.5), np.zeros((60, 3)), sp.csr_array((60, 200)), sp.csr_array((60, 3))],
)
def test_identical_points(table: Any, method: str, init: str) -> None:
    with pytest.warns(UserWarning, match="all points of X are identical"):
        model = make(method=method, init=init).fit(table, labels=np.arange(60) % 2)
    check_map(model, 60)
    assert len(np.unique(model.embedding_, axis=0)) == 60


def test_identical_points_of_other_metrics() -> None:
    with pytest.warns(UserWarning, match="all points of X are identical"):
        check_map(make(metric="cosine").fit(np.ones((60, 3)), labels=np.arange(60) % 2), 60)
    for table in (np.zeros((60, 60)), sp.csr_array(np.ones((60, 60))) * 0.0):
        with pytest.warns(UserWarning, match="all points of X are identical"):
            model = make(metric="precomputed", init="spectral").fit(table, labels=np.arange(60) % 2)
        check_map(model, 60)
    with pytest.warns(UserWarning, match="all points of X are identical"):
        check_map(make().fit(sp.csr_array(np.ones((60, 99))), labels=np.arange(60) % 2), 60)


def test_small_labels() -> None:
    # Perplexity 5 asks for 8 neighbours of the own label: nine points have them, eight do not.
    labels = np.array(["large"] * 103 + ["nine"] * 9 + ["eight"] * 8)
    says = r"1 of 3 labels has too few points .*\(up to 8 others .*eight \(8\)\. .*perplexity"
    with pytest.warns(UserWarning, match=says):
        check_map(make(method="revised").fit(X, labels=labels), 120)


@pytest.mark.filterwarnings("ignore:.*no counterpart under other labels:UserWarning")
def test_small_labels_of_joint() -> None:
    # Its rows are 5/3 of the perplexity: 9 points, of which a label should have 5.
    labels = np.array(["large"] * 109 + ["six"] * 6 + ["five"] * 5)
    says = r"1 of 3 labels has too few points .*\(up to 5 others .*five \(5\)\. .*perplexity"
    with pytest.warns(UserWarning, match=says):
        check_map(make(method="joint").fit(X, labels=labels), 120)


def test_small_labels_of_balanced() -> None:
    # At full strength a small label's share is as small as it is.
    labels = np.array(["large"] * 114 + ["six"] * 6)
    check_map(make(method="balanced").fit(X, labels=labels), 120)
    with pytest.warns(UserWarning, match=r"1 of 2 labels has too few points.*six \(6\)"):
        check_map(make(method="balanced", strength=0.2).fit(X, labels=labels), 120)


def test_long_lists_of_small_labels_stay_readable() -> None:
    with pytest.warns(UserWarning, match="60 of 60 labels") as caught:
        make().fit(X, labels=np.arange(120) // 2)
    assert len(str(caught[0].message)) < 400


# ---- accepted: kinds of tables -------------------------------------------------------------------

WHOLE = np.round(X * 20)  # small whole numbers, exact in all types
READ_ONLY = WHOLE.copy()
READ_ONLY.flags.writeable = False
GOOD_TABLES: dict[str, Any] = {
    **{kind: WHOLE.astype(kind) for kind in ("f2", "f4", "f8", "g", "i1", "i2", "i4", "i8", ">f8")},
    "whole objects": WHOLE.astype(int).astype(object),
    "float objects": WHOLE.astype(object),
    "Fortran": np.asfortranarray(WHOLE),
    "strided": np.repeat(np.repeat(WHOLE, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": WHOLE[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": READ_ONLY,
    "list": WHOLE.tolist(),
    "tuples": tuple(map(tuple, WHOLE.tolist())),
    "matrix": WHOLE.view(np.matrix),
    "masked, nothing masked": np.ma.masked_array(WHOLE),
    "csr": sp.csr_array(WHOLE),
    "csc": sp.csc_matrix(WHOLE),
    "coo of whole numbers": sp.coo_array(WHOLE.astype(np.int32)),
    "pandas": pd.DataFrame(WHOLE),
    "pandas of whole numbers": pd.DataFrame(WHOLE.astype(int)).convert_dtypes(),
    "pandas of several types": pd.DataFrame(WHOLE).astype({0: "float32", 1: "int64", 2: object}),
    "polars": pl.DataFrame(WHOLE),
    "polars of whole numbers": pl.DataFrame(WHOLE.astype(int)),
}


@pytest.mark.parametrize("kind", GOOD_TABLES)
def test_tables_of_any_kind_are_the_same(kind: str) -> None:
    table = GOOD_TABLES[kind]
    model = make(method="joint").fit(table, labels=LABELS)
    expected = make(method="joint").fit(WHOLE, labels=LABELS)
    np.testing.assert_array_equal(model.embedding_, expected.embedding_)
    if not sp.issparse(table):
        same = find_neighbors(WHOLE, LABELS, lengths=(4, 3))
        found = find_neighbors(table, LABELS, lengths=(4, 3))
        np.testing.assert_array_equal(found.indices, same.indices)
        np.testing.assert_array_equal(found.distances, same.distances)
        assert laplacian(table, LABELS, k=5) == laplacian(WHOLE, LABELS, k=5)
        assert adjusted_rnx(table, table, LABELS, k=5) == 1


def test_yes_and_no_are_numbers() -> None:
    table = WHOLE > 0
    model = make().fit(table, labels=LABELS)
    expected = make().fit(table.astype(float), labels=LABELS)
    np.testing.assert_array_equal(model.embedding_, expected.embedding_)
    mixed = pd.DataFrame(WHOLE).assign(treated=table[:, 0])
    model = make().fit(mixed.rename(columns=str), labels=LABELS)
    expected = make().fit(np.column_stack([WHOLE, table[:, 0]]), labels=LABELS)
    np.testing.assert_array_equal(model.embedding_, expected.embedding_)


# ---- accepted: where the data lie ----------------------------------------------------------------


def neighbours_of(table: Any) -> Any:
    return find_neighbors(table, LABELS, lengths=(8, 7))


@pytest.mark.parametrize(
    ("kind", "offset"), [("f8", 1e4), ("f8", -1e4), ("f8", 1e8), ("f8", 1e12), ("f4", 1e4)]
)
def test_far_from_the_origin(kind: str, offset: float) -> None:
    shifted = (X + offset).astype(kind)
    assert np.array_equal(shifted.astype(float) - offset, X)
    expected, found = neighbours_of(X), neighbours_of(shifted)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.distances, expected.distances)
    for method in METHODS:
        model = make(method=method).fit(shifted, labels=LABELS)
        check_map(model, 120)
        plain = make(method=method).fit(X, labels=LABELS)
        np.testing.assert_allclose(model.embedding_, plain.embedding_, rtol=1e-3, atol=1e-3)
    assert laplacian(shifted, LABELS, k=5) == laplacian(X, LABELS, k=5)
    assert adjusted_rnx(X, shifted, LABELS, k=5) == adjusted_rnx(shifted, X, LABELS, k=5) == 1


def test_unit_spread_far_away_needs_no_luck() -> None:
    rng = np.random.default_rng(0)
    for offset in (1e4, 1e8):
        shifted = rng.normal(size=(500, 10)) + offset
        exact = find_neighbors(shifted - offset, lengths=15).indices
        np.testing.assert_array_equal(find_neighbors(shifted, lengths=15).indices, exact)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("exponent", [-50, 50])
def test_other_units(kind: Any, exponent: int) -> None:
    table = X.astype(kind)
    scaled = table * kind(2.0**exponent)  # about 1e±15, and exact
    expected, found = neighbours_of(table), neighbours_of(scaled)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.distances, expected.distances * np.float32(2.0**exponent))
    for method in METHODS:
        for bandwidth in "pr":
            model = make(method=method, bandwidth=bandwidth).fit(scaled, labels=LABELS)
            plain = make(method=method, bandwidth=bandwidth).fit(table, labels=LABELS)
            np.testing.assert_array_equal(model.embedding_, plain.embedding_)
            np.testing.assert_array_equal(
                model.diagnostics_.perplexity, plain.diagnostics_.perplexity
            )


@pytest.mark.parametrize("scale", [1e15, 1e-15, 1e28, 1e-28])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_any_scale(scale: float, metric: str) -> None:
    plain = make_synthetic(120, random_state=3).X
    for table in (plain, sp.csr_array(plain), np.tile(plain, 8), sp.csr_array(np.tile(plain, 8))):
        model = make(metric=metric).fit(table * scale, labels=LABELS)
        expected = make(metric=metric).fit(table, labels=LABELS)
        np.testing.assert_allclose(
            model.affinities_.toarray(), expected.affinities_.toarray(), rtol=1e-3, atol=1e-6
        )


# ---- accepted: few points, many labels, gaps -----------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_duplicates(method: str) -> None:
    table, labels = np.repeat(X[:30], 4, axis=0), np.repeat(LABELS[:30], 4)
    check_map(make(method=method).fit(table, labels=labels), 120)
    found = find_neighbors(table, labels, lengths=(3, 2))
    assert (found.distances[:, :3] == 0).all()
    assert (found.indices != np.arange(120)[:, None]).all()
    assert (found.indices[:, :3] // 4 == np.arange(120)[:, None] // 4).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_one_feature(method: str, n_components: int) -> None:
    model = make(method=method, n_components=n_components).fit(X[:, 6:7], labels=LABELS)
    check_map(model, 120, n_components)


@pytest.mark.filterwarnings("ignore:.* labels ha.* too few points:UserWarning")
@pytest.mark.filterwarnings("ignore:.*nothing to factor out:UserWarning")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("init", ["pca", "random", "spectral"])
@pytest.mark.parametrize("n_components", [1, 2, 3])
@pytest.mark.parametrize("labels", ["abab", "aaab", "abcd", "aaaa", "ab", "aa", "aba"])
def test_four_points_and_less(method: str, init: str, n_components: int, labels: str) -> None:
    n = len(labels)
    for perplexity in range(1, n):
        model = make(
            method=method, init=init, n_components=n_components, perplexity=perplexity
        ).fit(X[:n], labels=list(labels))
        check_map(model, n, n_components)


@pytest.mark.parametrize("perplexity", [1, 1.5, 40, 100, 119])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore:.* labels ha.* too few points:UserWarning")
def test_the_whole_range_of_perplexities(method: str, perplexity: float) -> None:
    check_map(make(method=method, perplexity=perplexity).fit(X, labels=LABELS), 120)


@pytest.mark.filterwarnings("ignore:.* labels ha.* too few points:UserWarning")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("beta_low", [None, 0.1])
@pytest.mark.parametrize(
    "labels",
    [
        ["alone", *["a", "b"] * 59, "c"],
        list(range(120)),
        [None if i % 3 else label for i, label in enumerate(LABELS)],
        ["a", "b", *[None] * 118],
        [NAN if i % 2 else float(i % 3) for i in range(120)],
    ],
    ids=["one member", "as many as points", "missing", "two labelled", "NaN"],
)
def test_labels_of_any_size(method: str, beta_low: Any, labels: Any) -> None:
    model = make(method=method, beta_low=beta_low).fit(X, labels=labels)
    check_map(model, 120)
    again = make(method=method, beta_low=beta_low, n_jobs=1).fit(X, labels=labels)
    np.testing.assert_array_equal(again.embedding_, model.embedding_)


def test_as_many_labels_as_points_leave_only_others() -> None:
    found = find_neighbors(X, np.arange(120), lengths=(3, 3))
    plain = find_neighbors(X, lengths=6)
    assert (found.lengths[:, 0] == 0).all()
    np.testing.assert_array_equal(found.indices, plain.indices)
    assert laplacian(X, np.arange(120), k=5) == 1


def test_missing_labels_condition_nothing() -> None:
    labels = [None if i % 3 else label for i, label in enumerate(LABELS)]
    model = make(method="revised", beta=1e-10).fit(X, labels=labels)
    free = np.array([label is None for label in labels])
    assert (model.diagnostics_.other_share[free] == 0).all()
    assert (model.diagnostics_.other_share[~free] > 0).any()
    found = find_neighbors(X, labels, lengths=(6, 6))
    assert (found.lengths[free, 0] == 12).all()


@pytest.mark.parametrize("kind", [np.int64, np.str_, object])
def test_a_million_labels(kind: Any) -> None:
    n = 10**6
    column = np.random.default_rng(0).permutation(n).astype(kind)
    encoded = encode_column(column, n=n)
    assert encoded.n_labels == n and encoded.n_missing == 0
    assert (encoded.counts == 1).all()
    for i in (0, 1, n // 2, n - 1):
        assert encoded.names[encoded.codes[i]] == column[i]
    assert len(encoded.describe()) < 200


@pytest.mark.slow
def test_many_labels_on_many_points() -> None:
    n = 20_000
    table = np.random.default_rng(0).normal(size=(n, 5))
    for method in ("original", "revised", "balanced", "joint"):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*labels ha.* too few points")
            model = make(method=method, n_iter=5).fit(table, labels=np.arange(n))
        check_map(model, n)


# ---- nothing crashes the interpreter -------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [
        {"beta": 1e-300},
        {"beta": 5e-324},
        {"beta": 5e-324, "bandwidth": "p"},
        {"beta_low": 1e-300},
        {"beta_low": {"blue": 1e-300, "orange": 1}},
        {"strength": 0},
        {"strength": {"blue": 0, "orange": 1}},
        {"odds": 1},
        {"odds": 1e6},
        {"odds": {"blue": 1e6, "orange": 1}},
        {"align": "auto"},
        {"align": "local"},
        {"align": np.zeros((120, 1))},
        {"align": X * 1e15},
        {"align": X * 1e-15},
        {"align": X + 1e8},
        {"learning_rate": 1e300},
        {"learning_rate": 1e-300},
        {"early_exaggeration": 1e300},
        {"exaggeration": 1e-300},
        {"early_exaggeration_iter": 10**30},
        {"dof": 0.05},
        {"dof": 1000},
        {"init": np.zeros((120, 2))},
        {"init": np.full((120, 2), 1e5)},
        {"init": 1e5 * np.sign(X[:, :2])},
        {"init": 1e-30 * X[:, :2]},
        {"n_jobs": 2**31 - 1},
        {"n_jobs": -(10**9)},
        {"callback": lambda *_: "not True", "callback_every": 1},
    ],
)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore:.* has no effect with method:UserWarning")
def test_extremes_work(method: str, parameters: dict[str, Any]) -> None:
    check_map(make(**{"method": method, **parameters}).fit(X, labels=LABELS), 120)


@pytest.mark.parametrize("method", METHODS)
def test_odd_distances_work(method: str) -> None:
    n = 60
    rng = np.random.default_rng(0)
    lopsided = rng.uniform(0, 1, (n, n)) ** 8  # no metric, not symmetric, own distance not zero
    steps = sp.coo_array(lopsided)
    doubled = sp.csr_array(  # every entry stored twice
        (np.tile(steps.data, 2), np.tile(steps.col, 2), 2 * steps.tocsr().indptr), shape=(n, n)
    )
    for table in (lopsided, steps, doubled, np.where(lopsided > 0.1, 0, lopsided)):
        model = make(method=method, metric="precomputed", init="spectral")
        check_map(model.fit(table, labels=np.arange(n) % 3), n)


class Unwritable:
    """An object that cannot be written in a message."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


ODD_VALUES: tuple[Any, ...] = (
    10**5000,
    Unwritable(),
    np.zeros((2, 2)),
    pd.DataFrame({"a": [1, 2]}),
    sp.eye_array(3),
    "two\nlines",
    pd.NA,
    np.ma.masked,
    np.datetime64("NaT", "ns"),
    1j,
    object(),
    ...,
)


@pytest.mark.parametrize("parameter", list(ConditionalTSNE().get_params()))
@pytest.mark.parametrize("value", ODD_VALUES, ids=lambda value: type(value).__name__)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_odd_values_are_refused_in_one_line(parameter: str, value: Any) -> None:
    if parameter == "verbose" or (parameter == "n_iter" and value is ODD_VALUES[0]):
        return  # these are taken at their word
    message = parameter
    try:
        check_map(make(**{parameter: value}).fit(X, labels=LABELS), 120)
    except (TypeError, ValueError) as error:
        message = str(error)
    assert parameter in message and "\n" not in message and len(message) < 400


RNG = np.random.default_rng(0)
MATRIX = sp.csr_array((1 - np.eye(9)) / 72)
FRAME = pd.DataFrame({"a": [1.0, 2.0]})
SPARSE = sp.eye_array(3, format="csr")
PAIRS = encode_labels([SIX, list("xyxyxy")])
# Calls with a wrong argument, and its name, which the message must give.
WRONG: tuple[tuple[str, Callable[[], object]], ...] = (
    ("n", lambda: encode_column(SIX, n="two\nlines")),
    ("columns", lambda: combine_columns(1.5)),
    ("columns", lambda: combine_columns(np.array(3))),
    ("columns", lambda: combine_columns([])),
    ("k", lambda: private_populations(X[:6], SIX, SIX, k="a")),
    ("k", lambda: mixing_by_label(X[:6], SIX, k="a")),
    ("knob", lambda: balanced_lengths(PAIRS, (0, 1, 2, 3), 2.0, ["a", 1.0])),
    ("knob", lambda: balanced_lengths(PAIRS, (0, 1, 2, 3), 2.0, [np.zeros(3), 1.0])),
    ("strength", lambda: joint_odds(SPARSE)),
    ("init", lambda: start_positions(NAN, 2, X=X, matrix=MATRIX, rng=RNG)),
    ("n_components", lambda: start_positions(1, FRAME, X=X, matrix=MATRIX, rng=RNG)),
    ("n_jobs", lambda: start_positions("pca", 2, X=X, matrix=None, rng=RNG, n_jobs=pd.NA)),
    ("iteration", lambda: Schedule().at("x")),
    ("n_iter", lambda: Layout(MATRIX, X[:9, :2]).advance(2.5)),
    ("n_iter", lambda: Layout(MATRIX, X[:9, :2]).run(FRAME)),
    ("patience", lambda: Layout(MATRIX, X[:9, :2]).run(5, patience=SPARSE)),
    ("callback_every", lambda: Layout(MATRIX, X[:9, :2]).run(5, callback_every=0)),
    ("callback", lambda: Layout(MATRIX, X[:9, :2]).run(5, callback=lambda step: None)),
    ("callback", lambda: Layout(MATRIX, X[:9, :2]).run(5, callback=FRAME)),
    ("callback", lambda: make(callback=lambda step, loss: None).fit(X, labels=LABELS)),
    ("folder", lambda: sweep(X, LABELS, {"strength": [1]}, folder=0.5)),
    ("grid", lambda: sweep(X, LABELS, FRAME["a"])),
    ("path", lambda: load_sweep(np.zeros(2))),
    ("path", lambda: load_sweep("a\0b")),
    ("path", lambda: SweepResult((), (), {}).save(5)),
    ("path", lambda: write_report(SweepResult((), (), {}), 5, columns={}, known="a")),
    ("notes", lambda: maps({"a": X[:6, :2]}, SIX, notes=FRAME["a"])),
)


@pytest.mark.parametrize(("argument", "call"), WRONG, ids=[name for name, _ in WRONG])
def test_the_wrong_argument_is_named_in_one_line(argument: str, call: Callable[[], object]) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    message = str(caught.value)
    assert re.search(rf"\b{argument}\b", message.partition("got")[0]) and "\n" not in message


def test_columns_of_the_same_name() -> None:
    frame = pd.DataFrame(X[:, :3], columns=["a", "b", "a"])
    with pytest.raises(ValueError, match="several columns named 'a'"):
        make().fit(frame, labels=LABELS)
    twice = pd.DataFrame({"a": LABELS, "b": LABELS}).set_axis(["a", "a"], axis=1)
    assert encode_column(twice).n_labels == 2


@pytest.mark.filterwarnings("ignore:mixing=0.5 was not reached")
def test_nothing_given_is_changed() -> None:
    rng = np.random.default_rng(0)
    given = {
        "X": X.copy(),
        "labels": np.array(LABELS),
        "init": rng.normal(size=(120, 2)),
        "align": rng.normal(size=(120, 3)),
    }
    kept = {name: array.copy() for name, array in given.items()}
    for array in given.values():
        array.flags.writeable = False
    for method in METHODS:
        for more in ({}, {"init": given["init"]}, {"metric": "cosine"}, {"mixing": 0.5}):
            if method == "tsne" and "mixing" in more:
                continue
            align = {"align": given["align"]} if method in ("revised", "joint") else {}
            check_map(
                make(method=method, **more, **align).fit(given["X"], labels=given["labels"]), 120
            )
    for name, array in given.items():
        np.testing.assert_array_equal(array, kept[name])


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_unaligned_arrays_work(metric: str) -> None:
    raw = np.zeros(X.nbytes + 1, np.uint8)
    table = raw[1:].view(np.float64).reshape(X.shape)
    table[...] = X
    assert not table.flags.aligned
    expected = make(metric=metric).fit(X, labels=LABELS).embedding_
    np.testing.assert_array_equal(
        make(metric=metric).fit(table, labels=LABELS).embedding_, expected
    )
