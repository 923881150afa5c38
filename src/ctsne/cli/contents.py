"""What of an output must come out the same when it is made again."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

from ctsne.cli.folders import SWEEP

__all__ = ["content_of"]


def content_of(path: Path, *, key: str) -> Any:
    """Return all that an output shows, without where it lies and how it was made.

    Parameters
    ----------
    path : Path
        A map, the folder of a sweep, a picture, a page or a table of measures.
    key : str
        What the map in an .h5ad is called.
    """
    from ctsne._io import PICTURE_SUFFIXES, read_map

    if path.is_dir():
        return _of_sweep(path)
    suffix = path.suffix.lower()
    if suffix == ".html":
        return _of_page(path.read_bytes())
    if suffix in PICTURE_SUFFIXES:
        return suffix, _of_picture(path, suffix)
    if suffix in (".csv", ".tsv") and _is_table(path):
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.reader(file, delimiter="\t" if suffix == ".tsv" else ","))
    embedding = read_map(path, key=key).embedding
    return embedding.shape, embedding.tobytes()


def _is_table(path: Path) -> bool:
    """Tell a table of measures from a map."""
    from ctsne._io import read_provenance

    return read_provenance(path).command == "evaluate"


def _of_sweep(folder: Path) -> Any:
    from ctsne.sweep import load_sweep

    # As text, in which a measure that could not be taken is equal to itself.
    return [
        (
            None if swept.embedding is None else swept.embedding.tobytes(),
            json.dumps(swept.measures, sort_keys=True),
        )
        for swept in load_sweep(folder / SWEEP).maps
    ]


def _of_page(content: bytes) -> Any:
    """Return the data that a page holds; the rest is the same on every page but for its name."""
    parts = re.findall(rb'<script[^>]*\bid="ctsne-([^"]*)"[^>]*>(.*?)</script>', content, re.DOTALL)
    return [part for part in parts if part[0] not in (b"commands", b"provenance")]


def _of_picture(path: Path, suffix: str) -> Any:
    from ctsne.pl.figures import load

    if suffix == ".png":
        pixels = load("image").imread(path, format="png")
        return pixels.shape, pixels.tobytes()
    content = path.read_bytes()
    if suffix == ".pdf":  # what is known of it comes after all that is drawn
        return content.partition(b"/Subject (")[0]
    return re.sub(rb"<dc:description>.*?</dc:description>", b"", content, flags=re.DOTALL)
