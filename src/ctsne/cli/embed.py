"""``ctsne embed``: make one map of a file."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne._core.files import WriteError, check_space
from ctsne._core.messages import value_text
from ctsne._core.vocabulary import NEIGHBORHOOD
from ctsne.cli import options as opt
from ctsne.cli.console import Console, titles_of
from ctsne.cli.hints import after_map, missing_labels, second_label
from ctsne.cli.inputs import Input, check_outputs, read_input, records_of
from ctsne.cli.main import Parser, spell_command
from ctsne.cli.options import make_estimator, option, settings_of
from ctsne.methods import METHODS

if TYPE_CHECKING:
    from ctsne.estimator import ConditionalTSNE
    from ctsne.io import Provenance
    from ctsne.storage.provenance import Origin

USAGE = "INPUT --labels COLUMN [COLUMN ...] -o OUTPUT [options]"
HELP = "make a map of a file with a known label factored out"
DESCRIPTION = """\
Make one map of a dataset with a known label factored out.

INPUT has one row per point: numeric columns to embed, and columns of labels.
With --labels batch, similar points from different batches lie together, and
structure that the batches share becomes visible. --mixing 0.7 asks for 70 % of
random mixing; without it, the map has a medium strength. ctsne sweep compares
strengths.

With --labels donor batch, both columns are factored out, as strongly as each
needs: --mixing donor=0.7 batch=0.5. --combine takes every combination of donor
and batch as one label instead."""

EPILOG = """\
the output:
  OUTPUT holds the positions (ctsne_1, ctsne_2), the other columns of INPUT and
  four diagnostics. Its suffix sets the format: csv, tsv (also .gz), parquet,
  feather, npz, npy (positions only) or h5ad (obsm["X_ctsne"]); an h5ad INPUT
  can also be OUTPUT. Settings, versions and the input's checksum are stored
  with the map, so that ctsne rerun OUTPUT can repeat it.
    ctsne_perplexity      effective number of neighbours of the point
    ctsne_other_share     share of its similarity that goes to other labels
    ctsne_matched         near 0: no counterpart under other labels
    ctsne_largest_weight  near 1: its place depends on a single neighbour

examples:
  ctsne embed cells.csv --labels batch -o map.csv
  ctsne embed cells.csv --labels batch --mixing 0.7 -o map.csv --plot map.png
  ctsne embed cells.h5ad --labels donor batch --strength donor=0.5 batch=0.8 \\
      -o cells.h5ad
  ctsne embed X.npy --label-file labels.csv --labels batch -o map.npz
  ctsne embed cells.csv --labels batch -o map.csv --model model.ctsne
  ctsne embed cells.csv --labels batch --method revised --beta 1e-8 -o map.csv"""

# Principal components that features are reduced to, by default.
_COMPONENTS = 50


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    option(main, "INPUT", "file with the data")
    opt.add_labels(main)
    option(main, "-o --output OUTPUT", "file to write; overwritten if it exists", required=True)
    option(main, "--plot FILE", "also draw the map (png, pdf or svg)")
    option(main, "--page FILE", "also write an interactive page of the map (html)")
    option(
        main,
        "--model FILE",
        "also keep the model, to place new points with ctsne transform: "
        "a .ctsne file, about as large as the features",
        dest="model_file",
    )
    option(
        main,
        "--color COLUMN...",
        "columns to colour it by, besides those factored out (default: the label to look for)",
    )
    opt.add_data(parser, main)
    option(main, "--key KEY", "prefix of new columns; h5ad: map in obsm[X_KEY]", default="ctsne")
    opt.add_messages(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Make the map from options of the command line."""
    opt.check_knobs(options)  # not in ``make``: a rerun accepts the settings as they were
    make(options, console)


