"""The estimator's parameters in the form the stages take them."""

from __future__ import annotations

import numpy as np
import pytest

from ctsne.settings import DEFAULTS, check_settings


@pytest.mark.parametrize(
    ("n", "parameters", "early", "late"),
    [
        (3000, {}, 250, 3000),
        (100, {}, 200, 200),
        (3000, {"early_exaggeration": 4, "exaggeration": 2}, 750, 1500),
        (3000, {"exaggeration": 0.5}, 250, 3000),  # never more than n
        (3000, {"n_components": 3}, 250, 250),
        (3000, {"learning_rate": 77.0}, 77, 77),
    ],
)
def test_learning_rate_of_both_phases(
    n: int, parameters: dict[str, float], early: float, late: float
) -> None:
    given = {**DEFAULTS, "method": "tsne", "perplexity": 5, **parameters}
    schedule = check_settings(given, np.random.default_rng(0).normal(size=(n, 3)), None).schedule
    first, last = schedule.at(0), schedule.at(schedule.early_exaggeration_iter)
    assert (first[1], last[1]) == (early, late)


def test_a_mixing_in_percent_is_refused_with_what_was_meant() -> None:
    given = {**DEFAULTS, "perplexity": 5, "mixing": 70}
    with pytest.raises(ValueError, match=r"from 0 to 1, got 70; 0.7 is 70 percent"):
        check_settings(given, np.random.default_rng(0).normal(size=(50, 3)), None)
