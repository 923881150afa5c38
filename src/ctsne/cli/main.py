"""The program ``ctsne``: parse the arguments, run a command, return an exit code."""

from __future__ import annotations

import argparse
import io
import os
import shlex
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module, resources
from typing import Any, NoReturn

from ctsne.cli.console import Console, one_line
from ctsne.cli.options import as_typed, suggested, words_of

# In the order of the help. Each is a module of this package with the texts USAGE and HELP and the
# functions ``add_options`` and ``run``; what --help says above and below its options is in help/.
COMMANDS = (
    *("embed", "transform", "place", "sweep", "report", "evaluate", "plot", "rerun", "cite"),
    *("demo", "info"),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the program's name; by default those of the process.

    Returns
    -------
    int
        0 on success, 1 after an error (one line), 2 for wrong usage, 130 if interrupted.

    Examples
    --------
    >>> from ctsne.cli.main import main
    >>> main(["demo", "--help"])  # doctest: +ELLIPSIS
    usage: ctsne demo ...
    0
    """
    if isinstance(sys.stdout, io.TextIOWrapper):  # names in files may not fit its encoding
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = _run(sys.argv[1:] if argv is None else list(argv))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as head, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _run(arguments: list[str]) -> int:
    try:
        options = parse_options(arguments)
    except SystemExit as stop:
        # argparse exits after --help, --version and wrong usage; a function must return.
        return stop.code if isinstance(stop.code, int) else 0
    as_json = getattr(options, "json", False)
    console = Console(quiet=options.quiet, verbose=options.verbose, as_json=as_json)
    try:
        with console.library():
            import_module(f"ctsne.cli.{options.command}").run(options, console)
    except KeyboardInterrupt as stop:
        console.line(": ".join(["interrupted", *map(str, stop.args)]))
        return 130
    except BrokenPipeError:
        raise
    except Exception as error:
        if _was_interrupted(error):
            console.line("interrupted")
            return 130
        # A user can cause these. Any other error is a bug and keeps its traceback.
        if not isinstance(error, ImportError | MemoryError | OSError | TypeError | ValueError):
            raise
        if options.verbose:
            traceback.print_exc()
        console.error(error if isinstance(error, OSError) else as_typed(one_line(error)))
        return 1
    return 0


def _was_interrupted(error: BaseException | None) -> bool:
    """Tell whether an error was Ctrl-C, which some libraries turn into another while they load."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def parse_options(arguments: list[str]) -> argparse.Namespace:
    """Return the options of a command."""
    parser = make_parser()
    command = next((word for word in arguments if not word.startswith("-")), None)
    if command is not None:
        if command not in COMMANDS:
            hint = suggested(command, COMMANDS) or f"; available: {', '.join(COMMANDS)}"
            parser.error(f"unknown command {command!r}{hint}")
        parser.commands[command].check_names(arguments[arguments.index(command) + 1 :])
    options = parser.parse_args(arguments)
    if numbers := getattr(options, "numbers", None):  # the labels are all that is factored out
        if options.combine:
            parser.commands[options.command].error("--combine joins labels, not --numbers")
        labels = options.labels or []
        options.labels = [*labels, *(name for name in numbers if name not in labels)]
    return options


class Parser(argparse.ArgumentParser):
    """A parser without abbreviations that prints its texts as they are."""

    commands: Mapping[str, Parser] = {}

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Formatter, allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Exit with the usage, the message and a pointer to the help."""
        if "required: INPUT" in message:  # an option with several values has taken it
            message += " (put INPUT first, before options with several values such as --labels)"
        if message.endswith("--labels"):
            message += " (ctsne info INPUT shows the columns that could be labels)"
        self.print_usage(sys.stderr)
        self.exit(2, f"{self.prog}: error: {message}\n(see {self.prog} --help)\n")

    def check_names(self, arguments: Iterable[str]) -> None:
        """Refuse an unknown long option with a suggestion, before argparse reports missing ones."""
        known = [name for name in self._option_string_actions if name.startswith("--")]
        for argument in arguments:
            if argument == "--":
                return
            name = argument.partition("=")[0]
            if name.startswith("--") and name not in known:
                fixed = name == "--numbers" and "--labels" in known
                hint = "; --labels names numbers of a model too" if fixed else ""
                self.error(f"unknown option {name}{hint or suggested(name, known)}")

    def options(self) -> list[argparse.Action]:
        """Return all options with a name, in the order of the help."""
        return [action for action in self._actions if action.option_strings]


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, **{"max_help_position": 26, **options})


def _texts(name: str, measures: str = "") -> dict[str, Any]:
    """Return what the help of a command says above and below its options."""
    text = resources.files("ctsne.cli").joinpath("help", f"{name}.txt").read_text("utf-8")
    above, _, below = text.rstrip().partition("\n---\n")
    return {"description": above, "epilog": below.replace("{measures}", measures)}


@cache
def make_parser() -> Parser:
    """Return the parser of ``ctsne`` with all its commands."""
    from importlib.metadata import version

    parser = Parser(prog="ctsne", usage="ctsne COMMAND [options]", **_texts("ctsne"))
    parser.add_argument("--version", action="version", version=f"ctsne {version('ctsne')}")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", required=True, prog="ctsne"
    )
    for name in COMMANDS:
        module = import_module(f"ctsne.cli.{name}")
        # The last group adds --help, so that the main options come first.
        command: Parser = commands.add_parser(
            name,
            usage=f"ctsne {name} {module.USAGE}",
            help=module.HELP,
            add_help=False,
            **_texts(name, getattr(module, "LISTED", "")),
        )
        module.add_options(command, command.add_argument_group("options"))
    parser.commands = commands.choices
    return parser


def spell_command(
    first: Sequence[str], values: Mapping[str, Any], *, always: Sequence[str] = ()
) -> str:
    """Write a command as one would type it, with options that differ from their default."""
    words, numbers = ["ctsne", *first], values.get("numbers") or ()
    if numbers and first[0] != "transform":  # where labels are all that is factored out
        labels = [name for name in values.get("labels") or () if name not in numbers]
        values = {**values, "labels": labels or None}
    for action in make_parser().commands[first[0]].options():
        value = values.get(action.dest, action.default)
        if value != action.default or action.dest in always:
            words += [action.option_strings[0], *([] if action.nargs == 0 else words_of(value))]
    return shlex.join(words)
