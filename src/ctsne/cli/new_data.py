"""New points as a model takes them: its columns in its order, its labels by its names."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctsne._core.messages import listed
from ctsne.labels import Column, combine_columns

if TYPE_CHECKING:
    from ctsne.estimator import ConditionalTSNE
    from ctsne.io import Dataset
    from ctsne.storage.provenance import Origin


def check_order(model: str, *files: str) -> None:
    """Refuse a model and data in the wrong order."""
    from ctsne.io.paths import MODEL_SUFFIX

    def is_model(name: str) -> bool:
        return name.lower().endswith(MODEL_SUFFIX)

    swapped = [name for name in files if is_model(name)]
    if swapped and not is_model(model):
        raise ValueError(f"the model comes first: {swapped[0]} {model}, not {model} {swapped[0]}")


def read_points(
    model: ConditionalTSNE,
    origin: Origin | None,
    options: argparse.Namespace,
    tell: Callable[[str], None],
) -> Dataset:
    """Read the new points, with the columns of the model in its order."""
    from ctsne.io import read_data, suffix_of
    from ctsne.io.paths import TABLE_SUFFIXES
    from ctsne.io.tables import read_frame

    suffix = suffix_of(options.input)
    features = options.features
    wanted = getattr(model, "feature_names_in_", None)
    wanted = origin.features if wanted is None and origin is not None else wanted
    wanted = None if wanted is None or model.metric == "precomputed" else [*map(str, wanted)]
    use_rep, layer = options.use_rep, options.layer
    if suffix == ".h5ad" and use_rep is None and layer is None and origin is not None:
        use_rep, layer = origin.part()
    if suffix in TABLE_SUFFIXES and features is None:
        features = wanted
    try:
        dataset = read_data(
            options.input,
            labels=options.labels or (),
            label_file=options.label_file,
            use_rep=use_rep,
            layer=layer,
            features=features,
            index=options.index,
            join_on=options.join_on,
            fewest=1,
        )
    except ValueError:
        whole = suffix in TABLE_SUFFIXES and Path(options.input).is_file()
        if whole and wanted is not None and options.features is None:
            _check_columns(read_frame(Path(options.input)).columns, wanted, options)
        raise
    # Columns of a representation have numbers instead of names.
    named = dataset.source.kind in ("table", "X", "layer")
    if wanted is not None and named and options.features is None:
        dataset = _in_order(dataset, wanted, options)
    d = dataset.X.shape[1]
    if d != model.n_features_in_:
        what = f"{options.input} has {d} columns ({dataset.source})"
        how = "choose the same ones with --features or --use-rep"
        if model.metric == "precomputed":
            how = "they must be the distances to all points of the reference"
        raise ValueError(f"{what}, but the model was made from {model.n_features_in_}; {how}")
    tell(f"read {dataset.X.shape[0]:,} points from {options.input}: {dataset.source}")
    for note in dataset.notes:
        tell(note)
    return dataset


def _in_order(dataset: Dataset, wanted: list[str], options: argparse.Namespace) -> Dataset:
    """Return the data with the model's columns in its order; refuse if some are missing."""
    if list(dataset.features) == wanted:
        return dataset
    _check_columns(dataset.features, wanted, options)
    place = {name: column for column, name in enumerate(dataset.features)}
    columns = [place[name] for name in wanted]
    return replace(dataset, X=dataset.X[:, columns], features=tuple(wanted))


def label_names_of(
    model: ConditionalTSNE,
    origin: Origin | None,
    dataset: Dataset,
    options: argparse.Namespace,
    tell: Callable[[str], None],
) -> list[str]:
    """Return the label columns to use: those named, or those of the model."""
    from ctsne.placing.new_labels import in_order

    if model.labels_ is None:
        if options.labels:
            raise ValueError(f"{options.model} factored no label out; leave out --labels")
        return []
    known = [] if origin is None else list(origin.provenance.settings.get("labels") or ())
    if options.labels:
        count = len(known) or (1 if isinstance(model.labels_, Column) else model.labels_.n_columns)
        if len(options.labels) != count:
            names = f" ({' '.join(known)})" if known else ""
            has = f"{count} label column{'s' * (count > 1)}{names}"
            raise ValueError(f"--labels: the model has {has}, got {len(options.labels)}")
        own = () if isinstance(model.labels_, Column) else model.labels_.names
        return in_order(options.labels, known or own)
    if known and all(name in dataset.columns for name in known):
        tell(f"labels: {' and '.join(known)}, as in the model")
        return known
    tell(without_labels(options.input, known, dataset.columns))
    return []


def without_labels(where: object, known: Sequence[str], there: Collection[str]) -> str:
    """Say why points are placed without labels, and how to name the columns that hold them."""
    absent = [name for name in known if name not in there]
    what = f"{where} has no column {listed(absent)}" if absent else "no labels"
    how = "--labels names a column"
    if len(known) > 1:
        how = f"--labels names {len(known)} columns, in which values may be missing"
    return f"{what}: the points are placed without labels; {how}"


def labels_of(model: ConditionalTSNE, dataset: Dataset, names: list[str]) -> Any:
    """Return the labels of the new points as the model takes them."""
    if not names:
        return None
    if model.labels_ is None or isinstance(model.labels_, Column):
        return one_column(dataset, names)
    return {own: dataset.column(name) for own, name in zip(model.labels_.names, names, strict=True)}


def one_column(dataset: Dataset, names: list[str]) -> Any:
    """Return a label column, or the combination of several."""
    columns = [dataset.column(name) for name in names]
    return columns[0] if len(columns) == 1 else combine_columns(columns)


def aligned_of(model: ConditionalTSNE, origin: Origin | None, options: argparse.Namespace) -> Any:
    """Read the representation in which other labels are compared, if the model needs one."""
    from ctsne.io import read_data, suffix_of

    key = options.align_rep
    if model.diagnostics_.alignment != "array":
        if key is not None:
            raise ValueError("--align-rep: the model was made without one; leave it out")
        return None
    if key is None and origin is not None:
        key = origin.provenance.settings.get("align_rep")
    if key is None or suffix_of(Path(options.input)) != ".h5ad":
        what = "compares labels in a representation given as an array"
        how = "INPUT must be an .h5ad with it, named by --align-rep; in Python, use place(aligned=)"
        raise ValueError(f"{options.model} {what}; {how}")
    options.align_rep = key
    return read_data(options.input, use_rep=key, fewest=1).X


def _check_columns(
    there: Collection[str], wanted: Sequence[str], options: argparse.Namespace
) -> None:
    """Refuse data without some of the columns that the model was made from."""
    known = set(there)
    missing = [name for name in wanted if name not in known]
    if missing:
        count = f"{len(missing)} of the {len(wanted)} columns that the model was made from"
        how = "; --use-rep names a representation that holds them"
        how = how if options.input.endswith(".h5ad") else ""
        raise ValueError(f"{options.input} lacks {count}: {listed(missing, most=5)}{how}")
