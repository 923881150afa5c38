"""The command line: ``ctsne <command>``.

Every command has one function that adds its options and one that runs it, listed in
``_COMMANDS``. Results go to standard output, progress and errors to standard error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["main"]

OK, FAILED, INTERRUPTED = 0, 1, 130

_DESCRIPTION = """\
Draw maps of high-dimensional data without what you already know about it.

Give ctsne a label you know (batch, donor, technology, last week's clusters): it is taken
out of the map, so that what you do not know yet can be seen."""

_EPILOG = """\
examples:
  ctsne demo              six maps of made-up data, a table and a picture
  ctsne demo --help       what the demo's options mean

In Python: from ctsne import ConditionalTSNE"""

_DEMO_DESCRIPTION = """\
Compute six maps of the same made-up data and compare them. No files are needed.

The data have two labels. The known one (blue, orange) is strong and is factored out; the
hidden one (circle, triangle, square) is what the map should show. t-SNE shows six clusters,
one for each colour and shape. The original conditional t-SNE, started at random, merges
shapes by chance: about every second seed shows wrong merges, the default one does. The
revised, balanced and joint methods show the three shapes with the colours mixed."""

_DEMO_EPILOG = """\
the table:
  R_NX              neighbours kept, adjusted for the label: 0 random map, 1 perfect map
  Laplacian known   neighbours of another colour: high is good, "random labels" is full mixing
  Laplacian hidden  neighbours of another shape: low is good
  perplexity        effective number of neighbours of a point, mean
  s                 seconds

examples:
  ctsne demo                         picture in ctsne-demo.png
  ctsne demo --output maps.pdf       another place and format (png, pdf, svg)
  ctsne demo --seed 7 --jobs 2       other random data, two threads

The picture needs matplotlib (pip install "ctsne[plot]")."""


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
    try:
        arguments = _parser().parse_args(argv)
    except SystemExit as stop:
        # argparse ends the process after --help, --version and wrong usage; a function returns.
        return stop.code if isinstance(stop.code, int) else OK
    run: Callable[[argparse.Namespace], int] = arguments.run
    try:
        return run(arguments)
    except KeyboardInterrupt:
        _say("interrupted")
        return INTERRUPTED
    except (ImportError, MemoryError, OSError, ValueError) as error:
        # What a user can run into. Anything else is a bug of ours and keeps its traceback.
        _say(f"error: {' '.join(str(error).split()) or type(error).__name__}")
        return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ctsne",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"ctsne {version('ctsne')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in _COMMANDS:
        add(commands)
    return parser


def _add_demo(commands: Commands) -> None:
    parser = commands.add_parser(
        "demo",
        help="compare all methods on made-up data: a table and a picture",
        description=_DEMO_DESCRIPTION,
        epilog=_DEMO_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        default="ctsne-demo.png",
        help="where the picture goes; replaced if it exists (default: %(default)s)",
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=_seed,
        default=2,
        help="seed of the data and of the maps (default: %(default)s)",
    )
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=_jobs,
        default=-1,
        help="threads; -1 for all (default: %(default)s)",
    )
    parser.set_defaults(run=_run_demo)


def _run_demo(arguments: argparse.Namespace) -> int:
    # Imported here, so that help and version answer at once.
    from ctsne import demo, demo_picture

    # A picture that cannot be written is told before the computing, not after.
    demo_picture.check_picture_path(arguments.output)
    result = demo.run(random_state=arguments.seed, n_jobs=arguments.jobs, progress=_say)
    print(demo.format_table(result))
    path = demo_picture.save_picture(result, arguments.output)
    print(f"\npicture: {path}")
    return OK


_COMMANDS: tuple[Callable[[Commands], None], ...] = (_add_demo,)


def _seed(text: str) -> int:
    value = _whole(text)
    if not 0 <= value < 2**32:
        raise argparse.ArgumentTypeError(f"must be from 0 to {2**32 - 1}, got {text}")
    return value


def _jobs(text: str) -> int:
    value = _whole(text)
    if value < -1 or value == 0:
        raise argparse.ArgumentTypeError(f"must be 1 or more, or -1 for all, got {text}")
    return value


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}") from None


def _say(line: str) -> None:
    print(f"ctsne: {line}", file=sys.stderr, flush=True)
