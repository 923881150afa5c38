"""Values of options, read from the command line or from a TOML file."""

from __future__ import annotations

import argparse
import contextlib
import math
import tomllib
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne._core.guards import read_text, reading
from ctsne._core.messages import closest

if TYPE_CHECKING:
    from ctsne.cli.main import Parser

# These options only make sense on the command line.
_NOT_IN_FILES = ("config", "help")


def suggested(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean ...?"`` with a word to type as it is, or nothing."""
    close = closest(name, known)
    return f"; did you mean {close[0]}?" if close else ""


def number(text: str) -> float:
    """Read a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ArgumentTypeError(f"must be a number, got {text!r}")
    return value


def whole(text: str) -> int:
    """Read an integer."""
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"must be a whole number, got {text!r}") from None


def seed(text: str) -> int:
    """Read a seed."""
    if not 0 <= whole(text) < 2**32:
        raise ArgumentTypeError(f"must be from 0 to {2**32 - 1}, got {text}")
    return int(text)


def jobs(text: str) -> int:
    """Read a number of threads."""
    if whole(text) < -1 or whole(text) == 0:
        raise ArgumentTypeError(f"must be 1 or more, or -1 for all, got {text}")
    return int(text)


def npy(text: str) -> str:
    """Read the name of a .npy file."""
    if not text.endswith(".npy"):
        raise ArgumentTypeError(f"must be a .npy file, got {text!r}")
    return text


def one_of(*words: str, read: Callable[[str], Any] | None = None, or_: str = "") -> Any:
    """Return a reader that accepts one of several words, or what ``read`` accepts."""
    expected = ", ".join([*words, f"or {or_}"] if or_ else words)

    def value(text: str) -> Any:
        if text in words:
            return text
        with contextlib.suppress(ArgumentTypeError):
            if read is not None:
                return read(text)
        hint = suggested(text, words)
        raise ArgumentTypeError(f"must be one of {expected}; got {text!r}{hint}")

    return value


def per_label(texts: Sequence[str]) -> float | dict[str, float]:
    """Read one number for all labels, or ``label=number`` for each label."""
    if len(texts) == 1 and "=" not in texts[0]:
        return number(texts[0])
    values: dict[str, float] = {}
    for text in texts:
        label, _, value = text.rpartition("=")
        if not label:
            what = "must be one number, or name=number for each label or column"
            raise ArgumentTypeError(f"{what}, got {' '.join(texts)!r}")
        if label in values:
            raise ArgumentTypeError(f"names the label {label!r} twice")
        values[label] = number(value)
    return values


def per_column(texts: Sequence[str]) -> list[float] | dict[str, list[float]]:
    """Read numbers for all label columns, or ``column=number,number`` for each column."""
    if not any("=" in text for text in texts):
        return [number(text) for text in texts]
    values: dict[str, list[float]] = {}
    for text in texts:
        column, _, numbers = text.rpartition("=")
        if not column:
            raise ArgumentTypeError(f"must be numbers, or column=number,... each, got {text!r}")
        if column in values:
            raise ArgumentTypeError(f"names the column {column!r} twice")
        values[column] = [number(each) for each in numbers.split(",")]
    return values


class Texts(argparse.Action):
    """Store what is read from all texts after an option together."""

    read: Callable[[Sequence[str]], Any]

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        """Read the texts after the option."""
        try:
            setattr(namespace, self.dest, self.read(values))
        except ArgumentTypeError as error:
            raise argparse.ArgumentError(self, str(error)) from None


class PerLabel(Texts):
    """Store one number, or one for each label or label column."""

    read = staticmethod(per_label)


class PerColumn(Texts):
    """Store numbers to try, for all label columns together or for each."""

    read = staticmethod(per_column)


def apply_config(commands: Mapping[str, Parser], command: str, arguments: Sequence[str]) -> None:
    """Use the values in the file named by ``--config``, if any, as the defaults of a command.

    Those at the top are for all commands; a table named after a command takes precedence.
    """
    path = _config_in(arguments)
    if path is None:
        return
    with reading(path, "valid TOML"):
        content = tomllib.loads(read_text(Path(path), "valid TOML"))
    tables = {name: content.pop(name) for name in commands if name in content}
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise ValueError(f"{path}: {name} is a command, so it must be a table: [{name}]")
    own = commands[command]
    for name, value in (content | tables.get(command, {})).items():
        action = None if name in _NOT_IN_FILES else own.option(name)
        if action is None:
            raise ValueError(f"{path}: {name} {_not_an_option(commands, command, name)}")
        try:
            own.set_defaults(**{action.dest: value_of(action, value)})
        except ArgumentTypeError as error:
            raise ValueError(f"{path}: {name} {error}") from None
        action.required = False


def _config_in(arguments: Sequence[str]) -> str | None:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--config")
    try:
        found: str | None = parser.parse_known_args(arguments)[0].config
    except argparse.ArgumentError:  # without a file name, which the command itself reports
        return None
    return found


def _not_an_option(commands: Mapping[str, Parser], command: str, name: str) -> str:
    others = [each for each, parser in commands.items() if parser.option(name) is not None]
    if others and name not in _NOT_IN_FILES:
        other = others[0]
        return f"is not an option of {command}, but of {other}: move it below a line [{other}]"
    names = [action.option_strings[-1].removeprefix("--") for action in commands[command].options()]
    known = [each for each in names if each not in _NOT_IN_FILES]
    return f"is not an option of {command}{suggested(name.replace('_', '-'), known)}"


def value_of(action: argparse.Action, value: Any) -> Any:
    """Return the value an option would have if it were given on the command line."""
    if action.nargs == 0:
        if not isinstance(value, bool):
            raise ArgumentTypeError(f"must be true or false, got {value!r}")
        return value
    if isinstance(action, PerLabel):
        if isinstance(value, dict):
            return per_label([f"{label}={_text(each)}" for label, each in value.items()])
        return per_label([_text(value)])
    if isinstance(action, PerColumn) and isinstance(value, dict):
        return per_column([f"{column}={_listed(each)}" for column, each in value.items()])
    read: Any = action.type or (number if isinstance(action, PerColumn) else str)
    if action.nargs != "+":
        return read(_text(value))
    values = value if isinstance(value, list) else [value]
    if not values:
        raise ArgumentTypeError("must have at least one value, got an empty list")
    return [read(_text(each)) for each in values]


def _listed(values: Any) -> str:
    return ",".join(map(_text, values if isinstance(values, list) else [values]))


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ArgumentTypeError(f"must be one number or text, got {value!r}")
    return str(value)
