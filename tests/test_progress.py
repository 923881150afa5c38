from __future__ import annotations

import io

import pytest

from ctsne import _progress
from ctsne._progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(stream: io.StringIO, total: int, *, shown: bool = True) -> str:
    progress = Progress(total, "maps", shown=shown, stream=stream)
    for _ in range(total):
        progress.step()
    progress.close()
    return stream.getvalue()


def test_a_terminal_has_one_line_written_over() -> None:
    text = run(Terminal(), 4)
    assert text.count("\r") == 4
    assert text.count("\n") == 1
    assert "maps: 1 of 4 [#######" in text


def test_a_log_has_a_line_for_each_tenth() -> None:
    lines = run(io.StringIO(), 50).splitlines()
    assert [int(line.split()[1]) for line in lines] == list(range(5, 51, 5))
    assert " left" not in lines[-1]


def test_says_how_long_the_rest_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 100.0, 4000.0])
    monkeypatch.setattr(_progress.time, "monotonic", lambda: next(clock))
    stream = io.StringIO()
    progress = Progress(4, "maps", shown=True, stream=stream)
    progress.step()
    progress.step()
    assert "in 1:40, 5:00 left" in stream.getvalue()
    assert "in 1:06:40, 1:06:40 left" in stream.getvalue()


def test_what_took_no_work_says_nothing_of_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, *[0.0] * 9, 60.0])
    monkeypatch.setattr(_progress.time, "monotonic", lambda: next(clock))
    stream = Terminal()
    progress = Progress(20, "maps", shown=True, stream=stream)
    for _ in range(9):
        progress.step(worked=False)
    assert "left" not in stream.getvalue()
    progress.step()
    assert "10:00 left" in stream.getvalue()


def test_nothing_is_written_if_not_shown() -> None:
    assert run(Terminal(), 3, shown=False) == ""
