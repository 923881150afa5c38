"""The parser of all commands: usage in one line, and the right name for a misspelt one."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, NoReturn, TypeAlias

__all__ = ["COMMANDS", "Commands", "Parser", "add_command", "close_to", "make_parser"]

Commands: TypeAlias = "argparse._SubParsersAction[Parser]"

# Each is a module of this package with a function ``add``; in the order of the help.
COMMANDS = ("embed", "sweep", "report", "evaluate", "plot", "rerun", "demo", "info")

_DESCRIPTION = """\
Draw maps of high-dimensional data without what you already know about it.

Give ctsne a label you know (batch, donor, technology, last week's clusters):
it is taken out of the map, so that what you do not know yet can be seen."""

_EPILOG = """\
from a file to a decision:
  ctsne sweep data.csv --labels batch -o sweep    maps at many strengths
  ctsne report sweep -o page.html                 look at them, choose one
  ctsne embed data.csv --labels batch --method joint --strength 0.6 -o map.csv
  ctsne plot map.csv --color celltype -o map.png

examples:
  ctsne demo              six maps of made-up data: a table and a picture
  ctsne embed --help      what a command does, its options and its output

Files: csv, tsv (also .gz), parquet, feather, npy, npz and h5ad (AnnData).
In Python: from ctsne import ConditionalTSNE"""


class Parser(argparse.ArgumentParser):
    """A parser without abbreviations, whose texts are shown as they are written."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", _Formatter)
        options.setdefault("allow_abbrev", False)
        super().__init__(**options)

    def error(self, message: str) -> NoReturn:
        """End with the usage, the message and where to read more."""
        if "required: INPUT" in message:  # options with several values take what follows them
            message += " (it stands first, before options with several values such as --labels)"
        self.print_usage(sys.stderr)
        self.exit(2, f"{self.prog}: error: {message}\n({self.prog} --help explains it all)\n")

    def check_names(self, arguments: Iterable[str]) -> None:
        """Refuse an unknown long option with the one that may have been meant.

        argparse would name what is missing first, which a misspelt option also is.
        """
        known = [name for name in self._option_string_actions if name.startswith("--")]
        for argument in arguments:
            if argument == "--":
                return
            name = argument.partition("=")[0]
            if name.startswith("--") and name not in known:
                self.error(f"unknown option {name}{close_to(name, known)}")

    def option(self, name: str) -> argparse.Action | None:
        """Return what a long option stands for, by its name with dashes or underscores."""
        return self._option_string_actions.get(f"--{name.replace('_', '-')}")

    def options(self) -> list[argparse.Action]:
        """Return all that can be given with a name, in the order of the help."""
        return [action for action in self._actions if action.option_strings]


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str, **options: Any) -> None:
        options.setdefault("max_help_position", 26)
        super().__init__(prog, **options)


def make_parser() -> Parser:
    """Make the parser of ``ctsne`` with all its commands.

    Examples
    --------
    >>> from ctsne.cli.parser import make_parser
    >>> make_parser().parse_args(["info", "--json"]).json
    True
    """
    from importlib.metadata import version

    parser = Parser(
        prog="ctsne",
        usage="ctsne COMMAND [options]",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action="version", version=f"ctsne {version('ctsne')}")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", required=True, prog="ctsne"
    )
    for name in COMMANDS:
        import_module(f"ctsne.cli.{name}").add(commands)
    return parser


def command_parser(parser: Parser, name: str) -> Parser:
    """Return the parser of one command."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found: Parser = action.choices[name]
            return found
    raise KeyError(name)


def add_command(
    commands: Commands, name: str, *, usage: str, help: str, description: str, epilog: str, run: Any
) -> Parser:
    """Add a command; its ``--help`` comes with the last group, so that the main ones are first."""
    parser: Parser = commands.add_parser(
        name,
        usage=f"ctsne {name} {usage}".rstrip(),
        help=help,
        description=description,
        epilog=epilog,
        add_help=False,
    )
    parser.set_defaults(run=run)
    return parser


def check_command(parser: Parser, arguments: Sequence[str]) -> str | None:
    """Return the command asked for, or refuse an unknown one with what may have been meant."""
    for argument in arguments:
        if argument in COMMANDS:
            return argument
        if not argument.startswith("-"):
            hint = close_to(argument, COMMANDS) or f"; there are {', '.join(COMMANDS)}"
            parser.error(f"unknown command {argument!r}{hint}")
    return None


def close_to(name: str, known: Iterable[str]) -> str:
    """Say which known name is close to an unknown one, if any is."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""
