"""A page in a notebook whose selection comes back to Python."""

import secrets
from importlib import resources
from typing import Any

import numpy as np

from ctsne._core.messages import load
from ctsne.estimator import ConditionalTSNE
from ctsne.report.write import HEIGHT, SANDBOX, inline_page
from ctsne.sweep import SweepResult


def widget(result: SweepResult | ConditionalTSNE, **options: Any) -> Any:
    """Show a page in a notebook, as a widget whose selection comes back to Python.

    It needs anywidget: ``pip install "ctsne[widget]"``. The page is that of
    :func:`ctsne.report.show`, which needs nothing.

    Parameters
    ----------
    result : SweepResult or ConditionalTSNE
    **options
        As in :func:`ctsne.report.show`: ``columns``, ``known``, ``other``, ``features``,
        ``mixing``, ``names``, ``title`` and ``palette``.

    Returns
    -------
    anywidget.AnyWidget
        ``selection`` holds the rows of the selected points in ascending order, as an array, and
        changes with the selection; ``observe(function, "selection")`` calls a function then.

    Examples
    --------
    >>> from ctsne.report import widget
    >>> page = widget(model)  # doctest: +SKIP
    >>> data.X[page.selection].mean(axis=0)  # doctest: +SKIP
    """
    anywidget, traitlets = (load(name, extra="widget") for name in ("anywidget", "traitlets"))
    token = secrets.token_hex(16)
    page, n = inline_page(result, token, **options)
    shown = {"_page": page.html, "_title": page.title, "_token": token, "_sandbox": SANDBOX}
    traits = {name: traitlets.Unicode(text).tag(sync=True) for name, text in shown.items()}
    traits |= {
        "_esm": (resources.files("ctsne.report") / "widget.js").read_text("utf-8"),
        "_height": traitlets.Int(HEIGHT).tag(sync=True),
        "_rows": traitlets.Bytes(b"").tag(sync=True),
        "selection": traitlets.Any(np.empty(0, np.int64), read_only=True),
    }
    made = type("PageWidget", (anywidget.AnyWidget,), traits)()

    def take(change: Any) -> None:
        # Whatever a browser sends is only believed if it is rows of the map.
        sent = bytes(change["new"])
        rows = np.unique(np.frombuffer(sent[: len(sent) // 4 * 4], "<u4").astype(np.int64))
        if not len(rows) or rows[-1] < n:
            made.set_trait("selection", rows)

    made.observe(take, "_rows")
    return made
