"""``ctsne transform``: place the points of a file in a map that is finished."""

from __future__ import annotations

import contextlib
import warnings
from argparse import Namespace
from collections.abc import Collection, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ctsne._core.files import file_checksum
from ctsne._core.messages import FarPointsWarning, NoLabelsWarning, label_text, quoted
from ctsne.cli import files
from ctsne.cli import options as opt
from ctsne.cli.console import Console
from ctsne.cli.files import Outputs, with_colors
from ctsne.cli.main import Parser, spell_command
from ctsne.cli.options import settings_of
from ctsne.cli.plot import save_picture, use_agg
from ctsne.labels import JOINT, Column, encode_column

if TYPE_CHECKING:
    from ctsne.estimator import ConditionalTSNE
    from ctsne.io import Dataset
    from ctsne.placing.place import Placement
    from ctsne.storage.record import Record

USAGE = "MODEL INPUT -o OUTPUT [--labels COLUMN ...] [options]"
HELP = "place new points in the map of a model"


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    main.add_argument("model", metavar="MODEL", help="file with the model")
    opt.add_table(main, "transform-input")
    opt.add_outputs(main, "transform-outputs")
    opt.add_table(main, "transform-more", perplexity={"read": opt.number})
    opt.add_jobs(main)
    opt.add_reading(parser, of_model=True)
    opt.add_messages(parser)


def make(options: Namespace, console: Console, *, expect: str | None = None) -> None:
    """Place the points; with ``expect``, only if the data have this checksum."""
    from ctsne.estimator import load
    from ctsne.placing.request import in_order, labels_for
    from ctsne.storage.model import check_model_input
    from ctsne.storage.record import Input, record_of, relative_path

    outputs = files.check_outputs(options)
    check_order(options.model, options.input)
    source = check_model_input(options.model)
    with outputs.interruptible():
        console.stage(f"reading {source} and {options.input}")
        checksum = file_checksum(source)
        model = load(source)
        made = record_of(model)
        dataset = _read_points(model, made, options)
        files.check_target(outputs.map, dataset, options.key)
        tell = console.say if expect is None else console.detail  # reported the first time
        tell(f"read {dataset.X.shape[0]:,} points from {options.input}: {dataset.source}")
        for note in dataset.notes:
            tell(note)
        names = options.labels
        if names and model.labels_ is None:
            raise ValueError("--labels: the model factored no label out; leave out --labels")
        if names:
            known = made.labels or list(files.model_columns(model))
            if len(names) != len(known):
                has = f"{len(known)} label column{'s' * (len(known) > 1)} ({' '.join(known)})"
                raise ValueError(f"--labels: the model has {has}, got {len(names)}")
            names = in_order(names, known)
        elif model.labels_ is not None:
            names, what = usual_labels(made, dataset.columns, options.input)
            tell(what)
        options.labels = names or None
        labels = labels_for(model.labels_, [dataset.labels([name]) for name in names or ()])
        aligned = _read_aligned(model, made, options)
        files.check_unchanged(dataset, names or (), aligned, expect)
        color = None if options.color is None else {options.color: dataset.column(options.color)}
        console.stage(f"placing {dataset.X.shape[0]} points")
        model.set_params(n_jobs=options.jobs)
        with reported_here():
            given = {"aligned": aligned, "perplexity": options.perplexity}
            placed = _place(model, dataset.X, labels, console, **given)
        used = Input(relative_path(source, outputs.map), checksum, role="model")
        record = files.make_record(options, {}, dataset, outputs.map, aligned=aligned, more=[used])
        outputs.write_map(
            placed.embedding,
            console,
            dataset=dataset,
            diagnostics=placed.diagnostics(),
            settings=record.to_json(),
            key=options.key,
        )
    shown = color or ({JOINT.join(names): dataset.labels(names)} if names else {})
    shown = with_colors(shown, options.palette)
    flat, reference = replace(placed, embedding=placed.embedding[:, :2]), model.embedding_[:, :2]
    outputs.write_more(
        console, picture=lambda path: _draw(flat, reference, shown, path, _command(options))
    )
    _report(model, placed, labels or {}, outputs, options, console)


