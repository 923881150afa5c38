"""Measure which statements of ctsne the tests execute: ``CTSNE_COVERAGE=1 pytest``.

Before Python 3.12, coverage.py increases the time of these tests by half, because tracing slows
down all code and not only the package. This module instead inserts a mark before each statement of
ctsne at import, which costs about 3 %. Child processes are not measured.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

import pytest

_MARKS = "__coverage_marks__"


class Marked(ast.NodeTransformer):
    """Insert a mark before every statement, except docstrings and imports for type checkers."""

    def __init__(self) -> None:
        self.lines: list[int] = []

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return node
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(node, name, None)
            if isinstance(statements, list):
                setattr(node, name, [each for s in statements for each in self._mark(s)])
        return node

    def _mark(self, statement: ast.stmt) -> list[ast.stmt]:
        is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if is_future or is_text:
            return [statement]
        mark = ast.parse(f"{_MARKS}[{len(self.lines)}] = 1").body[0]
        self.lines.append(statement.lineno)
        for node in ast.walk(mark):
            ast.copy_location(node, statement)
        return [mark, statement]


class Loader(SourceFileLoader):
    """Load a module with marks, bypassing its compiled file."""

    measured: dict[str, tuple[list[int], bytearray]]

    def get_code(self, fullname: str) -> CodeType:
        marked = Marked()
        tree = marked.visit(ast.parse(self.get_data(self.path)))
        self.measured[fullname] = (marked.lines, bytearray(len(marked.lines)))
        return compile(tree, self.path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        code = self.get_code(module.__name__)
        setattr(module, _MARKS, self.measured[module.__name__][1])
        exec(code, module.__dict__)


class Coverage(MetaPathFinder):
    """Import modules of ctsne with marks, and report the executed statements at the end."""

    def __init__(self) -> None:
        self.measured: dict[str, tuple[list[int], bytearray]] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.split(".")[0] != "ctsne":
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = Loader(fullname, spec.loader.path)
            spec.loader.measured = self.measured
        return spec

    def add(self, measured: dict[str, tuple[list[int], bytes]]) -> None:
        """Add the statements executed by another process."""
        for name, (lines, marks) in measured.items():
            own = self.measured.setdefault(name, (lines, bytearray(len(lines))))[1]
            own[:] = bytes(map(max, own, marks))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send the marks of a worker to the main process."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["coverage"] = {n: (lines, bytes(m)) for n, (lines, m) in self.measured.items()}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: Any) -> None:
        """Receive the marks of a finished worker."""
        self.add(getattr(node, "workeroutput", {}).get("coverage", {}))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the share of executed statements per package."""
        counts: dict[str, list[int]] = {}
        for name, (_, marks) in self.measured.items():
            package = ".".join(name.split(".")[:2])
            for key in (package, "all"):
                count = counts.setdefault(key, [0, 0])
                count[0] += sum(marks)
                count[1] += len(marks)
        terminalreporter.section("coverage")
        for key in sorted(counts, key=lambda key: (key == "all", key)):
            done, total = counts[key]
            terminalreporter.write_line(f"{key:<20} {done:6} of {total:6} {done / total:8.1%}")


def start() -> Coverage:
    """Measure every module of ctsne that is imported from now on."""
    coverage = Coverage()
    sys.meta_path.insert(0, coverage)
    return coverage
