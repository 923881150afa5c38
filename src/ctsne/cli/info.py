"""``ctsne info``: what is installed, how a map was made, and which label to factor out."""

from __future__ import annotations

import platform
from argparse import Namespace
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne._core.messages import FeaturesWarning, label_text, quoted, size_text, value_text
from ctsne.cli.console import Console, aligned
from ctsne.cli.files import model_columns, read_file
from ctsne.cli.main import Parser, spell_command
from ctsne.cli.options import add_key, add_messages, option
from ctsne.labels import Column
from ctsne.labels.candidates import kind_of
from ctsne.methods import METHODS

if TYPE_CHECKING:
    from ctsne.storage.record import Record

USAGE = "[FILE] [options]"
HELP = "which label to factor out of a data file, or how a map or model was made"
# The purpose of each extra, and the modules it installs.
_EXTRAS = {
    "cli": ("reading and writing tables and h5ad files", ("anndata", "pandas", "pyarrow")),
    "plot": ("pictures", ("matplotlib",)),
    "scanpy": ("ctsne.tl on AnnData", ("anndata", "scanpy")),
    "dask": ("sweeps and placing on a cluster", ("dask", "distributed")),
    "widget": ("selections of a page in a notebook", ("anywidget",)),
    "scib": ("standard measures, large", ("scib_metrics",)),
}

_VALUES, _SHOWN = 3, 6  # values of a column, columns and relations that are shown
_STORED = ("kl_divergence", "n_iter", "recall")  # results of a fit that its map stores


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    main.add_argument("file", metavar="FILE", nargs="?", help="data, a map or a model")
    text = "more columns of the points, such as selections that were saved on a page"
    option(main, "--label-file FILE", text)
    add_key(main)
    add_messages(parser)


def run(options: Namespace, console: Console) -> None:
    """Collect and print the facts."""
    from ctsne.io.paths import DATA_SUFFIXES, MODEL_SUFFIX, check_input, suffix_of
    from ctsne.storage.record import find_record

    if options.file is None:
        _describe_installation(console)
        return
    source, record = check_input(options.file, (*DATA_SUFFIXES, MODEL_SUFFIX)), None
    suffix = suffix_of(source)
    try:
        record = find_record(source, key=options.key)
    except ValueError as error:
        if suffix == MODEL_SUFFIX:
            raise
        console.warn(error)  # perhaps the settings of another program
    content: dict[str, Any] = {"file": options.file}
    lines, commands = [], {}
    if record is not None:
        facts, mixed = _facts(source, record, options.key)
        lines = [f"{name:10} {text}" for name, text in facts.items()]
        content["map"] = facts | {"mixing": mixed, "record": record.to_dict()}
        commands["to describe it in a paper"] = spell_command(["cite", options.file], {})
    if record is None or suffix == ".h5ad":  # which holds the data too
        try:
            data, more, command = _describe_data(options.file, options.label_file, console)
            lines, commands = [*lines, *[""] * bool(lines), *data], {"to make maps": command}
            content |= more | {"next": command}
        except ValueError as error:
            if record is None:
                raise
            console.warn(error)  # the map alone was kept
    console.result("\n".join(lines), content)
    console.next(commands)


def _describe_installation(console: Console) -> None:
    from ctsne import _native
    from ctsne._core.jobs import usable_cpus
    from ctsne._core.memory import free_memory

    free = free_memory()
    content: dict[str, Any] = {
        "ctsne": version("ctsne"),
        "instruction set": _native.instruction_set(),
        "threads": usable_cpus(),
        "memory free": None if free is None else f"{free / 2**30:.1f} GiB",
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn")},
    }
    lines = [f"{name:16} {value}" for name, value in content.items()]
    lines += ["", "extras"]
    content["extras"] = {}
    for name, (purpose, modules) in _EXTRAS.items():
        missing = [module for module in modules if find_spec(module) is None]
        install = f'pip install "ctsne[{name}]"'
        state = f"missing {', '.join(missing)}: {install}" if missing else "installed"
        lines.append(f"  {name:8} {purpose:46} {state}")
        content["extras"][name] = {"for": purpose, "missing": missing, "install": install}
    console.result("\n".join(lines), content)


