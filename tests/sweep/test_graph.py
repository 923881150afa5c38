"""One search for all settings: what measures read off it is the truth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ctsne._fit.pipeline import alignment_of, neighbors_of
from ctsne._fit.settings import DEFAULTS, Settings, check_settings
from ctsne.datasets import make_synthetic
from ctsne.evaluate import data_neighbors
from ctsne.labels import encode_labels
from ctsne.sweep import graph
from ctsne.sweep.graph import lists_for, measured_lists, shared_neighbors

DATA = make_synthetic(200, random_state=0)
LABELS = encode_labels(DATA.known)
MOVED = DATA.X + 3.0 * (DATA.known == "blue")[:, None]


def settings_with(**parameters: Any) -> Settings:
    return check_settings({**DEFAULTS, "perplexity": 10, **parameters}, DATA.X, LABELS)


@pytest.mark.parametrize("method", ["joint", "revised"])
def test_measures_read_true_neighbors_though_the_search_was_approximate(method: str) -> None:
    settings = settings_with(method=method)
    found = shared_neighbors(DATA.X, LABELS, [settings], k=8)
    (exact,) = found.values()
    wrong = exact.indices.copy()
    wrong[:, 0] = wrong[:, 1]
    points = np.array([3, 60, 199])
    expected = data_neighbors(DATA.X, DATA.known, k=8).indices[points]
    for each in (exact, replace(exact, indices=wrong, recall=0.9)):
        kept = dict.fromkeys(found, each)
        lists = measured_lists(kept, DATA.X, LABELS, points, 8, settings)
        np.testing.assert_array_equal(lists.indices, expected)


def test_every_alignment_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searches = []
    search = graph.search_neighbors

    def counted(*arguments: Any) -> Any:
        searches.append(arguments)
        return search(*arguments)

    monkeypatch.setattr(graph, "search_neighbors", counted)
    every: list[Any] = ["none", "mean", "mean", MOVED, "none", MOVED.copy()]
    settings = [settings_with(align=align) for align in every]
    found = shared_neighbors(DATA.X, LABELS, [*settings, settings_with(method="tsne")], k=8)
    assert len(searches) == len(found) == 3


def test_measures_see_the_data_as_they_are_though_all_maps_are_aligned() -> None:
    settings = settings_with(align=MOVED)
    found = shared_neighbors(DATA.X, LABELS, [settings], k=8)
    points = np.arange(200)
    lists = measured_lists(found, DATA.X, LABELS, points, 8, settings)
    expected = data_neighbors(DATA.X, DATA.known, k=8).indices
    np.testing.assert_array_equal(lists.indices, expected)


@pytest.mark.parametrize("align", ["none", "mutual", "local", "mean", "auto", MOVED])
@pytest.mark.parametrize("method", ["joint", "revised", "balanced"])
def test_lists_are_those_of_a_search_for_one_map(method: str, align: Any) -> None:
    settings = settings_with(method=method, align=align)
    others = [settings_with(method="revised", perplexity=25), settings_with(align="mean")]
    lists = lists_for(settings, shared_neighbors(DATA.X, LABELS, [settings, *others], k=30))
    alone = neighbors_of(DATA.X, settings, alignment_of(DATA.X, settings).points)
    np.testing.assert_array_equal(lists.indices, alone.indices)
    np.testing.assert_array_equal(lists.distances, alone.distances)
    np.testing.assert_array_equal(lists.n_same, alone.n_same)
    assert lists.scale == alone.scale
    assert (lists.unaligned is None) == (alone.unaligned is None)
    if lists.unaligned is not None and alone.unaligned is not None:
        np.testing.assert_array_equal(lists.unaligned.rows, alone.unaligned.rows)
        np.testing.assert_array_equal(
            lists.unaligned.neighbors.distances, alone.unaligned.neighbors.distances
        )
