"""Import the scripts of a folder outside the package."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


def import_from(folder: str) -> Iterator[Callable[[str], ModuleType]]:
    """Yield a function that imports a script by name, for one test: several folders have a run."""
    names = [file.stem for file in (ROOT / folder).glob("*.py")]
    with pytest.MonkeyPatch.context() as patch:
        for name in names:
            patch.delitem(sys.modules, name, raising=False)
        patch.syspath_prepend(ROOT)
        patch.syspath_prepend(ROOT / "tests")  # pictures of the site use formulas of the tests
        patch.syspath_prepend(ROOT / folder)
        yield importlib.import_module
        for name in names:
            sys.modules.pop(name, None)
