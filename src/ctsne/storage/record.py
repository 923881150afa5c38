"""The settings record: what an output was made from and how, by parameter name, in every file."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from ctsne._core.checks import as_numbers
from ctsne._core.files import SETTINGS, file_checksum, reason
from ctsne._core.messages import label_text, shown
from ctsne.io.dataset import Dataset, Source
from ctsne.io.maps import read_settings
from ctsne.io.paths import MAP_SUFFIXES, MODEL_SUFFIX, check_input, sidecar_of, suffix_of
from ctsne.labels import Column
from ctsne.storage.archive import read_archive
from ctsne.storage.schema import COUNT, HUGE, TEXT, TINY, Array, Number, check, require, strict_json

FORMAT = 1
_MARK = "ctsne record"
_COMMAND = "ctsne "
_PACKAGES = ("ctsne", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class GivenArray:
    """A start or an alignment that was given as an array, whose values a record does not hold."""

    shape: tuple[int, ...]


@dataclass(frozen=True)
class Input:
    """A file that an output was made from."""

    file: str  # relative to the folder of the output
    sha256: str | None = None  # of its bytes; None if the output is written into this file
    data: str | None = None  # checksum of matrix and labels, the same for every format
    role: str = "data"  # or "labels", "init", "model"


def current_versions() -> dict[str, str]:
    """Return the versions that a result may depend on."""
    from ctsne import _native

    return {
        **{package: version(package) for package in _PACKAGES},
        "python": platform.python_version(),
        "instruction set": _native.instruction_set(),
    }


@dataclass(frozen=True)
class Record:
    """How an output was made, without time stamps, so that equal work gives equal bytes.

    Types are checked when it is read, values are not: whoever uses them checks them like options.
    """

    made_by: str  # "ctsne embed", "ctsne.tl.ctsne" and so on
    parameters: Mapping[str, Any]  # of the estimator; numbers per label by label
    labels: tuple[str, ...] = ()  # names of the label columns, before they are combined
    source: Source | None = None  # the part of the input that the features were
    options: Mapping[str, Any] = field(default_factory=dict)  # other arguments, as JSON
    inputs: tuple[Input, ...] = ()
    results: Mapping[str, Any] = field(default_factory=dict)  # such as the strength found
    features: tuple[str, ...] | None = None  # names of the columns; only models have them
    versions: Mapping[str, str] = field(default_factory=current_versions)

    @property
    def command(self) -> str | None:
        """The command of the command line that made it; None if it was made in Python."""
        named = self.made_by.startswith(_COMMAND)
        return self.made_by.removeprefix(_COMMAND) if named else None

    def input(self, role: str) -> Input | None:
        """Return the file with this role, if there is one."""
        return next((file for file in self.inputs if file.role == role), None)

    def to_tree(self) -> dict[str, Any]:
        """Return it as plain values, and arrays among the parameters."""
        content = {
            _MARK: FORMAT,
            "made_by": self.made_by,
            "parameters": plain_parameters(self.parameters),
            "labels": list(self.labels),
            "source": None if self.source is None else asdict(self.source),
            "options": dict(self.options),
            "inputs": [asdict(file) for file in self.inputs],
            "results": plain_parameters(self.results),
            "features": None if self.features is None else list(self.features),
            "versions": dict(self.versions),
        }
        return {name: value for name, value in content.items() if value is not None}

    def to_json(self, *, indent: int | None = None) -> str:
        """Return it as JSON in ASCII, with names in a fixed order."""
        how: dict[str, Any] = {"indent": indent, "allow_nan": False}
        return json.dumps(self.to_tree(), default=lambda x: {"array": list(x.shape)}, **how)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of `to_json`."""
        content: dict[str, Any] = json.loads(self.to_json())
        return content

    @classmethod
    def from_dict(cls, content: Any) -> Record:
        """Make it from the content of `to_dict` or `to_tree`; refuse anything else."""
        try:
            stored = content[_MARK]
            if stored == FORMAT:
                given = {"source": None, "features": None, **content}
                check(given, _SCHEMA, "record")
                return cls(
                    given["made_by"],
                    parameters_from(given["parameters"]),
                    tuple(given["labels"]),
                    None if given["source"] is None else Source(**given["source"]),
                    given["options"],
                    tuple(Input(**file) for file in given["inputs"]),
                    parameters_from(given["results"]),
                    None if given["features"] is None else tuple(given["features"]),
                    given["versions"],
                )
        except Exception as error:
            raise ValueError(f"not a ctsne settings record: {reason(error)}") from error
        formats = f"format {shown(stored, 20)}, this version reads {FORMAT}"
        raise ValueError(f"the settings are of another version of ctsne ({formats}); upgrade ctsne")

    @classmethod
    def from_json(cls, text: str) -> Record:
        """Make it from the text of `to_json`; refuse anything else."""
        try:
            content = strict_json(text)
        except Exception as error:  # also of nested lists without end
            raise ValueError(f"not a ctsne settings record: {reason(error)}") from error
        return cls.from_dict(content)


