"""The picture of the demonstration: all maps side by side, written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ctsne.datasets import HIDDEN_NAMES, KNOWN_NAMES, Synthetic
from ctsne.demo import Demo, Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

__all__ = ["check_picture_path", "draw", "save_picture"]

DPI = 150
# Okabe and Ito's palette: the two stay apart for every common kind of colour blindness.
COLOURS = dict(zip(KNOWN_NAMES, ("#0072B2", "#E69F00"), strict=True))
MARKERS = dict(zip(HIDDEN_NAMES, ("o", "^", "s"), strict=True))
# Triangles and squares look larger than circles of the same nominal size.
SIZES = dict(zip(HIDDEN_NAMES, (13.0, 14.0, 11.0), strict=True))
INK, GREY = "#222222", "#6b6b6b"
# Inches: a panel's side, the space between panels, above each for its title, below all.
SIDE, GAP, HEADER, FOOTER = 3.1, 0.14, 0.5, 0.52


def draw(demo: Demo) -> Figure:
    """Draw all maps in one picture: colour is the known label, shape the hidden one.

    Parameters
    ----------
    demo : Demo
        What :func:`run` returned.

    Returns
    -------
    matplotlib.figure.Figure
        A figure of its own, not registered with pyplot, so it needs no display.

    Raises
    ------
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> from ctsne.datasets import make_synthetic
    >>> from ctsne.demo import SETTINGS, Demo, Panel
    >>> from ctsne.demo_picture import draw
    >>> data = make_synthetic(20, random_state=0)
    >>> panel = Panel(SETTINGS[0], data.X[:, 4:6], 0.5, 0.1, 0.0, 30.0, 1.2)
    >>> figure = draw(Demo(data, (panel,), 0.48, 0.67))
    >>> figure.axes[0].get_xticks().size
    0
    """
    figure_class, line_class = _matplotlib()
    columns = min(3, max(1, len(demo.panels)))
    rows = max(1, -(-len(demo.panels) // columns))
    width = columns * (SIDE + GAP) + GAP
    height = rows * (SIDE + HEADER + GAP) + FOOTER
    figure = figure_class(figsize=(width, height), dpi=DPI, facecolor="white")
    # Placed by hand: square panels of equal size need no layout engine.
    figure.subplots_adjust(
        left=GAP / width,
        right=1 - GAP / width,
        bottom=(FOOTER + GAP) / height,
        top=1 - HEADER / height,
        wspace=GAP / SIDE,
        hspace=(GAP + HEADER) / SIDE,
    )
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, panel in zip(grid, demo.panels, strict=False):
        _draw_panel(axes, panel, demo.data)
    for axes in grid[len(demo.panels) :]:
        axes.set_axis_off()

    def key(label: str, marker: str, colour: str) -> Line2D:
        return line_class(
            [],
            [],
            label=label,
            marker=marker,
            color=colour,
            linestyle="none",
            markersize=6.5,
            markeredgewidth=0,
        )

    handles = [key(f"known: {name}", "o", colour) for name, colour in COLOURS.items()]
    handles += [key(f"hidden: {name}", marker, GREY) for name, marker in MARKERS.items()]
    figure.legend(
        handles=handles,
        loc="lower center",
        bbox_to_anchor=(0.5, 0.28 / height),
        borderaxespad=0,
        ncols=len(handles),
        frameon=False,
        fontsize=9.5,
        handletextpad=0.1,
        columnspacing=1.6,
    )
    figure.text(
        0.5,
        0.12 / height,
        "R$_{NX}$: neighbours kept.  Mixing: share of neighbours with another label; for random"
        f" labels {demo.random_known:.2f} (known), {demo.random_hidden:.2f} (hidden).",
        ha="center",
        fontsize=8.5,
        color=GREY,
    )
    return figure


def _draw_panel(axes: Axes, panel: Panel, data: Synthetic) -> None:
    colours = np.array([COLOURS[name] for name in data.known.tolist()])
    for name, marker in MARKERS.items():
        shown = data.hidden == name
        axes.scatter(
            panel.embedding[shown, 0],
            panel.embedding[shown, 1],
            s=SIZES[name],
            c=colours[shown],
            marker=marker,
            alpha=0.65,
            linewidths=0,
            rasterized=True,
        )
    # Square limits around the map: equal units and panels of equal size.
    low, high = panel.embedding.min(axis=0), panel.embedding.max(axis=0)
    middle, half = (low + high) / 2, 0.55 * max(float((high - low).max()), 1e-12)
    axes.set_xlim(middle[0] - half, middle[0] + half)
    axes.set_ylim(middle[1] - half, middle[1] + half)
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set(color="#d0d0d0", linewidth=0.8)
    title, detail = panel.setting.title, panel.setting.detail.replace("beta", "β")
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold", color=INK, pad=18)
    axes.set_title(detail, loc="right", fontsize=8, color=GREY, pad=18)
    axes.annotate(
        f"R$_{{NX}}$ {panel.rnx:.2f}   mixing: known {panel.laplacian_known:.2f},"
        f" hidden {panel.laplacian_hidden:.2f}",
        xy=(0, 1),
        xycoords="axes fraction",
        xytext=(0, 6),
        textcoords="offset points",
        fontsize=8,
        color=INK,
    )


def _matplotlib() -> tuple[type[Figure], type[Line2D]]:
    """Import what draws, only when something is drawn."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.lines import Line2D
    except ImportError as error:
        raise ImportError(
            'drawing needs matplotlib, which is not installed: pip install "ctsne[plot]"'
        ) from error
    return Figure, Line2D


