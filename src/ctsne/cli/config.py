"""Options from a TOML file; what is given on the command line wins."""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ctsne.cli.parser import COMMANDS, Parser, close_to, command_parser
from ctsne.cli.values import PerLabel, per_label

__all__ = ["apply_config", "config_in", "value_of"]

# They say what to do now, not how.
_NOT_IN_FILES = ("config", "help")


def config_in(arguments: Sequence[str]) -> str | None:
    """Return the file that the arguments name, if any."""
    found = None
    for place, argument in enumerate(arguments):
        if argument == "--":
            break
        if argument == "--config" and place + 1 < len(arguments):
            found = arguments[place + 1]
        elif argument.startswith("--config="):
            found = argument.partition("=")[2]
    return found


def apply_config(parser: Parser, command: str, path: str) -> None:
    """Make what a file says the defaults of a command.

    Keys are long names of options, with dashes or underscores, at the top of the file for any
    command or in a table named after the command; the table wins.

    Raises
    ------
    ValueError
        For a file that is no TOML, a key that is no option, or a value that it cannot have.
    """
    own = command_parser(parser, command)
    try:
        with Path(path).open("rb") as file:
            content = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no TOML file: {error}") from error
    tables = {name: value for name, value in content.items() if name in COMMANDS}
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise ValueError(f"{path}: {name} is a command, so it must be a table: [{name}]")
    given = {name: value for name, value in content.items() if name not in COMMANDS}
    for name, value in (given | tables.get(command, {})).items():
        action = None if name in _NOT_IN_FILES else own.option(name)
        if action is None:
            raise ValueError(f"{path}: {name} {_not_an_option(parser, command, name)}")
        try:
            own.set_defaults(**{action.dest: value_of(action, value)})
        except argparse.ArgumentTypeError as error:
            raise ValueError(f"{path}: {name} {error}") from None
        action.required = False


def _not_an_option(parser: Parser, command: str, name: str) -> str:
    others = [
        other
        for other in COMMANDS
        if other != command and command_parser(parser, other).option(name) is not None
    ]
    if others and name not in _NOT_IN_FILES:
        return (
            f"is no option of {command}, but of {others[0]}: put it under a line [{others[0]}], "
            f"which {command} leaves alone"
        )
    known = [
        flag.removeprefix("--")
        for action in command_parser(parser, command).options()
        for flag in action.option_strings
        if flag.startswith("--") and action.dest not in _NOT_IN_FILES
    ]
    return f"is no option of {command}{close_to(name.replace('_', '-'), known)}"


def value_of(action: argparse.Action, value: Any) -> Any:
    """Return what the option would have if the value stood on the command line."""
    if action.nargs == 0:
        if not isinstance(value, bool):
            raise argparse.ArgumentTypeError(f"must be true or false, got {value!r}")
        return value
    if isinstance(action, PerLabel):
        if isinstance(value, dict):
            return per_label([f"{label}={_text(each)}" for label, each in value.items()])
        return per_label([_text(value)])
    read: Any = action.type or str
    if action.nargs == "+":
        values = value if isinstance(value, list) else [value]
        if not values:
            raise argparse.ArgumentTypeError("must name one at least, got an empty list")
        return [read(_text(each)) for each in values]
    return read(_text(value))


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise argparse.ArgumentTypeError(f"must be one number or text, got {value!r}")
    return str(value)
