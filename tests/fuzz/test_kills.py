"""Kills and interrupts: a small share of them, and the checks that find what is broken."""

from __future__ import annotations

import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "fuzz"


@pytest.fixture
def kills(fuzz: Any) -> Any:
    return fuzz("kills")


@pytest.mark.slow
def test_nothing_breaks(kills: Any, tmp_path: Path) -> None:
    (job,) = kills.make_jobs(tmp_path / "valid", "embed to .parquet", workers=1)
    assert job.after["map.parquet"] != job.before["map.parquet"]
    for number, kind in enumerate(kills.SIGNALS):
        rng = np.random.default_rng(number)
        result, fault = kills.disturb(job, kind, rng, tmp_path / "case")
        assert result in kills.RESULTS[:3], fault
    # Another result than the old or the new one is found.
    for state in ("before", "after"):
        files = {**getattr(job, state), "map.parquet": b"other"}
        job = replace(job, words=[*job.words, "--force"], **{state: files})
    result, fault = kills.disturb(job, "interrupt", np.random.default_rng(0), tmp_path / "case")
    assert (result, "neither" in fault or "belong" in fault) == ("broken", True)


def test_a_command_that_does_not_end_is_killed(kills: Any, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    words = ["demo", "--jobs", "1", "-o", "demo.png"]
    with (
        pytest.raises(subprocess.TimeoutExpired),
        kills._started(words, tmp_path / "here") as process,
    ):
        process.communicate(timeout=0.1)
    assert process.returncode == -signal.SIGKILL


OLD, NEW = {"map.csv": b"1", "map.csv.json": b"1"}, {"map.csv": b"2", "map.csv.json": b"2"}


@pytest.mark.parametrize(
    ("table", "settings", "state"),
    [
        (b"1", b"1", "old intact"),
        (b"2", b"2", "new complete"),
        (b"2", None, "settings missing"),
        (b"1", None, "settings missing"),
        (b"1", b"2", "broken"),
        (b"2", b"1", "broken"),
        (b"", b"1", "broken"),
        (None, b"1", "broken"),
        (b"3", b"2", "broken"),
    ],
)
def test_table_and_settings_fit(
    kills: Any, tmp_path: Path, table: bytes | None, settings: bytes | None, state: str
) -> None:
    job = kills.Job(
        "embed", (), "map.csv", None, {**OLD, "data": b"0"}, {**NEW, "data": b"0"}, 1, 1
    )
    found = {"map.csv": table, "map.csv.json": settings, "data": b"0"}
    present = {name: content for name, content in found.items() if content is not None}
    kills.write_files(tmp_path / "case", present)
    if state == "broken":
        with pytest.raises(kills.Broken):
            kills._check_output(job, tmp_path / "case")
    else:
        assert kills._check_output(job, tmp_path / "case") == state
    kills.write_files(tmp_path / "case", {**OLD, "data": b"changed"})
    with pytest.raises(kills.Broken, match="data"):
        kills._check_output(job, tmp_path / "case")


IMPORT = """Traceback (most recent call last):
  File "/x/ctsne/__init__.py", line 11, in <module>
KeyboardInterrupt
"""


@pytest.mark.parametrize(
    ("kind", "code", "errors", "files", "fine"),
    [
        ("interrupt", 130, "ctsne: interrupted\n", {}, True),
        ("interrupt", 0, "", {}, True),
        ("interrupt", -2, "", {}, False),
        ("interrupt", -2, IMPORT, {}, True),
        ("interrupt", 1, IMPORT, {}, True),
        ("interrupt", 1, IMPORT.replace("<module>", "f"), {}, False),
        ("interrupt", 1, "ctsne: error: x\n", {}, False),
        ("interrupt", 130, "", {}, False),
        ("interrupt", 130, "ctsne: interrupted\nTraceback\n", {}, False),
        ("interrupt", 130, "ctsne: interrupted\n", {".map.csv.1.part": b""}, False),
        ("terminate", 143, "", {}, True),
        ("terminate", -15, "", {".map.csv.1.part": b""}, True),
        ("terminate", 143, "", {".map.csv.1.part": b""}, False),
        ("terminate", 1, "Traceback\n", {}, False),
    ],
)
def test_ends_of_programs(
    kills: Any, kind: str, code: int, errors: str, files: dict[str, bytes], fine: bool
) -> None:
    if fine:
        kills._check_end(kind, code, errors, files)
    else:
        with pytest.raises(kills.Broken):
            kills._check_end(kind, code, errors, files)


def test_silence_is_fine_before_and_after_the_work(kills: Any) -> None:
    kills._check_end("interrupt", -2, "", {}, running=False)
    job = kills.Job("embed", (), "map.csv", None, OLD, NEW, 1, 1)
    assert [kills._is_complete(job, files) for files in (OLD, NEW, {})] == [False, True, False]
