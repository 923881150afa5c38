"""``ctsne plot``: draw a map or a sweep."""

from __future__ import annotations

import argparse
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ctsne._core.files import write_file
from ctsne._core.messages import unknown
from ctsne._core.vocabulary import chosen_by, measure_title
from ctsne.cli.console import Console
from ctsne.cli.folders import SweepFolder, read_folder
from ctsne.cli.inputs import check_outputs, label_names
from ctsne.cli.main import Parser, command_parser
from ctsne.cli.options import add_key, add_messages, option, settings_of, spelled
from ctsne.cli.values import one_of
from ctsne.labels import combine_columns

USAGE = "MAP_OR_SWEEP -o FILE [options]"
HELP = "draw a map, or the maps and measures of a sweep"
DESCRIPTION = "Draw a map made by ctsne embed, or the maps and measures of a sweep."

EPILOG = """\
the picture:
  Of a map: text and whole numbers are drawn as labels, other numbers with a
  colour bar, such as the diagnostic ctsne_largest_weight.
  Of a sweep, by --kind: maps draws all maps; measures draws mixing and
  neighbours kept over the strength; trade-off draws one against the other.
  The picture's metadata holds the command that made it.

examples:
  ctsne plot map.csv -o map.png
  ctsne plot map.csv --color batch celltype -o map.pdf
  ctsne plot cells.h5ad --color celltype --shape batch -o map.svg
  ctsne plot sweep --kind trade-off -o trade-off.png

Requires matplotlib (pip install "ctsne[plot]")."""

