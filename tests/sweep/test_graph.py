"""One search for all settings: what measures read off it is the truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ctsne import ConditionalTSNE
from ctsne._parameters import check_settings
from ctsne.datasets import make_synthetic
from ctsne.evaluate import data_neighbors
from ctsne.labels import encode_labels
from ctsne.sweep.graph import measured_lists, shared_neighbors

DATA = make_synthetic(200, random_state=0)


def test_measures_read_true_neighbors_though_the_search_was_approximate() -> None:
    labels = encode_labels(DATA.known)
    settings = check_settings(ConditionalTSNE(perplexity=10), DATA.X, labels)
    exact = shared_neighbors(DATA.X, labels, [settings], k=8)
    wrong = exact.indices.copy()
    wrong[:, 0] = wrong[:, 1]
    points = np.array([3, 60, 199])
    expected = data_neighbors(DATA.X, DATA.known, k=8).indices[points]
    for found in (exact, replace(exact, indices=wrong, recall=0.9)):
        lists = measured_lists(found, DATA.X, labels, points, 8, settings)
        np.testing.assert_array_equal(lists.indices, expected)
