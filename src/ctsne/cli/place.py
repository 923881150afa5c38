"""``ctsne place``: place the points of many files in a finished map, on a Dask cluster."""

from __future__ import annotations

import argparse
import warnings
from typing import TYPE_CHECKING, Any

from ctsne._core.messages import FarPointsWarning, NoLabelsWarning
from ctsne.cli import options as opt
from ctsne.cli.console import Console
from ctsne.cli.main import Parser
from ctsne.cli.new_data import check_order, without_labels
from ctsne.cli.options import option
from ctsne.cli.transform import warn_of_far

if TYPE_CHECKING:
    from ctsne.distributed import PlacedShards
    from ctsne.estimator import ConditionalTSNE

USAGE = "MODEL FILE [FILE ...] -o FOLDER [options]"
HELP = "place the points of many files in the map of a model, on a cluster"
DESCRIPTION = """\
Place the points of many files in a map that is finished, without moving it.

Like ctsne transform, but for more points than fit in memory, or than one
machine can place in time. Every file is placed by a worker of a Dask cluster
and written to a Parquet file of its own. Without --scheduler, there is one
worker process for each core of this machine."""

EPILOG = """\
the files:
  parquet, h5ad, or zarr stores; all of one format, by name or as a pattern in
  quotes. All are read like the first one, by the rules of ctsne embed.

the output:
  FOLDER has a Parquet file for each input file, with the columns of ctsne
  transform; pandas and Dask read the folder as one table. Each is complete or
  absent. If the run is interrupted, or a file had to be corrected, run the same
  command again: finished files are kept. Another model or other files need
  another folder.

examples:
  ctsne place model.ctsne 'cells/*.parquet' -o maps --labels batch
  ctsne place model.ctsne 'cells/*.h5ad' -o maps --use-rep X_scVI
  ctsne place model.ctsne cells.zarr -o maps --scheduler tcp://10.0.0.1:8786"""


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    main.add_argument("model", metavar="MODEL", help="file with the model")
    option(main, "FILE...", "files with the points, or patterns in quotes")
    option(
        main, "-o --output FOLDER", "folder to write to, made if it does not exist", required=True
    )
    option(
        main,
        "--labels COLUMN...",
        "label columns, one for each that the model factored out (default: those of the same "
        "names, if the first file has them)",
    )
    option(
        main,
        "--use-rep KEY",
        "h5ad: key in obsm, or X (default: that of the model, else as for ctsne embed)",
    )
    option(
        main,
        "--scheduler ADDRESS",
        "Dask scheduler, such as tcp://10.0.0.1:8786, whose workers see the files and FOLDER",
    )
    opt.add_messages(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Place the points."""
    from ctsne.distributed import place
    from ctsne.distributed.cluster import connected, quiet_dask
    from ctsne.stored import load

    check_order(options.model, *options.input)
    console.stage(f"reading {options.model}")
    model = load(options.model)
    labels = options.labels or _usual_labels(model, options, console)
    use_rep = options.use_rep or _usual_rep(model, options)
    console.stage("placing" if options.scheduler is None else "connecting")
    with quiet_dask(), connected(options.scheduler) as client, warnings.catch_warnings():
        # Both are reported here in other words.
        for reported in (NoLabelsWarning, FarPointsWarning):
            warnings.simplefilter("ignore", reported)
        placed = place(
            options.model,
            options.input,
            options.output,
            labels=labels,
            use_rep=use_rep,
            client=client,
            progress=not console.quiet,
        )
    _report(placed, options, labels, console)


def _usual_labels(
    model: ConditionalTSNE, options: argparse.Namespace, console: Console
) -> list[str] | None:
    """Return the label columns of the model, if the first file has them."""
    from ctsne.distributed.collection import columns_in, file_paths
    from ctsne.storage.provenance import origin_of

    origin = origin_of(model)
    known = [] if origin is None else list(origin.provenance.settings.get("labels") or ())
    if model.labels_ is None or not known:
        return None
    first = file_paths(options.input)[0]
    there = columns_in(first)
    if {*known} <= {*there}:
        console.say(f"labels: {' and '.join(known)}, as in the model")
        return known
    console.say(without_labels(first, known, there))
    return None


def _usual_rep(model: ConditionalTSNE, options: argparse.Namespace) -> str | None:
    """Return the representation that the model was made from, for .h5ad files."""
    from ctsne.distributed.collection import file_paths
    from ctsne.io import suffix_of
    from ctsne.storage.provenance import origin_of

    origin = origin_of(model)
    if origin is None or suffix_of(file_paths(options.input)[0]) != ".h5ad":
        return None
    use_rep, layer = origin.part()
    if layer is not None:
        what = f"{options.model} was made from {origin.source.place}"
        raise ValueError(f"{what}, which is not read from many files; name a --use-rep")
    return use_rep


def _report(
    placed: PlacedShards, options: argparse.Namespace, labels: list[str] | None, console: Console
) -> None:
    n, far = placed.n_points, placed.n_far
    count = f"{len(placed.files)} file{'' if len(placed.files) == 1 else 's'}"
    lines = [f"maps: {options.output} ({count}, {n:,} points placed in the map of {options.model})"]
    if placed.n_found:
        all_of_them = placed.n_found >= len(placed.files)
        more = "; nothing was left to do" if all_of_them else ""
        lines.append(f"files of an earlier run: {placed.n_found}{more}")
    lines.append(f"far from the reference: {far} of {n}")
    if far:
        lines.append("column ctsne_far marks them; do not trust their places")
        warn_of_far(far, n, console)
    content = {
        "command": "place",
        "output": options.output,
        "model": options.model,
        "labels": labels,
        "files": [str(each) for each in placed.files],
        "points": n,
        "far": far,
        "found": placed.n_found,
    }
    console.result("\n".join(lines), content)
