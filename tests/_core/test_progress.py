from __future__ import annotations

import io
import itertools
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from ctsne._core import progress as _progress
from ctsne._core.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(stream: io.StringIO, total: int, *, shown: bool = True, logged: bool = True) -> str:
    progress = Progress(total, "maps", shown=shown, logged=logged, stream=stream)
    for _ in range(total):
        progress.step()
    progress.close()
    return stream.getvalue()


def set_clock(monkeypatch: pytest.MonkeyPatch, *seconds: float) -> None:
    clock = itertools.chain(seconds, itertools.repeat(seconds[-1]))
    monkeypatch.setattr(_progress.time, "monotonic", lambda: next(clock))


def test_a_terminal_has_one_line_written_over(monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, *range(5))
    text = run(Terminal(), 4)
    assert text.count("\r") == 5
    assert text.count("\n") == 1 and text.endswith("\n")
    assert "maps: 1 of 4 [#######" in text
    assert text.split("\r")[-1].startswith("maps: 4 of 4 [####")


def test_a_terminal_is_written_to_ten_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, *(0.001 * i for i in range(1002)))
    text = run(Terminal(), 1000)
    assert 8 <= text.count("\r") <= 13
    assert text.split("\r")[-1].startswith("maps: 1000 of 1000")


def test_what_was_stopped_has_nothing_left_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, 0.0, 1.0, 2.0)
    stream = Terminal()
    progress = Progress(10, "maps", shown=True, stream=stream)
    progress.step()
    assert stream.getvalue().endswith("in 0:01, 0:09 left")
    progress.close()
    assert (
        stream.getvalue().split("\r")[-1].rstrip() == "maps: 1 of 10 [###" + 27 * "." + "] in 0:02"
    )


def test_what_never_began_leaves_no_line() -> None:
    stream = Terminal()
    Progress(10, "maps", shown=True, stream=stream).close()
    assert stream.getvalue() == ""


def test_a_log_has_a_line_for_each_tenth() -> None:
    lines = run(io.StringIO(), 50).splitlines()
    assert [int(line.split()[1]) for line in lines] == list(range(5, 51, 5))
    assert " left" not in lines[-1]


def test_a_log_that_has_its_own_lines_is_left_alone() -> None:
    assert run(io.StringIO(), 50, logged=False) == ""
    assert run(Terminal(), 50, logged=False) != ""


def test_says_how_long_the_rest_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, 0.0, 100.0, 4000.0)
    stream = io.StringIO()
    progress = Progress(4, "maps", shown=True, stream=stream)
    progress.step()
    progress.step()
    assert "in 1:40, 5:00 left" in stream.getvalue()
    assert "in 1:06:40, 1:06:40 left" in stream.getvalue()


def test_what_took_no_work_says_nothing_of_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, 0.0, *[0.0] * 9, 60.0)
    stream = Terminal()
    progress = Progress(20, "maps", shown=True, stream=stream)
    for _ in range(9):
        progress.step(worked=False)
    assert "left" not in stream.getvalue()
    progress.step()
    assert "10:00 left" in stream.getvalue()


def test_nothing_is_written_if_not_shown() -> None:
    assert run(Terminal(), 3, shown=False) == ""


FIT = """
from ctsne import ConditionalTSNE
from ctsne.datasets import make_synthetic
data = make_synthetic(200, random_state=0)
model = ConditionalTSNE(perplexity=15, n_iter=400, random_state=0, verbose=1)
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


def test_a_notebook_has_one_bar_that_ends_full(outputs: list[list[Any]]) -> None:
    for cell, name in ((outputs[0], "iterations: 400 of 400"), (outputs[1], "sweep: 3 of 3")):
        bars = [output for output in cell if output.output_type == "display_data"]
        assert len(bars) == 1
        assert bars[0].data["text/plain"].startswith(f"{name} [####")
        assert "<progress value=" in bars[0].data["text/html"]


def test_a_notebook_has_the_stages_as_plain_output(outputs: list[list[Any]]) -> None:
    streams = [output for cell in outputs for output in cell if output.output_type == "stream"]
    assert {output.name for output in streams} == {"stdout"}
    text = "".join(output.text for output in streams)
    for stage in ("memory: ", "neighbours: ", "similarities: ", "map: 400 iterations"):
        assert text.count(stage) == 1


def test_a_notebook_is_silent_by_default(outputs: list[list[Any]]) -> None:
    assert outputs[2] == []