def make(options: argparse.Namespace, console: Console, *, expect: str | None = None) -> None:
    """Make the map; with ``expect``, only if the data have this checksum."""
    from ctsne import io
    from ctsne.cli.plot import draw_map, plot_command, save_picture, use_agg
    from ctsne.fit.fitting import point_diagnostics
    from ctsne.io.anndata import map_keys
    from ctsne.storage.model import check_model_output, save_model

    key = options.key
    target = io.check_output(options.output)
    into_h5ad = io.suffix_of(target) == ".h5ad"
    plot = options.plot
    picture = None if plot is None else io.check_output(plot, io.PICTURE_SUFFIXES)
    kept = None if options.model_file is None else check_model_output(options.model_file)
    page = None if options.page is None else io.check_output(options.page, (".html",))
    if page is not None and options.dimensions > 2:
        raise ValueError("a page can only show maps of one or two dimensions: --dimensions 2")
    if not options.labels and options.method != "tsne":
        raise ValueError(missing_labels(options, ", or add --method tsne"))
    if options.color and picture is None:
        raise ValueError("--color needs a picture: add --plot FILE, such as --plot map.png")
    outputs = [each for each in (target, kept, picture, page) if each]
    check_outputs(outputs, options, into_input=into_h5ad)
    settings = settings_of(options)
    before, linked = _inode(target), target.is_symlink()
    try:
        data = read_input(options, console, expect=expect)
        io.check_key(target, dataset=data.dataset, key=key)
        io.check_room(target, dataset=data.dataset)
        if kept is not None:
            check_space(kept, _least_model_size(data))
        source = data.dataset.source
        if into_h5ad and source.kind == "obsm" and source.key in map_keys(key):
            raise ValueError(
                f"the map would overwrite its input, {source.place}; use another --key"
            )
        further = options.color
        if further is None:
            further = second_label(
                data.dataset.columns, list(options.labels or ()), options.other, key
            )
        shown = data.factored | {name: _color(data, name) for name in further}
        model = prepared(
            data,
            {**settings, "jobs": options.jobs},
            console,
            verbose=0 if console.quiet else 1 + console.verbose,
        ).fit(data.X, labels=data.factored or None)
        if model.n_iter_ < options.n_iter:  # a map that is not finished is not a result here
            raise KeyboardInterrupt
        records = records_of(data, options, target)
        console.stage(f"writing {target}")
        provenance = io.Provenance("embed", settings, records, io.current_versions())
        io.write_map(
            target,
            model.embedding_,
            dataset=data.dataset,
            diagnostics=point_diagnostics(model),
            settings=provenance.to_json(),
            key=key,
        )
    except KeyboardInterrupt:
        state = f"{target} is unchanged" if before else "nothing was written"
        if _inode(target) != before:  # too late
            state = f"{target} is written"
        raise KeyboardInterrupt(state) from None
    if linked:
        console.say(f"{target} was a link; it is now a file, and the file it pointed to is kept")
    if kept is not None:
        console.stage(f"writing {kept}")
        try:
            save_model(model, kept, record=_origin(data, provenance).record())
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{target} is written, {kept} is not") from None
        except (WriteError, ValueError) as error:
            raise type(error)(f"{error}; the map is in {target}") from error
    if picture is not None:
        if options.dimensions == 3:
            console.say("the picture shows the first two of three dimensions")
        use_agg()
        command = plot_command(options.output, options.plot, color=list(shown), key=key)
        try:
            save_picture(draw_map(model.embedding_, shown), picture, command)
        except WriteError as error:
            raise WriteError(f"{error}; the map is in {target}") from error
    if page is not None:
        console.stage(f"writing {page}")
        try:
            _write_page(model, data, page, provenance, options)
        except WriteError as error:
            raise WriteError(f"{error}; the map is in {target}") from error
    _report(model, data, options, settings, console)


def _write_page(
    model: ConditionalTSNE,
    data: Input,
    page: Path,
    provenance: Provenance,
    options: argparse.Namespace,
) -> None:
    from ctsne.report import write_report

    command = spell_command(["embed", options.input], vars(options))
    write_report(
        model,
        page,
        columns=data.columns(),
        known=list(data.factored) or None,
        other=options.other,
        names=data.dataset.names,
        commands=[command],
        provenance={**provenance.to_dict(), "command": command},
    )


def _origin(data: Input, provenance: Provenance) -> Origin:
    """Describe the data of a model, so that new points are read in the same way."""
    from ctsne.storage.provenance import Origin

    dataset = data.dataset
    named = dataset.source.kind != "array"
    return Origin(provenance, dataset.source, dataset.features if named else None)


