"""The data of a command: read with its labels, and described in the output made from it."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ctsne._core.messages import DominantFeatureWarning
from ctsne._core.vocabulary import STARTS
from ctsne.cli.console import Console
from ctsne.labels import JOINT, encode_column

if TYPE_CHECKING:
    from ctsne.io import Dataset, InputRecord

# Options that name a file to read.
_READ = ("input", "label_file", "init", "data", "model")
HOW_TO_NAME = "--input FILE for rerun, --data FILE for evaluate"  # a data file that has moved
joint_name = JOINT.join  # the name of a combination of label columns


@dataclass(frozen=True, eq=False)
class Input:
    """The data of a command."""

    dataset: Dataset
    factored: dict[str, Any]  # the label to factor out by its name, or several columns
    aligned: Any = None  # the representation in which other labels are compared, if one was named
    sampled: int = 0  # the number of all points if these are a sample
    shown: dict[str, Any] = field(default_factory=dict)  # features to colour by on a page

    @property
    def X(self) -> Any:
        """The features that the map is made of."""
        return self.dataset.X

    @property
    def known(self) -> Any:
        """What to factor out, as the estimator takes it: a column, several by name, or None."""
        return as_labels(self.factored)

    def sample(self, size: int) -> Input:
        """Return a random sample of the points, or all of them if there are no more."""
        from ctsne.io.dataset import take_rows

        n = self.X.shape[0]
        if n <= size:
            return self
        rows = np.sort(np.random.default_rng(0).permutation(n)[:size])
        factored = {name: take_rows(each, rows) for name, each in self.factored.items()}
        aligned = None if self.aligned is None else self.aligned[rows]
        shown = {name: values[rows] for name, values in self.shown.items()}
        dataset = self.dataset.take(rows)
        if dataset.names is None:  # so that points of a page can be found in the file
            dataset = replace(dataset, names=np.char.add("row ", rows.astype(str)))
        return Input(dataset, factored, aligned, sampled=n, shown=shown)

    def column(self, name: str) -> Any:
        """Return a column or feature by name; the combination factored out has a name too."""
        return self.factored[name] if name in self.factored else self.dataset.column(name)

    def columns(self) -> dict[str, Any]:
        """Return all columns, the label factored out first."""
        return self.factored | self.dataset.columns


def as_labels(columns: Mapping[str, Any]) -> Any:
    """Return label columns as the estimator takes them: one by itself, several by name."""
    if len(columns) > 1:
        return dict(columns)
    return next(iter(columns.values()), None)


def label_names(settings: Mapping[str, Any]) -> list[str]:
    """Return the names of what a command factors out: of each column, or of their combination.

    Records from before several columns were factored out separately do not say which.
    """
    labels = list(settings.get("labels") or ())
    return [joint_name(labels)] if len(labels) > 1 and settings.get("combine", True) else labels


def check_names(names: Sequence[str]) -> None:
    """Refuse a label column that is named twice."""
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"--labels names {twice[0]!r:.60} twice; name each column once")


def check_outputs(outputs: Iterable[Path], options: Namespace, into_input: bool = False) -> None:
    """Refuse outputs that would replace a file that the options name as an input."""
    named = [getattr(options, name, None) for name in (_READ[1:] if into_input else _READ)]
    files = [Path(name) for name in named if name is not None and Path(name).exists()]
    for output in filter(Path.exists, outputs):
        for file in filter(output.samefile, files):
            raise ValueError(f"the output would replace the input {file}; name another output")
        if into_input and _same_link(output, Path(options.input)):
            what = f"{output} is a link, which the output would replace"
            raise ValueError(f"{what}; name the file itself: -o {output.resolve()}")


def _same_link(one: Path, other: Path) -> bool:
    linked = one.is_symlink() and other.is_symlink()
    return linked and os.path.samestat(one.lstat(), other.lstat())


def check_other(known: Sequence[str], other: str | None) -> None:
    """Refuse the label factored out as the label to look for."""
    if other in known:
        how = "name another column, or leave --other out"
        raise ValueError(f"--other: {other!r:.60} is already the label to factor out; {how}")


def read_input(options: Namespace, console: Console, *, expect: str | None = None) -> Input:
    """Read the data that the options name; ``expect`` is the checksum it must have."""
    from ctsne.io import read_data, suffix_of
    from ctsne.io.features import read_features
    from ctsne.io.paths import TABLE_SUFFIXES
    from ctsne.io.tables import folded

    console.stage(f"reading {options.input}")
    labels = list(options.labels or ())
    names = label_names(vars(options))
    if expect is None:  # a map may be repeated as it was made
        check_names(labels)
        check_other(names, options.other)
    named = labels if options.other is None else [*labels, options.other]
    dataset = read_data(
        options.input,
        labels=named,
        label_file=options.label_file,
        use_rep=options.use_rep,
        layer=options.layer,
        features=options.features,
        index=options.index,
        join_on=options.join_on,
    )
    parts = [[name] for name in names] if names == labels else [labels]
    factored = {name: dataset.labels(part) for name, part in zip(names, parts, strict=True)}
    if names != labels and names[0] in dataset.columns:
        what = f"a column {names[0]!r:.60}, the name of the combination of --labels"
        raise ValueError(f"{options.input} has {what}; rename that column")
    aligned = None if options.align_rep is None else _aligned(options)
    shown, origins = read_features(dataset, getattr(options, "show", None), layer=options.layer)
    if expect is not None and dataset.checksum(labels, aligned) != expect:
        how = f"Name the original file ({HOW_TO_NAME}), or make a new output from this one"
        raise ValueError(f"{options.input} has changed: its numbers or labels differ. {how}")
    tell = console.say if expect is None else console.detail  # reported the first time
    tell(f"read {dataset.X.shape[0]:,} points from {options.input}: {dataset.source}")
    if aligned is not None:
        tell(f'other labels are compared in obsm["{options.align_rep}"]')
    if suffix_of(dataset.path) in TABLE_SUFFIXES:
        tell(f"features: {folded(dataset.features)}")
    for each in origins:
        tell(f"on the page: {each}")
    about = [_about_labels(column, name) for name, column in factored.items()]
    for each in filter(None, (*dataset.notes, *(note for note, _ in about))):
        tell(each)
    if expect is None:
        counts = "" if options.metric == "precomputed" else _about_counts(dataset, options.layer)
        for warning in (*dataset.warnings, *(text for _, text in about), counts):
            if str(warning):
                console.warn(warning, again=isinstance(warning, DominantFeatureWarning))
    return Input(dataset, factored, aligned, shown=shown)


def _aligned(options: Namespace) -> Any:
    """Read the representation in which points of other labels are compared."""
    from ctsne.io import read_data, suffix_of

    if options.align != "none":
        raise ValueError("--align and --align-rep exclude each other; leave one out")
    if suffix_of(Path(options.input)) != ".h5ad":
        raise ValueError(f"--align-rep is for .h5ad files; {options.input} is not one")
    return read_data(options.input, use_rep=options.align_rep).X


def _about_counts(dataset: Dataset, layer: str | None) -> str:
    """Return a warning with a remedy if the features seem to be raw counts."""
    from ctsne.io import suffix_of
    from ctsne.io.dataset import FEWEST_COLUMNS, NORMALIZE, looks_like_counts
    from ctsne.io.paths import TABLE_SUFFIXES

    genes = suffix_of(dataset.path) == ".h5ad"
    narrow = not genes and len(dataset.features) < FEWEST_COLUMNS
    if dataset.source.kind == "obsm" or narrow:
        return ""
    if not looks_like_counts(dataset.X):
        return ""
    how = "X = np.log1p(1e4 * X / X.sum(axis=1).reshape(-1, 1))"
    imported = "import numpy as np"
    if genes:
        taken = "" if layer is None else f"adata.X = adata.layers[{layer!r}].copy(); "
        how = f'adata = sc.read_h5ad("{dataset.path}"); {taken}{NORMALIZE}; adata.write_h5ad(...)'
        imported = "import scanpy as sc" + ("" if layer is None else "; then leave out --layer")
    elif suffix_of(dataset.path) in TABLE_SUFFIXES:
        how = "table[names] = np.log1p(1e4 * table[names].div(table[names].sum(axis=1), axis=0))"
        imported = "import numpy as np; table is a pandas data frame, names are its count columns"
    what = f"{dataset.path} looks like raw counts, so the columns with the largest counts"
    return f"{what} dominate the map; normalise them first, in Python: {how} ({imported})"


def _about_labels(known: Any, name: str) -> tuple[str, str]:
    """Return a note and a warning about the label to factor out; empty if there are none."""
    labels = encode_column(known)
    note = warning = ""
    if labels.n_missing:
        has = "has" if labels.n_missing == 1 else "have"
        what = f"{labels.n_missing:,} of {labels.n_points:,} points {has} no {name!s:.60}"
        note = f"{what}; nothing is factored out for {'it' if has == 'has' else 'them'}"
    if 2 * np.count_nonzero(labels.counts == 1) > labels.n_points:
        what = f"{labels.n_labels} different values for {labels.n_points} points"
        warning = f"{name!r:.60} has {what}; is it a label?"
    return note, warning


def records_of(data: Input, options: Namespace, output: Path) -> list[InputRecord]:
    """Describe all files that an output is made from: data, labels, start."""
    from ctsne.io import input_records

    start = None if options.init in STARTS else Path(options.init)
    labels = options.labels or ()
    return input_records(data.dataset, output, labels, aligned=data.aligned, start=start)


def names_of_files(settings: Mapping[str, Any], command: str = "embed") -> Iterator[str]:
    """Yield the options that name a further file, in the order of the records."""
    if settings.get("label_file") is not None:
        yield "label_file"
    if settings.get("init", "pca") not in STARTS:
        yield "init"
    if command == "transform":
        yield "model"
