"""``ctsne embed``: make one map of a file."""

from __future__ import annotations

import math
import warnings
from argparse import Namespace
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne._core.files import check_space
from ctsne._core.messages import CounterpartsWarning, value_text
from ctsne._core.vocabulary import NEIGHBORHOOD
from ctsne.cli import files, plot
from ctsne.cli import options as opt
from ctsne.cli.console import Console, titles_of
from ctsne.cli.files import Data, Outputs
from ctsne.cli.info import missing_labels, report_command, second_label
from ctsne.cli.main import Parser, spell_command
from ctsne.cli.options import as_typed, make_estimator, option, settings_of
from ctsne.methods import METHODS, align_value

if TYPE_CHECKING:
    from ctsne.estimator import ConditionalTSNE
    from ctsne.evaluate import DataNeighbors

USAGE = "INPUT --labels COLUMN [COLUMN ...] -o OUTPUT [options]"
HELP = "make a map of a file with a known label factored out"
_COMPONENTS = 50  # principal components that features are reduced to, by default


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    option(main, "INPUT", "file with the data")
    opt.add_labels(main)
    opt.add_outputs(main, "embed-outputs")
    opt.add_table(main, "embed-more", model={"dest": "model_file"})
    opt.add_shown(main)
    opt.add_data(parser, main)
    opt.add_messages(parser)


def run(options: Namespace, console: Console) -> None:
    """Make the map from options of the command line."""
    opt.check_knobs(options)  # not in ``make``: a rerun accepts the settings as they were
    if options.show and options.page is None:
        raise ValueError("--show needs a page: add --page FILE, such as --page map.html")
    make(options, console)


def make(options: Namespace, console: Console, *, expect: str | None = None) -> None:
    """Make the map; with ``expect``, only if the data have this checksum."""
    from ctsne.estimator import save_model
    from ctsne.fit.summary import point_diagnostics
    from ctsne.pl import palette
    from ctsne.storage.record import fit_results

    outputs = files.check_outputs(options)
    if outputs.page is not None and options.dimensions > 2:
        raise ValueError("a page can only show maps of one or two dimensions: --dimensions 2")
    if not options.labels and options.method != "tsne":
        raise ValueError(missing_labels(options, ", or add --method tsne"))
    with outputs.interruptible():
        data = files.read_input(options, console, expect=expect)
        dataset = data.dataset
        files.check_target(outputs.map, dataset, options.key)
        if outputs.model is not None:  # which holds at least the features in single precision
            check_space(outputs.model, 4 * data.X.shape[0] * min(data.X.shape[1], _COMPONENTS))
        further = options.color
        if further is None:
            further = second_label(dataset.columns, options.labels, options.other, options.key)
        shown = data.factored | {name: _color(data, name) for name in further}
        shown = files.with_colors(shown, options.palette)
        verbose = 0 if console.quiet else 1 + console.verbose
        model = prepare(data, vars(options), console, verbose=verbose)
        with warnings.catch_warnings():
            if options.mixing is None:  # the advice says it
                warnings.simplefilter("ignore", CounterpartsWarning)
            model.fit(data.X, labels=data.labels)
        if model.n_iter_ < options.n_iter:  # a map that is not finished is not a result here
            raise KeyboardInterrupt
        if options.trust:
            console.stage("trust")
            model.trust()
        made = model.get_params(deep=False), dataset, outputs.map
        record = files.make_record(options, *made, aligned=data.aligned, results=fit_results(model))
        outputs.write_map(
            model.embedding_,
            console,
            dataset=dataset,
            diagnostics=point_diagnostics(model),
            settings=record.to_json(),
            key=options.key,
            colors={name: palette(x) for name, x in shown.items() if x.dtype.kind == "O"},
        )
    if outputs.page is not None:
        data = data.with_features(model.embedding_, options, console)
    named = None if dataset.source.kind == "array" else dataset.features
    how = {"output": options.plot, "color": list(shown), "key": options.key}
    how["palette"] = options.palette
    drawn = spell_command(["plot", options.output], how)
    outputs.write_more(
        console,
        model=lambda path: save_model(model, path, record=replace(record, features=named)),
        picture=lambda path: plot.save_picture(plot.draw_map(model.embedding_, shown), path, drawn),
        page=lambda path: _write_page(model, data, shown, path, record.to_dict(), options),
    )
    _report(model, data, outputs, options, console)


def _write_page(
    model: ConditionalTSNE,
    data: Data,
    shown: dict[str, Any],
    page: Path,
    made: dict[str, Any],
    options: Namespace,
) -> None:
    from ctsne.report import write_report

    command = spell_command(["embed", options.input], vars(options))
    write_report(
        model,
        page,
        columns=data.columns() | shown,
        known=list(data.factored) or None,
        other=options.other,
        names=data.dataset.names,
        features=data.shown,
        commands=[command],
        provenance={**made, "command": command},
    )


def _color(data: Data, name: str) -> Any:
    if name in data.dataset.features and name not in data.dataset.columns:
        raise ValueError(f"--color {name} is a feature, not a label; --other {name} leaves it out")
    return data.column(name)


def prepare(data: Data, settings: dict[str, Any], console: Console, **more: Any) -> ConditionalTSNE:
    """Return the estimator for these data, and report if it will reduce the features."""
    from ctsne._core.components import n_reduced

    if data.aligned is not None:
        more["align"] = data.aligned
    model = make_estimator(settings, **more)
    if model.n_iter <= (early := model.early_exaggeration_iter):
        console.warn(f"--n-iter {model.n_iter} leaves the map unfinished; use {early + 500} or so")
    k = None if model.metric == "precomputed" else n_reduced(data.X.shape, model.pca)
    if k is not None and k <= min(data.X.shape):  # more are refused by the estimator
        d = data.X.shape[1]
        console.say(f"reducing {d} features to {k} principal components (change it with --pca)")
    return model


