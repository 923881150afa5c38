"""Write the reference of the command line from its parser."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from ctsne.cli.main import make_parser

_WIDTH = 88


def write(folder: Path) -> None:
    """Write ``commands.md`` to a folder."""
    (folder / "commands.md").write_text(page(make_parser()), encoding="utf-8")


def page(parser: argparse.ArgumentParser) -> str:
    """Describe a parser and its commands."""
    parts = ["# Command line", *_body(parser)]
    for name, command in subcommands(parser).items():
        parts += [f"({command.prog.replace(' ', '-')})=", f"## {parser.prog} {name}"]
        parts += _body(command)
    return "\n\n".join(parts) + "\n"


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the commands of a parser by name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _body(parser: argparse.ArgumentParser) -> list[str]:
    parser.formatter_class = _wide(parser.formatter_class)
    usage = parser.format_usage().removeprefix("usage: ").rstrip()
    parts = [_text(parser.description or ""), f"```text\n{usage}\n```"]
    for group in parser._action_groups:
        rows = [row for action in group._group_actions for row in _rows(parser, action)]
        if rows:
            title = (group.title or "").capitalize()
            head = f"| {'command' if title == 'Commands' else 'option'} | |\n| --- | --- |"
            parts += [f"**{title}**", *filter(None, [_text(group.description or "")])]
            parts += ["\n".join([head, *rows])]
    return [*parts, *_epilog(parser.epilog or "")]


def _wide(formatter: Any) -> type[argparse.HelpFormatter]:
    """Make a formatter that ignores the width of the terminal."""

    class Wide(formatter):  # type: ignore[misc]
        def __init__(self, prog: str) -> None:
            super().__init__(prog, width=_WIDTH)

    return Wide


def _rows(parser: argparse.ArgumentParser, action: argparse.Action) -> list[str]:
    """Return the table rows of an option, an argument or the list of commands."""
    if isinstance(action, argparse._SubParsersAction):
        return [
            f"| [`{choice.dest}`](#{parser.prog}-{choice.dest}) | {_cell(choice.help or '')} |"
            for choice in action._choices_actions
        ]
    if action.help == argparse.SUPPRESS:
        return []
    formatter = parser._get_formatter()
    shown = formatter._format_action_invocation(action).replace("|", "\\|")
    return [f"| `{shown}` | {_cell(formatter._expand_help(action) if action.help else '')} |"]


def _cell(text: str) -> str:
    return _escaped(" ".join(text.split())).replace("|", "\\|")


def _text(text: str) -> str:
    """Escape paragraphs; keep indented lines as preformatted text."""
    blocks = re.split(r"\n\s*\n", text.strip("\n"))
    return "\n\n".join(
        f"```text\n{block}\n```" if block.startswith(" ") else _escaped(block) for block in blocks
    )


def _epilog(text: str) -> list[str]:
    """Turn ``examples:`` with indented lines into a headed block, the rest into text."""
    parts = []
    for block in filter(None, re.split(r"\n\s*\n", text.strip("\n"))):
        head, _, rest = block.partition("\n")
        if head.endswith(":") and rest.startswith(" "):
            lines = [line.removeprefix("  ") for line in rest.splitlines()]
            parts += [f"**{head.removesuffix(':').capitalize()}**"]
            parts += ["```text\n" + "\n".join(lines) + "\n```"]
        else:
            parts += [_text(block)]
    return parts


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_<>\[\]$#{}~])", r"\\\1", text)
