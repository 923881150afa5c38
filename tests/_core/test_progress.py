from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

from ctsne._core import progress as _progress
from ctsne._core.progress import Progress, clock, in_parts, within

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


def set_clock(monkeypatch: pytest.MonkeyPatch, *times: float) -> None:
    """Let the clock show these times: at the start, then for each line."""
    shown = iter(times)
    monkeypatch.setattr(_progress.time, "monotonic", lambda: next(shown))


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
    assert "maps:  25%|" in text and "| 1 of 4" in text
    assert text.split("\r")[-1].startswith("maps: 100%|") and "| 4 of 4 in 0:00" in text


def test_work_that_never_began_leaves_no_line_and_work_that_was_stopped_ends_it(
    stderr: Replace,
) -> None:
    terminal = stderr(Terminal())
    Progress(10, "maps", shown=True).close()
    assert terminal.getvalue() == ""
    progress = without_delay(Progress(10, "maps", shown=True))
    progress.step()
    progress.close()
    assert "| 1 of 10" in terminal.getvalue() and terminal.getvalue().endswith("\n")


def test_a_log_has_a_line_per_tenth(stderr: Replace) -> None:
    log = stderr(io.StringIO())
    run(50)
    lines = log.getvalue().splitlines()
    assert [int(line.split()[1]) for line in lines] == list(range(5, 51, 5))
    assert " left" not in lines[-1]


@pytest.mark.parametrize(
    ("options", "times", "expected"),
    [
        ({}, [100, 4000], ["1 of 4, 5:00 left", "2 of 4, 1:06:40 left"]),
        ({}, [1, 3], ["1 of 4", "2 of 4, 0:03 left"]),  # nothing is known in the first moment
        ({"total": 2}, [2, 4], ["1 of 2", "2 of 2"]),  # short work has no estimate
        ({"total": 3, "every": 30.0}, [20, 40, 60], ["2 of 3, 0:20 left"]),
        ({"total": 3, "every": None}, [], []),
        ({"total": 3, "shown": False}, [], []),
        ({"total": 3, "later": 2.0}, [10], ["1 of 3, 0:40 left"]),
        (
            {"total": 2, "grows": 2},  # there are more pieces than expected
            [10, 20, 30],
            ["1 of 2, 0:10 left", "2 of 2", "3 of 4, 0:10 left"],
        ),
    ],
)
def test_lines_of_a_log(
    options: dict[str, Any],
    times: list[float],
    expected: list[str],
    stderr: Replace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = stderr(io.StringIO())
    set_clock(monkeypatch, 0.0, *times)
    progress = Progress(**{"total": 4, "name": "maps", "shown": True, **options})
    for _ in times or range(3):
        progress.step()
    assert log.getvalue().splitlines() == [f"maps: {line}" for line in expected]


def test_unfinished_pieces_enter_the_estimate_and_loaded_ones_do_not(
    stderr: Replace, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = stderr(Terminal())
    without_delay(Progress(20, "maps", shown=True)).step(worked=False)
    assert "| 1 of 20" in terminal.getvalue() and "left" not in terminal.getvalue()
    log = stderr(io.StringIO())
    set_clock(monkeypatch, 0.0, 0.0, 0.0, 0.0, 0.0, 60.0)
    progress = Progress(20, "maps", shown=True)
    for _ in range(9):
        progress.step(worked=False)
    assert "left" not in log.getvalue()
    progress.step()
    assert log.getvalue().endswith("maps: 10 of 20, 10:00 left\n")
    set_clock(monkeypatch, 0.0, 10.0)
    progress = Progress(4, "maps", shown=True)
    progress.inside(1.0)  # two maps at once: one is finished, the other nearly
    progress.step()
    assert log.getvalue().endswith("maps: 1 of 4, 0:10 left\n")


def test_a_stage_says_what_follows_and_vanishes(
    stderr: Replace, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = stderr(Terminal())
    progress = Progress(1, "neighbours", shown=True, then="then the map", kept=False)
    without_delay(progress)
    progress._begin -= 10.0
    progress.inside(0.5)
    assert "neighbours:  50%|" in terminal.getvalue()
    assert "| 0:10 left, then the map" in terminal.getvalue()
    progress.close()
    assert "\n" not in terminal.getvalue()


def test_work_in_parts_reports_after_each() -> None:
    items, shares = np.arange(10_000), list[float]()
    parts = list(in_parts(items, within(shares.append, 0.5, 1.0)))
    assert np.array_equal(np.concatenate(parts), items) and len(parts) == 3
    assert shares == pytest.approx([0.7048, 0.9096, 1.0])
    (whole,) = in_parts(items, within(None, 0.0, 1.0))  # if nobody asks
    assert whole is items


def test_durations_read_like_a_clock() -> None:
    assert [clock(seconds) for seconds in (0.4, 65, 4000)] == ["0:00", "1:05", "1:06:40"]


def test_standard_error_may_be_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    run(3)
    assert capsys.readouterr().out == ""


# With ipywidgets, the notebook holds only how a bar looked when it was first shown.
FIT = """
import sys
sys.modules["ipywidgets"] = None
from ctsne import ConditionalTSNE
from ctsne.datasets import make_synthetic
data = make_synthetic(200, random_state=0)
model = ConditionalTSNE(perplexity=15, n_iter=20000, random_state=0, verbose=1)
model.fit(data.X, labels=data.known);
"""
SWEEP = """
from ctsne.sweep import sweep
sweep(data.X, data.known, {"strength": [0, 0.5, 1]}, estimator=model, n_jobs=1);
"""


def text_of(cell: list[Any]) -> str:
    """Text of a cell and of its results."""
    return "".join(
        output.text if output.output_type == "stream" else output.data.get("text/plain", "")
        for output in cell
    )


def test_a_notebook_has_full_bars_and_plain_output_and_is_silent_by_default() -> None:
    cells = [FIT, SWEEP, "model.set_params(verbose=0, n_iter=300).fit(data.X, labels=data.known);"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=100).execute()
    fitted, swept, silent = (cell.outputs for cell in notebook.cells)
    assert silent == []
    for cell, name, count in ((fitted, "iterations", "20000 of 20000"), (swept, "sweep", "3 of 3")):
        last = text_of(cell).split(f"{name}: ")[-1]
        assert "100%" in last and count in last
    streams = [output for output in (*fitted, *swept) if output.output_type == "stream"]
    assert {output.name for output in streams} == {"stdout"}
    text = "".join(output.text for output in streams)
    for stage in ("memory: ", "neighbours: ", "similarities: ", "map: 20000 iterations"):
        assert text.count(f"{stage}") >= 1
    assert "Warning" not in text
