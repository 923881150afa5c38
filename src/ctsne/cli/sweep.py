"""``ctsne sweep``: maps at many strengths, measured, and the choice of one."""

from __future__ import annotations

import argparse
import math
import textwrap
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne.cli.console import Console, aligned
from ctsne.cli.folders import (
    begin_folder,
    check_folder,
    check_same_data,
    files_of,
    write_folder,
)
from ctsne.cli.inputs import Input, check_outputs, read_input, records_of
from ctsne.cli.options import (
    add_input,
    add_messages,
    add_parameters,
    make_estimator,
    settings_of,
    spelled,
)
from ctsne.cli.parser import Commands, Parser, add_command, command_parser, make_parser
from ctsne.cli.values import number, one_of, whole
from ctsne.methods import METHODS, SWEPT_METHODS, is_used, swept_grid

if TYPE_CHECKING:
    from ctsne._io import Provenance
    from ctsne.sweep import Suggestion, SweepResult, SweptMap

# Sweeps make many maps to choose from, and a sample of this many points shows what they do.
SWEPT_POINTS = 20_000

__all__ = ["add", "add_sweep_options", "make", "run", "run_sweep"]

_DESCRIPTION = """\
Make maps at many strengths on one search of neighbours, measure them, and
suggest one.

How much of a label can be taken out without harm depends on the data. A sweep
shows it: t-SNE first, then each method from weak to strong. Finished maps are
kept in the folder, so a sweep that was interrupted goes on when the same
command is run again."""

_EPILOG = """\
the table:
  mixing      of the label factored out: 0 not at all, 1 as random labels are
  kept        share of neighbours kept, adjusted for the label (adjusted R_NX):
              0 as in a random map, 1 all of them
  ... mixed   with --other: share of neighbours with another label of it; should
              stay low
  perplexity  effective number of neighbours of a point, mean
  largest     largest single similarity of a point, mean; near 1, single
              neighbours dominate the map

the suggestion:
  With --other: of the maps that reach --mixing, and that no other map beats in
  both mixing and neighbours kept, the one in which that label is purest (the
  weaker of equals). Without: the weakest setting that reaches --mixing; between
  methods, the one that keeps most neighbours. If t-SNE reaches it, there is
  nothing to take out. Look at the maps before you believe it:
  ctsne report FOLDER -o page.html

the output:
  FOLDER holds table.csv (all measures), sweep.npz (the maps; in Python,
  ctsne.sweep.load_sweep), columns.npz (the labels) and settings.json (all
  settings; ctsne rerun FOLDER makes it again).

examples:
  ctsne sweep cells.csv --labels batch -o sweep
  ctsne sweep cells.h5ad --labels batch --other celltype --mixing 0.7 -o sweep
  ctsne sweep cells.csv --labels batch --methods balanced --strengths 0 .5 1 \\
      -o sweep
  ctsne sweep cells.csv --labels batch --path -o quick      a fifth of the work"""


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = add_command(
        commands, "sweep", usage="INPUT --labels COLUMN [COLUMN ...] -o FOLDER [options]",
        description=_DESCRIPTION, epilog=_EPILOG, run=run,
        help="make and measure maps at many strengths, and suggest one",
    )  # fmt: skip
    main = parser.add_argument_group("options")
    main.add_argument("input", metavar="INPUT", help="the file with the data")
    main.add_argument(
        "--labels", metavar="COLUMN", nargs="+", required=True,
        help="what you know: the column, or columns, to factor out",
    )  # fmt: skip
    main.add_argument(
        "-o", "--output", metavar="FOLDER", required=True,
        help="where maps and measures are kept; what is finished there is not made again",
    )  # fmt: skip
    add_sweep_options(parser, main)
    add_messages(parser)


