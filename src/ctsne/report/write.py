"""Pages in files and in notebooks: template, style, scripts and data in one piece of HTML."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import check_path
from ctsne._core.files import check_target, write_file
from ctsne._core.messages import size_text
from ctsne._core.vocabulary import SUGGESTED_MIXING
from ctsne.estimator import ConditionalTSNE
from ctsne.report.data import PageData, read_page
from ctsne.report.features import MOST_POINTS
from ctsne.report.payload import build_payload
from ctsne.sweep import SweepResult

# A notebook stores what it shows, so pages there are smaller than those in files: this many points,
# or fewer if their maps would take more than this many bytes.
MOST_INLINE = 50_000
_MOST_BYTES = 4_000_000
# Genes may take this many more, and up to this many points have their neighbours in the data.
_GENE_BYTES, _MOST_JOINED = 2_000_000, 10_000
HEIGHT = 640  # pixels: both maps of a page at once
# Its scripts run, its pictures can be saved, and it cannot reach the notebook around it.
SANDBOX = "allow-scripts allow-downloads"
# Nothing is loaded; only our script runs and only our style sheet applies.
_POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; style-src {style}; "
    "script-src {script}"
)
# What a page in a notebook can be given.
_SHOWN = ("columns", "known", "other", "features", "mixing", "names", "title", "palette")
_ASSETS = resources.files("ctsne.report") / "assets"


def write_report(
    result: SweepResult | ConditionalTSNE,
    path: str | os.PathLike[str],
    *,
    columns: Mapping[str, Any] | None = None,
    known: str | Sequence[str] | None = None,
    other: str | Sequence[str] | None = None,
    features: Mapping[str, Any] | None = None,
    mixing: float | Mapping[str, float] = SUGGESTED_MIXING,
    names: Any = None,
    title: str | None = None,
    palette: Mapping[str, Mapping[Any, str]] | None = None,
    commands: Sequence[str] | None = None,
    provenance: Mapping[str, Any] | None = None,
    neighbors: Any = None,
) -> None:
    """Write a sweep or a fitted model as one interactive page.

    The page of a sweep is for choosing a strength and for showing the result: two maps next to each
    other, colours by any column, a slider over the strengths, measures, and a suggestion. That of a
    model shows its map. It is a single HTML file that never uses the network, of up to 500,000
    points, which take at most 9.3 bytes per map. Larger data are sampled, keeping at least one
    point per label of columns with up to 1,000 labels. The same input gives the same bytes.

    Parameters
    ----------
    result : SweepResult or ConditionalTSNE
        The maps, of one or two dimensions; failed ones are listed. Or a fitted model.
    path : path-like
        The HTML file; replaced if it exists.
    columns : mapping of str to array-like of length n, or data frame, optional
        Columns to colour by, such as ``adata.obs``. Numbers with more than 30 values become a
        colour scale, everything else is a label. A column with more than 1,000 labels, other than
        ``known`` and ``other``, gives no colours but is shown for the point under the pointer.
    known : str or list of str, optional
        The columns that were factored out; by default the labels of the sweep or the model, which
        are then added to ``columns``.
    other : str or list of str, optional
        The columns to look for in the maps; by default those of the sweep.
    features : mapping of str to array-like of length n, data frame or AnnData, optional
        Features to colour by, such as the expression of genes: numbers, always on a scale, with NaN
        where they are missing. Each takes 1.34 bytes per point. Of an AnnData object these are the
        200 genes of ``X`` whose variance the place in the map explains best, or fewer if they
        would take more than 24 MB.
    mixing : float or mapping of column to float, default=0.8
        Mixing that the suggested map must reach, in every column or in each its own; readers can
        change it on the page. Not used for a model.
    names : array-like of length n, optional
        Names of the points; by default their row numbers, from 0.
    title : str, optional
    palette : mapping of column to mapping of label to colour, optional
        Colours such as ``"#0072B2"`` for labels or their texts, as the page exports them. Others
        have those of :func:`ctsne.pl.palette`.
    commands : sequence of str, optional
        A command per map of ``result.maps`` that makes it, shown for copying; by default the call
        of :class:`ctsne.ConditionalTSNE`.
    provenance : mapping, optional
        Settings and versions behind the page, as JSON can hold them, shown at its end and stored in
        the element ``ctsne-provenance``; ``"command"`` is the command that made the page.
    neighbors : array-like of int, shape (n, k), optional
        The rows nearest in the data to each point, the nearest first, of which 10 are shown. By
        default those of a model of up to 100,000 points. They take 54 bytes per point.

    Examples
    --------
    >>> from ctsne.report import write_report
    >>> columns = {"colour": data.known, "shape": data.hidden}
    >>> write_report(result, "report.html", columns=columns, known="colour", other="shape")
    """
    target = check_path(path, "path")
    check_target(target)
    if not target.parent.is_dir():
        raise ValueError(f"path is in a folder that does not exist: {target.parent}")
    shown = columns, known, other, features, mixing, names, title, palette
    more = {"commands": commands, "provenance": provenance, "neighbors": neighbors}
    page = read_page(result, *shown, **more)
    write_file(target, _render(page, MOST_POINTS)[1])


@dataclass(frozen=True, eq=False)
class Page:
    """A page that a notebook shows when it is the last value of a cell.

    Attributes
    ----------
    title : str
    html : str
        The whole page.
    note : str
        What the page leaves out, if anything.

    Examples
    --------
    >>> from ctsne.report import Page
    >>> Page("Maps with batch factored out", "<!doctype html>")
    Page('Maps with batch factored out', 15 bytes)
    """

    title: str
    html: str
    note: str = ""

    def __repr__(self) -> str:
        return f"Page({self.title!r}, {len(self.html.encode()):,} bytes)"

    def _repr_html_(self) -> str:
        title = self.title.encode(errors="replace").decode()  # it may hold half a character
        # As an attribute, nothing in the page can end the element that holds it.
        frame = (
            f'<iframe srcdoc="{html.escape(self.html)}" sandbox="{SANDBOX}" '
            f'title="{html.escape(title)}" '
            f'style="width:100%;height:{HEIGHT}px;border:0"></iframe>'
        )
        return frame + (f"<p>{html.escape(self.note)}</p>" if self.note else "")


def show(
    result: SweepResult | ConditionalTSNE,
    *,
    columns: Mapping[str, Any] | None = None,
    known: str | Sequence[str] | None = None,
    other: str | Sequence[str] | None = None,
    features: Mapping[str, Any] | None = None,
    mixing: float | Mapping[str, float] = SUGGESTED_MIXING,
    names: Any = None,
    title: str | None = None,
    palette: Mapping[str, Mapping[Any, str]] | None = None,
) -> Page:
    """Show a sweep or a fitted model as an interactive page in a notebook.

    It is the page of :func:`ctsne.report.write_report`, with at most 50,000 points (28,000 for a
    dozen maps), because the notebook stores it: about 4 MB. The last value of a cell is shown;
    ``result`` and ``model`` themselves show this page too, with the labels that they know.

    Parameters
    ----------
    result, columns, known, other, features, mixing, names, title, palette
        As in :func:`ctsne.report.write_report`.

    Returns
    -------
    Page

    Examples
    --------
    >>> from ctsne.report import show
    >>> show(model, columns={"colour": data.known, "shape": data.hidden}, known="colour").title
    'Map with colour factored out'
    """
    shown = (columns, known, other, features, mixing, names, title, palette)
    return inline_page(result, None, **dict(zip(_SHOWN, shown, strict=True)))[0]


def inline_page(result: Any, token: str | None, **options: Any) -> tuple[Page, int]:
    """Return the page of a notebook, and its number of points; with a token it tells a widget."""
    given: dict[str, Any] = {**dict.fromkeys(_SHOWN), "mixing": SUGGESTED_MIXING, **options}
    # Of a sweep; anything else is a single map, or refused.
    maps = len(result.maps) if isinstance(result, SweepResult) else 1
    most = min(MOST_INLINE, _MOST_BYTES // (12 * max(1, maps)))  # bytes of a point with its columns
    page = read_page(result, **given, feature_bytes=_GENE_BYTES, most_joined=_MOST_JOINED)
    hidden, content = _render(page, most, token)
    note, (n, _) = "", page.shape
    if hidden:
        count = f"{n - hidden:,} of {n:,} points, because the notebook stores the page"
        more = f"ctsne.report.write_report writes one of up to {MOST_POINTS:,} to a file"
        note = f"This page shows {count}; {more}."
    return Page(page.title, content.decode(), note), n


def inline_html(result: Any) -> str:
    """Return the page of a sweep or a fitted model for a notebook; empty if it can have none."""
    try:
        return show(result)._repr_html_()
    except ValueError:  # three dimensions, no finished map, or a sweep without labels
        return ""


def _render(page: PageData, most: int, token: str | None = None) -> tuple[int, bytes]:
    """Return how many points a page does not show, and its bytes."""
    if not isinstance(page.title, str):
        raise TypeError(f"title must be text, got {type(page.title).__name__}")
    facts, arrays = build_payload(page, most)
    # The commands are kept apart from the facts, because they depend on the page's folder.
    commands = [made.command for made in page.maps]
    facts |= {} if token is None else {"token": token}
    contents = {"facts": facts, "commands": commands, "provenance": page.provenance}
    return facts["notShown"], build_page(page.title, contents, arrays)


def build_page(
    title: str, contents: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> bytes:
    """Return the bytes of a page whose scripts find the contents (as JSON) and arrays by name."""
    # Functions and constants, so their order does not matter; start.js calls them. No comments.
    names = sorted(asset.name for asset in _ASSETS.iterdir() if asset.name.endswith(".js"))
    own = "\n".join(map(_asset, sorted(names, key="start.js".__eq__)))
    script = re.sub(r"(?m)^ *//.*\n", "", f'(() => {{\n"use strict";\n{own}}})();')
    style = _asset("page.css") + _asset("print.css")
    little = {k: np.ascontiguousarray(x, x.dtype.newbyteorder("<")) for k, x in arrays.items()}
    data = [
        (f'<script type="application/json" id="ctsne-{name}">'.encode(), _json(content))
        for name, content in contents.items()
    ] + [
        (f'<script type="text/plain" id="ctsne-{name}">'.encode(), base64.b64encode(values.data))
        for name, values in little.items()
    ]
    known = {
        "policy": [_POLICY.format(style=_digest(style), script=_digest(script)).encode()],
        "title": [html.escape(title).encode(errors="replace")],
        "style": [style.encode()],
        "data": [piece for start, text in data for piece in (start, text, b"</script>\n")],
        "scripts": [f"<script>{script}</script>".encode()],
        "size": [b""],
    }
    # Text and names of the template alternate. What is inserted is never searched, and copied once.
    texts = re.split(r"{{(\w+)}}", _asset("page.html"))
    pieces = [known[text] if place % 2 else [text.encode()] for place, text in enumerate(texts)]
    size = sum(len(text) for piece in pieces for text in piece)
    known["size"][0] = size_text(size).encode()
    return b"".join(text for piece in pieces for text in piece)


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text("utf-8")


def _json(content: Any) -> bytes:
    """Write JSON in which no text can end the script element around it."""
    # ASCII escapes cover U+2028, U+2029 and lone surrogates.
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode()
