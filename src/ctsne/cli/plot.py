"""``ctsne plot``: draw a map."""

from __future__ import annotations

import io
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ctsne._core.files import write_file
from ctsne._core.messages import unknown
from ctsne.cli.console import Console
from ctsne.cli.files import check_replaced, label_names, with_colors
from ctsne.cli.info import second_label
from ctsne.cli.main import Parser, spell_command
from ctsne.cli.options import (
    add_force,
    add_key,
    add_messages,
    add_palette,
    dots_per_inch,
    number,
    one_of,
    option,
    settings_of,
)
from ctsne.labels import combine_columns

USAGE = "MAP -o FILE [options]"
HELP = "draw a map"
# Dots per inch of pictures, and of the points in those made of lines and texts.
DPI = 300
# Where labels are named, as typed and as pl.embedding calls it.
LEGENDS = {
    "auto": "auto",
    "margin": "right margin",
    "map": "on data",
    "both": "both",
    "none": None,
}


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    option(main, "MAP", "file written by ctsne embed or ctsne transform")
    option(main, "-o --output FILE", "picture to write (png, pdf or svg)", required=True)
    add_force(main)
    text = "columns to colour by, one panel each (default: the labels factored out, and the label "
    option(main, "--color COLUMN...", f"{text}to look for)")
    option(main, "--shape COLUMN", "column with at most ten labels, drawn as marker shapes")
    text = "width for print: single (89 mm), double (183 mm), or a number in mm; texts have 6 to 8 "
    width = one_of("single", "double", read=number, or_="a number in mm")
    option(main, "--width WIDTH", f"{text}points", read=width)
    add_palette(main)
    option(main, "--title TEXT...", "one title per panel (default: the names of the columns)")
    text = "where labels are named: margin, map, both or none; auto adds names on the map to the "
    legend = one_of(*LEGENDS)
    option(main, "--legend PLACE", f"{text}margin for more than 20", read=legend, default="auto")
    text = "area of a dot in square points; larger values cover more (default: by the number of "
    option(main, "--size AREA", f"{text}points; above 100,000 they are shaded)", read=number)
    text = "pixels per inch; larger values make larger, sharper pictures"
    option(main, "--dpi N", text, read=dots_per_inch, default=DPI)
    add_key(main)
    add_messages(parser)


def run(options: Namespace, console: Console) -> None:
    """Draw the picture."""
    from ctsne.io import PICTURE_SUFFIXES, check_output

    target = check_output(options.output, PICTURE_SUFFIXES)
    source = Path(options.input)
    check_replaced([target], options)
    console.stage(f"drawing {target}")
    use_agg()
    figure = _figure(source, options, console)
    settings = {**settings_of(options), "color": options.color, "palette": options.palette}
    settings["title"] = options.title
    command = spell_command(["plot", options.input], {**settings, "output": options.output})
    fixed = options.width is not None
    save_picture(figure, target, command, fixed=fixed, dpi=options.dpi)
    content = {"command": "plot", "output": options.output, "settings": settings}
    console.result(f"picture: {options.output}", content)


def _figure(source: Path, options: Namespace, console: Console) -> Any:
    from ctsne.io import read_map
    from ctsne.storage.record import find_record

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
    chosen = {name: _pick(columns, name, source) for name in colors}
    shown = with_colors(chosen, options.palette)
    shape = _pick(columns, options.shape, source)
    shape = None if shape is None else {options.shape: shape}
    look = {"title": options.title, "legend_loc": LEGENDS[options.legend], "size": options.size}
    return draw_map(made.embedding, shown, shape=shape, width=options.width, **look)


def _pick(columns: Mapping[str, Any], name: str | None, source: Path) -> Any:
    """Return a column, or refuse an unknown name with a suggestion."""
    if name is not None and name not in columns:
        raise ValueError(unknown(name, list(columns), what="column", where=str(source)))
    return None if name is None else columns[name]


def draw_map(embedding: Any, columns: Mapping[str, Any], **look: Any) -> Any:
    """Draw a map once for each column to colour it by, or once in one colour."""
    from ctsne import pl

    use_agg()
    axes = pl.embedding(embedding[:, :2], dict(columns) or None, **look)
    return axes[0].figure if len(columns) > 1 else axes.figure


def save_picture(
    figure: Any, path: Path, command: str, *, fixed: bool = False, dpi: int = DPI
) -> None:
    """Write a figure, whole or not at all, with its command as metadata; cut it unless fixed."""
    # Texts stay texts, so that they can be edited and searched.
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
        figure.savefig(content, format=kind, dpi=dpi, bbox_inches=box, metadata=metadata)
    pyplot.close(figure)
    write_file(path, content.getbuffer())


def use_agg() -> None:
    """Draw into files only, even where there is a display."""
    from matplotlib import pyplot

    pyplot.switch_backend("Agg")
