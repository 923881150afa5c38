"""``ctsne sweep``: make and measure maps at many strengths, suggest one, keep all in a folder."""

from __future__ import annotations

import argparse
import math
import shlex
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ctsne._core import files
from ctsne._core.messages import value_text
from ctsne._core.vocabulary import NEIGHBORHOOD, SUGGESTED_MIXING, mixings_of
from ctsne.cli import options as opt
from ctsne.cli.console import Console, aligned, definitions, titles_of
from ctsne.cli.embed import prepare
from ctsne.cli.files import check_not_inputs, label_names, make_record, read_input
from ctsne.cli.info import missing_labels
from ctsne.cli.main import Parser, spell_command
from ctsne.cli.options import SWEPT, one_of, option, per_column, per_label, settings_of, whole
from ctsne.methods import METHODS, SWEPT_METHODS, is_used, swept_grid

if TYPE_CHECKING:
    from ctsne.storage.record import Record
    from ctsne.sweep import SweepResult, SweptMap

# Larger data are swept on a random sample of this many points, enough to compare settings.
SWEPT_POINTS = 20_000

USAGE = "INPUT --labels COLUMN [COLUMN ...] -o FOLDER [options]"
HELP = "make and measure maps at many strengths, and suggest one"
# Files of a folder that a page can do without.
_OPTIONAL = (files.FEATURES, files.NEIGHBORS, files.PICTURE)
LISTED = definitions(titles_of(["LABEL"], ["OTHER"]))


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    option(main, "INPUT", "file with the data")
    opt.add_labels(main)
    text = "folder for the results; finished maps in it are reused"
    option(main, "-o --output FOLDER", text, required=True)
    add_sweep_options(parser, main)
    opt.add_messages(parser)


def add_sweep_options(parser: Parser, main: Any) -> None:
    """Add the options that say which maps to make."""
    opt.add_table(
        main,
        "sweep",
        {"points": f"{SWEPT_POINTS:,}"},
        methods={"read": one_of(*METHODS), "default": list(SWEPT_METHODS)},
        strengths={"read": per_column},
        betas={"read": per_column},
        mixing={"read": per_label, "default": SUGGESTED_MIXING},
    )
    opt.add_shown(main)
    measures = parser.add_argument_group("measures")
    opt.add_table(measures, "measures", {"k": NEIGHBORHOOD}, k={"read": whole})
    opt.add_sample(measures)
    opt.add_data(parser, main, leave_out=SWEPT)


def run(options: argparse.Namespace, console: Console) -> None:
    """Make the maps."""
    folder = Path(options.output)
    check_folder(folder)
    check_not_inputs(files_of(folder), options)
    made = run_sweep(options, console, folder)
    write_folder(folder, made)
    _report(made, options, console)