def _facts(source: Path, record: Record, key: str) -> tuple[dict[str, str], dict[str, float]]:
    """Return how a map or a model was made, and the mixing of its labels."""
    from ctsne.cli.rerun import FILES, stored_settings
    from ctsne.estimator import load
    from ctsne.evaluate import mixing
    from ctsne.io import read_map
    from ctsne.io.paths import MODEL_SUFFIX, suffix_of
    from ctsne.labels.columns import encode_mixed
    from ctsne.settings import DEFAULTS

    features, given, results = record.features, record.parameters, record.results
    if suffix_of(source) == MODEL_SUFFIX:
        model = load(source)
        positions, labels = model.embedding_, model_columns(model)
        features = getattr(model, "feature_names_in_", features)
    else:
        found = read_map(source, key=key)
        stored = {name: found.columns[name] for name in record.labels if name in found.columns}
        numbers = [name for name in record.options.get("numbers") or () if name in stored]
        period = given.get("numbers_period") if numbers else None
        known = encode_mixed(stored, numbers, period=period)
        positions, labels = found.embedding, {} if known is None else known.by_name
    n, dimensions = positions.shape
    mixed = {name: mixing(positions, x) for name, x in labels.items() if n > 3 and x.n_labels > 1}
    method, data = METHODS.get(str(given.get("method"))), record.input("data")
    how = f"placed in {placed.file}" if (placed := record.input("model")) else ""
    if method is not None:
        value = results.get(str(method.knob))
        how = method.name if value is None else f"{method.name}, {method.knob} {value_text(value)}"
    changed = {
        name: value
        for name, value in given.items()
        if name not in ("method", "strength", "beta") and value != DEFAULTS.get(name)
    }
    made_by = record.made_by
    if data is not None and record.command in ("embed", "transform"):
        files = {FILES[file.role]: file.file for file in record.inputs if file.role in FILES}
        first = [data.file] if record.command == "embed" else [files.pop("model"), data.file]
        made_by = spell_command([record.command, *first], stored_settings(record, source) | files)
    names = [f"{name}: {column.describe()}" for name, column in labels.items()]
    size = f"{n:,} points in {dimensions} dimension{'s' * (dimensions > 1)}"
    facts = {
        "map": f"{source} ({size}, {size_text(source.stat().st_size)})",
        "method": how,
        "settings": value_text(changed),
        "labels": "; ".join(names) or ", ".join(record.labels) or "none",
        "mixing": value_text({name: round(share, 2) for name, share in mixed.items()}),
        "measures": value_text({name: results[name] for name in _STORED if name in results}),
        "columns": "" if features is None else f"{len(features)}: {quoted(features, most=4)}",
        "data": "" if data is None else f"{record.source} of {data.file}",
        "made by": made_by,
        "ctsne": record.versions.get("ctsne", "unknown"),
    }
    return {name: text for name, text in facts.items() if text}, mixed