# Inches: the side of a panel where there are several.
_SIDE = 4.2
# An axis spans at least this much, so that small differences look small.
_LEAST_RANGE = 0.1


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    option(main, "MAP_OR_SWEEP", "file written by ctsne embed, or folder written by ctsne sweep")
    option(main, "-o --output FILE", "picture to write (png, pdf or svg)", required=True)
    option(main, "--color COLUMN...",
           "columns to colour by, one panel each (default: the labels factored out)")  # fmt: skip
    option(main, "--shape COLUMN", "column with at most ten labels, drawn as marker shapes")
    option(main, "--kind KIND", "for a sweep: maps, measures or trade-off",
           read=one_of("maps", "measures", "trade-off"), default="maps")  # fmt: skip
    add_key(main)
    add_messages(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Draw the picture."""
    from ctsne._io import PICTURE_SUFFIXES, check_output

    target = check_output(options.output, PICTURE_SUFFIXES)
    source = Path(options.input)
    check_outputs([target], options)
    console.stage(f"drawing {target}")
    use_agg()
    draw = _sweep_figure if source.is_dir() else _map_figure
    figure = draw(source, options, console)
    settings = settings_of(options)
    save_picture(figure, target, plot_command(options.input, options.output, **settings))
    content = {"command": "plot", "output": options.output, "settings": settings}
    console.result(f"picture: {options.output}", content)


def _map_figure(source: Path, options: argparse.Namespace, console: Console) -> Any:
    from ctsne._io import read_map

    if options.kind != "maps":
        raise ValueError(f"--kind {options.kind} is for the folder of a sweep; {source} is a map")
    made = read_map(source, key=options.key)
    columns = dict(made.columns)
    settings = {} if made.provenance is None else made.provenance.settings
    labels, known = list(settings.get("labels") or ()), label_names(settings)
    if known != labels and columns.keys() >= set(labels):
        columns[known[0]] = combine_columns([columns[name] for name in labels])
    absent = [name for name in known if name not in columns]  # positions alone, or other names
    if absent and not options.color:
        what = f"no column {absent[0]!r:.60} to colour by"
        console.say(f"{source} has {what}; choose one with --color")
    colors = options.color or [name for name in known if name in columns]
    shown = {name: _pick(columns, name, source) for name in colors}
    return draw_map(made.embedding, shown, shape=_pick(columns, options.shape, source))


def _pick(columns: Mapping[str, Any], name: str | None, source: Path) -> Any:
    """Return a column, or refuse an unknown name with a suggestion."""
    if name is not None and name not in columns:
        raise ValueError(unknown(name, list(columns), what="column", where=str(source)))
    return None if name is None else columns[name]


def draw_map(embedding: Any, columns: Mapping[str, Any], *, shape: Any = None) -> Any:
    """Draw a map once for each column to colour it by, or once in one colour."""
    from matplotlib import pyplot

    from ctsne import pl

    plane = embedding[:, :2]
    if len(columns) <= 1:
        name, values = next(iter(columns.items()), (None, None))
        return pl.embedding(plane, values, shape=shape, title=name).figure
    panels = min(len(columns), 3)
    rows = -(-len(columns) // panels)
    size = (1.6 * _SIDE * panels, _SIDE * rows)
    figure = pyplot.figure(facecolor="white", layout="compressed", figsize=size)
    axes = figure.subplots(rows, panels, squeeze=False).ravel()
    for ax, (name, values) in zip(axes, columns.items(), strict=False):
        pl.embedding(plane, values, shape=shape, title=name, ax=ax)
    for ax in axes[len(columns) :]:
        ax.set_axis_off()
    return figure


def _sweep_figure(source: Path, options: argparse.Namespace, _: Console) -> Any:
    """Draw the maps of a sweep, its measures over the strength, or one against the other."""
    from ctsne import pl

    sweep = read_folder(source)
    known = label_names(sweep.provenance.settings)
    colors = options.color or known[:1]
    if len(colors) > 1:
        raise ValueError("the maps of a sweep are drawn in one colour scheme: give one --color")
    color, shape = (_pick(sweep.columns, name, source) for name in (colors[0], options.shape))
    if options.kind == "measures":
        return _measures(sweep, known)
    if options.kind == "trade-off":
        xlabel = None if len(known) > 1 else measure_title("mixing", known=known[0])
        return pl.trade_off(sweep.result, xlabel=xlabel).figure
    made = {each.title: each.embedding for each in sweep.result.maps}
    maps = {title: each[:, :2] for title, each in made.items() if each is not None}
    return pl.maps(maps, color, shape=shape)[0].figure


def _measures(sweep: SweepFolder, known: list[str]) -> Any:
    """Draw a row for each measure, a column for each parameter that sets the strength."""
    from matplotlib import pyplot

    from ctsne import pl

    lines = [line for line in sweep.result.lines() if line.steering is not None]
    if not lines:
        raise ValueError("the sweep has no maps that differ in strength, so nothing to draw over")
    names = chosen_by(lines[0].maps[0].measures)
    parameters = list(dict.fromkeys(line.steering or "" for line in lines))
    size = (4.8 * len(parameters), 3.2 * len(names))
    figure = pyplot.figure(facecolor="white", layout="constrained", figsize=size)
    axes = figure.subplots(len(names), len(parameters), squeeze=False)
    other = sweep.provenance.settings["other"] or ""
    for row, name in zip(axes, names, strict=True):
        title = measure_title(name, known=known[0], other=other)
        for ax, parameter in zip(row, parameters, strict=True):
            pl.measures(sweep.result, name, over=parameter, ylabel=title, ax=ax)
        low = min(0.0, *(each.measures[name] for line in lines for each in line.maps))
        high = max(_LEAST_RANGE, *(1.03 * ax.get_ylim()[1] for ax in row))  # with room for a dot
        for ax in row:
            ax.set_ylim(low, high)
    return figure


def plot_command(source: str, target: str, **settings: Any) -> str:
    """Return the command that draws a picture."""
    return spelled(command_parser("plot"), ["plot", source], {**settings, "output": target})


def save_picture(figure: Any, path: Path, command: str) -> None:
    """Write a figure, completely or not at all, with the command that made it as metadata."""
    import matplotlib
    from matplotlib import pyplot

    kind = path.suffix.lower().removeprefix(".")
    # Without dates and with a fixed salt, the same figure gives the same bytes.
    metadata = {
        "png": {"Description": command, "Software": None},
        "svg": {"Description": command, "Date": None},
        "pdf": {"Subject": command, "CreationDate": None},
    }[kind]
    content = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "ctsne"}):
        figure.savefig(content, format=kind, dpi=150, bbox_inches="tight", metadata=metadata)
    pyplot.close(figure)
    write_file(path, content.getbuffer())


def use_agg() -> None:
    """Draw into files only, even where there is a display."""
    from matplotlib import pyplot

    pyplot.switch_backend("Agg")
