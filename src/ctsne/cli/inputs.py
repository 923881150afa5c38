"""What the commands read: the data with its labels, reduced if it has many features."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ctsne.cli.console import Console

if TYPE_CHECKING:
    from ctsne._io import Dataset

__all__ = [
    "Input",
    "check_outputs",
    "data_checksum",
    "joint_name",
    "read_input",
]

MOST_FEATURES = 100
COMPONENTS = 50
# Options that name a file to read.
_READ = ("input", "label_file", "init", "data", "config")
# How to name a file that is not where it was.
HOW_TO_NAME = "--input FILE for rerun, --data FILE for evaluate"


@dataclass(frozen=True, eq=False)
class Input:
    """The data of a command.

    Attributes
    ----------
    dataset : Dataset
        As it was read.
    X : array or sparse matrix
        What the map is made of: the features, or their principal components.
    known : array or None
        The label to be factored out.
    name : str
        What it is called; of several columns, their names joined.
    aligned : array or None
        The representation in which other labels are compared, where one was named.
    sampled : int
        Where these are a sample, the number of all points; else 0.
    """

    dataset: Dataset
    X: Any
    known: Any
    name: str
    aligned: Any = None
    sampled: int = 0

    def sample(self, size: int) -> Input:
        """Return a random sample of the points, or all if there are no more than that."""
        from ctsne._io.data import take_rows

        n = self.X.shape[0]
        if n <= size:
            return self
        rows = np.sort(np.random.default_rng(0).permutation(n)[:size])
        return replace(
            self,
            dataset=self.dataset.take(rows),
            X=self.X[rows],
            known=None if self.known is None else take_rows(self.known, rows),
            aligned=None if self.aligned is None else self.aligned[rows],
            sampled=n,
        )

    def column(self, name: str) -> Any:
        """Return a column by its name, a feature too; the combination factored out has one."""
        from ctsne._io.parts import feature_values

        if name == self.name:
            return self.known
        if name in self.dataset.features and name not in self.dataset.columns:
            return feature_values(self.dataset.X, self.dataset.features, name)
        return self.dataset.labels([name])

    def labels(self, names: Sequence[str]) -> Any:
        """Return a column, or the combination of several, features too."""
        from ctsne.labels import combine_columns

        columns = [self.column(name) for name in names]
        return columns[0] if len(columns) == 1 else combine_columns(columns)

    def columns(self) -> dict[str, Any]:
        """Return all columns, the label factored out first."""
        own = {} if self.known is None else {self.name: self.known}
        return own | self.dataset.columns


def joint_name(labels: Sequence[str]) -> str:
    """Return what the combination of label columns is called."""
    from ctsne.labels import JOINT

    return JOINT.join(labels)


def check_outputs(
    outputs: Iterable[Path], options: argparse.Namespace, *, into_input: bool = False
) -> None:
    """Refuse an output that would replace a file that the options name to be read.

    Parameters
    ----------
    outputs : iterable of Path
        All files that will be written.
    options : Namespace
    into_input : bool
        Whether an output may be written into the input.
    """
    named = [getattr(options, name, None) for name in _READ if name != "input" or not into_input]
    read = [Path(name) for name in named if name is not None]
    for output in outputs:
        for file in read:
            if output.exists() and file.exists() and output.samefile(file):
                raise ValueError(f"the output would replace the input {file}; name another output")


def read_input(
    options: argparse.Namespace, console: Console, *, expect: str | None = None
) -> Input:
    """Read the data that the options name.

    Parameters
    ----------
    options : Namespace
    console : Console
        Told what was read, and what was left out.
    expect : str, optional
        Checksum that the content must have.
    """
    from ctsne._io import read_data, suffix_of
    from ctsne._io.column_names import folded
    from ctsne._io.paths import TABLE_SUFFIXES

    console.stage(f"reading {options.input}")
    labels = list(options.labels or ())
    other = getattr(options, "other", None)
    dataset = read_data(
        options.input,
        labels=labels if other is None else [*labels, other],
        label_file=None if options.label_file is None else Path(options.label_file),
        use_rep=options.use_rep,
        layer=options.layer,
        features=options.features,
    )
    known, name = dataset.labels(labels) if labels else None, joint_name(labels)
    if len(labels) > 1 and name in dataset.columns:
        raise ValueError(
            f"{options.input} has a column {name!r:.60}, which is what the combination of --labels "
            "is called here; give that column another name"
        )
    aligned = None if options.align_rep is None else _aligned(options)
    if expect is not None and data_checksum(dataset, labels, aligned) != expect:
        raise ValueError(
            f"{options.input} has changed: its numbers or its labels are not those of before. "
            f"Give the file as it was ({HOW_TO_NAME}), or make a new output from this one"
        )
    n = dataset.X.shape[0]
    tell = console.say if expect is None else console.detail  # it was told the first time
    tell(f"read {n} points from {options.input}: {dataset.source}")
    if aligned is not None:
        tell(f'other labels are compared in obsm["{options.align_rep}"]')
    if suffix_of(dataset.path) in TABLE_SUFFIXES:
        tell(f"features: {folded(dataset.features)}")
    for note in dataset.notes:
        tell(note)
    if known is not None:
        for note in _missing_labels(known, name):
            tell(note)
    if expect is None:
        for warning in (*dataset.warnings, *_no_label(known, name)):
            console.warn(warning)
    return Input(dataset, _reduced(dataset.X, options, console, tell), known, name, aligned)


def data_checksum(dataset: Dataset, labels: Sequence[str], aligned: Any) -> str:
    """Return a checksum of all numbers and labels that a map is made of."""
    from ctsne._io.columns import content_checksum

    own = dataset.checksum(labels)
    if aligned is None:
        return own
    return hashlib.sha256(f"{own} {content_checksum(aligned)}".encode()).hexdigest()


def _aligned(options: argparse.Namespace) -> Any:
    """Read the representation in which points of other labels are compared."""
    from ctsne._io import read_data, suffix_of

    if options.align != "none":
        raise ValueError("--align and --align-rep are two ways to say the same; leave one out")
    if suffix_of(Path(options.input)) != ".h5ad":
        raise ValueError(f"--align-rep is for .h5ad files; {options.input} is not one")
    return read_data(options.input, use_rep=options.align_rep).X


def _missing_labels(known: Any, name: str) -> Iterator[str]:
    """Count the points without a label."""
    from ctsne.labels import encode_labels

    missing = encode_labels(known).n_missing
    if missing:
        yield (
            f"{missing} of {len(known)} points have no {name!s:.60}: they condition nothing, and "
            "count with the own label among the neighbours of others"
        )


def _no_label(known: Any, name: str) -> Iterator[str]:
    """Warn of labels that most points have to themselves, so that nothing can be mixed."""
    from ctsne.labels import encode_labels

    if known is None:
        return
    counts = encode_labels(known).counts
    if 2 * np.count_nonzero(counts == 1) > len(known):
        yield (
            f"{name!r:.60} has {len(counts)} different values for {len(known)} points: is it a "
            "label?"
        )


def _reduced(
    X: Any, options: argparse.Namespace, console: Console, tell: Callable[[str], None]
) -> Any:
    """Return the principal components of many features, or the features as they are."""
    from ctsne._core.checks import check_jobs, check_matrix, is_sparse
    from ctsne._core.components import AUTO_COMPONENTS as SPARSE_COMPONENTS
    from ctsne._core.components import principal_components

    if options.metric == "precomputed":
        if options.pca not in (None, "none"):
            raise ValueError("--pca needs features, but --metric precomputed reads distances")
        return X
    n, d = X.shape
    k = options.pca
    if is_sparse(X) and d > SPARSE_COMPONENTS and k == "none":
        raise ValueError(
            f"--pca none is not for sparse data with more than {SPARSE_COMPONENTS} columns (these "
            f"have {d}), which are reduced in any case; name the number of components: --pca 50"
        )
    if k is None and d > (SPARSE_COMPONENTS if is_sparse(X) else MOST_FEATURES):
        k = min(COMPONENTS, n)
    if k is None or k == "none":
        return X
    if k > min(n, d):
        raise ValueError(
            f"--pca {k} asks for more components than there are: {n} points with {d} features have "
            f"at most {min(n, d)}"
        )
    console.stage("principal components")
    # Angles are measured from the origin, so for them the data must not be centred.
    scores = principal_components(
        check_matrix(X), k, centred=options.metric != "cosine", n_jobs=check_jobs(options.jobs)
    )
    tell(f"reduced {d} features to {k} principal components (--pca to change it)")
    return scores
