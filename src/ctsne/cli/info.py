"""``ctsne info``: what is installed, what a model file holds, which columns a data file has."""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ctsne.cli.console import Console
from ctsne.cli.hints import label_columns, label_to_see, report_command
from ctsne.cli.main import Parser, command_parser
from ctsne.cli.options import add_messages, spelled

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
    "scanpy": ("ctsne.tl on AnnData", ("anndata", "scanpy", "skmisc")),
    "dask": ("sweeps and placing on a cluster", ("dask", "distributed", "zarr")),
}

# Values of a column that are shown, the most frequent first.
_VALUES = 4


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    main.add_argument("file", metavar="FILE", nargs="?", help="a data file or a model to describe")
    add_messages(parser, config=False)


def run(options: argparse.Namespace, console: Console) -> None:
    """Collect and print the facts."""
    if options.file is not None:
        from ctsne._io.paths import MODEL_SUFFIX

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
            "for": purpose, "installed": not missing, "missing": missing, "install": install,
        }  # fmt: skip
    console.result("\n".join(lines), content)


def _describe(path: str, console: Console) -> None:
    """Print what a model file holds, after checking all of it."""
    from ctsne._core.messages import listed, value_text
    from ctsne._fit.storing import origin_of
    from ctsne._io.models import check_model_input
    from ctsne.methods import METHODS
    from ctsne.stored import load

    source = check_model_input(path)
    model = load(source)
    origin = origin_of(model)
    n, dimensions = model.embedding_.shape
    knob = METHODS[model.method].knob
    value = None if knob is None else getattr(model, f"{knob}_")
    labels = "none" if model.labels_ is None else model.labels_.describe()
    features = getattr(model, "feature_names_in_", origin.features if origin else None)
    content: dict[str, Any] = {
        "model": path,
        "size": f"{source.stat().st_size / 1e6:.1f} MB",
        "map": f"{n} points in {dimensions} dimension{'s' * (dimensions > 1)}",
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
        content["made by"] = spelled(
            command_parser("embed"), ["embed", made.inputs[0].file], made.settings
        )
        content["ctsne"] = made.versions.get("ctsne", "unknown")
    console.result("\n".join(f"{name:10} {each}" for name, each in content.items()), content)


def _describe_data(path: str, console: Console) -> None:
    """Print the features and columns of a data file, and how to go on."""
    from ctsne._core.messages import label_text, listed
    from ctsne._io import read_data, suffix_of
    from ctsne._io.tables import folded, main_features

    console.stage(f"reading {path}")
    data = read_data(path)
    found = label_columns(data)
    facts = {
        name: {"values": labels.n_labels, "missing": labels.n_missing,
               "largest": {label_text(labels.names[i]): int(labels.counts[i])
                           for i in (-labels.counts).argsort(kind="stable")[:_VALUES]}}
        for name, labels in found.items()
    }  # fmt: skip
    rest = [name for name in data.columns if name not in found]
    content: dict[str, Any] = {
        "file": path, "points": int(data.X.shape[0]), "features": list(data.features),
        "source": data.source, "labels": facts, "other columns": rest,
    }  # fmt: skip
    lines = [
        f"data       {path} ({data.X.shape[0]:,} points)",
        f"features   {data.source}: {folded(data.features)}",
    ]
    for title, (name, each) in zip(("labels", *[""] * len(facts)), facts.items(), strict=False):
        values = ", ".join(f"{label} ({count:,})" for label, count in each["largest"].items())
        more = ", ..." if each["values"] > _VALUES else ""
        missing = f"; {each['missing']:,} missing" if each["missing"] else ""
        lines.append(f"{title:10} {name}: {each['values']} values: {values}{more}{missing}")
    if not facts:
        lines.append("labels     none: no column has a few values that repeat")
    if rest:
        lines.append(f"others     {listed(rest)}")
    console.result("\n".join(lines), content)
    for each in (*data.notes, *data.warnings):
        console.say(each)
    if not found:
        return
    other = label_to_see([*found])
    known, *_ = [name for name in found if name != other] or [other]
    pattern = (
        main_features(data.features)
        if any("--features" in each for each in data.warnings)
        else None
    )
    settings = {"labels": [known], "other": None if known == other else other,
                "features": None if pattern is None else [pattern]}  # fmt: skip
    stem = path.removesuffix(suffix_of(path))
    command = report_command(path, settings, f"{Path(stem).name}.html")
    console.next({"with the label that you want to factor out": command})
