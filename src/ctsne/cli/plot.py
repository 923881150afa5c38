"""``ctsne plot``: draw a map or a sweep."""

from __future__ import annotations

import argparse
import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne._core.files import write_file
from ctsne._core.messages import unknown
from ctsne._core.vocabulary import chosen_by, measure_title
from ctsne.cli.console import Console
from ctsne.cli.files import check_not_inputs, label_names
from ctsne.cli.info import second_label
from ctsne.cli.main import Parser, spell_command
from ctsne.cli.options import add_key, add_messages, number, one_of, option, settings_of
from ctsne.labels import combine_columns

if TYPE_CHECKING:
    from ctsne.cli.sweep import SweepFolder

USAGE = "MAP_OR_SWEEP -o FILE [options]"
HELP = "draw a map, or the maps and measures of a sweep"
DESCRIPTION = "Draw a map made by ctsne embed, or the maps and measures of a sweep."

EPILOG = """\
the picture:
  Of a map: text and whole numbers are drawn as labels, other numbers with a
  colour bar, such as the diagnostic ctsne_largest_weight. More than 20 labels
  are also named on the map; more than 100,000 points are shaded.
  Of a sweep, by --kind: maps draws all maps; measures draws mixing and
  neighbours kept over the strength; trade-off draws one against the other.
  In pdf and svg, texts can be edited and points are an image of 300 dpi.
  The picture's metadata holds the command that made it.

examples:
  ctsne plot map.csv -o map.png
  ctsne plot map.csv --color batch celltype -o map.pdf
  ctsne plot map.csv --width double -o figure1.pdf
  ctsne plot cells.h5ad --color celltype --shape batch -o map.svg
  ctsne plot sweep --kind trade-off -o trade-off.png

Requires matplotlib (pip install "ctsne[plot]")."""

