"""Pages inside notebooks."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctsne._core.vocabulary import SUGGESTED_MIXING
from ctsne.estimator import ConditionalTSNE
from ctsne.report.payload import MOST_POINTS
from ctsne.report.write import page_of
from ctsne.sweep import SweepResult

# A notebook stores what it shows, so pages there are smaller than those in files: this many points,
# or fewer if their maps would take more than this many bytes.
MOST_INLINE = 50_000
_MOST_BYTES = 4_000_000
_HEIGHT = 640  # pixels: both maps of a page at once
# Its scripts run, its pictures can be saved, and it cannot reach the notebook around it.
_SANDBOX = "allow-scripts allow-downloads"


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
    >>> Page("Maps without batch", "<!doctype html>")
    Page('Maps without batch', 15 bytes)
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
            f'<iframe srcdoc="{html.escape(self.html)}" sandbox="{_SANDBOX}" '
            f'title="{html.escape(title)}" '
            f'style="width:100%;height:{_HEIGHT}px;border:0"></iframe>'
        )
        return frame + (f"<p>{html.escape(self.note)}</p>" if self.note else "")


def show(
    result: SweepResult | ConditionalTSNE,
    *,
    columns: Mapping[str, Any] | None = None,
    known: str | Sequence[str] | None = None,
    other: str | None = None,
    features: Mapping[str, Any] | None = None,
    mixing: float | Mapping[str, float] = SUGGESTED_MIXING,
    names: Any = None,
    title: str | None = None,
) -> Page:
    """Show a sweep or a fitted model as an interactive page in a notebook.

    It is the page of :func:`ctsne.report.write_report`, with at most 50,000 points (28,000 for a
    dozen maps), because the notebook stores it: about 4 MB. The last value of a cell is shown;
    ``result`` and ``model`` themselves show this page too, with the labels that they know.

    Parameters
    ----------
    result, columns, known, other, features, mixing, names, title
        As in :func:`ctsne.report.write_report`.

    Returns
    -------
    Page

    Examples
    --------
    >>> from ctsne import ConditionalTSNE
    >>> from ctsne.datasets import make_synthetic
    >>> from ctsne.report import show
    >>> data = make_synthetic(300, random_state=0)
    >>> model = ConditionalTSNE(n_iter=100, random_state=0).fit(data.X, labels=data.known)
    >>> show(model, columns={"colour": data.known, "shape": data.hidden}, known="colour").title
    'Map without colour'
    """
    # Of a sweep; anything else is a single map, or refused.
    maps = len(result.maps) if isinstance(result, SweepResult) else 1
    most = min(MOST_INLINE, _MOST_BYTES // (12 * max(1, maps)))  # bytes of a point with its columns
    title, facts, page = page_of(
        result,
        columns=columns,
        known=known,
        other=other,
        features=features,
        mixing=mixing,
        names=names,
        title=title,
        most=most,
    )
    note = ""
    if facts["notShown"]:
        n = facts["n"]
        count = f"{n - facts['notShown']:,} of {n:,} points, because the notebook stores the page"
        more = f"ctsne.report.write_report writes one of up to {MOST_POINTS:,} to a file"
        note = f"This page shows {count}; {more}."
    return Page(title, page.decode(), note)


def inline_html(shown: object) -> str:
    """Return the page of a sweep or a fitted model for a notebook; empty if it can have none."""
    try:
        return show(shown)._repr_html_()  # type: ignore[arg-type]
    except ValueError:  # three dimensions, no finished map, or a sweep without labels
        return ""
