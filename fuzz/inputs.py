"""Random input: odd values, tables, sparse matrices, label columns; valid, odd and broken ones."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

Rng = np.random.Generator

# Values that any parameter may be given, whatever its type.
_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    np.True_,
    float("nan"),
    float("inf"),
    -float("inf"),
    -1,
    0,
    1,
    2,
    3,
    -0.0,
    2**31 - 1,
    2**31,
    2**32,
    2**63,
    2**64,
    10**400,
    -(10**30),
    0.5,
    1.5,
    1e-300,
    1e300,
    5e-324,
    1e-7,
    1e7,
    "x",
    "",
    "auto",
    "none",
    "a\nb",
    b"x",
    1j,
    (),
    (1, 2),
    frozenset(),
    range(3),
    len,
    object,
    np.float32(0.5),
    np.float16(1),
    np.float64(0.25),
    np.longdouble(0.5),
    np.int8(3),
    np.uint64(2**63),
    np.int64(2),
    np.str_("tsne"),
    np.datetime64("2020-01-01"),
    np.ma.masked,
    Fraction(1, 3),
    Decimal("0.5"),
    pd.NA,
    pd.NaT,
    datetime.date(2020, 1, 1),
    slice(3),
    Ellipsis,
)
_MADE: tuple[Callable[[], Any], ...] = (
    list,
    dict,
    set,
    object,
    bytearray,
    lambda: [1],
    lambda: [0.5, 0.5],
    lambda: [[1.0, 2.0], [3.0]],
    lambda: {"a": 0.5},
    lambda: {"a": 0.5, "b": 0.25},
    lambda: {"a": None},
    lambda: {None: 1},
    lambda: iter([1, 2]),
    lambda: np.array(3),
    lambda: np.array([1, 2]),
    lambda: np.array(np.nan),
    lambda: np.empty(0),
    lambda: np.zeros((2, 2)),
    lambda: np.empty((0, 0)),
    lambda: np.array(["a", None], object),
    lambda: np.array("auto"),
    lambda: np.zeros((3, 2, 2)),
    lambda: sp.eye_array(3, format="csr"),
    lambda: pd.Series([1, 2]),
    lambda: pd.DataFrame({"a": [1.0, 2.0]}),
    lambda: np.random.default_rng(0),
    lambda: np.random.RandomState(0),
)


def pick(rng: Rng, values: Any) -> Any:
    """Return one of some values, which stay what they are (no conversion by numpy)."""
    return values[int(rng.integers(len(values)))]


def odd(rng: Rng) -> Any:
    """Return a value that hardly any parameter expects."""
    place = int(rng.integers(len(_VALUES) + len(_MADE)))
    return _VALUES[place] if place < len(_VALUES) else _MADE[place - len(_VALUES)]()


def points(rng: Rng, n: int, d: int) -> np.ndarray:
    """Return clean float64 data in a few clusters."""
    centres = rng.normal(scale=3, size=(3, d))
    return centres[rng.integers(3, size=n)] + rng.normal(size=(n, d))


# ---- values of tables ----------------------------------------------------------------------------


def _set_some(rng: Rng, X: np.ndarray, value: float) -> np.ndarray:
    X = X.copy()
    if X.size:
        X.flat[rng.integers(X.size, size=int(rng.integers(1, 4)))] = value
    return X


VALUES: dict[str, Callable[[Rng, np.ndarray], np.ndarray]] = {
    "duplicates": lambda rng, X: X[rng.integers(len(X), size=len(X))] if len(X) else X,
    "few values": lambda rng, X: np.round(X),
    "constant column": lambda rng, X: np.where(np.arange(X.shape[1]) == 0, 7.0, X),
    "identical": lambda rng, X: np.full_like(X, rng.normal()),
    "zeros": lambda rng, X: np.zeros_like(X),
    "zero rows": lambda rng, X: np.where(np.arange(len(X))[:, None] % 5 == 0, 0.0, X),
    "scaled": lambda rng, X: X * 10.0 ** rng.integers(-28, 28),
    "very large or small": lambda rng, X: (
        X * 10.0 ** pick(rng, (-320, -300, -100, -35, 35, 100, 300))
    ),
    "far away": lambda rng, X: X + 10.0 ** rng.integers(0, 17),
    "outlier": lambda rng, X: _set_some(rng, X, 10.0 ** rng.integers(3, 29)),
    "subnormal": lambda rng, X: _set_some(rng, X, 5e-324),
    "nan": lambda rng, X: _set_some(rng, X, np.nan),
    "infinite": lambda rng, X: _set_some(rng, X, pick(rng, (np.inf, -np.inf))),
    "negative zero": lambda rng, X: _set_some(rng, X, -0.0),
    "largest": lambda rng, X: _set_some(rng, X, pick(rng, (1e30, -1e30, 1.7e308, 3.4e38))),
    "line": lambda rng, X: np.arange(X.size, dtype=float).reshape(X.shape),
}


# ---- forms of tables -----------------------------------------------------------------------------


def _read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


def _as_dtype(dtype: str) -> Callable[[Rng, np.ndarray], Any]:
    def convert(rng: Rng, X: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return X.astype(dtype)

    return convert


def _sparse(rng: Rng, X: np.ndarray) -> Any:
    kept = np.where(rng.random(X.shape) < pick(rng, (0.2, 0.6, 1.0)), X, 0)
    array = sp.csr_array(kept) if rng.random() < 0.5 else sp.csr_matrix(kept)
    if rng.random() < 0.2:
        array = array.astype(pick(rng, ("f4", "i4", "i1", "u2", "?", "i8")))
    return array.asformat(pick(rng, ("csr", "csr", "csc", "coo", "lil", "dok", "bsr", "dia")))


def _frozen(rng: Rng, X: np.ndarray) -> Any:
    array = _sparse(rng, X)
    for name in ("data", "indices", "indptr", "row", "col"):
        member = getattr(array, name, None)
        if isinstance(member, np.ndarray):
            member.flags.writeable = False
    return array


def _frame(rng: Rng, X: np.ndarray) -> Any:
    frame = pd.DataFrame(X, columns=[f"gene{i}" for i in range(X.shape[1])])
    change = rng.integers(6)
    if change == 0:
        frame.index = [f"cell{i}" for i in range(len(X))]
    elif change == 1 and X.shape[1]:
        frame["gene0"] = frame["gene0"].astype("Float64")
    elif change == 2 and X.shape[1]:
        frame.columns = range(X.shape[1])
    return frame


def _odd_frame(rng: Rng, X: np.ndarray) -> Any:
    frame = _frame(rng, X)
    change = rng.integers(4)
    if change == 0:
        frame["text"] = "a"
    elif change == 1:
        frame.columns = ["same"] * X.shape[1]
    elif change == 2:
        frame.columns = [i if i % 2 else f"{i}" for i in range(X.shape[1])]
    else:
        frame["group"] = pd.Categorical(["a"] * len(X))
    return frame


FORMS: dict[str, Callable[[Rng, np.ndarray], Any]] = {
    **{name: _as_dtype(name) for name in ("f4", "f2", "i1", "i4", "u1", "i8", "?", ">f8", "g")},
    "fortran": lambda rng, X: np.asfortranarray(X),
    "strided": lambda rng, X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": lambda rng, X: X[::-1, ::-1],
    "broadcast": lambda rng, X: np.broadcast_to(X[:1], X.shape) if len(X) else X,
    "unaligned": lambda rng, X: np.ndarray(X.shape, "f8", b"x" + X.tobytes(), offset=1),
    "read-only": lambda rng, X: _read_only(X),
    "list": lambda rng, X: X.tolist(),
    "tuple": lambda rng, X: tuple(map(tuple, X)),
    "objects": lambda rng, X: X.astype(object),
    "masked": lambda rng, X: np.ma.MaskedArray(X, mask=rng.random(X.shape) < pick(rng, (0, 0.05))),
    "matrix": lambda rng, X: np.asmatrix(X),
    "frame": _frame,
    "sparse": _sparse,
    "frozen sparse": _frozen,
}


# ---- broken tables -------------------------------------------------------------------------------


def broken_sparse(rng: Rng, X: np.ndarray) -> Any:
    """Return a sparse matrix whose parts contradict each other, as a damaged file would give."""
    kept = np.where(rng.random(X.shape) < 0.5, X, 0)
    kept.flat[:1] = 1
    form = pick(rng, ("csr", "csr", "csc", "coo", "bsr", "dia", "lil", "dok"))
    array = (sp.csr_array if rng.random() < 0.5 else sp.csr_matrix)(kept).asformat(form)
    far = pick(rng, (-1, -(10**9), X.shape[-1], X.shape[0], 10**7, 2**31 - 1))
    if form in ("csr", "csc", "bsr"):
        _break_compressed(rng, array, far)
    elif form == "coo":
        part = pick(rng, (array.row, array.col))
        part[int(rng.integers(len(part)))] = far
    elif form == "dia":
        array.offsets = array.offsets + far
    elif form == "lil":
        part = pick(rng, (array.rows, array.data))
        part[int(rng.integers(len(part)))] = pick(
            rng, ([far], [0, 0, 0], [], None, ["a"], [np.nan])
        )
    else:
        dict.__setitem__(array._dict, (far, 0), 1.0)
    return array


def _break_compressed(rng: Rng, array: Any, far: int) -> None:
    change = rng.integers(12)
    place = int(rng.integers(len(array.indptr)))
    if change == 0 and len(array.indices):
        array.indices[int(rng.integers(len(array.indices)))] = far
    elif change == 1:
        array.indptr[place] = far
    elif change == 2:
        array.indptr[-1] += pick(rng, (1, -1, 1000, 10**8))
    elif change == 3:
        array.indptr[0] = pick(rng, (1, -1, 100))
    elif change == 4:
        array.data = array.data[:-1]
    elif change == 5:
        array.indices = array.indices[:-1]
    elif change == 6:
        array.indptr = array.indptr[:-1]
    elif change == 7:
        array.indptr = array.indptr[::-1].copy()
    elif change == 8:
        array.indices = array.indices.astype(pick(rng, ("f8", "i8", "u4", "?", "i1")))
    elif change == 9:
        array.indptr = array.indptr.astype(pick(rng, ("f8", "i8", "i1", "u8")))
    elif change == 10:
        array.data = pick(rng, (array.data.astype(object), array.data.astype("c16"), np.empty(0)))
    else:
        array.has_sorted_indices = True
        array.indices = array.indices[::-1].copy()


BROKEN: dict[str, Callable[[Rng, np.ndarray], Any]] = {
    "broken sparse": broken_sparse,
    "one dimension": lambda rng, X: X.ravel(),
    "three dimensions": lambda rng, X: X[None],
    "no rows": lambda rng, X: X[:0],
    "one row": lambda rng, X: X[:1],
    "no columns": lambda rng, X: X[:, :0],
    "complex": lambda rng, X: X + 1j,
    "text": lambda rng, X: X.astype(str),
    "dates": lambda rng, X: np.nan_to_num(X).astype("i4").astype("M8[D]"),
    "records": lambda rng, X: np.zeros(len(X), [("a", "f8"), ("b", "f8")]),
    "ragged": lambda rng, X: [*X.tolist(), [1.0] * (X.shape[1] + 1)],
    "object": lambda rng, X: np.where(X > 0, X.astype(object), pick(rng, (None, "a", {}, 10**400))),
    "odd frame": _odd_frame,
    "odd": lambda rng, X: odd(rng),
}


def table(
    rng: Rng, X: np.ndarray, *, values: float = 0.3, form: float = 0.5, broken: float = 0.1
) -> Any:
    """Return the table in another form, with given chances of odd values, forms and breakage."""
    if rng.random() < values:
        X = VALUES[pick(rng, tuple(VALUES))](rng, X)
    if rng.random() < broken:
        kind = "broken sparse" if rng.random() < 0.4 else pick(rng, tuple(BROKEN))
        return BROKEN[kind](rng, X) if X.size else X
    if rng.random() < form:
        return FORMS[pick(rng, tuple(FORMS))](rng, X)
    return X


# ---- distances -----------------------------------------------------------------------------------


def distances(rng: Rng, X: np.ndarray) -> np.ndarray:
    """Return the distances between all points."""
    with np.errstate(all="ignore"):
        return np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=-1))


def graph(rng: Rng, D: np.ndarray, k: int) -> Any:
    """Return a graph of the k nearest points, in any sparse format."""
    n = len(D)
    if n < 2:
        return sp.csr_array(D)
    order = np.argsort(D, axis=1, kind="stable")[:, : min(k + 1, n)]
    rows = np.repeat(np.arange(n), order.shape[1])
    values = np.take_along_axis(D, order, axis=1).ravel()
    made = sp.coo_array((values, (rows, order.ravel())), shape=(n, n))
    if rng.random() < 0.2:  # an edge given twice
        made = sp.coo_array(
            (np.append(values, 1.0), (np.append(rows, 0), np.append(order.ravel(), n - 1))),
            shape=(n, n),
        )
    return made.asformat(pick(rng, ("csr", "csr", "csr", "csc", "coo", "lil")))


# ---- labels --------------------------------------------------------------------------------------


def _missing(rng: Rng, names: np.ndarray, value: Any) -> list[Any]:
    return [
        value if drop else str(name)
        for name, drop in zip(names, rng.random(len(names)) < 0.2, strict=True)
    ]


def _polars(rng: Rng, names: np.ndarray) -> Any:
    import polars

    return polars.Series(
        "batch", _missing(rng, names, None) if rng.random() < 0.3 else names.tolist()
    )


def _labels(rng: Rng, names: np.ndarray) -> Any:
    from ctsne.labels import encode_column

    return encode_column(names)


ODD_TEXT = ("$x^2$", "_a", "a\nb", "é\u202e", "", " ", "\x00", "a | b", "{x}", "%s")

LABELS: dict[str, Callable[[Rng, np.ndarray], Any]] = {
    "text": lambda rng, names: names,
    "list": lambda rng, names: names.tolist(),
    "tuple": lambda rng, names: tuple(names.tolist()),
    "objects": lambda rng, names: names.astype(object),
    "bytes": lambda rng, names: names.astype("S"),
    "numbers": lambda rng, names: np.unique(names, return_inverse=True)[1],
    "floats": lambda rng, names: np.unique(names, return_inverse=True)[1] / 3,
    "small floats": lambda rng, names: np.unique(names, return_inverse=True)[1].astype("f2"),
    "unsigned": lambda rng, names: np.unique(names, return_inverse=True)[1].astype("u1"),
    "booleans": lambda rng, names: names == "a",
    "dates": lambda rng, names: np.unique(names, return_inverse=True)[1].astype("M8[D]"),
    "spans": lambda rng, names: np.unique(names, return_inverse=True)[1].astype("m8[ns]"),
    "None": lambda rng, names: _missing(rng, names, None),
    "nan": lambda rng, names: np.where(names == "b", np.nan, np.arange(len(names)) % 3),
    "NA": lambda rng, names: _missing(rng, names, pd.NA),
    "all missing": lambda rng, names: [None] * len(names),
    "masked": lambda rng, names: np.ma.MaskedArray(names, rng.random(len(names)) < 0.2),
    "mixed": lambda rng, names: [i % 3 if i % 2 else str(name) for i, name in enumerate(names)],
    "categories": lambda rng, names: pd.Categorical(names, categories=[*"dcba", "unused"]),
    "series": lambda rng, names: pd.Series(names, dtype=pick(rng, ("O", "string", "category"))),
    "polars": _polars,
    "frame": lambda rng, names: pd.DataFrame({"one": names, "two": names[::-1]}),
    "two columns": lambda rng, names: np.stack([names, rng.permutation(names)], axis=1),
    "many columns": lambda rng, names: rng.integers(2, size=(len(names), 6)),
    "one column": lambda rng, names: names[:, None],
    "strided": lambda rng, names: np.repeat(names, 2)[::2],
    "one label": lambda rng, names: ["a"] * len(names),
    "all different": lambda rng, names: np.arange(len(names)),
    "pairs": lambda rng, names: np.arange(len(names)) // 2,
    "one alone": lambda rng, names: np.arange(len(names)) == 0,
    "long text": lambda rng, names: [str(name) * 500 for name in names],
    "odd text": lambda rng, names: [pick(rng, ODD_TEXT) for _ in names],
    "encoded": _labels,
}

BROKEN_LABELS: dict[str, Callable[[Rng, np.ndarray], Any]] = {
    "too short": lambda rng, names: names[:-1],
    "too long": lambda rng, names: np.append(names, "a"),
    "lists": lambda rng, names: [[str(name)] * (1 + i % 2) for i, name in enumerate(names)],
    "complex": lambda rng, names: np.ones(len(names), "c16"),
    "records": lambda rng, names: np.zeros(len(names), [("a", "f8")]),
    "three dimensions": lambda rng, names: names[:, None, None],
    "no columns": lambda rng, names: np.empty((len(names), 0)),
    "empty frame": lambda rng, names: pd.DataFrame(index=range(len(names))),
    "set": lambda rng, names: set(names.tolist()),
    "unhashable": lambda rng, names: [{} for _ in names],
    "other index": lambda rng, names: pd.Series(names, index=range(1, len(names) + 1)),
    "sparse": lambda rng, names: sp.csr_array(np.ones((max(1, len(names)), 1))),
    "odd": lambda rng, names: odd(rng),
}


def names(rng: Rng, n: int) -> np.ndarray:
    """Return label names ``"a"`` to ``"d"``, two to four different ones."""
    return np.array(list("abcd"))[rng.integers(pick(rng, (2, 2, 3, 4)), size=n)]


def numbers(rng: Rng, n: int, *, broken: float = 0.05) -> Any:
    """Return numbers to factor out: heavy tails, ties, gaps, extremes; or some that are none."""
    values = rng.standard_cauchy(n)
    kinds: tuple[Any, ...] = (
        values,
        np.round(values),
        np.where(rng.random(n) < 0.3, np.nan, values),
        np.full(n, np.nan),
        values * 1e300,
        rng.integers(-3, 3, n),
        rng.integers(2**63, 2**64, n, np.uint64),
        pd.Series(values, dtype="Float64"),
        values.tolist(),
        {"one": values, "two": rng.random(n)},
    )
    wrong: tuple[Any, ...] = (
        np.where(rng.random(n) < 0.1, np.inf, values),
        names(rng, n),
        values[: n // 2],
        "text",
    )
    return pick(rng, wrong if rng.random() < broken else kinds)


def several_columns(rng: Rng, n: int) -> Any:
    """Return two or three label columns of any kinds together."""
    kinds = [kind for kind in LABELS if kind not in _SEVERAL]
    columns = [
        LABELS[pick(rng, kinds)](rng, names(rng, n)) for _ in range(int(pick(rng, (2, 2, 3))))
    ]
    form = int(rng.integers(4))
    if form == 0:
        return columns
    if form == 1:
        return np.stack([names(rng, n) for _ in columns], axis=1)
    named = {f"column {place}": column for place, column in enumerate(columns)}
    return pd.DataFrame({name: list(names(rng, n)) for name in named}) if form == 2 else named


# Kinds that are several columns, and one whose entries a list of columns would take for columns.
_SEVERAL = ("frame", "two columns", "many columns", "one column")


def labels(rng: Rng, n: int, *, broken: float = 0.05) -> Any:
    """Return a label column of any kind, or a few."""
    if rng.random() < 0.25:
        return several_columns(rng, n)
    column = names(rng, n)
    kinds = BROKEN_LABELS if rng.random() < broken else LABELS
    return kinds[pick(rng, tuple(kinds))](rng, column)
