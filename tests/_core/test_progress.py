from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from ctsne._core import progress as _progress
from ctsne._core.progress import Progress, clock

Replace = Callable[[io.StringIO], io.StringIO]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def stderr(monkeypatch: pytest.MonkeyPatch) -> Replace:
    def replace(stream: io.StringIO) -> io.StringIO:  # within the test: pytest sets it before
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    return replace


def run(total: int, **options: Any) -> Progress:
    progress = Progress(total, "maps", **{"shown": True, **options})
    for _ in range(total):
        progress.step()
    progress.close()
    return progress


def without_delay(progress: Progress) -> Progress:
    progress._bar.delay = 0
    progress._bar.mininterval = 0
    return progress


def test_a_terminal_has_one_line_that_is_redrawn(stderr: Replace) -> None:
    terminal = stderr(Terminal())
    progress = without_delay(Progress(4, "maps", shown=True))
    for _ in range(4):
        progress.step()
    progress.close()
    text = terminal.getvalue()
    assert text.count("\n") == 1 and text.endswith("\n")
    assert "maps:  25%|" in text and " 1/4 [" in text
    assert text.split("\r")[-1].startswith("maps: 100%|") and " 4/4 [" in text


def test_work_that_never_began_leaves_no_line(stderr: Replace) -> None:
    terminal = stderr(Terminal())
    Progress(10, "maps", shown=True).close()
    assert terminal.getvalue() == ""


def test_work_that_was_stopped_ends_its_line(stderr: Replace) -> None:
    terminal = stderr(Terminal())
    progress = without_delay(Progress(10, "maps", shown=True))
    progress.step()
    progress.close()
    assert " 1/10 [" in terminal.getvalue() and terminal.getvalue().endswith("\n")


def test_a_log_has_a_line_per_tenth(stderr: Replace) -> None:
    log = stderr(io.StringIO())
    run(50)
    lines = log.getvalue().splitlines()
    assert [int(line.split()[1]) for line in lines] == list(range(5, 51, 5))
    assert " left" not in lines[-1]


def test_few_pieces_have_a_line_each(stderr: Replace) -> None:
    log = stderr(io.StringIO())
    run(3)
    assert [line.split(",")[0] for line in log.getvalue().splitlines()] == [
        "maps: 1 of 3", "maps: 2 of 3", "maps: 3 of 3",
    ]  # fmt: skip


def test_a_log_with_lines_of_its_own_is_left_alone(stderr: Replace) -> None:
    log = stderr(io.StringIO())
    run(50, logged=False)
    assert log.getvalue() == ""


def test_says_how_long_the_rest_takes(stderr: Replace, monkeypatch: pytest.MonkeyPatch) -> None:
    log = stderr(io.StringIO())
    times = iter((0.0, 100.0, 4000.0))
    monkeypatch.setattr(_progress.time, "monotonic", lambda: next(times))
    progress = Progress(4, "maps", shown=True)
    progress.step()
    progress.step()
    assert log.getvalue().splitlines() == [
        "maps: 1 of 4, 5:00 left", "maps: 2 of 4, 1:06:40 left",
    ]  # fmt: skip


def test_loaded_pieces_do_not_enter_the_estimate(
    stderr: Replace, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = stderr(io.StringIO())
    times = iter((0.0, 60.0))
    monkeypatch.setattr(_progress.time, "monotonic", lambda: next(times))
    progress = Progress(20, "maps", shown=True)
    for _ in range(9):
        progress.step(worked=False)
    assert "left" not in log.getvalue()
    progress.step()
    assert log.getvalue().endswith("maps: 10 of 20, 10:00 left\n")


def test_a_terminal_does_not_count_loaded_pieces_either(stderr: Replace) -> None:
    terminal = stderr(Terminal())
    progress = without_delay(Progress(20, "maps", shown=True))
    progress.step(worked=False)
    assert " 1/20 [00:00<?" in terminal.getvalue()


def test_nothing_is_written_if_not_shown(stderr: Replace) -> None:
    terminal = stderr(Terminal())
    run(3, shown=False)
    assert terminal.getvalue() == ""


def test_durations_read_like_a_clock() -> None:
    assert [clock(seconds) for seconds in (0.4, 65, 4000)] == ["0:00", "1:05", "1:06:40"]


def test_standard_error_may_be_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    run(3)
    assert capsys.readouterr().out == ""


FIT = """
from ctsne import ConditionalTSNE
from ctsne.datasets import make_synthetic
data = make_synthetic(200, random_state=0)
model = ConditionalTSNE(perplexity=15, n_iter=4000, random_state=0, verbose=1)
model.fit(data.X, labels=data.known);
"""
SWEEP = """
from ctsne.sweep import sweep
sweep(data.X, data.known, {"strength": [0, 0.5, 1]}, estimator=model);
"""


@pytest.fixture(scope="module")
def outputs() -> list[list[Any]]:
    """Outputs of each cell of a notebook, as a front end would show them."""
    cells = [FIT, SWEEP, "model.set_params(verbose=0).fit(data.X, labels=data.known);"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=100).execute()
    return [cell.outputs for cell in notebook.cells]


def text_of(cell: list[Any]) -> str:
    """Text of a cell, whether the bar is a widget or, without ipywidgets, text."""
    return "".join(
        output.text if output.output_type == "stream" else output.data.get("text/plain", "")
        for output in cell
    )


def test_a_notebook_has_a_bar_that_ends_full(outputs: list[list[Any]]) -> None:
    for cell, name, count in (
        (outputs[0], "iterations", "4000/4000"), (outputs[1], "sweep", "3/3"),
    ):  # fmt: skip
        last = text_of(cell).split(f"{name}: ")[-1]
        assert "100%" in last and count in last


def test_a_notebook_has_plain_output_without_warnings(outputs: list[list[Any]]) -> None:
    streams = [output for cell in outputs for output in cell if output.output_type == "stream"]
    assert {output.name for output in streams} == {"stdout"}
    text = "".join(output.text for output in streams)
    for stage in ("memory: ", "neighbours: ", "similarities: ", "map: 4000 iterations"):
        assert text.count(stage) == 1
    assert "Warning" not in text


def test_a_notebook_is_silent_by_default(outputs: list[list[Any]]) -> None:
    assert outputs[2] == []
