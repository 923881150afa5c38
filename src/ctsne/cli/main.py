"""``ctsne``: reads the arguments, runs a command, and turns its end into an exit code."""

from __future__ import annotations

import argparse
import io
import os
import sys
import traceback
from collections.abc import Sequence

from ctsne.cli.config import apply_config, config_in
from ctsne.cli.console import Console
from ctsne.cli.parser import check_command, command_parser, make_parser

__all__ = ["main"]

OK, FAILED, INTERRUPTED = 0, 1, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the program's name; those of the process unless given.

    Returns
    -------
    int
        0 when all went well, 1 after an error (told in one line), 2 for wrong usage, 130 when
        interrupted.

    Examples
    --------
    >>> from ctsne.cli import main
    >>> main(["demo", "--help"])  # doctest: +ELLIPSIS
    usage: ctsne demo ...
    0
    """
    if isinstance(sys.stdout, io.TextIOWrapper):  # names in files may hold what it cannot write
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = _main(sys.argv[1:] if argv is None else list(argv))
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    return code


def _main(arguments: list[str]) -> int:
    try:
        options = _options(arguments)
    except SystemExit as stop:
        # argparse ends the process after --help, --version and wrong usage; a function returns.
        return stop.code if isinstance(stop.code, int) else OK
    console = Console(
        quiet=options.quiet, verbose=options.verbose, as_json=getattr(options, "json", False)
    )
    try:
        with console.library():
            options.run(options, console)
    except KeyboardInterrupt as stop:
        console.interrupted(str(stop))
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except (ImportError, MemoryError, OSError, TypeError, ValueError) as error:
        # What a user can run into. Anything else is a bug of ours and keeps its traceback.
        if options.verbose:
            traceback.print_exc()
        console.error(_words(error))
        return FAILED
    return OK


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = make_parser()
    command = check_command(parser, arguments)
    if command is not None:
        own = command_parser(parser, command)
        own.check_names(arguments[arguments.index(command) + 1 :])
        config = config_in(arguments)
        if config is not None:
            try:
                apply_config(parser, command, config)
            except (OSError, ValueError) as error:
                own.error(str(_words(error)))
    return parser.parse_args(arguments)


def _words(error: BaseException) -> object:
    """Say what went wrong with a file without the system's number for it."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.strerror}: {error.filename}"
    return str(error) or error
