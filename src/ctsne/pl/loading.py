"""matplotlib, imported when something is drawn."""

from __future__ import annotations

import importlib
from typing import Any


def load(name: str = "") -> Any:
    """Return a module of matplotlib, or the package itself."""
    try:
        return importlib.import_module(f"matplotlib.{name}" if name else "matplotlib")
    except ImportError as error:
        raise ImportError('drawing needs matplotlib: pip install "ctsne[plot]"') from error
