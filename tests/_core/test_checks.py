"""Checks of sparse matrices: whatever their arrays hold, no routine of SciPy follows them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from ctsne import ConditionalTSNE
from ctsne._core.checks import check_matrix
from ctsne.evaluate import adjusted_rnx, data_neighbors, evaluate
from ctsne.neighbors import read_neighbors
from ctsne.sweep import sweep

FORMATS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")
N = 40


def some(form: str, n: int = 60, d: int = 30, kind: str = "array") -> Any:
    made = sp.random(n, d, 0.2, "csr", random_state=0)
    return getattr(sp, f"{form}_{kind}")(made)


def graph() -> Any:
    """Return distances to eight neighbours on a ring."""
    steps = [*range(-4, 0), *range(1, 5)]
    rows = np.repeat(np.arange(N), len(steps))
    columns = (rows + np.tile(steps, N)) % N
    return sp.csr_array((np.abs(np.tile(steps, N)) * 1.0, (rows, columns)), shape=(N, N))


def change(name: str, at: int, value: int) -> Callable[[Any], None]:
    def spoil(X: Any) -> None:
        getattr(X, name)[at] = value

    return spoil


def replace(name: str, new: Callable[[Any], Any]) -> Callable[[Any], None]:
    def spoil(X: Any) -> None:
        setattr(X, name, new(getattr(X, name)))

    return spoil


def in_dict(X: Any) -> None:
    dict.__setitem__(getattr(X, "_dict", X), (3, 10**7), 1.0)


SPOILT: dict[str, tuple[str, Callable[[Any], None]]] = {
    **{
        f"{form} {case}": (form, spoil)
        for form in ("csr", "csc", "bsr")
        for case, spoil in {
            "index beyond": change("indices", 7, 10**7),
            "index negative": change("indices", 7, -1),
            "starts fall": change("indptr", 5, 10**6),
            "starts negative": change("indptr", 5, -3),
            "starts beyond": change("indptr", -1, 10**6),
            "starts not at zero": change("indptr", 0, 1),
            "starts too short": replace("indptr", lambda starts: starts[:-1]),
            "starts too long": replace("indptr", lambda starts: np.append(starts, starts[-1])),
            "no starts": replace("indptr", lambda starts: starts[:0]),
            "starts in a table": replace("indptr", lambda starts: starts[:, None]),
            "indices too short": replace("indices", lambda indices: indices[:-1]),
            "values too short": replace("data", lambda data: data[:-1]),
            "values too long": replace("data", lambda data: np.concatenate([data, data])),
            "indices of floats": replace("indices", lambda indices: indices.astype(float)),
            "indices beyond 32 bits": replace("indices", lambda i: i.astype(np.int64) + 2**32),
            "indices beyond 63 bits": replace("indices", lambda i: i.astype(np.uint64) + 2**63),
            "indices of objects": replace("indices", lambda indices: indices.astype(object)),
            "a list": replace("indices", lambda indices: indices.tolist()),
            "fewer columns than said": replace("_shape", lambda shape: (shape[0], 3)),
            "fewer rows than said": replace("_shape", lambda shape: (3, shape[1])),
            "lines that are not there": replace("_shape", lambda shape: (10**6, 10**6)),
            "negative shape": replace("_shape", lambda shape: (-1, shape[1])),
        }.items()
    },
    "coo row beyond": ("coo", change("row", 7, 10**7)),
    "coo column beyond": ("coo", change("col", 7, 10**7)),
    "coo negative": ("coo", change("col", 7, -1)),
    "coo values too short": ("coo", replace("data", lambda data: data[:-1])),
    "coo fewer rows than said": ("coo", replace("_shape", lambda shape: (3, shape[1]))),
    "dia beyond": ("dia", change("offsets", 0, 10**7)),
    "dia too few": ("dia", replace("data", lambda data: data[:-1])),
    "dia of a line": ("dia", replace("data", np.ravel)),
    "lil beyond": ("lil", lambda X: X.rows[3].__setitem__(0, 10**7)),
    "lil negative": ("lil", lambda X: X.rows[3].__setitem__(0, -1)),
    "lil values too short": ("lil", lambda X: X.data[3].pop()),
    "lil values too long": ("lil", lambda X: X.data[3].extend([1.0] * 10**4)),
    "lil not lists": ("lil", lambda X: X.rows.__setitem__(3, tuple(X.rows[3]))),
    "lil of text": ("lil", lambda X: X.rows[3].__setitem__(0, "a")),
    "lil too few rows": ("lil", replace("rows", lambda rows: rows[:-1])),
    "dok beyond": ("dok", in_dict),
    "bsr of flat values": ("bsr", replace("data", np.ravel)),
    "bsr of empty blocks": ("bsr", replace("data", lambda data: data[:, :0])),
}


def spoilt(form: str, spoil: Callable[[Any], None], kind: str) -> Any:
    X = some(form, kind=kind)
    spoil(X)
    return X


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("case", SPOILT)
def test_invalid_sparse_matrices_are_refused(case: str, kind: str) -> None:
    X = spoilt(*SPOILT[case], kind)
    with pytest.raises(ValueError, match=r"^the sparse matrix X is invalid: "):
        check_matrix(X)


ENTRIES: dict[str, Callable[[Any], object]] = {
    "fit": lambda X: ConditionalTSNE(method="tsne", perplexity=5).fit(X),
    "fit graph": lambda X: ConditionalTSNE(
        method="tsne", perplexity=2, metric="precomputed", init="spectral"
    ).fit(X),
    "sweep": lambda X: sweep(
        X, np.arange(N) % 2, {"strength": 0.5}, estimator=ConditionalTSNE(perplexity=5), n_jobs=1
    ),
    "evaluate": lambda X: evaluate(np.random.default_rng(0).normal(size=(N, 2)), X, k=3),
    "data_neighbors": lambda X: data_neighbors(X, k=3),
    "rnx": lambda X: adjusted_rnx(np.random.default_rng(0).normal(size=(N, 2)), X, k=3),
    "graph": lambda X: read_neighbors(X, lengths=3),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entrance_refuses_invalid_indices(entry: str) -> None:
    X = graph()
    X.indices[7] = 10**7
    with pytest.raises(ValueError, match=r"the sparse matrix \w+ is invalid: indices must be from"):
        ENTRIES[entry](X)


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("form", FORMATS)
def test_sparse_matrices_of_all_formats_are_read(form: str, kind: str) -> None:
    X = some(form, kind=kind)
    result = check_matrix(X)
    assert result.format == "csr" and result.has_canonical_format
    np.testing.assert_array_equal(result.toarray(), X.toarray())


@pytest.mark.parametrize("dtype", ["f4", "f8", "g", "i1", "u8", "?"])
@pytest.mark.parametrize("form", ["csr", "coo"])
def test_duplicates_are_added_as_floats(form: str, dtype: str) -> None:
    values = np.array([100, 100, 1], dtype)
    place = np.array([1, 1, 0])
    if form == "coo":
        X = sp.coo_array((values, (place, place)), shape=(3, 2))
    else:
        X = sp.csr_array(
            (values, np.array([0, 1, 1]), np.array([0, 0, 3, 3])), shape=(3, 2)
        )  # unsorted rows are legal, too
        X.indices[:] = [1, 1, 0]
        X.has_canonical_format = True  # this is not so
    before = [array.copy() for array in (X.data, X.coords[0] if form == "coo" else X.indices)]
    result = check_matrix(X)
    hundred = float(np.array(100, dtype))
    assert result.max() == 2 * hundred
    assert result.toarray()[1, 1] == 2 * hundred
    after = X.data, X.coords[0] if form == "coo" else X.indices
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)


def arrays_of(X: Any) -> list[Any]:
    if sp.issparse(X):
        return [X.data, X.indices, X.indptr]
    return [X]


def unsorted() -> Any:
    """Return the graph with every row the other way round, and as scipy does not know it."""
    X = graph()
    for begin, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        X.indices[begin:end] = X.indices[begin:end][::-1].copy()
        X.data[begin:end] = X.data[begin:end][::-1].copy()
    return sp.csr_array((X.data, X.indices, X.indptr), shape=X.shape)


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry != "layout"])
def test_no_entrance_changes_a_sparse_matrix(entry: str) -> None:
    X, before = unsorted(), unsorted()
    for array in arrays_of(X):
        array.flags.writeable = False
    ENTRIES[entry](X)
    for array, kept in zip(arrays_of(X), arrays_of(before), strict=True):
        np.testing.assert_array_equal(array, kept)
    assert not X.has_sorted_indices


def test_a_shuffled_graph_gives_the_same_map() -> None:
    make = ConditionalTSNE(
        method="tsne",
        perplexity=2,
        metric="precomputed",
        init="spectral",
        n_iter=30,
        random_state=0,
    )
    expected = make.fit(graph()).embedding_
    np.testing.assert_array_equal(make.fit(unsorted()).embedding_, expected)
