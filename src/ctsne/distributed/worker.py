"""What runs on a worker: the model, kept once per process, and shards that are placed with it."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ctsne._core.files import file_checksum, reason, replaced_file
from ctsne._core.messages import CtsneWarning, FarPointsWarning, label_text
from ctsne.distributed.collection import Choice, name_errors, shard_blocks
from ctsne.distributed.folder import Written, find_finished, mark_finished
from ctsne.distributed.sample import with_names
from ctsne.estimator import ConditionalTSNE, place_in
from ctsne.estimator import load as load_file
from ctsne.io import Dataset
from ctsne.io.dataset import storable
from ctsne.io.paths import load
from ctsne.labels import encode_column
from ctsne.placing.place import Placement
from ctsne.placing.request import in_order, labels_for

KEY = "ctsne"
# The last model that this process used, by the checksum of its file.
_models: dict[str, ConditionalTSNE] = {}
_lock = threading.Lock()


# The model


@dataclass(frozen=True)
class ModelFile:
    """A stored model, wherever the process that reads it may run."""

    path: str
    sha256: str

    def reachable(self) -> bool:
        """Tell whether this process sees the same file."""
        path = Path(self.path)
        return path.is_file() and file_checksum(path) == self.sha256


def content_for(client: Any, file: ModelFile) -> Any:
    """Return the file as bytes kept on the cluster, if a worker cannot read it; else None."""
    if all(client.run(file.reachable).values()):
        return None
    # To all workers: a single copy would be lost with the worker that holds it.
    return client.scatter(Path(file.path).read_bytes(), hash=False, broadcast=True)


def load_model(file: ModelFile, content: bytes | None) -> ConditionalTSNE:
    """Return the model, read at the first call in this process."""
    with _lock:  # tasks in other threads wait instead of reading it again
        if file.sha256 not in _models:
            _models.clear()
            path = Path(file.path)
            if not file.reachable():
                if content is None:
                    how = "name a folder that all workers share"
                    raise ValueError(f"a worker cannot read the model {path}; {how}")
                # In the folder of the worker, which goes with it: the model is mapped from there.
                folder = load("distributed", extra="dask").get_worker().local_directory
                descriptor, name = tempfile.mkstemp(suffix=".ctsne", dir=folder)
                with os.fdopen(descriptor, "wb") as target:
                    target.write(content)
                path = Path(name)
            model = load_file(path)
            model.n_jobs = -1  # the threads of this worker, whatever the model was fitted with
            _models[file.sha256] = model
        return _models[file.sha256]


def place_block(
    model: ConditionalTSNE,
    block: Dataset,
    labels: Sequence[str],
    shifts: Mapping[str, list[float]] | None = None,
) -> Placement:
    """Place some rows; new labels of an aligned map move by ``shifts``, named by their text."""
    X = with_names(block) if hasattr(model, "feature_names_in_") else block.X
    known = None
    if labels and model.labels_ is not None:  # several columns may be one that was combined
        columns = [block.columns[name] for name in in_order(labels, model.labels_.names)]
        known = labels_for(model.labels_, columns)
    own = {}
    if known and shifts:
        texts = {name: label_text(name) for name in encode_column(next(iter(known.values()))).names}
        own = {name: np.array(shifts[text]) for name, text in texts.items() if text in shifts}
    return place_in(model, X, known, shifts=own)


# Shards


@dataclass(frozen=True)
class Task:
    """How to place a shard."""

    name: str
    target: str  # path of the file to write
    token: str
    choice: Choice
    labels: tuple[str, ...]
    model: ModelFile
    shifts: Mapping[str, list[float]]  # of labels that an aligned map does not have


@dataclass(frozen=True)
class Outcome:
    """A shard that was placed, or why it could not be."""

    written: Written | None
    error: str | None = None
    disk: bool = False  # whether the error is one of writing, which will meet all others too
    warnings: Mapping[str, type[Warning]] = field(default_factory=dict)  # classes by text


def place_shard(content: Any, task: Task, model: bytes | None) -> Outcome:
    """Place the points of a shard and write them, whole or not at all."""
    done = find_finished(Path(task.target), task.token)  # by a worker that died right after
    if done is not None:
        return Outcome(done)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("ignore", FarPointsWarning)  # counted in the result
        try:
            with name_errors(task.name):
                written = _write(content, task, model)
        except (ImportError, MemoryError, TypeError, ValueError) as error:
            text = reason(error)
            return Outcome(None, text if task.name in text else f"{task.name}: {text}")
        except OSError as error:
            return Outcome(None, reason(error), disk=True)
    ours = [warning for warning in caught if issubclass(warning.category, CtsneWarning)]
    return Outcome(written, warnings={str(warning.message): warning.category for warning in ours})


def _write(content: Any, task: Task, model: bytes | None) -> Written:
    rows = far = 0
    writer = None
    with contextlib.ExitStack() as stack:
        for block in shard_blocks(content, task.choice):
            table, count = _placed_table(block, task, model)
            if writer is None:  # without rows there is no file
                part = stack.enter_context(replaced_file(Path(task.target)))
                writer = load("pyarrow.parquet").ParquetWriter(part, table.schema)
                stack.callback(writer.close)
            writer.write_table(table.cast(writer.schema))
            rows, far = rows + len(table), far + count
        if writer is not None:
            mark_finished(writer, task.token, far)
    return Written(rows, far)


def _placed_table(block: Dataset, task: Task, model: bytes | None) -> tuple[Any, int]:
    """Return positions, diagnostics and columns of a block as a table, and how many are far."""
    placement = place_block(load_model(task.model, model), block, task.labels, task.shifts)
    columns: dict[str, Any] = {
        f"{KEY}_{axis}": values for axis, values in enumerate(placement.embedding.T, start=1)
    }
    columns |= {f"{KEY}_{name}": values for name, values in placement.diagnostics().items()}
    # Columns of an earlier map are replaced.
    columns |= {
        name: column for name, column in block.columns.items() if not name.startswith(f"{KEY}_")
    }
    return _table(columns, block), int(np.count_nonzero(placement.far))


def _table(columns: Mapping[str, Any], block: Dataset) -> Any:
    """Return columns as an Arrow table whose types do not depend on the values of a block."""
    pandas, pyarrow = load("pandas"), load("pyarrow")
    frame = pandas.DataFrame({name: storable(column) for name, column in columns.items()})
    if block.names is not None:
        frame.index = pandas.Index(block.names, name=block.called)
    table = pyarrow.Table.from_pandas(frame, preserve_index=block.names is not None)
    for place, part in enumerate(table.schema):
        kind = part.type
        if pyarrow.types.is_dictionary(kind):
            kind = kind.value_type
        if pyarrow.types.is_null(kind):  # text that no row of the block has
            kind = pyarrow.string()
        if kind != part.type:
            values = table.column(place).cast(kind)
            table = table.set_column(place, pyarrow.field(part.name, kind), values)
    return table