def neighbors_of(model: ConditionalTSNE, data: Data, jobs: int) -> DataNeighbors | None:
    """Return the neighbours in the data, to measure a map with; None if there are too few."""
    from ctsne.evaluate import data_neighbors
    from ctsne.fit.memory import explained_memory, map_need
    from ctsne.settings import check_settings

    k, given = min(NEIGHBORHOOD, data.X.shape[0] - 2), model.get_params(deep=False)
    if k < 2:
        return None
    how = {"metric": model.metric, "pca": model.pca, "align": align_value(given), "n_jobs": jobs}
    need, advice = map_need(data.X, check_settings(given, data.X, data.labels))
    with explained_memory(need, f"{advice}; the map is finished, but not measured"):
        return data_neighbors(data.X, data.labels, k=k, **how)


def _measures(
    model: ConditionalTSNE, data: Data, other: list[str] | None, jobs: int
) -> dict[str, float | None]:
    from ctsne.evaluate import measure_map
    from ctsne.fit.summary import point_diagnostics

    found: dict[str, float] = {"kl_divergence": float(model.kl_divergence_)}
    neighbors = neighbors_of(model, data, jobs)
    if neighbors is not None:
        hidden = data.hidden(other)
        found |= measure_map(model.embedding_, neighbors, other=hidden, n_jobs=jobs)
    found |= {name: float(values.mean()) for name, values in point_diagnostics(model).items()}
    found["recall"] = float(model.diagnostics_.recall)
    return {name: value if math.isfinite(value) else None for name, value in found.items()}


def _report(
    model: ConditionalTSNE, data: Data, outputs: Outputs, options: Namespace, console: Console
) -> None:
    """Print what was made and how good it is, and what to do next."""
    from ctsne.fit.advice import doubt_line

    measures = _measures(model, data, options.other, options.jobs)
    n, knob = len(model.embedding_), METHODS[options.method].knob
    value = None if knob is None else getattr(model, f"{knob}_")
    lines = [f"map: {options.output} ({n:,} points; {_title(model, knob, value)})"]
    lines += outputs.lines(data.shown)
    for name, title in titles_of(list(data.factored) or [""], options.other).items():
        if measures.get(name) is not None and name != "adjusted_rnx":
            lines.append(f"{title}: {measures[name]:z.2f} of random")
    kept, technical = ("adjusted_rnx", "adjusted R_NX") if options.labels else ("rnx", "R_NX")
    if measures.get(kept) is not None:
        lines.append(f"neighbours kept: {measures[kept]:z.2f} ({technical})")
    elif options.labels:
        lines.append("neighbours kept: not measurable, neighbourhoods contain whole labels")
    shown = {"perplexity": "perplexity {:.1f}", "largest_weight": "largest weight {:.2f}"}
    shown["other_share"] = "weight on other labels {:.2f}"
    facts = [text.format(measures[name]) for name, text in shown.items() if name in measures]
    if console.verbose:
        lines.append(f"similarities per point, on average: {', '.join(facts)}")
    console.stage("what to do next")
    advice = None if console.quiet else model.advise(other=data.hidden(options.other))
    if advice is not None:
        lines += map(as_typed, advice.lines(_spelled))
    doubt = None
    if options.trust:
        hidden, matched = data.hidden(options.other), model.diagnostics_.matched
        doubt = doubt_line(model.trust_, model.labels_, hidden, matched)
        lines.append(doubt)
    content = {
        "command": "embed",
        "output": options.output,
        "model": options.model_file,
        **outputs.shown(),
        "points": n,
        "settings": settings_of(options),
        "found": {} if knob is None else {knob: value},
        "measures": measures,
        "trust": doubt,
        "advice": None if advice is None else asdict(advice),
    }
    console.result("\n".join(lines), content)
    console.next(_next_commands(data, options))


def _spelled(name: str, value: Any) -> str:
    """Write a parameter of the estimator as the option that one types."""
    flag = next(each.flag for each in opt.PARAMETERS if each.name == name)
    return " ".join([flag, *opt.words_of(value)])


def _title(model: ConditionalTSNE, knob: str | None, value: Any) -> str:
    from ctsne.fit.summary import is_conditioned

    if not is_conditioned(model):  # there was nothing to factor out
        return METHODS["tsne"].title
    title = METHODS[model.method].title
    return title if value is None else f"{title}, {knob} {value_text(value)}"


def _next_commands(data: Data, options: Namespace) -> dict[str, str]:
    """Return the commands that look at a map, or compare it with others, by what they are for."""
    from ctsne.io import suffix_of

    suffix = suffix_of(options.output)
    stem, columns = options.output.removesuffix(suffix), data.dataset.columns
    commands = {}
    if options.plot is None and find_spec("matplotlib") is not None:
        color = None
        # A combination is drawn by default, but is not a column.
        if all(name in columns for name in data.factored):
            seen = second_label(columns, options.labels, options.other, options.key)
            color = [*data.factored, *seen] if seen else None
        how = {"output": f"{stem}.png", "key": options.key, "color": color}
        commands["to draw the map"] = spell_command(["plot", options.output], how)
        if data.factored and options.method != "tsne" and options.dimensions > 1:
            how |= {"output": f"{stem}-before-after.png", "before_after": True, "color": None}
            commands["to draw it next to t-SNE"] = spell_command(["plot", options.output], how)
    if data.factored and options.mixing is None and options.dimensions < 3:
        page = f"{stem}-strengths.html"
        commands["to compare strengths"] = report_command(options.input, settings_of(options), page)
    return commands
