"""One map of a sweep, and maps that differ in strength alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctsne._core.display import swept_map_html
from ctsne.methods import METHODS

__all__ = ["Line", "SweptMap"]


@dataclass(frozen=True, eq=False)
class SweptMap:
    """One map of a sweep.

    Attributes
    ----------
    parameters : dict
        Its setting, as the grid said it.
    embedding : ndarray of float32, shape (n, n_components), or None
        Turned to lie on the other maps of the sweep. None if it failed.
    measures : dict of str to float
        See :attr:`SweepResult.table`.
    seconds : float
        Time its similarities and its layout took, on one worker.
    error : str or None
        Why it failed.
    diagnostics : dict of str to ndarray of float32, shape (n,)
        For every point the effective ``perplexity`` of its similarities, its ``largest_weight``
        and, unless the method ignores labels, its ``other_share``; as
        :class:`ctsne.affinity.Diagnostics` explains them. Empty if the map failed.
    """

    parameters: dict[str, Any]
    embedding: NDArray[np.float32] | None
    measures: dict[str, float]
    seconds: float
    error: str | None
    diagnostics: dict[str, NDArray[np.float32]] = field(default_factory=dict)

    def __repr__(self) -> str:
        if self.error is not None:
            return f"SweptMap({self.title}: {self.error})"
        shown = [
            f"{name} {self.measures[name]:.2f}"
            for name in ("mixing", "adjusted_rnx", "other_laplacian")
            if name in self.measures
        ]
        return f"SweptMap({self.title}: {', '.join(shown)})"

    def _repr_html_(self) -> str:
        return swept_map_html(self)

    @property
    def title(self) -> str:
        """The setting in a few words, for legends and panels: ``joint, strength 0.4``."""
        return _in_words(self.parameters)


@dataclass(frozen=True, eq=False)
class Line:
    """Maps of a sweep that differ in their strength alone.

    Attributes
    ----------
    parameters : dict
        What they have in common, as the grid said it.
    steering : str or None
        The parameter that differs; None for a single map whose strength the grid does not name.
    maps : tuple of SweptMap
        Those that are finished, the weakest conditioning first.
    """

    parameters: dict[str, Any]
    steering: str | None
    maps: tuple[SweptMap, ...]

    @property
    def title(self) -> str:
        """What they have in common in a few words: ``revised, bandwidth p``."""
        return _in_words(self.parameters)


def _in_words(parameters: Mapping[str, Any]) -> str:
    return ", ".join(
        METHODS[value].title if name == "method" else f"{name} {_short(value)}"
        for name, value in parameters.items()
    )


def _short(value: object) -> str:
    """Write a value as short as it can be read; of a start, its shape."""
    if isinstance(value, Mapping):
        return ", ".join(f"{label}={_short(number)}" for label, number in value.items())
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return f"{value:g}" if number else str(value)
