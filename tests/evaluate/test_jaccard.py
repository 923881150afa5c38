"""The adjusted Jaccard index against a hand-worked case and the reference."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ctsne.evaluate import adjusted_jaccard

from .. import reference as formulas


@given(st.data())
def test_agrees_with_the_reference(data: Any) -> None:
    n = data.draw(st.integers(3, 20))
    coordinates = st.integers(-20, 20)
    embedding = data.draw(hnp.arrays(np.float64, (n, 2), elements=coordinates))
    X = data.draw(hnp.arrays(np.float64, (n, 3), elements=coordinates))
    codes = data.draw(hnp.arrays(np.int64, n, elements=st.integers(-1, 2)))
    k = data.draw(st.integers(1, n - 2))
    labels = [None if code < 0 else int(code) for code in codes]
    expected = formulas.adjusted_jaccard(embedding, X, codes, k)
    assert adjusted_jaccard(embedding, X, labels, k=k) == pytest.approx(expected, abs=1e-12)
    expected = formulas.adjusted_jaccard(embedding, X, None, k)
    assert adjusted_jaccard(embedding, X, k=k) == pytest.approx(expected, abs=1e-12)


def test_by_hand() -> None:
    # The map exchanges 1 and 2. Of the ends it keeps both neighbours, of 1 and 2 only each other;
    # among equally distant ones the first counts.
    values = adjusted_jaccard([[0], [2], [1], [3]], [[0], [1], [2], [3]], k=2, pointwise=True)
    np.testing.assert_allclose(values, [1, 1 / 3, 1 / 3, 1])
