"""Files of a command: outputs are checked first, then data are read, then results are written."""

from __future__ import annotations

import contextlib
import json
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ctsne._core.files import WriteError, read_text, reading
from ctsne._core.messages import DominantFeatureWarning, label_text, load, quoted, size_text
from ctsne._core.vocabulary import NO_EFFECT, STARTS
from ctsne.cli.console import Console
from ctsne.cli.options import PARAMETERS, settings_of
from ctsne.labels import JOINT, Column, Labels, encode_column
from ctsne.labels.columns import encode_mixed

if TYPE_CHECKING:
    from ctsne.io import Dataset
    from ctsne.storage.record import Input, Record

_READ = ("input", "label_file", "init", "data", "model", "palette")  # options that name a file
# Options that say how to read INPUT.
_READING = ("label_file", "use_rep", "layer", "features", "index")


@dataclass(frozen=True)
class Outputs:
    """The files that a command writes: a map, and perhaps a model, a picture and a page."""

    map: Path
    model: Path | None
    picture: Path | None
    page: Path | None

    def shown(self) -> dict[str, str | None]:
        """Return the files to look at, by what they are."""
        named = {"picture": self.picture, "page": self.page}
        return {what: None if path is None else str(path) for what, path in named.items()}

    def lines(self, features: Mapping[str, Any]) -> list[str]:
        """Return what to say of the files besides the map, and of the features of the page."""
        how = {"model": " (place new points with ctsne transform)"}
        how["page"] = "; open it in a browser"
        others = {name: path for name, path in vars(self).items() if path and name != "map"}
        texts = [f"{name}: {path}{how.get(name, '')}" for name, path in others.items()]
        return texts + features_lines(features)

    @contextlib.contextmanager
    def interruptible(self) -> Iterator[None]:
        """Say after Ctrl-C whether the map was already written."""
        before = _inode(self.map)
        try:
            yield
        except KeyboardInterrupt:
            state = f"{self.map} is unchanged" if before else "nothing was written"
            if _inode(self.map) != before:  # too late
                state = f"{self.map} is written"
            raise KeyboardInterrupt(state) from None

    def write_map(self, embedding: Any, console: Console, **more: Any) -> None:
        """Write the map, whole or not at all."""
        from ctsne.io import write_map

        console.stage(f"writing {self.map}")
        linked = self.map.is_symlink()
        write_map(self.map, embedding, **more)
        if linked:
            what = f"{self.map} was a link; it is now a file"
            console.say(f"{what}, and the file it pointed to is kept")

    def write_more(self, console: Console, **writers: Callable[[Path], None]) -> None:
        """Write the other files that were asked for, each by its writer."""
        for name, write in writers.items():
            path = getattr(self, name)
            if path is None:
                continue
            console.stage(f"writing {path}")
            try:
                write(path)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(f"{self.map} is written, {path} is not") from None
            except (WriteError, ValueError) as error:
                raise type(error)(f"{error}; the map is in {self.map}") from error


def check_outputs(options: Namespace) -> Outputs:
    """Refuse outputs that cannot be written, before anything is read."""
    from ctsne import io
    from ctsne.storage.model import check_model_output

    target = io.check_output(options.output)
    plot, page, model = (getattr(options, name, None) for name in ("plot", "page", "model_file"))
    outputs = Outputs(
        target,
        None if model is None else check_model_output(model),
        None if plot is None else io.check_output(plot, io.PICTURE_SUFFIXES),
        None if page is None else io.check_output(page, (".html",)),
    )
    into_h5ad = io.suffix_of(target) == ".h5ad"
    check_replaced(list(filter(None, vars(outputs).values())), options, into_input=into_h5ad)
    if options.color is not None and outputs.picture is None:
        raise ValueError("--color needs a picture: add --plot FILE, such as --plot map.png")
    return outputs


def check_replaced(outputs: Sequence[Path], options: Namespace, into_input: bool = False) -> None:
    """Refuse outputs that would replace an input or, without --force, a file of someone else."""
    from ctsne.io.maps import is_output

    check_not_inputs(outputs, options, into_input)
    for output in filter(Path.exists, outputs):
        # A map may be added to the .h5ad that it is made from.
        added = into_input and Path(options.input).exists() and output.samefile(options.input)
        if not (options.force or added or output.is_symlink() or is_output(output)):
            what = f"{output} exists and was not written by ctsne"
            raise ValueError(f"{what}; name another output, or replace it with --force")


