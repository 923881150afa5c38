"""``ctsne report``: write an interactive page for choosing a map."""

import os
import tempfile
from argparse import Namespace
from pathlib import Path
from typing import Any

from ctsne._core.files import check_space
from ctsne._core.messages import size_text
from ctsne.cli import sweep as sweeps
from ctsne.cli.console import Console
from ctsne.cli.files import check_not_inputs, check_replaced, features_lines, with_colors
from ctsne.cli.info import missing_labels
from ctsne.cli.main import Parser, make_parser, spell_command
from ctsne.cli.options import add_force, add_labels, add_messages, add_palette, option

# Of a page without maps: what draws them.
_SMALLEST_PAGE = 10**5

USAGE = """\
SWEEP -o PAGE.html
       ctsne report INPUT --labels COLUMN [COLUMN ...] -o PAGE.html [options]"""
HELP = "write an interactive page with the maps of a sweep"
# Options that also apply to a finished sweep.
_ALWAYS = ("output", "force", "palette", "title", "json", "quiet", "verbose", "help")


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    option(main, "SWEEP_OR_INPUT", "folder of a sweep, or file with the data")
    add_labels(main)
    option(main, "-o --output PAGE", "html file to write", required=True)
    add_force(main)
    option(main, "--title TEXT", "title of the page")
    add_palette(main)
    option(main, "--keep FOLDER", "for data: keep the sweep in this folder, for later use")
    sweeps.add_sweep_options(parser, main)
    add_messages(parser)


def run(options: Namespace, console: Console) -> None:
    """Write the page."""
    from ctsne.io import check_output

    target = check_output(options.output, (".html",))
    check_replaced([target], options)
    check_space(target, _SMALLEST_PAGE)
    page = _page_of_folder if Path(options.input).is_dir() else _page_of_data
    sweep = page(target, options, console)
    result = sweep.result
    size = target.stat().st_size
    lines, facts = sweeps.findings(sweep, _data_file(sweep, options))
    best = facts["suggested"]
    content = {
        "command": "report",
        "output": options.output,
        "bytes": size,
        "points": sweeps.n_points(result),
        "features": list(sweep.features),
        "suggested": None if best is None else best["parameters"],
        "embed": None if best is None else best["command"],
        "reason": facts["reason"],
    }
    made = f"{len(result.maps)} maps of {sweeps.n_points(result):,} points, {size_text(size)}"
    lines += ["", f"page: {options.output} ({made}); open it in a browser"]
    lines += features_lines(sweep.features)
    console.result("\n".join(lines), content)


def _data_file(sweep: sweeps.SweepFolder, options: Namespace) -> str:
    source = Path(options.input)
    if not source.is_dir():
        return str(options.input)
    return os.path.relpath(source.resolve().parent / sweep.record.inputs[0].file)


def _page_of_folder(target: Path, options: Namespace, console: Console) -> sweeps.SweepFolder:
    source = Path(options.input)
    given = [
        action.option_strings[-1]
        for action in make_parser().commands["report"].options()
        if action.dest not in _ALWAYS and getattr(options, action.dest, None) != action.default
    ]
    if given:
        has = "has" if len(given) == 1 else "have"
        raise ValueError(
            f"{', '.join(given)} {has} no effect on a finished sweep, {source}. "
            "Run ctsne sweep again, or give the data file instead of the folder"
        )
    sweep = sweeps.read_folder(source)
    _write(sweep, source, target, options, console)
    return sweep


def _page_of_data(target: Path, options: Namespace, console: Console) -> sweeps.SweepFolder:
    from ctsne.io import check_input

    check_input(options.input)
    if not options.labels:
        raise ValueError(missing_labels(options))
    if options.dimensions > 2:
        raise ValueError("a page can only show maps of one or two dimensions: --dimensions 2")
    if options.keep is not None:
        sweeps.check_folder(Path(options.keep))
        check_not_inputs(sweeps.files_of(Path(options.keep)), options)
    with tempfile.TemporaryDirectory(prefix="ctsne-") as temporary:
        folder = Path(options.keep or temporary)
        try:
            sweep = sweeps.run_sweep(options, console, folder)
        except KeyboardInterrupt as stop:
            if options.keep is None:
                stop.args = ("nothing was written; --keep FOLDER would keep finished maps",)
            raise
        if options.keep is not None:
            sweeps.write_folder(folder, sweep)
        _write(sweep, folder, target, options, console)
        return sweep


def _write(
    sweep: sweeps.SweepFolder, folder: Path, target: Path, options: Namespace, console: Console
) -> None:
    from ctsne.cli.rerun import FILES
    from ctsne.report import write_report
    from ctsne.storage.record import relative_path

    console.stage(f"writing {target}")
    made = sweep.record.to_dict()
    for file in made["inputs"]:  # relative to the page, not to the folder
        file["file"] = relative_path(folder.resolve().parent / file["file"], target)
    data, *more = made["inputs"]
    given = {**sweep.settings, **{FILES[file["role"]]: file["file"] for file in more}}
    made["command"] = spell_command(["report", options.input], vars(options))
    maps = sweep.result.maps
    shown = [*sweep.labels, *(given["other"] or ())]
    colored = with_colors({name: sweep.columns[name] for name in shown}, options.palette)
    write_report(
        sweep.result,
        target,
        columns=sweep.columns | colored,
        known=sweep.labels,
        other=given["other"],
        mixing=given["mixing"],
        names=sweep.names,
        title=options.title,
        features=sweep.features,
        neighbors=sweep.neighbors,
        commands=[sweeps.embed_command(swept, data["file"], given) for swept in maps],
        provenance=made,
    )
