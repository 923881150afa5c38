"""The maps of a sweep, their measures, the choice of one map, and what a notebook shows."""

from __future__ import annotations

import html
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core import page_html
from ctsne._core.checks import check_path
from ctsne._core.messages import did_you_mean, value_text
from ctsne._core.vocabulary import (
    SUGGESTED_MIXING,
    chosen_by,
    measure_about,
    measure_title,
    mixings_of,
)
from ctsne.fit.summary import (
    LEFT,
    NUMBER,
    dominated_text,
    escaped,
    facts_table,
    shortened,
    with_page,
)
from ctsne.labels import Labels, join_columns
from ctsne.layout import align
from ctsne.methods import METHODS, is_used
from ctsne.storage.record import Record
from ctsne.storage.sweep import StoredSweep, read_sweep, write_sweep
from ctsne.sweep.choice import Suggestion, check_targets, choose_map
from ctsne.sweep.grid import GridPoint, grouped_lines, plain_value

if TYPE_CHECKING:
    import pandas as pd

_SHOWN_MAPS = 20


@dataclass(frozen=True, eq=False)
class SweptMap:
    """One map of a sweep.

    Attributes
    ----------
    parameters : dict
        Its setting, as given in the grid.
    embedding : ndarray of float32, shape (n, n_components), or None
        Rotated to match the other maps of the sweep. None if it failed.
    measures : dict of str to float
        See :attr:`SweepResult.table`.
    seconds : float
        Time for its similarities and its layout, on one worker.
    error : str or None
        Why it failed.
    diagnostics : dict of str to ndarray of float32, shape (n,)
        ``perplexity``, ``largest_weight`` and, unless the method ignores labels, ``other_share``
        and ``matched`` of ``Diagnostics``. Empty if the map failed.
    alignment, alignment_scores : str, dict of str to float
        How points with other labels were aligned, and the scores of what ``align="auto"`` tried.
    file : str or None
        The name of its file in the folder of the sweep.

    Examples
    --------
    >>> from ctsne.sweep import SweptMap
    >>> SweptMap({"method": "joint", "strength": 0.4}, None, {"mixing": 0.7}, 1.5, None)
    SweptMap(joint, strength 0.4: mixing 0.70)
    """

    parameters: dict[str, Any]
    embedding: NDArray[np.float32] | None
    measures: dict[str, float]
    seconds: float
    error: str | None
    diagnostics: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    alignment: str = "none"
    alignment_scores: dict[str, float] = field(default_factory=dict)
    file: str | None = None

    def __repr__(self) -> str:
        if self.error is not None:
            return f"SweptMap({self.title}: {self.error})"
        shown = [f"{name} {self.measures[name]:.2f}" for name in chosen_by(self.measures)]
        return f"SweptMap({self.title}: {', '.join(shown)})"

    def _repr_html_(self) -> str:
        facts = [("setting", self.title)]
        if self.error is not None:
            return facts_table([*facts, ("failed", self.error)])
        if self.alignment != "none":
            scores = ", ".join(f"{name} {x:.2f}" for name, x in self.alignment_scores.items())
            facts.append(("alignment", self.alignment + (f" (scores: {scores})" if scores else "")))
        for name in chosen_by(self.measures):
            meaning = measure_about(name).meaning.partition(". ")[0]  # its first sentence
            facts.append((measure_title(name), f"{self.measures[name]:.2f} ({meaning})"))
        if "largest_weight" in self.diagnostics:
            facts.append(("dominated", dominated_text(self.diagnostics["largest_weight"])))
        return facts_table(facts)

    @property
    def title(self) -> str:
        """The setting in a few words, for legends and panels: ``joint, strength 0.4``."""
        return _in_words(self.parameters)


_FIELDS = tuple(field.name for field in fields(SweptMap))


@dataclass(frozen=True, eq=False)
class Line:
    """Maps of a sweep that differ only in their strength.

    Attributes
    ----------
    parameters : dict
        Their common parameters, as given in the grid.
    knob : str or None
        The parameter that differs; None for a single map whose strength the grid does not name.
    maps : tuple of SweptMap
        The finished ones, with the weakest conditioning first.

    Examples
    --------
    >>> from ctsne.sweep import Line
    >>> Line({"method": "revised", "bandwidth": "p"}, "beta", maps=()).title
    'revised, bandwidth p'
    """

    parameters: dict[str, Any]
    knob: str | None
    maps: tuple[SweptMap, ...]

    @property
    def title(self) -> str:
        """The common parameters in a few words: ``revised, bandwidth p``."""
        return _in_words(self.parameters)


