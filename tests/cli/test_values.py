"""Options from TOML files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ctsne.cli.main import parse_options

COMMAND = ["embed", "cells.csv", "--config", "options.toml"]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Write ``options.toml`` in the working folder."""
    monkeypatch.chdir(tmp_path)

    def text(content: str) -> None:
        Path("options.toml").write_text(content, encoding="utf-8")

    return text


def test_keys_are_names_of_options(write: Callable[[str], None]) -> None:
    write("""
        labels = ["batch", "donor"]
        output = "map.csv"
        n-iter = 500
        early_exaggeration = 4
        learning-rate = "auto"
        quiet = true
        [beta]
        inDrop = 1e-8
        "CEL-Seq" = 0.01
    """)
    options = parse_options(COMMAND)
    assert options.labels == ["batch", "donor"] and options.output == "map.csv"
    assert (options.n_iter, options.early_exaggeration, options.quiet) == (500, 4.0, True)
    assert options.beta == {"inDrop": 1e-8, "CEL-Seq": 0.01}
    assert options.learning_rate == "auto" and options.perplexity == 30


def test_a_single_value_stands_for_a_list(write: Callable[[str], None]) -> None:
    write('labels = "batch"\noutput = "map.csv"')
    assert parse_options(COMMAND).labels == ["batch"]


def test_the_table_of_the_command_wins_and_the_command_line_over_all(
    write: Callable[[str], None],
) -> None:
    write("""
        output = "map.csv"
        perplexity = 10
        seed = 1
        [embed]
        perplexity = 20
        seed = 2
        [sweep]
        betas = [1, 0.1]
    """)
    options = parse_options([*COMMAND, "--seed", "3"])
    assert (options.perplexity, options.seed) == (20.0, 3)
    assert parse_options(["sweep", "a", "--labels", "b", "--config=options.toml"]).betas == [
        1.0,
        0.1,
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "perplexty = 3",
            "perplexty is not an option of embed; did you mean perplexity?",
        ),
        ("n_itre = 3", "did you mean n-iter?"),
        (
            "betas = [1]",
            "is not an option of embed, but of sweep: move it below a line [sweep]",
        ),
        ("perplexity = 'many'", "perplexity must be a number, got 'many'"),
        ("perplexity = [1, 2]", "perplexity must be one number or text, got [1, 2]"),
        ("seed = 1.5", "seed must be a whole number, got '1.5'"),
        ("quiet = 1", "quiet must be true or false, got 1"),
        ("labels = []", "labels must have at least one value"),
        ("method = 'jiont'", "did you mean joint?"),
        ("embed = 3", "embed is a command, so it must be a table: [embed]"),
        ("config = 'x'", "config is not an option of embed"),
        ("labels = ", "is not valid TOML"),
        ("[beta]\na = 'x'", "beta must be a number, got 'x'"),
        ("beta = [1, 2]", "beta must be one number or text"),
    ],
)
def test_what_no_file_can_say(
    content: str, message: str, write: Callable[[str], None], fail: Callable[..., str]
) -> None:
    write(content)
    assert message in fail(*COMMAND, "-o", "map.csv", code=2)


def test_a_file_that_is_not_there(tmp_path: Path, fail: Callable[..., str]) -> None:
    path = tmp_path / "none.toml"
    error = fail("embed", "cells.csv", "--config", str(path), "-o", "map.csv", code=2)
    assert f"No such file or directory: {path}" in error


def test_a_map_from_a_file_of_options(
    cells: str, write: Callable[[str], None], run: Callable[..., str], quick: list[str]
) -> None:
    run("embed", cells, "--labels", "batch", "-o", "a.csv", *quick)
    pairs = zip(quick[::2], quick[1::2], strict=True)
    lines = [f"{flag.removeprefix('--')} = {value}" for flag, value in pairs]
    write("\n".join(['labels = "batch"', 'output = "b.csv"', *lines]))
    run("embed", cells, "--config", "options.toml")
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    assert Path("a.csv.json").read_bytes() == Path("b.csv.json").read_bytes()


@pytest.mark.parametrize(
    "content",
    [b"a = " + b"[" * 5000, b"a = " + b"1" * 5000, b"\xff", b"a = 1\na = 2", b"[[a]]\n[a]", b"\0"],
)
def test_hostile_toml(content: bytes, tmp_path: Path, fail: Callable[..., str]) -> None:
    path = tmp_path / "hostile.toml"
    path.write_bytes(content)
    error = fail("embed", "cells.csv", "--config", str(path), "-o", "map.csv", code=2)
    assert f"{path} is not valid TOML: " in error


def test_options_from_a_pipe(tmp_path: Path, fail: Callable[..., str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    error = fail("embed", "a.csv", "--config", str(tmp_path / "pipe"), "-o", "map.csv", code=2)
    assert "pipe is a pipe, not a file; save its content to a file first" in error
