"""The examples in docstrings give what they say, in the package as it is installed."""

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
    monkeypatch.chdir(tmp_path)  # where examples leave their files
    monkeypatch.setenv("MPLBACKEND", "Agg")
    failures: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for example in doctest.DocTestFinder().find(import_module(name)):
        runner.run(example, out=failures.append)
    assert not failures, "".join(failures)


def test_there_are_examples() -> None:
    """Examples that the finder does not see would never fail."""
    finder = doctest.DocTestFinder()
    found = {name for name in MODULES for each in finder.find(import_module(name)) if each.examples}
    for package in ("estimator", "evaluate", "sweep", "tl", "pl", "report", "datasets", "labels",
                    "neighbors", "affinity", "layout"):  # fmt: skip
        assert any(name.split(".")[1:2] == [package] for name in found), package