def add_sweep_options(parser: Parser, main: Any) -> None:
    """Add what says which maps to make, and of what."""
    main.add_argument(
        "--other", metavar="COLUMN",
        help="a label you hope to see in the map, to be measured too",
    )  # fmt: skip
    main.add_argument(
        "--methods", metavar="NAME", nargs="+", type=one_of(*METHODS),
        default=list(SWEPT_METHODS),
        help="joint, revised, balanced, original (default: joint revised); t-SNE is always "
        "made too",
    )  # fmt: skip
    main.add_argument(
        "--strengths", metavar="T", nargs="+", type=number,
        help="for joint and balanced, from 0 to 1 (default: .2 .4 .6 .8 1)",
    )  # fmt: skip
    main.add_argument(
        "--betas", metavar="B", nargs="+", type=number,
        help="for revised and original, from 1 down (default: from 1 to 1e-20 for revised, to "
        "1e-4 for original)",
    )  # fmt: skip
    main.add_argument(
        "--mixing", metavar="SHARE", type=number, default=0.5,
        help="mixing that the suggestion should reach, 0 to 1 (default: 0.5)",
    )  # fmt: skip
    main.add_argument(
        "--all-points", action="store_true",
        help=f"map all points; by default a random sample of {SWEPT_POINTS:,} where there are more",
    )  # fmt: skip
    main.add_argument(
        "--path", action="store_true",
        help="start each map from the next weaker one: several times faster, to look only",
    )  # fmt: skip
    add_input(parser)
    measures = parser.add_argument_group("measures")
    measures.add_argument(
        "-k", "--k", metavar="N", type=whole, help="size of the neighbourhoods (default: 30)"
    )
    measures.add_argument(
        "--sample", metavar="N", type=whole, default=5000,
        help="points measured, at most (default: 5000)",
    )  # fmt: skip
    add_parameters(parser, main=main, leave_out=("method", "strength", "beta", "mixing"))


def run(options: argparse.Namespace, console: Console) -> None:
    """Make the maps, and tell which to take."""
    make(options, console)


def make(options: argparse.Namespace, console: Console, *, expect: str | None = None) -> None:
    """Make the maps; ``expect`` is the checksum that the data must have."""
    check_target(options)
    folder = Path(options.output)
    check_folder(folder)
    check_outputs(files_of(folder), options)
    result, data, provenance = run_sweep(options, console, folder, expect=expect)
    write_folder(folder, result, data.columns(), data.dataset.names, provenance)
    _tell(result, data, options, console)


def run_sweep(
    options: argparse.Namespace, console: Console, folder: Path, *, expect: str | None = None
) -> tuple[SweepResult, Input, Provenance]:
    """Make all maps, those that the folder does not have yet."""
    from ctsne._io import Provenance, current_versions
    from ctsne.sweep import sweep

    whole = read_input(options, console, expect=expect)
    data = whole if options.all_points else whole.sample(SWEPT_POINTS)
    if data.sampled:
        console.say(
            f"sweeping a random sample of {SWEPT_POINTS:,} of {data.sampled:,} points; "
            "--all-points sweeps all of them"
        )
    other = None if options.other is None else data.column(options.other)
    settings = settings_of(options)
    settings.pop("title", None)  # of the page, which records it itself
    grid = make_grid(options)
    provenance = Provenance(
        "sweep", settings, records_of(whole, options, folder), current_versions()
    )
    check_same_data(folder, provenance)
    try:
        result = sweep(
            data.X, data.known, grid, other=other,
            estimator=_estimator(settings, data), path=options.path, k=options.k,
            sample=options.sample, folder=folder,
            progress=not console.quiet, n_jobs=options.jobs,
        )  # fmt: skip
        finished = len(result.maps)
    except KeyboardInterrupt:
        finished = 0
    total = sum(len(entry.get(steered(entry), [""])) for entry in grid)
    if finished < total:
        if folder.is_dir():
            begin_folder(folder, provenance)
        raise KeyboardInterrupt(
            f"{finished} of {total} maps are finished in {folder}; the same command goes on from "
            "there"
            if finished
            else "before the first map was finished"
        )
    if all(swept.error is not None for swept in result.maps):
        raise ValueError(f"no map could be made: {result.maps[0].error}")
    # The same command twice gives the same bytes, so what is written knows no times.
    maps = tuple(replace(swept, seconds=math.nan) for swept in result.maps)
    return replace(result, maps=maps, sampled_from=data.sampled or None), data, provenance


def _estimator(settings: Mapping[str, Any], data: Input) -> Any:
    """Make the estimator of all maps; the mixing is for the suggestion."""
    aligned = {} if data.aligned is None else {"align": data.aligned}
    return make_estimator({**settings, "mixing": None}, **aligned)