_SCHEMA = {
    _MARK: int,
    "made_by": str,
    "parameters": {str: object},
    "labels": [str],
    "source": (
        None,
        {
            "kind": {"X", "layer", "obsm", "table", "array"},
            "key": TEXT,
            "n_columns": COUNT,
            "n_variable": (None, COUNT),
            "n_selected": (None, COUNT),
        },
    ),
    "options": {str: object},
    "inputs": [{"file": str, "sha256": TEXT, "data": TEXT, "role": str}],
    "results": {str: object},
    "features": (None, [str]),
    "versions": {str: str},
}


def read_record(path: str | os.PathLike[str], *, key: str = "ctsne") -> Record:
    """Read how a map, a sweep folder or a model was made; ``key`` names the map in an .h5ad."""
    source = Path(path)
    if not source.is_dir():
        source = check_input(path, (*MAP_SUFFIXES, MODEL_SUFFIX))
    found = find_record(source, key=key)
    if found is not None:
        return found
    if source.is_dir():
        raise ValueError(f"{source} is not the folder of a sweep: it has no {SETTINGS}")
    beside = suffix_of(source).startswith((".csv", ".tsv"))
    why = f": {sidecar_of(source).name} is missing" if beside else "; was it written by ctsne?"
    raise ValueError(f"{source} has no record of how it was made{why}")


def find_record(source: Path, *, key: str = "ctsne") -> Record | None:
    """Return the record stored with a map, in a sweep folder or in a model; None if it has none."""
    in_model = suffix_of(source) == MODEL_SUFFIX and not source.is_dir()
    whole = read_archive(source, "model").get("record") if in_model else None
    text = None if in_model else read_settings(source, key)
    try:
        if in_model:  # without arrays, as with any other file
            return Record.from_json(Record.from_dict(whole).to_json())
        return None if text is None else Record.from_json(text)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error


def record_in(entry: Any) -> Record | None:
    """Return the record of a map in an entry of ``uns``; None if it has none."""
    return Record.from_json(str(entry["record"])) if "record" in entry else None


def record_of(model: Any) -> Record:
    """Return the record of a fitted estimator; of a loaded one, the record of its file."""
    loaded: Record | None = getattr(model, "_record", None)
    if loaded is not None:
        return loaded
    labels = () if model.labels_ is None else model.labels_.names
    parameters = model.get_params(deep=False)
    return Record("ConditionalTSNE", parameters, labels, results=fit_results(model))


def recorded_columns(record: Record) -> tuple[list[str] | None, list[str] | None]:
    """Return the names of the labels and of the numbers that were factored out; None for none."""
    numbers = record.options.get("numbers") or []
    labels = [name for name in record.labels if name not in numbers]
    return labels or None, [name for name in record.labels if name in numbers] or None


def fit_results(model: Any) -> dict[str, Any]:
    """Return what a fit has found, for a record."""
    found = {
        "mixing": model.mixing_,
        "strength": model.strength_,
        "beta": model.beta_,
        "kl_divergence": float(model.kl_divergence_),
        "n_iter": int(model.n_iter_),
        "recall": float(model.diagnostics_.recall),
        "alignment": model.diagnostics_.alignment,
        "procrustes": getattr(model, "procrustes_", None),
    }
    return {
        name: value
        for name, value in found.items()
        if value is not None and not (isinstance(value, float) and not math.isfinite(value))
    }


def input_files(
    dataset: Dataset,
    output: Path,
    labels: Sequence[str] = (),
    *,
    aligned: Any = None,
    start: Path | None = None,
) -> tuple[Input, ...]:
    """Describe the files that an output is made from: the data, labels, and a start, if any."""
    sha256 = None if _place(output) == dataset.path.resolve() else dataset.sha256
    checksum = dataset.checksum(labels, aligned)
    files = [Input(relative_path(dataset.path, output), sha256, checksum)]
    if dataset.label_path is not None:
        path = relative_path(dataset.label_path, output)
        files.append(Input(path, dataset.label_sha256, role="labels"))
    if start is not None:
        files.append(Input(relative_path(start, output), file_checksum(start), role="init"))
    return tuple(files)


def relative_path(path: Path, output: Path) -> str:
    """Return a path relative to the folder of an output."""
    return Path(os.path.relpath(path.resolve(), _place(output).parent)).as_posix()