def _least_model_size(data: Input) -> int:
    """Return the bytes that a model takes at least: the features in single precision."""
    n, d = map(int, data.X.shape)
    return 4 * n * min(d, _COMPONENTS)


def _inode(path: Path) -> int | None:
    """Return a number that changes when a file is replaced; None if there is none."""
    return path.stat().st_ino if path.exists() else None


def _color(data: Input, name: str) -> Any:
    """Return a column to colour by, which must be stored with the map."""
    if name in data.dataset.features and name not in data.dataset.columns:
        raise ValueError(f"--color {name} is a feature, not a label; --other {name} leaves it out")
    return data.column(name)


def prepared(
    data: Input, settings: Mapping[str, Any], console: Console, **more: Any
) -> ConditionalTSNE:
    """Return the estimator for these data, and report if it will reduce the features."""
    from ctsne._core.components import n_reduced

    if data.aligned is not None:
        more["align"] = data.aligned
    model = make_estimator(settings, **more)
    k = None if model.metric == "precomputed" else n_reduced(data.X.shape, model.pca)
    if k is not None and k <= min(data.X.shape):  # more are refused by the estimator
        d = data.X.shape[1]
        console.say(f"reducing {d} features to {k} principal components (change it with --pca)")
    return model


def _measures(
    model: ConditionalTSNE, data: Input, other: str | None, jobs: int
) -> dict[str, float | None]:
    """Measure a map; None for measures that the data do not allow."""
    from ctsne.evaluate import data_neighbors, measure_map
    from ctsne.fit.fitting import point_diagnostics

    found: dict[str, float] = {"kl_divergence": float(model.kl_divergence_)}
    k = min(NEIGHBORHOOD, len(model.embedding_) - 2)
    if k >= 2:
        neighbors = data_neighbors(
            data.X,
            data.known,
            k=k,
            metric=model.metric,
            pca=model.pca,
            align=model.align,
            n_jobs=jobs,
        )
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
    measures = _measures(model, data, options.other, options.jobs)
    n, knob = len(model.embedding_), METHODS[options.method].knob
    value = None if knob is None else getattr(model, f"{knob}_")
    lines = [f"map: {options.output} ({n:,} points; {_title(model, knob, value)})"]
    if options.model_file is not None:
        lines.append(f"model: {options.model_file} (place new points with ctsne transform)")
    if options.plot is not None:
        lines.append(f"picture: {options.plot}")
    if options.page is not None:
        lines.append(f"page: {options.page}; open it in a browser")
    names = list(data.factored) or [""]
    for name, title in titles_of(names, options.other).items():
        if measures.get(name) is not None and name != "adjusted_rnx":
            lines.append(f"{title}: {measures[name]:.2f} of random")
    kept, technical = ("adjusted_rnx", "adjusted R_NX") if options.labels else ("rnx", "R_NX")
    if measures.get(kept) is not None:
        lines.append(f"neighbours kept: {measures[kept]:.2f} ({technical})")
    elif options.labels:
        lines.append("neighbours kept: not measurable, neighbourhoods contain whole labels")
    shown = {
        "perplexity": "perplexity {:.1f}",
        "largest_weight": "largest weight {:.2f}",
        "other_share": "weight on other labels {:.2f}",
    }
    facts = [text.format(measures[name]) for name, text in shown.items() if name in measures]
    lines.append(f"similarities per point, on average: {', '.join(facts)}")
    content = {
        "command": "embed",
        "output": options.output,
        "model": options.model_file,
        "picture": options.plot,
        "page": options.page,
        "points": n,
        "settings": settings,
        "found": {} if knob is None else {knob: value},
        "measures": measures,
    }
    console.result("\n".join(lines), content)
    console.next(after_map(data, options, settings))


def _title(model: ConditionalTSNE, knob: str | None, value: Any) -> str:
    """Return the method and the value of its knob, if it used one, in a few words."""
    from ctsne.fit.fitting import is_conditioned

    if not is_conditioned(model):  # there was nothing to factor out
        return METHODS["tsne"].title
    title = METHODS[model.method].title
    return title if value is None else f"{title}, {knob} {value_text(value)}"
