"""What a sweep gives: a table of measures, and the choice of one map."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.checks import check_number
from ctsne._core.display import sweep_html
from ctsne._core.messages import warn
from ctsne.layout import align
from ctsne.methods import is_used
from ctsne.sweep.grid import GridPoint, weakest_first
from ctsne.sweep.store import plain_value
from ctsne.sweep.suggestion import SUGGESTED_MIXING, Suggestion, choose_map
from ctsne.sweep.swept import Line, SweptMap
from ctsne.sweep.work import Outcome

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SweepResult", "collect"]

_SHOWN_MAPS = 20


@dataclass(frozen=True, eq=False)
class SweepResult:
    """The maps of a sweep.

    Attributes
    ----------
    maps : tuple of SweptMap
        In the order of the grid; those that an interrupted sweep did not reach are left out.
    sampled_from : int or None
        Where the maps are of a random sample, the number of all points.

    Examples
    --------
    >>> from ctsne import ConditionalTSNE
    >>> from ctsne.datasets import make_synthetic
    >>> from ctsne.sweep import sweep
    >>> data = make_synthetic(300, random_state=0)
    >>> small = ConditionalTSNE(perplexity=20, n_iter=300, random_state=0)
    >>> result = sweep(
    ...     data.X, data.known, {"strength": [0, 1]}, estimator=small, progress=False
    ... )
    >>> [swept.parameters for swept in result.front()]
    [{'strength': 0}, {'strength': 1}]
    """

    maps: tuple[SweptMap, ...]
    _points: tuple[GridPoint, ...]
    _estimator: Mapping[str, Any]
    sampled_from: int | None = None

    def __repr__(self) -> str:
        maps = "".join(f"\n  {swept!r}" for swept in self.maps[:_SHOWN_MAPS])
        more = len(self.maps) - _SHOWN_MAPS
        return f"SweepResult of {len(self.maps)} maps{maps}" + (
            f"\n  ... and {more} more" if more > 0 else ""
        )

    def _repr_html_(self) -> str:
        return sweep_html(self)

    @property
    def estimator(self) -> Mapping[str, Any]:
        """Parameters of the estimator, which the settings of the grid override."""
        return self._estimator

    @property
    def table(self) -> pd.DataFrame:
        """One row for each map: its parameters, its measures, seconds and error.

        Parameters that some setting of the grid names have a column; it is empty where a method
        ignores them.
        ``mixing`` is the Laplacian score of the label factored out as a share of what random labels
        would give: 0 is not mixed at all, 1 is mixed as at random. ``adjusted_rnx`` is the share of
        neighbours kept, adjusted for the label. Measures of the other label begin with ``other_``.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("table is a pandas table: pip install pandas") from error
        varied = dict.fromkeys(name for swept in self.maps for name in swept.parameters)
        measured = dict.fromkeys(name for swept in self.maps for name in swept.measures)
        rows = []
        for swept in self.maps:
            parameters = {**self._estimator, **swept.parameters}
            used = {name: parameters[name] for name in varied if is_used(name, parameters)}
            rows.append({**used, **swept.measures, "seconds": swept.seconds, "error": swept.error})
        return pd.DataFrame(rows, columns=[*varied, *measured, "seconds", "error"])

    def suggest(self, mixing: float = SUGGESTED_MIXING) -> Suggestion:
        """Choose a map by what is known, with the reason.

        If the sweep has a label to look for: of the maps that mix far enough and that no other map
        beats in both mixing and neighbours kept (adjusted R_NX), the one in which that label is
        purest; maps that differ by no more than seeds do are alike, and the least mixed of them is
        taken. Without one: of every line of the grid (all parameters equal but the strength) the
        weakest setting that mixes far enough, and of those the one that keeps most neighbours. If
        t-SNE mixes far enough, there is nothing to take out, and it is taken. Where there are
        several seeds, these are means over them.

        Parameters
        ----------
        mixing : float, default=0.5
            Share of the mixing that random labels would give, in [0, 1].

        Returns
        -------
        Suggestion
            Its ``map`` is None if no setting mixes that far.
        """
        return choose_map(self.candidates(), check_number(mixing, "mixing", low=0, high=1))

    def best(self, mixing: float = SUGGESTED_MIXING) -> SweptMap:
        """Return the map that :meth:`suggest` chooses.

        Parameters
        ----------
        mixing : float, default=0.5
            Share of the mixing that random labels would give, in [0, 1].

        Returns
        -------
        SweptMap

        Raises
        ------
        ValueError
            If no setting mixes the label that far; the message says how far they do.
        """
        suggestion = self.suggest(mixing)
        if suggestion.map is None:
            raise ValueError(
                f"{suggestion.reason}; ask for less, or try stronger conditioning or another method"
            )
        return suggestion.map

    def most_mixed(self) -> SweptMap:
        """Return the map that mixes the label furthest.

        Returns
        -------
        SweptMap
        """
        return max(self._finished(), key=lambda swept: swept.measures["mixing"])

    def front(self) -> tuple[SweptMap, ...]:
        """Choose the maps that no other one beats.

        A map is beaten by another that mixes the label at least as well, keeps at least as many
        neighbours (adjusted R_NX) and, if the other label was given, keeps it at least as pure
        (Laplacian score), and is better in one of them.

        Returns
        -------
        tuple of SweptMap
            The least mixed first.
        """
        finished = self._finished()
        signs = {"mixing": 1, "adjusted_rnx": 1, "other_laplacian": -1}
        names = [name for name in signs if name in finished[0].measures]
        scores = np.array(
            [[signs[name] * swept.measures[name] for name in names] for swept in finished]
        )
        beaten = [
            bool(((scores >= score).all(axis=1) & (scores > score).any(axis=1)).any())
            for score in scores
        ]
        unbeaten = [
            swept for swept, is_beaten in zip(finished, beaten, strict=True) if not is_beaten
        ]
        return tuple(sorted(unbeaten, key=lambda swept: swept.measures["mixing"]))

    def find(self, **parameters: Any) -> tuple[SweptMap, ...]:
        """Find maps by their setting.

        Parameters
        ----------
        **parameters
            Parameters of the estimator with the values to match.

        Returns
        -------
        tuple of SweptMap
        """
        unknown = set(parameters) - set(self._estimator)
        if unknown:
            raise ValueError(
                f"{min(unknown)!r} is not a parameter of the estimator; there are: "
                f"{', '.join(self._estimator)}"
            )
        wanted = {name: plain_value(value) for name, value in parameters.items()}
        found = []
        for swept in self.maps:
            whole = {**self._estimator, **swept.parameters}
            if wanted == {name: plain_value(whole[name]) for name in wanted}:
                found.append(swept)
        return tuple(found)

    def lines(self) -> tuple[Line, ...]:
        """Group the finished maps by what they have in common beside their strength.

        Returns
        -------
        tuple of Line
            In the order of the grid.
        """
        places: dict[str, list[int]] = {}
        for index, point in enumerate(self._points):
            if self.maps[index].error is None:
                places.setdefault(point.line, []).append(index)
        lines = []
        for line in places.values():
            first = self._points[line[0]]
            method = {"method": self._estimator["method"]}  # the grid need not name it
            common = {**method, **first.parameters}
            common.pop(first.steering or "", None)
            maps = tuple(self.maps[index] for index in weakest_first(list(self._points), line))
            lines.append(Line(common, first.steering, maps))
        return tuple(lines)

    def candidates(self) -> tuple[tuple[tuple[SweptMap, ...], ...], ...]:
        """Group the maps as :meth:`suggest` looks at them, without those that cannot be measured.

        Returns
        -------
        tuple of tuple of tuple of SweptMap
            For each line its strengths, the weakest first, and for each strength its maps, which
            differ in their seeds only.

        Raises
        ------
        ValueError
            If there is no map to choose from, or nothing to choose by.
        """
        measured = set(map(id, self._finished()))
        lines: dict[str, list[int]] = {}
        for index, point in enumerate(self._points):
            if id(self.maps[index]) in measured:
                lines.setdefault(point.seedless_line, []).append(index)
        grouped = []
        for line in lines.values():
            groups: dict[str, list[SweptMap]] = {}
            for index in weakest_first(list(self._points), line):
                strength = self.maps[index].parameters.get(self._points[index].steering or "")
                groups.setdefault(repr(strength), []).append(self.maps[index])
            grouped.append(tuple(map(tuple, groups.values())))
        return tuple(grouped)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of it to one file, for :func:`ctsne.sweep.load_sweep`.

        Parameters
        ----------
        path : path-like
            A NumPy archive without pickles, by custom named ``.npz``; replaced if it exists.
        """
        from ctsne.sweep.file import write_sweep  # it makes results itself

        write_sweep(Path(path), self)

    def _finished(self) -> list[SweptMap]:
        finished = [swept for swept in self.maps if swept.error is None]
        if not finished:
            raise ValueError("the sweep has no finished map to choose from")
        measured = [swept for swept in finished if np.isfinite(swept.measures["mixing"])]
        if not measured:
            raise ValueError(
                "there is nothing to choose by: the mixing of the labels cannot be measured where "
                "all points have the same one, or hardly any point has one"
            )
        return measured


def collect(
    points: list[GridPoint],
    lines: Iterable[list[int]],
    outcomes: Iterable[Outcome],
    estimator: Mapping[str, Any],
) -> SweepResult:
    """Put outcomes in the order of the grid, lay the maps on each other, report failures."""
    made = {outcome.index: outcome for outcome in outcomes}
    embeddings = _aligned(lines, made)
    maps = {
        index: SweptMap(
            points[index].parameters,
            embeddings.get(index),
            outcome.measures,
            float("nan") if outcome.finished is None else outcome.finished.facts.seconds,
            outcome.error,
            {} if outcome.finished is None else outcome.finished.diagnostics,
        )
        for index, outcome in sorted(made.items())
    }
    failed = [swept for swept in maps.values() if swept.error is not None]
    if failed:
        first = failed[0]
        warn(
            f"{len(failed)} of {len(points)} settings failed; the first, {first.parameters}, with "
            f"{first.error}"
        )
    chosen = tuple(points[index] for index in maps)
    return SweepResult(tuple(maps.values()), chosen, estimator)


def _aligned(
    lines: Iterable[list[int]], made: dict[int, Outcome]
) -> dict[int, NDArray[np.float32]]:
    """Lay each map on the one before it on its line, the first of a line on the first of all."""
    aligned: dict[int, NDArray[np.float32]] = {}
    first: NDArray[np.float32] | None = None
    for line in lines:
        reference = first
        for index in line:
            finished = made[index].finished if index in made else None
            if finished is None:
                continue
            embedding = finished.embedding
            reference = embedding if reference is None else align(embedding, reference)
            aligned[index] = reference
            first = reference if first is None else first
    return aligned
