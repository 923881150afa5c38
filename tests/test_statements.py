"""Tests of the coverage measurement."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest

from .statements import Coverage, Marked

PROGRAM = '''"""Doc."""
from __future__ import annotations
from typing import TYPE_CHECKING, NamedTuple
if TYPE_CHECKING:
    import nothing
class Pair(NamedTuple):
    """Doc."""
    a: int
    b: int = 2
def choose(x):
    """Doc."""
    if x:
        return 1
    else:
        x = 3
    try:
        raise ValueError
    except ValueError:
        return [x
                for _ in range(2)]
    finally:
        x = 0
'''


def test_every_statement_has_one_mark() -> None:
    marked = Marked()
    marked.visit(ast.parse(PROGRAM))
    assert sorted(marked.lines) == [3, 4, 6, 8, 9, 10, 12, 13, 15, 16, 17, 19, 22]


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import a made-up ctsne with marks, and restore the real package afterwards."""
    (tmp_path / "ctsne").mkdir()
    (tmp_path / "ctsne" / "__init__.py").write_text(PROGRAM)
    true = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "ctsne"}
    for name in true:
        del sys.modules[name]
    coverage = Coverage()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [coverage, *sys.meta_path])
    import ctsne

    assert ctsne.__file__ == str(tmp_path / "ctsne" / "__init__.py")
    yield ctsne, coverage
    del sys.modules["ctsne"]
    sys.modules.update(true)


def executed(coverage: Coverage) -> set[int]:
    lines, marks = coverage.measured["ctsne"]
    return {line for line, mark in zip(lines, marks, strict=True) if mark}


def test_what_is_executed_is_counted(measured: Any) -> None:
    program, coverage = measured
    assert executed(coverage) == {3, 4, 6, 8, 9, 10}
    assert program.Pair(1) == (1, 2) and program.Pair.__doc__ == "Doc."
    assert program.choose(True) == 1
    assert executed(coverage) == {3, 4, 6, 8, 9, 10, 12, 13}
    assert not hasattr(program, "nothing")
    other = {name: (lines, bytes(marks)) for name, (lines, marks) in coverage.measured.items()}
    assert program.choose(False) == [3, 3]
    assert executed(coverage) == {3, 4, 6, 8, 9, 10, 12, 13, 15, 16, 17, 19, 22}
    fresh = Coverage()
    fresh.add(other)
    fresh.add(other)
    assert executed(fresh) == {3, 4, 6, 8, 9, 10, 12, 13}
