"""``ctsne info``: what is installed, what a model file holds, which columns a data file has."""

from __future__ import annotations

import argparse
import platform
from collections.abc import Mapping
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne._core.messages import FeaturesWarning
from ctsne.cli.console import Console
from ctsne.cli.hints import candidates, label_to_see, report_command
from ctsne.cli.inputs import label_names
from ctsne.cli.main import Parser, spell_command
from ctsne.cli.options import add_messages
from ctsne.labels import Column

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
  ctsne info --json
  ctsne info cells.csv
  ctsne info model.ctsne"""

# The purpose of each extra, and the modules it installs.
_EXTRAS = {
    "cli": ("reading and writing tables and h5ad files", ("anndata", "pandas", "pyarrow")),
    "plot": ("pictures", ("matplotlib",)),
    "report": ("interactive pages (no other package needed)", ()),
    "scanpy": ("ctsne.tl on AnnData", ("anndata", "scanpy")),
    "dask": ("sweeps and placing on a cluster", ("dask", "distributed", "zarr")),
}

# Values of a column that are shown, the most frequent first.
_VALUES = 4


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    main.add_argument("file", metavar="FILE", nargs="?", help="a data file or a model to describe")
    add_messages(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Collect and print the facts."""
    if options.file is not None:
        from ctsne.io.paths import MODEL_SUFFIX

        describe = _describe if options.file.lower().endswith(MODEL_SUFFIX) else _describe_data
        describe(options.file, console)
        return
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


def _describe(path: str, console: Console) -> None:
    """Print what a model file holds, after checking all of it."""
    from ctsne._core.messages import listed, size_text, value_text
    from ctsne.methods import METHODS
    from ctsne.storage.model import check_model_input, label_name
    from ctsne.storage.provenance import origin_of
    from ctsne.stored import load

    source = check_model_input(path)
    model = load(source)
    origin = origin_of(model)
    n, dimensions = model.embedding_.shape
    knob = METHODS[model.method].knob
    value = None if knob is None else getattr(model, f"{knob}_")
    labels = "none" if model.labels_ is None else model.labels_.describe()
    if isinstance(model.labels_, Column):
        made_with = [] if origin is None else label_names(origin.provenance.settings)
        name = label_name(model) or next(iter(made_with), "")
        labels = f"{name}: {labels}" if name else labels
    features = getattr(model, "feature_names_in_", origin.features if origin else None)
    content: dict[str, Any] = {
        "model": path,
        "size": size_text(source.stat().st_size),
        "map": f"{n:,} points in {dimensions} dimension{'s' * (dimensions > 1)}",
        "method": model.method if value is None else f"{model.method}, {knob} {value_text(value)}",
        "metric": model.metric,
        "labels": labels,
        "columns": str(model.n_features_in_),
    }
    if features is not None:
        content["columns"] += f": {listed(features, most=4)}"
    if origin is not None:
        made = origin.provenance
        content["data"] = f"{origin.source} of {made.inputs[0].file}"
        content["made by"] = spell_command(["embed", made.inputs[0].file], made.settings)
        content["ctsne"] = made.versions.get("ctsne", "unknown")
    console.result("\n".join(f"{name:10} {each}" for name, each in content.items()), content)


def _describe_data(path: str, console: Console) -> None:
    """Print the features and columns of a data file, and how to go on."""
    from ctsne._core.messages import listed
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
            name: {"values": each.n_labels, "missing": each.n_missing}
            for name, each in found.items()
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
        lines.append(f"others     {listed(rest)}")
    for note in data.notes:
        console.detail(note)
    for warning in data.warnings:
        console.warn(warning)
    console.result("\n".join(lines), content)
    if found:
        console.next({"with the label that you want to factor out": _report_of(path, data, found)})


def _values(labels: Column) -> str:
    """Describe the values of a label column, the most frequent first."""
    from ctsne._core.messages import label_text

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
