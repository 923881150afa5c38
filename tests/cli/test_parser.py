"""Help that can be read, and names that are suggested."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from ctsne.cli.main import COMMANDS, command_parser, make_parser


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_a_terminal_of_80_columns(
    command: str, run: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = run(*command.split(), "--help")
    assert text.startswith("usage: ctsne") and "examples:" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_in_the_help_can_be_typed(command: str) -> None:
    parser = make_parser()
    text = re.sub(r"\\\n\s+", "", command_parser(command).format_help())
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
        "sweep", "report", "embed", "plot",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["embde", "x.csv"], "unknown command 'embde'; did you mean embed?"),
        (["xyz"], "available: embed, sweep"),
        (["embed", "x.csv", "--lables", "a"], "unknown option --lables; did you mean --labels?"),
        (["embed", "x.csv", "--strenght=1"], "unknown option --strenght; did you mean --strength?"),
        (["embed", "x.csv", "--label", "a"], "did you mean --labels?"),
        (["embed", "x.csv", "--method", "jiont"], "got 'jiont'; did you mean joint?"),
        (["embed", "x.csv", "--init", "pac"], "got 'pac'; did you mean pca?"),
        (["embed", "--labels", "a", "x.csv", "-o", "y.csv"], "INPUT (put INPUT first, before"),
        (["plot", "x", "-o", "a.png", "--kind", "tradeoff"], "did you mean trade-off?"),
    ],
)
def test_a_misspelt_name_suggests_the_right_one(
    arguments: list[str], hint: str, fail: Callable[..., str]
) -> None:
    assert hint in fail(*arguments, code=2)
