"""What the tests of the contract share: small data, short fits, and checks."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ctsne import ConditionalTSNE
from ctsne.datasets import make_synthetic

METHODS = ("tsne", "original", "revised", "balanced", "joint")
NAN = float("nan")
# Coordinates in steps of 1/64: far from the origin and in other units they are the same numbers.
DATA = make_synthetic(120, random_state=0)
X = np.round(DATA.X * 64) / 64
LABELS = DATA.known


def make(**parameters: Any) -> ConditionalTSNE:
    short = {"perplexity": 5, "n_iter": 20, "early_exaggeration_iter": 10, "random_state": 0}
    return ConditionalTSNE(**{**short, **parameters})


def check_map(model: ConditionalTSNE, n: int, n_components: int = 2) -> None:
    assert model.embedding_.shape == (n, n_components)
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.kl_divergence_)
    assert model.affinities_.sum() == pytest.approx(1, abs=1e-5)
    assert np.isfinite(model.diagnostics_.perplexity).all()


SIX = list("aabbab")


def spoilt(*places: tuple[int, int], value: float = NAN) -> Any:
    table = X[:6].copy()
    for place in places:
        table[place] = value
    return table


def check_refused(call: Callable[[], object], argument: str, says: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    message = str(caught.value)
    assert re.search(rf"\b{argument}\b", message), message
    assert re.search(says, message, re.DOTALL), message
    assert len(message) < 500, message
