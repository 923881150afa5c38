"""Pictures are drawn without a display, and every figure is closed."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib
import pytest

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    import matplotlib.pyplot as plt

    plt.close("all")  # those of tests elsewhere
    yield
    plt.close("all")