def _describe_data(
    path: str, label_file: str | None, console: Console
) -> tuple[list[str], dict[str, Any], str]:
    """Return lines and facts about a data file, and the command to go on with."""
    from ctsne.evaluate.screen import screen
    from ctsne.io import read_data, suffix_of
    from ctsne.io.tables import candidates, folded, main_features

    console.stage(f"reading {path}")
    data = read_data(path, label_file=label_file)
    doubtful = any(isinstance(warning, FeaturesWarning) for warning in data.warnings)
    pattern = main_features(data.features) if doubtful else None
    every, data = data.features, data if pattern is None else data.select([pattern])
    console.stage("neighbours")
    columns = candidates(data.columns, numbers=True)
    found = screen(data.X, columns)
    rest = [name for name in data.columns if name not in columns]
    left_out = [name for name in every if name not in data.features]
    content: dict[str, Any] = {
        "points": int(data.X.shape[0]),
        "source": str(data.source),
        "features": list(data.features),
        "other columns": rest,
        "labels": {column.name: vars(column) for column in found.columns},
        "relations": [{**vars(relation), "text": relation} for relation in found.relations],
        "proposal": found.proposal,
        "advice": found.advice,
    }
    lines = [
        f"data       {path} ({data.X.shape[0]:,} points)",
        f"features   {data.source}: {folded(data.features)}",
        *([f"left out   {quoted(left_out)}: choose with --features"] if left_out else []),
        *([f"others     {quoted(rest)}"] if rest else []),
    ]
    if found.columns:
        head = ("column", "values", "mixing in the data", "note")
        rows = [(x.name[:40], _values(columns[x.name]), x.mixing, x.note) for x in found.columns]
        lines += ["", aligned(head, rows)]
    related = [f"- {relation}" for relation in found.relations]
    if len(related) > _SHOWN:
        related[_SHOWN:] = [f"- and {len(related) - _SHOWN} more pairs, see --json"]
    lines += [*["", *related] * bool(related), "", f"proposal: {found.advice}"]
    for note in data.notes:
        console.detail(note)
    for warning in data.warnings:
        if pattern is None or not isinstance(warning, FeaturesWarning):
            console.warn(warning)
    stem = Path(path.removesuffix(suffix_of(path))).name
    settings: dict[str, Any] = {"features": None if pattern is None else [pattern]}
    settings["label_file"] = label_file
    if found.proposal is None:
        settings |= {"method": "tsne", "output": f"{stem}-map.csv"}
        return lines, content, spell_command(["embed", path], settings)
    number = columns[found.proposal].numbers is not None
    settings["numbers" if number else "labels"] = [found.proposal]
    seen = label_to_see([x.name for x in found.columns if x.name != found.proposal])
    settings["other"] = None if seen is None else [seen]
    return lines, content, report_command(path, settings, f"{stem}.html")


def _values(labels: Column) -> str:
    most = (-labels.counts).argsort(kind="stable")[:_VALUES].tolist()
    some = [f"{label_text(labels.names[i]):.12}" for i in most]
    more = ["..."] if labels.n_labels > _VALUES else []
    return f"{labels.n_labels}: {', '.join(some + more)}"


def label_to_see(names: Sequence[str]) -> str | None:
    """Return the column that one probably looks for."""
    return next((name for name in names if kind_of(name) == "analysis"), None)


def second_label(
    columns: Mapping[str, Any], known: Sequence[str] | None, other: Sequence[str] | None, key: str
) -> list[str]:
    """Return the labels to look for, to colour by: those named, a likely one or the only one."""
    from ctsne.io.tables import candidates

    if other is not None:
        return [name for name in other if name in columns]
    left = {name: values for name, values in columns.items() if name not in (known or ())}
    found = [*candidates(left, key)]
    likely = label_to_see(found)
    return found if len(found) == 1 else [likely] if likely is not None else []


def missing_labels(options: Namespace, otherwise: str = "") -> str:
    """Explain that no label is named, with the columns of the input that could be one."""
    from ctsne.io.tables import candidates

    what = f"--labels COLUMN is missing: name the label to factor out{otherwise}"
    try:
        found = candidates(read_file(options).columns)
    except (ImportError, OSError, TypeError, ValueError):  # reported once the label is named
        return what
    if not found:
        return f"{what}. {options.input} has no column that looks like a label"
    some = [f"{name} ({labels.n_labels} values)" for name, labels in found.items()][:_SHOWN]
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return f"{what}. Columns that could be labels: {', '.join(some)}{more}"


def report_command(file: str, settings: Mapping[str, Any], page: str) -> str:
    """Return the command that compares strengths of the same labels on a page."""
    values = {name: value for name, value in settings.items() if value is not None}
    return spell_command(["report", file], {**values, "output": page})
