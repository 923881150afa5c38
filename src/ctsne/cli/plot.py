"""``ctsne plot``: draw a map."""

from __future__ import annotations

import io
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne._core.files import reading, write_file
from ctsne._core.messages import unknown
from ctsne.cli import options as opt
from ctsne.cli.console import Console
from ctsne.cli.files import Data, check_replaced, label_names, read_input, with_colors
from ctsne.cli.info import second_label
from ctsne.cli.main import Parser, spell_command
from ctsne.labels import combine_columns
from ctsne.methods import is_used

if TYPE_CHECKING:
    from ctsne.storage.record import Record

USAGE = "MAP -o FILE [options]"
HELP = "draw a map"
# Dots per inch of pictures, and of the points in those made of lines and texts.
DPI = 300
# Options that some pictures do not use.
_IGNORED = {
    "a sweep": ("before_after", "split", "color", "shape", "title", "legend", "data"),
    "--split": ("before_after", "shape", "title", "legend", "data"),
    "--before-after": ("shape", "title"),
    "a map": ("data",),
}
# Where labels are named, as typed and as pl.embedding calls it.
LEGENDS = {"auto": "auto", "margin": "right margin", "map": "on data", "both": "both", "none": None}


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    opt.option(main, "MAP", "file written by ctsne embed or ctsne transform, or folder of a sweep")
    opt.option(main, "-o --output FILE", "picture to write (png, pdf or svg)", required=True)
    opt.add_force(main)
    width = opt.one_of("single", "double", read=opt.number, or_="a number in mm")
    opt.add_table(main, "plot", width={"read": width})
    opt.add_palette(main)
    legend = {"read": opt.one_of(*LEGENDS), "default": "auto"}
    dpi = {"read": opt.dots_per_inch, "default": DPI}
    opt.add_table(main, "plot-look", legend=legend, size={"read": opt.number}, dpi=dpi)
    opt.add_key(main)
    opt.option(main, "--data FILE", "for --before-after: the data of the map, if they have moved")
    opt.add_messages(parser)


def run(options: Namespace, console: Console) -> None:
    """Draw the picture."""
    from ctsne.io import PICTURE_SUFFIXES, check_output

    target = check_output(options.output, PICTURE_SUFFIXES)
    source = Path(options.input)
    check_replaced([target], options)
    console.stage(f"drawing {target}")
    use_agg()
    figure = _figure(source, options, console)
    settings = {**opt.settings_of(options), "color": options.color, "palette": options.palette}
    settings["title"] = options.title
    command = spell_command(["plot", options.input], {**settings, "output": options.output})
    fixed = options.width is not None
    save_picture(figure, target, command, fixed=fixed, dpi=options.dpi)
    content = {"command": "plot", "output": options.output, "settings": settings}
    console.result(f"picture: {options.output}", content)


def _figure(source: Path, options: Namespace, console: Console) -> Any:
    from ctsne import pl
    from ctsne.io import read_map
    from ctsne.storage.record import find_record

    kind = "--split" if options.split else "--before-after" if options.before_after else "a map"
    kind = "a sweep" if source.is_dir() else kind
    wrong = [name for name in _IGNORED[kind] if getattr(options, name) not in (None, False, "auto")]
    if wrong:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in wrong)
        raise ValueError(f"{flags} cannot be used with {kind}; leave it out")
    fixed = {"size": options.size, "width": options.width}
    if source.is_dir():
        from ctsne.cli.sweep import read_folder

        sweep = read_folder(source)
        return pl.strip(sweep.result, mixing=sweep.settings["mixing"], **fixed)[0, 0].figure
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
    if options.split is not None:
        if len(options.color or ()) > 1:
            raise ValueError("--split draws one --color; name one column, or none")
        by = {options.split: _pick(columns, options.split, source)}
        return pl.split(made.embedding[:, :2], by, options.color and shown, **fixed)[0].figure
    if options.before_after:
        other = {name: values for name, values in shown.items() if name not in known}
        data, before, near = _before(made.embedding, record, source, options, console)
        look = {"legend_loc": LEGENDS[options.legend], **fixed}
        maps = before[:, :2], made.embedding[:, :2]
        factored = {name: shown.get(name, own) for name, own in data.factored.items()}
        axes = pl.before_after(*maps, factored, other or None, data=near, **look)
        return axes[0, 0].figure
    shape = _pick(columns, options.shape, source)
    shape = None if shape is None else {options.shape: shape}
    look = {"title": options.title, "legend_loc": LEGENDS[options.legend], **fixed}
    return draw_map(made.embedding, shown, shape=shape, **look)


def _before(
    embedding: Any, record: Record | None, source: Path, options: Namespace, console: Console
) -> tuple[Data, Any, Any]:
    """Return the data of a map, their t-SNE map turned to match it, and their neighbours."""
    from ctsne.cli.embed import neighbors_of, prepare
    from ctsne.cli.rerun import options_again
    from ctsne.layout import align

    if record is None or record.command != "embed" or not record.labels:
        what = f"{source} is not a map by ctsne embed with a label factored out"
        raise ValueError(f"{what}, so it has no t-SNE of before; ctsne.pl.before_after draws any")
    then = options_again(record, source, given=options.data)
    with reading(source, "a map of these data"):
        data = replace(read_input(then, console, expect=record.inputs[0].data), aligned=None)
    given = {**vars(then), "method": "tsne", "mixing": None}
    settings = {name: value for name, value in given.items() if is_used(name, given)}
    console.stage("t-SNE")
    model = prepare(data, settings, console, verbose=0 if console.quiet else 1 + console.verbose)
    before = model.fit_transform(data.X)
    if len(before) != len(embedding):
        what = f"{source} has {len(embedding)} points, but {data.dataset.path} has {len(before)}"
        raise ValueError(what)
    return data, align(before, embedding), neighbors_of(model, data, -1)


def _pick(columns: Mapping[str, Any], name: str | None, source: Path) -> Any:
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
        "png": {"Description": command, "Software": "ctsne"},
        "svg": {"Description": command, "Creator": "ctsne", "Date": None},
        "pdf": {"Subject": command, "Creator": "ctsne", "CreationDate": None},
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
