"""``ctsne evaluate``: measure a map."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne._core.vocabulary import MEASURES, NEIGHBORHOOD
from ctsne.cli import options as opt
from ctsne.cli.console import Console, aligned, definitions
from ctsne.cli.files import Data, check_labels, check_not_inputs, check_replaced, read_input
from ctsne.cli.main import Parser, make_parser
from ctsne.cli.rerun import options_again
from ctsne.methods import align_value

if TYPE_CHECKING:
    import pandas as pd

USAGE = "MAP [options]"
HELP = "measure a map: neighbours kept, labels mixed"
# Measures that judge a map; two of --other share their names with those of --labels.
_LISTED = {
    name: name.removeprefix("other_")
    for name, measure in MEASURES.items()
    if measure.better and name not in ("other_mixing", "other_laplacian")
}
LISTED = definitions(_LISTED)


def add_options(parser: Parser, main: Any) -> None:
    """Add the options of the command."""
    opt.add_table(main, "evaluate-map", k={"read": opt.whole, "default": [NEIGHBORHOOD]})
    opt.add_sample(main)
    opt.add_table(main, "evaluate-more")
    opt.add_force(main)
    opt.add_key(main, "h5ad: name of the map in obsm, such as umap")
    opt.add_jobs(main)
    opt.add_messages(parser)


def run(options: Namespace, console: Console) -> None:
    """Measure the map."""
    from ctsne._core.files import reading, write_file
    from ctsne.io import check_output, read_map, suffix_of
    from ctsne.io.tables import separator_of
    from ctsne.storage.record import read_record

    outputs = [check_output(x, (".csv", ".tsv")) for x in [options.output] if x is not None]
    check_not_inputs(outputs, options)
    source = Path(options.input)
    if options.standard and len(options.other or ()) != 1:
        what = "one column that should be visible, such as the cell type"
        raise ValueError(f"--standard needs --other: {what}")
    made = read_map(source, key=options.key)
    expect = None
    if made.settings is None and suffix_of(source) == ".h5ad":
        defaults = {each.dest: each.default for each in make_parser().commands["embed"].options()}
        named = {"input": options.data or options.input, "labels": options.labels}
        then = Namespace(**{**defaults, **named, "other": options.other, "align": "none"})
    else:  # the data are read as they were read for the map
        record = read_record(source, key=options.key)
        if record.command == "transform":
            what = f"{source} holds points placed in another map, which has its own neighbours"
            raise ValueError(f"{what}; ctsne evaluate measures maps made by ctsne embed")
        then = options_again(record, source, given=options.data)
        expect = record.inputs[0].data
    check_not_inputs(outputs, then)
    check_replaced(outputs, options)
    with reading(source, "a map of these data"):  # settings stored in it may not suit them
        data = read_input(then, console, expect=expect)
    n, points = data.X.shape[0], len(made.embedding)
    if n != points:
        raise ValueError(f"{source} has {points} points, but {data.dataset.path} has {n}")
    console.stage("measuring")
    table = _table(made.embedding, data, vars(then), options)
    for target in outputs:
        text = table.to_csv(index=False, sep=separator_of(target), lineterminator="\n")
        write_file(target, text.encode("utf-8", "surrogatepass"))
    table = table.astype(object).where(table.notna(), None)
    content = {
        "command": "evaluate",
        "map": options.input,
        "data": str(data.dataset.path),
        "output": options.output,
        "measures": table.to_dict("records"),
    }
    console.result(aligned(list(table), table.to_numpy().tolist()), content)


def _table(
    embedding: Any, data: Data, settings: dict[str, Any], options: Namespace
) -> pd.DataFrame:
    """Measure at every neighbourhood size, with the settings of the map."""
    import pandas as pd

    from ctsne.evaluate import evaluate

    if options.labels:
        data = replace(data, factored={name: data.column(name) for name in options.labels})
    factored = data.factored
    check_labels(options.labels or list(factored), options.other)
    if options.standard and not factored:
        raise ValueError("--standard needs --labels: the label to factor out, such as the batch")
    model = opt.make_estimator(settings)
    align = align_value(model.get_params(deep=False)) if data.aligned is None else data.aligned
    tables = [
        evaluate(
            embedding,
            data.X,
            data.labels,
            other=data.hidden(options.other),
            k=k,
            metric=model.metric,
            pca=model.pca,
            align=align,
            sample=options.sample,
            standard=options.standard and k == options.k[0],
            n_jobs=options.jobs,
        )
        for k in options.k
    ]
    table = pd.concat(tables, ignore_index=True).drop_duplicates(["measure", "label", "k"])
    return table.replace({"label": {"labels": next(iter(factored), "labels")}})
