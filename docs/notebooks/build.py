"""Convert the scripts in this folder to notebooks: ``python build.py [--execute] OUTPUT_FOLDER``.

The scripts use the percent format of common editors: a line ``# %%`` begins a code cell, a line
``# %% [markdown]`` a text cell written as comments. Lines before the first cell are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

try:
    import nbformat
    from nbclient import NotebookClient
except ImportError as error:
    raise SystemExit(f"{error}: pip install nbformat nbclient ipykernel") from error

SCRIPTS = ("from_file_to_decision", "single_cells", "explore_digits")
_CODE, _TEXT = "# %%", "# %% [markdown]"


def build(name: str) -> nbformat.NotebookNode:
    """Convert a script to a notebook.

    Parameters
    ----------
    name : str
        One of ``SCRIPTS``.

    Returns
    -------
    nbformat.NotebookNode
    """
    script = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    notebook = nbformat.v4.new_notebook(cells=list(_cells(script)))
    notebook.metadata.kernelspec = {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    }
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"  # not random, so that the same script gives the same file
    nbformat.validate(notebook)
    return notebook


def execute(notebook: nbformat.NotebookNode, folder: Path) -> None:
    """Run all cells in a folder and keep their outputs.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
    folder : Path
        Working directory of the notebook.
    """
    NotebookClient(
        notebook,
        timeout=600,
        resources={"metadata": {"path": str(folder)}},
        # The kernel warns about unencrypted connections, but these never leave the machine.
        extra_arguments=["--log-level=ERROR"],
    ).execute()


def _cells(script: str) -> Iterator[nbformat.NotebookNode]:
    kind, lines = "", list[str]()
    for line in [*script.splitlines(), _CODE]:
        if line not in (_CODE, _TEXT):
            lines.append(line)
            continue
        if kind == _TEXT:
            text = [part.removeprefix("#").removeprefix(" ") for part in lines]
            yield nbformat.v4.new_markdown_cell("\n".join(text).strip())
        elif kind == _CODE:
            yield nbformat.v4.new_code_cell("\n".join(lines).strip())
        kind, lines = line, []


def main() -> None:
    """Write all notebooks."""
    parser = argparse.ArgumentParser(description="Convert the tutorial scripts to notebooks.")
    parser.add_argument("folder", type=Path, help="where to write the .ipynb files")
    parser.add_argument("--execute", action="store_true", help="run them and keep the outputs")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in SCRIPTS:
        notebook = build(name)
        if options.execute:
            execute(notebook, options.folder)
        path = options.folder / f"{name}.ipynb"
        nbformat.write(notebook, path)
        print(path)


if __name__ == "__main__":
    main()
