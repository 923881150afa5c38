"""Convert the tutorials to notebooks and run them.

If the variable ``CTSNE_TUTORIALS`` names a folder, the notebooks in it are used instead: the tests
run each notebook once, check what it says and build the site from it.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
from pathlib import Path
from types import ModuleType

import nbformat


def write(scripts: Path, folder: Path) -> None:
    """Write every notebook with its outputs to a folder."""
    notebooks = _builder(scripts)
    done = os.environ.get("CTSNE_TUTORIALS")
    for name in notebooks.SCRIPTS:
        if done:
            shutil.copy(Path(done) / f"{name}.ipynb", folder)
            continue
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
