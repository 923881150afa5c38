"""``ctsne transform``: place the points of a file in a map that is finished."""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ctsne._core.files import WriteError, file_checksum
from ctsne._core.messages import FarPointsWarning, NoLabelsWarning, listed
from ctsne.cli import options as opt
from ctsne.cli.console import Console
from ctsne.cli.inputs import HOW_TO_NAME, check_outputs, joint_name
from ctsne.cli.main import Parser, spell_command
from ctsne.cli.new_data import (
    aligned_of,
    check_order,
    label_names_of,
    labels_of,
    one_column,
    read_points,
)
from ctsne.cli.options import number, option, settings_of
from ctsne.labels import Column

if TYPE_CHECKING:
    from ctsne.estimator import ConditionalTSNE
    from ctsne.io import Dataset, InputRecord, Provenance
    from ctsne.placing.place import Placement

USAGE = "MODEL INPUT -o OUTPUT [--labels COLUMN ...] [options]"
HELP = "place new points in the map of a model"
DESCRIPTION = """\
Place new points in a map that is finished, without moving it.

MODEL is a file written by ctsne embed --model FILE, or by model.save in Python.
INPUT holds the new points, with the same columns as the data of the model. Each
point lands among its nearest neighbours in the reference, the points that the
map was made of; it does not matter which other points come with it, except for
new labels in a map made with --align, whose shift is estimated from them."""

