"""Convert the tutorials to notebooks and run them for every build."""

from __future__ import annotations

import importlib.util
import tempfile
from pathlib import Path
from types import ModuleType

import nbformat


def write(scripts: Path, folder: Path) -> None:
    """Write every notebook with its outputs to a folder.

    Parameters
    ----------
    scripts : Path
        The folder of the scripts and of ``build.py``, which converts them.
    folder : Path
    """
    notebooks = _builder(scripts)
    for name in notebooks.SCRIPTS:
        notebook = notebooks.build(name)
        with tempfile.TemporaryDirectory() as workplace:
            notebooks.execute(notebook, Path(workplace))
        nbformat.write(notebook, folder / f"{name}.ipynb")


def _builder(scripts: Path) -> ModuleType:
    """Import ``build.py`` under a unique name, because other modules are called ``build`` too."""
    spec = importlib.util.spec_from_file_location("build_notebooks", scripts / "build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
