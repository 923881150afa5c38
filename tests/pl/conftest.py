"""Pictures are drawn without a display, and every figure is closed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import matplotlib
import numpy as np
import pytest

from ctsne.pl.trade_off import Curve

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


def curves_of(x: Mapping[str, Any], y: Mapping[str, Any], **notes: Any) -> dict[str, Curve]:
    """Return lines of a trade-off; the method is the first word of a name."""
    return {
        name: Curve(name.split(" ")[0], np.array(x[name]), np.array(y[name]), notes.get(name, ()))
        for name in x
    }
