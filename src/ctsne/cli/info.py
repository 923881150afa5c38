"""``ctsne info``: show versions, the instruction set and installed extras."""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from ctsne.cli.console import Console
from ctsne.cli.main import Parser, command_parser
from ctsne.cli.options import add_messages, spelled

USAGE = "[MODEL] [--json]"
HELP = "show version, threads and installed extras, or what a model file holds"
DESCRIPTION = """\
Show the version, the instruction set and the number of threads in use, and
which extras are installed. Useful in bug reports, and when a file cannot be
read or drawn.

Given a model file, show what it holds instead: method and labels, the data it
was made from, and the command that made it."""

EPILOG = """\
instruction set:
  ctsne uses the fastest one that the processor has. Maps may differ in their
  last digits between instruction sets, so every map records its own.

examples:
  ctsne info
  ctsne info --json
  ctsne info model.ctsne"""

# The purpose of each extra, and the modules it installs.
_EXTRAS = {
    "cli": ("reading and writing tables and h5ad files", ("anndata", "pandas", "pyarrow")),
    "plot": ("pictures", ("matplotlib",)),
    "report": ("interactive pages (no other package needed)", ()),
    "scanpy": ("ctsne.tl on AnnData", ("anndata", "scanpy", "skmisc")),
    "dask": ("sweeps and placing on a cluster", ("dask", "distributed", "zarr")),
}


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    main.add_argument("model", metavar="MODEL", nargs="?", help="a model file to describe")
    add_messages(parser, config=False)


def run(options: argparse.Namespace, console: Console) -> None:
    """Collect and print the facts."""
    if options.model is not None:
        _describe(options.model, console)
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
