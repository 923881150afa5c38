"""The picture of the demonstration: all maps side by side, written whole or not at all."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ctsne._core.files import file_beside, replaced_file
from ctsne.datasets import Synthetic
from ctsne.demo import Demo, Panel
from ctsne.pl.figures import GREY, INK, Entry, PanelGrid, add_legend, load, set_title
from ctsne.pl.points import Look, draw_points, make_look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["check_picture_path", "draw", "save_picture"]

DPI = 150
# Inches: a panel's side, the space above each for its texts, below all for the legend.
SIDE, HEADER, FOOTER = 3.1, 0.5, 0.52


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
    figure: Figure = load("figure").Figure(dpi=DPI, facecolor="white")
    grid = PanelGrid(len(demo.panels), 3, SIDE, header=HEADER)
    panels = grid.make(figure)
    grid.place(figure, least_height=grid.height + FOOTER)
    look = _look(demo.data)
    for axes, panel in zip(panels, demo.panels, strict=True):
        _draw_panel(axes, panel, look)
    height = grid.height + FOOTER
    entries = _entries(look)
    add_legend(
        figure,
        entries,
        ncols=len(entries),
        loc="lower center",
        bbox_to_anchor=(0.5, 0.28 / height),
        borderaxespad=0,
        fontsize=9.5,
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


def _look(data: Synthetic) -> Look:
    """Colour by the known label; shape by the hidden one, whose names are those of the shapes."""
    return make_look(data.known, data.hidden, None, n=len(data.known))


def _entries(look: Look) -> list[Entry]:
    colors = 0 if look.labels is None else look.labels.n_labels
    return [
        replace(entry, text=f"{'known' if place < colors else 'hidden'}: {entry.text}")
        for place, entry in enumerate(look.entries())
    ]


def _draw_panel(axes: Axes, panel: Panel, look: Look) -> None:
    draw_points(axes, panel.embedding, look)
    title, detail = panel.setting.title, panel.setting.detail.replace("beta", "β")
    set_title(axes, title, pad=18)
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
    figure_class = load("figure").Figure
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
        with file_beside(target):
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
    with replaced_file(target) as temporary:
        figure.savefig(temporary, format=target.suffix[1:].lower(), dpi=DPI)
    return target
