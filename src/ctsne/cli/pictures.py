"""Pictures that know what they were made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne._core.files import replaced_file

if TYPE_CHECKING:
    from ctsne.sweep import SweepResult

__all__ = ["draw_map", "draw_sweep", "save_picture"]

_DPI = 150
# Inches: the side of a panel where there are several.
_SIDE = 4.2
_MOST_COLUMNS = 3
# Shares that differ by less look the same.
_LEAST_RANGE = 0.1
_WORDS = {
    "mixing": "mixing (1: as random labels)",
    "adjusted_rnx": "neighbours kept (adjusted R$_{NX}$)",
}


def draw_map(embedding: Any, columns: Mapping[str, Any], *, shape: Any = None) -> Any:
    """Draw a map once for each column to colour it by, or once in one colour."""
    from ctsne import pl

    _use_no_display()
    embedding = plane(embedding)
    if len(columns) <= 1:
        name, values = next(iter(columns.items()), (None, None))
        return pl.embedding(embedding, values, shape=shape, title=name).figure
    panels = min(len(columns), _MOST_COLUMNS)
    rows = -(-len(columns) // panels)
    figure = _pyplot().figure(
        facecolor="white", layout="compressed", figsize=(1.6 * _SIDE * panels, _SIDE * rows)
    )
    axes = figure.subplots(rows, panels, squeeze=False).ravel()
    for ax, (name, values) in zip(axes, columns.items(), strict=False):
        pl.embedding(embedding, values, shape=shape, title=name, ax=ax)
    for ax in axes[len(columns) :]:
        ax.set_axis_off()
    return figure


def draw_sweep(
    result: SweepResult, kind: str, color: Any, *, shape: Any = None, other: str | None = None
) -> Any:
    """Draw all maps of a sweep, or its measures over the strength, or one against the other."""
    from ctsne import pl
    from ctsne.pl.sweeps import swept_maps

    _use_no_display()
    if kind == "measures":
        return _measures(result, other)
    if kind == "trade-off":
        axis = pl.trade_off(result, xlabel=_WORDS["mixing"], ylabel=_WORDS["adjusted_rnx"])
        return axis.figure
    maps = {title: plane(positions) for title, positions in swept_maps(result).items()}
    return pl.maps(maps, color, shape=shape)[0].figure


def _measures(result: SweepResult, other: str | None) -> Any:
    """Draw a row for each measure, a column for each parameter that sets the strength."""
    from ctsne import pl

    names = ["mixing", "adjusted_rnx", *(["other_laplacian"] if other is not None else [])]
    steered = [line for line in result.lines() if line.steering is not None]
    if not steered:
        raise ValueError("the sweep has no line of maps that differ in strength, so none to draw")
    parameters = list(dict.fromkeys(line.steering or "" for line in steered))
    figure = _pyplot().figure(
        facecolor="white", layout="constrained",
        figsize=(4.8 * len(parameters), 3.2 * len(names)),
    )  # fmt: skip
    axes = figure.subplots(len(names), len(parameters), squeeze=False)
    for row, name in zip(axes, names, strict=True):
        for ax, parameter in zip(row, parameters, strict=True):
            pl.measures(
                result,
                name,
                over=parameter,
                ylabel=f"{other}: share of other labels" if "other" in name else _WORDS[name],
                ax=ax,
            )
        low = min(0.0, *(each.measures[name] for line in steered for each in line.maps))
        high = max(_LEAST_RANGE, *(1.03 * ax.get_ylim()[1] for ax in row))  # with room for a dot
        for ax in row:
            ax.set_ylim(low, high)
    return figure


def plane(embedding: Any) -> Any:
    """Return the first two dimensions of a map, which are what a picture can show."""
    return embedding[:, :2]


def save_picture(
    figure: Any,
    path: Path,
    source: Path,
    *,
    color: Sequence[str] | None,
    shape: str | None = None,
    kind: str = "maps",
    key: str = "ctsne",
) -> dict[str, Any]:
    """Write a figure, whole or not at all, with what it was made from; return its settings."""
    from ctsne._io import Provenance, current_versions, picture_metadata
    from ctsne.cli.inputs import file_record

    settings = {
        "color": None if color is None else list(color), "shape": shape, "kind": kind, "key": key,
    }  # fmt: skip
    provenance = Provenance("plot", settings, [file_record(source, path)], current_versions())
    suffix = path.suffix.lower()
    with replaced_file(path) as temporary, _pyplot().rc_context({"svg.hashsalt": "ctsne"}):
        figure.savefig(
            temporary,
            format=suffix[1:],
            dpi=_DPI,
            bbox_inches="tight",
            metadata=picture_metadata(provenance, suffix),
        )
    _pyplot().close(figure)
    return settings


def _use_no_display() -> None:
    """Draw into files only, whatever screen there is."""
    _pyplot().switch_backend("Agg")


def _pyplot() -> Any:
    from ctsne.pl.figures import load

    return load("pyplot")
