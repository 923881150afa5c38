"""``ctsne demo``: all methods on synthetic data."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from ctsne.cli.console import Console, aligned, definitions, titles_of
from ctsne.cli.files import check_replaced
from ctsne.cli.main import Parser, spell_command
from ctsne.cli.options import add_force, add_jobs, add_messages, option, seed

if TYPE_CHECKING:
    from ctsne.datasets import Synthetic
    from ctsne.sweep import SweepResult

# In five of the first 16 seeds, the original method with its random start clearly merges different
# shapes. This is the first of them; its other measures are close to those of the authors' data.
_SEED = 2
# By title. The βs are those of Figure 1 of the paper. Only the original method starts at random, as
# the program of its authors does: its wrong merges come from that start.
SETTINGS: dict[str, dict[str, Any]] = {
    "t-SNE": {"method": "tsne"},
    "original, random start": {"method": "original", "beta": 1e-4, "init": "random"},
    "revised p, beta 1e-20": {"method": "revised", "bandwidth": "p", "beta": 1e-20},
    "revised r, beta 1e-20": {"method": "revised", "bandwidth": "r", "beta": 1e-20},
    "balanced, strength 1": {"method": "balanced", "strength": 1.0},
    "joint, strength 0.7": {"method": "joint", "strength": 0.7},
}
_NAMES = {"known": "colours", "other": "shapes"}
_COLUMNS = titles_of([_NAMES["known"]], [_NAMES["other"]])
_LEGEND = """\
kept: share of the neighbours in the data that the map keeps (adjusted R_NX), from 0 to 1
mixing: share of random mixing; should be near 1 for colours (known) and 0 for shapes (hidden)"""

USAGE = "[options]"
HELP = "compare all methods on synthetic data: a table and a picture"
LISTED = definitions(_COLUMNS)


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    option(main, "-o --output FILE", "picture to write", default="ctsne-demo.png")
    add_force(main)
    option(main, "--seed N", "seed of the data and of the maps", read=seed, default=_SEED)
    add_jobs(main)
    add_messages(parser, json=False)


def run(options: Namespace, console: Console) -> None:
    """Make the maps, print the table, write the picture."""
    from ctsne.cli.plot import save_picture, use_agg
    from ctsne.datasets import make_synthetic
    from ctsne.io import PICTURE_SUFFIXES, check_output

    target = check_output(options.output, PICTURE_SUFFIXES)
    check_replaced([target], options)
    data = make_synthetic(1500, random_state=options.seed)
    progress = not console.quiet
    result = sweep_demo(data, random_state=options.seed, n_jobs=options.jobs, progress=progress)
    use_agg()
    command = spell_command(["demo"], vars(options))
    save_picture(draw(result, data), target, command)
    maps = zip(SETTINGS, result.maps, strict=True)
    rows = [[title, *map(each.measures.get, _COLUMNS)] for title, each in maps]
    table = aligned(["map", *_COLUMNS.values()], rows)
    console.result(f"{table}\n\npicture: {options.output}", {})


def sweep_demo(
    data: Synthetic, *, random_state: int, n_jobs: int = -1, progress: bool = False
) -> SweepResult:
    """Make and measure all maps."""
    from ctsne.estimator import ConditionalTSNE
    from ctsne.sweep import sweep

    grid = [{name: [value] for name, value in each.items()} for each in SETTINGS.values()]
    result = sweep(
        data.X,
        data.known,
        grid,
        other=data.hidden,
        estimator=ConditionalTSNE(random_state=random_state),
        progress=progress,
        n_jobs=n_jobs,
    )
    if len(result.maps) < len(grid):  # Ctrl-C leaves a sweep with the maps that are finished
        raise KeyboardInterrupt
    return result


def draw(result: SweepResult, data: Synthetic) -> Any:
    """Draw all maps: colour is the known label, shape the hidden one."""
    from ctsne import pl
    from ctsne.pl.figures import GREY, SMALL_SIZE

    maps = {title: each.embedding for title, each in zip(SETTINGS, result.maps, strict=True)}
    notes = [
        f"kept {found['adjusted_rnx']:.2f}   mixing: {_NAMES['known']} {found['mixing']:.2f}, "
        f"{_NAMES['other']} {found['other_mixing']:.2f}"
        for found in (each.measures for each in result.maps)
    ]
    known, hidden = {"known label": data.known}, {"hidden label": data.hidden}
    palette = {"blue": "#0072B2", "orange": "#E69F00"}  # the labels are names of colours
    axes = pl.maps(maps, known, shape=hidden, palette=palette, notes=notes, ncols=3)
    figure = axes[0].figure
    # Below the panels; the saved picture has room for it.
    look = {"va": "top", "linespacing": 1.5, "fontsize": SMALL_SIZE, "color": GREY}
    figure.text(axes[0].get_position().x0, -0.005, _LEGEND, **look)
    return figure
