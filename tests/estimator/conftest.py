"""Data for the tests of the estimator."""

import numpy as np
import pytest

from ctsne.datasets import Synthetic, make_synthetic


@pytest.fixture(scope="module")
def data() -> Synthetic:
    return make_synthetic(300, random_state=0)


@pytest.fixture(scope="module")
def grid() -> Synthetic:
    """Data with whole coordinates: distances are the same in any way to compute them."""
    made = make_synthetic(200, random_state=1)
    return Synthetic(X=np.round(made.X * 50), known=made.known, hidden=made.hidden)