@dataclass(frozen=True, eq=False)
class SweepResult:
    """The maps of a sweep.

    Attributes
    ----------
    maps : tuple of SweptMap
        In the order of the grid, without those that an interrupted sweep did not reach.
    points, estimator : tuple of GridPoint, dict
        The setting of each map, and all parameters of the estimator.
    sampled_from : int or None
        If the maps show a random sample, the number of all points.
    labels, other : Labels or None
        The label columns that were factored out, and the one to look for, for pages and figures.

    Examples
    --------
    >>> from ctsne import ConditionalTSNE
    >>> from ctsne.datasets import make_synthetic
    >>> from ctsne.sweep import sweep
    >>> data = make_synthetic(300, random_state=0)
    >>> small = ConditionalTSNE(perplexity=20, n_iter=300, random_state=0)
    >>> result = sweep(data.X, data.known, {"strength": [0, 1]}, estimator=small, progress=False)
    >>> [swept.parameters for swept in result.front()]
    [{'strength': 0}, {'strength': 1}]
    """

    maps: tuple[SweptMap, ...]
    points: tuple[GridPoint, ...]
    estimator: Mapping[str, Any]
    sampled_from: int | None = None
    labels: Labels | None = None
    other: Labels | None = None

    def __repr__(self) -> str:
        lines = [f"SweepResult of {len(self.maps)} maps", *map(repr, self.maps[:_SHOWN_MAPS])]
        if len(self.maps) > _SHOWN_MAPS:
            lines.append(f"... and {len(self.maps) - _SHOWN_MAPS} more")
        return "\n  ".join(lines)

    def _repr_html_(self) -> str:
        suggested, text = _suggestion(self)
        measures = chosen_by(dict.fromkeys(name for swept in self.maps for name in swept.measures))
        meanings = {name: html.escape(measure_about(name).meaning) for name in measures}
        head = "".join(
            f'<th title="{meaning}" style="{NUMBER}">{escaped(measure_title(name))}</th>'
            for name, meaning in meanings.items()
        )
        rows = "".join(_row(swept, measures, chosen=swept is suggested) for swept in self.maps)
        maps = "1 map" if len(self.maps) == 1 else f"{len(self.maps)} maps"
        table = (
            f'<div class="ctsne"><p>Sweep of {maps}. {html.escape(text)}</p>'
            '<div style="max-height:32em;overflow:auto"><table>'
            f'<thead><tr><th></th><th style="{LEFT}">setting</th>{head}<th style="{NUMBER}">'
            f"seconds</th></tr></thead><tbody>{rows}</tbody></table></div></div>"
        )
        return with_page(page_html(self), table)

    @property
    def table(self) -> pd.DataFrame:
        """One row per map: its parameters, its measures, seconds and error.

        Every parameter that the grid names has a column, which is empty for methods that ignore it.
        :func:`ctsne.evaluate.measure_map` lists the measures; of several label columns, each has
        its own ``mixing (name)``.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("table is a pandas table: pip install pandas") from error
        varied = dict.fromkeys(name for swept in self.maps for name in swept.parameters)
        measured = dict.fromkeys(name for swept in self.maps for name in swept.measures)
        rows = []
        for swept in self.maps:
            parameters = {**self.estimator, **swept.parameters}
            used = {name: parameters[name] for name in varied if is_used(name, parameters)}
            rows.append({**used, **swept.measures, "seconds": swept.seconds, "error": swept.error})
        return pd.DataFrame(rows, columns=[*varied, *measured, "seconds", "error"])

    def suggest(self, mixing: float | Mapping[str, float] = SUGGESTED_MIXING) -> Suggestion:
        """Suggest a map by its measures, with the reason.

        With an ``other`` label: of the maps that mix far enough and that no other map beats in both
        mixing and neighbours kept (adjusted R_NX), the one that keeps the other label purest; of
        maps that differ by no more than seeds do, the least mixed. Without one: of every line of
        the grid (maps that differ only in their strength) the weakest setting that mixes far
        enough, and of those the one that keeps most neighbours. If t-SNE mixes far enough, it is
        suggested. Of several seeds, the means are compared.

        Parameters
        ----------
        mixing : float or mapping of column to float, default=0.5
            Target as a share of random mixing, in [0, 1]. With several label columns, every column
            must reach it, or each its own target.

        Returns
        -------
        Suggestion
            ``map`` and ``reason``; ``map`` is None if no setting mixes that far.
        """
        return choose_map(self.candidates(), self.targets(mixing))

    def best(self, mixing: float | Mapping[str, float] = SUGGESTED_MIXING) -> SweptMap:
        """Return the map that :meth:`suggest` chooses for a target ``mixing``.

        Raises ValueError if no setting mixes the label that far; the message says how far they do.
        """
        suggestion = self.suggest(mixing)
        if suggestion.map is None:
            advice = "ask for less, or try stronger conditioning or another method"
            raise ValueError(f"{suggestion.reason}; {advice}")
        return suggestion.map

    def front(self) -> tuple[SweptMap, ...]:
        """Return the maps that no other map beats, the least mixed first.

        Another map beats one if it is better in one of mixing (of each label column), neighbours
        kept (adjusted R_NX) and mixing of the other label (less is better), and not worse in any.
        """
        maps = self._measured()
        names = [
            name for name in chosen_by(maps[0].measures) if np.isfinite(maps[0].measures[name])
        ]
        sign = np.array([measure_about(name).better for name in names])
        scores = sign * np.array([[swept.measures[name] for name in names] for swept in maps])
        beats = [(scores >= own).all(axis=1) & (scores > own).any(axis=1) for own in scores]
        unbeaten = [swept for swept, by in zip(maps, beats, strict=True) if not by.any()]
        mixed = self._mixings()
        return tuple(sorted(unbeaten, key=lambda swept: sum(swept.measures[m] for m in mixed)))

    def targets(self, mixing: float | Mapping[str, float]) -> dict[str, float]:
        """Return the target of each measure of mixing: ``mixing``, or that of each label column.

        Columns whose mixing cannot be measured, such as those with a single value, have none if
        others can be measured.
        """
        targets = check_targets(mixing, self._mixings(measured=False))
        return {name: targets[name] for name in self._mixings() or targets}

    def _mixings(self, *, measured: bool = True) -> list[str]:
        """Return the names of the measures of mixing, without those that could not be measured."""
        finished = [swept.measures for swept in self.maps if swept.error is None]
        names = mixings_of(dict.fromkeys(name for measures in finished for name in measures))
        if not measured:
            return names or ["mixing"]
        return [name for name in names if any(np.isfinite(measures[name]) for measures in finished)]

    def find(self, **parameters: Any) -> tuple[SweptMap, ...]:
        """Return the maps with these parameters: ``find(method="joint")``; () if there are none."""
        for name in parameters:
            if name not in self.estimator:
                hint = did_you_mean(name, self.estimator)
                raise ValueError(f"{name!r} is not a parameter of the estimator{hint}")
        wanted = {name: plain_value(value) for name, value in parameters.items()}

        def fits(swept: SweptMap) -> bool:
            whole = {**self.estimator, **swept.parameters}
            return all(plain_value(whole[name]) == value for name, value in wanted.items())

        return tuple(filter(fits, self.maps))

    def lines(self) -> tuple[Line, ...]:
        """Group the finished maps that differ only in their strength, in the order of the grid."""
        lines = []
        for places in grouped_lines(self.points):
            finished = [place for place in places if self.maps[place].error is None]
            if not finished:
                continue
            first = self.points[min(finished)]
            # The grid need not name the method.
            common = {"method": self.estimator["method"], **first.parameters}
            common.pop(first.knob or "", None)
            maps = tuple(self.maps[place] for place in finished)
            lines.append(Line(common, first.knob, maps))
        return tuple(lines)

    def candidates(self) -> tuple[tuple[tuple[SweptMap, ...], ...], ...]:
        """Group the maps as :meth:`suggest` compares them, without those that cannot be measured.

        Each line holds its strengths, the weakest first, and each strength its maps, one per seed.
        Raises ValueError if there is nothing to choose from, or to choose by.
        """
        measured = self._measured()
        lines = []
        for line in grouped_lines(self.points, seedless=True):
            groups: dict[str, list[SweptMap]] = {}
            for swept, point in ((self.maps[index], self.points[index]) for index in line):
                if any(swept is other for other in measured):
                    strength = swept.parameters.get(point.knob or "")
                    groups.setdefault(repr(strength), []).append(swept)
            if groups:
                lines.append(tuple(map(tuple, groups.values())))
        return tuple(lines)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the sweep for :func:`ctsne.sweep.load_sweep`, replacing what is there.

        If ``path`` is a file (a NumPy archive, ``.npz``), it holds everything; the folder of a
        sweep gets an index of its maps. Labels that are text, numbers, booleans or dates keep
        their type; others become text.
        """
        entries = [
            {**vars(swept), "line": point.line, "seedless_line": point.seedless_line}
            | {"knob": point.knob}
            for swept, point in zip(self.maps, self.points, strict=True)
        ]
        labels, other = ({} if x is None else x.by_name for x in (self.labels, self.other))
        record = Record("ctsne.sweep", self.estimator, tuple(labels))
        stored = StoredSweep(record, entries, labels, other, self.sampled_from)
        write_sweep(check_path(path, "path"), stored)

    def _measured(self) -> list[SweptMap]:
        """Return the finished maps whose mixing is known."""
        finished = [swept for swept in self.maps if swept.error is None]
        if not finished:
            raise ValueError("the sweep has no finished map to choose from")
        mixed = self._mixings()
        measured = [
            swept for swept in finished if np.isfinite([swept.measures[m] for m in mixed]).all()
        ]
        if not mixed or not measured:
            raise ValueError(
                "there is nothing to choose by: the mixing of the labels cannot be measured if all "
                "points have the same label, or hardly any point has one"
            )
        return measured


