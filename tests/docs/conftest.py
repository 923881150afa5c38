"""What the tests of the documentation share: the programs that make its pages."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).parents[2] / "docs" / "tools"


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Import a module of ``docs/tools`` by name, for one test only."""
    monkeypatch.syspath_prepend(TOOLS)
    yield importlib.import_module
    for file in TOOLS.glob("*.py"):
        sys.modules.pop(file.stem, None)
