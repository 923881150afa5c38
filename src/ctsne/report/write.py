"""The way from a sweep to a file."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ctsne._core.checks import check_number
from ctsne._core.files import replaced_file
from ctsne.report.calls import constructor_calls
from ctsne.report.page import build_page
from ctsne.report.payload import build_payload
from ctsne.sweep import SweepResult
from ctsne.sweep.choice import SUGGESTED_MIXING

__all__ = ["write_report"]

# The column that tells how often a point is the counterpart of points with other labels.
MATCHED = "matched under other labels"


def write_report(
    result: SweepResult,
    path: str | os.PathLike[str],
    *,
    columns: Mapping[str, Any],
    known: str,
    other: str | None = None,
    mixing: float = SUGGESTED_MIXING,
    names: Any = None,
    title: str | None = None,
    commands: Sequence[str] | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> None:
    """Write a sweep as one interactive page, to decide on a strength and to show the result.

    The page is a single HTML file without any connection to the network: t-SNE beside the chosen
    map, a slider over the strengths, colours by any column, measures, and a suggestion. Up to
    50,000 points are shown; of more a random sample of 50,000, with every label in it (of columns
    with up to 1,000 of them). A page takes 1.7 MB, and at 50,000 points about half a megabyte for
    each map and a few hundred kilobytes for each column. The same input gives the same bytes.

    Parameters
    ----------
    result : SweepResult
        The maps, of one or two dimensions. Failed ones are listed.
    path : path-like
        The HTML file; replaced if it exists.
    columns : mapping of str to array-like of length n
        Columns to colour by, with their names. Numbers with more than 30 values become a scale of
        colours, all else is a label. With more than 1,000 labels a column other than ``known`` and
        ``other`` is not coloured by, but told of the point that is pointed at.
    known : str
        Which of the columns was factored out.
    other : str, optional
        Which of them should be seen in the map.
    mixing : float, default=0.5
        Mixing that the suggested map must reach, as for :meth:`ctsne.sweep.SweepResult.suggest`; it
        can be changed on the page.
    names : array-like of length n, optional
        Names of the points; by default their row numbers, from 0.
    title : str, optional
        The page's title.
    commands : sequence of str, optional
        How to make each map of ``result.maps``, shown to be copied; by default the call of
        :class:`ctsne.ConditionalTSNE`.
    provenance : mapping, optional
        Settings and versions to make the page again, as JSON can hold them: shown at the end, and
        kept in the page for programs, in the element ``ctsne-provenance``.

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
        raise TypeError(
            f"result must be what ctsne.sweep.sweep returns, got {type(result).__name__}"
        )
    target = Path(path)
    _check_target(target)
    _check_columns(columns, known, other)
    share = check_number(mixing, "mixing", low=0, high=1)
    payload = build_payload(
        result, _with_matched(columns, result), known, other, mixing=share, names=names,
        title=_title(title, known), commands=_commands(commands, result),
        provenance=_plain_provenance(provenance),
    )  # fmt: skip
    page = build_page(payload, file_name=target.name)
    with replaced_file(target) as temporary:
        temporary.write_bytes(page)


def _with_matched(columns: Mapping[str, Any], result: SweepResult) -> dict[str, Any]:
    """Add how well points are matched under other labels, to colour by; it is alike in all maps."""
    found = (swept.diagnostics.get("matched") for swept in result.maps)
    matched = next((each for each in found if each is not None), None)
    if matched is None or MATCHED in columns:
        return dict(columns)
    return {**columns, MATCHED: matched}


def _check_target(target: Path) -> None:
    if target.is_dir():
        raise ValueError(f"path must name a file, but {target} is a folder")
    if not target.parent.is_dir():
        raise ValueError(f"path names a file in a folder that does not exist: {target.parent}")


def _check_columns(columns: object, known: object, other: object) -> None:
    if not isinstance(columns, Mapping):
        raise TypeError(
            "columns must be a mapping from each name to its column, such as "
            f'{{"batch": batch}}, got {type(columns).__name__}'
        )
    for name in columns:
        if not isinstance(name, str):
            raise TypeError(f"columns must have text for names, got {name!r:.60}")
    for argument, name in (("known", known), ("other", other)):
        if name in columns or (name is None and argument == "other"):
            continue
        close = difflib.get_close_matches(str(name), columns, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        there = ", ".join(map(repr, columns)) or "none"
        raise ValueError(f"{argument} must be one of the columns ({there}), got {name!r:.60}{hint}")


def _title(title: object, known: str) -> str:
    if title is None:
        return f"Maps without {known}"
    if not isinstance(title, str):
        raise TypeError(f"title must be text, got {type(title).__name__}")
    return title


def _commands(commands: object, result: SweepResult) -> Sequence[str]:
    if commands is None:
        return constructor_calls(result)
    if not isinstance(commands, list | tuple) or not all(isinstance(c, str) for c in commands):
        raise TypeError(
            f"commands must be a list of one text for each map, got {type(commands).__name__}"
        )
    if len(commands) != len(result.maps):
        raise ValueError(
            f"commands must hold one text for each of the {len(result.maps)} maps, got "
            f"{len(commands)} of them"
        )
    return commands


def _plain_provenance(provenance: object) -> dict[str, Any]:
    if provenance is None:
        return {}
    if not isinstance(provenance, Mapping):
        raise TypeError(f"provenance must be a mapping, got {type(provenance).__name__}")
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(provenance), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise TypeError(f"provenance must hold what JSON can hold: {error}") from None
    return plain