def aligned_maps(
    maps: Sequence[SweptMap], points: Sequence[GridPoint], which: Collection[int]
) -> tuple[SweptMap, ...]:
    """Rotate some maps onto the one before them on their line; first ones onto the first of all."""
    aligned = list(maps)
    first: NDArray[np.float32] | None = None
    for line in grouped_lines(points):
        reference = first
        for index in line:
            embedding = maps[index].embedding
            if embedding is None:
                continue
            if reference is not None and index in which:
                embedding = align(embedding, reference)
            reference = embedding
            aligned[index] = replace(maps[index], embedding=embedding)
            first = reference if first is None else first
    return tuple(aligned)


def _in_words(parameters: Mapping[str, Any]) -> str:
    return ", ".join(
        METHODS[value].title if name == "method" else f"{name} {value_text(value)}"
        for name, value in parameters.items()
    )


def load_sweep(path: str | os.PathLike[str]) -> SweepResult:
    """Read a finished sweep; raise ValueError if there is none.

    Parameters
    ----------
    path : path-like
        The folder of a sweep, or a file written by :meth:`SweepResult.save`.

    Returns
    -------
    SweepResult

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ctsne import ConditionalTSNE
    >>> from ctsne.datasets import make_synthetic
    >>> from ctsne.sweep import load_sweep, sweep
    >>> data = make_synthetic(300, random_state=0)
    >>> small = ConditionalTSNE(perplexity=20, n_iter=300, random_state=0)
    >>> result = sweep(data.X, data.known, {"strength": [1]}, estimator=small, progress=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result.save(Path(folder) / "sweep.npz")
    ...     load_sweep(Path(folder) / "sweep.npz").maps[0].title
    'strength 1'
    """
    stored = read_sweep(path)
    maps = [SweptMap(**{name: entry[name] for name in _FIELDS}) for entry in stored.maps]
    lines = [(entry["line"], entry["seedless_line"], entry["knob"]) for entry in stored.maps]
    points = tuple(
        GridPoint(swept.parameters, *line) for swept, line in zip(maps, lines, strict=True)
    )
    # Files of maps hold them as computed; here they are rotated to match each other.
    raw = {index for index, swept in enumerate(maps) if swept.file is not None}
    columns = (stored.labels, stored.other)
    return SweepResult(
        aligned_maps(maps, points, raw),
        points,
        {**stored.record.parameters, "callback": None},
        stored.sampled_from,
        *(join_columns(tuple(x), list(x.values())) if x else None for x in columns),
    )


