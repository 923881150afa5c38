"""``ctsne demo``: its table, its picture, and what is refused before any computing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from ctsne import demo
from ctsne.cli import main


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
