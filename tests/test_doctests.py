"""Run the docstring examples of the installed package."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module
from pathlib import Path

import pytest

import ctsne

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
MODULES = [
    "ctsne",
    *(
        each.name
        for each in pkgutil.walk_packages(ctsne.__path__, "ctsne.")
        if each.name.split(".")[-1] not in ("__main__", "_native")
    ),
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # examples write files to the working directory
    monkeypatch.setenv("MPLBACKEND", "Agg")
    failures: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for example in doctest.DocTestFinder().find(import_module(name)):
        runner.run(example, out=failures.append)
    assert not failures, "".join(failures)


def test_there_are_examples() -> None:
    """Check that the finder sees the examples of every public package."""
    finder = doctest.DocTestFinder()
    found = {name for name in MODULES for each in finder.find(import_module(name)) if each.examples}
    for package in (
        "estimator",
        "evaluate",
        "sweep",
        "tl",
        "pl",
        "report",
        "datasets",
        "labels",
        "distributed",
    ):
        assert any(name.split(".")[1:2] == [package] for name in found), package
