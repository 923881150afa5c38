"""A small dataset as a file, in a folder of its own where commands are run."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ctsne.cli.main import main
from ctsne.datasets import make_synthetic

N = 120
Run = Callable[..., str]
# Few iterations: what a map looks like is tested elsewhere.
QUICK = ["--perplexity", "8", "--n-iter", "40", "--early-exaggeration-iter", "20"]


def make_frame() -> pd.DataFrame:
    """Two labels as text, one as numbers, ten features, names."""
    data = make_synthetic(N, random_state=0)
    frame = pd.DataFrame(data.X, columns=[f"PC{i}" for i in range(1, data.X.shape[1] + 1)])
    frame.insert(0, "cell", [f"c{i}" for i in range(N)])
    frame["batch"] = data.known
    frame["type"] = data.hidden
    frame["plate"] = np.arange(N) % 3
    return frame


@pytest.fixture
def frame() -> pd.DataFrame:
    """Return a table of its own for each test."""
    return make_frame()


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], Path]:
    """Return a folder with ``cells.csv`` in which a command was run, once in all tests."""

    @cache
    def folder(command: str, rows: int) -> Path:
        place = tmp_path_factory.mktemp("made")
        make_frame()[:rows].drop(columns="plate").to_csv(place / "cells.csv", index=False)
        with contextlib.chdir(place), contextlib.redirect_stdout(io.StringIO()):
            assert main([*words_of(command), "-q"]) == 0
        return place

    return folder


@pytest.fixture
def after(
    made_once: Callable[[str, int], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., None]:
    """Go to a folder of the test's own, in which a command was run."""

    def go(command: str, rows: int = N) -> None:
        monkeypatch.chdir(tmp_path)
        shutil.copytree(made_once(command, rows), tmp_path, dirs_exist_ok=True)

    return go


@pytest.fixture
def cells(frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """``cells.csv`` in the working folder."""
    monkeypatch.chdir(tmp_path)
    frame.drop(columns="plate").to_csv("cells.csv", index=False)
    return "cells.csv"


def words_of(*arguments: str) -> list[str]:
    """Return the words of a command, given as one text or apart; maps are made quickly."""
    words = shlex.split(arguments[0]) if len(arguments) == 1 else list(arguments)
    makes = words[0] in ("embed", "sweep", "report") and "--labels" in words[2:]
    quick = makes and "--n-iter" not in words and not Path(words[1]).is_dir()
    return [*words[:2], *QUICK, *words[2:]] if quick else words


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command that must succeed, and return what it prints."""

    def command(*arguments: str) -> str:
        code = main(words_of(*arguments))
        out, err = capsys.readouterr()
        assert code == 0, err
        return out

    return command


@pytest.fixture
def run_json(run: Run) -> Callable[..., dict[str, Any]]:
    """Run a command that must succeed, and return its JSON."""

    def command(*arguments: str) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(run(*words_of(*arguments), "--json"))
        return content

    return command


@pytest.fixture
def tell(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command that must succeed, and return its messages."""

    def command(*arguments: str) -> str:
        code = main(words_of(*arguments))
        err = capsys.readouterr().err
        assert code == 0, err
        return err

    return command


@pytest.fixture
def fail(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command that must fail in one line, and return that line."""

    def command(*arguments: str, code: int = 1) -> str:
        assert main(words_of(*arguments)) == code
        out, err = capsys.readouterr()
        last = err.splitlines()[-1] if code == 1 else err
        assert out == ""
        if code == 1:
            assert last.startswith("ctsne: error: "), err
        return last

    return command


@pytest.fixture
def quick() -> list[str]:
    """Options for a map that is made at once."""
    return list(QUICK)
