"""What the tests of the experiments share: the scripts on the path, and small data."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

# The experiments are scripts, not part of the package.
sys.path.insert(0, str(Path(__file__).parents[2] / "experiments"))

from common import Data

from ctsne.datasets import make_synthetic


@pytest.fixture
def small() -> Data:
    made = make_synthetic(240, random_state=0)
    return Data("small", made.X, made.known.astype(str), made.hidden.astype(str), "a", "b")
