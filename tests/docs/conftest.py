"""What the tests of the documentation share: the programs that make its pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

from ..scripts import import_from


@pytest.fixture
def tool() -> Iterator[Callable[[str], ModuleType]]:
    """Import a module of ``docs/tools`` by name, for one test only."""
    yield from import_from("docs/tools")
