"""One search for all settings, and exact neighbours for the measures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ctsne import ConditionalTSNE
from ctsne.datasets import make_synthetic
from ctsne.evaluate import DataNeighbors, data_neighbors, measure_map
from ctsne.fit.pipeline import alignment_of, neighbors_of
from ctsne.labels import encode_labels
from ctsne.settings import DEFAULTS, Settings, check_settings
from ctsne.sweep import sweep, worker
from ctsne.sweep.worker import lists_for, shared_neighbors

from ..neighbors.helpers import assert_same

DATA = make_synthetic(200, random_state=0)
LABELS = encode_labels(DATA.known)
MOVED = DATA.X + 3.0 * (DATA.known == "blue")[:, None]


def data_with(k: int) -> DataNeighbors:
    return DataNeighbors(np.arange(len(DATA.X)), len(DATA.X), LABELS, k, features=DATA.X)


def settings_with(**parameters: Any) -> Settings:
    return check_settings({**DEFAULTS, "perplexity": 10, **parameters}, DATA.X, LABELS)


@pytest.mark.parametrize("align", ["none", "mutual"])
def test_measures_read_true_neighbors_though_the_search_was_approximate(
    align: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = worker.neighbors_of

    def approximate(*arguments: Any, **more: Any) -> Any:
        exact = search(*arguments, **more)
        wrong = exact.indices.copy()
        wrong[:, 0] = wrong[:, 1]
        return replace(exact, indices=wrong, recall=0.9)

    monkeypatch.setattr(worker, "neighbors_of", approximate)
    base = ConditionalTSNE(perplexity=10, n_iter=60, random_state=0, align=align)
    grid = {"method": "joint", "strength": 0.5}
    (swept,) = sweep(DATA.X, DATA.known, grid, estimator=base, progress=False).maps
    assert swept.embedding is not None
    data = data_neighbors(DATA.X, DATA.known, align=align)
    expected = measure_map(swept.embedding, data)
    assert ("aligned_rnx" in expected) == (align != "none") == (data.alignment != "none")
    measured = {name: swept.measures[name] for name in expected}
    assert measured == pytest.approx(expected, abs=1e-6)


def test_every_alignment_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searches = []
    search = worker.neighbors_of

    def counted(*arguments: Any, **more: Any) -> Any:
        searches.append(arguments)
        return search(*arguments, **more)

    monkeypatch.setattr(worker, "neighbors_of", counted)
    every: list[Any] = ["none", "mean", "mean", MOVED, "none", MOVED.copy()]
    settings = [settings_with(align=align) for align in every]
    found = shared_neighbors([*settings, settings_with(method="tsne")], data_with(k=8))
    assert len(searches) == len(set(map(id, found))) == 3


@pytest.mark.parametrize("align", ["none", "mutual", "local", "mean", "auto", MOVED])
@pytest.mark.parametrize("method", ["joint", "revised", "balanced"])
def test_lists_are_those_of_a_search_for_one_map(method: str, align: Any) -> None:
    settings = settings_with(method=method, align=align)
    others = [settings_with(method="revised", perplexity=25), settings_with(align="mean")]
    lists = lists_for(settings, shared_neighbors([settings, *others], data_with(k=30))[0])
    alone = neighbors_of(DATA.X, settings, alignment_of(DATA.X, settings).points)
    assert_same(lists, alone)
    assert (lists.unaligned is None) == (alone.unaligned is None)
    if lists.unaligned is not None and alone.unaligned is not None:
        np.testing.assert_array_equal(lists.unaligned.rows, alone.unaligned.rows)
        assert_same(lists.unaligned.neighbors, alone.unaligned.neighbors)