run = make


def check_order(model: str, *inputs: str) -> None:
    """Refuse a model and data in the wrong order."""
    from ctsne.io.paths import MODEL_SUFFIX

    swapped = [name for name in inputs if name.lower().endswith(MODEL_SUFFIX)]
    if swapped and not model.lower().endswith(MODEL_SUFFIX):
        raise ValueError(f"the model comes first: {swapped[0]} {model}, not {model} {swapped[0]}")


def _read_points(model: ConditionalTSNE, made: Record, options: Namespace) -> Dataset:
    from ctsne.io import suffix_of
    from ctsne.io.paths import TABLE_SUFFIXES

    names = getattr(model, "feature_names_in_", made.features)
    wanted = None if names is None or model.metric == "precomputed" else [*map(str, names)]
    more: dict[str, Any] = {}
    if suffix_of(options.input) in TABLE_SUFFIXES and options.features is None:
        more["features"] = wanted
    elif suffix_of(options.input) == ".h5ad" and options.use_rep is None and options.layer is None:
        more = usual_part(made)
    dataset = files.read_file(options, options.labels or (), fewest=1, **more)
    # Columns of a representation have numbers instead of names.
    named = dataset.source.kind in ("table", "X", "layer")
    if wanted and named and options.features is None and list(dataset.features) != wanted:
        place = {name: column for column, name in enumerate(dataset.features)}
        if missing := [name for name in wanted if name not in place]:
            count = f"{len(missing)} of the {len(wanted)} columns that the model was made from"
            how = "; --use-rep names a representation that holds them"
            how = how if options.input.endswith(".h5ad") else ""
            raise ValueError(f"{options.input} lacks {count}: {quoted(missing, most=5)}{how}")
        X = dataset.X[:, [place[name] for name in wanted]]
        dataset = replace(dataset, X=X, features=tuple(wanted))
    d = dataset.X.shape[1]
    if d != model.n_features_in_:
        what = f"{options.input} has {d} columns ({dataset.source})"
        how = "choose the same ones with --features or --use-rep"
        if model.metric == "precomputed":
            how = "they must be the distances to all points of the reference"
        raise ValueError(f"{what}, but the model was made from {model.n_features_in_}; {how}")
    return dataset


def usual_part(made: Record) -> dict[str, str | None]:
    """Return the representation or layer of an .h5ad that a model was made of."""
    if made.source is None or made.source.kind not in ("X", "layer", "obsm"):
        return {}
    return {"use_rep": made.source.use_rep, "layer": made.source.layer}


def usual_labels(
    made: Record, there: Collection[str], where: object
) -> tuple[list[str] | None, str]:
    """Return the label columns of a model if a file has them, and what to tell about it."""
    known = [] if made.command is None else list(made.labels)
    absent = [name for name in known if name not in there]
    if known and not absent:
        return known, f"labels: {' and '.join(known)}, as in the model"
    what = f"{where} has no column {quoted(absent)}" if absent else "no labels"
    how = "--labels names a column"
    if len(known) > 1:
        how = f"--labels names {len(known)} columns, in which values may be missing"
    return None, f"{what}: the points are placed without labels; {how}"


def _read_aligned(model: ConditionalTSNE, made: Record, options: Namespace) -> Any:
    """Read the representation in which other labels are compared, if the model needs one."""
    from ctsne.io import suffix_of

    if model.diagnostics_.alignment != "array":
        if options.align_rep is not None:
            raise ValueError("--align-rep: the model was made without one; leave it out")
        return None
    options.align_rep = options.align_rep or made.options.get("align_rep")
    if options.align_rep is None or suffix_of(options.input) != ".h5ad":
        what = "compares labels in a representation given as an array"
        how = "INPUT must be an .h5ad with it, named by --align-rep; in Python, use place(aligned=)"
        raise ValueError(f"{options.model} {what}; {how}")
    return files.read_aligned(options, fewest=1)


@contextlib.contextmanager
def reported_here() -> Iterator[None]:
    """Ignore warnings of the library about what the command reports in its own words."""
    with warnings.catch_warnings():
        for category in (NoLabelsWarning, FarPointsWarning):
            warnings.simplefilter("ignore", category)
        yield


