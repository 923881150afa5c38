"""``ctsne info``: what is installed, what a model holds, which columns could be labels."""

from __future__ import annotations

import argparse
import platform
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ctsne._core.messages import FeaturesWarning, label_text, quoted, size_text, value_text
from ctsne.cli.console import Console
from ctsne.cli.files import model_columns, read_file
from ctsne.cli.main import Parser, spell_command
from ctsne.cli.options import add_messages
from ctsne.labels import Column, encode_column
from ctsne.methods import METHODS

if TYPE_CHECKING:
    from ctsne.io import Dataset

USAGE = "[FILE] [--json]"
HELP = "show what a data file or a model holds, or version and installed extras"
DESCRIPTION = """\
Show the version, the instruction set and the number of threads in use, and
which extras are installed. Useful in bug reports, and when a file cannot be
read or drawn.

Given a data file, show its features and the columns that could be labels.
Given a model file, show its method and labels, the data it was made from, and
the command that made it."""

EPILOG = """\
instruction set:
  ctsne uses the fastest one that the processor has. Maps may differ in their
  last digits between instruction sets, so every map records its own.

examples:
  ctsne info
  ctsne info cells.csv
  ctsne info model.ctsne"""

# The purpose of each extra, and the modules it installs.
_EXTRAS = {
    "cli": ("reading and writing tables and h5ad files", ("anndata", "pandas", "pyarrow")),
    "plot": ("pictures", ("matplotlib",)),
    "scanpy": ("ctsne.tl on AnnData", ("anndata", "scanpy")),
    "dask": ("sweeps and placing on a cluster", ("dask", "distributed", "zarr")),
}

