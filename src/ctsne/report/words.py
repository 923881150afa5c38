"""What the page says of the measures it shows."""

from __future__ import annotations

from typing import Any

__all__ = ["measures_shown"]

# Name in the sweep's table, name on the page, digits, meaning. The technical name appears in the
# meaning only.
_MEASURES = (
    (
        "mixing",
        "mixing of {known}",
        2,
        "How far the known label is mixed among neighbours in the map, as a share of what labels "
        "handed out at random would give: 0 is not at all, 1 is as at random. In technical terms: "
        "its Laplacian score, divided by that of random labels.",
    ),
    (
        "adjusted_rnx",
        "neighbours kept",
        2,
        "Share of the neighbours in the data that the map keeps, beyond chance: 1 keeps all, 0 is "
        "as at random. It looks among points of the same and of other known labels separately, so "
        "that mixing the label is not held against the map. In technical terms: adjusted R_NX.",
    ),
    (
        "other_laplacian",
        "{other} mixed",
        2,
        "Share of neighbours in the map that carry a different label of the column to be seen. "
        "Lower keeps its labels apart better. In technical terms: its Laplacian score.",
    ),
    (
        "perplexity_median",
        "perplexity (median)",
        1,
        "Effective number of neighbours of a point, in the similarities the map is made of. Far "
        "below the perplexity asked for, neighbourhoods are dominated by single points.",
    ),
    (
        "other_share_mean",
        "weight on other labels",
        2,
        "Share of a point's similarity that lies on points of other known labels, on average.",
    ),
)
# Longer names of columns are cut, so that a line of measures stays one.
_LONGEST_NAME = 40


def measures_shown(present: set[str], known: str, other: str | None) -> list[dict[str, Any]]:
    """Return key, name, digits and meaning of the measures that some map has."""
    columns = {"known": _cut(known), "other": _cut(other or "other label")}
    return [
        {"key": key, "name": name.format(**columns), "digits": digits, "meaning": meaning}
        for key, name, digits, meaning in _MEASURES
        if key in present
    ]


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
