"""Bad parameters are refused by name, before any work, with nothing changed."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from ctsne import ConditionalTSNE
from ctsne.evaluate import (
    evaluate,
    mixing_by_label,
)
from ctsne.labels import combine_columns, encode_column
from ctsne.pl import maps
from ctsne.report import write_report
from ctsne.sweep import SweepResult, load_sweep, sweep

from .helpers import LABELS, METHODS, NAN, SIX, X, check_map, check_refused, make

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
    ("mixing", {"blue": 0.5, "orange": 0.5}, "label columns"),
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
        "at most 1|from [01] to|label columns",
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


@pytest.mark.parametrize(
    "labels", [np.arange(120), {"batch": LABELS, "cell": [f"c{max(i, 9)}" for i in range(120)]}]
)
@pytest.mark.usefixtures("_no_work")
def test_identifiers_are_refused_as_labels(labels: Any) -> None:
    says = r"1[12]\d different values for 120 points, so it identifies points"
    small = make(n_iter=5)
    for call in (
        lambda: small.fit(X, labels=labels),
        lambda: sweep(X, labels, {"strength": [0]}, estimator=small, progress=False),
        lambda: evaluate(X[:, :2], X, labels),
    ):
        check_refused(call, "labels", says)


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


FRAME = pd.DataFrame({"a": [1.0, 2.0]})
# Calls with a wrong argument, and its name, which the message must give.
WRONG: tuple[tuple[str, Callable[[], object]], ...] = (
    ("n", lambda: encode_column(SIX, n="two\nlines")),
    ("columns", lambda: combine_columns(1.5)),
    ("columns", lambda: combine_columns(np.array(3))),
    ("columns", lambda: combine_columns([])),
    ("k", lambda: mixing_by_label(X[:6], SIX, k="a")),
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