# Values of a column that are shown, the most frequent first, and columns in a message.
_VALUES, _SHOWN = 4, 6
# A label has at most this many values, and at least this many points per value on average. More
# whole numbers than this are counts.
_MOST_VALUES, _LEAST_POINTS, _MOST_NUMBERS = 200, 4, 50
# Rows that show whether a column has too many values, and features that are not genes.
_LOOKED_AT, _MOST_FEATURES = 10_000, 1000
# Columns of these names usually hold what is known before an experiment, or what it looks for.
_KNOWN = re.compile(
    r"batch|donor|sample|patient|subject|individual|replicate|plate|run|lane|tech|method|platform"
    r"|protocol|study|dataset|condition|stim|treat|site|lab$|center|centre|day",
    re.IGNORECASE,
)
_LOOKED_FOR = re.compile(r"type|class|cluster|label|annot|lineage|state|digit", re.IGNORECASE)


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    main.add_argument("file", metavar="FILE", nargs="?", help="a data file or a model to describe")
    add_messages(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Collect and print the facts."""
    from ctsne.io.paths import MODEL_SUFFIX

    if options.file is None:
        _describe_installation(console)
    elif options.file.lower().endswith(MODEL_SUFFIX):
        _describe_model(options.file, console)
    else:
        _describe_data(options.file, console)


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
        content["extras"][name] = {
            "for": purpose,
            "installed": not missing,
            "missing": missing,
            "install": install,
        }
    console.result("\n".join(lines), content)


def _describe_model(path: str, console: Console) -> None:
    """Print what a model file holds, after checking all of it."""
    from ctsne.cli.rerun import stored_settings
    from ctsne.estimator import load
    from ctsne.storage.model import check_model_input
    from ctsne.storage.record import record_of

    source = check_model_input(path)
    model = load(source)
    record = record_of(model)
    n, dimensions = model.embedding_.shape
    knob = METHODS[model.method].knob
    value = None if knob is None else getattr(model, f"{knob}_")
    features = getattr(model, "feature_names_in_", record.features)
    content: dict[str, Any] = {
        "model": path,
        "size": size_text(source.stat().st_size),
        "map": f"{n:,} points in {dimensions} dimension{'s' * (dimensions > 1)}",
        "method": model.method if value is None else f"{model.method}, {knob} {value_text(value)}",
        "metric": model.metric,
        "labels": "; ".join(
            f"{name}: {column.describe()}" for name, column in model_columns(model).items()
        )
        or "none",
        "columns": str(model.n_features_in_),
    }
    if features is not None:
        content["columns"] += f": {quoted(features, most=4)}"
    data = record.input("data")
    if data is not None:
        content["data"] = f"{record.source} of {data.file}"
        settings = stored_settings(record, source)
        content["made by"] = spell_command(["embed", data.file], settings)
    content["ctsne"] = record.versions.get("ctsne", "unknown")
    console.result("\n".join(f"{name:10} {text}" for name, text in content.items()), content)


def _describe_data(path: str, console: Console) -> None:
    """Print the features and columns of a data file, and how to go on."""
    from ctsne.io import read_data
    from ctsne.io.tables import folded

    console.stage(f"reading {path}")
    data = read_data(path)
    found = candidates(data)
    rest = [name for name in data.columns if name not in found]
    content: dict[str, Any] = {
        "file": path,
        "points": int(data.X.shape[0]),
        "source": str(data.source),
        "features": list(data.features),
        "other columns": rest,
        "labels": {
            name: {"values": labels.n_labels, "missing": labels.n_missing}
            for name, labels in found.items()
        },
    }
    lines = [
        f"data       {path} ({data.X.shape[0]:,} points)",
        f"features   {data.source}: {folded(data.features)}",
    ]
    title = "labels"
    for name, labels in found.items():
        number = " (whole numbers)" if name in data.features else ""
        lines.append(f"{title:10} {name}{number}: {_values(labels)}")
        title = ""
    if not found:
        lines.append("labels     none: no column has a few values that repeat")
    if rest:
        lines.append(f"others     {quoted(rest)}")
    for note in data.notes:
        console.detail(note)
    for warning in data.warnings:
        console.warn(warning)
    console.result("\n".join(lines), content)
    if found:
        console.next({"with the label that you want to factor out": _report_of(path, data, found)})


def _values(labels: Column) -> str:
    """Describe the values of a label column, the most frequent first."""
    most = (-labels.counts).argsort(kind="stable")[:_VALUES].tolist()
    some = [f"{label_text(labels.names[i]):.40} ({labels.counts[i]:,})" for i in most]
    more = ["..."] if labels.n_labels > _VALUES else []
    missing = f"; {labels.n_missing:,} missing" if labels.n_missing else ""
    return f"{labels.n_labels} values, {', '.join(some + more)}{missing}"


def _report_of(path: str, data: Dataset, found: Mapping[str, Column]) -> str:
    """Return a command that makes maps of a data file, with what seems to be the known label."""
    from ctsne.io import suffix_of
    from ctsne.io.tables import main_features

    other = label_to_see([*found])
    known = next((name for name in found if name != other), other)
    settings: dict[str, Any] = {"labels": [known], "other": None if known == other else other}
    if any(isinstance(warning, FeaturesWarning) for warning in data.warnings):
        pattern = main_features(data.features)
        settings["features"] = None if pattern is None else [pattern]
    stem = Path(path.removesuffix(suffix_of(path))).name
    return report_command(path, settings, f"{stem}.html")


# ---- columns that could be labels ----------------------------------------------------------------


def label_columns(columns: Mapping[str, Any]) -> dict[str, Column]:
    """Return the columns that could be labels, those that are usually known first."""
    found = {}
    for name, column in columns.items():
        kind = getattr(getattr(column, "dtype", None), "kind", "O")
        most = min(_MOST_NUMBERS if kind in "iu" else _MOST_VALUES, len(column) // _LEAST_POINTS)
        # Fractions are measurements. Of many values, the first rows already have too many.
        if kind == "f" or _encoded(column[:_LOOKED_AT]) is None:
            continue
        labels = _encoded(column)
        if labels is not None and 2 <= labels.n_labels <= most:
            found[name] = labels
    return dict(sorted(found.items(), key=lambda item: (_rank(item[0]), item[1].n_labels)))


def _encoded(column: Any) -> Column | None:
    """Return a column as labels, unless it cannot be one."""
    try:
        labels = encode_column(column)
    except (TypeError, ValueError):
        return None
    return labels if labels.n_labels <= _MOST_VALUES else None


def _rank(name: str) -> int:
    return 2 if _LOOKED_FOR.search(name) else 0 if _KNOWN.search(name) else 1


def candidates(data: Dataset) -> dict[str, Column]:
    """Return the columns of a file that could be labels, whole numbers among its features too."""
    from ctsne._core.checks import is_sparse

    numbers: dict[str, Any] = {}
    if not is_sparse(data.X) and len(data.features) <= _MOST_FEATURES:  # else they are genes
        whole = (np.mod(data.X, 1) == 0).all(axis=0)
        if 2 * whole.sum() < len(whole):  # else they are counts
            places = np.flatnonzero(whole).tolist()
            numbers = {data.features[i]: data.X[:, i].astype(np.int64) for i in places}
    return label_columns({**data.columns, **numbers})


def label_to_see(names: Sequence[str]) -> str | None:
    """Return the column that one probably looks for."""
    return next((name for name in names if _LOOKED_FOR.search(name)), None)


def second_label(
    columns: Mapping[str, Any], known: Sequence[str] | None, other: str | None, key: str
) -> list[str]:
    """Return the column to colour by besides those factored out: the label to look for.

    Without a name, it is the one that is named like that, or the only one that could be a label.
    """
    from ctsne.io.tables import is_of_map

    if other is not None:
        return [other] if other in columns else []
    left = {name: values for name, values in columns.items() if name not in (known or ())}
    found = [*label_columns({name: x for name, x in left.items() if not is_of_map(name, key)})]
    likely = label_to_see(found)
    return found if len(found) == 1 else [likely] if likely is not None else []


def missing_labels(options: argparse.Namespace, otherwise: str = "") -> str:
    """Explain that no label is named, with the columns of the input that could be one."""
    what = f"--labels COLUMN is missing: name the label to factor out{otherwise}"
    try:
        found = candidates(read_file(options))
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
