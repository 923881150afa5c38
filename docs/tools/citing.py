"""Write the references and an example of a Methods paragraph for the page on citing."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path

import pandas as pd

from ctsne.cli.cite import ORIGINAL, REVISED, describe, software
from ctsne.cli.main import main
from ctsne.datasets import make_synthetic


def write(root: Path, folder: Path) -> None:
    """Write the parts to a folder, and copy CITATION.cff there."""
    references = (REVISED, ORIGINAL, software(version("ctsne")))
    quoted = "\n\n".join(f"> {each.text}" for each in references)
    entries = "\n\n".join(each.bibtex for each in references)
    parts = {
        "references": quoted,
        "bibtex": f"```text\n{entries}\n```",
        "paragraph": "> " + _escaped(paragraph()),
    }
    for name, text in parts.items():
        (folder / f"citing-{name}.txt").write_text(text + "\n", encoding="utf-8")
    files = folder / "files"
    files.mkdir(exist_ok=True)
    shutil.copy(root / "CITATION.cff", files)


def paragraph() -> str:
    """Return the paragraph about a small map, which is made for it."""
    data = make_synthetic(600, random_state=0)
    table = pd.DataFrame(data.X, columns=[f"PC{i}" for i in range(1, 11)])
    with tempfile.TemporaryDirectory() as place:
        cells, made, model = (os.path.join(place, name) for name in ("c.csv", "m.csv", "m.ctsne"))
        table.assign(batch=data.known).to_csv(cells, index=False)
        words = ["--labels", "batch", "--mixing", "0.7", "-o", made, "--model", model, "-q"]
        with contextlib.redirect_stdout(io.StringIO()):
            code = main(["embed", cells, *words])
        if code != 0:
            raise RuntimeError(f"ctsne embed ended with code {code}")
        return describe(model)[0]


def _escaped(text: str) -> str:
    return text.replace("[", "\\[").replace("_", "\\_")