EPILOG = """\
the labels:
  Columns with the names of the model's labels are used if INPUT has them;
  --labels names others. A label that the model does not know has no points of
  its own in the reference; a point without a label is placed without
  conditioning.

the output:
  OUTPUT holds the positions (ctsne_1, ctsne_2), the other columns of INPUT and
  diagnostics, in the formats of ctsne embed. A map places every point
  somewhere, so look at the first two:
    ctsne_distance        distance to the nearest reference point
    ctsne_far             no reference point is close: do not trust its place
    ctsne_perplexity      effective number of neighbours of the point
    ctsne_other_share     share of its similarity that goes to other labels
    ctsne_matched         near 0: no counterpart under other labels
    ctsne_largest_weight  near 1: its place depends on a single neighbour

examples:
  ctsne transform model.ctsne new.csv -o new_map.csv --plot new_map.png
  ctsne transform model.ctsne new.csv -o new_map.csv --page new_map.html
  ctsne transform model.ctsne new.h5ad --labels donor -o new.h5ad"""


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    main.add_argument("model", metavar="MODEL", help="file with the model")
    option(main, "INPUT", "file with the new points")
    option(
        main,
        "--labels COLUMN...",
        "label columns of INPUT, one for each that the model factored out (default: those of "
        "the same names, if INPUT has them)",
    )
    option(main, "-o --output OUTPUT", "file to write; overwritten if it exists", required=True)
    option(main, "--plot FILE", "also draw the points above the reference (png, pdf or svg)")
    option(main, "--page FILE", "also write an interactive page of them (html)")
    option(main, "--color COLUMN", "column to colour them by (default: the label)")
    option(
        main,
        "--perplexity U",
        "roughly the number of neighbours that count for each point "
        "(default: half of the model's, at most 15)",
        read=number,
    )
    opt.add_jobs(main)
    opt.add_reading(parser, of_model=True)
    option(main, "--key KEY", "prefix of new columns; h5ad: map in obsm[X_KEY]", default="ctsne")
    opt.add_messages(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Place the points from options of the command line."""
    make(options, console)


def make(options: argparse.Namespace, console: Console, *, expect: str | None = None) -> None:
    """Place the points; with ``expect``, only if the data have this checksum."""
    from ctsne import io
    from ctsne.storage.model import check_model_input
    from ctsne.storage.provenance import origin_of
    from ctsne.stored import load

    target = io.check_output(options.output)
    into_h5ad = io.suffix_of(target) == ".h5ad"
    plot, html = options.plot, options.page
    picture = None if plot is None else io.check_output(plot, io.PICTURE_SUFFIXES)
    page = None if html is None else io.check_output(html, (".html",))
    if options.color is not None and plot is None and html is None:
        raise ValueError("--color needs a picture: add --plot FILE, such as --plot map.png")
    check_order(options.model, options.input)
    source = check_model_input(options.model)
    check_outputs([each for each in (target, picture, page) if each], options, into_input=into_h5ad)
    console.stage(f"reading {source} and {options.input}")
    checksum = file_checksum(source)
    model = load(source)
    origin = origin_of(model)
    tell = console.say if expect is None else console.detail  # reported the first time
    dataset = read_points(model, origin, options, tell)
    io.check_key(target, dataset=dataset, key=options.key)
    io.check_room(target, dataset=dataset)
    names = options.labels = label_names_of(model, origin, dataset, options, tell)
    aligned = aligned_of(model, origin, options)
    found = dataset.checksum(names, aligned)
    if expect is not None and found != expect:
        how = f"Name the original file ({HOW_TO_NAME}), or make a new output from this one"
        raise ValueError(f"{options.input} has changed: its numbers or labels differ. {how}")
    color = None if options.color is None else dataset.column(options.color)
    settings = settings_of(options)
    console.stage(f"placing {dataset.X.shape[0]} points")
    model.set_params(n_jobs=options.jobs)
    known = labels_of(model, dataset, names)
    with warnings.catch_warnings():  # of what is reported here in other words
        for reported in (NoLabelsWarning, FarPointsWarning):
            warnings.simplefilter("ignore", reported)
        placed = _placed(model, dataset, known, aligned, options, console)
    records = [
        *io.input_records(dataset, target, names, aligned=aligned),
        _model_record(source, target, checksum),
    ]
    console.stage(f"writing {target}")
    provenance = io.Provenance("transform", settings, records, io.current_versions())
    io.write_map(
        target,
        placed.embedding,
        dataset=dataset,
        diagnostics=placed.diagnostics(),
        settings=provenance.to_json(),
        key=options.key,
    )
    shown = (options.color or joint_name(names), color)
    if color is None and names:
        shown = (shown[0], one_column(dataset, names))
    try:
        if picture is not None:
            _draw(model, placed, *shown, picture, options)
        if page is not None:
            _write_page(model, placed, *shown, page, dataset, provenance, options)
    except WriteError as error:
        raise WriteError(f"{error}; the map is in {target}") from error
    _report(model, placed, dataset, names, options, settings, console)


def _placed(
    model: ConditionalTSNE,
    dataset: Dataset,
    known: Any,
    aligned: Any,
    options: argparse.Namespace,
    console: Console,
) -> Placement:
    """Place the points, with a bar."""
    from ctsne._core.progress import Progress
    from ctsne.placing.new_points import place_in

    shown = not console.quiet and not console.verbose
    bar = Progress(1, "placing", shown=shown, every=None, then="then writing", kept=False)
    try:
        return place_in(
            model,
            dataset.X,
            known,
            aligned=aligned,
            perplexity=options.perplexity,
            after_part=bar.inside,
        )
    finally:
        bar.close()


def _model_record(source: Path, target: Path, checksum: str) -> InputRecord:
    from ctsne.io import InputRecord
    from ctsne.storage.provenance import relative_path

    return InputRecord(relative_path(source, target), checksum)


def _draw(
    model: ConditionalTSNE,
    placed: Placement,
    name: str,
    color: Any,
    picture: Path,
    options: argparse.Namespace,
) -> None:
    from ctsne import pl
    from ctsne.cli.plot import save_picture, use_agg

    use_agg()
    flat = replace(placed, embedding=placed.embedding[:, :2])
    title = name if color is not None else None
    ax = pl.embedding(flat, color, reference=model.embedding_[:, :2], title=title)
    save_picture(ax.figure, picture, _command(options))


def _write_page(
    model: ConditionalTSNE,
    placed: Placement,
    name: str,
    color: Any,
    page: Path,
    dataset: Dataset,
    provenance: Provenance,
    options: argparse.Namespace,
) -> None:
    from ctsne.report import write_placed
    from ctsne.report.data import DISTANCE, PLACED

    # The first column is shown first: one that groups points, not one that names them.
    columns = ({} if color is None else {name: color}) | dict(
        sorted(dataset.columns.items(), key=lambda item: len(set(item[1])) == len(item[1]))
    )
    columns = {name: each for name, each in columns.items() if name not in (PLACED, DISTANCE)}
    made = {**provenance.to_dict(), "command": _command(options)}
    flat = replace(placed, embedding=placed.embedding[:, :2])
    write_placed(
        flat,
        page,
        reference=model.embedding_[:, :2],
        columns=columns,
        names=dataset.names,
        title=f"{Path(options.input).name} in the map of {Path(options.model).name}",
        provenance=made,
    )


def _command(options: argparse.Namespace) -> str:
    """Return the command as one would type it."""
    first = ["transform", options.model, options.input]
    return spell_command(first, vars(options))


def _report(
    model: ConditionalTSNE,
    placed: Placement,
    dataset: Dataset,
    names: list[str],
    options: argparse.Namespace,
    settings: dict[str, Any],
    console: Console,
) -> None:
    """Print what was placed, and how much of it to trust."""
    from ctsne.io import suffix_of

    n, far = len(placed.embedding), int(np.count_nonzero(placed.far))
    lines = [f"map: {options.output} ({n:,} points placed in the map of {options.model})"]
    if options.plot is not None:
        lines.append(f"picture: {options.plot}")
    if options.page is not None:
        lines.append(f"page: {options.page}; open it in a browser")
    counts = {}
    for name, column, own in _label_columns(model, dataset, names):
        counts[name] = _counted(column, own)
        known, unseen, missing = (counts[name][each] for each in ("known", "unseen", "missing"))
        new = f" ({listed(counts[name]['unseen labels'], most=3)})" if unseen else ""
        lines.append(f"{name}: {known} known, {unseen} new to the model{new}, {missing} missing")
        if unseen and not known:
            what = f"the model has none of the labels of {name!r:.60}, but"
            how = "if this is not a new batch, name another column with --labels"
            console.warn(f"{what} {listed(own.names, most=3)}; {how}")
    where = f"no reference point closer than {placed.far_distance:.3g}"
    lines.append(f"far from the reference: {far} of {n} ({where})")
    if far:
        lines.append(f"column {options.key}_far marks them; do not trust their places")
        warn_of_far(far, n, console)
    content = {
        "command": "transform",
        "output": options.output,
        "picture": options.plot,
        "page": options.page,
        "model": options.model,
        "points": n,
        "labels": counts,
        "far": far,
        "far_distance": placed.far_distance,
        "settings": settings,
    }
    console.result("\n".join(lines), content)
    if options.plot is None and options.page is None:
        stem = options.output.removesuffix(suffix_of(options.output))
        again = argparse.Namespace(**{**vars(options), "plot": f"{stem}.png"})
        console.next({"to see the points above the reference": _command(again)})


def warn_of_far(far: int, n: int, console: Console) -> None:
    """Warn if most points are far from the reference: usually the data, not the cells, differ."""
    from ctsne.placing.place import far_hint

    hint = far_hint(far, n)
    if hint:
        console.warn(f"{far} of {n} points are far from the reference{hint}")


def _label_columns(
    model: ConditionalTSNE, dataset: Dataset, names: list[str]
) -> list[tuple[str, Any, Column]]:
    """Return name and values of each label column, and what the model has for it."""
    if not names or model.labels_ is None:
        return []
    if isinstance(model.labels_, Column):
        return [(joint_name(names), one_column(dataset, names), model.labels_)]
    columns = [dataset.column(name) for name in names]
    return list(zip(names, columns, model.labels_.columns, strict=True))


def _counted(column: Any, own: Column) -> dict[str, Any]:
    """Count points with labels that the model knows, does not know, and without one."""
    from ctsne._core.messages import label_text
    from ctsne.labels import encode_column

    new = encode_column(column)
    texts = set(map(label_text, own.names))
    unseen = [code for code, name in enumerate(new.names) if label_text(name) not in texts]
    count = int(new.counts[unseen].sum())
    return {
        "known": new.n_points - new.n_missing - count,
        "unseen": count,
        "missing": new.n_missing,
        "unseen labels": [label_text(new.names[code]) for code in unseen],
    }