def check_not_inputs(outputs: Iterable[Path], options: Namespace, into_input: bool = False) -> None:
    """Refuse outputs that would replace a file that the options name as an input."""
    named = [getattr(options, name, None) for name in (_READ[1:] if into_input else _READ)]
    files = [Path(name) for name in named if name is not None and Path(name).exists()]
    for output in filter(Path.exists, outputs):
        for file in filter(output.samefile, files):
            raise ValueError(f"the output would replace the input {file}; name another output")


def _inode(path: Path) -> int | None:
    """Return a number that changes when a file is replaced; None if there is none."""
    return path.stat().st_ino if path.exists() else None


def check_target(target: Path, dataset: Dataset, key: str) -> None:
    """Refuse a map that would overwrite its own input, or that the disk has no room for."""
    from ctsne import io
    from ctsne.io.anndata import map_keys

    io.check_key(target, dataset=dataset, key=key)
    io.check_room(target, dataset=dataset)
    source = dataset.source
    if io.suffix_of(target) == ".h5ad" and source.kind == "obsm" and source.key in map_keys(key):
        raise ValueError(f"the map would overwrite its input, {source.place}; use another --key")


@dataclass(frozen=True, eq=False)
class Data:
    """The data of a command."""

    dataset: Dataset
    factored: dict[str, Any]  # label columns to factor out by name; their combination is one
    aligned: Any = None  # the representation in which other labels are compared, if one was named
    sampled: int = 0  # the number of all points if these are a sample
    shown: dict[str, Any] = field(default_factory=dict)  # features to colour by on a page
    numbers: tuple[str, ...] = ()  # which of those factored out are numbers
    period: Any = None  # of the numbers
    rows: Any = None  # of a sample, in the file
    whole: Dataset | None = None  # of which this is a sample

    @property
    def labels(self) -> Labels | None:
        """The columns to factor out, as they were read."""
        return encode_mixed(self.factored, self.numbers, period=self.period)

    @property
    def X(self) -> Any:
        """The features that the map is made of."""
        return self.dataset.X

    def sample(self, size: int) -> Data:
        """Return a random sample of the points, or all of them if there are no more."""
        from ctsne.io.dataset import take_rows

        n = self.X.shape[0]
        if n <= size:
            return self
        rows = np.sort(np.random.default_rng(0).permutation(n)[:size])
        factored = {name: take_rows(column, rows) for name, column in self.factored.items()}
        aligned = None if self.aligned is None else self.aligned[rows]
        shown = {name: values[rows] for name, values in self.shown.items()}
        dataset = self.dataset.take(rows)
        if dataset.names is None:  # so that points of a page can be found in the file
            dataset = replace(dataset, names=np.char.add("row ", rows.astype(str)))
        taken: Any = {"dataset": dataset, "factored": factored, "aligned": aligned, "shown": shown}
        return replace(self, **taken, sampled=n, rows=rows, whole=self.dataset)

    def with_features(self, embedding: Any, options: Namespace, console: Console) -> Data:
        """Return the data with the features for a page: those named, and the most informative."""
        from ctsne.io.read import read_informative
        from ctsne.report.features import MOST_FEATURE_BYTES, feature_room

        most = min(options.informative, feature_room(self.X.shape[0]) - len(self.shown))
        if most < 1 or embedding is None or options.metric == "precomputed":
            return self
        console.stage("features")
        how = {"rows": self.rows, "layer": options.layer, "known": self.shown}
        more, origin = read_informative(self.whole or self.dataset, embedding, most=most, **how)
        full = len(more) == most < options.informative
        room = f", and at most {size_text(MOST_FEATURE_BYTES)} of them" if full else ""
        console.say(f"on the page: {origin} that differ most from place to place in the map{room}")
        return replace(self, shown=self.shown | more)

    def column(self, name: str) -> Any:
        """Return a column or feature by name; the combination factored out has a name too."""
        return self.factored[name] if name in self.factored else self.dataset.column(name)

    def hidden(self, names: Sequence[str] | None) -> dict[str, Any] | None:
        """Return the labels to look for by name; None if there are none."""
        return {name: self.column(name) for name in names} if names else None

    def columns(self) -> dict[str, Any]:
        """Return all columns, those factored out first."""
        return self.factored | self.dataset.columns