# Dots per inch of pictures, and of the points in those made of lines and texts.
_DPI = 300


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    option(main, "MAP_OR_SWEEP", "file written by ctsne embed, or folder written by ctsne sweep")
    option(main, "-o --output FILE", "picture to write (png, pdf or svg)", required=True)
    option(
        main,
        "--color COLUMN...",
        "columns to colour by, one panel each (default: the labels factored out, and the label "
        "to look for)",
    )
    option(main, "--shape COLUMN", "column with at most ten labels, drawn as marker shapes")
    option(
        main,
        "--kind KIND",
        "for a sweep: maps, measures or trade-off",
        read=one_of("maps", "measures", "trade-off"),
        default="maps",
    )
    option(
        main,
        "--width WIDTH",
        "width for print: single (89 mm), double (183 mm), or a number "
        "in mm; texts have 6 to 8 points",
        read=one_of("single", "double", read=number, or_="a number in mm"),
    )
    add_key(main)
    add_messages(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Draw the picture."""
    from ctsne.io import PICTURE_SUFFIXES, check_output

    target = check_output(options.output, PICTURE_SUFFIXES)
    source = Path(options.input)
    check_not_inputs([target], options)
    console.stage(f"drawing {target}")
    use_agg()
    draw = _sweep_figure if source.is_dir() else _map_figure
    figure = draw(source, options, console)
    settings = {**settings_of(options), "color": options.color}
    command = spell_command(["plot", options.input], {**settings, "output": options.output})
    save_picture(figure, target, command, fixed=options.width is not None)
    content = {"command": "plot", "output": options.output, "settings": settings}
    console.result(f"picture: {options.output}", content)


def _map_figure(source: Path, options: argparse.Namespace, console: Console) -> Any:
    from ctsne.io import read_map
    from ctsne.storage.record import find_record

    if options.kind != "maps":
        raise ValueError(f"--kind {options.kind} is for the folder of a sweep; {source} is a map")
    made = read_map(source, key=options.key)
    if len(made.embedding) < 2:
        raise ValueError(f"{source} has {len(made.embedding)} points; a picture needs at least 2")
    columns = dict(made.columns)
    record = find_record(source, key=options.key)
    labels = [] if record is None else list(record.labels)
    given: Mapping[str, Any] = {} if record is None else record.options
    known = label_names(labels, bool(given.get("combine")))
    if known != labels and columns.keys() >= set(labels):
        columns[known[0]] = combine_columns([columns[name] for name in labels])
    absent = [name for name in known if name not in columns]  # positions alone, or other names
    if absent and not options.color:
        what = f"no column {absent[0]!r:.60} to colour by"
        console.say(f"{source} has {what}; choose one with --color")
    further = second_label(columns, [*labels, *known], given.get("other"), options.key)
    colors = options.color or [*(name for name in known if name in columns), *further]
    shown = {name: _pick(columns, name, source) for name in colors}
    shape = _pick(columns, options.shape, source)
    return draw_map(made.embedding, shown, shape=shape, width=options.width)


def _pick(columns: Mapping[str, Any], name: str | None, source: Path) -> Any:
    """Return a column, or refuse an unknown name with a suggestion."""
    if name is not None and name not in columns:
        raise ValueError(unknown(name, list(columns), what="column", where=str(source)))
    return None if name is None else columns[name]


def draw_map(
    embedding: Any, columns: Mapping[str, Any], *, shape: Any = None, width: Any = None
) -> Any:
    """Draw a map once for each column to colour it by, or once in one colour."""
    from ctsne import pl

    use_agg()
    plane = embedding[:, :2]
    if len(columns) > 1:
        return pl.embedding(plane, columns, shape=shape, width=width)[0].figure
    name, values = next(iter(columns.items()), (None, None))
    return pl.embedding(plane, values, shape=shape, title=name, width=width).figure


def _sweep_figure(source: Path, options: argparse.Namespace, _: Console) -> Any:
    """Draw the maps of a sweep, its measures over the strength, or one against the other."""
    from ctsne import pl
    from ctsne.cli.sweep import read_folder

    sweep = read_folder(source)
    known = sweep.labels
    colors = options.color or known[:1]
    if len(colors) > 1:
        raise ValueError("the maps of a sweep are drawn in one colour scheme: give one --color")
    color, shape = (_pick(sweep.columns, name, source) for name in (colors[0], options.shape))
    if options.kind == "measures":
        return _measures(sweep, known, options.width)
    if options.kind == "trade-off":
        xlabel = None if len(known) > 1 else measure_title("mixing", known=known[0])
        return pl.trade_off(sweep.result, xlabel=xlabel, width=options.width).figure
    made = {swept.title: swept.embedding for swept in sweep.result.maps}
    maps = {title: each[:, :2] for title, each in made.items() if each is not None}
    return pl.maps(maps, color, shape=shape, width=options.width)[0].figure


def _measures(sweep: SweepFolder, known: list[str], width: Any) -> Any:
    """Draw the measures to choose by over the parameters that set the strength."""
    from ctsne import pl

    lines = [line for line in sweep.result.lines() if line.knob is not None]
    if not lines:
        raise ValueError("the sweep has no maps that differ in strength, so nothing to draw over")
    names = chosen_by(lines[0].maps[0].measures)
    other = sweep.settings["other"] or ""
    titles = {name: measure_title(name, known=known[0], other=other) for name in names}
    return pl.measures(sweep.result, titles, width=width)[0, 0].figure


def save_picture(figure: Any, path: Path, command: str, *, fixed: bool = False) -> None:
    """Write a figure, completely or not at all, with the command that made it as metadata.

    A ``fixed`` size is kept; others are cut to what is drawn. Texts stay texts, so that they can be
    edited and searched.
    """
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
    box = None if fixed else "tight"
    with matplotlib.rc_context(
        {"svg.hashsalt": "ctsne", "svg.fonttype": "none", "pdf.fonttype": 42}
    ):
        figure.savefig(content, format=kind, dpi=_DPI, bbox_inches=box, metadata=metadata)
    pyplot.close(figure)
    write_file(path, content.getbuffer())


def use_agg() -> None:
    """Draw into files only, even where there is a display."""
    from matplotlib import pyplot

    pyplot.switch_backend("Agg")
