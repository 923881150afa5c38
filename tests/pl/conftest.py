"""Pictures are drawn without a display, and every figure is closed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib
import pytest

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    import matplotlib.pyplot as plt

    plt.close("all")  # those of tests elsewhere
    yield
    plt.close("all")


def legend_of(ax: Any) -> list[str]:
    """The texts of a legend, each on one line."""
    return [text.get_text().replace("\n", " ") for text in ax.get_legend().get_texts()]
