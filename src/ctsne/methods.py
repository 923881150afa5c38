"""The table of methods: what each conditions, and its knob."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log10
from typing import Any

from ctsne._core.vocabulary import JOINT_LENGTH, read_table


@dataclass(frozen=True, eq=False, kw_only=True)
class Method:
    """One method."""

    # Facts of methods.toml, which explains them.
    name: str
    title: str
    color: str
    knob: str | None = None
    default: float
    grid: Sequence[float]
    short_grid: Sequence[float]
    splits_neighbors: bool
    conditions_map: bool = False
    align: str = "none"
    uses: Sequence[str] = ()
    # Neighbours that are searched, and that get a similarity, in units of the perplexity.
    list_length: float = 3
    row_length: float = 3

    @property
    def no_effect(self) -> float:
        """The value of the knob that conditions nothing."""
        return 0.0 if self.knob == "strength" else 1.0

    def knob_at(self, level: float) -> float:
        """Return the knob at a level from 0 to 1, from the weakest of the grid to the strongest."""
        if self.knob == "strength":
            return float(level)
        place = level * (len(self.grid) - 1)
        lower = min(int(place), len(self.grid) - 2)
        low, high = (log10(value) for value in self.grid[lower : lower + 2])
        return float(10 ** (low + (place - lower) * (high - low)))


# Lengths that are not those of most methods.
_LENGTHS: dict[str, dict[str, Any]] = {
    "joint": {"list_length": 2 * JOINT_LENGTH, "row_length": JOINT_LENGTH}
}
METHODS = {
    name: Method(name=name, **facts, **_LENGTHS.get(name, {}))
    for name, facts in read_table("ctsne", "methods.toml").items()
}
DEFAULT_METHOD = "joint"
# The methods that a sweep compares with t-SNE by default.
SWEPT_METHODS = (DEFAULT_METHOD, "revised")
KNOBS = ("strength", "beta")
# Parameters that only some methods use.
_SELECTIVE = {name for method in METHODS.values() for name in method.uses} | set(KNOBS)


def is_used(name: str, parameters: Mapping[str, Any]) -> bool:
    """Return whether a parameter of the estimator has an effect, given all of them."""
    method = METHODS[parameters["method"]]
    map_given = any(parameters.get(each) is not None for each in ("beta_low", "odds"))
    if name == method.knob and not method.splits_neighbors and map_given:
        return False  # the knob conditions only the map, and odds or beta_low replaces it there
    return name not in _SELECTIVE or name == method.knob or name in method.uses


def align_value(given: Mapping[str, Any]) -> Any:
    """Return the alignment: the one given, or the method's default, which needs features."""
    if given["align"] is not None:
        return given["align"]
    return "none" if given["metric"] == "precomputed" else METHODS[given["method"]].align


def users_of(name: str) -> list[str]:
    """Return the methods that use a parameter which others ignore."""
    return [each.name for each in METHODS.values() if name == each.knob or name in each.uses]


def swept_grid(*names: str, short: bool = False) -> list[dict[str, Any]]:
    """Return the grid of a sweep over some methods; one without a knob is a single setting."""
    # With t-SNE among them, the others leave out their weakest value, which conditions nothing.
    grid: list[dict[str, Any]] = []
    for name in names:
        method = METHODS[name]
        if method.knob is None:
            grid.append({"method": name})
            continue
        values = method.short_grid if short else method.grid
        grid.append({"method": name, method.knob: list(values[1:] if "tsne" in names else values)})
    return grid
