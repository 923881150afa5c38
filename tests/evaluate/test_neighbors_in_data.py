"""Lists of samples, and their use for neighbourhoods of every size."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ctsne import _reference as oracle
from ctsne.evaluate import data_neighbors, map_neighbors, sample_points
from ctsne.neighbors import find_neighbors


@given(st.data())
def test_a_search_for_some_rows_finds_what_one_for_all_does(data: Any) -> None:
    n = data.draw(st.integers(3, 30))
    X = data.draw(hnp.arrays(np.float64, (n, 2), elements=st.integers(-20, 20)))
    codes = data.draw(hnp.arrays(np.int64, n, elements=st.integers(-1, 3)))
    labels = data.draw(st.sampled_from([None, [None if c < 0 else int(c) for c in codes]]))
    rows = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1, unique=True)))
    whole = find_neighbors(X, labels, k_same=2, k_other=1)
    some = find_neighbors(X, labels, k_same=2, k_other=1, rows=rows)
    np.testing.assert_array_equal(some.indices, whole.indices[rows])
    np.testing.assert_array_equal(some.distances, whole.distances[rows])
    np.testing.assert_array_equal(some.n_same, whole.n_same[rows])


@given(st.data())
def test_every_prefix_is_an_adjusted_neighbourhood(data: Any) -> None:
    n = data.draw(st.integers(3, 20))
    coordinates = st.integers(-20, 20)
    embedding = data.draw(hnp.arrays(np.float64, (n, 2), elements=coordinates))
    X = data.draw(hnp.arrays(np.float64, (n, 3), elements=coordinates))
    codes = data.draw(hnp.arrays(np.int64, n, elements=st.integers(-1, 2)))
    labels = [None if code < 0 else int(code) for code in codes]
    found = map_neighbors(embedding, k=n - 2)
    adjusted = data_neighbors(X, labels, k=n - 2).adjusted(found.indices)
    for k in range(1, n - 1):
        expected = [high for _, high in oracle.adjusted_sets(embedding, X, codes, k)]
        assert [set(row.tolist()) for row in adjusted[:, :k]] == expected


def test_samples_are_seeded_and_without_repetition() -> None:
    drawn = sample_points(1000, 0.3, 7)
    assert len(drawn) == 300 and (np.diff(drawn) > 0).all()
    assert np.array_equal(drawn, sample_points(1000, 300, 7))
    assert not np.array_equal(drawn, sample_points(1000, 300, 8))
    assert sample_points(10, 1e-9).shape == (1,)
    assert sample_points(10, 1.0).tolist() == list(range(10))
    assert sample_points(10, 1).shape == (1,)
