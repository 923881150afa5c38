"""``ctsne plot``: pictures of a map or of a sweep."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ctsne.cli.console import Console
from ctsne.cli.folders import read_folder
from ctsne.cli.inputs import check_outputs, joint_name
from ctsne.cli.options import add_messages
from ctsne.cli.parser import Commands, add_command
from ctsne.cli.pictures import draw_map, draw_sweep, save_picture
from ctsne.cli.values import one_of

__all__ = ["add", "make", "run"]

_DESCRIPTION = """\
Draw a map that ctsne embed has made, or the maps and measures of a sweep."""

_EPILOG = """\
the picture:
  Of a map: one panel for each --color; without, the label factored out. Text
  and whole numbers are labels, other numbers make a colour bar. The diagnostics
  can be shown too: --color ctsne_largest_weight.
  Of a sweep, by --kind: maps (default) draws all of them; measures draws mixing
  and neighbours kept over the strength; trade-off draws one against the other.

examples:
  ctsne plot map.csv -o map.png
  ctsne plot map.csv --color batch celltype -o map.pdf
  ctsne plot cells.h5ad --color celltype --shape batch -o map.svg
  ctsne plot sweep -o maps.png
  ctsne plot sweep --kind trade-off -o trade-off.png

Needs matplotlib (pip install "ctsne[plot]")."""

_KINDS = ("maps", "measures", "trade-off")


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = add_command(
        commands, "plot", usage="MAP_OR_SWEEP -o FILE [options]", description=_DESCRIPTION,
        epilog=_EPILOG, run=run, help="draw a map, or the maps and measures of a sweep",
    )  # fmt: skip
    main = parser.add_argument_group("options")
    main.add_argument(
        "input", metavar="MAP_OR_SWEEP",
        help="a file that ctsne embed has written, or the folder of a ctsne sweep",
    )  # fmt: skip
    main.add_argument(
        "-o", "--output", metavar="FILE", required=True,
        help="the picture: a png, pdf or svg file; replaced if it exists",
    )  # fmt: skip
    main.add_argument(
        "--color", metavar="COLUMN", nargs="+",
        help="columns to colour by, a panel each (default: the label factored out)",
    )  # fmt: skip
    main.add_argument(
        "--shape", metavar="COLUMN", help="a column with at most ten labels to shape dots by"
    )
    main.add_argument(
        "--kind", metavar="KIND", type=one_of(*_KINDS), default="maps",
        help="of a sweep: maps, measures or trade-off (default: maps)",
    )  # fmt: skip
    main.add_argument(
        "--key", metavar="KEY", default="ctsne", help="h5ad: the name of the map (default: ctsne)"
    )
    add_messages(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Draw the picture."""
    make(options, console)


def make(options: argparse.Namespace, console: Console, *, expect: str | None = None) -> None:
    """Draw the picture; ``expect`` is for commands that read data."""
    from ctsne._io import PICTURE_SUFFIXES, check_output

    target = check_output(options.output, PICTURE_SUFFIXES)
    source = Path(options.input)
    check_outputs([target], options)
    console.stage(f"drawing {target}")
    figure = (
        _sweep_figure(source, options) if source.is_dir() else _map_figure(source, options, console)
    )
    settings = save_picture(
        figure, target, source, color=options.color, shape=options.shape, kind=options.kind,
        key=options.key,
    )  # fmt: skip
    content = {
        "command": "plot",
        "output": options.output,
        "settings": settings,
        "seconds": round(console.seconds, 3),
    }
    console.result(f"picture: {options.output}", content)


def _map_figure(source: Path, options: argparse.Namespace, console: Console) -> Any:
    from ctsne._io import read_map

    if options.kind != "maps":
        raise ValueError(f"--kind {options.kind} is for the folder of a sweep; {source} is a map")
    made = read_map(source, key=options.key)
    settings = {} if made.provenance is None else made.provenance.settings
    labels = list(settings.get("labels") or ())
    columns = with_combination(made.columns, labels)
    known = joint_name(labels)
    if labels and not options.color and known not in columns:  # positions alone, or another name
        console.say(f"{source} has no column {known!r:.60} to colour by; --color names another")
    colors = options.color or [name for name in [known] if name in columns]
    shown = {name: pick(columns, name, source) for name in colors}
    shape = None if options.shape is None else pick(columns, options.shape, source)
    return draw_map(made.embedding, shown, shape=shape)


def _sweep_figure(source: Path, options: argparse.Namespace) -> Any:
    sweep = read_folder(source)
    known = joint_name(sweep.provenance.settings["labels"])
    colors = options.color or [known]
    if len(colors) > 1:
        raise ValueError("the maps of a sweep are drawn in one colour each time: --color COLUMN")
    shape = None if options.shape is None else pick(sweep.columns, options.shape, source)
    return draw_sweep(
        sweep.result, options.kind, pick(sweep.columns, colors[0], source), shape=shape,
        other=sweep.provenance.settings["other"],
    )  # fmt: skip


def with_combination(columns: Mapping[str, Any], labels: list[str]) -> dict[str, Any]:
    """Add the combination of several label columns, under their joined names."""
    from ctsne.labels import combine_columns

    if len(labels) < 2 or not columns.keys() >= set(labels):
        return dict(columns)
    return {**columns, joint_name(labels): combine_columns([columns[name] for name in labels])}


def pick(columns: Mapping[str, Any], name: str, source: Path) -> Any:
    """Return a column, or refuse an unknown name with the one that may have been meant."""
    from ctsne._core.messages import unknown

    if name not in columns:
        raise ValueError(unknown(name, list(columns), what="column", where=str(source)))
    return columns[name]
