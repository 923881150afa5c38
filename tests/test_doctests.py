"""Run the docstring examples of the installed package."""

from __future__ import annotations

import copy
import doctest
import pkgutil
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import ctsne
from ctsne import ConditionalTSNE, pl, tl
from ctsne.datasets import make_synthetic
from ctsne.sweep import sweep

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
MODULES = [
    "ctsne",
    *(
        each.name
        for each in pkgutil.walk_packages(ctsne.__path__, "ctsne.")
        if each.name.split(".")[-1] not in ("__main__", "_native")
    ),
]


@cache
def shared() -> dict[str, Any]:
    """The names that examples use without making them, as the reference page says."""
    anndata = pytest.importorskip("anndata")
    data = make_synthetic(300, random_state=0)
    small = ConditionalTSNE(perplexity=20, n_iter=300, random_state=0)
    model = ConditionalTSNE(n_iter=100, random_state=0).fit(data.X, labels=data.known)
    result = sweep(data.X, data.known, {"strength": [0, 1]}, estimator=small, progress=False)
    adata = anndata.AnnData(data.X)
    adata.obs["batch"], adata.obs["cell_type"] = data.known, data.hidden
    return {"data": data, "small": small, "model": model, "result": result, "adata": adata}


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # examples write files to the working directory
    monkeypatch.setenv("MPLBACKEND", "Agg")
    failures: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for example in doctest.DocTestFinder().find(import_module(name)):
        if example.examples:
            own = {each.__name__.split(".")[-1]: each for each in (ConditionalTSNE, pl, tl, sweep)}
            own["make_synthetic"] = make_synthetic
            example.globs |= own | copy.deepcopy(shared())
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