def check_picture_path(path: str | os.PathLike[str]) -> Path:
    """Make sure a picture can be written to ``path``, before any work is put into it.

    Parameters
    ----------
    path : path-like
        Where the picture shall go. The ending sets the format: ``.png``, ``.pdf``, ``.svg``.

    Returns
    -------
    Path
        The file that will be written, symbolic links followed.

    Raises
    ------
    OSError
        If the folder is missing or not writable, or ``path`` is not a plain file.
    ValueError
        If matplotlib does not know the format.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> from ctsne.demo_picture import check_picture_path
    >>> check_picture_path("map.png").name
    'map.png'
    """
    figure_class, _ = _matplotlib()
    target = Path(os.path.realpath(path))
    known = figure_class().canvas.get_supported_filetypes()
    if target.suffix[1:].lower() not in known:
        raise ValueError(
            f"the picture's name must end in {', '.join('.' + name for name in sorted(known))},"
            f" got {os.fspath(path)!r}"
        )
    if target.exists() and not target.is_file():
        raise OSError(f"cannot write the picture: {target} is not a file")
    if not target.parent.is_dir():
        raise OSError(f"cannot write the picture: there is no folder {target.parent}")
    if target.exists() and not os.access(target, os.W_OK):
        raise OSError(f"cannot write the picture: {target} is read-only")
    try:
        # Trying is the only sure test: permissions, full disks and read-only mounts differ.
        with _beside(target):
            pass
    except OSError as error:
        raise OSError(
            f"cannot write the picture: the folder {target.parent} refuses new files"
            f" ({error.strerror})"
        ) from error
    return target


def save_picture(demo: Demo, path: str | os.PathLike[str]) -> Path:
    """Draw the maps and write the picture, all of it or nothing.

    Parameters
    ----------
    demo : Demo
        What :func:`run` returned.
    path : path-like
        Where the picture shall go; an existing file is replaced.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> from ctsne.datasets import make_synthetic
    >>> from ctsne.demo import Demo
    >>> from ctsne.demo_picture import save_picture
    >>> demo = Demo(make_synthetic(20, random_state=0), (), 0.48, 0.67)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_picture(demo, f"{folder}/maps.png").name
    'maps.png'
    """
    target = check_picture_path(path)
    figure = draw(demo)
    with _beside(target) as temporary:
        figure.savefig(temporary, format=target.suffix[1:].lower(), dpi=DPI)
        os.replace(temporary, target)
    return target


@contextlib.contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """Give a new empty file in the target's folder and remove it afterwards if it is still there.

    Moving within one folder is atomic, so a run that is killed never leaves half a picture.
    """
    # Not tempfile: its files are private to the user, and the picture should not be.
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    temporary.touch(exist_ok=False)
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)
