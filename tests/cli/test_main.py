"""The command line: what it prints, where, and how it ends."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctsne import demo
from ctsne.cli import main
from ctsne.datasets import make_synthetic


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Replace the computing by something quick and write down how it was called."""
    seen: list[dict[str, Any]] = []

    def run(*, progress: Any, **options: Any) -> demo.Demo:
        seen.append(options)
        progress("[1/1] t-SNE")
        data = make_synthetic(30, random_state=0)
        panel = demo.Panel(demo.SETTINGS[0], np.zeros((30, 2)), 0.5, 0.25, 0.125, 30.0, 1.5)
        return demo.Demo(data, (panel,), 0.48, 0.667)

    monkeypatch.setattr(demo, "run", run)
    return seen


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"ctsne {version('ctsne')}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["demo", "--help"]])
def test_help_teaches_by_example(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert out.startswith("usage: ctsne") and "examples:" in out and "ctsne demo" in out
    assert err == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required"),
        (["dance"], "dance"),
        (["demo", "--colour"], "--colour"),
        (["demo", "--seed", "one"], "must be a whole number, got 'one'"),
        (["demo", "--seed", "-1"], "must be from 0 to"),
        (["demo", "--seed", str(2**32)], "must be from 0 to"),
        (["demo", "--jobs", "0"], "must be 1 or more, or -1 for all"),
        (["demo", "--jobs", "-2"], "must be 1 or more, or -1 for all"),
        (["demo", "--out", "a.png"], "--out"),
    ],
)
def test_wrong_usage_ends_with_2(
    arguments: list[str],
    message: str,
    calls: list[dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and "usage: ctsne" in err and message in err
    assert not calls


def test_demo_prints_a_table_and_writes_the_picture(
    calls: list[dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    out, err = capsys.readouterr()
    picture = tmp_path / "ctsne-demo.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert out.startswith("method") and out.endswith(f"picture: {picture.resolve()}\n")
    assert err == "ctsne: [1/1] t-SNE\n"
    assert calls == [{"random_state": demo.SEED, "n_jobs": -1}]


def test_demo_passes_its_options_on(calls: list[dict[str, Any]], tmp_path: Path) -> None:
    target = tmp_path / "maps.pdf"
    assert main(["demo", "--output", str(target), "--seed", "7", "--jobs", "2"]) == 0
    assert calls == [{"random_state": 7, "n_jobs": 2}]
    assert target.read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("name", "message"),
    [("no/such/folder/maps.png", "there is no folder"), ("maps.doc", "must end in")],
)
def test_a_picture_that_cannot_be_written_is_told_before_any_computing(
    name: str,
    message: str,
    calls: list[dict[str, Any]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["demo", "--output", str(tmp_path / name)]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("ctsne: error: ") and message in err
    assert err.count("\n") == 1
    assert not calls


def test_missing_matplotlib_is_told_before_any_computing(
    calls: list[dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["demo", "--output", str(tmp_path / "maps.png")]) == 1
    out, err = capsys.readouterr()
    assert out == "" and 'pip install "ctsne[plot]"' in err and err.count("\n") == 1
    assert not calls


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ValueError("first line\n  second line"), 1, "ctsne: error: first line second line\n"),
        (MemoryError(), 1, "ctsne: error: MemoryError\n"),
        (KeyboardInterrupt(), 130, "ctsne: interrupted\n"),
    ],
)
def test_errors_are_one_line(
    error: BaseException,
    code: int,
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def run(**options: Any) -> demo.Demo:
        raise error

    monkeypatch.setattr(demo, "run", run)
    assert main(["demo", "--output", str(tmp_path / "maps.png")]) == code
    out, err = capsys.readouterr()
    assert out == "" and err == line
    assert not list(tmp_path.iterdir())


def test_the_installed_program_runs() -> None:
    program = Path(sys.executable).with_name("ctsne")
    if not program.exists():
        pytest.skip("the program is not installed beside the interpreter")
    done = subprocess.run(
        [program, "--version"], check=True, capture_output=True, text=True, timeout=120
    )
    assert done.stdout == f"ctsne {version('ctsne')}\n"
