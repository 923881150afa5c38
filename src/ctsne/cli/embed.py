"""``ctsne embed``: from a file to a map."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any

from ctsne.cli.console import Console
from ctsne.cli.inputs import Input, check_outputs, read_input, records_of
from ctsne.cli.measures import measures_of
from ctsne.cli.options import (
    add_input,
    add_messages,
    add_parameters,
    check_steering,
    make_estimator,
    settings_of,
    title_of,
)
from ctsne.cli.parser import Commands, add_command
from ctsne.methods import METHODS

if TYPE_CHECKING:
    from ctsne.estimator import ConditionalTSNE

__all__ = ["add", "make", "run"]

_DESCRIPTION = """\
Make one map of a dataset with a known label factored out.

INPUT has a row for each point: numbers to make the map of, and one or more
columns that are known. With --labels batch, points of different batches that
are alike lie together; what the batches have in common can be seen. Several
label columns count as one: each combination of their values is a label.

--mixing 0.7 asks for a map that mixes the label to 70 % of random. Without it
the map has a medium strength. ctsne sweep shows all strengths side by side."""

_EPILOG = """\
the output:
  OUTPUT holds the positions (ctsne_1, ctsne_2), four diagnostics of each point
  and the columns of INPUT. Its name tells the kind of file: csv, tsv (also with
  .gz), parquet, feather, npz, npy (positions only) or h5ad (obsm["ctsne"]; it
  may be INPUT itself, and the map is added to it). All settings, versions and
  the checksum of the input are kept with it: ctsne rerun OUTPUT makes it again.
    ctsne_perplexity      effective number of neighbours of the point
    ctsne_other_share     share of its similarity that goes to other labels
    ctsne_matched         near 0, it has no counterpart under other labels
    ctsne_largest_weight  near 1, one neighbour decides where the point lies

examples:
  ctsne embed cells.csv --labels batch -o map.csv
  ctsne embed cells.csv --labels batch --mixing 0.7 -o map.csv
  ctsne embed cells.csv --labels batch -o map.csv --plot map.png --color type
  ctsne embed cells.h5ad --labels donor batch --strength 0.6 -o cells.h5ad
  ctsne embed cells.h5ad --labels batch --align-rep X_pca_harmony -o cells.h5ad
  ctsne embed X.npy --label-file labels.csv --labels batch -o map.npz
  ctsne embed cells.csv --labels tech --strength inDrop=1 CELSeq=0.3 -o map.tsv
  ctsne embed cells.csv --labels batch --method revised --beta 1e-8 -o map.csv
  ctsne embed cells.csv --config settings.toml -o map.csv"""


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = add_command(
        commands, "embed", usage="INPUT --labels COLUMN [COLUMN ...] -o OUTPUT [options]",
        description=_DESCRIPTION, epilog=_EPILOG, run=run,
        help="make a map of a file, a known label factored out",
    )  # fmt: skip
    main = parser.add_argument_group("options")
    main.add_argument("input", metavar="INPUT", help="the file with the data")
    main.add_argument(
        "--labels", metavar="COLUMN", nargs="+",
        help="what you know: the column, or columns, to factor out",
    )  # fmt: skip
    main.add_argument(
        "-o", "--output", metavar="OUTPUT", required=True,
        help="the file to write; replaced if it exists",
    )  # fmt: skip
    main.add_argument("--plot", metavar="FILE", help="draw the map too: a png, pdf or svg file")
    main.add_argument(
        "--color", metavar="COLUMN", nargs="+",
        help="columns to colour the picture by, a panel each, beside the label factored out",
    )  # fmt: skip
    main.add_argument(
        "--other", metavar="COLUMN",
        help="a label you hope to see in the map, to be measured too; no feature, even if it is "
        "a number",
    )  # fmt: skip
    add_input(parser)
    output = parser.add_argument_group("output")
    output.add_argument(
        "--key", metavar="KEY", default="ctsne",
        help="what the names of new columns begin with; h5ad: the key of obsm and uns "
        "(default: ctsne)",
    )  # fmt: skip
    add_parameters(parser, main=main)
    add_messages(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Make the map, and tell how it came out."""
    check_steering(options)  # settings of a map that is made again are what they were
    make(options, console)


