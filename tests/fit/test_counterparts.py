"""The warning of points without counterparts: which labels it names."""

from __future__ import annotations

from typing import Any

import numpy as np

from ctsne.fit import pipeline
from ctsne.fit.pipeline import MANY_UNMATCHED
from ctsne.labels import Labels, encode_labels
from ctsne.neighbors.matching import UNMATCHED
from ctsne.settings import DEFAULTS, check_settings


def without_counterparts(matched: Any, labels: Labels, **parameters: Any) -> str | None:
    """Ask for the warning of a map with these numbers."""
    X = np.random.default_rng(0).normal(size=(len(matched), 2))
    given = {**DEFAULTS, "perplexity": 5, "align": "none", **parameters}
    settings = check_settings(given, X, labels)
    return pipeline.without_counterparts({labels.names[0]: matched}, settings)


def test_which_labels_are_named() -> None:
    labels = encode_labels(["a"] * 100 + ["b"] * 100 + ["c"] * 2000)
    matched = np.ones(2200)
    assert without_counterparts(matched, labels) is None
    matched[: MANY_UNMATCHED - 1] = 0
    assert without_counterparts(matched, labels) is None  # a few are no news
    matched[:MANY_UNMATCHED] = 0
    message = without_counterparts(matched, labels)
    assert message is not None and message.startswith("20 points of 'a' have no counterpart")
    matched[200:230] = 0  # 30 of 2,000 points are few
    assert without_counterparts(matched, labels) == message
    matched[200:260] = 0
    message = without_counterparts(matched, labels)
    assert message is not None and message.startswith("60 points of 'c', 20 points of 'a' have")
    assert 'align="mutual" finds more' in message
    for align in ("mutual", "mean", np.ones((2200, 1))):
        advised = without_counterparts(matched, labels, align=align)
        assert advised is not None and 'align="mutual"' not in advised
    matched[:] = UNMATCHED
    assert without_counterparts(matched, labels) is None
    unlabelled = encode_labels([None] * 50 + ["a"] * 50 + ["b"] * 50)
    assert without_counterparts(np.where(np.arange(150) < 50, 0.0, 1.0), unlabelled) is None


def test_long_lists_of_labels_stay_readable() -> None:
    names = [f"{'x' * 100} {place % 40}" for place in range(40 * 30)]
    message = without_counterparts(np.zeros(1200), encode_labels(names))
    assert message is not None and "and of 37 more labels" in message and len(message) < 450
