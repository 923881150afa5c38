"""From a sweep to a page in a file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ctsne._core.checks import check_path
from ctsne._core.files import check_target, write_file
from ctsne._core.messages import did_you_mean, listed, shown
from ctsne._core.vocabulary import SUGGESTED_MIXING
from ctsne.report.maps import constructor_calls
from ctsne.report.page import build_page
from ctsne.report.payload import build_payload
from ctsne.sweep import SweepResult


def write_report(
    result: SweepResult, path: str | os.PathLike[str], *, columns: Mapping[str, Any],
    known: str | Sequence[str], other: str | None = None,
    features: Mapping[str, Any] | None = None,
    mixing: float | Mapping[str, float] = SUGGESTED_MIXING, names: Any = None,
    title: str | None = None, commands: Sequence[str] | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> None:  # fmt: skip
    """Write a sweep as one interactive page, to choose a strength and to show the result.

    The page is a single HTML file that never uses the network: t-SNE next to the chosen map, a
    slider over the strengths, colours by any column, measures, and a suggestion. It shows up to
    500,000 points, which take at most 9.3 bytes per map. Larger data are sampled, keeping at least
    one point per label of columns with up to 1,000 labels. The same input gives the same bytes.

    Parameters
    ----------
    result : SweepResult
        The maps, of one or two dimensions. Failed ones are listed.
    path : path-like
        The HTML file; replaced if it exists.
    columns : mapping of str to array-like of length n, or data frame
        Columns to colour by, such as ``adata.obs``. Numbers with more than 30 values become a
        colour scale, everything else is a label. A column with more than 1,000 labels, other than
        ``known`` and ``other``, gives no colours but is shown for the point under the pointer.
    known : str or list of str
        The columns that were factored out.
    other : str, optional
        The column to look for in the maps.
    features : mapping of str to array-like of length n, or data frame, optional
        Features to colour by, such as the expression of genes: numbers, always on a scale, with NaN
        where they are missing. Each takes 2.7 bytes per point.
    mixing : float or mapping of column to float, default=0.5
        Mixing that the suggested map must reach, in every column or in each its own; readers can
        change it on the page.
    names : array-like of length n, optional
        Names of the points; by default their row numbers, from 0.
    title : str, optional
    commands : sequence of str, optional
        A command per map of ``result.maps`` that makes it, shown for copying; by default the call
        of :class:`ctsne.ConditionalTSNE`.
    provenance : mapping, optional
        Settings and versions behind the page, as JSON can hold them, shown at its end and stored in
        the element ``ctsne-provenance``; ``"command"`` is the command that made the page.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ctsne import ConditionalTSNE
    >>> from ctsne.datasets import make_synthetic
    >>> from ctsne.report import write_report
    >>> from ctsne.sweep import sweep
    >>> data = make_synthetic(300, random_state=0)
    >>> result = sweep(
    ...     data.X, data.known, [{"method": "tsne"}, {"method": "joint", "strength": [0, 0.5, 1]}],
    ...     estimator=ConditionalTSNE(perplexity=20, n_iter=300, random_state=0), progress=False,
    ... )
    >>> columns = {"colour": data.known, "shape": data.hidden}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder) / "report.html"
    ...     write_report(result, page, columns=columns, known="colour", other="shape")
    ...     page.stat().st_size > 1_000_000
    True
    """
    if not isinstance(result, SweepResult):
        kind = type(result).__name__
        raise TypeError(f"result must be the result of ctsne.sweep.sweep, got {kind}")
    target = check_page(path, "" if title is None else title)
    if hasattr(columns, "items"):  # a data frame has columns, but is not a mapping
        columns = dict(columns.items())
    factored = [known] if isinstance(known, str) or known is None else list(known)
    _check_columns(columns, factored, other)
    title = f"Maps without {' and '.join(factored)}" if title is None else title
    about = {"targets": list(result.targets(mixing).items()), "title": title}
    # The commands are kept apart from the facts, because they depend on the page's folder.
    apart = {
        "commands": _check_commands(commands, result),
        "provenance": plain_provenance(provenance),
    }
    facts, arrays = build_payload(
        result, columns, factored, other, names, features=checked_features(features)
    )
    page = build_page(title, {"facts": about | facts, **apart}, arrays)
    write_file(target, page)


def check_page(path: object, title: object) -> Path:
    """Return the file to write, or refuse a place or a title that cannot be used."""
    target = check_path(path, "path")
    check_target(target)
    if not target.parent.is_dir():
        raise ValueError(f"path is in a folder that does not exist: {target.parent}")
    if not isinstance(title, str):
        raise TypeError(f"title must be text, got {type(title).__name__}")
    return target


def _check_columns(columns: object, known: Sequence[object], other: object) -> None:
    if not isinstance(columns, Mapping):
        raise TypeError(f"columns must be a mapping from names, got {type(columns).__name__}")
    for name in columns:
        if not isinstance(name, str):
            raise TypeError(f"names of columns must be text, got {shown(name)}")
    if not known:
        raise ValueError("known must name at least one of the columns, got an empty list")
    for argument, name in (*(("known", each) for each in known), ("other", other)):
        if name not in columns and (name is not None or argument == "known"):
            raise ValueError(
                f"{argument} must be one of the columns ({listed(columns)}), got "
                f"{shown(name)}{did_you_mean(name, columns)}"
            )


def checked_features(features: object) -> dict[str, Any]:
    """Return the features to colour by, by name."""
    if features is None:
        return {}
    if not hasattr(features, "items"):
        raise TypeError(f"features must be a mapping from names, got {type(features).__name__}")
    named = dict(features.items())
    for name in named:
        if not isinstance(name, str):
            raise TypeError(f"names of features must be text, got {shown(name)}")
    return named


def _check_commands(commands: object, result: SweepResult) -> list[str]:
    if commands is None:
        return constructor_calls(result)
    if not isinstance(commands, list | tuple) or not all(isinstance(c, str) for c in commands):
        kind = type(commands).__name__
        raise TypeError(f"commands must be a list with one text per map, got {kind}")
    n, n_maps = len(commands), len(result.maps)
    if n != n_maps:
        raise ValueError(f"commands has {n} entries but result has {n_maps} maps")
    return list(commands)


def plain_provenance(provenance: object) -> dict[str, Any]:
    """Return the settings behind a page as JSON can hold them."""
    if provenance is not None and not isinstance(provenance, Mapping):
        raise TypeError(f"provenance must be a mapping, got {type(provenance).__name__}")
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(provenance or {}), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise TypeError(f"provenance must hold values that JSON can hold: {error}") from None
    return plain
