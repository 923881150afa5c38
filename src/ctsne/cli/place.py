"""``ctsne place``: place the points of many files in a finished map, on a Dask cluster."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from ctsne.cli import options as opt
from ctsne.cli.console import Console
from ctsne.cli.main import Parser
from ctsne.cli.transform import check_order, far_lines, reported_here, usual_labels, usual_part

if TYPE_CHECKING:
    from ctsne.distributed import PlacedShards

USAGE = "MODEL FILE [FILE ...] -o FOLDER [options]"
HELP = "place the points of many files in the map of a model, on a cluster"


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    main.add_argument("model", metavar="MODEL", help="file with the model")
    opt.add_table(main, "place", output={"required": True})
    opt.add_messages(parser)


def run(options: Namespace, console: Console) -> None:
    """Place the points."""
    from ctsne.distributed import place
    from ctsne.distributed.collection import columns_in, file_paths
    from ctsne.estimator import load
    from ctsne.io import suffix_of
    from ctsne.storage.record import record_of

    check_order(options.model, *options.input)
    console.stage(f"reading {options.model}")
    model = load(options.model)
    made = record_of(model)
    labels, use_rep = options.labels, options.use_rep
    if labels is None and model.labels_ is not None and made.command is not None:
        first = file_paths(options.input)[0]
        labels, what = usual_labels(made, columns_in(first), first)
        console.say(what)
    if use_rep is None and suffix_of(file_paths(options.input)[0]) == ".h5ad":
        part = usual_part(made)
        if made.source is not None and part.get("layer") is not None:
            what = f"{options.model} was made from {made.source.place}"
            raise ValueError(f"{what}, which is not read from many files; name a --use-rep")
        use_rep = part.get("use_rep")
    console.stage("placing" if options.scheduler is None else "connecting")
    with reported_here():
        placed = place(
            options.model,
            options.input,
            options.output,
            labels=labels,
            use_rep=use_rep,
            client=options.scheduler,
            progress=not console.quiet,
        )
    _report(placed, options, labels, console)


def _report(
    placed: PlacedShards, options: Namespace, labels: list[str] | None, console: Console
) -> None:
    n, files = placed.n_points, len(placed.files)
    count = f"{files} file{'' if files == 1 else 's'}"
    lines = [f"maps: {options.output} ({count}, {n:,} points placed in the map of {options.model})"]
    if placed.n_found:
        more = "; nothing was left to do" if placed.n_found >= files else ""
        lines.append(f"files of an earlier run: {placed.n_found}{more}")
    lines += far_lines(placed.n_far, n, "ctsne_far", console)
    content = {
        "command": "place",
        "output": options.output,
        "model": options.model,
        "labels": labels,
        "files": [str(file) for file in placed.files],
        "points": n,
        "far": placed.n_far,
        "found": placed.n_found,
    }
    console.result("\n".join(lines), content)