# What a notebook shows


def _suggestion(result: SweepResult) -> tuple[SweptMap | None, str]:
    try:
        suggested = result.suggest()
    except ValueError as error:  # the message says why, and what to do
        text = str(error)
        return None, text[0].upper() + text[1:] + "."
    if suggested.map is None:
        return None, f"No map is suggested: {suggested.reason}."
    title = shortened(suggested.map.title)
    return suggested.map, f"Suggested by suggest(): {title}; {suggested.reason}."


def _row(swept: SweptMap, measures: list[str], *, chosen: bool) -> str:
    # Translucent colours can be read on a dark background too.
    mark = '<span title="suggested" role="img" aria-label="suggested">★</span>' if chosen else ""
    background = "background:rgba(230,159,0,.22)" if chosen else ""
    weight = "font-weight:bold;" if chosen else ""
    cells = f'<td>{mark}</td><td style="{weight}{LEFT}">{escaped(swept.title)}</td>'
    if swept.error is not None:
        width = len(measures) + 1
        cells += f'<td colspan="{width}" style="{LEFT}">failed: {escaped(swept.error)}</td>'
    else:
        cells += "".join(_measured(swept.measures.get(name, np.nan)) for name in measures)
        cells += f'<td style="{NUMBER}">{swept.seconds:.1f}</td>'
    return f'<tr style="{background}">{cells}</tr>'


def _measured(value: float) -> str:
    """Write a share with a bar of that length behind it."""
    if not np.isfinite(value):
        return f'<td style="{NUMBER}">–</td>'
    width = f"{100 * min(max(value, 0.0), 1.0):.0f}%"
    bar = f"linear-gradient(90deg,rgba(86,180,233,.4) {width},transparent {width})"
    return f'<td style="{NUMBER};background:{bar}">{value:.2f}</td>'