def with_colors(columns: dict[str, Any], palette: str | None) -> dict[str, Any]:
    """Give columns the colours of a file that a page saved, or of a colour map of matplotlib."""
    from ctsne.io.anndata import give_colors
    from ctsne.pl.palette import label_colors

    if palette is None:
        return columns
    chosen: Any = dict.fromkeys(columns, palette)
    if palette.endswith(".json"):
        what = "a file of colours, as a page saves it"
        with reading(palette, what):
            stored = json.loads(read_text(Path(palette), what))
            chosen = {name: stored[name] for name in columns if name in stored}
        if not chosen:
            raise ValueError(f"{palette} has no colours for {quoted(columns)}")
    colored = dict(columns)
    for name, colors in chosen.items():
        labels = encode_column(columns[name])
        found = zip(map(label_text, labels.names), label_colors(labels, colors), strict=False)
        colored[name] = load("pandas").Series(columns[name]).reset_index(drop=True)
        give_colors(colored[name], dict(found))
    return colored


def label_names(labels: Sequence[str] | None, combine: bool) -> list[str]:
    """Return the names of what is factored out: of each column, or of their combination."""
    names = list(labels or ())
    return [JOINT.join(names)] if combine and len(names) > 1 else names


def check_labels(labels: Sequence[str], other: Sequence[str] | None) -> None:
    """Refuse a column that is named twice, or as a label to look for too."""
    for flag, names in (("--labels", labels), ("--other", other or ())):
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"{flag} names {name!r:.60} twice; name each column once")
            if flag == "--other" and name in labels:
                how = "name another column, or leave --other out"
                raise ValueError(f"--other: {name!r:.60} is already the label to factor out; {how}")


def read_file(options: Namespace, labels: Sequence[str] = (), **more: Any) -> Dataset:
    """Read INPUT as the options say."""
    from ctsne.io import read_data

    given = {name: getattr(options, name) for name in _READING}
    given["numbers"] = getattr(options, "numbers", None) or ()
    return read_data(options.input, labels=labels, **{**given, **more})


def read_aligned(options: Namespace, *, fewest: int = 2) -> Any:
    """Read the representation in which points of other labels are compared."""
    from ctsne.io import read_data

    return read_data(options.input, use_rep=options.align_rep, fewest=fewest).X


def read_input(options: Namespace, console: Console, *, expect: str | None = None) -> Data:
    """Read the data that the options name; ``expect`` is the checksum it must have."""
    from ctsne.io.read import read_features
    from ctsne.io.tables import folded

    console.stage(f"reading {options.input}")
    labels = list(options.labels or ())
    if expect is None:  # a map may be repeated as it was made
        check_labels(labels, options.other)
    named = [*labels, *(options.other or ())]
    dataset = read_file(options, named)
    factored = {name: dataset.labels([name]) for name in labels}
    if (names := label_names(labels, options.combine)) != labels:
        factored = {names[0]: dataset.labels(labels)}
        if names[0] in dataset.columns:
            what = f"a column {names[0]!r:.60}, the name of the combination of --labels"
            raise ValueError(f"{options.input} has {what}; rename that column")
    numbers, period = tuple(options.numbers or ()), options.numbers_period
    known = Data(dataset, factored, numbers=numbers, period=period).labels
    if known is not None:
        known.refuse_identifiers("--labels")
    aligned = None
    if options.align_rep is not None:
        if options.align is not None:
            raise ValueError("--align and --align-rep exclude each other; leave one out")
        if dataset.source.kind in ("table", "array"):
            raise ValueError(f"--align-rep is for .h5ad files; {options.input} is not one")
        aligned = read_aligned(options)
    # Of a map, only if it has a page.
    wanted = getattr(options, "show", None) if getattr(options, "page", True) else None
    shown, origins = read_features(dataset, wanted, layer=options.layer)
    check_unchanged(dataset, labels, aligned, expect)
    tell = console.say if expect is None else console.detail  # reported the first time
    by_name = known.by_name if known else {}
    texts = [
        f"read {dataset.X.shape[0]:,} points from {options.input}: {dataset.source}",
        "" if aligned is None else f'other labels are compared in obsm["{options.align_rep}"]',
        f"features: {folded(dataset.features)}" if dataset.source.kind == "table" else "",
        *(f"on the page: {origin}" for origin in origins),
        *dataset.notes,
        *(_about_missing(column, name) for name, column in by_name.items()),
    ]
    for text in filter(None, texts):
        tell(text)
    if expect is None:
        counts = "" if options.metric == "precomputed" else _about_counts(dataset, options.layer)
        for warning in (*dataset.warnings, counts):
            if str(warning):
                console.warn(warning, again=isinstance(warning, DominantFeatureWarning))
    return Data(dataset, factored, aligned, shown=shown, numbers=numbers, period=period)


