"""``ctsne embed``: make one map of a file."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ctsne.cli.console import Console
from ctsne.cli.inputs import Input, check_outputs, read_input, records_of
from ctsne.cli.main import Commands, add_command
from ctsne.cli.options import (
    add_input,
    add_labels,
    add_messages,
    add_parameters,
    check_steering,
    make_estimator,
    option,
    settings_of,
    short,
)
from ctsne.methods import METHODS

if TYPE_CHECKING:
    from ctsne.estimator import ConditionalTSNE

__all__ = ["add", "make", "run", "say_reduced"]

_DESCRIPTION = """\
Make one map of a dataset with a known label factored out.

INPUT has one row per point: numeric columns to embed, and one or more columns
of labels. With --labels batch, similar points from different batches lie
together, and structure that the batches share becomes visible. Several label
columns count as one: each combination of their values is a label.

--mixing 0.7 asks for a map that mixes the label to 70 % of random mixing.
Without it, the map has a medium strength. To compare strengths, run ctsne
sweep."""

_EPILOG = """\
the output:
  OUTPUT holds the positions (ctsne_1, ctsne_2), four diagnostics of each point
  and the other columns of INPUT. Its suffix sets the format: csv, tsv (also
  .gz), parquet, feather, npz, npy (positions only) or h5ad (obsm["ctsne"]).
  If OUTPUT is INPUT itself, an h5ad file, the map is added to it. All settings,
  versions and the checksum of the input are stored with the map, so that
  ctsne rerun OUTPUT can repeat it.
    ctsne_perplexity      effective number of neighbours of the point
    ctsne_other_share     share of its similarity that goes to other labels
    ctsne_matched         near 0: no counterpart under other labels
    ctsne_largest_weight  near 1: its place depends on a single neighbour

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
        help="make a map of a file with a known label factored out",
    )  # fmt: skip
    main = parser.add_argument_group("options")
    option(main, "INPUT", "file with the data")
    add_labels(main)
    option(main, "-o --output OUTPUT", "file to write; overwritten if it exists", required=True)
    option(main, "--plot FILE", "also draw the map (png, pdf or svg)")
    option(main, "--color COLUMN...",
           "columns to colour the picture by, one panel for each, in addition to the label "
           "factored out")  # fmt: skip
    add_input(parser)
    output = parser.add_argument_group("writing OUTPUT")
    option(output, "--key KEY", "prefix of new columns; h5ad: key in obsm and uns (default: ctsne)",
           default="ctsne")  # fmt: skip
    add_parameters(parser, main=main)
    add_messages(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Make the map from options of the command line."""
    check_steering(options)  # not in ``make``: a rerun accepts the settings as they were
    make(options, console)


def make(options: argparse.Namespace, console: Console, *, expect: str | None = None) -> None:
    """Make the map; with ``expect``, only if the data have this checksum."""
    from ctsne import _io
    from ctsne._fit.fitting import point_diagnostics
    from ctsne.cli.plot import draw_map, plot_command, save_picture, use_agg

    target = _io.check_output(options.output)
    into_h5ad = _io.suffix_of(target) == ".h5ad"
    picture = None
    if options.plot is not None:
        picture = _io.check_output(options.plot, _io.PICTURE_SUFFIXES)
    if not options.labels and options.method != "tsne":
        raise ValueError(
            "--labels COLUMN is missing: it names the label to factor out, and is required unless "
            "--method tsne"
        )
    if options.color and picture is None:
        raise ValueError("--color needs a picture: add --plot FILE, such as --plot map.png")
    check_outputs([each for each in (target, picture) if each], options, into_input=into_h5ad)
    try:
        data = read_input(options, console, expect=expect)
        _io.check_key(target, dataset=data.dataset, key=options.key)
        place = f'obsm["{options.key}"]'
        if into_h5ad and data.dataset.source.startswith(place):
            raise ValueError(
                f"the map is made from {place} and would overwrite it; choose another name with "
                "--key"
            )
        shown = {name: _color(data, name) for name in options.color or ()}
        settings = settings_of(options)
        del settings["color"]  # only the picture depends on it
        model = _fit(data, settings, options, console)
        records = records_of(data, options, target)
        console.stage(f"writing {target}")
        provenance = _io.Provenance("embed", settings, records, _io.current_versions())
        _io.write_map(
            target, model.embedding_, dataset=data.dataset, diagnostics=point_diagnostics(model),
            provenance=provenance, key=options.key,
        )  # fmt: skip
    except KeyboardInterrupt:
        state = f"{target} is unchanged" if target.exists() else "nothing was written"
        raise KeyboardInterrupt(state) from None
    if picture is not None:
        columns = ({data.name: data.known} if data.known is not None else {}) | shown
        if options.dimensions == 3:
            console.say("the picture shows the first two of three dimensions")
        use_agg()
        command = plot_command(options.output, options.plot, color=list(columns), key=options.key)
        save_picture(draw_map(model.embedding_, columns), picture, command)
    _report(model, data, options, settings, console)


def _color(data: Input, name: str) -> Any:
    """Return a column to colour by, which must be stored with the map."""
    if name in data.dataset.features and name not in data.dataset.columns:
        raise ValueError(
            f"--color {name}: this column is a feature that the map is made of, not a label; "
            f"--other {name} leaves it out of the features"
        )
    return data.column(name)


def say_reduced(data: Input, pca: Any, metric: str, console: Console) -> None:
    """Report that the estimator reduces the features to principal components."""
    from ctsne._core.components import n_reduced

    k = None if metric == "precomputed" else n_reduced(data.X.shape, pca)
    if k is not None and k <= min(data.X.shape):  # more are refused by the estimator
        d = data.X.shape[1]
        console.say(f"reducing {d} features to {k} principal components (change it with --pca)")


def _fit(
    data: Input, settings: dict[str, Any], options: argparse.Namespace, console: Console
) -> ConditionalTSNE:
    model = make_estimator(
        {**settings, "jobs": options.jobs},
        **({} if data.aligned is None else {"align": data.aligned}),
        callback=console.log(options.n_iter),
        verbose=0 if console.quiet else 1 + console.verbose,
    )
    say_reduced(data, model.pca, model.metric, console)
    model.fit(data.X, labels=data.known)
    if model.n_iter_ < options.n_iter:  # a map that is not finished is not a result here
        raise KeyboardInterrupt
    return model


def _measures(
    model: ConditionalTSNE, data: Input, other: str | None, jobs: int
) -> dict[str, float | None]:
    """Measure a map; None for measures that the data do not allow."""
    from ctsne._fit.fitting import point_diagnostics
    from ctsne.evaluate import data_neighbors, measure_map

    found: dict[str, float] = {"kl_divergence": float(model.kl_divergence_)}
    k = min(30, len(model.embedding_) - 2)
    if k >= 2:
        neighbors = data_neighbors(
            data.X, data.known, k=k, metric=model.metric, pca=model.pca, align=model.align,
            n_jobs=jobs,
        )  # fmt: skip
        hidden = None if other is None else data.column(other)
        found |= measure_map(model.embedding_, neighbors, other=hidden, n_jobs=jobs)
    found |= {name: float(each.mean()) for name, each in point_diagnostics(model).items()}
    found["recall"] = float(model.diagnostics_.recall)
    return {name: value if math.isfinite(value) else None for name, value in found.items()}


def _report(
    model: ConditionalTSNE,
    data: Input,
    options: argparse.Namespace,
    settings: dict[str, Any],
    console: Console,
) -> None:
    """Print what was made and how good it is."""
    from ctsne._core.wording import measure_title
    from ctsne.cli.plot import plot_command

    measures = _measures(model, data, options.other, options.jobs)
    n = len(model.embedding_)
    knob = METHODS[options.method].knob
    found = None if knob is None else getattr(model, f"{knob}_")
    lines = [f"map: {options.output} ({n} points; {_title(options.method, found)})"]
    if options.plot is not None:
        lines.append(f"picture: {options.plot}")
    names = {"known": data.name, "other": options.other or ""}
    for name in ("mixing", "other_mixing"):
        if measures.get(name) is not None:
            lines.append(f"{measure_title(name, **names)}: {measures[name]:.2f} of random")
    kept = "rnx" if data.known is None else "adjusted_rnx"
    if measures.get(kept) is not None:
        technical = "R_NX" if data.known is None else "adjusted R_NX"
        lines.append(
            f"neighbours kept: {measures[kept]:.2f} ({technical}; ctsne sweep compares settings)"
        )
    elif data.known is not None:
        lines.append("neighbours kept: not measurable, neighbourhoods contain whole labels")
    shown = {"perplexity": "perplexity {:.1f}", "largest_weight": "largest weight {:.2f}",
             "other_share": "weight on other labels {:.2f}"}  # fmt: skip
    facts = [text.format(measures[name]) for name, text in shown.items() if name in measures]
    lines.append(f"similarities per point, on average: {', '.join(facts)}")
    if options.plot is None:
        lines.append(f"next: {plot_command(options.output, 'map.png', key=options.key)}")
    content = {
        "command": "embed",
        "output": options.output,
        "picture": options.plot,
        "points": n,
        "settings": settings,
        "found": {} if knob is None else {knob: found},
        "measures": measures,
    }
    console.result("\n".join(lines), content)


def _title(method: str, value: Any) -> str:
    """Return a method and the value of its knob in a few words."""
    title, knob = METHODS[method].title, METHODS[method].knob
    if isinstance(value, Mapping):
        value = ", ".join(f"{label}={short(each)}" for label, each in value.items())
    elif isinstance(value, float):
        value = f"{value:.4g}"
    return title if knob is None or value is None else f"{title}, {knob} {value}"
