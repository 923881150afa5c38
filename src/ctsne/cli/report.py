"""``ctsne report``: the page to decide by."""

from __future__ import annotations

import argparse
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne.cli.console import Console
from ctsne.cli.folders import check_folder, files_of, read_folder, write_folder
from ctsne.cli.inputs import check_outputs, joint_name, names_of_files
from ctsne.cli.options import add_messages
from ctsne.cli.parser import Commands, add_command, command_parser, make_parser
from ctsne.cli.sweep import (
    add_sweep_options,
    check_target,
    embed_command,
    run_sweep,
    suggestion,
)

if TYPE_CHECKING:
    from ctsne._io import Provenance
    from ctsne.sweep import SweepResult, SweptMap

__all__ = ["add", "make", "run"]

_DESCRIPTION = """\
Write an interactive page for choosing a strength and for showing the result:
all maps of a sweep, linked, with their measures. It is one file that opens in
any browser, offline.

Given the folder of a ctsne sweep, it is written at once. Given data, the sweep
is run first: one command from a file to a page."""

_EPILOG = """\
the page:
  Move the slider over the strengths; colour by any column; mark points with the
  lasso to see them in all maps. The settings are at its end: ctsne rerun
  page.html makes it again.

examples:
  ctsne report sweep -o page.html
  ctsne report cells.csv --labels batch --other celltype -o page.html
  ctsne report cells.h5ad --labels batch --keep sweep -o page.html

Needs bokeh (pip install "ctsne[report]")."""


# Options that are of use with a finished sweep too.
_ALWAYS = ("output", "title", "config", "json", "quiet", "verbose", "help")


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = add_command(
        commands, "report", usage="SWEEP -o PAGE.html\n       ctsne report INPUT --labels COLUMN "
        "[COLUMN ...] -o PAGE.html [options]",
        description=_DESCRIPTION, epilog=_EPILOG, run=run,
        help="write an interactive page: the maps of a sweep, linked",
    )  # fmt: skip
    main = parser.add_argument_group("options")
    main.add_argument(
        "input", metavar="SWEEP_OR_INPUT", help="the folder of a sweep, or a file with data"
    )
    main.add_argument(
        "-o", "--output", metavar="PAGE", required=True,
        help="the page to write, an html file; replaced if it exists",
    )  # fmt: skip
    main.add_argument("--title", metavar="TEXT", help="what stands at the top of the page")
    main.add_argument(
        "--labels", metavar="COLUMN", nargs="+",
        help="for data: the column, or columns, to factor out",
    )  # fmt: skip
    main.add_argument(
        "--keep", metavar="FOLDER", help="for data: keep the sweep there, to go on with it later"
    )
    add_sweep_options(parser, main)
    add_messages(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Write the page."""
    make(options, console)


def make(options: argparse.Namespace, console: Console, *, expect: str | None = None) -> None:
    """Write the page; ``expect`` is the checksum that the data must have."""
    from ctsne._io import check_output

    target = check_output(options.output, (".html",))
    source = Path(options.input)
    check_outputs([target], options)
    if source.is_dir():
        best = _page_of_folder(source, target, options, console)
    else:
        best = _page_of_data(target, options, console, expect)
    size = target.stat().st_size
    content = {
        "command": "report",
        "output": options.output,
        "bytes": size,
        "suggested": None if best is None else best.parameters,
        "seconds": round(console.seconds, 3),
    }
    lines = [f"page: {options.output} ({size / 1e6:.1f} MB); open it in a browser"]
    if best is not None:
        lines.append(f"suggested: {best.title} (see ctsne sweep --help for the rule)")
    console.result("\n".join(lines), content)


def _page_of_folder(
    source: Path, target: Path, options: argparse.Namespace, console: Console
) -> SweptMap | None:
    _check_settled(source, options)
    sweep = read_folder(source)
    _write(
        sweep.result, sweep.columns, sweep.names, sweep.provenance, target, options, console,
        made_at=source,
    )  # fmt: skip
    return suggestion(sweep.result, sweep.provenance.settings["mixing"]).map


def _check_settled(source: Path, options: argparse.Namespace) -> None:
    """Refuse options that have no say any more once there is a sweep."""
    own = command_parser(make_parser(), "report")
    given = [
        action.option_strings[-1]
        for action in own.options()
        if action.dest not in _ALWAYS and getattr(options, action.dest, None) != action.default
    ]
    if given:
        raise ValueError(
            f"{', '.join(given)}: only for data; the sweep in {source} has its settings already. "
            "Make another one with ctsne sweep, or name the data instead of the folder"
        )


def _page_of_data(
    target: Path, options: argparse.Namespace, console: Console, expect: str | None
) -> SweptMap | None:
    from ctsne._io import check_input

    check_input(options.input)
    check_target(options)
    if not options.labels:
        raise ValueError(
            f"--labels COLUMN is missing: it says what to factor out of {options.input}, and is "
            "required unless SWEEP is the folder of a sweep"
        )
    if options.dimensions > 2:
        raise ValueError(
            f"--dimensions {options.dimensions}: a page shows flat maps only; leave it out"
        )
    if options.keep is not None:
        check_folder(Path(options.keep))
        check_outputs(files_of(Path(options.keep)), options)
    with tempfile.TemporaryDirectory(prefix="ctsne-") as temporary:
        folder = Path(options.keep or temporary)
        try:
            result, data, provenance = run_sweep(options, console, folder, expect=expect)
        except KeyboardInterrupt:
            if options.keep is not None:
                raise
            raise KeyboardInterrupt(
                "nothing was written; with --keep FOLDER finished maps are kept to go on from"
            ) from None
        columns, names = data.columns(), data.dataset.names
        if options.keep is not None:
            write_folder(folder, result, columns, names, provenance)
        _write(result, columns, names, provenance, target, options, console, made_at=folder)
    return suggestion(result, options.mixing).map


def _write(
    result: SweepResult,
    columns: dict[str, Any],
    names: Any,
    provenance: Provenance,
    target: Path,
    options: argparse.Namespace,
    console: Console,
    *,
    made_at: Path,
) -> None:
    from ctsne.report import write_report

    console.stage(f"writing {target}")
    settings = {"title": None} | provenance.settings | {"title": options.title}
    inputs = [
        replace(record, file=_seen_from(target, made_at, record.file))
        for record in provenance.inputs
    ]
    made = replace(provenance, command="report", settings=settings, inputs=inputs)
    write_report(
        result, target, columns=columns, known=joint_name(settings["labels"]),
        other=settings["other"], mixing=settings["mixing"], names=names, title=options.title,
        commands=_commands(result, made), provenance=made.to_dict(),
    )  # fmt: skip


def _commands(result: SweepResult, made: Provenance) -> list[str]:
    """Write the command for each map, with its files as seen from the page's folder."""
    file, *more = (record.file for record in made.inputs)
    settings = made.settings | dict(zip(names_of_files(made.settings), more, strict=True))
    commands = [embed_command(swept, file, settings) for swept in result.maps]
    if made.settings["path"]:
        return [f"{each}  # from its own start, so it may differ" for each in commands]
    return commands


def _seen_from(target: Path, made_at: Path, file: str) -> str:
    """Return a path as seen from the page's folder, given as seen from beside the sweep's."""
    absolute = os.path.normpath(made_at.resolve().parent / file)
    return Path(os.path.relpath(absolute, target.resolve().parent)).as_posix()