def check_target(options: argparse.Namespace) -> None:
    """Refuse a mixing that cannot be aimed at, before anything is read."""
    if not 0 <= options.mixing <= 1:
        raise ValueError(f"--mixing must be a number from 0 to 1, got {options.mixing:g}")


def steered(parameters: Mapping[str, Any]) -> str:
    """Return the parameter that sets the strength of a method."""
    return METHODS[parameters["method"]].knob or ""


def make_grid(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the settings of all maps: t-SNE, then each method from weak to strong."""
    names = dict.fromkeys(["tsne", *options.methods])
    grid = swept_grid(*names, short=True)
    for entry in grid:
        knob = steered(entry)
        given = {"strength": options.strengths, "beta": options.betas}.get(knob)
        if given:
            entry[knob] = sorted(set(given), reverse=knob == "beta")
    return grid


def _tell(result: SweepResult, data: Input, options: argparse.Namespace, console: Console) -> None:
    folder = options.output
    suggested = suggestion(result, options.mixing)
    best = suggested.map
    lines = [table_text(result, options.other, best), ""]
    command = None
    if best is None:
        lines.append(f"suggested: none, because {suggested.reason}")
        lines.append("  ask for less with --mixing")
    else:
        command = embed_command(best, options.input, settings_of(options))
        how = "To make it from its own start" if options.path else "To make this map"
        if data.sampled:
            how = "To make this map of all points"
        judge = "your eyes say" if options.other is None else f"{options.other} mixed says"
        lines += [
            f"suggested: {best.title}",
            *wrapped(f"{suggested.reason}."),
            *wrapped(
                f"{options.mixing:g} is a starting point, not a rule: go on to stronger settings "
                f"as long as {judge} that nothing merges that should not. {how}:"
            ),
            f"  {command}",
        ]
    lines += [
        "",
        f"look at the maps: ctsne report {folder} -o page.html",
        f"all measures: {Path(folder) / 'table.csv'}",
    ]
    content = {
        "command": "sweep",
        "output": folder,
        "points": data.X.shape[0],
        "settings": settings_of(options),
        "maps": [row_of(swept) for swept in result.maps],
        "suggested": None if best is None else {**row_of(best), "command": command},
        "reason": suggested.reason,
        "seconds": round(console.seconds, 3),
    }
    console.result("\n".join(lines), content)


def wrapped(text: str) -> list[str]:
    """Break a sentence into lines that fit a terminal, indented."""
    return textwrap.wrap(text, 78, initial_indent="  ", subsequent_indent="  ")


def suggestion(result: SweepResult, mixing: float) -> Suggestion:
    """Return the map to take by the rule of the sweep, with the reason."""
    from ctsne.sweep import Suggestion

    try:
        return result.suggest(mixing)
    except ValueError as error:  # mixing cannot be measured
        return Suggestion(None, str(error))


def row_of(swept: SweptMap) -> dict[str, Any]:
    """Return what is known of a map, for JSON."""
    return {"parameters": swept.parameters, **swept.measures, "error": swept.error}


def table_text(result: SweepResult, other: str | None, best: SweptMap | None) -> str:
    """Lay out the measures that matter, the suggested map marked."""
    shown = {"mixing": "mixing", "adjusted_rnx": "kept"}
    if other is not None:
        shown["other_laplacian"] = f"{other} mixed"
    shown |= {"perplexity_mean": "perplexity", "largest_weight_mean": "largest"}
    rows: list[list[object]] = []
    for swept in result.maps:
        strength = swept.parameters.get(steered(swept.parameters))
        values: list[object] = [swept.measures.get(name) for name in shown]
        mark = "<- suggested" if swept is best else swept.error or ""
        setting = "-" if strength is None else f"{strength:g}"
        rows.append([swept.parameters["method"], setting, *values, mark])
    return aligned(["method", "setting", *shown.values(), ""], rows)


def embed_command(swept: SweptMap, file: str, settings: Mapping[str, Any]) -> str:
    """Write the command that makes one map of the sweep by itself."""
    parser = command_parser(make_parser(), "embed")
    # The mixing is what the suggestion aims at, not what this map is made for.
    whole = {**settings, **swept.parameters, "output": "map.csv", "mixing": None}
    values = {name: value for name, value in whole.items() if is_used(name, whole)}
    always = ["method", steered(swept.parameters)]
    return spelled(parser, ["embed", file], values, always=always)
