"""``ctsne info``: show versions, the instruction set and installed extras."""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from ctsne.cli.console import Console
from ctsne.cli.main import Parser
from ctsne.cli.options import add_messages

USAGE = "[--json]"
HELP = "show version, instruction set, threads and installed extras"
DESCRIPTION = """\
Show the version, the instruction set and the number of threads in use, and
which extras are installed. Useful in bug reports, and when a file cannot be
read or drawn."""

EPILOG = """\
instruction set:
  ctsne uses the fastest one that the processor has. Maps may differ in their
  last digits between instruction sets, so every map records its own.

examples:
  ctsne info
  ctsne info --json"""

# The purpose of each extra, and the modules it installs.
_EXTRAS = {
    "cli": ("reading and writing tables and h5ad files", ("anndata", "pandas", "pyarrow")),
    "plot": ("pictures", ("matplotlib",)),
    "report": ("interactive pages", ("bokeh",)),
    "scanpy": ("ctsne.tl on AnnData", ("anndata", "scanpy", "skmisc")),
    "dask": ("sweeps on a cluster", ("distributed",)),
}


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    add_messages(parser, config=False)


def run(options: argparse.Namespace, console: Console) -> None:
    """Collect and print the facts."""
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
