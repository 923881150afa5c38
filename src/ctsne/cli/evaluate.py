"""``ctsne evaluate``: all measures of a map."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne.cli.console import Console, aligned
from ctsne.cli.inputs import Input, check_outputs, file_record, joint_name, read_input
from ctsne.cli.options import add_messages, settings_of
from ctsne.cli.parser import Commands, add_command
from ctsne.cli.rerun import options_again
from ctsne.cli.values import jobs, whole

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["add", "make", "run"]

_DESCRIPTION = """\
Measure a map that ctsne embed has made: how well it keeps the neighbourhoods
of the data, and how far it mixes a label. The map knows the file it was made
from and the label that was factored out."""

_EPILOG = """\
the measures (of the k nearest points; "expected" is what chance would give):
  rnx                share of neighbours kept, from 0 (a random map) to 1 (all)
  adjusted_rnx       the same, adjusted for the label: compare maps by it
  adjusted_jaccard   the same as a plain overlap of neighbourhoods
  laplacian          share of neighbours with another label; should come near
                     "expected" for --labels, and be low for --other
  ilisi, clisi       effective number of labels around a point, for --labels and
                     for --other
  knn_accuracy       share of points whose neighbours tell their --other label
  adjusted_rnx_area  adjusted_rnx over all k at once, small k counting most
  trustworthiness    below 1 where what is near in the map is far in the data

examples:
  ctsne evaluate map.csv
  ctsne evaluate map.csv --other celltype -k 15 30 100
  ctsne evaluate cells.h5ad --json
  ctsne evaluate map.csv --other celltype -o measures.csv"""


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = add_command(
        commands, "evaluate", usage="MAP [options]", description=_DESCRIPTION, epilog=_EPILOG,
        run=run, help="measure a map: neighbours kept, labels mixed",
    )  # fmt: skip
    main = parser.add_argument_group("options")
    main.add_argument("input", metavar="MAP", help="a file that ctsne embed has written")
    main.add_argument(
        "--data", metavar="FILE", help="the data, if they are not where they were for embed"
    )
    main.add_argument(
        "--labels", metavar="COLUMN", nargs="+",
        help="the label that should be mixed (default: the one factored out)",
    )  # fmt: skip
    main.add_argument("--other", metavar="COLUMN", help="a label that should be seen in the map")
    main.add_argument(
        "-k", "--k", metavar="N", nargs="+", type=whole, default=[30],
        help="sizes of the neighbourhoods (default: 30)",
    )  # fmt: skip
    main.add_argument(
        "--sample", metavar="N", type=whole, default=5000,
        help="points measured, at most (default: 5000)",
    )  # fmt: skip
    main.add_argument(
        "-o", "--output", metavar="FILE", help="write the table to a csv or tsv file too"
    )
    main.add_argument(
        "--key", metavar="KEY", default="ctsne", help="h5ad: the name of the map (default: ctsne)"
    )
    main.add_argument("--jobs", metavar="N", type=jobs, default=-1, help="threads (default: all)")
    add_messages(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Measure the map."""
    make(options, console)


def make(options: argparse.Namespace, console: Console, *, expect: str | None = None) -> None:
    """Measure the map; ``expect`` is for commands that read data themselves."""
    from ctsne._io import check_output, read_map

    target = None if options.output is None else check_output(options.output, (".csv", ".tsv"))
    outputs = [] if target is None else [target]
    check_outputs(outputs, options)
    made = read_map(options.input, key=options.key)
    data = _data(options, console, outputs)
    n = data.X.shape[0]
    if n != len(made.embedding):
        raise ValueError(
            f"{options.input} has {len(made.embedding)} points, but {data.dataset.path} has {n}"
        )
    known, known_name = data.known, data.name
    if options.labels:
        known, known_name = data.labels(options.labels), joint_name(options.labels)
    other = None if options.other is None else data.column(options.other)
    console.stage("measuring")
    table = _table(made.embedding, data, known, other, options)
    names = {"labels": known_name, "other": options.other}
    table["label"] = [names.get(label, label) for label in table["label"]]
    if target is not None:
        _write(table, target, options)
    rows = [[_plain(value) for value in row] for row in table.itertuples(index=False)]
    text = aligned(list(table.columns), rows)
    content = {
        "command": "evaluate",
        "map": options.input,
        "data": str(data.dataset.path),
        "output": options.output,
        "measures": [dict(zip(table.columns, row, strict=True)) for row in rows],
        "seconds": round(console.seconds, 3),
    }
    console.result(text, content)


def _data(options: argparse.Namespace, console: Console, outputs: list[Path]) -> Input:
    """Read what the map was made of, in the way it was read then."""
    from ctsne._io import read_provenance

    provenance = read_provenance(Path(options.input), key=options.key)
    then = options_again(provenance, Path(options.input), given=options.data)
    check_outputs(outputs, then)
    then.jobs = options.jobs
    return read_input(then, console, expect=provenance.inputs[0].data)


def _table(
    embedding: Any, data: Input, known: Any, other: Any, options: argparse.Namespace
) -> pd.DataFrame:
    import pandas as pd

    from ctsne.evaluate import evaluate

    n = len(embedding)
    tables = [
        evaluate(
            embedding,
            data.X,
            _nameless(known),
            other=_nameless(other),
            k=k,
            sample=min(n, options.sample),
            n_jobs=options.jobs,
        )
        for k in options.k
    ]
    return pd.concat(tables, ignore_index=True).drop_duplicates(["measure", "label", "k"])


def _nameless(column: Any) -> Any:
    """Return a column without the name that a table gave it: the user's name counts."""
    return column.rename(None) if hasattr(column, "rename") else column


def _plain(value: Any) -> Any:
    import pandas as pd

    if value is pd.NA or value is None:
        return None
    return value.item() if hasattr(value, "item") else value


def _write(table: pd.DataFrame, target: Path, options: argparse.Namespace) -> None:
    from ctsne._core.files import replaced_file
    from ctsne._io import Provenance, current_versions, write_sidecar

    settings = settings_of(options)
    files = [options.input, *([] if options.data is None else [options.data])]
    records = [file_record(Path(file), target) for file in files]
    provenance = Provenance("evaluate", settings, records, current_versions())
    separator = "\t" if target.suffix.lower() == ".tsv" else ","
    with replaced_file(target) as temporary:
        table.to_csv(temporary, index=False, sep=separator, lineterminator="\n")
        write_sidecar(target, provenance)
