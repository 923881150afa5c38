"""R_NX against hand-worked cases and the oracle."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ctsne import oracle
from ctsne.evaluate import adjusted_rnx, rnx

LINE = [[0.0], [1.0], [10.0], [11.0]]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Any, ...]:
    """Whole coordinates, so that equal distances are equal in any precision."""
    n = draw(st.integers(3, 25))
    dims = draw(st.integers(1, 4))
    coordinates = st.integers(-20, 20)
    embedding = draw(hnp.arrays(np.float64, (n, draw(st.integers(1, 3))), elements=coordinates))
    X = draw(hnp.arrays(np.float64, (n, dims), elements=coordinates))
    codes = draw(hnp.arrays(np.int64, n, elements=st.integers(-1, 3)))
    return embedding, X, codes, draw(st.integers(1, n - 2))


def labels_of(codes: Any) -> list[str | None]:
    return [None if code < 0 else "abcd"[code] for code in codes]


@settings(deadline=None)
@given(cases())
def test_agrees_with_the_oracle(case: tuple[Any, ...]) -> None:
    embedding, X, codes, k = case
    expected = oracle.adjusted_rnx(embedding, X, codes, k)
    assert adjusted_rnx(embedding, X, labels_of(codes), k=k) == pytest.approx(expected, abs=1e-12)
    expected = oracle.adjusted_rnx(embedding, X, None, k)
    assert adjusted_rnx(embedding, X, k=k) == pytest.approx(expected, abs=1e-12)


def test_chunks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    embedding, X = rng.normal(size=(50, 2)), rng.normal(size=(50, 5))
    labels = rng.integers(0, 3, 50)
    whole = adjusted_rnx(embedding, X, labels, k=7)
    monkeypatch.setattr(rnx, "_CHUNK_ENTRIES", 40)
    assert adjusted_rnx(embedding, X, labels, k=7) == whole


def test_by_hand() -> None:
    # The map pairs 0 with 2 and 1 with 3, each the nearest of its label; the data pairs 0 with 1.
    embedding = [[0.0], [5.0], [1.0], [6.0]]
    assert adjusted_rnx(embedding, LINE, ["a", "b", "a", "b"], k=1) == 1.0
    assert adjusted_rnx(embedding, LINE, k=1) == -0.5
    # Without a label, 0 and 2 compare with all points, and 1 and 3 with all that are no "a".
    assert adjusted_rnx(embedding, LINE, [None, "b", None, "b"], k=1) == -0.5


def test_the_data_itself_is_perfect() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    assert adjusted_rnx(X, X, np.arange(40) % 3, k=5) == 1.0
    assert adjusted_rnx(X, X, k=5) == 1.0


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"X": [[0.0], [1.0]]}, "X and embedding .*2 and 4"),
        ({"X": [0.0, 1.0, 2.0, 3.0]}, "2D array"),
        ({"X": [[0.0], [np.nan], [np.inf], [1.0]]}, "X .*2 NaN or infinite.*row 1"),
        ({"embedding": [[0.0], [np.nan], [1.0], [2.0]]}, "embedding .*row 1"),
        ({"embedding": [["a"], ["b"], ["c"], ["d"]]}, "convert string"),
        ({"labels": ["a", "b"]}, "labels .*4 points.*2"),
        ({"k": 0}, "k must be at least 1, got 0"),
        ({"k": 3}, "k must be at most 2 for 4 points, got 3"),
        ({"k": 1.5}, "k must be a whole number"),
        ({"X": [[0.0], [1.0]], "embedding": [[0.0], [1.0]]}, "at least 3 points"),
    ],
)
def test_refused(changes: dict[str, Any], says: str) -> None:
    arguments: dict[str, Any] = {"embedding": LINE, "X": LINE, "k": 1, **changes}
    with pytest.raises((ValueError, TypeError), match=says):
        adjusted_rnx(**arguments)