def features_lines(features: Mapping[str, Any]) -> list[str]:
    """Say how much of a page is features to colour by."""
    from ctsne.report.features import feature_size

    count, size = len(features), sum(map(feature_size, map(len, features.values())))
    what = "1 feature to colour by adds" if count == 1 else f"{count} features to colour by add"
    return [f"{what} {size_text(size)}"] if features else []


def check_unchanged(
    dataset: Dataset, labels: Sequence[str], aligned: Any, expect: str | None
) -> None:
    """Refuse data that do not have the checksum of those an output was made from."""
    if expect is not None and dataset.checksum(labels, aligned) != expect:
        how = "Name the original file (--input FILE for rerun, --data FILE for evaluate and plot)"
        what = f"{dataset.path} has changed: its numbers or labels differ"
        raise ValueError(f"{what}. {how}, or make a new output from this one")


def _about_counts(dataset: Dataset, layer: str | None) -> str:
    """Return a warning with a remedy if the features seem to be raw counts."""
    from ctsne.io.dataset import FEWEST_COLUMNS, NORMALIZE, looks_like_counts

    kind = dataset.source.kind
    narrow = kind in ("table", "array") and len(dataset.features) < FEWEST_COLUMNS
    if kind == "obsm" or narrow or not looks_like_counts(dataset.X):
        return ""
    how = "divide each row by its sum and take logarithms"
    if kind not in ("array", "table"):
        taken = "" if layer is None else f"adata.X = adata.layers[{layer!r}].copy(); "
        how = f"with scanpy as sc: {taken}{NORMALIZE}"
    what = f"{dataset.path} looks like raw counts, so the columns with the largest counts"
    return f"{what} dominate the map; normalise them first, {how}"


def _about_missing(labels: Column, name: str) -> str:
    """Return a note about points without a label to factor out; empty if all have one."""
    if not labels.n_missing:
        return ""
    has, whom = ("has", "it") if labels.n_missing == 1 else ("have", "them")
    what = f"{labels.n_missing:,} of {labels.n_points:,} points {has} no {name!s:.60}"
    return f"{what}; nothing is factored out for {whom}"


def model_columns(model: Any) -> dict[str, Column]:
    """Return the label columns of a model by name."""
    return {} if model.labels_ is None else model.labels_.by_name


def make_record(
    options: Namespace,
    parameters: Mapping[str, Any],
    dataset: Dataset,
    output: Path,
    *,
    aligned: Any,
    more: Iterable[Input] = (),
    results: Mapping[str, Any] | None = None,
) -> Record:
    """Return the record of an output of a command, with the parameters of an estimator."""
    from ctsne.storage.record import Record, input_files

    init, labels = getattr(options, "init", STARTS[0]), tuple(options.labels or ())
    start = None if init in STARTS else Path(init)
    inputs = (*input_files(dataset, output, labels, aligned=aligned, start=start), *more)

    taken = {name: value for name, value in parameters.items() if name not in NO_EFFECT}
    elsewhere = {"labels", *(each.dest for each in PARAMETERS if each.name in taken)}
    others = {name: x for name, x in settings_of(options).items() if name not in elsewhere}
    made_by = f"ctsne {options.command}"
    return Record(made_by, taken, labels, dataset.source, others, inputs, results or {})