def run_sweep(options: argparse.Namespace, console: Console, folder: Path) -> SweepFolder:
    """Make all maps that the folder does not have yet."""
    from ctsne.report.features import first_map, nearest_rows
    from ctsne.sweep import sweep
    from ctsne.sweep.choice import check_targets

    if not options.labels:
        raise ValueError(missing_labels(options))
    factored = titles_of(label_names(options.labels, options.combine), None)
    check_targets(options.mixing, mixings_of(factored))
    given = read_input(options, console)
    data = given if options.all_points else given.sample(SWEPT_POINTS)
    if data.sampled:
        n = f"{SWEPT_POINTS:,} of {data.sampled:,}"
        console.say(f"sweeping a random sample of {n} points; add --all-points to use all of them")
    # The mixing of a sweep is for its suggestion.
    estimator = prepare(data, {**vars(options), "mixing": None}, console)
    parameters = estimator.get_params(deep=False)
    named = argparse.Namespace(**{**vars(options), "command": "sweep"})
    taken = {name: value for name, value in parameters.items() if name not in SWEPT}
    record = make_record(named, taken, given.dataset, folder, aligned=given.aligned)
    _check_same_data(folder, record)
    grid = make_grid(options)
    try:
        result = sweep(
            data.X,
            data.labels,
            grid,
            other=data.hidden(options.other),
            estimator=estimator,
            k=options.k,
            sample=options.sample,
            folder=folder,
            progress=not console.quiet,
            n_jobs=options.jobs,
        )
        finished = len(result.maps)
    except KeyboardInterrupt:
        finished = 0
    total = sum(len(entry.get(_knob(entry), [""])) for entry in grid)
    if finished < total:
        if folder.is_dir() and not (folder / files.INDEX).exists():  # how to continue it
            _write_record(folder, record)
        state = f"{finished} of {total} maps are finished in {folder}; run the same command again"
        raise KeyboardInterrupt(
            f"{state} to continue" if finished else "before the first map was finished"
        )
    if all(swept.error is not None for swept in result.maps):
        raise ValueError(f"no map could be made: {result.maps[0].error}")
    if left := len(map_files(folder).difference(swept.file for swept in result.maps)):
        console.say(f"earlier maps kept in {folder}, but not listed in its {files.TABLE}: {left}")
    # Times are not written, so that the same command twice gives the same bytes.
    maps = tuple(replace(swept, seconds=math.nan) for swept in result.maps)
    result = replace(result, maps=maps, sampled_from=data.sampled or None)
    columns, names, made = data.columns(), data.dataset.names, settings_of(options)
    shown = data.with_features(first_map(result, options.mixing), options, console).shown
    near = nearest_rows(data.X, estimator.metric, estimator.pca, options.jobs)
    return SweepFolder(result, columns, names, record, made, shown, near)


def _knob(parameters: Mapping[str, Any]) -> str:
    return METHODS[parameters["method"]].knob or ""