def _place(model: ConditionalTSNE, X: Any, labels: Any, console: Console, **more: Any) -> Placement:
    from ctsne._core.progress import Progress
    from ctsne.estimator import place_in

    shown = not console.quiet and not console.verbose
    bar = Progress(1, "placing", shown=shown, every=None, then="then writing", kept=False)
    with contextlib.closing(bar):
        return place_in(model, X, labels, after_part=bar.inside, **more)


def _draw(
    placed: Placement, reference: Any, shown: dict[str, Any], picture: Path, command: str
) -> None:
    from ctsne import pl

    use_agg()
    title, color = next(iter(shown.items()), (None, None))
    ax = pl.embedding(placed, color, reference=reference, title=title)
    save_picture(ax.figure, picture, command)


def _command(options: Namespace, **more: Any) -> str:
    return spell_command(["transform", options.model, options.input], {**vars(options), **more})


def _report(
    model: ConditionalTSNE,
    placed: Placement,
    labels: dict[str, Any],
    outputs: Outputs,
    options: Namespace,
    console: Console,
) -> None:
    from ctsne.io import suffix_of

    n, far = len(placed.embedding), int(np.count_nonzero(placed.far))
    lines = [f"map: {options.output} ({n:,} points placed in the map of {options.model})"]
    lines += outputs.lines({})
    counts = {}
    names = options.labels if len(options.labels or ()) == len(labels) else labels
    own_columns = files.model_columns(model).values()
    for name, column, own in zip(names or (), labels.values(), own_columns, strict=False):
        counts[name] = _count_labels(column, own)
        known, unseen, missing = (counts[name][what] for what in ("known", "unseen", "missing"))
        new = f" ({quoted(counts[name]['unseen labels'], most=3)})" if unseen else ""
        lines.append(f"{name}: {known} known, {unseen} new to the model{new}, {missing} missing")
        if unseen and not known:
            what = f"the model has none of the labels of {name!r:.60}, but"
            how = "if this is not a new batch, name another column with --labels"
            console.warn(f"{what} {quoted(own.names, most=3)}; {how}")
    lines += far_lines(far, n, f"{options.key}_far", console, placed.far_distance)
    content = {
        "command": "transform",
        "output": options.output,
        "picture": options.plot,
        "model": options.model,
        "points": n,
        "labels": counts,
        "far": far,
        "far_distance": placed.far_distance,
        "settings": settings_of(options),
    }
    console.result("\n".join(lines), content)
    if options.plot is None and find_spec("matplotlib") is not None:
        stem = options.output.removesuffix(suffix_of(options.output))
        command = _command(options, plot=f"{stem}.png")
        console.next({"to see the points above the reference": command})


def far_lines(
    far: int, n: int, column: str, console: Console, distance: float | None = None
) -> list[str]:
    """Say how many points are far from the map; warn if the data themselves seem to differ."""
    from ctsne.placing.place import far_hint

    usual = "" if distance is None else f" (farther than {distance:.3g})"
    lines = [f"far from every reference point: {far} of {n}{usual}"]
    if far:
        lines.append(f"column {column} marks them; do not trust their places")
    hint = far_hint(far, n) if far else ""
    if hint:
        console.warn(f"{far} of {n} points are far from the reference{hint}")
    return lines


def _count_labels(column: Any, own: Column) -> dict[str, Any]:
    """Count points with labels that the model knows, does not know, and without one."""
    new = encode_column(column)
    if own.numbers is not None:
        known = new.n_points - new.n_missing
        return {"known": known, "unseen": 0, "missing": new.n_missing, "unseen labels": []}
    texts = set(map(label_text, own.names))
    unseen = [code for code, name in enumerate(new.names) if label_text(name) not in texts]
    count = int(new.counts[unseen].sum())
    return {
        "known": new.n_points - new.n_missing - count,
        "unseen": count,
        "missing": new.n_missing,
        "unseen labels": [label_text(new.names[code]) for code in unseen],
    }
