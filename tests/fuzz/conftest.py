"""What the tests of the attackers share: their programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

from ..scripts import import_from


@pytest.fixture
def fuzz() -> Iterator[Callable[[str], ModuleType]]:
    """Import a module of the attackers by name, for one test only."""
    yield from import_from("fuzz")