def make(options: argparse.Namespace, console: Console, *, expect: str | None = None) -> None:
    """Make the map; ``expect`` is the checksum that the data must have."""
    from ctsne._fit.fitting import point_diagnostics
    from ctsne._io import (
        PICTURE_SUFFIXES,
        Provenance,
        check_key,
        check_output,
        current_versions,
        suffix_of,
        write_map,
    )
    from ctsne.cli.pictures import draw_map, save_picture

    target = check_output(options.output)
    picture = None if options.plot is None else check_output(options.plot, PICTURE_SUFFIXES)
    _check_options(options)
    outputs = [target, *([] if picture is None else [picture])]
    check_outputs(outputs, options, into_input=suffix_of(target) == ".h5ad")
    try:
        data = read_input(options, console, expect=expect)
        check_key(target, dataset=data.dataset, key=options.key)
        place = f'obsm["{options.key}"]'
        if suffix_of(target) == ".h5ad" and data.dataset.source.startswith(place):
            raise ValueError(
                f"the map would replace {place}, which it is made of; choose another name with "
                "--key"
            )
        shown = {name: _color(data, name) for name in options.color or ()}
        settings = settings_of(options)
        del settings["color"]  # of the picture, which records it itself
        model = _fit(data, settings, options, console)
        provenance = Provenance(
            "embed", settings, records_of(data, options, target), current_versions()
        )
        console.stage(f"writing {target}")
        write_map(
            target, model.embedding_, dataset=data.dataset, diagnostics=point_diagnostics(model),
            provenance=provenance, key=options.key,
        )  # fmt: skip
    except KeyboardInterrupt:
        was = f"{target} is as it was" if target.exists() else "nothing was written"
        raise KeyboardInterrupt(was) from None
    if picture is not None:
        columns = ({data.name: data.known} if data.known is not None else {}) | shown
        if options.dimensions == 3:
            console.say("the picture shows the first two of three dimensions")
        figure = draw_map(model.embedding_, columns)
        save_picture(figure, picture, target, color=list(columns), key=options.key)
    _tell(model, data, options, settings, console)


def _check_options(options: argparse.Namespace) -> None:
    """Refuse what cannot go together, before anything is read."""
    if not options.labels and options.method != "tsne":
        raise ValueError(
            "--labels COLUMN is missing: it says what to factor out, and is required unless "
            "--method tsne"
        )
    if options.color and options.plot is None:
        raise ValueError("--color is for the picture: name one with --plot FILE, such as map.png")


def _color(data: Input, name: str) -> Any:
    """Return a column to colour by; it must be kept in the map, to draw the picture again."""
    if name in data.dataset.features and name not in data.dataset.columns:
        raise ValueError(
            f"--color {name}: this is one of the features that the map is made of, not a label; "
            f"with --other {name} it is left out of them"
        )
    return data.column(name)


def _fit(
    data: Input, settings: dict[str, Any], options: argparse.Namespace, console: Console
) -> ConditionalTSNE:
    model = make_estimator(
        {**settings, "jobs": options.jobs},
        **({} if data.aligned is None else {"align": data.aligned}),
        callback=console.log(options.n_iter),
        verbose=0 if console.quiet else 1 + console.verbose,
    )
    model.fit(data.X, labels=data.known)
    if model.n_iter_ < options.n_iter:  # half a map is not a result here
        raise KeyboardInterrupt
    return model


def _tell(
    model: ConditionalTSNE,
    data: Input,
    options: argparse.Namespace,
    settings: dict[str, Any],
    console: Console,
) -> None:
    measures = measures_of(model, data, options)
    n = len(model.embedding_)
    knob = METHODS[options.method].knob
    found = None if knob is None else getattr(model, f"{knob}_")
    lines = [f"map: {options.output} ({n} points; {title_of(options.method, found)})"]
    if options.plot is not None:
        lines.append(f"picture: {options.plot}")
    for name, label in (("mixing", data.name), ("other_mixing", options.other)):
        if measures.get(name) is not None:
            lines.append(f"mixing of {label}: {measures[name]:.2f} of random")
    kept = measures["adjusted_rnx"]
    if kept is None and data.known is not None:
        lines.append(
            "neighbours kept: cannot be measured, as neighbourhoods of 30 hold whole labels, which "
            "every map would keep"
        )
    elif kept is not None:
        what = "R_NX" if data.known is None else "adjusted R_NX"
        lines.append(
            f"neighbours kept: {kept:.2f} ({what}; ctsne sweep shows whether another setting keeps "
            "more)"
        )
    share = measures.get("other_share")
    others = "" if share is None else f", on other labels {share:.2f}"
    lines.append(
        f"a point's similarities, on average: perplexity {measures['perplexity']:.1f}{others}, "
        f"largest {measures['largest_weight']:.2f}"
    )
    if options.plot is None:
        key = [] if options.key == "ctsne" else ["--key", options.key]
        command = shlex.join(["ctsne", "plot", options.output, *key, "-o", "map.png"])
        lines.append(f"next: {command}")
    content = {
        "command": "embed",
        "output": options.output,
        "picture": options.plot,
        "points": n,
        "settings": settings,
        "found": {} if knob is None else {knob: found},
        "measures": measures,
        "seconds": round(console.seconds, 3),
    }
    console.result("\n".join(lines), content)