def _place(output: Path) -> Path:
    """Return where an output is written: a link to a file is replaced, not followed."""
    return output.resolve() if output.is_dir() else output.parent.resolve() / output.name


def plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as JSON can hold them, without a callback."""
    return {name: plain_value(x) for name, x in parameters.items() if name != "callback"}


def parameters_from(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that `plain_parameters` wrote; refuse anything else."""
    return {name: value_from(value) for name, value in plain.items()}


def plain_value(value: Any) -> Any:
    """Return a parameter as JSON can hold it, numbers per label as pairs; arrays as they are."""
    if isinstance(value, Mapping):
        labels = plain_labels(list(value))
        numbers = map(plain_value, value.values())
        return {"per label": [list(pair) for pair in zip(labels, numbers, strict=True)]}
    if isinstance(value, np.bool_ | np.integer):
        return value.item()
    if isinstance(value, Real) and not isinstance(value, bool | int | float):
        return float(value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, np.random.RandomState):
        return None  # its state has changed since
    if isinstance(value, GivenArray):
        return {"array": list(value.shape)}
    if isinstance(value, list | tuple) or hasattr(value, "__array__"):  # also data frames
        return as_numbers(value, argument="a parameter")
    raise TypeError(f"a file cannot hold {shown(value)} as a parameter")


def value_from(plain: Any) -> Any:
    """Return the parameter that `plain_value` wrote; refuse anything else."""
    match plain:
        case None | str() | bool() | int() | float() | np.ndarray():
            return plain
        case {"array": [*shape], **more} if not more and {*map(type, shape)} <= {int}:
            return GivenArray(tuple(shape))
        case {"per label": [*pairs], **more} if not more:
            if all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
                labels = labels_from([label for label, _ in pairs])
                values = [value_from(value) for _, value in pairs]
                if all(isinstance(value, int | float | dict) for value in values):
                    return dict(zip(labels, values, strict=True))
    raise ValueError(f"{shown(plain)} is not a parameter")


def plain_labels(names: Sequence[object]) -> list[Any]:
    """Return labels as JSON can hold them: text, numbers and booleans; others become text."""
    first: dict[object, object] = {}
    for name in names:
        value: Any = name
        if isinstance(name, np.integer | np.bool_) and not isinstance(name, np.timedelta64):
            value = name.item()
        value = float(name) if isinstance(name, np.floating | float) else value
        finite = isinstance(value, float) and math.isfinite(value)
        value = value if finite or isinstance(value, int) else label_text(name)
        if value in first:
            raise ValueError(
                f"the labels {shown(first[value])} and {shown(name)} cannot be told apart in a "
                "file, where values other than text, numbers and booleans become text; rename one "
                "of them and fit again"
            )
        first[value] = name
    return list(first)


def labels_from(plain: object) -> tuple[object, ...]:
    """Return the labels that `plain_labels` wrote; refuse anything else."""
    if not isinstance(plain, list):
        raise ValueError(f"labels must be a list, got {shown(plain)}")
    for name in plain:
        if not isinstance(name, str | bool | int | float):
            raise ValueError(f"{shown(name)} is not a label")
    if len(set(plain)) < len(plain):
        raise ValueError("it names a label twice")
    return tuple(plain)


# Label columns of a file.
COLUMNS = [
    {
        "name": str,
        "labels": [object],
        "codes": Array("int32", "n", low=-1),
        "numbers": (None, Array("float64", "n", low=-HUGE, high=HUGE, gaps=True)),
        "period": (None, Number(TINY, HUGE)),
    }
]


def plain_columns(columns: Mapping[str, Column]) -> list[dict[str, Any]]:
    """Return label columns as a file holds them."""
    return [
        {
            "name": name,
            "labels": plain_labels(column.names),
            "codes": column.codes,
            "numbers": column.numbers,
            "period": column.period,
        }
        for name, column in columns.items()
    ]


def columns_from(content: Sequence[Mapping[str, Any]]) -> dict[str, Column]:
    """Return the label columns that `plain_columns` wrote, in values of the schema."""
    columns = {}
    for entry in content:
        codes, names = entry["codes"], labels_from(entry["labels"])
        require(codes.max(initial=-1) < len(names), "codes of labels", "those of labels", names[:3])
        counts = np.bincount(codes[codes >= 0], minlength=len(names)).astype(np.int64)
        numbers, period = entry["numbers"], entry["period"]
        if numbers is not None:
            there = np.array_equal(np.isfinite(numbers), codes >= 0) and bool((counts > 0).all())
            require(there, "numbers", "given for points in groups", names[:3])
        columns[entry["name"]] = Column(codes, names, counts, numbers, period)
    require(len(columns) == len(content), "label columns", "named differently", list(columns))
    return columns