def make_grid(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the settings of all maps: t-SNE, then each method from weak to strong."""
    from ctsne.sweep.grid import column_products

    grid = swept_grid(*dict.fromkeys(["tsne", *options.methods]), short=True)
    for entry in grid:
        knob = _knob(entry)
        given = {"strength": options.strengths, "beta": options.betas}.get(knob)
        if isinstance(given, Mapping):
            entry[knob] = column_products(knob, given)
        elif given:
            entry[knob] = sorted(set(given), reverse=knob == "beta")
    return grid


def _report(made: SweepFolder, options: argparse.Namespace, console: Console) -> None:
    """Print the measures, the suggestion and the command that makes the suggested map."""
    folder = options.output
    lines, facts = findings(made, options.input)
    lines += ["", f"all measures: {Path(folder) / files.TABLE}"]
    if (picture := Path(folder) / files.PICTURE).is_file():
        lines.append(f"picture: {picture}")
    content = {
        "command": "sweep",
        "output": folder,
        "points": n_points(made.result),
        "settings": made.settings,
        "maps": [_facts(swept) for swept in made.result.maps],
        **facts,
    }
    console.result("\n".join(lines), content)
    command = shlex.join(["ctsne", "report", folder, "-o", f"{folder.rstrip('/')}.html"])
    console.next({"to look at the maps": command})


def findings(made: SweepFolder, file: str) -> tuple[list[str], dict[str, Any]]:
    """Describe a sweep of a file: the table of maps, the suggestion and its command."""
    result, settings = made.result, made.settings
    mixing = settings["mixing"]
    try:
        suggested = result.suggest(mixing)
        best, reason = suggested.map, suggested.reason
    except ValueError as error:  # mixing cannot be measured
        best, reason = None, str(error)
    columns = titles_of(made.labels, settings["other"])
    lines = [_table_text(result, columns, best), ""]
    known = [share for share in map(_least_mixing, result.maps) if math.isfinite(share)]
    if best is None:
        lines.append(f"suggested: none, because {reason}")
        return lines, {"suggested": None, "reason": reason}
    command = embed_command(best, file, settings)
    how = "To make this map of all points" if result.sampled_from else "To make this map"
    judge = next((x for name, x in columns.items() if name.startswith("other_")), "the picture")
    wanted = "These targets are" if isinstance(mixing, Mapping) else f"{mixing:g} is"
    further = f"try stronger settings as long as {judge} shows that nothing merges that should "
    further += "stay apart"
    if _least_mixing(best) >= max(known):
        further = "no setting of this sweep mixes further"
    advice = f"{wanted} a starting point, not a rule: {further}. {how}:"
    lines.append(f"suggested: {best.title}")
    lines += [textwrap.indent(textwrap.fill(text, 76), "  ") for text in (f"{reason}.", advice)]
    lines.append(f"  {command}")
    return lines, {"suggested": {**_facts(best), "command": command}, "reason": reason}


def n_points(result: SweepResult) -> int:
    """Return the number of points that were swept."""
    return next(len(swept.embedding) for swept in result.maps if swept.embedding is not None)


def _least_mixing(swept: SweptMap) -> float:
    """Return the mixing of the label, or of the least mixed of several; NaN if it is unknown."""
    return min((swept.measures[name] for name in mixings_of(swept.measures)), default=math.nan)


def _facts(swept: SweptMap) -> dict[str, Any]:
    return {"parameters": swept.parameters, **swept.measures, "error": swept.error}


def _table_text(result: SweepResult, columns: Mapping[str, str], best: SweptMap | None) -> str:
    rows: list[list[object]] = []
    for swept in result.maps:
        strength = swept.parameters.get(_knob(swept.parameters))
        setting = "-" if strength is None else value_text(strength)
        mark = "<- suggested" if swept is best else swept.error or ""
        values = map(swept.measures.get, columns)
        rows.append([swept.parameters["method"], setting, *values, mark])
    return aligned(["method", "setting", *columns.values(), ""], rows)


def embed_command(swept: SweptMap, file: str, settings: Mapping[str, Any]) -> str:
    """Return the command that makes one map of the sweep by itself."""
    # The mixing of a sweep is for its suggestion; here the strength is given.
    given = {**settings, **swept.parameters, "output": "map.csv", "mixing": None}
    values = {
        name: value
        for name, value in given.items()
        if is_used(name, given) and name not in ("show", "informative")  # they are for a page
    }
    always = ["method", _knob(swept.parameters)]
    return spell_command(["embed", file], values, always=always)


@dataclass(frozen=True, eq=False)
class SweepFolder:
    """A finished sweep with its columns, row names and settings."""

    result: SweepResult
    columns: dict[str, Any]
    names: Any
    record: Record
    settings: dict[str, Any]  # by option name
    features: dict[str, Any] = field(default_factory=dict)  # to colour the page by
    neighbors: Any = None  # rows nearest in the data

    @property
    def labels(self) -> list[str]:
        """The names of what was factored out."""
        return label_names(self.settings["labels"], self.settings["combine"])


def files_of(path: Path) -> list[Path]:
    """Return the files that :func:`write_folder` writes."""
    names = (files.INDEX, files.COLUMNS, *_OPTIONAL, files.TABLE, files.SETTINGS)
    return [path / name for name in names]


def map_files(path: Path) -> set[str]:
    """Return the names of the files of maps in a folder."""
    from ctsne.storage.sweep import MAP_FILE

    return {file.name for file in path.iterdir() if MAP_FILE.fullmatch(file.name)}


def check_folder(path: Path) -> None:
    """Refuse a folder with other files, before any work is done."""
    from ctsne._core.messages import load

    load("pyarrow")  # for the columns
    if not path.exists():
        if not path.absolute().parent.is_dir():
            raise ValueError(f"cannot create {path}: there is no folder {path.parent}")
    elif not path.is_dir():
        raise ValueError(f"{path} is a file; a sweep needs its own folder: -o FOLDER")
    elif not _is_ours(path):
        others = sorted(file.name for file in path.iterdir() if not file.name.startswith("."))
        if others:
            what = f"the folder {path} holds other files ({others[0]})"
            raise ValueError(f"{what}; a sweep needs its own folder, which need not exist yet")
    for file in files_of(path):
        files.check_target(file)


def _is_ours(path: Path) -> bool:
    """Tell whether a sweep was made or begun here; a file called table.csv does not mean that."""
    from ctsne.storage.record import read_record

    if not (path / files.SETTINGS).is_file():
        return bool(map_files(path))
    try:
        return read_record(path).command == "sweep"
    except ValueError:
        return False


def _check_same_data(path: Path, record: Record) -> None:
    """Refuse a folder with a sweep of other data or labels; else its maps are kept and reused."""
    from ctsne.storage.record import read_record

    if not (path / files.SETTINGS).is_file():
        return
    before = read_record(path)
    labels, now = (label_names(r.labels, bool(r.options.get("combine"))) for r in (before, record))
    one, other = before.input("data"), record.input("data")
    what = "" if one and other and one.data == other.data else "other data or features"
    if labels != now:
        what = f"other labels ({', '.join(labels)})"
    if what:
        raise ValueError(f"{path} holds a sweep of {what}; choose another folder")


def _write_record(path: Path, record: Record) -> None:
    files.write_file(path / files.SETTINGS, f"{record.to_json(indent=1)}\n".encode("ascii"))


def write_folder(path: Path, sweep: SweepFolder) -> None:
    """Write the result; the settings come last, so that they mark a complete folder."""
    from ctsne import pl
    from ctsne.cli.plot import save_picture, use_agg
    from ctsne.io import write_columns

    table = sweep.result.table.drop(columns="seconds").to_csv(index=False, lineterminator="\n")
    with files.sole_writer(path), files.uninterrupted():
        sweep.result.save(path)
        (path / files.SETTINGS).unlink(missing_ok=True)  # those of another sweep
        write_columns(path / files.COLUMNS, sweep.columns, names=sweep.names)
        made = (sweep.features, sweep.neighbors is not None, find_spec("matplotlib"))
        for name in [name for name, new in zip(_OPTIONAL, made, strict=True) if not new]:
            (path / name).unlink(missing_ok=True)
        if sweep.features:
            write_columns(path / files.FEATURES, sweep.features)
        if sweep.neighbors is not None:
            content = BytesIO()
            np.save(content, sweep.neighbors, allow_pickle=False)
            files.write_file(path / files.NEIGHBORS, content.getvalue())
        files.write_file(path / files.TABLE, table.encode("utf-8", "surrogatepass"))
        if made[-1]:
            use_agg()
            strip = pl.strip(sweep.result, mixing=sweep.settings["mixing"])
            save_picture(strip[0, 0].figure, path / files.PICTURE, "ctsne sweep")
        _write_record(path, sweep.record)


def read_folder(path: Path) -> SweepFolder:
    """Read a finished sweep; raise ValueError if the folder has none."""
    from ctsne.cli.rerun import stored_settings
    from ctsne.io import read_columns
    from ctsne.io.read import read_npy
    from ctsne.report.data import check_rows
    from ctsne.storage.record import read_record
    from ctsne.sweep import load_sweep

    if not path.is_dir():
        raise ValueError(f"there is no folder {path}")
    if not all(file.is_file() for file in files_of(path) if file.name not in _OPTIONAL):
        raise ValueError(_not_finished(path))
    record = read_record(path)
    if record.command != "sweep":
        raise ValueError(f"{path} holds no sweep: {files.SETTINGS} is of another command")
    settings = stored_settings(record, path)
    columns, names = read_columns(path / files.COLUMNS)
    features = read_columns(path / files.FEATURES)[0] if (path / files.FEATURES).is_file() else {}
    file, n = path / files.NEIGHBORS, len(next(iter(columns.values()), ()))
    near = check_rows(read_npy(file), n, file) if file.is_file() else None
    return SweepFolder(load_sweep(path), columns, names, record, settings, features, near)


def _not_finished(path: Path) -> str:
    if (path / files.SETTINGS).is_file():
        return f"the sweep in {path} is not finished; ctsne rerun {path} shows how to continue"
    if map_files(path):
        how = "Run the same ctsne sweep again, or use ctsne.report.write_report in Python"
        return f"{path} holds maps of a sweep that is not finished, or was made in Python. {how}"
    return f"{path} holds no finished sweep; make one: ctsne sweep INPUT --labels COLUMN -o {path}"
