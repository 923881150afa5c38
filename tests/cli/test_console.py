"""What is printed, and where."""

from __future__ import annotations

import io
import json
import logging
import sys
import warnings

import numpy as np
import pytest

from ctsne._core.messages import InterruptedWarning
from ctsne.cli.console import Console, aligned, one_line, plain
from ctsne.cli.options import as_typed


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_results_go_to_standard_output_all_else_to_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    console = Console()
    console.say("reading")
    console.detail("only if verbose")
    console.stage("neighbours")  # for terminals only
    console.warn("few\n  points")
    console.error(ValueError("no\nfile"))
    console.result("a table", {"a": 1})
    out, err = capsys.readouterr()
    assert out == "a table\n"
    assert err.splitlines() == [
        "ctsne: reading",
        "ctsne: warning: few points",
        "ctsne: error: no file",
    ]


def test_quiet_leaves_errors_and_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(quiet=True)
    console.say("reading")
    console.warn("few points")
    console.error("no file")
    console.result("a table", {})
    out, err = capsys.readouterr()
    assert (out, err) == ("a table\n", "ctsne: error: no file\n")


@pytest.mark.parametrize("as_json", [False, True])
def test_control_characters_do_not_reach_the_terminal(
    as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "\x1b[2J\x9b1m\x07\u202eé"
    Console(as_json=as_json).result(f"a\n{name}", {"name": name})
    out = capsys.readouterr().out
    assert all(character.isprintable() for character in out.replace("\n", ""))
    if as_json:
        assert json.loads(out)["name"] == name
    else:
        assert out == "a\n?[2J?1m??é\n"


def test_json_is_one_object_of_plain_values(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(as_json=True)
    console.result("a table", {"a": np.float32(0.5), "b": [np.nan, np.int64(3)], "c": {1: None}})
    with console.without_results():
        console.result("a table", {"not": "shown"})
    content = json.loads(capsys.readouterr().out)
    assert content.pop("seconds") >= 0
    assert content == {"a": 0.5, "b": [None, 3], "c": {"1": None}}


def test_warnings_and_logs_of_the_library_are_told_in_the_words_of_a_program(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = logging.getLogger("ctsne")
    before = (log.level, log.propagate, list(log.handlers))
    with Console(verbose=True).library():
        warnings.warn("few points", UserWarning, stacklevel=1)
        warnings.warn("old function", FutureWarning, stacklevel=1)
        warnings.warn("interrupted", InterruptedWarning, stacklevel=1)
        log.info("neighbours: 90 (0.1 s)")
    assert (log.level, log.propagate, list(log.handlers)) == before
    assert capsys.readouterr().err.splitlines() == [
        "ctsne: warning: few points",
        "ctsne: neighbours: 90 (0.1 s)",
    ]


def test_a_terminal_sees_the_stages_on_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    console = Console()
    with console.library():
        console.stage("reading cells.csv")
        log = logging.getLogger("ctsne")
        log.info("memory: little", extra={"stage": "memory"})
        log.info("neighbours: 90", extra={"stage": "neighbours"})
        console.say("done")
    text = stream.getvalue()
    assert text.count("\n") == 1 and text.endswith("\r\x1b[Kctsne: done\n")
    assert "ctsne: neighbours ..." in text and "ctsne: similarities ..." in text


def test_the_next_command_is_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    for options in ({"quiet": True}, {"as_json": True}):
        Console(**options).next({"to draw the map": "ctsne plot map.csv -o map.png"})
    console = Console()
    with console.without_results():
        console.next({"to draw the map": "ctsne plot other.csv -o map.png"})
    console.next({"to draw the map": "ctsne plot map.csv -o map.png"})
    assert capsys.readouterr().out == "next, to draw the map: ctsne plot map.csv -o map.png\n"


def test_an_important_warning_comes_again_after_the_result(
    capsys: pytest.CaptureFixture[str],
) -> None:
    console = Console()
    console.warn("few points")
    console.warn("one column dominates", again=True)
    console.result("a table", {})
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["ctsne: warning: few points", *2 * ["ctsne: warning: one column dominates"]]


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        ('If labels differ by a shift, align="mutual" finds more.', "--align mutual finds"),
        ("mixing=0.7 was not reached", "--mixing 0.7 was not reached"),
        ("with strength=1 of random", "with --strength 1 of"),
        ("perplexity=300 is too large", "--perplexity 300 is too large"),
        ("init='spectral', n_iter=10.", "--init spectral, --n-iter 10."),
        ("random_state=5", "--seed 5"),
    ],
)
def test_parameters_are_written_as_options(said: str, typed: str) -> None:
    assert typed in as_typed(said)


def test_library_warnings_name_options(capsys: pytest.CaptureFixture[str]) -> None:
    with Console().library():
        warnings.warn('align="mutual" finds more', UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "ctsne: warning: --align mutual finds more\n"


def test_text_of_files_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    Console().error("no column '\x1b[2Jbatch\x07'")
    assert capsys.readouterr().err == "ctsne: error: no column '?[2Jbatch?'\n"


def test_tables_line_up() -> None:
    rows = [["a", 0.5], ["long", None], ["b", float("nan")], ["c", -0.001]]
    text = aligned(["name", "value"], rows)
    assert text.splitlines() == [
        "name  value",
        "----  -----",
        "a      0.50",
        "long      -",
        "b         -",
        "c      0.00",
    ]


def test_errors_without_words_have_their_name() -> None:
    assert one_line(MemoryError()) == "MemoryError"
    assert plain({"path": __import__("pathlib").Path("a")}) == {"path": "a"}
