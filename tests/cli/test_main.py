"""The command line: its help, its exit codes, and suggestions for misspelt names."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from ctsne import evaluate
from ctsne.cli import demo
from ctsne.cli.main import COMMANDS, main, make_parser

Run = Callable[..., str]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"ctsne {version('ctsne')}\n"


@pytest.mark.parametrize("arguments", ["--help", "demo --help"])
def test_help_teaches_by_example(arguments: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments.split()) == 0
    out, err = capsys.readouterr()
    assert out.startswith("usage: ctsne") and "examples:" in out and "ctsne demo" in out
    assert err == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required"),
        (["dance"], "dance"),
        (["demo", "--colour"], "--colour"),
        (["demo", "--seed", "one"], "must be a whole number from 0 to"),
        (["demo", "--seed", "-1"], "must be a whole number from 0 to"),
        (["demo", "--seed", str(2**32)], "must be a whole number from 0 to"),
        (["demo", "--jobs", "0"], "must be a number of threads from 1 up, or -1"),
        (["demo", "--jobs", "-2"], "must be a number of threads from 1 up, or -1"),
        (["demo", "--out", "a.png"], "--out"),
    ],
)
def test_wrong_usage_ends_with_2(
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("computed")

    monkeypatch.setattr(demo, "sweep_demo", never)
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and "usage: ctsne" in err and message in err


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
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(demo, "sweep_demo", fail)
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


def test_the_package_runs_as_a_module() -> None:
    words = [sys.executable, "-P", "-m", "ctsne", "--version"]
    done = subprocess.run(words, check=True, capture_output=True, text=True, timeout=120)
    assert done.stdout == f"ctsne {version('ctsne')}\n"


def test_the_module_runs_and_a_closed_pipe_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)  # as head does when it has seen enough
    words = [sys.executable, "-P", "-m", "ctsne.cli", "embed", "--help"]
    with os.fdopen(writer) as closed:
        done = subprocess.run(words, stdout=closed, stderr=subprocess.PIPE, timeout=120)
    assert done.returncode == 0 and done.stderr == b""


@pytest.mark.parametrize(
    "module", ["ctsne.cli.main", "ctsne.cli.options", "numpy", "ctsne.cli.embed"]
)
def test_ctrl_c_while_the_program_loads(module: str) -> None:
    program = f"""
import runpy, signal, sys
class Finder:
    def find_spec(self, name, *_):
        if name == {module!r}:
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.argv[1:] = ["embed", "--help"]
runpy.run_module("ctsne.cli", run_name="__main__")
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr, done.stdout) == (130, "ctsne: interrupted\n", "")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("embed none.csv --labels a -o out/map.csv", "there is no folder out; create it first"),
        ("embed none.csv --labels a -o map.csv --plot out/a.png", "there is no folder out"),
        ("sweep none.csv --labels a -o out/sweep", "there is no folder out"),
        ("report none.csv --labels a -o out/page.html", "there is no folder out"),
        ("plot none.csv -o out/a.png", "there is no folder out"),
        ("evaluate none.csv -o out/a.csv", "there is no folder out"),
        ("demo -o out/a.png", "there is no folder out"),
        (
            "embed none.csv --labels a -o pipe.csv",
            "cannot write pipe.csv: it is not a regular file",
        ),
        ("plot none.csv -o pipe.png", "cannot write pipe.png: it is not a regular file"),
        ("demo -o link.png", "cannot write link.png: it is not a regular file"),
        ("embed none.csv --labels a -o .csv/a", "its name must end in"),
    ],
)
def test_outputs_are_checked_before_inputs(
    command: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fail: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("pipe.csv", "pipe.png"):
        os.mkfifo(name)
    Path("link.png").symlink_to("pipe.png")  # never to a real device: root could replace it
    before = sorted(tmp_path.iterdir())
    assert message in fail(*command.split())
    assert sorted(tmp_path.iterdir()) == before


def test_help_and_version_load_nothing_heavy() -> None:
    heavy = ["sklearn", "scipy", "pandas", "matplotlib", "anndata"]
    program = (
        "import sys; from ctsne.cli.main import main; main(['embed', '--help']); "
        f"print([name for name in {heavy} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stderr == "[]\n"


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_a_terminal_of_80_columns(
    command: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = run(*command.split(), "--help")
    assert text.startswith("usage: ctsne") and "examples:" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_in_the_help_can_be_typed(command: str) -> None:
    parser = make_parser()
    text = re.sub(r"\\\n\s+", "", parser.commands[command].format_help())
    typed = [
        line.split("  ")[0].split()[1:]
        for line in map(str.strip, text.split("examples:")[1].splitlines())
        if line.startswith("ctsne ")
    ]
    assert len(typed) >= 2
    for words in typed:
        assert parser.parse_args(words).command == command


def test_the_path_to_a_decision_can_be_typed() -> None:
    parser = make_parser()
    lines = (parser.epilog or "").splitlines()[1:5]
    commands = [line.strip().split("  ")[0].split()[1:] for line in lines]
    assert [parser.parse_args(words).command for words in commands] == [
        "info",
        "report",
        "embed",
        "plot",
    ]


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ("embde x.csv", "unknown command 'embde'; did you mean embed?"),
        ("xyz", "available: embed, transform"),
        ("embed x.csv --lables a", "unknown option --lables; did you mean --labels?"),
        ("embed x.csv --strenght=1", "unknown option --strenght; did you mean --strength?"),
        (
            "place m.ctsne x.csv --numbers a",
            "unknown option --numbers; --labels names numbers of a",
        ),
        ("embed x.csv --label a", "did you mean --labels?"),
        ("embed x.csv --method jiont", "got 'jiont'; did you mean joint?"),
        ("embed x.csv --init pac", "got 'pac'; did you mean pca?"),
        ("embed --labels a x.csv -o y.csv", "INPUT (put INPUT first, before"),
        ("plot x -o a.png --width singel", "did you mean single?"),
    ],
)
def test_a_misspelt_name_suggests_the_right_one(arguments: str, hint: str, fail: Run) -> None:
    assert hint in fail(f"{arguments}", code=2)


def test_an_interrupt_that_a_library_turns_into_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def load(*_: object) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as stop:
            raise ImportError("initialization failed") from stop

    monkeypatch.setattr("ctsne.cli.info.run", load)
    assert main(["info"]) == 130
    assert capsys.readouterr().err == "ctsne: interrupted\n"


def test_an_interrupt_in_a_callback_is_not_lost() -> None:
    program = (
        "import signal, sys, time, weakref; import ctsne.cli.main as command\n"
        "from ctsne.cli.__main__ import run\n"
        "class Thing: pass\n"
        "def main():\n"
        "    thing = Thing()\n"
        "    kept = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))\n"
        "    del thing\n"
        "    time.sleep(20)\n"
        "    return 0\n"
        "command.main = main; sys.exit(run())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=600
    )
    assert (done.returncode, done.stderr) == (130, "ctsne: interrupted\n")


def test_memory_that_runs_out_while_a_map_is_measured_is_explained(
    cells: str, fail: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(*_: Any, **__: Any) -> None:
        raise MemoryError("Unable to allocate 96.8 MiB for an array")

    monkeypatch.setattr(evaluate, "data_neighbors", end)
    says = fail("embed cells.csv --labels batch -o map.csv")
    assert re.search(r"memory ran out: this needs about \d+ MiB beside .*; the map is fin", says)
    assert Path("map.csv").exists()
