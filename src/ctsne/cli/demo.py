"""``ctsne demo``: all methods on made-up data."""

from __future__ import annotations

import argparse

from ctsne.cli.console import Console
from ctsne.cli.options import add_messages
from ctsne.cli.parser import Commands, add_command
from ctsne.cli.values import jobs, seed

__all__ = ["add", "run"]

_DESCRIPTION = """\
Compute six maps of the same made-up data and compare them. No files are
needed.

The data have two labels. The known one (blue, orange) is strong and is
factored out; the hidden one (circle, triangle, square) is what the map should
show. t-SNE shows six clusters, one for each colour and shape. The original
conditional t-SNE, started at random, merges shapes by chance: about every
third seed shows wrong merges, the default one does. The revised, balanced and
joint methods show the three shapes with the colours mixed."""

_EPILOG = """\
the table:
  R_NX              neighbours kept, adjusted for the label: 0 as in a random
                    map, 1 all of them
  Laplacian known   neighbours of another colour: high is good, "random labels"
                    is full mixing
  Laplacian hidden  neighbours of another shape: low is good
  perplexity        effective number of neighbours of a point, mean
  s                 seconds

examples:
  ctsne demo                         picture in ctsne-demo.png
  ctsne demo --output maps.pdf       another place and format (png, pdf, svg)
  ctsne demo --seed 7 --jobs 2       other random data, two threads

The picture needs matplotlib (pip install "ctsne[plot]")."""


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = add_command(
        commands, "demo", usage="[options]", description=_DESCRIPTION, epilog=_EPILOG, run=run,
        help="compare all methods on made-up data: a table and a picture",
    )  # fmt: skip
    main = parser.add_argument_group("options")
    main.add_argument(
        "-o", "--output", metavar="FILE", default="ctsne-demo.png",
        help="where the picture goes; replaced if it exists (default: %(default)s)",
    )  # fmt: skip
    main.add_argument(
        "--seed", metavar="N", type=seed, default=2,
        help="seed of the data and of the maps (default: %(default)s)",
    )  # fmt: skip
    main.add_argument(
        "--jobs", metavar="N", type=jobs, default=-1,
        help="threads; -1 for all (default: %(default)s)",
    )  # fmt: skip
    add_messages(parser, json=False, config=False)


def run(options: argparse.Namespace, console: Console) -> None:
    """Compute the maps, print the table, write the picture."""
    # Imported here, so that help and version answer at once.
    from ctsne import demo, demo_picture

    # A picture that cannot be written is told before the computing, not after.
    demo_picture.check_picture_path(options.output)
    result = demo.run(random_state=options.seed, n_jobs=options.jobs, progress=console.say)
    path = demo_picture.save_picture(result, options.output)
    console.result(f"{demo.format_table(result)}\n\npicture: {path}", {})
