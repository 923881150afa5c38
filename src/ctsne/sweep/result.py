"""The maps of a sweep, their measures, and the choice of one map."""

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
from ctsne._core.vocabulary import SUGGESTED_MIXING, chosen_by, mixings_of
from ctsne.fit.summary import with_page
from ctsne.labels import Labels, join_columns
from ctsne.labels.columns import UNNAMED
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
    parts : dict of str to ndarray of float64, shape (40,)
        The measures to choose by, of random parts of the points. The parts are the same for all
        maps, so the difference between two maps has a standard error.
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
    parts: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    def __repr__(self) -> str:
        if self.error is not None:
            return f"SweptMap({self.title}: {self.error})"
        shown = [f"{name} {self.measures[name]:.2f}" for name in chosen_by(self.measures)]
        return f"SweptMap({self.title}: {', '.join(shown)})"

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
    >>> result.best(mixing=0.5).parameters
    {'strength': 1}
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
        return with_page(page_html(self), f"<pre>{html.escape(repr(self))}</pre>")

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

        Candidates are the settings that reach the target, or the most mixed ones if none does. With
        an ``other`` label, the purest of them is suggested; with several, the first decides.
        Without one, the candidate that keeps most neighbours (adjusted R_NX). Differences within
        noise are ties: two standard errors, from random parts of the points and from seeds, if
        there are several. Of equivalent settings, the weakest of the method that the grid names
        first is taken; t-SNE is the weakest of all.

        Parameters
        ----------
        mixing : float or mapping of column to float, default=0.8
            Target as a share of random mixing, in [0, 1]. With several label columns, every column
            must reach it, or each its own target.

        Returns
        -------
        Suggestion
            ``map``, ``reason`` and ``ties``, the equivalent settings.
        """
        lines, targets = self.candidates(), self.targets(mixing)
        wanted = "these targets" if isinstance(mixing, Mapping) else f"a mixing of {mixing:g}"
        return choose_map(lines, targets, wanted, self.hidden)

    def best(self, mixing: float | Mapping[str, float] = SUGGESTED_MIXING) -> SweptMap:
        """Return the map that :meth:`suggest` chooses for a target ``mixing``."""
        return self.suggest(mixing).map

    def targets(self, mixing: float | Mapping[str, float]) -> dict[str, float]:
        """Return the target of each measure of mixing: ``mixing``, or that of each label column.

        Columns whose mixing cannot be measured, such as those with a single value, have none if
        others can be measured.
        """
        targets = check_targets(mixing, self._mixings(measured=False))
        return {name: targets[name] for name in self._mixings() or targets}

    @property
    def hidden(self) -> str:
        """The name of the label to look for, or what to call it if it has none."""
        name = UNNAMED if self.other is None else self.other.names[0]
        return "the other label" if name in (UNNAMED, f"other {UNNAMED}") else name

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
        finished = [swept for swept in self.maps if swept.error is None]
        if not finished:
            raise ValueError("the sweep has no finished map to choose from")
        mixed = self._mixings()
        measured = [x for x in finished if np.isfinite([x.measures[m] for m in mixed]).all()]
        if not mixed or not measured:
            what = "the mixing of the labels cannot be measured if all points have the same label"
            raise ValueError(f"there is nothing to choose by: {what}, or hardly any point has one")
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
    >>> from ctsne.sweep import load_sweep, sweep
    >>> result = sweep(data.X, data.known, {"strength": [1]}, estimator=small, progress=False)
    >>> result.save("sweep.npz")
    >>> load_sweep("sweep.npz").maps[0].title
    'strength 1'
    """
    stored = read_sweep(path)
    maps = [SweptMap(**{name: entry[name] for name in _FIELDS}) for entry in stored.maps]
    lines = [(entry["line"], entry["seedless_line"], entry["knob"]) for entry in stored.maps]
    placed = zip(maps, lines, strict=True)
    points = tuple(GridPoint(swept.parameters, *line) for swept, line in placed)
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
