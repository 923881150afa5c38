"""A page of points that were placed in a finished map."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ctsne._core.checks import check_features, check_kind
from ctsne._core.files import write_file
from ctsne._core.messages import label_text, shown
from ctsne._core.vocabulary import CHOSEN_BY
from ctsne.estimator import ConditionalTSNE
from ctsne.labels import Column, encode_column
from ctsne.pl.palette import REFERENCE
from ctsne.placing.place import Placement
from ctsne.report.columns import check_point_names
from ctsne.report.page import build_page
from ctsne.report.payload import build_payload
from ctsne.report.write import check_page, plain_provenance
from ctsne.settings import DEFAULTS
from ctsne.sweep import SweepResult, SweptMap
from ctsne.sweep.grid import expand_grid

# Columns that every page of placed points has.
PLACED, DISTANCE = "near or far", "distance to map"


def write_placed(
    placed: Placement,
    path: str | os.PathLike[str],
    *,
    reference: ConditionalTSNE | ArrayLike,
    columns: Mapping[str, Any] | None = None,
    names: Any = None,
    title: str | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> None:
    """Write placed points as one interactive page, in colour above the reference in grey.

    The page is a single HTML file that never uses the network, like that of
    :func:`ctsne.report.write_report`. It shows up to 500,000 points, the placed ones first. The
    point under the pointer shows its distance to the reference and whether it is far.

    Parameters
    ----------
    placed : Placement
        The result of :meth:`ctsne.ConditionalTSNE.place`, in one or two dimensions.
    path : path-like
        The HTML file; replaced if it exists.
    reference : ConditionalTSNE or array-like of shape (n, 2)
        The fitted model in whose map they were placed, or the positions of its points.
    columns : mapping of str to array-like of length m, or data frame, optional
        Columns of the placed points to colour by. The first one is shown first.
    names : array-like of length m, optional
        Names of the placed points; by default their row numbers, from 0.
    title : str, optional
    provenance : mapping, optional
        As in :func:`ctsne.report.write_report`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ctsne import ConditionalTSNE
    >>> from ctsne.datasets import make_synthetic
    >>> from ctsne.report import write_placed
    >>> data = make_synthetic(300, random_state=0)
    >>> model = ConditionalTSNE(n_iter=100).fit(data.X, labels=data.known)
    >>> placed = model.place(data.X[:50], data.known[:50])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder) / "placed.html"
    ...     write_placed(placed, page, reference=model, columns={"colour": data.known[:50]})
    ...     page.read_bytes()[:15]
    b'<!doctype html>'
    """
    check_kind(placed, Placement, "placed")
    if isinstance(reference, ConditionalTSNE):
        check_is_fitted(reference)
        reference = reference.embedding_
    positions = check_features(reference, argument="reference")
    m, dimensions = placed.embedding.shape
    if positions.shape[1] != dimensions:
        got = f"{positions.shape[1]} columns, but the placed points have {dimensions}"
        raise ValueError(f"reference has {got}; give the map that they were placed in")
    title = "Points placed in a map" if title is None else title
    target = check_page(path, title)
    if columns is not None and not hasattr(columns, "items"):
        raise TypeError(f"columns must be a mapping from names, got {type(columns).__name__}")
    own = {} if columns is None else dict(columns.items())
    for name in own:
        if not isinstance(name, str) or name in (PLACED, DISTANCE):
            raise ValueError(f"columns: {shown(name)} cannot be the name of a column here")
    n = len(positions)
    shown_columns: dict[str, Any] = {
        name: _below(n, encode_column(values, n=m, argument=f"columns[{name!r:.60}]"))
        for name, values in own.items()
    }
    shown_columns[PLACED] = _below(n, encode_column(np.where(placed.far, "far", "near")))
    shown_columns[DISTANCE] = np.concatenate([np.full(n, np.nan), placed.distance])
    whole = np.concatenate([positions, placed.embedding]).astype(np.float32)
    # A page shows the maps of a sweep; this one has a single map.
    points = expand_grid([{"method": "tsne"}], dict(DEFAULTS))
    unknown = dict.fromkeys(CHOSEN_BY, float("nan"))
    made = SweptMap(points[0].parameters, whole, unknown, float("nan"), None)
    texts = _names(names, n, m)
    facts, arrays = build_payload(
        SweepResult((made,), tuple(points), dict(DEFAULTS)),
        shown_columns,
        [next(iter(shown_columns))],
        None,
        texts,
        above=np.arange(n + m) >= n,
    )
    facts["maps"][0]["title"] = "Placed points above the reference"
    about = {
        "points": m,
        "reference": n,
        "far": int(placed.far.sum()),
        "limit": float(placed.far_distance),
    }
    facts |= {"title": title, "targets": [], "placed": about, "single": True}
    facts |= {"missingText": "reference", "missingColor": REFERENCE}
    apart = {"commands": [""], "provenance": plain_provenance(provenance)}
    write_file(target, build_page(title, {"facts": facts, **apart}, arrays))


def _below(n: int, labels: Column) -> Column:
    """Return a column of all points, in which those of the reference have no value."""
    codes = np.concatenate([np.full(n, -1, np.int32), labels.codes])
    return Column(codes, labels.names, labels.counts)


def _names(names: Any, n: int, m: int) -> list[str]:
    check_point_names(names, m, f"{m} points were placed")
    own = [f"placed {row}" for row in range(m)] if names is None else list(map(label_text, names))
    return [f"reference {row}" for row in range(n)] + own
