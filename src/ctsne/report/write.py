"""From a sweep or a model to a page in a file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ctsne._core.checks import check_path
from ctsne._core.files import check_target, write_file
from ctsne._core.messages import did_you_mean, listed, shown
from ctsne._core.vocabulary import SUGGESTED_MIXING
from ctsne.estimator import ConditionalTSNE
from ctsne.labels import Column, encode_column
from ctsne.report.maps import constructor_calls
from ctsne.report.page import build_page
from ctsne.report.payload import MOST_POINTS, build_payload
from ctsne.report.single import sweep_of_model
from ctsne.sweep import SweepResult


def write_report(
    result: SweepResult | ConditionalTSNE,
    path: str | os.PathLike[str],
    *,
    columns: Mapping[str, Any] | None = None,
    known: str | Sequence[str] | None = None,
    other: str | None = None,
    features: Mapping[str, Any] | None = None,
    mixing: float | Mapping[str, float] = SUGGESTED_MIXING,
    names: Any = None,
    title: str | None = None,
    commands: Sequence[str] | None = None,
    provenance: Mapping[str, Any] | None = None,
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
    other : str, optional
        The column to look for in the maps; by default that of the sweep.
    features : mapping of str to array-like of length n, or data frame, optional
        Features to colour by, such as the expression of genes: numbers, always on a scale, with NaN
        where they are missing. Each takes 2.7 bytes per point.
    mixing : float or mapping of column to float, default=0.5
        Mixing that the suggested map must reach, in every column or in each its own; readers can
        change it on the page. Not used for a model.
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
    ...     page.read_bytes()[:15]
    b'<!doctype html>'
    """
    target = check_page(path, "" if title is None else title)
    _, _, page = page_of(
        result,
        columns=columns,
        known=known,
        other=other,
        features=features,
        mixing=mixing,
        names=names,
        title=title,
        commands=commands,
        provenance=provenance,
    )
    write_file(target, page)


def page_of(
    result: SweepResult | ConditionalTSNE,
    *,
    columns: Mapping[str, Any] | None,
    known: str | Sequence[str] | None,
    other: str | None,
    features: Mapping[str, Any] | None,
    mixing: float | Mapping[str, float],
    names: Any,
    title: str | None,
    commands: Sequence[str] | None = None,
    provenance: Mapping[str, Any] | None = None,
    most: int = MOST_POINTS,
) -> tuple[str, dict[str, Any], bytes]:
    """Return title, facts and bytes of a page that shows a limited number of points."""
    single = isinstance(result, ConditionalTSNE)
    if isinstance(result, ConditionalTSNE):
        result = sweep_of_model(result)
    if not isinstance(result, SweepResult):
        what = "result must be the result of ctsne.sweep.sweep or a fitted ConditionalTSNE"
        raise TypeError(f"{what}, got {type(result).__name__}")
    if not isinstance(title, str | None):
        raise TypeError(f"title must be text, got {type(title).__name__}")
    shown_columns, factored, other = _chosen_columns(result, columns, known, other, single=single)
    if title is None:
        maps = "Map" if single else "Maps"
        title = f"{maps} without {' and '.join(factored)}" if factored else maps
    targets = [] if single else list(result.targets(mixing).items())
    # The commands are kept apart from the facts, because they depend on the page's folder.
    apart = {
        "commands": _check_commands(commands, result),
        "provenance": plain_provenance(provenance),
    }
    facts, arrays = build_payload(
        result,
        shown_columns,
        factored,
        other,
        names,
        features=_by_name(features, "features"),
        most=most,
    )
    facts = {"targets": targets, "title": title} | facts | {"single": single}
    return title, facts, build_page(title, {"facts": facts, **apart}, arrays)


def _chosen_columns(
    result: SweepResult,
    columns: object,
    known: str | Sequence[str] | None,
    other: str | None,
    *,
    single: bool,
) -> tuple[dict[str, Any], list[str], str | None]:
    """Return the columns to show, those that were factored out, and the one to look for."""
    given = _by_name(columns, "columns")
    if known is None:
        alias = _names_given(result, given)
        own = {alias.get(name, name): values for name, values in result.columns.items()}
        factored = [alias.get(name, name) for name in result.known]
        if other is None and result.other is not None:
            other = alias.get(result.other, result.other)
        given = {**own, **given}
        if not factored and not single:
            raise ValueError("known must name the columns that were factored out, got None")
    else:
        factored = [known] if isinstance(known, str) else list(known)
        if not factored:
            raise ValueError("known must name at least one of the columns, got an empty list")
    for argument, name in (*(("known", each) for each in factored), ("other", other)):
        if name is not None and name in result.columns and name not in given:
            given[name] = result.columns[name]
        if name not in given and (name is not None or argument == "known"):
            raise ValueError(
                f"{argument} must be one of the columns ({listed(given)}), got "
                f"{shown(name)}{did_you_mean(name, given)}"
            )
    return given, factored, other


def _names_given(result: SweepResult, given: Mapping[str, Any]) -> dict[str, str]:
    """Return the names under which labels of the result are among the columns given."""
    one = result.known if len(result.known) == 1 else ()  # measures have the names of several
    found = {}
    for own in {*one, result.other} & result.columns.keys() - given.keys():
        labels = result.columns[own]
        name = next((name for name, values in given.items() if _is_same(labels, values)), None)
        if name is not None:
            found[own] = name
    return found


def _is_same(labels: Column, values: object) -> bool:
    try:
        other = encode_column(values)
    except (TypeError, ValueError):  # not labels
        return False
    return labels.names == other.names and np.array_equal(labels.codes, other.codes)


def check_page(path: object, title: object) -> Path:
    """Return the file to write, or refuse a place or a title that cannot be used."""
    target = check_path(path, "path")
    check_target(target)
    if not target.parent.is_dir():
        raise ValueError(f"path is in a folder that does not exist: {target.parent}")
    if not isinstance(title, str):
        raise TypeError(f"title must be text, got {type(title).__name__}")
    return target


def _by_name(values: object, argument: str) -> dict[str, Any]:
    """Return columns or features by name, of a mapping or a data frame."""
    if values is None:
        return {}
    if not hasattr(values, "items"):  # a data frame has columns, but is not a mapping
        raise TypeError(f"{argument} must be a mapping from names, got {type(values).__name__}")
    named = dict(values.items())
    for name in named:
        if not isinstance(name, str):
            raise TypeError(f"names of {argument} must be text, got {shown(name)}")
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
